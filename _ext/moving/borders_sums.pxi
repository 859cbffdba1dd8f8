# The sums of copies: what the gradient of a border gives each element.

cdef struct Copies:
    # For each element of a dimension, where its copies are; nothing for a dimension without a border.
    Py_ssize_t *starts
    Py_ssize_t *places


cdef void list_copies(const Frame *frame, Copies *copies, Py_ssize_t *memory) noexcept nogil:
    """Fill `memory`: inner + 1 starts and outer places for each dimension but the last."""
    cdef const Dimension *dim
    cdef Py_ssize_t i, found
    cdef int axis
    for axis in range(frame.count - 1):
        dim = &frame.dims[axis]
        copies[axis].starts = NULL
        if dim.inner == dim.outer:
            continue
        copies[axis].starts, copies[axis].places = memory, memory + dim.inner + 1
        memory += dim.inner + 1 + dim.outer
        for i in range(dim.inner + 1):
            copies[axis].starts[i] = 0
        for i in range(dim.outer):
            copies[axis].starts[origin(dim, i)] += 1
        for i in range(dim.inner):
            copies[axis].starts[i + 1] += copies[axis].starts[i]
        for i in range(dim.outer - 1, -1, -1):
            found = origin(dim, i)
            copies[axis].starts[found] -= 1
            copies[axis].places[copies[axis].starts[found]] = i


cdef inline void add_border(const Dimension *dim, const floating *row, floating *sums) noexcept nogil:
    """Add a row's border to the elements that it is made of."""
    cdef Py_ssize_t i
    for i in range(dim.before):
        sums[dim.left.base + dim.left.slope * i] += row[i]
    for i in range(dim.before + dim.inner, dim.outer):
        sums[dim.right.base + dim.right.slope * i] += row[i]


cdef void sum_row(
    const Frame *frame, const Copies *copies, const Py_ssize_t *places, Matrix d_out, Matrix d_x, Py_ssize_t row,
    floating *scratch
) noexcept nogil:
    """Make one row of the sums; `scratch` has memory for two rows with their borders."""
    cdef const Dimension *dim = &frame.dims[frame.count - 1]
    cdef Py_ssize_t turns[DIMENSIONS + 1]
    cdef Py_ssize_t start, i
    cdef int axis
    cdef bint is_first = True
    cdef const floating *source
    cdef floating *sums = <floating *> d_x.data + row * dim.inner
    if is_narrow(d_x):
        sums = scratch + dim.outer
    for axis in range(frame.count - 1):
        turns[axis] = 0
    while True:
        start = 0
        for axis in range(frame.count - 1):
            start *= frame.dims[axis].outer
            if copies[axis].starts == NULL:
                start += places[axis]
            else:
                start += copies[axis].places[copies[axis].starts[places[axis]] + turns[axis]]
        source = widened(d_out, start * dim.outer, scratch, dim.outer)
        if is_first:
            memcpy(sums, source + dim.before, dim.inner * sizeof(floating))
        else:
            for i in range(dim.inner):
                sums[i] += source[dim.before + i]
        is_first = False
        add_border(dim, source, sums)
        axis = frame.count - 2
        while axis >= 0:
            if copies[axis].starts != NULL:
                turns[axis] += 1
                if turns[axis] < copies[axis].starts[places[axis] + 1] - copies[axis].starts[places[axis]]:
                    break
                turns[axis] = 0
            axis -= 1
        if axis < 0:
            break
    put_back(d_x, row * dim.inner, sums, dim.inner)


