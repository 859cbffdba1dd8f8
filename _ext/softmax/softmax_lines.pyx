# cython: cdivision=True, boundscheck=False, wraparound=False
"""Softmax, its logarithm and log(sum(exp(x))) along the middle axis of (outer, length, inner).

Arrays are C-contiguous float64, or float32, bfloat16 and float16 in any mixture (log_sum: float32): 16-bit
numbers are computed with in float32, and a result is rounded once. Lines that lie side by side are taken in strips,
of which the L2 cache holds the numbers between the passes, so nothing is transposed. The largest number of a
line is subtracted first, so no exponential overflows. An output may be an input.
"""

cimport numpy as cnp
from cython cimport floating
from cython.parallel cimport prange, threadid
from libc.math cimport INFINITY, isfinite, isnan, log
from libc.string cimport memcpy

from arrays cimport check, check_same_shape, real_type
from blocks cimport EXPONENTIAL_COST, PARALLEL_FROM, block_count, block_length, maximum_of, rows_per_block
from exponentials cimport lift, lifted_sum
from rows cimport (
    FLOAT32, Matrix, is_narrow, numbers_like, padded, place_of, put_back, scratch_rows, widened, working_type
)
from tiles cimport TILE, put_rest, take_rest
from transcendental cimport LIFT, LOWEST, hidden, lifted_exponential

cnp.import_array()

cdef enum:
    # Numbers of a strip, and its lines at most.
    STRIP_SIZE = 1 << 16
    WIDEST = 512
    # Rows that are added in their own type before the sum goes on in float64.
    SPAN = 16

cdef enum Function:
    SOFTMAX, LOG_SOFTMAX, LOG_SUM

cdef struct Lines:
    Py_ssize_t outer, length, inner
    Py_ssize_t width


cdef Lines lines_of(cnp.ndarray x):
    """Return the lengths, and how many lines make a strip."""
    cdef Lines at
    at.outer, at.length, at.inner = cnp.PyArray_DIM(x, 0), cnp.PyArray_DIM(x, 1), cnp.PyArray_DIM(x, 2)
    at.width = STRIP_SIZE // max(at.length, <Py_ssize_t> 1) // TILE * TILE
    at.width = max(<Py_ssize_t> TILE, min(<Py_ssize_t> WIDEST, at.width))
    return at


include "softmax_strips.pxi"


# ---- all strips
cdef void forward_all(
    const Lines *at, Function function, const floating *x, floating *out, bint parallel
) noexcept nogil:
    cdef Py_ssize_t strips = block_count(at.inner, at.width)
    cdef Py_ssize_t results = at.inner if function == LOG_SUM else at.length * at.inner
    cdef Py_ssize_t task
    for task in prange(at.outer * strips, schedule="static", use_threads_if=parallel):
        forward_strip(
            at, function, x + task // strips * at.length * at.inner + task % strips * at.width,
            out + task // strips * results + task % strips * at.width,
            block_length(task % strips, at.inner, at.width),
        )


cdef void log_sums_of_rows(const Lines *at, const floating *x, floating *out, bint parallel) noexcept nogil:
    cdef Py_ssize_t at_once = rows_per_block(at.length, 1)
    cdef Py_ssize_t task, row
    cdef floating largest
    cdef double total
    for task in prange(block_count(at.outer, at_once), schedule="static", use_threads_if=parallel):
        for row in range(task * at_once, task * at_once + block_length(task, at.outer, at_once)):
            largest = maximum_of(x + row * at.length, at.length)
            total = lifted_sum(
                x + row * at.length, largest, <floating *> NULL, x + row * at.length, at.length)
            out[row] = log_sum(at, x + row * at.length, largest, total)


cdef void forward_packed(
    const Lines *at, Function function, Matrix x, Matrix out, float *scratch, bint parallel
) noexcept nogil:
    cdef Py_ssize_t strips = block_count(at.inner, at.width)
    cdef Py_ssize_t task
    for task in prange(at.outer * strips, schedule="static", use_threads_if=parallel):
        forward_packed_strip(
            at, function, x, out, task // strips * at.length * at.inner + task % strips * at.width,
            scratch + threadid() * padded(at.length * at.width), block_length(task % strips, at.inner, at.width),
        )


cdef void backward_all(
    const Lines *at, Function function, Matrix dy, Matrix y, Matrix dx, const floating *kind, bint parallel
) noexcept nogil:
    cdef Py_ssize_t strips = block_count(at.inner, at.width)
    cdef Py_ssize_t task
    for task in prange(at.outer * strips, schedule="static", use_threads_if=parallel):
        backward_strip(
            at, function, dy, y, dx, kind, task // strips * at.length * at.inner + task % strips * at.width,
            block_length(task % strips, at.inner, at.width),
        )


