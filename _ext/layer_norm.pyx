# cython: cdivision=True, boundscheck=False, wraparound=False
"""Layer normalisation of the rows of a matrix, and its gradient.

Matrices are C-contiguous float32 or float64 (rows, columns), gamma and beta (columns,), mean and
rstd (rows,). Variances are sums of squared distances from the mean, so nothing cancels. Source:
Ba, Kiros and Hinton, "Layer normalization", 2016.
"""

cimport numpy as cnp
from cython cimport floating
from cython.parallel cimport prange
from libc.math cimport sqrt

import numpy as np

from arrays cimport check, check_same_shape, check_vector, real_type
from blocks cimport (
    LANES,
    PARALLEL_FROM,
    QUAD,
    add_sums_around,
    block_count,
    block_length,
    lane_total,
    rows_per_block,
    sum_of,
    sum_of_products,
)

cnp.import_array()

cdef enum:
    # The gradient's blocks are taller, as each leaves a partial sum per column behind.
    LEAST_ROWS = 64


cdef void forward_row(
    const floating *x, const floating *gamma, const floating *beta, double eps, floating *out,
    floating *mean, floating *rstd, Py_ssize_t columns
) noexcept nogil:
    """Normalise one row."""
    cdef floating center = <floating> (sum_of(x, columns) / columns)
    cdef floating factor
    cdef double total = 0
    cdef double squares = 0
    cdef Py_ssize_t i
    # Distances from the rounded mean are small and hardly rounded; their average corrects it.
    add_sums_around(x, center, columns, &total, &squares)
    squares -= total * total / columns
    center = <floating> (center + total / columns)
    factor = <floating> (1 / sqrt(max(squares, 0.0) / columns + eps))
    mean[0] = center
    rstd[0] = factor
    for i in range(columns):
        out[i] = (x[i] - center) * factor * gamma[i] + beta[i]


cdef void forward_rows(
    const floating *x, const floating *gamma, const floating *beta, double eps, floating *out,
    floating *mean, floating *rstd, Py_ssize_t rows, Py_ssize_t columns
) noexcept nogil:
    cdef Py_ssize_t block_rows = rows_per_block(columns, 1)
    cdef Py_ssize_t block, row
    for block in prange(
        block_count(rows, block_rows),
        schedule="static",
        use_threads_if=rows * columns >= PARALLEL_FROM,
    ):
        for row in range(block * block_rows, min((block + 1) * block_rows, rows)):
            forward_row(
                x + row * columns, gamma, beta, eps, out + row * columns, mean + row, rstd + row,
                columns,
            )


cdef double sum_of_scaled_products(
    const floating *dy, const floating *gamma, const floating *x, floating center,
    Py_ssize_t size
) noexcept nogil:
    """Return the sum of dy gamma (x - center), four terms in their type, the rest in float64."""
    cdef double lanes[LANES]
    cdef double rest = 0
    cdef floating quad
    cdef Py_ssize_t i = 0
    cdef int lane, part
    for lane in range(LANES):
        lanes[lane] = 0
    while i + QUAD * LANES <= size:
        for lane in range(LANES):
            quad = 0
            for part in range(QUAD):
                quad += (
                    dy[i + lane + part * LANES]
                    * gamma[i + lane + part * LANES]
                    * (x[i + lane + part * LANES] - center)
                )
            lanes[lane] += <double> quad
        i += QUAD * LANES
    while i < size:
        rest += dy[i] * gamma[i] * (x[i] - center)
        i += 1
    return lane_total(lanes) + rest


cdef void input_gradient_row(
    const floating *dy, const floating *x, const floating *gamma, floating mean, floating rstd,
    floating *dx, Py_ssize_t columns
) noexcept nogil:
    """Write rstd (g - average(g) - xhat average(g xhat)), g = dy gamma, for one row."""
    cdef floating average = <floating> (sum_of_products(dy, gamma, columns) / columns)
    cdef floating slope = <floating> (
        sum_of_scaled_products(dy, gamma, x, mean, columns) / columns * rstd * rstd
    )
    cdef Py_ssize_t i
    for i in range(columns):
        dx[i] = rstd * (dy[i] * gamma[i] - average - (x[i] - mean) * slope)


