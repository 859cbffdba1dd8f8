# cython: cdivision=True, boundscheck=False, wraparound=False
"""Batch normalisation over all axes but the second, what may follow it, and the gradient.

x is float32, float64, bfloat16 or float16, (N, C, *spatial), in NCHW or NHWC memory; all arrays of
its shape share its type and layout. Where x has 16 bits, what comes after it (the result, an addend,
the gradients of both) may be float32, as if x were cast before and its gradient after. gamma, beta and
the statistics are (C,), in float32 unless x is float64. Source: Ioffe and Szegedy, "Batch
normalization", 2015.

Statistics are made block by block, and the blocks' figures are merged in float64, so neither a
large mean nor a large batch costs accuracy. x comes from memory once for the statistics and once
for the result; adding another array and ReLU happen on the way. So do their gradients. Where a block
has all samples of its channels, as in NCHW memory, its second pass follows at once and finds it in
the caches. Sums of bfloat16 add the same numbers in another order than those of float32.
"""

cimport numpy as cnp
cimport openmp
from cython cimport floating
from cython.parallel cimport prange, threadid
from libc.math cimport NAN, sqrt
from libc.stdint cimport int16_t, uint16_t, uint32_t

from arrays cimport check_memory, check_same_layout, check_same_shape, check_vector, type_name
from bfloat16 cimport FloatBits, bf16_load, bf16_store
from blocks cimport LANES, PARALLEL_FROM, QUAD, block_count, block_length, lane_total
from channels cimport Block, Channels, block_of, find_channels, numbers_per_channel
from rows cimport (
    BFLOAT16,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    Matrix,
    Number,
    is_narrow,
    number_of,
    padded,
    place_of,
    put_back,
    widened,
)

cnp.import_array()


include "batch_norm_numbers.pxi"
include "batch_norm_arrays.pxi"
include "batch_norm_rows.pxi"
include "batch_norm_segments.pxi"
include "batch_norm_passes.pxi"


cdef enum Kernel:
    STATISTICS, NORMALISE, NORMALISE_BY_VARIANCE, NORMALISE_BY_BATCH, GRADIENTS


cdef void run_as(
    Kernel kernel, const Arrays *of, const storage *kind, const passed *after, floating *mean
) noexcept nogil:
    """Run one kernel with statistics of the type of `mean`, rows of x and after it of those of `kind` and `after`."""
    cdef floating *rstd = <floating *> of.rstd
    if kernel == STATISTICS:
        find_statistics(of, kind, mean, rstd)
    elif kernel == NORMALISE_BY_BATCH:
        normalise_by_batch(of, kind, after, mean, rstd)
    elif kernel == GRADIENTS:
        find_gradients(
            of, kind, after, <const floating *> mean, <const floating *> rstd,
            <floating *> of.dgamma, <floating *> of.dbeta,
        )
    else:
        normalise(
            of, kind, after, <const floating *> mean, <const floating *> rstd,
            kernel == NORMALISE_BY_VARIANCE,
        )


