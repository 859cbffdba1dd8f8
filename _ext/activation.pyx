# cython: cdivision=True, boundscheck=False, wraparound=False
"""Activation functions and their gradients, element by element.

Arrays are float32 or float64 and may have any dense layout, as long as all arrays of a call share
it; an output may be an input.
"""

cimport numpy as cnp
from cython cimport floating
from cython.parallel cimport prange

from arrays cimport check_dense, check_same_layout, real_type
from blocks cimport BLOCK, EXPONENTIAL_COST, PARALLEL_FROM, block_count, block_length
from transcendental cimport bell, hidden, hyperbolic_tangent, normal_share, power_of_two_real, sigmoid

cnp.import_array()

cdef enum Function:
    RELU, GELU, GELU_TANH, SIGMOID, SILU, TANH

# 0.5 (1 + tanh(u)) is sigmoid(2 u): cheaper, and exact where 1 + tanh(u) would cancel.
cdef double TWICE_ROOT_TWO_OVER_PI = 1.5957691216057308
cdef double LOG2_E = 1.4426950408889634
cdef double DENSITY_AT_ZERO = 0.3989422804014327
cdef double CUBIC = 0.044715


cdef void forward_block(
    Function function, const floating *x, floating *out, Py_ssize_t size
) noexcept nogil:
    """Write function(x) for one block."""
    cdef Py_ssize_t i
    cdef floating rise = <floating> (-TWICE_ROOT_TWO_OVER_PI * LOG2_E)
    cdef floating cubic = <floating> CUBIC
    cdef floating one = 1
    cdef float bottom = hidden(-88)
    cdef float lowest = hidden(-126)
    cdef float highest = hidden(128)
    if function == RELU:
        # Written with <= so that a NaN comes out as a NaN.
        for i in range(size):
            out[i] = 0 if x[i] <= 0 else x[i]
    elif function == GELU:
        for i in range(size):
            out[i] = x[i] * normal_share(x[i], bell(x[i]))
    elif function == GELU_TANH:
        for i in range(size):
            out[i] = x[i] / (
                one + power_of_two_real(rise * x[i] * (one + cubic * x[i] * x[i]), lowest, highest)
            )
    elif function == SIGMOID:
        for i in range(size):
            out[i] = sigmoid(x[i], bottom)
    elif function == SILU:
        for i in range(size):
            out[i] = x[i] * sigmoid(x[i], bottom)
    elif function == TANH:
        for i in range(size):
            out[i] = hyperbolic_tangent(x[i])


cdef void backward_block(
    Function function, const floating *dy, const floating *kept, floating *dx, Py_ssize_t size
) noexcept nogil:
    """Write dy times the derivative for one block; `kept` is x for GELU and SiLU, else y."""
    cdef Py_ssize_t i
    cdef floating s
    cdef floating density = <floating> DENSITY_AT_ZERO
    cdef floating slope = <floating> TWICE_ROOT_TWO_OVER_PI
    cdef floating rise = <floating> (-TWICE_ROOT_TWO_OVER_PI * LOG2_E)
    cdef floating cubic = <floating> CUBIC
    cdef floating thrice = <floating> (3 * CUBIC)
    cdef floating one = 1
    cdef float bottom = hidden(-88)
    cdef float lowest = hidden(-126)
    cdef float highest = hidden(128)
    if function == RELU:
        for i in range(size):
            dx[i] = 0 if kept[i] <= 0 else dy[i]
    elif function == GELU:
        for i in range(size):
            s = bell(kept[i])
            dx[i] = dy[i] * (normal_share(kept[i], s) + kept[i] * density * s)
    elif function == GELU_TANH:
        for i in range(size):
            s = one / (
                one + power_of_two_real(rise * kept[i] * (one + cubic * kept[i] * kept[i]), lowest, highest)
            )
            dx[i] = dy[i] * (
                s + kept[i] * s * (one - s) * slope * (one + thrice * kept[i] * kept[i])
            )
    elif function == SIGMOID:
        for i in range(size):
            dx[i] = dy[i] * kept[i] * (one - kept[i])
    elif function == SILU:
        for i in range(size):
            s = sigmoid(kept[i], bottom)
            dx[i] = dy[i] * (s + kept[i] * s * (one - s))
    elif function == TANH:
        for i in range(size):
            dx[i] = dy[i] * (one - kept[i] * kept[i])


