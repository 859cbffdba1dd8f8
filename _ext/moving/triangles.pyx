# cython: cdivision=True, boundscheck=False, wraparound=False
"""Lower and upper triangles of matrices: a row is partly copied, partly zero."""

cimport numpy as cnp
from cython.parallel cimport prange
from libc.string cimport memcpy, memset

from arrays cimport check, check_same_shape
from blocks cimport PARALLEL_FROM

cnp.import_array()


cdef void cut_rows(
    const char *x, char *out, Py_ssize_t matrices, Py_ssize_t rows, Py_ssize_t columns, Py_ssize_t item,
    Py_ssize_t diagonal, bint lower
) noexcept nogil:
    cdef Py_ssize_t row, column, start
    for row in prange(
        matrices * rows, schedule="static", use_threads_if=matrices * rows * columns >= PARALLEL_FROM
    ):
        # The first column that an upper triangle keeps, or that a lower one drops.
        column = row % rows + diagonal + lower
        column = min(max(column, 0), columns)
        start = row * columns * item
        if lower:
            memcpy(out + start, x + start, column * item)
            memset(out + start + column * item, 0, (columns - column) * item)
        else:
            memset(out + start, 0, column * item)
            memcpy(out + start + column * item, x + start + column * item, (columns - column) * item)


def cut(cnp.ndarray x not None, Py_ssize_t diagonal, bint lower, cnp.ndarray out not None):
    """Write the lower or upper triangle of each matrix of x (matrices, rows, columns) into `out`, zeros elsewhere.

    Both are C-contiguous and of one type; `diagonal` is the last one kept, 0 the main one, above it positive.

    >>> import numpy as np
    >>> out = np.empty((1, 2, 3))
    >>> cut(np.arange(1.0, 7.0).reshape(1, 2, 3), 0, True, out)
    >>> out[0]
    array([[1., 0., 0.],
           [4., 5., 0.]])
    """
    check("cut", "x", x, cnp.PyArray_TYPE(x), 3, False)
    check("cut", "out", out, cnp.PyArray_TYPE(x), 3, True)
    check_same_shape("cut", "out", out, "x", x)
    if cnp.PyArray_TYPE(x) == cnp.NPY_OBJECT:
        raise TypeError("For 'cut', 'x' must hold numbers, but got Python objects.")
    cdef Py_ssize_t matrices = cnp.PyArray_DIM(x, 0), rows = cnp.PyArray_DIM(x, 1), columns = cnp.PyArray_DIM(x, 2)
    cdef const char *source = <const char *> cnp.PyArray_DATA(x)
    cdef char *target = <char *> cnp.PyArray_DATA(out)
    cdef Py_ssize_t item = cnp.PyArray_ITEMSIZE(x)
    with nogil:
        cut_rows(source, target, matrices, rows, columns, item, diagonal, lower)
