# cython: cdivision=True, boundscheck=False, wraparound=False
"""Elements taken, put and added along one axis, by an index for each or for whole rows.

Arrays are C-contiguous (outer, length, inner); indices are int32 or int64 (outer, count, inner) in
any strides. An index that is one for a whole row has the stride 0 along it. A thread that writes
by index owns a range of (outer, inner) and goes through it in the order of the indices, so of
several values put in one place the last one stays, and sums are added in that order, for any
number of threads.
"""

cimport numpy as cnp
from cython.parallel cimport prange
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy

from arrays cimport check, check_memory, type_name
from blocks cimport PARALLEL_FROM, block_count

cnp.import_array()

cdef enum:
    # Elements of a row that a unit of work has at least: whole cache lines. Rows are cut in up to PIECES.
    LEAST_PIECE = 64
    PIECES = 8
    # Rows of a unit that only reads.
    ROWS = 1024

cdef enum Task:
    TAKE, PUT, ADD

ctypedef fused index_type:
    int32_t
    int64_t

ctypedef fused number:
    # Bits to move, or numbers to add.
    uint8_t
    uint16_t
    uint32_t
    uint64_t
    float
    double
    int32_t
    int64_t

cdef struct Extents:
    Py_ssize_t outer, length, count, inner
    Py_ssize_t index_steps[3]  # In elements.
    Py_ssize_t piece, pieces, rows, blocks  # How (inner) and (count) are cut into units.


cdef inline void move(Task task, number *place, number *other, Py_ssize_t size) noexcept nogil:
    """Handle `size` elements at `place` in the indexed array and at `other`."""
    cdef Py_ssize_t i
    if task == TAKE:
        memcpy(other, place, size * sizeof(number))
    elif task == PUT:
        memcpy(place, other, size * sizeof(number))
    else:
        for i in range(size):
            place[i] += other[i]


cdef inline void move_one(Task task, number *place, number *other) noexcept nogil:
    if task == TAKE:
        other[0] = place[0]
    elif task == PUT:
        place[0] = other[0]
    else:
        place[0] += other[0]


cdef extern from *:
    """
    /* Without AVX-512 reading by index in vectors takes twice the time of reading one by one. */
    #ifdef __AVX512F__
    #define dm_one_by_one()
    #else
    #define dm_one_by_one() __asm__ volatile("")
    #endif
    """
    void one_by_one "dm_one_by_one"() noexcept nogil


cdef inline bint find(int64_t *index, Py_ssize_t length) noexcept nogil:
    """Count a negative index from the end; tell whether it is in range."""
    if index[0] < 0:
        index[0] += length
    return 0 <= index[0] < length


cdef bint all_inside(const index_type *indices, Py_ssize_t rows, Py_ssize_t length) noexcept nogil:
    """Tell whether no index is negative or too large: the sign of either difference."""
    cdef int64_t outside = 0, index
    cdef Py_ssize_t row
    for row in range(rows):
        index = indices[row]
        outside |= index | (length - 1 - index)
    return outside >= 0


cdef void take_line(const number *array, const index_type *indices, number *others, Py_ssize_t rows) noexcept nogil:
    """Take elements by indices that are in range and not negative."""
    cdef Py_ssize_t row
    for row in range(rows):
        others[row] = array[indices[row]]
        one_by_one()


cdef bint run_line(
    Task task, const Extents *sizes, number *array, const index_type *indices, number *others, Py_ssize_t rows
) noexcept nogil:
    """Handle rows of one element; tell whether all indices are in range."""
    cdef Py_ssize_t step = sizes.index_steps[1], row
    cdef int64_t index
    if step == 1 and all_inside(indices, rows, sizes.length):
        if task == TAKE:
            take_line(array, indices, others, rows)
        else:
            for row in range(rows):
                move_one(task, array + indices[row], others + row)
        return True
    for row in range(rows):
        index = indices[row * step]
        if not find(&index, sizes.length):
            return False
        move_one(task, array + index, others + row)
    return True