cdef void forward_blocks(
    Function function, const floating *x, floating *out, Py_ssize_t size
) noexcept nogil:
    cdef Py_ssize_t block
    cdef Py_ssize_t work = size if function == RELU else size * EXPONENTIAL_COST
    for block in prange(
        block_count(size, BLOCK), schedule="static", use_threads_if=work >= PARALLEL_FROM
    ):
        forward_block(
            function, x + block * BLOCK, out + block * BLOCK, block_length(block, size, BLOCK)
        )


cdef void backward_blocks(
    Function function, const floating *dy, const floating *kept, floating *dx, Py_ssize_t size
) noexcept nogil:
    cdef Py_ssize_t block
    cdef bint cheap = function == RELU or function == SIGMOID or function == TANH
    cdef Py_ssize_t work = size if cheap else size * EXPONENTIAL_COST
    for block in prange(
        block_count(size, BLOCK), schedule="static", use_threads_if=work >= PARALLEL_FROM
    ):
        backward_block(
            function,
            dy + block * BLOCK,
            kept + block * BLOCK,
            dx + block * BLOCK,
            block_length(block, size, BLOCK),
        )


cdef int forward(str kernel, Function function, cnp.ndarray x, cnp.ndarray out) except -1:
    """Check the arrays and write function(x) into `out`."""
    cdef int number = real_type(kernel, "x", x)
    cdef Py_ssize_t size = cnp.PyArray_SIZE(x)
    cdef void *from_x = cnp.PyArray_DATA(x)
    cdef void *to = cnp.PyArray_DATA(out)
    check_dense(kernel, "x", x, number, False)
    check_dense(kernel, "out", out, number, True)
    check_same_layout(kernel, "out", out, "x", x)
    with nogil:
        if number == cnp.NPY_FLOAT32:
            forward_blocks(function, <const float *> from_x, <float *> to, size)
        else:
            forward_blocks(function, <const double *> from_x, <double *> to, size)
    return 0


cdef int backward(
    str kernel, Function function, cnp.ndarray dy, str name, cnp.ndarray kept, cnp.ndarray dx
) except -1:
    """Check the arrays and write the gradient into `dx`."""
    cdef int number = real_type(kernel, "dy", dy)
    cdef Py_ssize_t size = cnp.PyArray_SIZE(dy)
    cdef void *from_dy = cnp.PyArray_DATA(dy)
    cdef void *from_kept = cnp.PyArray_DATA(kept)
    cdef void *to = cnp.PyArray_DATA(dx)
    check_dense(kernel, "dy", dy, number, False)
    check_dense(kernel, name, kept, number, False)
    check_same_layout(kernel, name, kept, "dy", dy)
    check_dense(kernel, "dx", dx, number, True)
    check_same_layout(kernel, "dx", dx, "dy", dy)
    with nogil:
        if number == cnp.NPY_FLOAT32:
            backward_blocks(
                function, <const float *> from_dy, <const float *> from_kept, <float *> to, size
            )
        else:
            backward_blocks(
                function, <const double *> from_dy, <const double *> from_kept, <double *> to, size
            )
    return 0


def relu_forward(cnp.ndarray x not None, cnp.ndarray out not None):
    """Write max(x, 0) into `out`; a NaN stays one.

    >>> out = np.empty(3)
    >>> relu_forward(np.array([-1.0, 0.0, 2.0]), out)
    >>> out
    array([0., 0., 2.])
    """
    forward("relu_forward", RELU, x, out)


