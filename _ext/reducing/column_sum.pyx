# cython: cdivision=True, boundscheck=False, wraparound=False
"""Sums over the rows of a matrix, as a bias gradient needs them.

The matrix is C-contiguous float32 or float64. Four rows are added in its type, the rest in
float64. A thread takes strips of columns, so no partial results have to be put together.
"""

cimport numpy as cnp
from cython cimport floating
from cython.parallel cimport prange

from arrays cimport check, check_vector, real_type
from blocks cimport PARALLEL_FROM, QUAD, block_count, block_length

cnp.import_array()

cdef enum:
    # Columns of a strip: its float64 sums stay in eight AVX-512 registers.
    STRIP = 64


cdef void add_strip(
    const floating *x, Py_ssize_t rows, Py_ssize_t columns, Py_ssize_t width, floating *out
) noexcept nogil:
    """Write the sums of up to STRIP columns, rows being `columns` apart."""
    cdef double sums[STRIP]
    cdef const floating *quad
    cdef Py_ssize_t row = 0, column
    for column in range(STRIP):
        sums[column] = 0
    while row + QUAD <= rows:
        quad = x + row * columns
        for column in range(width):
            sums[column] += <double> (
                (quad[column] + quad[column + columns])
                + (quad[column + 2 * columns] + quad[column + 3 * columns])
            )
        row += QUAD
    while row < rows:
        for column in range(width):
            sums[column] += x[row * columns + column]
        row += 1
    for column in range(width):
        out[column] = <floating> sums[column]


cdef void add_strips(
    const floating *x, Py_ssize_t rows, Py_ssize_t columns, floating *out
) noexcept nogil:
    cdef Py_ssize_t strip
    for strip in prange(
        block_count(columns, STRIP),
        schedule="static",
        use_threads_if=rows * columns >= PARALLEL_FROM,
    ):
        add_strip(
            x + strip * STRIP, rows, columns, block_length(strip, columns, STRIP),
            out + strip * STRIP,
        )


def column_sums(cnp.ndarray x not None, cnp.ndarray out not None):
    """Write the sums over the rows of x (rows, columns) into `out` (columns,).

    >>> out = np.empty(2)
    >>> column_sums(np.array([[1.0, 2.0], [3.0, 5.0]]), out)
    >>> out
    array([4., 7.])
    """
    cdef int number = real_type("column_sums", "x", x)
    check("column_sums", "x", x, number, 2, False)
    check_vector("column_sums", "out", out, number, cnp.PyArray_DIM(x, 1), True)
    cdef Py_ssize_t rows = cnp.PyArray_DIM(x, 0), columns = cnp.PyArray_DIM(x, 1)
    cdef void *source = cnp.PyArray_DATA(x)
    cdef void *to = cnp.PyArray_DATA(out)
    with nogil:
        if number == cnp.NPY_FLOAT32:
            add_strips(<const float *> source, rows, columns, <float *> to)
        else:
            add_strips(<const double *> source, rows, columns, <double *> to)
