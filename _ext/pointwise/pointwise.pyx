# cython: cdivision=True
"""Functions of each element that NumPy has not, or has slower: universal functions, for `ufunc_loops.apply`.

16-bit floats have no loops here: `apply` widens them. `fmod` and `remainder` are exact, `power` and those of `OF_NUMPY`
right to 0.51 units in the last place, `log` to 0.9, `exp2` and `arccos` to 1.2, `erf` and `arcsin` to 1.7, float64
`cube` to 1.5, `log2` and `log10` to 1.9, `erfinv` to 2.7, `erfc` to 3.7. With AVX-512 the logarithms are to 0.6,
`erfinv` to 0.75, `sin`, `cos` and `erfc` to 0.85, and what is NumPy's own to 4.

>>> from dist_ms._ext.ufunc_loops import apply
>>> apply(power, np.array([2, -2], np.float32), np.array(3, np.float32))
array([ 8., -8.], dtype=float32)
"""

cimport numpy as cnp

from blocks cimport block_count, block_length
from transcendental cimport (
    EXPONENT_BIAS, MANTISSA_BITS, SIGN, Bits, bell, exponential_near_zero, normal_exponential, normal_share, size_up_to
)

import numpy

cnp.import_array()
cnp.import_ufunc()

cdef extern from *:
    """
    #ifdef __AVX512F__
    enum { DM_WIDE_VECTORS = 1 };
    #else
    enum { DM_WIDE_VECTORS = 0 };
    #endif
    """
    bint WIDE_VECTORS "DM_WIDE_VECTORS"

cdef extern from "pointwise_loops.h" nogil:
    ctypedef struct Entry "dm_entry":
        const char *name
        void (*loop)(char **, cnp.npy_intp *, cnp.npy_intp *, void *) noexcept
        const char *types
    Entry[0] ENTRIES "dm_entries"
    int ENTRY_COUNT "DM_ENTRY_COUNT"

ctypedef void (*TileFunction)(const float *x, float *out, int size) noexcept nogil

cdef enum:
    TILE = 256

cdef float ROOT_TWO = 1.4142135623730951


cdef inline float erf_of(float x) noexcept nogil:
    """Return the error function to 1.6 units in the last place.

    Below 0.9 an odd polynomial, a fit of the relative error (Lawson's iteration on Chebyshev nodes);
    from there on 1 less what is left beyond |x|.
    """
    cdef float square = x * x, near
    cdef float size = size_up_to(x * ROOT_TWO, <float> 13.27)
    cdef Bits far, sign
    near = <float> -0.0006090360254189027
    near = near * square + <float> 0.005011962872724191
    near = near * square + <float> -0.026778908951578247
    near = near * square + <float> 0.11282140812845458
    near = near * square + <float> -0.3761252327628915
    near = near * square + <float> 0.1283791537972883
    far.value = <float> 1.0 - <float> 2.0 * normal_share(-size, bell(size))
    sign.value = x
    far.number = far.number | (sign.number & <int> SIGN)
    # square, unlike the size, is NaN where x is.
    return far.value if square >= <float> 0.81 else near * x + x


cdef inline float exponential(float x) noexcept nogil:
    """Return e^x to 1.1 units in the last place, below the normal range gradually 0."""
    cdef float bounded, n, r
    cdef Bits shifted, first, second
    cdef int half
    # Written such that a NaN stays one; the bounds' exponentials are infinite and 0.
    bounded = <float> 100.0 if <float> 100.0 < x else x
    bounded = <float> -110.0 if <float> -110.0 > bounded else bounded
    # 1.5 * 2^23: adding it leaves no bit for a fraction, so the sum is rounded to an integer.
    shifted.value = bounded * <float> 1.4426950408889634 + <float> 12582912.0
    n = shifted.value - <float> 12582912.0
    r = bounded - n * <float> 0.693115234375
    r = r - n * <float> 3.194618494528623e-05
    # 2^n is no float32 at the ends, its halves are.
    shifted.number = shifted.number - 0x4B400000
    half = shifted.number >> 1
    first.number = (half + EXPONENT_BIAS) << MANTISSA_BITS
    second.number = (shifted.number - half + EXPONENT_BIAS) << MANTISSA_BITS
    return exponential_near_zero(r) * first.value * second.value


