# cython: cdivision=True, boundscheck=False, wraparound=False
"""Where values would have to go into sorted rows, found by halving.

Sixteen values are searched for together, a step of all after a step of all, as each waits for its
number of the row. A NaN counts as the largest number.
"""

cimport numpy as cnp
from cython.parallel cimport prange
from libc.stdint cimport int32_t, int64_t

from arrays cimport check, type_name
from blocks cimport PARALLEL_FROM, block_count, block_length

cnp.import_array()

cdef enum:
    TOGETHER = 16
    # Values of a task.
    TASK = 1024
    # A search costs this many times what an element costs to read.
    SEARCH_COST = 8

ctypedef fused number:
    float
    double
    int32_t
    int64_t


cdef inline bint before(number a, number v, bint right) noexcept nogil:
    """Tell whether a row's number comes before where v goes."""
    if number is int32_t or number is int64_t:
        return a <= v if right else a < v
    if right:
        return (a <= v) | (v != v)
    return (a < v) | ((v != v) & (a == a))


cdef inline void search_some(
    const number *row, Py_ssize_t columns, const number *values, bint right, int64_t *found
) noexcept nogil:
    """Search for TOGETHER values in a row that is not empty."""
    cdef Py_ssize_t half, left = columns
    cdef int k
    for k in range(TOGETHER):
        found[k] = 0
    while left > 1:
        half = left // 2
        for k in range(TOGETHER):
            found[k] += half & -<int64_t> before(row[found[k] + half - 1], values[k], right)
        left -= half
    for k in range(TOGETHER):
        found[k] += before(row[found[k]], values[k], right)


cdef inline void search_task(
    const number *row, Py_ssize_t columns, const number *values, Py_ssize_t size, bint right, bint wide, char *out
) noexcept nogil:
    """Write the places of up to TASK values."""
    cdef int64_t found[TOGETHER]
    cdef number rest[TOGETHER]
    cdef Py_ssize_t block, start, count, k
    for k in range(TOGETHER):
        found[k] = 0
    for block in range(block_count(size, TOGETHER)):
        start, count = block * TOGETHER, block_length(block, size, TOGETHER)
        if columns:
            for k in range(TOGETHER):
                rest[k] = values[start + (k if k < count else 0)]
            if right:
                search_some(row, columns, <const number *> rest, True, found)
            else:
                search_some(row, columns, <const number *> rest, False, found)
        if wide:
            for k in range(count):
                (<int64_t *> out)[start + k] = found[k]
        else:
            for k in range(count):
                (<int32_t *> out)[start + k] = <int32_t> found[k]


cdef inline void search_all(
    const number *rows, const number *values, Py_ssize_t count, Py_ssize_t columns, Py_ssize_t searched, bint right,
    bint wide, char *out
) noexcept nogil:
    """Write all places."""
    cdef Py_ssize_t tasks = block_count(searched, TASK), task, row, start
    for task in prange(
        count * tasks, schedule="static", use_threads_if=count * searched * SEARCH_COST >= PARALLEL_FROM
    ):
        row = task // tasks
        start = row * searched + task % tasks * TASK
        search_task(
            rows + row * columns, columns, values + start, block_length(task % tasks, searched, TASK), right, wide,
            out + start * (8 if wide else 4))


def search(cnp.ndarray rows not None, cnp.ndarray values not None, cnp.ndarray places not None, bint right):
    """Write the places at which the values of each row would keep it sorted.

    Args:
        rows: C-contiguous (rows, columns) of float32, float64, int32 or int64 in rising order.
        values: (rows, searched) of its type.
        places: int32 or int64 of the shape of `values`.
        right: after equal numbers instead of before them.

    Raises:
        TypeError: for another type.
        ValueError: for another shape or layout.

    >>> places = np.empty((1, 2), np.int64)
    >>> search(np.array([[1.0, 3.0, 5.0]]), np.array([[2.0, 3.0]]), places, True)
    >>> places
    array([[1, 2]])
    """
    cdef str kernel = "search"
    cdef int kind = cnp.PyArray_TYPE(rows)
    cdef bint wide = cnp.PyArray_TYPE(places) != cnp.NPY_INT32
    cdef Py_ssize_t count, columns, searched
    cdef void *row = cnp.PyArray_DATA(rows)
    cdef void *value = cnp.PyArray_DATA(values)
    cdef char *out = <char *> cnp.PyArray_DATA(places)
    if type_name(rows) not in ("float32", "float64", "int32", "int64"):
        raise TypeError(f"For '{kernel}', 'rows' must be float32, float64, int32 or int64, but got {type_name(rows)}.")
    check(kernel, "rows", rows, kind, 2, False)
    check(kernel, "values", values, kind, 2, False)
    check(kernel, "places", places, cnp.NPY_INT64 if wide else cnp.NPY_INT32, 2, True)
    count, columns, searched = cnp.PyArray_DIM(rows, 0), cnp.PyArray_DIM(rows, 1), cnp.PyArray_DIM(values, 1)
    if cnp.PyArray_DIM(values, 0) != count or not cnp.PyArray_SAMESHAPE(places, values):
        raise ValueError(
            f"For '{kernel}', 'values' and 'places' must have {count} rows of one length, but got shapes "
            f"{(<object> values).shape} and {(<object> places).shape}."
        )
    with nogil:
        if kind == cnp.NPY_FLOAT32:
            search_all(<const float *> row, <const float *> value, count, columns, searched, right, wide, out)
        elif kind == cnp.NPY_FLOAT64:
            search_all(<const double *> row, <const double *> value, count, columns, searched, right, wide, out)
        elif kind == cnp.NPY_INT32:
            search_all(<const int32_t *> row, <const int32_t *> value, count, columns, searched, right, wide, out)
        else:
            search_all(<const int64_t *> row, <const int64_t *> value, count, columns, searched, right, wide, out)