cdef bint run_unit(
    Task task, const Extents *sizes, number *array, const index_type *indices, number *others,
    Py_ssize_t rows, Py_ssize_t first, Py_ssize_t stop, bint known
) noexcept nogil:
    """Handle the elements [first, stop) of some rows of one outer index; tell whether all indices are in range.

    A line of indices that is known is looked at no more.
    """
    cdef Py_ssize_t step = sizes.index_steps[1], inner_step = sizes.index_steps[2]
    cdef Py_ssize_t row, i
    cdef int64_t index
    if known:
        take_line(array, indices, others, rows)
        return True
    if sizes.inner == 1:
        return run_line(task, sizes, array, indices, others, rows)
    for row in range(rows):
        if inner_step == 0:
            index = indices[row * step]
            if not find(&index, sizes.length):
                return False
            move(task, array + index * sizes.inner + first, others + row * sizes.inner + first, stop - first)
            continue
        for i in range(first, stop):
            index = indices[row * step + i * inner_step]
            if not find(&index, sizes.length):
                return False
            move_one(task, array + index * sizes.inner + i, others + row * sizes.inner + i)
    return True


cdef bint run(
    Task task, const Extents *sizes, number *array, const index_type *indices, number *others
) noexcept nogil:
    cdef Py_ssize_t unit, outer, row, first
    cdef int wrong = 0
    cdef bint known = False
    if task == TAKE and sizes.inner == 1 < sizes.outer and sizes.index_steps[0] == 0 and sizes.index_steps[1] == 1:
        known = all_inside(indices, sizes.count, sizes.length)  # those of all outer ones
    for unit in prange(
        sizes.outer * sizes.blocks * sizes.pieces, schedule="static",
        use_threads_if=sizes.outer * sizes.count * sizes.inner >= PARALLEL_FROM
    ):
        outer = unit // sizes.pieces // sizes.blocks
        row = unit // sizes.pieces % sizes.blocks * sizes.rows
        first = unit % sizes.pieces * sizes.piece
        wrong += not run_unit(
            task, sizes, array + outer * sizes.length * sizes.inner,
            indices + outer * sizes.index_steps[0] + row * sizes.index_steps[1],
            others + (outer * sizes.count + row) * sizes.inner,
            min(sizes.rows, sizes.count - row), first, min(first + sizes.piece, sizes.inner), known
        )
    return wrong == 0


