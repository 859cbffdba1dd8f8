# cython: cdivision=True, boundscheck=False, wraparound=False
"""Normalisation of groups of channels with a factor and a shift per channel, and its gradient.

Arrays are C-contiguous (samples, channels, size): float64, or float32, bfloat16 and float16 in any mixture.
A group is so many channels one after the other. 16-bit numbers are computed with in float32. gamma and beta
have an element per channel, mean and rstd one per sample and group, of the type computed with. Variances are
sums of squared distances from the mean, so nothing cancels. A group is read from memory once, by one thread.
Source: Wu and He, "Group normalization", 2018.
"""

cimport numpy as cnp
from cython cimport floating
from cython.parallel cimport prange, threadid
from libc.math cimport sqrt

import numpy as np

from arrays cimport check, check_same_shape, check_vector, type_name
from blocks cimport PARALLEL_FROM, add_sums_around, sum_of, sum_of_centered_products
from rows cimport Matrix, is_narrow, number_of, padded, place_of, put_back, scratch_rows, widened, working_type

cnp.import_array()

cdef struct Groups:
    Py_ssize_t samples, groups
    # Channels of a group, and numbers of a channel.
    Py_ssize_t channels, size


cdef inline Py_ssize_t scratch_length(const Groups *at, int groups) noexcept nogil:
    """Return the float32 that so many widened groups and one channel of the result take."""
    return groups * padded(at.channels * at.size) + padded(at.size)


cdef void forward_group(
    const Groups *at, Matrix stored, Py_ssize_t start, const floating *gamma, const floating *beta, double eps,
    Matrix out, floating *mean, floating *rstd, floating *scratch
) noexcept nogil:
    """Normalise one group, which begins at `start`."""
    cdef Py_ssize_t count = at.channels * at.size, channel, i
    cdef const floating *x = widened(stored, start, scratch, count)
    cdef floating center = <floating> (sum_of(x, count) / count)
    cdef floating factor, shift
    cdef floating *to
    cdef double total = 0, squares = 0
    # Distances from the rounded mean are small and hardly rounded; their average corrects it.
    add_sums_around(x, center, count, &total, &squares)
    squares -= total * total / count
    mean[0] = center = <floating> (center + total / count)
    rstd[0] = <floating> (1 / sqrt(max(squares, 0.0) / count + eps))
    for channel in range(at.channels):
        factor, shift = rstd[0] * gamma[channel], beta[channel]
        to = place_of(out, start, scratch + padded(count))
        for i in range(at.size):
            to[i] = (x[i] - center) * factor + shift
        put_back(out, start, <const floating *> to, at.size)
        x += at.size
        start += at.size


cdef void backward_group(
    const Groups *at, Matrix given, Matrix stored, Py_ssize_t start, const floating *gamma, floating mean,
    floating rstd, Matrix dx, double *sums, double *products, floating *scratch
) noexcept nogil:
    """Write one group's dx, and per channel the sums of dy and of dy (x - mean)."""
    cdef Py_ssize_t count = at.channels * at.size, channel, i
    cdef const floating *dy = widened(given, start, scratch, count)
    cdef const floating *x = widened(stored, start, scratch + padded(count), count)
    cdef double total = 0, total_products = 0
    cdef floating average, slope, factor
    cdef floating *to
    for channel in range(at.channels):
        sums[channel] = sum_of(dy + channel * at.size, at.size)
        products[channel] = sum_of_centered_products(dy + channel * at.size, x + channel * at.size, mean, at.size)
        total += sums[channel] * gamma[channel]
        total_products += products[channel] * gamma[channel]
    average = <floating> (total / count * rstd)
    slope = <floating> (total_products / count * rstd * rstd * rstd)
    for channel in range(at.channels):
        factor = rstd * gamma[channel]
        to = place_of(dx, start, scratch + 2 * padded(count))
        for i in range(at.size):
            to[i] = dy[i] * factor - average - (x[i] - mean) * slope
        put_back(dx, start, <const floating *> to, at.size)
        dy += at.size
        x += at.size
        start += at.size


cdef void forward_all(
    const Groups *at, Matrix x, const floating *gamma, const floating *beta, double eps, Matrix out,
    floating *mean, floating *rstd, floating *scratch
) noexcept nogil:
    cdef Py_ssize_t count = at.channels * at.size, group, first
    for group in prange(
        at.samples * at.groups, schedule="static",
        use_threads_if=at.samples * at.groups * count >= PARALLEL_FROM,
    ):
        first = group % at.groups * at.channels
        forward_group(
            at, x, group * count, gamma + first, beta + first, eps, out, mean + group, rstd + group,
            scratch + threadid() * scratch_length(at, 1),
        )