cdef void add_parameter_gradient(
    const floating *dy, const floating *x, const floating *mean, const floating *rstd,
    double *dgamma, double *dbeta, Py_ssize_t rows, Py_ssize_t columns
) noexcept nogil:
    """Add the columns' sums of dy xhat and dy over a block of rows."""
    cdef Py_ssize_t row = 0
    cdef Py_ssize_t i
    cdef const floating *y1
    cdef const floating *y2
    cdef const floating *y3
    cdef const floating *x1
    cdef const floating *x2
    cdef const floating *x3
    while row + QUAD <= rows:
        y1 = dy + columns
        y2 = y1 + columns
        y3 = y2 + columns
        x1 = x + columns
        x2 = x1 + columns
        x3 = x2 + columns
        for i in range(columns):
            dgamma[i] += <double> (
                (
                    dy[i] * ((x[i] - mean[row]) * rstd[row])
                    + y1[i] * ((x1[i] - mean[row + 1]) * rstd[row + 1])
                )
                + (
                    y2[i] * ((x2[i] - mean[row + 2]) * rstd[row + 2])
                    + y3[i] * ((x3[i] - mean[row + 3]) * rstd[row + 3])
                )
            )
            dbeta[i] += <double> ((dy[i] + y1[i]) + (y2[i] + y3[i]))
        dy = y3 + columns
        x = x3 + columns
        row += QUAD
    while row < rows:
        for i in range(columns):
            dgamma[i] += <double> (dy[i] * ((x[i] - mean[row]) * rstd[row]))
            dbeta[i] += <double> dy[i]
        dy = dy + columns
        x = x + columns
        row += 1


cdef void backward_block(
    const floating *dy, const floating *x, const floating *gamma, const floating *mean,
    const floating *rstd, floating *dx, double *dgamma, double *dbeta, Py_ssize_t rows,
    Py_ssize_t columns
) noexcept nogil:
    cdef Py_ssize_t row
    add_parameter_gradient(dy, x, mean, rstd, dgamma, dbeta, rows, columns)
    for row in range(rows):
        input_gradient_row(
            dy + row * columns, x + row * columns, gamma, mean[row], rstd[row],
            dx + row * columns, columns,
        )


cdef void backward_rows(
    const floating *dy, const floating *x, const floating *gamma, const floating *mean,
    const floating *rstd, floating *dx, floating *dgamma, floating *dbeta, double *partial,
    Py_ssize_t rows, Py_ssize_t columns
) noexcept nogil:
    """Fill the gradients; `partial` is zeroed and holds 2 rows of columns per block."""
    cdef Py_ssize_t block_rows = rows_per_block(columns, LEAST_ROWS)
    cdef Py_ssize_t blocks = block_count(rows, block_rows)
    cdef Py_ssize_t block, first, i
    cdef double gamma_total, beta_total
    for block in prange(
        blocks, schedule="static", use_threads_if=rows * columns >= PARALLEL_FROM
    ):
        first = block * block_rows
        backward_block(
            dy + first * columns, x + first * columns, gamma, mean + first, rstd + first,
            dx + first * columns, partial + 2 * block * columns,
            partial + (2 * block + 1) * columns, block_length(block, rows, block_rows), columns,
        )
    for i in range(columns):
        gamma_total = 0
        beta_total = 0
        for block in range(blocks):
            gamma_total += partial[2 * block * columns + i]
            beta_total += partial[(2 * block + 1) * columns + i]
        dgamma[i] = <floating> gamma_total
        dbeta[i] = <floating> beta_total


def forward(
    cnp.ndarray x not None, cnp.ndarray gamma not None, cnp.ndarray beta not None, double eps,
    cnp.ndarray out not None, cnp.ndarray mean not None, cnp.ndarray rstd not None
):
    """Write (x - mean) rstd gamma + beta into `out`, each row's statistics into mean and rstd.

    rstd is 1 / sqrt(variance + eps), with the biased variance.

    >>> out, mean, rstd = np.empty((1, 2)), np.empty(1), np.empty(1)
    >>> forward(np.array([[1.0, 3.0]]), np.ones(2), np.zeros(2), 0.0, out, mean, rstd)
    >>> out, mean, rstd
    (array([[-1.,  1.]]), array([2.]), array([1.]))
    """
    cdef str kernel = "layer_norm.forward"
    cdef int number = real_type(kernel, "x", x)
    check(kernel, "x", x, number, 2, False)
    cdef Py_ssize_t rows = cnp.PyArray_DIM(x, 0)
    cdef Py_ssize_t columns = cnp.PyArray_DIM(x, 1)
    check_vector(kernel, "gamma", gamma, number, columns, False)
    check_vector(kernel, "beta", beta, number, columns, False)
    check(kernel, "out", out, number, 2, True)
    check_same_shape(kernel, "out", out, "x", x)
    check_vector(kernel, "mean", mean, number, rows, True)
    check_vector(kernel, "rstd", rstd, number, rows, True)
    cdef void *from_x = cnp.PyArray_DATA(x)
    cdef void *factor = cnp.PyArray_DATA(gamma)
    cdef void *shift = cnp.PyArray_DATA(beta)
    cdef void *to = cnp.PyArray_DATA(out)
    cdef void *to_mean = cnp.PyArray_DATA(mean)
    cdef void *to_rstd = cnp.PyArray_DATA(rstd)
    with nogil:
        if number == cnp.NPY_FLOAT32:
            forward_rows(
                <const float *> from_x, <const float *> factor, <const float *> shift, eps,
                <float *> to, <float *> to_mean, <float *> to_rstd, rows, columns,
            )
        else:
            forward_rows(
                <const double *> from_x, <const double *> factor, <const double *> shift, eps,
                <double *> to, <double *> to_mean, <double *> to_rstd, rows, columns,
            )


