# cython: cdivision=True
"""exp, tanh and the like, in float32 written so that the compiler makes vectors of them.

A literal that meets a float32 is cast, as C takes a bare one for a float64 and the whole
expression with it, which costs half the speed.

A loop that calls libm stays scalar. For float32 these are a range reduction and a polynomial,
without a branch or a call; float64 goes to libm. The coefficients are minimax fits of the
relative error, made for this file with Lawson's iteration on Chebyshev nodes.
"""

from cython cimport floating
from libc cimport math
from libc.stdint cimport int32_t, uint32_t

cdef enum:
    EXPONENT_BIAS = 127
    MANTISSA_BITS = 23


cdef union Bits:
    int32_t number
    float value


cdef inline float power_of_two(int32_t exponent) noexcept nogil:
    """Return 2^exponent for a normal float32."""
    cdef Bits bits
    bits.number = (exponent + EXPONENT_BIAS) << MANTISSA_BITS
    return bits.value


cdef inline floating exponential(floating x) noexcept nogil:
    """Return e^x; in float32 with an error below 2 units in the last place.

    x = n ln 2 + r with |r| <= ln 2 / 2, and e^x = 2^n e^r. ln 2 is split into a part of 12 bits,
    whose product with n is exact, and the rest. 2^n is applied in two halves, so that results
    below the normal range lose their bits gradually and those above it become infinite.
    """
    cdef float bounded, shifted, n, r, p
    cdef int32_t exponent, half
    if floating is double:
        return math.exp(x)
    else:
        bounded = <float> 89.0 if x > <float> 89.0 else x
        bounded = <float> -104.0 if bounded < <float> -104.0 else bounded
        # 1.5 * 2^23: adding it leaves no bit for a fraction, so the sum is rounded to an integer.
        shifted = bounded * <float> 1.4426950408889634 + <float> 12582912.0
        n = shifted - <float> 12582912.0
        r = bounded - n * <float> 0.693115234375
        r = r - n * <float> 3.194618494528623e-05
        p = <float> 0.001381314454
        p = p * r + <float> 0.008369418832
        p = p * r + <float> 0.041668456787
        p = p * r + <float> 0.166665147914
        p = p * r + <float> 0.499999930507
        p = p * (r * r) + r + <float> 1.0
        exponent = <int32_t> n
        half = exponent >> 1
        return p * power_of_two(half) * power_of_two(exponent - half)


cdef inline floating falling_exponential(floating x) noexcept nogil:
    """Return e^x of an x that is not positive; in float32 by fewer steps than `exponential`, and 0 below e^-87."""
    cdef Bits shifted, scale
    cdef float bounded, n, r, p
    if floating is double:
        return math.exp(x)
    else:
        bounded = <float> -87.0 if x < <float> -87.0 else x
        shifted.value = bounded * <float> 1.4426950408889634 + <float> 12582912.0
        n = shifted.value - <float> 12582912.0
        r = bounded - n * <float> 0.693115234375
        r = r - n * <float> 3.194618494528623e-05
        p = <float> 0.001381314454
        p = p * r + <float> 0.008369418832
        p = p * r + <float> 0.041668456787
        p = p * r + <float> 0.166665147914
        p = p * r + <float> 0.499999930507
        p = p * (r * r) + r + <float> 1.0
        # The low bits of the sum are n; those above fall out of the word.
        scale.number = <int32_t> ((<uint32_t> shifted.number + <uint32_t> EXPONENT_BIAS) << MANTISSA_BITS)
        return <float> 0.0 if x < <float> -87.0 else p * scale.value


cdef inline floating sigmoid(floating x) noexcept nogil:
    """Return 1 / (1 + e^-x); in float32 with an error below 2 units in the last place."""
    # The literals make this float64: in float32 two more roundings would be seen.
    return 1 / (1 + exponential(-x))


cdef inline floating hyperbolic_tangent(floating x) noexcept nogil:
    """Return tanh(x); in float32 with an error below 3 units in the last place.

    Near zero, where 1 - e^-2x would cancel, an odd polynomial takes over.
    """
    cdef float size, square, near, far, e
    if floating is double:
        return math.tanh(x)
    else:
        size = x if x >= 0 else -x
        square = x * x
        near = <float> -0.005704986926
        near = near * square + <float> 0.020639087157
        near = near * square + <float> -0.053739715048
        near = near * square + <float> 0.133314421975
        near = near * square + <float> -0.33333281942
        near = near * square * x + x
        e = exponential[float](<float> -2.0 * size)
        far = (<float> 1.0 - e) / (<float> 1.0 + e)
        far = far if x >= 0 else -far
        return far if size >= <float> 0.625 else near


cdef inline floating error_function(floating x) noexcept nogil:
    """Return erf(x); in float32 with an error below 3 units in the last place.

    Near zero an odd polynomial; beyond, 1 - e^-g with a polynomial g = -log(erfc(|x|)). From 4 on
    float32 knows no difference to 1.
    """
    cdef float size, square, near, far
    if floating is double:
        return math.erf(x)
    else:
        size = x if x >= 0 else -x
        size = <float> 4.0 if size > <float> 4.0 else size
        square = x * x
        near = <float> 8.193779832405e-05
        near = near * square + <float> -0.0008099877548485
        near = near * square + <float> 0.005197154879979
        near = near * square + <float> -0.02685779165083
        near = near * square + <float> 0.1128366565377
        near = near * square + <float> -0.3761263172811
        near = near * square + <float> 1.128379166421
        far = <float> 2.133454890419e-05
        far = far * size + <float> -0.0004372383161194
        far = far * size + <float> 0.004184550524796
        far = far * size + <float> -0.02515506080717
        far = far * size + <float> 0.1083353979428
        far = far * size + <float> 0.6332964410146
        far = far * size + <float> 1.129540010623
        far = far * size + <float> -0.0001799255422749
        far = <float> 1.0 - exponential[float](-far)
        far = far if x >= 0 else -far
        return far if size >= <float> 0.94 else near * x