cdef void backward_all(
    const Groups *at, Matrix dy, Matrix x, const floating *gamma, const floating *mean, const floating *rstd,
    Matrix dx, floating *dgamma, floating *dbeta, double *sums, double *products, floating *scratch
) noexcept nogil:
    cdef Py_ssize_t count = at.channels * at.size, channels = at.groups * at.channels
    cdef Py_ssize_t group, channel, sample
    cdef double gamma_total, beta_total
    for group in prange(
        at.samples * at.groups, schedule="static",
        use_threads_if=at.samples * at.groups * count >= PARALLEL_FROM,
    ):
        backward_group(
            at, dy, x, group * count, gamma + group % at.groups * at.channels, mean[group], rstd[group], dx,
            sums + group * at.channels, products + group * at.channels,
            scratch + threadid() * scratch_length(at, 2),
        )
    for channel in range(channels):
        gamma_total, beta_total = 0, 0
        for sample in range(at.samples):
            gamma_total += (
                products[sample * channels + channel] * rstd[sample * at.groups + channel // at.channels])
            beta_total += sums[sample * channels + channel]
        dgamma[channel], dbeta[channel] = <floating> gamma_total, <floating> beta_total


cdef Matrix channels_of(str kernel, str name, cnp.ndarray array, cnp.ndarray x, bint written) except *:
    """Return an array of the shape of `x` that is computed with in its type."""
    cdef Matrix found
    found.number = number_of(kernel, name, array)
    found.data = cnp.PyArray_DATA(array)
    if working_type(found.number) != working_type(number_of(kernel, "x", x)):
        is_double = working_type(found.number) == cnp.NPY_FLOAT32
        wanted = "float64" if is_double else "float32, bfloat16 or float16"
        raise TypeError(
            f"For '{kernel}', '{name}' must be {wanted}, as 'x' is {type_name(x)}, but got {type_name(array)}."
        )
    check(kernel, name, array, cnp.PyArray_TYPE(array), 3, written)
    check_same_shape(kernel, name, array, "x", x)
    return found


cdef Groups groups_of(str kernel, cnp.ndarray x, cnp.ndarray mean) except *:
    """Return the lengths; `mean` has an element per sample and group."""
    cdef Groups at
    cdef Py_ssize_t count = cnp.PyArray_SIZE(mean), channels
    if cnp.PyArray_SIZE(x) == 0:
        raise ValueError(f"For '{kernel}', 'x' must not be empty, but got shape {(<object> x).shape}.")
    at.samples, channels, at.size = cnp.PyArray_DIM(x, 0), cnp.PyArray_DIM(x, 1), cnp.PyArray_DIM(x, 2)
    at.groups = count // at.samples
    if at.groups == 0 or count % at.samples or channels % at.groups:
        raise ValueError(
            f"For '{kernel}', 'mean' must have an element per sample and group of 'x' {(<object> x).shape}, "
            f"but got {count} elements."
        )
    at.channels = channels // at.groups
    return at


def forward(
    cnp.ndarray x not None, cnp.ndarray gamma not None, cnp.ndarray beta not None, double eps,
    cnp.ndarray out not None, cnp.ndarray mean not None, cnp.ndarray rstd not None
):
    """Write (x - mean) rstd gamma + beta into `out`, each group's statistics into mean and rstd.

    rstd is 1 / sqrt(variance + eps), with the biased variance; the length of mean says how many groups there are.

    >>> out, mean, rstd = np.empty((1, 2, 2)), np.empty(2), np.empty(2)
    >>> forward(np.array([[[1.0, 3.0], [2.0, 6.0]]]), np.ones(2), np.zeros(2), 0.0, out, mean, rstd)
    >>> out.ravel(), mean, rstd
    (array([-1.,  1., -1.,  1.]), array([2., 4.]), array([1. , 0.5]))
    """
    cdef str kernel = "group_norm.forward"
    cdef Matrix source = channels_of(kernel, "x", x, x, False)
    cdef Groups at = groups_of(kernel, x, mean)
    cdef Matrix to = channels_of(kernel, "out", out, x, True)
    cdef int number = working_type(source.number)
    check_vector(kernel, "gamma", gamma, number, cnp.PyArray_DIM(x, 1), False)
    check_vector(kernel, "beta", beta, number, cnp.PyArray_DIM(x, 1), False)
    check_vector(kernel, "mean", mean, number, at.samples * at.groups, True)
    check_vector(kernel, "rstd", rstd, number, at.samples * at.groups, True)
    cdef cnp.ndarray scratch = scratch_rows(1, scratch_length(&at, 1), is_narrow(source) or is_narrow(to))
    cdef void *place = cnp.PyArray_DATA(scratch)
    cdef void *factor = cnp.PyArray_DATA(gamma)
    cdef void *shift = cnp.PyArray_DATA(beta)
    cdef void *means = cnp.PyArray_DATA(mean)
    cdef void *rstds = cnp.PyArray_DATA(rstd)
    with nogil:
        if number == cnp.NPY_FLOAT32:
            forward_all(
                &at, source, <const float *> factor, <const float *> shift, eps, to, <float *> means,
                <float *> rstds, <float *> place,
            )
        else:
            forward_all(
                &at, source, <const double *> factor, <const double *> shift, eps, to, <double *> means,
                <double *> rstds, <double *> place,
            )


def backward(
    cnp.ndarray dy not None, cnp.ndarray x not None, cnp.ndarray gamma not None, cnp.ndarray mean not None,
    cnp.ndarray rstd not None, cnp.ndarray dx not None, cnp.ndarray dgamma not None, cnp.ndarray dbeta not None
):
    """Write the gradients of `forward`, which gave `mean` and `rstd`, into dx, dgamma and dbeta.

    With xhat = (x - mean) rstd and g = dy gamma: dx = rstd (g - average(g) - xhat average(g xhat)) over a group,
    dgamma = sum(dy xhat) and dbeta = sum(dy) over a channel.

    >>> x, mean, rstd = np.array([[[1.0, 3.0, 5.0]]]), np.array([3.0]), np.array([0.5])
    >>> dx, dgamma, dbeta = np.empty((1, 1, 3)), np.empty(1), np.empty(1)
    >>> backward(np.ones((1, 1, 3)), x, np.ones(1), mean, rstd, dx, dgamma, dbeta)
    >>> dx.ravel(), dgamma, dbeta
    (array([0., 0., 0.]), array([0.]), array([3.]))
    """
    cdef str kernel = "group_norm.backward"
    cdef Matrix source = channels_of(kernel, "x", x, x, False)
    cdef Groups at = groups_of(kernel, x, mean)
    cdef Matrix given = channels_of(kernel, "dy", dy, x, False)
    cdef Matrix to = channels_of(kernel, "dx", dx, x, True)
    cdef int number = working_type(source.number)
    cdef Py_ssize_t channels = cnp.PyArray_DIM(x, 1)
    check_vector(kernel, "gamma", gamma, number, channels, False)
    check_vector(kernel, "mean", mean, number, at.samples * at.groups, False)
    check_vector(kernel, "rstd", rstd, number, at.samples * at.groups, False)
    check_vector(kernel, "dgamma", dgamma, number, channels, True)
    check_vector(kernel, "dbeta", dbeta, number, channels, True)
    cdef cnp.ndarray partial = np.empty(2 * at.samples * channels)
    cdef double *sums = <double *> cnp.PyArray_DATA(partial)
    cdef cnp.ndarray scratch = scratch_rows(
        1, scratch_length(&at, 2), is_narrow(source) or is_narrow(given) or is_narrow(to)
    )
    cdef void *place = cnp.PyArray_DATA(scratch)
    cdef void *factor = cnp.PyArray_DATA(gamma)
    cdef void *means = cnp.PyArray_DATA(mean)
    cdef void *rstds = cnp.PyArray_DATA(rstd)
    cdef void *to_gamma = cnp.PyArray_DATA(dgamma)
    cdef void *to_beta = cnp.PyArray_DATA(dbeta)
    with nogil:
        if number == cnp.NPY_FLOAT32:
            backward_all(
                &at, given, source, <const float *> factor, <const float *> means, <const float *> rstds, to,
                <float *> to_gamma, <float *> to_beta, sums, sums + at.samples * channels, <float *> place,
            )
        else:
            backward_all(
                &at, given, source, <const double *> factor, <const double *> means, <const double *> rstds, to,
                <double *> to_gamma, <double *> to_beta, sums, sums + at.samples * channels, <double *> place,
            )
