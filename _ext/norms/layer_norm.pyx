# cython: cdivision=True, boundscheck=False, wraparound=False
"""Layer normalisation of the rows of a matrix, and its gradient.

Matrices are C-contiguous (rows, columns): float64, or float32, bfloat16 and float16 in any mixture.
16-bit numbers are computed with in float32. gamma, beta (columns,), mean, rstd (rows,) have the
type computed with, float32 or float64. Variances are sums of squared distances from the mean, so
nothing cancels. Source: Ba, Kiros and Hinton, "Layer normalization", 2016.
"""

cimport numpy as cnp
from cython cimport floating
from cython.parallel cimport prange, threadid
from libc.math cimport sqrt

import numpy as np

from arrays cimport check_vector
from blocks cimport (
    LANES,
    PARALLEL_FROM,
    QUAD,
    add_sums_around,
    block_count,
    lane_total,
    rows_per_block,
    sum_of,
)
from rows cimport (
    Matrix,
    is_narrow,
    matrix,
    padded,
    place_of,
    put_back,
    scratch_rows,
    widened,
    working_type,
)

cnp.import_array()

cdef enum:
    # The gradient's blocks are taller, as each leaves a partial sum per column behind.
    LEAST_ROWS = 64
    # Rows of scratch memory: QUAD of dy, QUAD of x and one of dx.
    BACKWARD_SCRATCH = 9


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
    Matrix x, const floating *gamma, const floating *beta, double eps, Matrix out, floating *mean,
    floating *rstd, floating *scratch, Py_ssize_t rows, Py_ssize_t columns
) noexcept nogil:
    cdef Py_ssize_t block_rows = rows_per_block(columns, 1)
    cdef Py_ssize_t block, row, start
    cdef floating *place
    cdef floating *to
    for block in prange(
        block_count(rows, block_rows),
        schedule="static",
        use_threads_if=rows * columns >= PARALLEL_FROM,
    ):
        place = scratch + 2 * threadid() * padded(columns)
        for row in range(block * block_rows, min((block + 1) * block_rows, rows)):
            start = row * columns
            to = place_of(out, start, place + padded(columns))
            forward_row(
                widened(x, start, place, columns), gamma, beta, eps, to, mean + row, rstd + row,
                columns,
            )
            put_back(out, start, <const floating *> to, columns)


cdef void add_row_sums(
    const floating *dy, const floating *x, const floating *gamma, floating center, double *total,
    double *products, Py_ssize_t size
) noexcept nogil:
    """Add the sums of g = dy gamma and of g (x - center), made like those of blocks.pxd."""
    cdef double lanes[LANES]
    cdef double product_lanes[LANES]
    cdef floating g0, g1, g2, g3
    cdef Py_ssize_t i = 0
    cdef int lane
    for lane in range(LANES):
        lanes[lane] = 0
        product_lanes[lane] = 0
    while i + QUAD * LANES <= size:
        for lane in range(LANES):
            g0 = dy[i + lane] * gamma[i + lane]
            g1 = dy[i + lane + LANES] * gamma[i + lane + LANES]
            g2 = dy[i + lane + 2 * LANES] * gamma[i + lane + 2 * LANES]
            g3 = dy[i + lane + 3 * LANES] * gamma[i + lane + 3 * LANES]
            lanes[lane] += <double> ((g0 + g1) + (g2 + g3))
            product_lanes[lane] += <double> (
                (g0 * (x[i + lane] - center) + g1 * (x[i + lane + LANES] - center))
                + (
                    g2 * (x[i + lane + 2 * LANES] - center)
                    + g3 * (x[i + lane + 3 * LANES] - center)
                )
            )
        i += QUAD * LANES
    while i < size:
        g0 = dy[i] * gamma[i]
        total[0] += g0
        products[0] += g0 * (x[i] - center)
        i += 1
    total[0] += lane_total(lanes)
    products[0] += lane_total(product_lanes)