def backward(
    cnp.ndarray dy not None, cnp.ndarray x not None, cnp.ndarray gamma not None,
    cnp.ndarray mean not None, cnp.ndarray rstd not None, cnp.ndarray dx not None,
    cnp.ndarray dgamma not None, cnp.ndarray dbeta not None
):
    """Write the gradients of `forward`, which gave `mean` and `rstd`, into dx, dgamma, dbeta.

    With xhat = (x - mean) rstd and g = dy gamma: dx = rstd (g - average(g) -
    xhat average(g xhat)) over a row, dgamma = sum(dy xhat) and dbeta = sum(dy) over a column.

    >>> x, mean, rstd = np.array([[1.0, 3.0, 5.0]]), np.array([3.0]), np.array([0.5])
    >>> dx, dgamma, dbeta = np.empty((1, 3)), np.empty(3), np.empty(3)
    >>> backward(np.ones((1, 3)), x, np.ones(3), mean, rstd, dx, dgamma, dbeta)
    >>> dx, dgamma, dbeta
    (array([[0., 0., 0.]]), array([-1.,  0.,  1.]), array([1., 1., 1.]))
    """
    cdef str kernel = "layer_norm.backward"
    cdef int number = real_type(kernel, "x", x)
    check(kernel, "x", x, number, 2, False)
    cdef Py_ssize_t rows = cnp.PyArray_DIM(x, 0)
    cdef Py_ssize_t columns = cnp.PyArray_DIM(x, 1)
    check(kernel, "dy", dy, number, 2, False)
    check_same_shape(kernel, "dy", dy, "x", x)
    check_vector(kernel, "gamma", gamma, number, columns, False)
    check_vector(kernel, "mean", mean, number, rows, False)
    check_vector(kernel, "rstd", rstd, number, rows, False)
    check(kernel, "dx", dx, number, 2, True)
    check_same_shape(kernel, "dx", dx, "x", x)
    check_vector(kernel, "dgamma", dgamma, number, columns, True)
    check_vector(kernel, "dbeta", dbeta, number, columns, True)
    cdef Py_ssize_t blocks = block_count(rows, rows_per_block(columns, LEAST_ROWS))
    cdef cnp.ndarray partial = np.zeros(2 * blocks * columns)
    cdef double *sums = <double *> cnp.PyArray_DATA(partial)
    cdef void *from_dy = cnp.PyArray_DATA(dy)
    cdef void *from_x = cnp.PyArray_DATA(x)
    cdef void *factor = cnp.PyArray_DATA(gamma)
    cdef void *means = cnp.PyArray_DATA(mean)
    cdef void *rstds = cnp.PyArray_DATA(rstd)
    cdef void *to_dx = cnp.PyArray_DATA(dx)
    cdef void *to_dgamma = cnp.PyArray_DATA(dgamma)
    cdef void *to_dbeta = cnp.PyArray_DATA(dbeta)
    with nogil:
        if number == cnp.NPY_FLOAT32:
            backward_rows(
                <const float *> from_dy, <const float *> from_x, <const float *> factor,
                <const float *> means, <const float *> rstds, <float *> to_dx,
                <float *> to_dgamma, <float *> to_dbeta, sums, rows, columns,
            )
        else:
            backward_rows(
                <const double *> from_dy, <const double *> from_x, <const double *> factor,
                <const double *> means, <const double *> rstds, <double *> to_dx,
                <double *> to_dgamma, <double *> to_dbeta, sums, rows, columns,
            )
