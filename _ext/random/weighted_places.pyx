# cython: cdivision=True, boundscheck=False, wraparound=False
"""Draws from rows of weights: where marks fall in the weights laid end to end."""

cimport numpy as cnp
from cython cimport floating
from cython.parallel cimport prange
from libc.math cimport isfinite
from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc

from arrays cimport check, real_type
from blocks cimport PARALLEL_FROM, block_count

cnp.import_array()

cdef extern from "weighted_places.h" nogil:
    enum:
        SIDE_BY_SIDE, SPAN
    int row_sums_f32 "dm_row_sums_f32"(
        const float *weights, Py_ssize_t rows, Py_ssize_t size, double *ends, Py_ssize_t spans)
    int row_sums_f64 "dm_row_sums_f64"(
        const double *weights, Py_ssize_t rows, Py_ssize_t size, double *ends, Py_ssize_t spans)
    Py_ssize_t place_f32 "dm_place_f32"(
        const float *weights, Py_ssize_t size, const double *ends, Py_ssize_t spans, double mark)
    Py_ssize_t place_f64 "dm_place_f64"(
        const double *weights, Py_ssize_t size, const double *ends, Py_ssize_t spans, double mark)


cdef bint find_places(
    const floating *weights, Py_ssize_t rows, Py_ssize_t size, const double *marks, int64_t *out, Py_ssize_t count,
    double *ends, Py_ssize_t spans
) noexcept nogil:
    """Write the places of a few rows' marks; return whether all weights are right."""
    cdef Py_ssize_t row, i
    cdef bint right
    cdef double total
    if floating is float:
        right = row_sums_f32(weights, rows, size, ends, spans)
    else:
        right = row_sums_f64(weights, rows, size, ends, spans)
    for row in range(rows):
        total = ends[row * spans + spans - 1] if spans else 0
        right = right and isfinite(total) and total > 0
        for i in range(row * count, (row + 1) * count):
            if floating is float:
                out[i] = place_f32(weights + row * size, size, ends + row * spans, spans, marks[i] * total)
            else:
                out[i] = place_f64(weights + row * size, size, ends + row * spans, spans, marks[i] * total)
    return right


def places(cnp.ndarray weights not None, cnp.ndarray marks not None, cnp.ndarray out not None):
    """Find where marks fall in rows of weights: weight i is from the sum of those before it to that with it.

    Args:
        weights: float32 or float64 (rows, n), C-contiguous; they are added in float64.
        marks: float64 (rows, count), likewise; parts of a row's sum, from [0, 1).
        out: int64 (rows, count), likewise; written. A mark at the end of all gives n.

    Returns:
        bool: whether no weight is negative or NaN, and each row's sum is positive and finite. What is written
        where it is not means nothing.

    >>> out = np.empty((1, 3), np.int64)
    >>> places(np.array([[1.0, 0.0, 3.0]]), np.array([[0.0, 0.25, 0.9]]), out); out
    True
    array([[0, 2, 2]])
    """
    cdef int number = real_type("places", "weights", weights)
    check("places", "weights", weights, number, 2, False)
    check("places", "marks", marks, cnp.NPY_FLOAT64, 2, False)
    check("places", "out", out, cnp.NPY_INT64, 2, True)
    cdef Py_ssize_t rows = cnp.PyArray_DIM(weights, 0), group, first, last
    cdef Py_ssize_t size = cnp.PyArray_DIM(weights, 1), count = cnp.PyArray_DIM(marks, 1)
    if cnp.PyArray_DIM(marks, 0) != rows or (<object> out).shape != (rows, count):
        raise ValueError(
            f"For 'places', 'marks' and 'out' must have the shape ({rows}, count), but got {(<object> marks).shape} "
            f"and {(<object> out).shape}."
        )
    cdef const char *of = <const char *> cnp.PyArray_DATA(weights)
    cdef const double *at = <const double *> cnp.PyArray_DATA(marks)
    cdef int64_t *to = <int64_t *> cnp.PyArray_DATA(out)
    cdef Py_ssize_t spans = block_count(size, SPAN)
    cdef double *ends = <double *> malloc(max(rows * spans, 1) * sizeof(double))
    cdef int wrong = 0
    if ends == NULL:
        raise MemoryError
    for group in prange(
        block_count(rows, SIDE_BY_SIDE), nogil=True, schedule="static", use_threads_if=rows * size >= PARALLEL_FROM
    ):
        first, last = group * SIDE_BY_SIDE, min((group + 1) * SIDE_BY_SIDE, rows)
        if number == cnp.NPY_FLOAT32:
            wrong += not find_places(
                <const float *> of + first * size, last - first, size, at + first * count, to + first * count, count,
                ends + first * spans, spans
            )
        else:
            wrong += not find_places(
                <const double *> of + first * size, last - first, size, at + first * count, to + first * count, count,
                ends + first * spans, spans
            )
    free(ends)
    return not wrong