cdef void input_gradient_row(
    const floating *dy, const floating *x, const floating *gamma, floating mean, floating rstd,
    floating *dx, Py_ssize_t columns
) noexcept nogil:
    """Write rstd (g - average(g) - xhat average(g xhat)), g = dy gamma, for one row."""
    cdef double total = 0
    cdef double products = 0
    cdef floating average, slope
    cdef Py_ssize_t i
    add_row_sums(dy, x, gamma, mean, &total, &products, columns)
    average = <floating> (total / columns)
    slope = <floating> (products / columns * rstd * rstd)
    for i in range(columns):
        dx[i] = rstd * (dy[i] * gamma[i] - average - (x[i] - mean) * slope)


cdef void add_quad(
    const floating *dy, const floating *x, const floating *mean, const floating *rstd,
    double *dgamma, double *dbeta, Py_ssize_t columns
) noexcept nogil:
    """Add the columns' sums of dy xhat and dy over QUAD rows."""
    cdef const floating *y1 = dy + columns
    cdef const floating *y2 = y1 + columns
    cdef const floating *y3 = y2 + columns
    cdef const floating *x1 = x + columns
    cdef const floating *x2 = x1 + columns
    cdef const floating *x3 = x2 + columns
    cdef floating m0 = mean[0], m1 = mean[1], m2 = mean[2], m3 = mean[3]
    cdef floating r0 = rstd[0], r1 = rstd[1], r2 = rstd[2], r3 = rstd[3]
    cdef Py_ssize_t i
    for i in range(columns):
        dgamma[i] += <double> (
            (dy[i] * ((x[i] - m0) * r0) + y1[i] * ((x1[i] - m1) * r1))
            + (y2[i] * ((x2[i] - m2) * r2) + y3[i] * ((x3[i] - m3) * r3))
        )
        dbeta[i] += <double> ((dy[i] + y1[i]) + (y2[i] + y3[i]))


cdef void add_row(
    const floating *dy, const floating *x, floating mean, floating rstd, double *dgamma,
    double *dbeta, Py_ssize_t columns
) noexcept nogil:
    """Add one row's dy xhat and dy."""
    cdef Py_ssize_t i
    for i in range(columns):
        dgamma[i] += <double> (dy[i] * ((x[i] - mean) * rstd))
        dbeta[i] += <double> dy[i]


cdef void backward_block(
    Matrix dy, Matrix x, const floating *gamma, const floating *mean, const floating *rstd,
    Matrix dx, double *dgamma, double *dbeta, floating *scratch, Py_ssize_t first, Py_ssize_t last,
    Py_ssize_t columns
) noexcept nogil:
    """Fill some rows of dx and add these rows to dgamma and dbeta, as long as the caches hold them."""
    cdef const floating *wide_dy
    cdef const floating *wide_x
    cdef floating *to
    cdef Py_ssize_t row = first
    cdef Py_ssize_t i, count, start
    while row < last:
        count = min(<Py_ssize_t> QUAD, last - row)
        start = row * columns
        wide_dy = widened(dy, start, scratch, count * columns)
        wide_x = widened(x, start, scratch + QUAD * padded(columns), count * columns)
        if count == QUAD:
            add_quad(wide_dy, wide_x, mean + row, rstd + row, dgamma, dbeta, columns)
        else:
            for i in range(count):
                add_row(
                    wide_dy + i * columns, wide_x + i * columns, mean[row + i], rstd[row + i],
                    dgamma, dbeta, columns,
                )
        for i in range(count):
            to = place_of(dx, start + i * columns, scratch + 2 * QUAD * padded(columns))
            input_gradient_row(
                wide_dy + i * columns, wide_x + i * columns, gamma, mean[row + i], rstd[row + i],
                to, columns,
            )
            put_back(dx, start + i * columns, <const floating *> to, columns)
        row += QUAD


