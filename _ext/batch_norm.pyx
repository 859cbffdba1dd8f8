# cython: cdivision=True, boundscheck=False, wraparound=False
"""Batch normalisation over all axes but the second, and its gradient.

x is float32 or float64, (N, C, *spatial), in NCHW or NHWC memory; all arrays of its shape share
its layout, and gamma, beta and the statistics are (C,). Source: Ioffe and Szegedy, "Batch
normalization", 2015.

Statistics are made block by block while the block is in the cache: its mean, then the squares
around that mean. The blocks' figures are merged in float64, so neither a large mean nor a large
batch costs accuracy, and x comes from memory once.
"""

cimport numpy as cnp
from cython cimport floating
from cython.parallel cimport prange
from libc.math cimport sqrt

import numpy as np

from arrays cimport (
    check_memory,
    check_same_layout,
    check_type,
    check_vector,
    real_type,
)
from blocks cimport PARALLEL_FROM
from channels cimport (
    Channels,
    find_channels,
    groups_in_block,
    row_products,
    row_statistics,
    segment_products,
    segment_statistics,
)

cnp.import_array()


cdef void statistics_of_block(
    const floating *x, const Channels *at, Py_ssize_t block, double *means, double *squares,
    floating *centers
) noexcept nogil:
    """Fill one block's row of the tables (blocks, C)."""
    cdef Py_ssize_t first = block * at.block_groups
    cdef Py_ssize_t groups = groups_in_block(at, block)
    cdef Py_ssize_t step = at.channels * at.spatial
    cdef Py_ssize_t row = block * at.channels
    cdef Py_ssize_t c
    if at.last:
        row_statistics(
            x + first * at.channels, groups, at.channels, means + row, squares + row,
            centers + row,
        )
    else:
        for c in range(at.channels):
            segment_statistics(
                x + first * step + c * at.spatial, groups, step, at.spatial, means + row + c,
                squares + row + c,
            )


cdef void products_of_block(
    const floating *dy, const floating *x, const floating *mean, const Channels *at,
    Py_ssize_t block, double *weights, double *products
) noexcept nogil:
    """Fill one block's row of the tables (blocks, C) of sum(dy) and sum(dy (x - mean))."""
    cdef Py_ssize_t first = block * at.block_groups
    cdef Py_ssize_t groups = groups_in_block(at, block)
    cdef Py_ssize_t step = at.channels * at.spatial
    cdef Py_ssize_t row = block * at.channels
    cdef Py_ssize_t c, start
    if at.last:
        row_products(
            dy + first * step, x + first * step, mean, groups, at.channels, weights + row,
            products + row,
        )
    else:
        for c in range(at.channels):
            start = first * step + c * at.spatial
            segment_products(
                dy + start, x + start, mean[c], groups, step, at.spatial, weights + row + c,
                products + row + c,
            )


cdef void normalise_block(
    const floating *x, const floating *mean, const floating *scale, const floating *beta,
    floating *out, const Channels *at, Py_ssize_t block
) noexcept nogil:
    """Write (x - mean) scale + beta for one block."""
    cdef Py_ssize_t first = block * at.block_groups
    cdef Py_ssize_t groups = groups_in_block(at, block)
    cdef Py_ssize_t step = at.channels * at.spatial
    cdef Py_ssize_t _group, c, i
    cdef floating center, factor, offset
    x += first * step
    out += first * step
    for _group in range(groups):
        if at.last:
            for c in range(at.channels):
                out[c] = (x[c] - mean[c]) * scale[c] + beta[c]
        else:
            for c in range(at.channels):
                center, factor, offset = mean[c], scale[c], beta[c]
                for i in range(c * at.spatial, (c + 1) * at.spatial):
                    out[i] = (x[i] - center) * factor + offset
        x += step
        out += step


cdef void input_gradient_block(
    const floating *dy, const floating *x, const floating *mean, const floating *scale,
    const floating *slope, const floating *shift, floating *dx, const Channels *at,
    Py_ssize_t block
) noexcept nogil:
    """Write dy scale - (x - mean) slope - shift for one block."""
    cdef Py_ssize_t first = block * at.block_groups
    cdef Py_ssize_t groups = groups_in_block(at, block)
    cdef Py_ssize_t step = at.channels * at.spatial
    cdef Py_ssize_t _group, c, i
    cdef floating center, factor, tilt, offset
    dy += first * step
    x += first * step
    dx += first * step
    for _group in range(groups):
        if at.last:
            for c in range(at.channels):
                dx[c] = dy[c] * scale[c] - (x[c] - mean[c]) * slope[c] - shift[c]
        else:
            for c in range(at.channels):
                center, factor, tilt, offset = mean[c], scale[c], slope[c], shift[c]
                for i in range(c * at.spatial, (c + 1) * at.spatial):
                    dx[i] = dy[i] * factor - (x[i] - center) * tilt - offset
        dy += step
        x += step
        dx += step