cdef int sum_rows(
    const Frame *frame, const Copies *copies, Matrix d_out, Matrix d_x, Py_ssize_t first, Py_ssize_t count,
    const floating *_type
) noexcept nogil:
    """Make `count` rows from number `first` on; return 1 if there is no memory."""
    cdef Py_ssize_t places[DIMENSIONS + 1]
    cdef Py_ssize_t row, rest = first
    cdef int axis
    cdef floating *scratch = NULL
    if is_narrow(d_x):
        scratch = <floating *> malloc(2 * frame.dims[frame.count - 1].outer * sizeof(floating))
        if scratch == NULL:
            return 1
    for axis in range(frame.count - 2, -1, -1):
        places[axis] = rest % frame.dims[axis].inner
        rest //= frame.dims[axis].inner
    for row in range(first, first + count):
        sum_row(frame, copies, places, d_out, d_x, row, scratch)
        for axis in range(frame.count - 2, -1, -1):
            places[axis] += 1
            if places[axis] < frame.dims[axis].inner:
                break
            places[axis] = 0
    free(scratch)
    return 0


cdef int sum_all(
    const Frame *frame, const Copies *copies, Matrix d_out, Matrix d_x, Py_ssize_t size, const floating *_type
) noexcept nogil:
    cdef Py_ssize_t length = frame.dims[frame.count - 1].inner
    cdef Py_ssize_t rows = size // length
    cdef Py_ssize_t share = max(SHARE // 4 // length, 1)
    cdef Py_ssize_t block
    cdef int failed = 0
    for block in prange(block_count(rows, share), schedule="static", use_threads_if=size * 4 >= PARALLEL_FROM_BYTES):
        failed += sum_rows(frame, copies, d_out, d_x, block * share, block_length(block, rows, share), _type)
    return failed


def sum_copies(cnp.ndarray d_out not None, cnp.ndarray d_x not None, widths not None, str rule not None):
    """Write into `d_x` the sum over the copies of each element: the gradient of `surround`.

    Both arrays are C-contiguous and of one type: float32, float64, bfloat16 or float16, whose sums are made in float32.

    Raises:
        TypeError: another type.
        ValueError: shapes, widths or the rule do not fit; "constant" has no copies.

    >>> import numpy as np
    >>> d_x = np.empty((1, 3))
    >>> sum_copies(np.array([[1.0, 2.0, 4.0, 8.0, 16.0]]), d_x, ((0, 0), (2, 0)), "replicate")
    >>> d_x
    array([[ 7.,  8., 16.]])
    """
    cdef Frame frame
    cdef Copies copies[DIMENSIONS + 1]
    cdef Matrix large, small
    cdef Py_ssize_t room = 1, size = cnp.PyArray_SIZE(d_x)
    cdef int axis, failed
    small.number = large.number = number_of("sum_copies", "d_x", d_x)
    check("sum_copies", "d_x", d_x, cnp.PyArray_TYPE(d_x), -1, True)
    check("sum_copies", "d_out", d_out, cnp.PyArray_TYPE(d_x), -1, False)
    if rule == "constant":
        raise ValueError("For 'sum_copies', 'rule' must be one whose borders are copies, but got 'constant'.")
    make_frame("sum_copies", &frame, d_x, d_out, widths, rule)
    for axis in range(cnp.PyArray_NDIM(d_x)):
        if min(widths[axis]) < 0:
            raise ValueError(f"For 'sum_copies', 'widths' must not be negative, but got {widths}.")
    if size == 0:
        return
    small.data, large.data = cnp.PyArray_DATA(d_x), cnp.PyArray_DATA(d_out)
    for axis in range(frame.count - 1):
        if frame.dims[axis].inner != frame.dims[axis].outer:
            room += frame.dims[axis].inner + 1 + frame.dims[axis].outer
    cdef Py_ssize_t *memory = <Py_ssize_t *> malloc(room * sizeof(Py_ssize_t))
    if memory == NULL:
        raise MemoryError()
    with nogil:
        list_copies(&frame, copies, memory)
        if working_type(small.number) == cnp.NPY_FLOAT64:
            failed = sum_all(&frame, copies, large, small, size, <double *> NULL)
        else:
            failed = sum_all(&frame, copies, large, small, size, <float *> NULL)
        free(memory)
    if failed:
        raise MemoryError()