cdef void share_all(
    const Lines *at, const floating *x, const floating *origins, const floating *factors, floating *out, bint parallel
) noexcept nogil:
    cdef Py_ssize_t strips = block_count(at.inner, at.width)
    cdef Py_ssize_t at_once = rows_per_block(at.length, 1)
    cdef Py_ssize_t task, row, start
    if at.inner == 1:
        for task in prange(block_count(at.outer, at_once), schedule="static", use_threads_if=parallel):
            for row in range(task * at_once, task * at_once + block_length(task, at.outer, at_once)):
                share_row(x + row * at.length, origins[row], factors[row], out + row * at.length, at.length)
        return
    for task in prange(at.outer * strips, schedule="static", use_threads_if=parallel):
        start = task // strips * at.length * at.inner + task % strips * at.width
        row = task // strips * at.inner + task % strips * at.width
        share_strip(
            at, x + start, origins + row, factors + row, out + start,
            block_length(task % strips, at.inner, at.width),
        )


# ---- arrays
cdef int check_lines(str kernel, str name, cnp.ndarray array, bint written, cnp.ndarray x) except -1:
    check(kernel, name, array, cnp.PyArray_TYPE(x), 3, written)
    check_same_shape(kernel, name, array, "x", x)
    return 0


cdef int check_results(str kernel, str name, cnp.ndarray array, bint written, cnp.ndarray x) except -1:
    check(kernel, name, array, cnp.PyArray_TYPE(x), 2, written)
    if (
        cnp.PyArray_DIM(array, 0) != cnp.PyArray_DIM(x, 0)
        or cnp.PyArray_DIM(array, 1) != cnp.PyArray_DIM(x, 2)
    ):
        raise ValueError(
            f"For '{kernel}', '{name}' must have the shape {(cnp.PyArray_DIM(x, 0), cnp.PyArray_DIM(x, 2))}, "
            f"but got {(<object> array).shape}."
        )
    return 0


cdef bint is_parallel(const Lines *at) noexcept nogil:
    return at.outer * at.length * at.inner * EXPONENTIAL_COST >= PARALLEL_FROM


cdef int forward(str kernel, Function function, cnp.ndarray x, cnp.ndarray out) except -1:
    """Check the arrays and fill `out`, of the softmax or its logarithm."""
    cdef Matrix source = numbers_like(kernel, "x", x, 3, False, "x", x)
    cdef Matrix to = numbers_like(kernel, "out", out, 3, True, "x", x)
    cdef Lines at = lines_of(x)
    cdef bint packed = is_narrow(source) or is_narrow(to)
    cdef cnp.ndarray scratch
    cdef void *place
    if cnp.PyArray_SIZE(x) == 0:
        return 0
    scratch = scratch_rows(1, at.length * at.width, packed)
    place = cnp.PyArray_DATA(scratch)
    with nogil:
        if packed:
            forward_packed(&at, function, source, to, <float *> place, is_parallel(&at))
        elif source.number == FLOAT32:
            forward_all(&at, function, <const float *> source.data, <float *> to.data, is_parallel(&at))
        else:
            forward_all(&at, function, <const double *> source.data, <double *> to.data, is_parallel(&at))
    return 0


cdef int forward_sums(str kernel, cnp.ndarray x, cnp.ndarray out) except -1:
    """Check the arrays and fill `out`, of the logarithm of the sum."""
    cdef int number = real_type(kernel, "x", x)
    cdef void *source = cnp.PyArray_DATA(x)
    cdef void *to = cnp.PyArray_DATA(out)
    cdef Lines at
    check(kernel, "x", x, number, 3, False)
    check_results(kernel, "out", out, True, x)
    at = lines_of(x)
    if at.length == 0:
        raise ValueError(f"For '{kernel}', the middle axis of 'x' must not be empty.")
    if cnp.PyArray_SIZE(x) == 0:
        return 0
    with nogil:
        if at.inner == 1:
            if number == cnp.NPY_FLOAT32:
                log_sums_of_rows(&at, <const float *> source, <float *> to, is_parallel(&at))
            else:
                log_sums_of_rows(&at, <const double *> source, <double *> to, is_parallel(&at))
        elif number == cnp.NPY_FLOAT32:
            forward_all(&at, LOG_SUM, <const float *> source, <float *> to, is_parallel(&at))
        else:
            forward_all(&at, LOG_SUM, <const double *> source, <double *> to, is_parallel(&at))
    return 0


