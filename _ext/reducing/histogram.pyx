# cython: cdivision=True, boundscheck=False, wraparound=False
"""The numbers of elements in bins of one width, with the bounds that NumPy's `histogram` gives them."""

cimport numpy as cnp
from cython cimport floating
from cython.parallel cimport prange
from libc.stdint cimport int64_t

from arrays cimport check, real_type
from blocks cimport PARALLEL_FROM, block_count, block_length

cnp.import_array()


cdef void count_block(
    const floating *x, Py_ssize_t size, const double *edges, Py_ssize_t bins, int64_t *out
) noexcept nogil:
    """Add the counts of a block: a bin from the quotient, which the edges around it put right."""
    cdef double low = edges[0], high = edges[bins], width = high - low, value
    cdef Py_ssize_t i, place
    for i in range(size):
        value = x[i]
        if not low <= value <= high:
            continue
        place = <Py_ssize_t> ((value - low) / width * bins)
        place = min(place, bins - 1)
        if value < edges[place]:
            place -= 1
        elif value >= edges[place + 1] and place != bins - 1:
            place += 1
        out[place] += 1


cdef void count_all(
    const floating *x, Py_ssize_t size, const double *edges, Py_ssize_t bins, Py_ssize_t parts, int64_t *out
) noexcept nogil:
    """Count parts of x each into a row of `out` of its own."""
    cdef Py_ssize_t part, each = block_count(size, parts)
    for part in prange(parts, schedule="static", use_threads_if=size >= PARALLEL_FROM):
        if part * each < size:
            count_block(x + part * each, block_length(part, size, each), edges, bins, out + part * bins)


def count(cnp.ndarray x not None, cnp.ndarray edges not None, cnp.ndarray out not None):
    """Add to `out` how many elements lie in each bin; the last one has its upper edge, and NaNs lie in none.

    Args:
        x: float32 or float64, C-contiguous.
        edges: float64 (bins + 1,), rising, at equal distances.
        out: int64 (parts, bins), written: the counts of as many parts of x.

    >>> out = np.zeros((1, 2), np.int64)
    >>> count(np.array([0.0, 0.5, 1.0, 2.0]), np.array([0.0, 0.5, 1.0]), out)
    >>> out
    array([[1, 2]])
    """
    cdef int number = real_type("count", "x", x)
    check("count", "x", x, number, -1, False)
    check("count", "edges", edges, cnp.NPY_FLOAT64, 1, False)
    check("count", "out", out, cnp.NPY_INT64, 2, True)
    cdef Py_ssize_t bins = cnp.PyArray_DIM(out, 1), parts = cnp.PyArray_DIM(out, 0), size = cnp.PyArray_SIZE(x)
    if bins < 1 or parts < 1 or cnp.PyArray_DIM(edges, 0) != bins + 1:
        raise ValueError(
            f"For 'count', 'out' must have a part and a bin at least, and 'edges' one edge more than bins, but got the "
            f"shapes {(<object> out).shape} and {(<object> edges).shape}."
        )
    cdef const double *bounds = <const double *> cnp.PyArray_DATA(edges)
    cdef const void *data = cnp.PyArray_DATA(x)
    cdef int64_t *to = <int64_t *> cnp.PyArray_DATA(out)
    with nogil:
        if number == cnp.NPY_FLOAT32:
            count_all(<const float *> data, size, bounds, bins, parts, to)
        else:
            count_all(<const double *> data, size, bounds, bins, parts, to)