cdef void backward_rows(
    Matrix dy, Matrix x, const floating *gamma, const floating *mean, const floating *rstd,
    Matrix dx, floating *dgamma, floating *dbeta, double *partial, floating *scratch,
    Py_ssize_t rows, Py_ssize_t columns
) noexcept nogil:
    """Fill the gradients; `partial` is zeroed and holds 2 rows of columns per block."""
    cdef Py_ssize_t block_rows = rows_per_block(columns, LEAST_ROWS)
    cdef Py_ssize_t blocks = block_count(rows, block_rows)
    cdef Py_ssize_t block, i
    cdef double gamma_total, beta_total
    for block in prange(
        blocks, schedule="static", use_threads_if=rows * columns >= PARALLEL_FROM
    ):
        backward_block(
            dy, x, gamma, mean, rstd, dx, partial + 2 * block * columns,
            partial + (2 * block + 1) * columns,
            scratch + BACKWARD_SCRATCH * threadid() * padded(columns), block * block_rows,
            min((block + 1) * block_rows, rows), columns,
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
    cdef Matrix source = matrix(kernel, "x", x, False, "x", x)
    cdef Matrix to = matrix(kernel, "out", out, True, "x", x)
    cdef int number = working_type(source.number)
    cdef Py_ssize_t rows = cnp.PyArray_DIM(x, 0)
    cdef Py_ssize_t columns = cnp.PyArray_DIM(x, 1)
    check_vector(kernel, "gamma", gamma, number, columns, False)
    check_vector(kernel, "beta", beta, number, columns, False)
    check_vector(kernel, "mean", mean, number, rows, True)
    check_vector(kernel, "rstd", rstd, number, rows, True)
    cdef void *factor = cnp.PyArray_DATA(gamma)
    cdef void *shift = cnp.PyArray_DATA(beta)
    cdef void *to_mean = cnp.PyArray_DATA(mean)
    cdef void *to_rstd = cnp.PyArray_DATA(rstd)
    cdef cnp.ndarray scratch = scratch_rows(2, columns, is_narrow(source) or is_narrow(to))
    cdef void *place = cnp.PyArray_DATA(scratch)
    with nogil:
        if number == cnp.NPY_FLOAT32:
            forward_rows(
                source, <const float *> factor, <const float *> shift, eps, to, <float *> to_mean,
                <float *> to_rstd, <float *> place, rows, columns,
            )
        else:
            forward_rows(
                source, <const double *> factor, <const double *> shift, eps, to,
                <double *> to_mean, <double *> to_rstd, <double *> place, rows, columns,
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
    cdef Matrix source = matrix(kernel, "x", x, False, "x", x)
    cdef Matrix given = matrix(kernel, "dy", dy, False, "x", x)
    cdef Matrix to = matrix(kernel, "dx", dx, True, "x", x)
    cdef int number = working_type(source.number)
    cdef Py_ssize_t rows = cnp.PyArray_DIM(x, 0)
    cdef Py_ssize_t columns = cnp.PyArray_DIM(x, 1)
    check_vector(kernel, "gamma", gamma, number, columns, False)
    check_vector(kernel, "mean", mean, number, rows, False)
    check_vector(kernel, "rstd", rstd, number, rows, False)
    check_vector(kernel, "dgamma", dgamma, number, columns, True)
    check_vector(kernel, "dbeta", dbeta, number, columns, True)
    cdef Py_ssize_t blocks = block_count(rows, rows_per_block(columns, LEAST_ROWS))
    cdef cnp.ndarray partial = np.zeros(2 * blocks * columns)
    cdef cnp.ndarray scratch = scratch_rows(
        BACKWARD_SCRATCH, columns, is_narrow(source) or is_narrow(given) or is_narrow(to)
    )
    cdef double *sums = <double *> cnp.PyArray_DATA(partial)
    cdef void *place = cnp.PyArray_DATA(scratch)
    cdef void *factor = cnp.PyArray_DATA(gamma)
    cdef void *means = cnp.PyArray_DATA(mean)
    cdef void *rstds = cnp.PyArray_DATA(rstd)
    cdef void *to_dgamma = cnp.PyArray_DATA(dgamma)
    cdef void *to_dbeta = cnp.PyArray_DATA(dbeta)
    with nogil:
        if number == cnp.NPY_FLOAT32:
            backward_rows(
                given, source, <const float *> factor, <const float *> means,
                <const float *> rstds, to, <float *> to_dgamma, <float *> to_dbeta, sums,
                <float *> place, rows, columns,
            )
        else:
            backward_rows(
                given, source, <const double *> factor, <const double *> means,
                <const double *> rstds, to, <double *> to_dgamma, <double *> to_dbeta, sums,
                <double *> place, rows, columns,
            )
