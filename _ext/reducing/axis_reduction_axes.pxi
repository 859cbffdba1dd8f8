# The axes of a reduction: which are reduced, in which order they lie in memory, which of them are one, and the
# array of the results.

cdef struct Axis:
    Py_ssize_t length
    Py_ssize_t stride
    bint reduced


cdef int reduced_axes(cnp.ndarray x, tuple axes, bint *reduced) except -1:
    """Mark the axes to reduce."""
    cdef int ndim = cnp.PyArray_NDIM(x), axis
    for axis in range(ndim):
        reduced[axis] = False
    for a in axes:
        axis = a
        if not 0 <= axis < ndim:
            raise ValueError(f"For 'reduce_axes', 'axes' must be in the range [0, {ndim}), but got {axes}.")
        reduced[axis] = True
    return 0


cdef int axes_of(cnp.ndarray x, const bint *reduced, Axis *found) noexcept:
    """Write the axes longer than 1 from the outermost in memory on, neighbours of one kind joined; return how many."""
    cdef int count = 0, axis, place
    cdef Axis new
    for axis in range(cnp.PyArray_NDIM(x)):
        new.length, new.stride, new.reduced = cnp.PyArray_DIM(x, axis), cnp.PyArray_STRIDE(x, axis), reduced[axis]
        if new.length == 1:
            continue
        place = count
        while place > 0 and found[place - 1].stride < new.stride:
            found[place] = found[place - 1]
            place -= 1
        found[place] = new
        count += 1
    return joined(found, count)


cdef int joined(Axis *axes, int count) noexcept nogil:
    """Join neighbours of one kind that lie densely; return how many axes are left."""
    cdef int last = 0, axis
    if count == 0:
        return 0
    for axis in range(1, count):
        if (
            axes[last].reduced == axes[axis].reduced
            and axes[last].stride == axes[axis].length * axes[axis].stride
        ):
            axes[last].length *= axes[axis].length
            axes[last].stride = axes[axis].stride
        else:
            last += 1
            axes[last] = axes[axis]
    return last + 1


cdef bint can_reduce(const Axis *axes, int count, Py_ssize_t item) noexcept nogil:
    """Tell whether the passes above can run: something is reduced, and no step of the memory is in their way."""
    cdef int axis
    cdef bint any_reduced = False
    if count == 0 or axes[count - 1].stride != item:
        return False
    for axis in range(count):
        any_reduced |= axes[axis].reduced
        if axes[axis].stride < 0 or axes[axis].stride % item:
            return False
        if axis > 0 and not axes[axis].reduced and not axes[axis - 1].reduced:
            return False
    return any_reduced


cdef cnp.ndarray output_of(cnp.ndarray x, const bint *reduced, bint keep_dims):
    """Return a new array for the results, whose axes lie in memory in the order that those of x do."""
    cdef cnp.npy_intp lengths[AXES]
    cdef cnp.npy_intp strides[AXES]
    cdef cnp.npy_intp sizes[AXES]
    cdef int count = 0, axis
    cdef cnp.ndarray out
    for axis in range(cnp.PyArray_NDIM(x)):
        if not reduced[axis] or keep_dims:
            lengths[count] = 1 if reduced[axis] else cnp.PyArray_DIM(x, axis)
            strides[count] = cnp.PyArray_STRIDE(x, axis) if lengths[count] > 1 else 0
            count += 1
    if cnp.PyArray_IS_C_CONTIGUOUS(x):
        return cnp.PyArray_EMPTY(count, lengths, cnp.PyArray_TYPE(x), False)
    order = sorted(range(count), key=[-strides[axis] for axis in range(count)].__getitem__)
    for axis in range(count):
        sizes[axis] = lengths[<int> order[axis]]
    out = cnp.PyArray_EMPTY(count, sizes, cnp.PyArray_TYPE(x), False)
    places = [0] * count
    for axis in range(count):
        places[order[axis]] = axis
    return out.transpose(places)