cdef int backward(str kernel, Function function, cnp.ndarray dy, cnp.ndarray y, cnp.ndarray dx) except -1:
    """Check the arrays and fill `dx`."""
    cdef Matrix given = numbers_like(kernel, "dy", dy, 3, False, "dy", dy)
    cdef Matrix kept = numbers_like(kernel, "y", y, 3, False, "dy", dy)
    cdef Matrix to = numbers_like(kernel, "dx", dx, 3, True, "dy", dy)
    cdef Lines at = lines_of(dy)
    if cnp.PyArray_SIZE(dy) == 0:
        return 0
    with nogil:
        if working_type(given.number) == cnp.NPY_FLOAT32:
            backward_all(&at, function, given, kept, to, <const float *> NULL, is_parallel(&at))
        else:
            backward_all(&at, function, given, kept, to, <const double *> NULL, is_parallel(&at))
    return 0


def softmax_forward(cnp.ndarray x not None, cnp.ndarray out not None):
    """Write exp(x) / sum(exp(x)) along the middle axis of x (outer, length, inner) into `out`.

    >>> out = np.empty((1, 2, 1))
    >>> softmax_forward(np.log([[[1.0], [3.0]]]), out)
    >>> out.ravel().round(4)
    array([0.25, 0.75])
    """
    forward("softmax_forward", SOFTMAX, x, out)


def softmax_backward(cnp.ndarray dy not None, cnp.ndarray y not None, cnp.ndarray dx not None):
    """Write y (dy - sum(dy y)) into `dx`, y being the softmax.

    >>> dx = np.empty((1, 2, 1))
    >>> softmax_backward(np.array([[[1.0], [0.0]]]), np.array([[[0.25], [0.75]]]), dx)
    >>> dx.ravel()
    array([ 0.1875, -0.1875])
    """
    backward("softmax_backward", SOFTMAX, dy, y, dx)


def log_softmax_forward(cnp.ndarray x not None, cnp.ndarray out not None):
    """Write x - log(sum(exp(x))) along the middle axis of x (outer, length, inner) into `out`.

    >>> out = np.empty((1, 2, 1))
    >>> log_softmax_forward(np.log([[[1.0], [3.0]]]), out)
    >>> np.exp(out).ravel().round(4)
    array([0.25, 0.75])
    """
    forward("log_softmax_forward", LOG_SOFTMAX, x, out)


def log_softmax_backward(cnp.ndarray dy not None, cnp.ndarray y not None, cnp.ndarray dx not None):
    """Write dy - exp(y) sum(dy) into `dx`, y being the log softmax.

    >>> dx = np.empty((1, 2, 1))
    >>> log_softmax_backward(np.array([[[1.0], [0.0]]]), np.log([[[0.25], [0.75]]]), dx)
    >>> dx.ravel()
    array([ 0.75, -0.75])
    """
    backward("log_softmax_backward", LOG_SOFTMAX, dy, y, dx)


def log_sum_forward(cnp.ndarray x not None, cnp.ndarray out not None):
    """Write log(sum(exp(x))) along the middle axis of x (outer, length, inner) into `out` (outer, inner).

    >>> out = np.empty((1, 1))
    >>> log_sum_forward(np.log([[[1.0], [3.0]]]), out)
    >>> np.exp(out).round(4)
    array([[4.]])
    """
    forward_sums("log_sum_forward", x, out)


def log_sum_backward(
    cnp.ndarray dy not None, cnp.ndarray x not None, cnp.ndarray y not None, cnp.ndarray dx not None
):
    """Write dy e^(x - y) into `dx`, y (outer, inner) being log(sum(exp(x))).

    >>> dx = np.empty((1, 2, 1))
    >>> log_sum_backward(np.ones((1, 1)), np.log([[[1.0], [3.0]]]), np.log([[4.0]]), dx)
    >>> dx.ravel().round(4)
    array([0.25, 0.75])
    """
    cdef str kernel = "log_sum_backward"
    cdef int number = real_type(kernel, "x", x)
    cdef void *source = cnp.PyArray_DATA(x)
    cdef void *origins = cnp.PyArray_DATA(y)
    cdef void *factors = cnp.PyArray_DATA(dy)
    cdef void *to = cnp.PyArray_DATA(dx)
    cdef Lines at
    check(kernel, "x", x, number, 3, False)
    check_results(kernel, "y", y, False, x)
    check_results(kernel, "dy", dy, False, x)
    check_lines(kernel, "dx", dx, True, x)
    at = lines_of(x)
    if cnp.PyArray_SIZE(x) == 0:
        return
    with nogil:
        if number == cnp.NPY_FLOAT32:
            share_all(
                &at, <const float *> source, <const float *> origins, <const float *> factors, <float *> to,
                is_parallel(&at),
            )
        else:
            share_all(
                &at, <const double *> source, <const double *> origins, <const double *> factors, <double *> to,
                is_parallel(&at),
            )
