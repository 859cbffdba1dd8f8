# cython: cdivision=True, boundscheck=False, wraparound=False
"""Places where a mask is true, and the elements there, in order.

The mask is counted block by block, so that each block knows where its results begin.
"""

cimport numpy as cnp
from cython.parallel cimport prange
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc

from arrays cimport check, type_name
from blocks cimport BLOCK, PARALLEL_FROM, block_count, block_length

cnp.import_array()

cdef enum:
    AXES = 64

ctypedef fused pattern:
    uint8_t
    uint16_t
    uint32_t
    uint64_t


cdef int64_t *starts_of(const uint8_t *mask, Py_ssize_t size) noexcept nogil:
    """Return how many are true before each block, and in all; NULL without memory."""
    cdef Py_ssize_t blocks = block_count(size, BLOCK)
    cdef Py_ssize_t block
    cdef int64_t total = 0, count
    cdef int64_t *starts = <int64_t *> malloc((blocks + 1) * sizeof(int64_t))
    if starts == NULL:
        return NULL
    for block in prange(blocks, schedule="static", use_threads_if=size >= PARALLEL_FROM):
        starts[block] = count_of(mask + block * BLOCK, block_length(block, size, BLOCK))
    for block in range(blocks):
        count = starts[block]
        starts[block] = total
        total += count
    starts[blocks] = total
    return starts


cdef int64_t count_of(const uint8_t *mask, Py_ssize_t size) noexcept nogil:
    cdef Py_ssize_t i
    cdef uint32_t count = 0
    for i in range(size):
        count += mask[i] != 0
    return count


cdef void take_block(
    const uint8_t *mask, const pattern *x, pattern *out, int64_t count
) noexcept nogil:
    """Write the `count` chosen elements of a block: each is written, and kept if it is chosen."""
    cdef int64_t found = 0
    cdef Py_ssize_t i = 0
    while found < count:
        out[found] = x[i]
        found += mask[i] != 0
        i += 1


cdef void take_all(
    const uint8_t *mask, const pattern *x, pattern *out, const int64_t *starts, Py_ssize_t size
) noexcept nogil:
    cdef Py_ssize_t block
    for block in prange(
        block_count(size, BLOCK), schedule="static", use_threads_if=size >= PARALLEL_FROM
    ):
        take_block(mask + block * BLOCK, x + block * BLOCK, out + starts[block], starts[block + 1] - starts[block])


cdef void places_of_block(
    const uint8_t *mask, Py_ssize_t first, const Py_ssize_t *lengths, int axes, int64_t *out, int64_t count
) noexcept nogil:
    """Write the places of the `count` chosen elements of a block whose first element is number `first`."""
    cdef int64_t place[AXES]
    cdef int64_t found = 0
    cdef Py_ssize_t i = 0, run
    cdef int axis
    for axis in range(axes - 1, -1, -1):
        place[axis] = first % lengths[axis]
        first //= lengths[axis]
    while found < count:
        for run in range(place[axes - 1], lengths[axes - 1]):
            for axis in range(axes - 1):
                out[axis] = place[axis]
            out[axes - 1] = run
            if mask[i]:
                found += 1
                out += axes
                if found == count:
                    return
            i += 1
        place[axes - 1] = 0
        for axis in range(axes - 2, -1, -1):
            place[axis] += 1
            if place[axis] < lengths[axis]:
                break
            place[axis] = 0


cdef void places_of_all(
    const uint8_t *mask, const Py_ssize_t *lengths, int axes, int64_t *out, const int64_t *starts, Py_ssize_t size
) noexcept nogil:
    cdef Py_ssize_t block
    for block in prange(
        block_count(size, BLOCK), schedule="static", use_threads_if=size >= PARALLEL_FROM
    ):
        places_of_block(
            mask + block * BLOCK, block * BLOCK, lengths, axes, out + starts[block] * axes,
            starts[block + 1] - starts[block],
        )


def true_places(cnp.ndarray mask not None):
    """Return the places where a mask is true, a row each (count, axes) of int64, in order.

    Args:
        mask: C-contiguous bools, at least one axis.

    Raises:
        TypeError: for another type.
        ValueError: for another layout.

    >>> true_places(np.array([[True, False], [False, True]]))
    array([[0, 0],
           [1, 1]])
    """
    cdef Py_ssize_t lengths[AXES]
    cdef int axes = cnp.PyArray_NDIM(mask), axis
    cdef Py_ssize_t size = cnp.PyArray_SIZE(mask)
    cdef const uint8_t *data = <const uint8_t *> cnp.PyArray_DATA(mask)
    cdef int64_t *starts
    cdef int64_t *to
    cdef cnp.ndarray out
    check("true_places", "mask", mask, cnp.NPY_BOOL, -1, False)
    if axes == 0:
        raise ValueError("For 'true_places', 'mask' must have an axis, but got shape ().")
    for axis in range(axes):
        lengths[axis] = cnp.PyArray_DIM(mask, axis)
    with nogil:
        starts = starts_of(data, size)
    if starts == NULL:
        raise MemoryError()
    out = cnp.PyArray_SimpleNew(2, [starts[block_count(size, BLOCK)], axes], cnp.NPY_INT64)
    to = <int64_t *> cnp.PyArray_DATA(out)
    with nogil:
        places_of_all(data, lengths, axes, to, starts, size)
        free(starts)
    return out


def take_where(cnp.ndarray x not None, cnp.ndarray mask not None):
    """Return the elements of x where a mask is true, a vector in order.

    Args:
        x: C-contiguous, of elements of 1, 2, 4 or 8 bytes.
        mask: C-contiguous bools, as many.

    Raises:
        TypeError: for another type.
        ValueError: for another size or layout.

    >>> take_where(np.array([3.0, 4.0, 5.0]), np.array([True, False, True]))
    array([3., 5.])
    """
    cdef Py_ssize_t size = cnp.PyArray_SIZE(x), item = cnp.PyArray_ITEMSIZE(x)
    cdef const uint8_t *chosen = <const uint8_t *> cnp.PyArray_DATA(mask)
    cdef const void *data = cnp.PyArray_DATA(x)
    cdef int64_t *starts
    cdef void *to
    cdef cnp.ndarray out
    check("take_where", "mask", mask, cnp.NPY_BOOL, -1, False)
    check("take_where", "x", x, cnp.PyArray_TYPE(x), -1, False)
    if cnp.PyArray_SIZE(mask) != size:
        raise ValueError(f"For 'take_where', 'mask' must have {size} elements, but got {cnp.PyArray_SIZE(mask)}.")
    if item not in (1, 2, 4, 8) or cnp.PyArray_TYPE(x) == cnp.NPY_OBJECT:
        raise TypeError(f"For 'take_where', 'x' must hold elements of 1, 2, 4 or 8 bytes, but got {type_name(x)}.")
    with nogil:
        starts = starts_of(chosen, size)
    if starts == NULL:
        raise MemoryError()
    out = cnp.PyArray_EMPTY(1, [starts[block_count(size, BLOCK)]], cnp.PyArray_TYPE(x), False)
    to = cnp.PyArray_DATA(out)
    with nogil:
        if item == 1:
            take_all(chosen, <const uint8_t *> data, <uint8_t *> to, starts, size)
        elif item == 2:
            take_all(chosen, <const uint16_t *> data, <uint16_t *> to, starts, size)
        elif item == 4:
            take_all(chosen, <const uint32_t *> data, <uint32_t *> to, starts, size)
        else:
            take_all(chosen, <const uint64_t *> data, <uint64_t *> to, starts, size)
        free(starts)
    return out
