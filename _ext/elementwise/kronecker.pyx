# cython: cdivision=True, boundscheck=False, wraparound=False
"""Kronecker products: the rows of one matrix, multiplied by each number of the other's rows."""

cimport numpy as cnp
from cython cimport floating
from cython.parallel cimport prange

from arrays cimport check, real_type
from blocks cimport PARALLEL_FROM

cnp.import_array()


cdef void multiply_rows(
    const floating *x, const floating *y, floating *out, Py_ssize_t m, Py_ssize_t n, Py_ssize_t p, Py_ssize_t q
) noexcept nogil:
    cdef Py_ssize_t row, j, k
    cdef const floating *left
    cdef const floating *right
    cdef floating *to
    cdef floating factor
    for row in prange(m * p, schedule="static", use_threads_if=m * n * p * q >= PARALLEL_FROM):
        left, right = x + row // p * n, y + row % p * q
        for j in range(n):
            factor, to = left[j], out + (row * n + j) * q
            for k in range(q):
                to[k] = factor * right[k]


def product(cnp.ndarray x not None, cnp.ndarray y not None, cnp.ndarray out not None):
    """Write x[i, j] y[k, l] into out[i, k, j, l].

    Args:
        x: float32 or float64 (m, n), C-contiguous.
        y: of its type (p, q), likewise; long rows are quick.
        out: of its type (m, p, n, q), likewise.

    >>> out = np.empty((1, 1, 2, 2))
    >>> product(np.array([[1.0, 10.0]]), np.array([[2.0, 3.0]]), out)
    >>> out.ravel()
    array([ 2.,  3., 20., 30.])
    """
    cdef int number = real_type("product", "x", x)
    check("product", "x", x, number, 2, False)
    check("product", "y", y, number, 2, False)
    check("product", "out", out, number, 4, True)
    cdef Py_ssize_t m = cnp.PyArray_DIM(x, 0), n = cnp.PyArray_DIM(x, 1)
    cdef Py_ssize_t p = cnp.PyArray_DIM(y, 0), q = cnp.PyArray_DIM(y, 1)
    if (<object> out).shape != (m, p, n, q):
        raise ValueError(f"For 'product', 'out' must have the shape {(m, p, n, q)}, but got {(<object> out).shape}.")
    cdef void *a = cnp.PyArray_DATA(x)
    cdef void *b = cnp.PyArray_DATA(y)
    cdef void *c = cnp.PyArray_DATA(out)
    with nogil:
        if number == cnp.NPY_FLOAT32:
            multiply_rows(<const float *> a, <const float *> b, <float *> c, m, n, p, q)
        else:
            multiply_rows(<const double *> a, <const double *> b, <double *> c, m, n, p, q)