cdef void exp_tile(const float *x, float *out, int size) noexcept nogil:
    """Write e^x: without the extreme ones, which `exponential` is for, if there are none."""
    cdef int i, extreme = 0
    cdef Bits bits
    for i in range(size):
        bits.value = x[i]
        extreme |= (bits.number & 0x7FFFFFFF) > 0x42AE0000  # the bits of 87
        out[i] = normal_exponential(x[i])
    if extreme:
        for i in range(size):
            out[i] = exponential(x[i])


cdef inline void by_tiles(
    TileFunction function, char **places, cnp.npy_intp *sizes, cnp.npy_intp *steps
) noexcept nogil:
    """Call a function for tiles of its operand, copied where that is not contiguous or gives way to the result."""
    cdef float x[TILE]
    cdef float out[TILE]
    cdef cnp.npy_intp tile, start
    cdef int i, size
    for tile in range(block_count(sizes[0], TILE)):
        start = tile * TILE
        size = block_length(tile, sizes[0], TILE)
        if steps[0] == sizeof(float) and steps[1] == sizeof(float) and places[0] != places[1]:
            function(<const float *> places[0] + start, <float *> places[1] + start, size)
        else:
            for i in range(size):
                x[i] = (<const float *> (places[0] + (start + i) * steps[0]))[0]
            function(x, out, size)
            for i in range(size):
                (<float *> (places[1] + (start + i) * steps[1]))[0] = out[i]


cdef void exp_float(char **places, cnp.npy_intp *sizes, cnp.npy_intp *steps, void *options) noexcept nogil:
    by_tiles(exp_tile, places, sizes, steps)


cdef void erf_tile(const float *x, float *out, int size) noexcept nogil:
    cdef int i
    for i in range(size):
        out[i] = erf_of(x[i])


cdef void erf_float(char **places, cnp.npy_intp *sizes, cnp.npy_intp *steps, void *options) noexcept nogil:
    by_tiles(erf_tile, places, sizes, steps)


# Those that NumPy has too, with these names; its loops are vectors with AVX-512 alone.
OF_NUMPY = {
    "sin": "The sine of an angle.",
    "cos": "The cosine of an angle.",
    "tan": "The tangent of an angle.",
    "arcsin": "The angle whose sine is x; NaN beyond 1.",
    "arccos": "The angle whose cosine is x; NaN beyond 1.",
    "arctan": "The angle whose tangent is x.",
    "arctan2": "The angle of the point (y, x).",
    "sinh": "(e^x - e^-x) / 2.",
    "cosh": "(e^x + e^-x) / 2.",
    "arctanh": "The number whose hyperbolic tangent is x; NaN beyond 1.",
    "exp2": "2^x.",
    "expm1": "e^x - 1, to a unit also where e^x is close to 1.",
    "log1p": "log(1 + x), to a unit also where x is close to 0.",
    "log2": "The logarithm to base 2.",
    "log10": "The logarithm to base 10.",
}