cdef int run(Kernel kernel, Arrays *of) except -1:
    """Run one kernel, with memory for what it needs."""
    cdef Channels *at = &of.at
    cdef Number after = of.dy.number if kernel == GRADIENTS else of.out.number
    cdef int threads = openmp.omp_get_max_threads()
    cdef Py_ssize_t sums = 0 if at.last else threads * at.block_channels * <Py_ssize_t> (sizeof(Sums) // sizeof(double))
    of.room = 0
    if of.x.number == FLOAT16:
        of.room = padded(max(<Py_ssize_t> CHUNK, QUAD * at.channels if at.last else 0))
    elif of.x.number == BFLOAT16 and at.last:
        of.room = padded(at.channels)
    cdef cnp.npy_intp size = (
        sums + (2 * at.sample_blocks + 2) * at.channels + max(at.sample_blocks, 3) * at.channels
        + threads * PIECES * of.room
    )
    cdef cnp.ndarray memory = cnp.PyArray_SimpleNew(1, &size, cnp.NPY_FLOAT64)
    of.sums = <double *> cnp.PyArray_DATA(memory)
    of.table = of.sums + sums
    of.totals = of.table + 2 * at.sample_blocks * at.channels
    of.vectors = of.totals + 2 * at.channels
    of.scratch = <double *> of.vectors + max(at.sample_blocks, 3) * at.channels
    with nogil:
        if of.x.number == FLOAT64:
            run_as(kernel, of, <const double *> NULL, <const double *> NULL, <double *> of.mean)
        elif of.x.number != BFLOAT16:
            run_as(kernel, of, <const float *> NULL, <const float *> NULL, <float *> of.mean)
        elif after == FLOAT32:
            run_as(kernel, of, <const uint16_t *> NULL, <const float *> NULL, <float *> of.mean)
        else:
            run_as(kernel, of, <const uint16_t *> NULL, <const uint16_t *> NULL, <float *> of.mean)
    return 0


cdef int read_x(Arrays *of, str kernel, cnp.ndarray x) except -1:
    """Check x, find its channels, and forget everything else."""
    of.x.number = number_of(kernel, "x", x)
    check_memory(kernel, "x", x, False)
    of.at = find_channels(kernel, "x", x)
    of.x.data = cnp.PyArray_DATA(x)
    of.addend.data = of.y.data = of.dy.data = of.out.data = of.daddend.data = NULL
    of.out.number = of.x.number
    of.gamma = of.beta = NULL
    of.mean = of.rstd = of.dgamma = of.dbeta = NULL
    of.relu = False
    of.eps = 0
    of.least = 0
    return 0


cdef void *vector(
    const Arrays *of, str kernel, str name, cnp.ndarray array, bint written
) except? NULL:
    """Check a vector of the statistics' type and return its data."""
    cdef int kind = cnp.NPY_FLOAT64 if of.x.number == FLOAT64 else cnp.NPY_FLOAT32
    check_vector(kernel, name, array, kind, of.at.channels, written)
    return cnp.PyArray_DATA(array)


cdef Matrix like_x(
    const Arrays *of, str kernel, str name, cnp.ndarray array, cnp.ndarray x, bint written
) except *:
    """Check that the array has x's type, shape and layout, and return it."""
    cdef Matrix found
    if cnp.PyArray_TYPE(array) != cnp.PyArray_TYPE(x):
        raise TypeError(
            f"For '{kernel}', '{name}' must be {type_name(x)}, but got {type_name(array)}."
        )
    check_memory(kernel, name, array, written)
    check_same_layout(kernel, name, array, "x", x)
    found.number = of.x.number
    found.data = cnp.PyArray_DATA(array)
    return found


cdef Matrix after_x(
    const Arrays *of, bint widens, str kernel, str name, cnp.ndarray array, cnp.ndarray x,
    bint written
) except *:
    """Check an array that comes after x, in its type or the wider one, and return it."""
    cdef Matrix found
    cdef bint last
    if not widens:
        return like_x(of, kernel, name, array, x, written)
    if cnp.PyArray_TYPE(array) != cnp.NPY_FLOAT32:
        raise TypeError(f"For '{kernel}', '{name}' must be float32, but got {type_name(array)}.")
    check_memory(kernel, name, array, written)
    check_same_shape(kernel, name, array, "x", x)
    last = find_channels(kernel, name, array).last
    if last != of.at.last:
        raise ValueError(
            f"For '{kernel}', '{name}' must have its channels {'last' if of.at.last else 'first'} "
            f"in memory, as 'x', but got strides {(<object> array).strides}; copy it."
        )
    found.number = FLOAT32
    found.data = cnp.PyArray_DATA(array)
    return found


cdef bint is_wider(const Arrays *of, cnp.ndarray array):
    """Tell whether an array that comes after x is float32 while x has 16 bits."""
    return is_narrow(of.x) and cnp.PyArray_TYPE(array) == cnp.NPY_FLOAT32


cdef double least_stored(Number number):
    """Return the largest number that is stored as 0: half the least positive one."""
    if number == BFLOAT16:
        return 2.0 ** -134
    return 2.0 ** -25 if number == FLOAT16 else 0.0


def statistics(
    cnp.ndarray x not None, double eps, cnp.ndarray mean not None, cnp.ndarray rstd not None
):
    """Write the batch's mean and 1 / sqrt(variance + eps), with the biased variance.

    >>> mean, rstd = np.empty(1), np.empty(1)
    >>> statistics(np.array([[1.0], [3.0]]), 0.0, mean, rstd)
    >>> mean, rstd
    (array([2.]), array([1.]))
    """
    cdef str kernel = "batch_norm.statistics"
    cdef Arrays of
    read_x(&of, kernel, x)
    of.mean = vector(&of, kernel, "mean", mean, True)
    of.rstd = vector(&of, kernel, "rstd", rstd, True)
    of.eps = eps
    run(STATISTICS, &of)


def normalised(
    cnp.ndarray x not None, cnp.ndarray gamma not None, cnp.ndarray beta not None,
    cnp.ndarray mean not None, cnp.ndarray rstd not None, cnp.ndarray addend, bint relu,
    cnp.ndarray out not None
):
    """Write (x - mean) rstd gamma + beta, plus `addend` unless None; with `relu`, 0 if negative.

    >>> out, one = np.empty((2, 1)), np.ones(1)
    >>> normalised(np.array([[1.0], [3.0]]), one, -one, 2 * one, one, None, True, out)
    >>> out
    array([[0.],
           [0.]])
    """
    cdef str kernel = "batch_norm.normalised"
    cdef Arrays of
    read_x(&of, kernel, x)
    of.gamma = vector(&of, kernel, "gamma", gamma, False)
    of.beta = vector(&of, kernel, "beta", beta, False)
    of.mean = vector(&of, kernel, "mean", mean, False)
    of.rstd = vector(&of, kernel, "rstd", rstd, False)
    cdef bint widens = is_wider(&of, out)
    if addend is not None:
        of.addend = after_x(&of, widens, kernel, "addend", addend, x, False)
    of.out = after_x(&of, widens, kernel, "out", out, x, True)
    of.relu = relu
    run(NORMALISE, &of)


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
    cdef Arrays of
    read_x(&of, kernel, x)
    of.gamma = vector(&of, kernel, "gamma", gamma, False)
    of.beta = vector(&of, kernel, "beta", beta, False)
    cdef bint widens = is_wider(&of, out)
    of.out = after_x(&of, widens, kernel, "out", out, x, True)
    of.mean = vector(&of, kernel, "mean", mean, True)
    of.rstd = vector(&of, kernel, "rstd", rstd, True)
    of.eps = eps
    run(NORMALISE_BY_BATCH, &of)


def forward_eval(
    cnp.ndarray x not None, cnp.ndarray gamma not None, cnp.ndarray beta not None,
    cnp.ndarray mean not None, cnp.ndarray var not None, double eps, cnp.ndarray out not None,
    cnp.ndarray addend=None, bint relu=False
):
    """Write (x - mean) / sqrt(var + eps) gamma + beta into `out`, with given statistics.

    Plus `addend` unless None; with `relu`, 0 if negative.

    >>> out, one = np.empty((2, 1)), np.ones(1)
    >>> forward_eval(np.array([[1.0], [3.0]]), 2 * one, one, one, one, 0.0, out)
    >>> out
    array([[1.],
           [5.]])
    """
    cdef str kernel = "batch_norm.forward_eval"
    cdef Arrays of
    read_x(&of, kernel, x)
    of.gamma = vector(&of, kernel, "gamma", gamma, False)
    of.beta = vector(&of, kernel, "beta", beta, False)
    of.mean = vector(&of, kernel, "mean", mean, False)
    of.rstd = vector(&of, kernel, "var", var, False)
    cdef bint widens = is_wider(&of, out)
    if addend is not None:
        of.addend = after_x(&of, widens, kernel, "addend", addend, x, False)
    of.out = after_x(&of, widens, kernel, "out", out, x, True)
    of.relu = relu
    of.eps = eps
    run(NORMALISE_BY_VARIANCE, &of)


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
    cdef Arrays of
    read_x(&of, "batch_norm.backward", x)
    read_gradients(
        &of, "batch_norm.backward", dy, x, gamma, mean, rstd, dx, dgamma, dbeta
    )
    run(GRADIENTS, &of)


def backward_of_relu(
    cnp.ndarray dy not None, cnp.ndarray x not None, cnp.ndarray gamma not None,
    cnp.ndarray beta not None, cnp.ndarray mean not None, cnp.ndarray rstd not None,
    cnp.ndarray dx not None, cnp.ndarray dgamma not None, cnp.ndarray dbeta not None
):
    """Write the gradients of ReLU after `forward_train`: those for dy where the result is positive.

    >>> x, dy = np.array([[1.0], [3.0]]), np.ones((2, 1))
    >>> dx, dgamma, dbeta = np.empty((2, 1)), np.empty(1), np.empty(1)
    >>> one = np.ones(1)
    >>> backward_of_relu(dy, x, one, 0 * one, 2 * one, one, dx, dgamma, dbeta)
    >>> dbeta
    array([1.])
    """
    cdef str kernel = "batch_norm.backward_of_relu"
    cdef Arrays of
    read_x(&of, kernel, x)
    read_gradients(&of, kernel, dy, x, gamma, mean, rstd, dx, dgamma, dbeta)
    of.beta = vector(&of, kernel, "beta", beta, False)
    run(GRADIENTS, &of)


def backward_of_sum(
    cnp.ndarray dy not None, cnp.ndarray x not None, cnp.ndarray gamma not None,
    cnp.ndarray mean not None, cnp.ndarray rstd not None, cnp.ndarray y not None,
    cnp.ndarray dx not None, cnp.ndarray dgamma not None, cnp.ndarray dbeta not None,
    cnp.ndarray daddend not None
):
    """Write the gradients of y, ReLU of `forward_train` plus an addend; `daddend` is dy where y > 0.

    >>> x, dy = np.array([[1.0], [3.0]]), np.ones((2, 1))
    >>> dx, daddend, dgamma, dbeta = np.empty((2, 1)), np.empty((2, 1)), np.empty(1), np.empty(1)
    >>> one = np.ones(1)
    >>> backward_of_sum(dy, x, one, 2 * one, one, x - 2, dx, dgamma, dbeta, daddend)
    >>> daddend
    array([[0.],
           [1.]])
    """
    cdef str kernel = "batch_norm.backward_of_sum"
    cdef Arrays of
    read_x(&of, kernel, x)
    read_gradients(&of, kernel, dy, x, gamma, mean, rstd, dx, dgamma, dbeta)
    cdef bint widens = is_wider(&of, dy)
    of.y = after_x(&of, widens, kernel, "y", y, x, False)
    of.daddend = after_x(&of, widens, kernel, "daddend", daddend, x, True)
    run(GRADIENTS, &of)


cdef int read_gradients(
    Arrays *of, str kernel, cnp.ndarray dy, cnp.ndarray x, cnp.ndarray gamma,
    cnp.ndarray mean, cnp.ndarray rstd, cnp.ndarray dx, cnp.ndarray dgamma, cnp.ndarray dbeta
) except -1:
    """Check and take what all gradients read and write."""
    cdef bint widens = is_wider(of, dy)
    of.dy = after_x(of, widens, kernel, "dy", dy, x, False)
    of.least = least_stored(of.dy.number)
    of.gamma = vector(of, kernel, "gamma", gamma, False)
    of.mean = vector(of, kernel, "mean", mean, False)
    of.rstd = vector(of, kernel, "rstd", rstd, False)
    of.out = like_x(of, kernel, "dx", dx, x, True)
    of.dgamma = vector(of, kernel, "dgamma", dgamma, True)
    of.dbeta = vector(of, kernel, "dbeta", dbeta, True)
    return 0
