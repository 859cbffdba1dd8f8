# The numbers of a convolution or a pooling: where each window lies.

cdef enum:
    MAX_SPATIAL = 3

ctypedef struct Geometry:
    int spatial  # Only so many of the numbers below are set; oneDNN declares MAX_RANK.
    int64_t kernel[MAX_RANK]
    int64_t stride[MAX_RANK]
    int64_t dilation[MAX_RANK]  # oneDNN's: 0 is dense.
    int64_t before[MAX_RANK]
    int64_t after[MAX_RANK]
    int64_t group


cdef int64_t read_int(object value, int64_t least, str function, str name) except? -1:
    """Return an int argument that is at least `least`, and fits in 32 bits like oneDNN's own."""
    cdef long long number
    cdef int overflow = 0
    if not PyLong_CheckExact(value):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
            raise TypeError(
                f"For '{function}', '{name}' must be an int, but got {value!r} "
                f"({type(value).__name__})."
            )
        value = int(value)
    number = PyLong_AsLongLongAndOverflow(value, &overflow)
    if overflow or not least <= number <= INT32_MAX:
        raise ValueError(
            f"For '{function}', '{name}' must be an int from {least} to {INT32_MAX}, "
            f"but got {value}."
        )
    return number


cdef int read_ints(
    int64_t *numbers, object values, int count, int64_t least, str function, str name
) except -1:
    """Fill `numbers` from a tuple of `count` ints."""
    cdef int i
    if not isinstance(values, (tuple, list)):
        raise TypeError(
            f"For '{function}', '{name}' must be a tuple of {count} ints, but got {values!r}."
        )
    if len(values) != count:
        raise ValueError(
            f"For '{function}', '{name}' must be a tuple of {count} ints, one per spatial "
            f"dimension, but got {values!r}."
        )
    for i in range(count):
        numbers[i] = read_int(values[i], least, function, name)
    return 0


cdef int read_geometry(
    Geometry *geometry, int rank, object stride, object padding, object dilation, str function
) except -1:
    """Fill all but kernel and group for arrays of `rank` = 2 + spatial dimensions."""
    cdef int64_t pair[2]
    cdef int i
    geometry.spatial = rank - 2
    geometry.group = 1
    read_ints(geometry.stride, stride, geometry.spatial, 1, function, "stride")
    read_ints(geometry.dilation, dilation, geometry.spatial, 1, function, "dilation")
    if not isinstance(padding, (tuple, list)):
        raise TypeError(
            f"For '{function}', 'padding' must be a tuple of (before, after) pairs, "
            f"but got {padding!r}."
        )
    if len(padding) != geometry.spatial:
        raise ValueError(
            f"For '{function}', 'padding' must hold {geometry.spatial} (before, after) pairs, "
            f"one per spatial dimension, but got {padding!r}."
        )
    for i in range(geometry.spatial):
        read_ints(pair, padding[i], 2, 0, function, "padding")
        geometry.before[i] = pair[0]
        geometry.after[i] = pair[1]
        geometry.dilation[i] -= 1
    return 0


cdef int64_t window_span(const Geometry *geometry, int i) noexcept nogil:
    """Return how far a window reaches in spatial dimension `i`, dilation included."""
    return (geometry.kernel[i] - 1) * (geometry.dilation[i] + 1) + 1


cdef int64_t window_count(const Geometry *geometry, int i, int64_t size) noexcept nogil:
    """Return how many windows fit into `size` elements and the padding, 0 if none does."""
    cdef int64_t room = (
        size + geometry.before[i] + geometry.after[i] - window_span(geometry, i)
    )
    return 0 if room < 0 else room // geometry.stride[i] + 1


cdef int check_windows(
    Geometry *geometry, const Operand *x, const Operand *y, str function, str x_name,
    str y_name,
) except -1:
    """Check the batch and spatial sizes of `y`, the result of sliding windows over `x`.

    Then drop what has no effect, as oneDNN refuses some of it: padding that no window reaches,
    and the dilation of windows of one element.
    """
    cdef int i
    cdef int64_t count, reach
    if x.dims[0] != y.dims[0]:
        raise_mismatch(function, f"the batch size of '{y_name}'", x.dims[0], y.dims[0])
    for i in range(geometry.spatial):
        count = window_count(geometry, i, x.dims[i + 2])
        if count == 0:
            raise ValueError(
                f"For '{function}', the window must fit into the padded '{x_name}', but it spans "
                f"{window_span(geometry, i)} of "
                f"{x.dims[i + 2] + geometry.before[i] + geometry.after[i]} elements in spatial "
                f"dimension {i}."
            )
        if count != y.dims[i + 2]:
            raise_mismatch(
                function, f"the size of spatial dimension {i} of '{y_name}'", count,
                y.dims[i + 2],
            )
        reach = (count - 1) * geometry.stride[i] + window_span(geometry, i)
        geometry.after[i] = max(reach - geometry.before[i] - x.dims[i + 2], 0)
        if geometry.kernel[i] == 1:
            geometry.dilation[i] = 0
    return 0


cdef int check_rank(
    const Operand *operand, int least, int most, str function, str name
) except -1:
    if not least <= operand.rank <= most:
        wanted = least if least == most else f"from {least} to {most}"
        raise_mismatch(function, f"the rank of '{name}'", wanted, operand.rank)
    return 0


cdef int raise_mismatch(str function, str what, object wanted, object found) except -1:
    raise ValueError(f"For '{function}', {what} must be {wanted}, but got {found}.")


cdef void add_geometry(Key *key, const Geometry *geometry) noexcept nogil:
    cdef int i
    add_word(key, geometry.spatial)
    for i in range(geometry.spatial):
        add_word(key, geometry.kernel[i])
        add_word(key, geometry.stride[i])
        add_word(key, geometry.dilation[i])
        add_word(key, geometry.before[i])
        add_word(key, geometry.after[i])
    add_word(key, geometry.group)


cdef str geometry_text(const Geometry *geometry):
    """Return the numbers for an error message, with dilation 1 as dense."""
    cdef int i
    each = range(geometry.spatial)
    return (
        f"kernel {tuple([geometry.kernel[i] for i in each])}, "
        f"stride {tuple([geometry.stride[i] for i in each])}, "
        f"padding {tuple([(geometry.before[i], geometry.after[i]) for i in each])}, "
        f"dilation {tuple([geometry.dilation[i] + 1 for i in each])}, group {geometry.group}"
    )