cdef void find_statistics(
    const floating *x, const Channels *at, double eps, floating *mean, floating *rstd,
    double *table, floating *centers
) noexcept nogil:
    """Write mean and 1 / sqrt(variance + eps) per channel; `table` is (2, blocks, C)."""
    cdef double *means = table
    cdef double *squares = table + at.blocks * at.channels
    cdef double total_mean, total_squares, numbers, apart
    cdef double total = <double> at.groups * at.spatial
    cdef Py_ssize_t block, c
    for block in prange(
        at.blocks, schedule="static",
        use_threads_if=total * at.channels >= PARALLEL_FROM,
    ):
        statistics_of_block(x, at, block, means, squares, centers)
    for c in range(at.channels):
        total_mean = 0
        total_squares = 0
        for block in range(at.blocks):
            numbers = <double> groups_in_block(at, block) * at.spatial
            total_mean += numbers * means[block * at.channels + c]
        total_mean = total_mean / total
        for block in range(at.blocks):
            numbers = <double> groups_in_block(at, block) * at.spatial
            apart = means[block * at.channels + c] - total_mean
            total_squares += squares[block * at.channels + c] + numbers * apart * apart
        mean[c] = <floating> total_mean
        rstd[c] = <floating> (1 / sqrt(max(total_squares, 0.0) / total + eps))


cdef void normalise(
    const floating *x, const floating *mean, const floating *scale, const floating *beta,
    floating *out, const Channels *at
) noexcept nogil:
    cdef Py_ssize_t block
    for block in prange(
        at.blocks, schedule="static",
        use_threads_if=at.groups * at.spatial * at.channels >= PARALLEL_FROM,
    ):
        normalise_block(x, mean, scale, beta, out, at, block)


cdef void train(
    const floating *x, const floating *gamma, const floating *beta, double eps, floating *out,
    floating *mean, floating *rstd, const Channels *at, double *table, floating *centers,
    floating *scale
) noexcept nogil:
    cdef Py_ssize_t c
    find_statistics(x, at, eps, mean, rstd, table, centers)
    for c in range(at.channels):
        scale[c] = gamma[c] * rstd[c]
    normalise(x, <const floating *> mean, <const floating *> scale, beta, out, at)


cdef void evaluate(
    const floating *x, const floating *gamma, const floating *beta, const floating *mean,
    const floating *variance, double eps, floating *out, const Channels *at, floating *scale
) noexcept nogil:
    cdef Py_ssize_t c
    for c in range(at.channels):
        scale[c] = <floating> (gamma[c] / sqrt(variance[c] + eps))
    normalise(x, mean, <const floating *> scale, beta, out, at)


cdef void find_gradients(
    const floating *dy, const floating *x, const floating *gamma, const floating *mean,
    const floating *rstd, floating *dx, floating *dgamma, floating *dbeta, const Channels *at,
    double *table, floating *coefficients
) noexcept nogil:
    """Fill all gradients; `table` is (2, blocks, C) and `coefficients` (3, C)."""
    cdef double *weights = table
    cdef double *products = table + at.blocks * at.channels
    cdef floating *scale = coefficients
    cdef floating *slope = scale + at.channels
    cdef floating *shift = slope + at.channels
    cdef double weight, product
    cdef double total = <double> at.groups * at.spatial
    cdef bint parallel = total * at.channels >= PARALLEL_FROM
    cdef Py_ssize_t block, c
    for block in prange(at.blocks, schedule="static", use_threads_if=parallel):
        products_of_block(dy, x, mean, at, block, weights, products)
    for c in range(at.channels):
        weight = 0
        product = 0
        for block in range(at.blocks):
            weight += weights[block * at.channels + c]
            product += products[block * at.channels + c]
        dgamma[c] = <floating> (product * rstd[c])
        dbeta[c] = <floating> weight
        scale[c] = gamma[c] * rstd[c]
        slope[c] = <floating> (scale[c] * product * rstd[c] * rstd[c] / total)
        shift[c] = <floating> (scale[c] * weight / total)
    for block in prange(at.blocks, schedule="static", use_threads_if=parallel):
        input_gradient_block(
            dy, x, mean, <const floating *> scale, <const floating *> slope,
            <const floating *> shift, dx, at, block,
        )


