# cython: cdivision=True, boundscheck=False, wraparound=False
"""Activation functions and their gradients, element by element.

Arrays are float32, float64, bfloat16 or float16 and may have any dense layout, as long as all
arrays of a call share both; an output may be an input. 16-bit floats are computed with in float32.
"""

cimport numpy as cnp
from cython cimport floating
from cython.parallel cimport prange
from libc.stdint cimport uint16_t

from arrays cimport check_dense, check_same_layout
from blocks cimport BLOCK, EXPONENTIAL_COST, PARALLEL_FROM, block_count, block_length
from rows cimport BFLOAT16, FLOAT64, LINE, Matrix, Number, is_narrow, number_of, place_of, put_back, widened
from transcendental cimport (
    bell,
    exponential_less_one,
    exponential_of_size,
    hidden,
    hyperbolic_tangent,
    log_of_one_plus,
    normal_share,
    power_of_two_real,
    sigmoid,
)

cdef extern from "gelu_table.h":
    const bint GELU_TABLE "DM_HAS_GELU_TABLE"
    void fill_gelu_tables "dm_fill_gelu_tables"() noexcept nogil
    void gelu_by_table "dm_gelu_by_table"(const float *x, float *out, Py_ssize_t size) noexcept nogil
    void gelu_gradient_by_table "dm_gelu_gradient_by_table"(
        const float *dy, const float *x, float *dx, Py_ssize_t size) noexcept nogil

cdef extern from "passing.h" nogil:
    const int INFINITE "DM_INFINITE"
    ctypedef struct Passing "dm_passing":
        cnp.int16_t[2] corners
    const cnp.int16_t NOWHERE "DM_NOWHERE"
    cnp.int16_t corner_at "dm_corner_at"(float x) noexcept
    int place_above "dm_place_above"(float x, bint itself) noexcept
    Passing passing_between "dm_passing_between"(int first, int last, bint outside, bint of_size) noexcept
    void pass_within "dm_pass"(
        Passing range, const uint16_t *dy, const uint16_t *x, uint16_t *dx, Py_ssize_t size) noexcept
    void pass_with_corners "dm_pass_with_corners"(
        Passing range, const uint16_t *dy, const uint16_t *x, uint16_t *dx, Py_ssize_t size) noexcept

cdef extern from "<math.h>" nogil:
    double double_size "fabs"(double x) noexcept
    float float_size "fabsf"(float x) noexcept

cnp.import_array()
fill_gelu_tables()

cdef enum:
    # Elements of 16-bit floats that are widened at once: a few KB, which the L1 cache holds.
    NARROW_TILE = 1024
    LINE_FLOATS = LINE // 4
    MOST_OPTIONS = 4

cdef enum Function:
    RELU, GELU, GELU_TANH, SIGMOID, SILU, TANH, FAST_GELU, MISH, SOFTPLUS, LOG_SIGMOID
    EXPONENTIAL_LINEAR, SOFTSIGN, LEAKY_RELU, HARD_SIGMOID, HARD_SWISH, CLIP, HARD_SHRINK
    SOFT_SHRINK, THRESHOLD

# 0.5 (1 + tanh(u)) is sigmoid(2 u): cheaper, and exact where 1 + tanh(u) would cancel.
cdef double TWICE_ROOT_TWO_OVER_PI = 1.5957691216057308
cdef double LOG2_E = 1.4426950408889634
cdef double DENSITY_AT_ZERO = 0.3989422804014327
cdef double CUBIC = 0.044715

cdef double[MOST_OPTIONS] NO_OPTIONS
NO_OPTIONS[:] = [0, 0, 0, 0]

# The functions that `forward` and `backward` know: how many options each has.
cdef dict FUNCTIONS = {
    "fast_gelu": (FAST_GELU, 1),
    "mish": (MISH, 0),
    "softplus": (SOFTPLUS, 2),
    "log_sigmoid": (LOG_SIGMOID, 0),
    "exponential_linear": (EXPONENTIAL_LINEAR, 3),
    "softsign": (SOFTSIGN, 0),
    "leaky_relu": (LEAKY_RELU, 1),
    "hard_sigmoid": (HARD_SIGMOID, 0),
    "hard_swish": (HARD_SWISH, 0),
    "clip": (CLIP, 4),
    "hard_shrink": (HARD_SHRINK, 1),
    "soft_shrink": (SOFT_SHRINK, 1),
    "threshold": (THRESHOLD, 2),
}


cdef inline floating fabs(floating x) noexcept nogil:
    """Return |x|."""
    if floating is double:
        return double_size(x)
    else:
        return float_size(x)


