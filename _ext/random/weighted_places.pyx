# cython: cdivision=True, boundscheck=False, wraparound=False
"""Draws from rows of weights: where marks fall in the weights laid end to end."""

cimport numpy as cnp
from cython.parallel cimport prange
from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc

from arrays cimport check
from blocks cimport PARALLEL_FROM

cnp.import_array()


cdef void find_places(
    const double *weights, Py_ssize_t size, const double *marks, int64_t *out, Py_ssize_t count, double *ends
) noexcept nogil:
    """Write, for each mark of a row, the first weight that ends behind it; `ends` has place for all of them."""
    cdef Py_ssize_t i, low, high, middle
    cdef double total = 0, mark
    for i in range(size):
        total += weights[i]
        ends[i] = total
    for i in range(count):
        mark = marks[i] * total
        low = 0
        high = size
        while low < high:
            middle = (low + high) // 2
            if ends[middle] > mark:
                high = middle
            else:
                low = middle + 1
        out[i] = low


def places(cnp.ndarray weights not None, cnp.ndarray marks not None, cnp.ndarray out not None):
    """Find where marks fall in rows of weights: weight i is from the sum of those before it to that with it.

    Args:
        weights: float64 (rows, n), C-contiguous, not negative.
        marks: float64 (rows, count), likewise; parts of a row's sum, from [0, 1).
        out: int64 (rows, count), likewise; written. A mark at the end of all gives n.

    >>> out = np.empty((1, 3), np.int64)
    >>> places(np.array([[1.0, 0.0, 3.0]]), np.array([[0.0, 0.25, 0.9]]), out); out
    array([[0, 2, 2]])
    """
    check("places", "weights", weights, cnp.NPY_FLOAT64, 2, False)
    check("places", "marks", marks, cnp.NPY_FLOAT64, 2, False)
    check("places", "out", out, cnp.NPY_INT64, 2, True)
    cdef Py_ssize_t row, rows = cnp.PyArray_DIM(weights, 0)
    cdef Py_ssize_t size = cnp.PyArray_DIM(weights, 1), count = cnp.PyArray_DIM(marks, 1)
    if cnp.PyArray_DIM(marks, 0) != rows or (<object> out).shape != (rows, count):
        raise ValueError(
            f"For 'places', 'marks' and 'out' must have the shape ({rows}, count), but got {(<object> marks).shape} "
            f"and {(<object> out).shape}."
        )
    cdef const double *of = <const double *> cnp.PyArray_DATA(weights)
    cdef const double *at = <const double *> cnp.PyArray_DATA(marks)
    cdef int64_t *to = <int64_t *> cnp.PyArray_DATA(out)
    cdef double *ends = <double *> malloc(max(rows * size, 1) * sizeof(double))
    if ends == NULL:
        raise MemoryError
    with nogil:
        for row in prange(rows, schedule="static", use_threads_if=rows * size >= PARALLEL_FROM):
            find_places(of + row * size, size, at + row * count, to + row * count, count, ends + row * size)
    free(ends)