cdef void cut(Extents *sizes, bint reads) noexcept:
    """Choose what a unit of work is."""
    sizes.piece = max(block_count(block_count(sizes.inner, PIECES), LEAST_PIECE), 1) * LEAST_PIECE
    sizes.rows = max(sizes.count, 1)
    if reads:
        sizes.piece = max(sizes.inner, 1)
        sizes.rows = min(max(ROWS * LEAST_PIECE // sizes.piece, 1), sizes.rows)
    sizes.pieces = block_count(sizes.inner, sizes.piece)
    sizes.blocks = block_count(sizes.count, sizes.rows)


cdef bint run_typed(
    Task task, const Extents *sizes, number *array, const void *indices, int index_size, void *others
) noexcept nogil:
    if index_size == 4:
        return run(task, sizes, array, <const int32_t *> indices, <number *> others)
    return run(task, sizes, array, <const int64_t *> indices, <number *> others)


cdef int index_array(
    str kernel, Task task, cnp.ndarray array, cnp.ndarray indices, cnp.ndarray others
) except -1:
    """Check the arguments, then handle all elements."""
    cdef int kind = cnp.PyArray_TYPE(array), size = <int> cnp.PyArray_ITEMSIZE(array)
    cdef int index_size = <int> cnp.PyArray_ITEMSIZE(indices)
    cdef Extents sizes
    cdef int axis
    cdef bint right
    check(kernel, "array", array, kind, 3, task != TAKE)
    check(kernel, "others", others, kind, 3, task == TAKE)
    check_memory(kernel, "indices", indices, False)
    if indices.dtype.kind != "i" or index_size < 4 or cnp.PyArray_NDIM(indices) != 3:
        raise TypeError(
            f"For '{kernel}', 'indices' must be int32 or int64 with 3 dimensions, but got "
            f"{type_name(indices)} of shape {(<object> indices).shape}."
        )
    sizes.outer, sizes.length = cnp.PyArray_DIM(array, 0), cnp.PyArray_DIM(array, 1)
    sizes.count, sizes.inner = cnp.PyArray_DIM(others, 1), cnp.PyArray_DIM(array, 2)
    if (<object> indices).shape != (<object> others).shape or (<object> others).shape != (
        sizes.outer, sizes.count, sizes.inner
    ):
        raise ValueError(
            f"For '{kernel}', 'indices' and 'others' must have the shape of 'array' but for the "
            f"dimension in the middle, but got {(<object> indices).shape}, {(<object> others).shape} and "
            f"{(<object> array).shape}."
        )
    if size > 8 or (task == ADD and kind not in (
        cnp.NPY_FLOAT32, cnp.NPY_FLOAT64, cnp.NPY_INT32, cnp.NPY_INT64
    )):
        raise TypeError(f"For '{kernel}', 'array' is of {type_name(array)}, which it does not take.")
    for axis in range(3):
        sizes.index_steps[axis] = cnp.PyArray_STRIDE(indices, axis) // index_size
    cut(&sizes, task == TAKE)
    cdef void *data = cnp.PyArray_DATA(array)
    cdef void *rest = cnp.PyArray_DATA(others)
    cdef const void *where = cnp.PyArray_DATA(indices)
    with nogil:
        if task == ADD:
            if kind == cnp.NPY_FLOAT32:
                right = run_typed(task, &sizes, <float *> data, where, index_size, rest)
            elif kind == cnp.NPY_FLOAT64:
                right = run_typed(task, &sizes, <double *> data, where, index_size, rest)
            elif kind == cnp.NPY_INT32:
                right = run_typed(task, &sizes, <int32_t *> data, where, index_size, rest)
            else:
                right = run_typed(task, &sizes, <int64_t *> data, where, index_size, rest)
        elif size == 4:
            right = run_typed(task, &sizes, <uint32_t *> data, where, index_size, rest)
        elif size == 8:
            right = run_typed(task, &sizes, <uint64_t *> data, where, index_size, rest)
        elif size == 2:
            right = run_typed(task, &sizes, <uint16_t *> data, where, index_size, rest)
        else:
            right = run_typed(task, &sizes, <uint8_t *> data, where, index_size, rest)
    if not right:
        raise IndexError(f"For '{kernel}', each index must be in the range [{-sizes.length}, {sizes.length}).")
    return 0


def take(cnp.ndarray array not None, cnp.ndarray indices not None, cnp.ndarray others not None):
    """Write ``others[o, k, i] = array[o, indices[o, k, i], i]``; types of 1, 2, 4 or 8 bytes.

    >>> import numpy as np
    >>> out = np.empty((1, 1, 3), np.float32)
    >>> take(np.arange(6, dtype=np.float32).reshape(1, 2, 3), np.array([[[1, 0, -1]]]), out)
    >>> out
    array([[[3., 1., 5.]]], dtype=float32)
    """
    index_array("take", TAKE, array, indices, others)


def put(cnp.ndarray array not None, cnp.ndarray indices not None, cnp.ndarray others not None):
    """Write ``array[o, indices[o, k, i], i] = others[o, k, i]``, the last one of equal indices.

    After an index out of range, which raises IndexError, the contents of `array` are undefined.

    >>> import numpy as np
    >>> array = np.zeros((1, 3, 1))
    >>> put(array, np.array([[[2], [0], [2]]]), np.array([[[5.0], [6.0], [7.0]]]))
    >>> array.ravel()
    array([6., 0., 7.])
    """
    index_array("put", PUT, array, indices, others)


def add(cnp.ndarray array not None, cnp.ndarray indices not None, cnp.ndarray others not None):
    """Add ``others[o, k, i]`` to ``array[o, indices[o, k, i], i]``: float32, float64, int32 or int64.

    After an index out of range, which raises IndexError, the contents of `array` are undefined.

    >>> import numpy as np
    >>> array = np.zeros((1, 3, 1))
    >>> add(array, np.array([[[2], [0], [2]]]), np.array([[[5.0], [6.0], [7.0]]]))
    >>> array.ravel()
    array([ 6.,  0., 12.])
    """
    index_array("add", ADD, array, indices, others)