def relu_backward(cnp.ndarray dy not None, cnp.ndarray y not None, cnp.ndarray dx not None):
    """Write dy where y > 0, else 0, into `dx`.

    >>> dx = np.empty(3)
    >>> relu_backward(np.ones(3), np.array([0.0, 0.0, 2.0]), dx)
    >>> dx
    array([0., 0., 1.])
    """
    backward("relu_backward", RELU, dy, "y", y, dx)


def gelu_forward(cnp.ndarray x not None, cnp.ndarray out not None, bint tanh):
    """Write x P(X <= x), X standard normal, into `out`.

    With `tanh`, P is 0.5 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), from Hendrycks and Gimpel,
    "Gaussian Error Linear Units", 2016; else it is exact, with erf.

    >>> out = np.empty(2)
    >>> gelu_forward(np.array([-1.0, 1.0]), out, False)
    >>> out.round(4)
    array([-0.1587,  0.8413])
    """
    forward("gelu_forward", GELU_TANH if tanh else GELU, x, out)


def gelu_backward(
    cnp.ndarray dy not None, cnp.ndarray x not None, cnp.ndarray dx not None, bint tanh
):
    """Write dy times the derivative of `gelu_forward` at x into `dx`.

    >>> dx = np.empty(2)
    >>> gelu_backward(np.ones(2), np.array([-1.0, 1.0]), dx, False)
    >>> dx.round(4)
    array([-0.0833,  1.0833])
    """
    backward("gelu_backward", GELU_TANH if tanh else GELU, dy, "x", x, dx)


def sigmoid_forward(cnp.ndarray x not None, cnp.ndarray out not None):
    """Write 1 / (1 + exp(-x)) into `out`.

    >>> out = np.empty(2)
    >>> sigmoid_forward(np.array([0.0, 100.0]), out)
    >>> out
    array([0.5, 1. ])
    """
    forward("sigmoid_forward", SIGMOID, x, out)


def sigmoid_backward(cnp.ndarray dy not None, cnp.ndarray y not None, cnp.ndarray dx not None):
    """Write dy y (1 - y) into `dx`.

    >>> dx = np.empty(2)
    >>> sigmoid_backward(np.ones(2), np.array([0.5, 1.0]), dx)
    >>> dx
    array([0.25, 0.  ])
    """
    backward("sigmoid_backward", SIGMOID, dy, "y", y, dx)


def silu_forward(cnp.ndarray x not None, cnp.ndarray out not None):
    """Write x / (1 + exp(-x)) into `out`.

    >>> out = np.empty(2)
    >>> silu_forward(np.array([0.0, 100.0]), out)
    >>> out
    array([  0., 100.])
    """
    forward("silu_forward", SILU, x, out)


def silu_backward(cnp.ndarray dy not None, cnp.ndarray x not None, cnp.ndarray dx not None):
    """Write dy times the derivative of `silu_forward` at x into `dx`.

    >>> dx = np.empty(2)
    >>> silu_backward(np.ones(2), np.array([0.0, 100.0]), dx)
    >>> dx
    array([0.5, 1. ])
    """
    backward("silu_backward", SILU, dy, "x", x, dx)


def tanh_forward(cnp.ndarray x not None, cnp.ndarray out not None):
    """Write tanh(x) into `out`.

    >>> out = np.empty(2)
    >>> tanh_forward(np.array([0.0, 1.0]), out)
    >>> out.round(4)
    array([0.    , 0.7616])
    """
    forward("tanh_forward", TANH, x, out)


def tanh_backward(cnp.ndarray dy not None, cnp.ndarray y not None, cnp.ndarray dx not None):
    """Write dy (1 - y^2) into `dx`.

    >>> dx = np.empty(2)
    >>> tanh_backward(np.ones(2), np.array([0.0, 0.5]), dx)
    >>> dx
    array([1.  , 0.75])
    """
    backward("tanh_backward", TANH, dy, "y", y, dx)