cdef int check_like(
    str kernel, str name, cnp.ndarray array, cnp.ndarray x, int number, bint written
) except -1:
    """Raise unless the array has x's type, shape and layout."""
    check_type(kernel, name, array, number)
    check_memory(kernel, name, array, written)
    check_same_layout(kernel, name, array, "x", x)
    return 0


cdef Channels check_input(str kernel, cnp.ndarray x) except *:
    """Check x and return where its channels lie."""
    check_memory(kernel, "x", x, False)
    return find_channels(kernel, "x", x)


def forward_train(
    cnp.ndarray x not None, cnp.ndarray gamma not None, cnp.ndarray beta not None, double eps,
    cnp.ndarray out not None, cnp.ndarray mean not None, cnp.ndarray rstd not None
):
    """Write (x - mean) rstd gamma + beta into `out`, the batch's statistics into mean and rstd.

    rstd is 1 / sqrt(variance + eps), with the biased variance.

    >>> out, mean, rstd = np.empty((2, 1)), np.empty(1), np.empty(1)
    >>> x = np.array([[1.0], [3.0]])
    >>> forward_train(x, np.ones(1), np.zeros(1), 0.0, out, mean, rstd)
    >>> out, mean, rstd
    (array([[-1.],
           [ 1.]]), array([2.]), array([1.]))
    """
    cdef str kernel = "batch_norm.forward_train"
    cdef int number = real_type(kernel, "x", x)
    cdef Channels at = check_input(kernel, x)
    check_vector(kernel, "gamma", gamma, number, at.channels, False)
    check_vector(kernel, "beta", beta, number, at.channels, False)
    check_like(kernel, "out", out, x, number, True)
    check_vector(kernel, "mean", mean, number, at.channels, True)
    check_vector(kernel, "rstd", rstd, number, at.channels, True)
    cdef cnp.ndarray sums = np.empty(2 * at.blocks * at.channels)
    cdef cnp.ndarray scratch = np.empty((at.blocks + 1) * at.channels, x.dtype)
    cdef double *table = <double *> cnp.PyArray_DATA(sums)
    cdef void *scale = cnp.PyArray_DATA(scratch)
    cdef void *from_x = cnp.PyArray_DATA(x)
    cdef void *factor = cnp.PyArray_DATA(gamma)
    cdef void *shift = cnp.PyArray_DATA(beta)
    cdef void *to = cnp.PyArray_DATA(out)
    cdef void *to_mean = cnp.PyArray_DATA(mean)
    cdef void *to_rstd = cnp.PyArray_DATA(rstd)
    with nogil:
        if number == cnp.NPY_FLOAT32:
            train(
                <const float *> from_x, <const float *> factor, <const float *> shift, eps,
                <float *> to, <float *> to_mean, <float *> to_rstd, &at, table,
                <float *> scale + at.channels, <float *> scale,
            )
        else:
            train(
                <const double *> from_x, <const double *> factor, <const double *> shift, eps,
                <double *> to, <double *> to_mean, <double *> to_rstd, &at, table,
                <double *> scale + at.channels, <double *> scale,
            )


