# cython: cdivision=True, boundscheck=False, wraparound=False
"""The statistics that BatchNorm keeps of the batches it has seen.

Compiled once and with one thread: there are as few elements as channels.
"""

cimport numpy as cnp

from arrays cimport check_vector, real_type

cnp.import_array()

ctypedef fused real:
    float
    double


cdef void follow_all(
    real *moving_mean, real *moving_variance, const real *mean, const real *rstd, double eps, double weight,
    double correction, Py_ssize_t channels,
) noexcept nogil:
    """Of the type of the statistics is what is found in it; the variance, a small difference, is found in float64."""
    cdef real past = <real> (1 - weight)
    cdef real present = <real> weight
    cdef double inverse, variance
    cdef Py_ssize_t i
    for i in range(channels):
        moving_mean[i] = moving_mean[i] * past
        moving_mean[i] = moving_mean[i] + mean[i] * present
        inverse = rstd[i]
        variance = 1 / (inverse * inverse) - eps
        if variance < 0:
            variance = 0
        moving_variance[i] = <real> (<double> (moving_variance[i] * past) + variance * correction * weight)


def follow_batch(
    cnp.ndarray moving_mean not None,
    cnp.ndarray moving_variance not None,
    cnp.ndarray mean not None,
    cnp.ndarray rstd not None,
    double eps,
    double weight,
    double correction,
) -> bool:
    """Move statistics toward those of a batch, (1 - weight) old + weight new, in place.

    All are vectors of float32 or all of float64, with an element per channel. Returns False, with
    nothing done, where the statistics have another type than the batch's or gaps in memory.

    Args:
        moving_mean, moving_variance: what is moved.
        mean, rstd: of the batch, the latter 1 / sqrt(biased variance + eps).
        eps: the same.
        weight: of the batch.
        correction: by which the biased variance is multiplied.

    >>> moving_mean, moving_variance = np.zeros(1), np.ones(1)
    >>> follow_batch(moving_mean, moving_variance, np.array([2.0]), np.array([0.5]), 0.0, 0.5, 1.0)
    True
    >>> moving_mean, moving_variance
    (array([1.]), array([2.5]))
    """
    cdef str kernel = "follow_batch"
    cdef int number = real_type(kernel, "mean", mean)
    cdef Py_ssize_t channels = cnp.PyArray_SIZE(mean)
    check_vector(kernel, "mean", mean, number, channels, False)
    check_vector(kernel, "rstd", rstd, number, channels, False)
    if not (is_like(moving_mean, number) and is_like(moving_variance, number)):
        return False
    check_vector(kernel, "moving_mean", moving_mean, number, channels, True)
    check_vector(kernel, "moving_variance", moving_variance, number, channels, True)
    cdef void *to_mean = cnp.PyArray_DATA(moving_mean)
    cdef void *to_variance = cnp.PyArray_DATA(moving_variance)
    cdef void *from_mean = cnp.PyArray_DATA(mean)
    cdef void *from_rstd = cnp.PyArray_DATA(rstd)
    if number == cnp.NPY_FLOAT32:
        follow_all(<float *> to_mean, <float *> to_variance, <const float *> from_mean, <const float *> from_rstd,
                   eps, weight, correction, channels)
    else:
        follow_all(<double *> to_mean, <double *> to_variance, <const double *> from_mean, <const double *> from_rstd,
                   eps, weight, correction, channels)
    return True


cdef inline bint is_like(cnp.ndarray array, int number):
    """Whether an array has this type and no gaps."""
    return cnp.PyArray_TYPE(array) == number and cnp.PyArray_IS_C_CONTIGUOUS(array)