# What each of them computes of x, y and z.
FUNCTIONS = {
    "select": "y where x is true, else z.",
    "logical_not": "Whether x is false.",
    "clamp": "min(max(x, y), z) of limits that are no NaN; an x that is one stays.",
    "lerp": "x + z (y - x).",
    "multiply_add": "x + y z.",
    "sign": "-1, 0 or 1; a NaN stays one.",
    "rsqrt": "1 / sqrt(x).",
    "cube": "x^3.",
    "erf": "2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x.",
    "erfc": "1 - erf(x), to a unit also where erf(x) is close to 1.",
    "erfinv": "The number whose erf is x; NaN beyond 1.",
    "sqrt": "The root of x.",
    "square": "x^2.",
    "reciprocal": "1 / x.",
    "bits_sqrt": "The root of x, both as bits of bfloat16.",
    "bits_square": "x^2, likewise.",
    "bits_reciprocal": "1 / x, likewise.",
    "bits_rsqrt": "1 / sqrt(x), likewise.",
    "hypot": "The root of x^2 + y^2.",
    "frac": "x less its integer part.",
    "finite": "x within -z and z; y for NaN.",
    "divide_add": "x + y / z.",
    "power": "x^y; NaN for parts of negative numbers.",
    "fmod": "x less y times their quotient cut toward zero: the sign of x.",
    "remainder": "x less y times their quotient rounded down: the sign of y.",
    "squared_difference": "(x - y)^2.",
    "absolute_difference": "|x - y|.",
    "parametric_relu": "x where it is positive, else x y.",
    "squared_difference_gradient": "2 (x - y) z.",
    "absolute_difference_gradient": "z times the sign of x - y.",
    "smooth_l1": "(x - y)^2 / (2 z) where |x - y| is below z, else |x - y| - z / 2.",
    "smooth_l1_slope": "The slope of smooth_l1 with respect to x.",
    "parametric_relu_gradient": "z where x is positive, else y z.",
    "to_float": "The numbers in another type.",
    "to_double": "The numbers in another type.",
    "to_int": "The numbers in another type.",
    "to_long": "The numbers in another type.",
    "bits_to_int": "The numbers in another type, of the bits of bfloat16.",
    "bits_to_long": "The numbers in another type, of the bits of bfloat16.",
    "to_bool": "The numbers in another type.",
    "exp": "e^x.",
    "log": "The natural logarithm.",
    **OF_NUMPY,
}

cdef enum:
    # Of a ufunc, and of a loop: NumPy keeps the places of these lists.
    MOST_LOOPS = 13
    MOST_UFUNCS = 64
    MOST_OPERANDS = 4

cdef cnp.PyUFuncGenericFunction[MOST_UFUNCS][MOST_LOOPS] loops
cdef char[MOST_UFUNCS][MOST_LOOPS * MOST_OPERANDS] types
cdef int[MOST_UFUNCS] counts
cdef list texts = []


cdef int add_loop(int function, cnp.PyUFuncGenericFunction loop, bytes letters) except -1:
    """Add one loop to a function's list; return its number of operands."""
    cdef int i, operands = len(letters)
    for i in range(operands):
        types[function][counts[function] * operands + i] = numpy.dtype(chr(letters[i])).num
    loops[function][counts[function]] = loop
    counts[function] += 1
    return operands


cdef object new_ufunc(int function, str name, str text):
    """Make the ufunc of all loops of this name."""
    cdef int i, operands = 0
    cdef bytes called = name.encode(), said = text.encode()
    texts.append((called, said))
    for i in range(ENTRY_COUNT):
        if ENTRIES[i].name == called:
            operands = add_loop(function, <cnp.PyUFuncGenericFunction> ENTRIES[i].loop, ENTRIES[i].types)
    if name == "erf":
        operands = add_loop(function, <cnp.PyUFuncGenericFunction> erf_float, b"ff")
    elif name == "exp":
        operands = add_loop(function, <cnp.PyUFuncGenericFunction> exp_float, b"ff")
    return cnp.PyUFunc_FromFuncAndData(
        loops[function], NULL, types[function], counts[function], operands - 1, 1, cnp.PyUFunc_None, called, said, 0
    )


globals().update({name: new_ufunc(number, name, FUNCTIONS[name]) for number, name in enumerate(FUNCTIONS)})
if WIDE_VECTORS:
    # But for what is as fast and closer here, and exp2, which takes four times as long in some processes.
    globals().update({
        name: getattr(numpy, name) for name in OF_NUMPY if name not in ("cos", "exp2", "log10", "log2", "sin")
    })