def forward_eval(
    cnp.ndarray x not None, cnp.ndarray gamma not None, cnp.ndarray beta not None,
    cnp.ndarray mean not None, cnp.ndarray var not None, double eps, cnp.ndarray out not None
):
    """Write (x - mean) / sqrt(var + eps) gamma + beta into `out`, with given statistics.

    >>> out, one = np.empty((2, 1)), np.ones(1)
    >>> forward_eval(np.array([[1.0], [3.0]]), 2 * one, one, one, one, 0.0, out)
    >>> out
    array([[1.],
           [5.]])
    """
    cdef str kernel = "batch_norm.forward_eval"
    cdef int number = real_type(kernel, "x", x)
    cdef Channels at = check_input(kernel, x)
    check_vector(kernel, "gamma", gamma, number, at.channels, False)
    check_vector(kernel, "beta", beta, number, at.channels, False)
    check_vector(kernel, "mean", mean, number, at.channels, False)
    check_vector(kernel, "var", var, number, at.channels, False)
    check_like(kernel, "out", out, x, number, True)
    cdef cnp.ndarray scratch = np.empty(at.channels, x.dtype)
    cdef void *scale = cnp.PyArray_DATA(scratch)
    cdef void *from_x = cnp.PyArray_DATA(x)
    cdef void *factor = cnp.PyArray_DATA(gamma)
    cdef void *shift = cnp.PyArray_DATA(beta)
    cdef void *means = cnp.PyArray_DATA(mean)
    cdef void *variances = cnp.PyArray_DATA(var)
    cdef void *to = cnp.PyArray_DATA(out)
    with nogil:
        if number == cnp.NPY_FLOAT32:
            evaluate(
                <const float *> from_x, <const float *> factor, <const float *> shift,
                <const float *> means, <const float *> variances, eps, <float *> to, &at,
                <float *> scale,
            )
        else:
            evaluate(
                <const double *> from_x, <const double *> factor, <const double *> shift,
                <const double *> means, <const double *> variances, eps, <double *> to, &at,
                <double *> scale,
            )


def backward(
    cnp.ndarray dy not None, cnp.ndarray x not None, cnp.ndarray gamma not None,
    cnp.ndarray mean not None, cnp.ndarray rstd not None, cnp.ndarray dx not None,
    cnp.ndarray dgamma not None, cnp.ndarray dbeta not None
):
    """Write the gradients of `forward_train`, which gave `mean` and `rstd`.

    With xhat = (x - mean) rstd: dbeta = sum(dy), dgamma = sum(dy xhat) and
    dx = gamma rstd (dy - average(dy) - xhat average(dy xhat)).

    >>> x, dy = np.array([[1.0], [3.0]]), np.ones((2, 1))
    >>> dx, dgamma, dbeta = np.empty((2, 1)), np.empty(1), np.empty(1)
    >>> backward(dy, x, np.ones(1), 2 * np.ones(1), np.ones(1), dx, dgamma, dbeta)
    >>> dx, dgamma, dbeta
    (array([[0.],
           [0.]]), array([0.]), array([2.]))
    """
    cdef str kernel = "batch_norm.backward"
    cdef int number = real_type(kernel, "x", x)
    cdef Channels at = check_input(kernel, x)
    check_like(kernel, "dy", dy, x, number, False)
    check_vector(kernel, "gamma", gamma, number, at.channels, False)
    check_vector(kernel, "mean", mean, number, at.channels, False)
    check_vector(kernel, "rstd", rstd, number, at.channels, False)
    check_like(kernel, "dx", dx, x, number, True)
    check_vector(kernel, "dgamma", dgamma, number, at.channels, True)
    check_vector(kernel, "dbeta", dbeta, number, at.channels, True)
    cdef cnp.ndarray sums = np.empty(2 * at.blocks * at.channels)
    cdef cnp.ndarray scratch = np.empty(3 * at.channels, x.dtype)
    cdef double *table = <double *> cnp.PyArray_DATA(sums)
    cdef void *coefficients = cnp.PyArray_DATA(scratch)
    cdef void *from_dy = cnp.PyArray_DATA(dy)
    cdef void *from_x = cnp.PyArray_DATA(x)
    cdef void *factor = cnp.PyArray_DATA(gamma)
    cdef void *means = cnp.PyArray_DATA(mean)
    cdef void *rstds = cnp.PyArray_DATA(rstd)
    cdef void *to = cnp.PyArray_DATA(dx)
    cdef void *to_dgamma = cnp.PyArray_DATA(dgamma)
    cdef void *to_dbeta = cnp.PyArray_DATA(dbeta)
    with nogil:
        if number == cnp.NPY_FLOAT32:
            find_gradients(
                <const float *> from_dy, <const float *> from_x, <const float *> factor,
                <const float *> means, <const float *> rstds, <float *> to,
                <float *> to_dgamma, <float *> to_dbeta, &at, table, <float *> coefficients,
            )
        else:
            find_gradients(
                <const double *> from_dy, <const double *> from_x, <const double *> factor,
                <const double *> means, <const double *> rstds, <double *> to,
                <double *> to_dgamma, <double *> to_dbeta, &at, table, <double *> coefficients,
            )