cdef inline float *at_line(float *scratch) noexcept nogil:
    """Return the start of the first cache line in scratch memory."""
    return <float *> ((<size_t> scratch + LINE - 1) // LINE * LINE)


cdef inline bint is_cheap(Function function) noexcept nogil:
    """Tell whether a function takes no more than its memory."""
    return function == RELU or function >= SOFTSIGN


include "activation_formulas.pxi"


cdef bint is_passing(Function function, const double *options, Passing *found) noexcept nogil:
    """Tell whether a gradient is dy in one range of x, perhaps half at its ends, 0 elsewhere, and write which."""
    cdef float a = <float> options[0], b = <float> options[1]
    cdef bint at_a = options[2] == 1, at_b = options[3] == 1
    cdef bint half_a = options[2] == 0.5, half_b = options[3] == 0.5
    if function == RELU:
        found[0] = passing_between(-INFINITE, 0, True, False)
    elif a != a:
        return False
    elif function == HARD_SHRINK or function == SOFT_SHRINK:
        found[0] = passing_between(place_above(a, False), INFINITE, False, True)
    elif function == THRESHOLD:
        found[0] = passing_between(place_above(a, False), INFINITE, False, False)
    elif function == CLIP and a < b and (at_a or half_a or options[2] == 0) and (at_b or half_b or options[3] == 0):
        found[0] = passing_between(place_above(a, at_a), place_above(b, not at_b) - 1, False, False)
        if half_a:
            found[0].corners[0] = corner_at(a)
        if half_b:
            found[0].corners[1] = corner_at(b)
    else:
        return False
    return True


cdef void forward_piece(
    Function function, const double *options, Matrix x, Matrix out, Py_ssize_t start, Py_ssize_t size,
    floating *scratch,
) noexcept nogil:
    """Write function(x) from element `start` on; `scratch` takes a tile if the numbers are narrow."""
    cdef Py_ssize_t piece = NARROW_TILE if is_narrow(x) else BLOCK
    cdef Py_ssize_t index, at, length
    cdef floating *to
    for index in range(block_count(size, piece)):
        at = start + index * piece
        length = block_length(index, size, piece)
        to = place_of(out, at, scratch)
        forward_block(function, options, widened(x, at, scratch, length), to, length)
        put_back(out, at, <const floating *> to, length)


cdef void backward_piece(
    Function function, const double *options, Matrix dy, Matrix kept, Matrix dx, Py_ssize_t start,
    Py_ssize_t size, floating *scratch,
) noexcept nogil:
    """Write the gradient from element `start` on; `scratch` takes two tiles if the numbers are narrow."""
    cdef Py_ssize_t piece = NARROW_TILE if is_narrow(dy) else BLOCK
    cdef Py_ssize_t index, at, length
    cdef floating *to
    for index in range(block_count(size, piece)):
        at = start + index * piece
        length = block_length(index, size, piece)
        to = place_of(dx, at, scratch)
        backward_block(
            function, options, widened(dy, at, scratch, length),
            widened(kept, at, scratch + NARROW_TILE, length), to, length,
        )
        put_back(dx, at, <const floating *> to, length)


cdef void forward_task(
    Function function, const double *options, Matrix x, Matrix out, Py_ssize_t start, Py_ssize_t size
) noexcept nogil:
    cdef float scratch[NARROW_TILE + LINE_FLOATS]
    if x.number == FLOAT64:
        forward_piece(function, options, x, out, start, size, <double *> NULL)
    else:
        forward_piece(function, options, x, out, start, size, at_line(scratch))


cdef void backward_task(
    Function function, const double *options, Matrix dy, Matrix kept, Matrix dx, Py_ssize_t start,
    Py_ssize_t size,
) noexcept nogil:
    cdef float scratch[2 * NARROW_TILE + LINE_FLOATS]
    cdef Passing range
    cdef bint plain
    if dy.number == BFLOAT16 and is_passing(function, options, &range):
        plain = range.corners[0] == NOWHERE and range.corners[1] == NOWHERE
        (pass_within if plain else pass_with_corners)(
            range, <const uint16_t *> dy.data + start, <const uint16_t *> kept.data + start,
            <uint16_t *> dx.data + start, size,
        )
    elif dy.number == FLOAT64:
        backward_piece(function, options, dy, kept, dx, start, size, <double *> NULL)
    else:
        backward_piece(function, options, dy, kept, dx, start, size, at_line(scratch))


cdef Matrix operand(
    str kernel, Number number, str name, cnp.ndarray array, bint written, str like_name, cnp.ndarray like
) except *:
    """Return a dense array of the type and layout of `like`."""
    cdef Matrix found
    found.number = number
    found.data = cnp.PyArray_DATA(array)
    check_dense(kernel, name, array, cnp.PyArray_TYPE(like), written)
    if array is not like:
        check_same_layout(kernel, name, array, like_name, like)
    return found


cdef int run_forward(
    str kernel, Function function, const double *options, cnp.ndarray x, cnp.ndarray out
) except -1:
    """Check the arrays and write function(x) into `out`."""
    cdef Number number = number_of(kernel, "x", x)
    cdef Matrix source = operand(kernel, number, "x", x, False, "x", x)
    cdef Matrix to = operand(kernel, number, "out", out, True, "x", x)
    cdef Py_ssize_t size = cnp.PyArray_SIZE(x), block
    cdef Py_ssize_t work = size if is_cheap(function) else size * EXPONENTIAL_COST
    with nogil:
        for block in prange(
            block_count(size, BLOCK), schedule="static", use_threads_if=work >= PARALLEL_FROM
        ):
            forward_task(
                function, options, source, to, block * BLOCK, block_length(block, size, BLOCK)
            )
    return 0


cdef int run_backward(
    str kernel, Function function, const double *options, cnp.ndarray dy, str name, cnp.ndarray kept,
    cnp.ndarray dx,
) except -1:
    """Check the arrays and write the gradient into `dx`."""
    cdef Number number = number_of(kernel, "dy", dy)
    cdef Matrix given = operand(kernel, number, "dy", dy, False, "dy", dy)
    cdef Matrix at = operand(kernel, number, name, kept, False, "dy", dy)
    cdef Matrix to = operand(kernel, number, "dx", dx, True, "dy", dy)
    cdef Py_ssize_t size = cnp.PyArray_SIZE(dy), block
    cdef bint cheap = is_cheap(function) or function == SIGMOID or function == TANH
    cdef Py_ssize_t work = size if cheap else size * EXPONENTIAL_COST
    with nogil:
        for block in prange(
            block_count(size, BLOCK), schedule="static", use_threads_if=work >= PARALLEL_FROM
        ):
            backward_task(
                function, options, given, at, to, block * BLOCK, block_length(block, size, BLOCK)
            )
    return 0


cdef Function found(str kernel, str function, tuple given, double *options) except *:
    """Return the function of this name, and its options as numbers."""
    cdef int index
    if function not in FUNCTIONS:
        raise ValueError(
            f"For '{kernel}', 'function' must be one of {', '.join(FUNCTIONS)}, but got {function!r}."
        )
    number, count = FUNCTIONS[function]
    if len(given) != count:
        raise TypeError(
            f"For '{kernel}', '{function}' must have {count} options, but got {len(given)}: {given}."
        )
    for index in range(MOST_OPTIONS):
        options[index] = given[index] if index < count else 0
    return number


def forward(cnp.ndarray x not None, cnp.ndarray out not None, str function not None, *options):
    """Write a function of x into `out`; s is the sigmoid.

    =====================================  ===================================================
    function, options                      value
    =====================================  ===================================================
    fast_gelu, a                           x s(a x)
    mish                                   x tanh(log(1 + e^x))
    softplus, a, b                         log(1 + e^(a x)) / a, and x where a x > b
    log_sigmoid                            log(s(x))
    exponential_linear, a, b, c            a x where x > 0, else b (e^(c x) - 1)
    softsign                               x / (1 + abs(x))
    leaky_relu, a                          x where x > 0, else a x
    hard_sigmoid                           min(max(x / 6 + 0.5, 0), 1)
    hard_swish                             x times that
    clip, a, b, c, d                       min(max(x, a), b); its slope is c at a and d at b
    hard_shrink, a                         x where abs(x) > a, else 0
    soft_shrink, a                         x moved toward 0 by a, not beyond it
    threshold, a, b                        x where x > a, else b
    =====================================  ===================================================

    >>> out = np.empty(2)
    >>> forward(np.array([-1.0, 2.0]), out, "leaky_relu", 0.5)
    >>> out
    array([-0.5,  2. ])
    """
    cdef double numbers[MOST_OPTIONS]
    cdef Function number = found("forward", function, options, numbers)
    run_forward(function, number, numbers, x, out)


def backward(
    cnp.ndarray dy not None, cnp.ndarray x not None, cnp.ndarray dx not None, str function not None,
    *options,
):
    """Write dy times the derivative of `forward`'s function at x into `dx`.

    At 0 the slope of leaky_relu is the mean of both sides.

    >>> dx = np.empty(2)
    >>> backward(np.ones(2), np.array([-1.0, 2.0]), dx, "leaky_relu", 0.5)
    >>> dx
    array([0.5, 1. ])
    """
    cdef double numbers[MOST_OPTIONS]
    cdef Function number = found("backward", function, options, numbers)
    run_backward(function, number, numbers, dy, "x", x, dx)


def relu_forward(cnp.ndarray x not None, cnp.ndarray out not None):
    """Write max(x, 0) into `out`; a NaN stays one.

    >>> out = np.empty(3)
    >>> relu_forward(np.array([-1.0, 0.0, 2.0]), out)
    >>> out
    array([0., 0., 2.])
    """
    run_forward("relu_forward", RELU, NO_OPTIONS, x, out)


def relu_backward(cnp.ndarray dy not None, cnp.ndarray y not None, cnp.ndarray dx not None):
    """Write dy where y > 0, else 0, into `dx`.

    >>> dx = np.empty(3)
    >>> relu_backward(np.ones(3), np.array([0.0, 0.0, 2.0]), dx)
    >>> dx
    array([0., 0., 1.])
    """
    run_backward("relu_backward", RELU, NO_OPTIONS, dy, "y", y, dx)


def gelu_forward(cnp.ndarray x not None, cnp.ndarray out not None, bint tanh):
    """Write x P(X <= x), X standard normal, into `out`.

    With `tanh`, P is 0.5 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), from Hendrycks and Gimpel,
    "Gaussian Error Linear Units", 2016; else it is exact, with erf.

    >>> out = np.empty(2)
    >>> gelu_forward(np.array([-1.0, 1.0]), out, False)
    >>> out.round(4)
    array([-0.1587,  0.8413])
    """
    run_forward("gelu_forward", GELU_TANH if tanh else GELU, NO_OPTIONS, x, out)


def gelu_backward(
    cnp.ndarray dy not None, cnp.ndarray x not None, cnp.ndarray dx not None, bint tanh
):
    """Write dy times the derivative of `gelu_forward` at x into `dx`.

    >>> dx = np.empty(2)
    >>> gelu_backward(np.ones(2), np.array([-1.0, 1.0]), dx, False)
    >>> dx.round(4)
    array([-0.0833,  1.0833])
    """
    run_backward("gelu_backward", GELU_TANH if tanh else GELU, NO_OPTIONS, dy, "x", x, dx)


def sigmoid_forward(cnp.ndarray x not None, cnp.ndarray out not None):
    """Write 1 / (1 + exp(-x)) into `out`.

    >>> out = np.empty(2)
    >>> sigmoid_forward(np.array([0.0, 100.0]), out)
    >>> out
    array([0.5, 1. ])
    """
    run_forward("sigmoid_forward", SIGMOID, NO_OPTIONS, x, out)


def sigmoid_backward(cnp.ndarray dy not None, cnp.ndarray y not None, cnp.ndarray dx not None):
    """Write dy y (1 - y) into `dx`.

    >>> dx = np.empty(2)
    >>> sigmoid_backward(np.ones(2), np.array([0.5, 1.0]), dx)
    >>> dx
    array([0.25, 0.  ])
    """
    run_backward("sigmoid_backward", SIGMOID, NO_OPTIONS, dy, "y", y, dx)


def silu_forward(cnp.ndarray x not None, cnp.ndarray out not None):
    """Write x / (1 + exp(-x)) into `out`.

    >>> out = np.empty(2)
    >>> silu_forward(np.array([0.0, 100.0]), out)
    >>> out
    array([  0., 100.])
    """
    run_forward("silu_forward", SILU, NO_OPTIONS, x, out)


def silu_backward(cnp.ndarray dy not None, cnp.ndarray x not None, cnp.ndarray dx not None):
    """Write dy times the derivative of `silu_forward` at x into `dx`.

    >>> dx = np.empty(2)
    >>> silu_backward(np.ones(2), np.array([0.0, 100.0]), dx)
    >>> dx
    array([0.5, 1. ])
    """
    run_backward("silu_backward", SILU, NO_OPTIONS, dy, "x", x, dx)


def tanh_forward(cnp.ndarray x not None, cnp.ndarray out not None):
    """Write tanh(x) into `out`.

    >>> out = np.empty(2)
    >>> tanh_forward(np.array([0.0, 1.0]), out)
    >>> out.round(4)
    array([0.    , 0.7616])
    """
    run_forward("tanh_forward", TANH, NO_OPTIONS, x, out)


def tanh_backward(cnp.ndarray dy not None, cnp.ndarray y not None, cnp.ndarray dx not None):
    """Write dy (1 - y^2) into `dx`.

    >>> dx = np.empty(2)
    >>> tanh_backward(np.ones(2), np.array([0.0, 0.5]), dx)
    >>> dx
    array([1.  , 0.75])
    """
    run_backward("tanh_backward", TANH, NO_OPTIONS, dy, "y", y, dx)
