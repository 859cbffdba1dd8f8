# cython: cdivision=True
"""exp, tanh and the like, in float32 written so that the compiler makes vectors of them.

A literal that meets a float32 is cast, as C takes a bare one for a float64 and the whole
expression with it, which costs half the speed.

A loop that calls libm stays scalar. For float32 these are a range reduction and a polynomial,
without a branch or a call; so they are for float64 where `wide_exponential` is all that it takes,
and the rest goes to libm. The float32 coefficients are minimax fits of the relative error, made for
this file with Lawson's iteration on Chebyshev nodes.
"""

from cython cimport floating
from libc cimport math
from libc.stdint cimport int32_t, int64_t, uint32_t

cdef enum:
    EXPONENT_BIAS = 127
    WIDE_MANTISSA_BITS = 52
    MANTISSA_BITS = 23
    SIGN = -0x80000000
    # `lifted_exponential` is LIFT, a power of two, times the exponential, and takes no x below LOWEST.
    LIFT = 1 << 24
    LOWEST = -105

cdef extern from *:
    """
    static inline float dm_hidden(float x) { volatile float y = x; return y; }
    """
    # The same number, unknown to the compiler: with a bound that it knows, gcc makes a comparison and
    # a blend of what with an unknown one becomes a vector's minimum or maximum.
    float hidden "dm_hidden"(float x) noexcept nogil

cdef extern from "growth.h" nogil:
    # e^r - 1 for |r| <= ln 2 / 2.
    float growth_near_zero "dm_growth_near_zero"(float r) noexcept nogil


cdef union Bits:
    int32_t number
    float value


cdef union WideBits:
    int64_t number
    double value


cdef inline float exponential_near_zero(float r) noexcept nogil:
    """Return e^r for |r| <= ln 2 / 2."""
    return growth_near_zero(r) + <float> 1.0


cdef inline float size_up_to(float x, float most) noexcept nogil:
    """Return the smaller one of |x| and `most`, which also stands for NaN.

    The bits of positive numbers are in the numbers' order, and a minimum of integers is one
    instruction, no choice that the compiler could draw to the end of the caller's expression.
    """
    cdef Bits bits, bound
    bits.value = x
    bound.value = most
    bits.number = bits.number & 0x7FFFFFFF
    bits.number = min(bits.number, bound.number)
    return bits.value


cdef inline float normal_exponential(float x) noexcept nogil:
    """Return e^x for -88 < x <= 88, and 0 at -88: 2^n is a float32 whose bits come out of the rounding."""
    cdef float n, r
    cdef Bits shifted
    # 1.5 * 2^23: adding it leaves no bit for a fraction, so the sum is rounded to an integer, to which
    # the bias of an exponent comes.
    shifted.value = x * <float> 1.4426950408889634 + <float> 12583039.0
    n = shifted.value - <float> 12583039.0
    r = x - n * <float> 0.693115234375
    r = r - n * <float> 3.194618494528623e-05
    shifted.number = shifted.number << MANTISSA_BITS
    return exponential_near_zero(r) * shifted.value


cdef inline float power_of_two_near_zero(float f) noexcept nogil:
    """Return 2^f to 1.1e-7 of it for |f| <= 0.5."""
    cdef float p = <float> 0.00132647271237
    p = p * f + <float> 0.00967151264483
    p = p * f + <float> 0.055507337435
    p = p * f + <float> 0.240222420853
    p = p * f + <float> 0.693146977599
    return p * f + <float> 1.0


cdef inline floating lifted_exponential(floating x) noexcept nogil:
    """Return `LIFT` e^x for `LOWEST` <= x <= 70; in float32 0 at `LOWEST`.

    The float32 is right to 3e-7 + 2e-8 |x| of it, without FMA to 3e-7 + 6e-8 |x|: a difference x was
    rounded by as much.

    Multiplied by a factor that has 1 / `LIFT` in it, it becomes e^x times the rest of the factor, of
    which those below the normal range lose their bits gradually. So no second scaling is needed.
    """
    cdef float n
    cdef Bits shifted
    if floating is double:
        return math.exp(x) * LIFT
    else:
        # Rounded as in normal_exponential. To the bias come the 24 of LIFT: at LOWEST the sum is 0.
        shifted.value = x * <float> 1.4426950408889634 + <float> 12583063.0
        n = shifted.value - <float> 12583063.0
        shifted.number = shifted.number << MANTISSA_BITS
        return power_of_two_near_zero(x * <float> 1.4426950408889634 - n) * shifted.value


cdef inline floating power_of_two_real(floating x, float lowest, float highest) noexcept nogil:
    """Return 2^x; in float32 to 1.5e-7 of it, but never below 2^-126 and infinite from 127.5.

    The bounds are hidden(-126) and hidden(128).

    x itself is rounded to an integer and a fraction, so the error of an x that is a product, worth
    more the larger it is, stays in: it is meant for factors that are then small.
    """
    cdef float bounded, r
    cdef Bits shifted
    if floating is double:
        return math.exp2(x)
    else:
        # Written such that a NaN stays one.
        bounded = highest if highest < x else x
        bounded = lowest if lowest > bounded else bounded
        shifted.value = bounded + <float> 12583039.0
        r = bounded - (shifted.value - <float> 12583039.0)
        shifted.number = shifted.number << MANTISSA_BITS
        return power_of_two_near_zero(r) * shifted.value


cdef inline floating falling_exponential(floating x) noexcept nogil:
    """Return e^x of an x that is not positive; in float32 by fewer steps than `exponential`, and 0 below e^-87."""
    cdef Bits shifted, scale
    cdef float bounded, n, r
    if floating is double:
        return math.exp(x)
    else:
        bounded = <float> -87.0 if x < <float> -87.0 else x
        shifted.value = bounded * <float> 1.4426950408889634 + <float> 12582912.0
        n = shifted.value - <float> 12582912.0
        r = bounded - n * <float> 0.693115234375
        r = r - n * <float> 3.194618494528623e-05
        # The low bits of the sum are n; those above fall out of the word.
        scale.number = <int32_t> ((<uint32_t> shifted.number + <uint32_t> EXPONENT_BIAS) << MANTISSA_BITS)
        return <float> 0.0 if x < <float> -87.0 else exponential_near_zero(r) * scale.value


cdef inline double wide_exponential(double x, double less) noexcept nogil:
    """Return e^x - `less`, which is 0 or 1, right to 3e-16 of it; e^x is 0 below -708.7, infinite from 709.4 on."""
    cdef double n, r, bounded
    cdef double p = 1.6059043836821613e-10
    cdef WideBits shifted
    # Written such that a NaN stays one. At 710, 2^n is infinite and the polynomial positive; at -709, 2^n is 0.
    bounded = 710.0 if x > 709.4 else x
    bounded = -709.0 if -709.0 > bounded else bounded
    # 1.5 * 2^52, to which the bias of an exponent comes: rounded as in normal_exponential.
    shifted.value = bounded * 1.4426950408889634 + 6755399441056767.0
    n = shifted.value - 6755399441056767.0
    # ln 2 in two parts, of which the first one's product with n is exact.
    r = bounded - n * 0.6931471803691238
    r = r - n * 1.9082149292705877e-10
    shifted.number = shifted.number << WIDE_MANTISSA_BITS
    # Taylor's series of e^r - 1: for |r| <= ln 2 / 2 what is left out is below 1e-17 of it.
    p = p * r + 2.08767569878681e-09
    p = p * r + 2.505210838544172e-08
    p = p * r + 2.755731922398589e-07
    p = p * r + 2.7557319223985893e-06
    p = p * r + 2.48015873015873e-05
    p = p * r + 0.0001984126984126984
    p = p * r + 0.001388888888888889
    p = p * r + 0.008333333333333333
    p = p * r + 0.041666666666666664
    p = p * r + 0.16666666666666666
    p = p * r + 0.5
    p = p * (r * r) + r
    return p * shifted.value + (shifted.value - less)


cdef inline floating exponential_less_one(floating x, float lowest, float highest) noexcept nogil:
    """Return e^x - 1, right to 2e-7 of it also near 0; in float32 infinite from 88.37 on.

    The bounds are hidden(-88) and hidden(88.37).
    """
    cdef float n, r, bounded
    cdef Bits shifted
    if floating is double:
        return wide_exponential(x, 1.0)
    else:
        # Written such that a NaN stays one. At 89, 2^n is infinite and the polynomial positive.
        bounded = <float> 89.0 if x > highest else x
        bounded = lowest if lowest > bounded else bounded
        # Rounded as in normal_exponential.
        shifted.value = bounded * <float> 1.4426950408889634 + <float> 12583039.0
        n = shifted.value - <float> 12583039.0
        r = bounded - n * <float> 0.693115234375
        r = r - n * <float> 3.194618494528623e-05
        shifted.number = shifted.number << MANTISSA_BITS
        return growth_near_zero(r) * shifted.value + (shifted.value - <float> 1.0)


cdef inline floating exponential_of_size(floating x, float lowest) noexcept nogil:
    """Return e^-|x|; in float32 0 from 88 on. `lowest` is hidden(-88)."""
    cdef Bits negative
    if floating is double:
        return wide_exponential(-math.fabs(x), 0.0)
    else:
        negative.value = x
        negative.number = negative.number | <int32_t> SIGN
        # Written such that a NaN stays one.
        return normal_exponential(lowest if lowest > negative.value else negative.value)


cdef inline floating log_of_one_plus(floating x) noexcept nogil:
    """Return log(1 + x) for 0 <= x <= 1; in float32 right to 2e-7 of it."""
    cdef floating p, z, q
    if floating is double:
        # 2 atanh(z), an odd polynomial.
        z = x / (2.0 + x)
        q = z * z
        p = 0.170441635627813981
        p = p * q + 0.0832450651186082058
        p = p * q + 0.121101687280692177
        p = p * q + 0.133003740326746243
        p = p * q + 0.153866140423040078
        p = p * q + 0.181817408325048045
        p = p * q + 0.222222240807476732
        p = p * q + 0.285714285454541145
        p = p * q + 0.400000000001857475
        p = p * q + 0.666666666666661496
        return (p * q + 2.0) * z
    else:
        p = <float> 0.005232692704
        p = p * x + <float> -0.02950523253
        p = p * x + <float> 0.0782259417
        p = p * x + <float> -0.1366324493
        p = p * x + <float> 0.1910600635
        p = p * x + <float> -0.2484298211
        p = p * x + <float> 0.3331909679
        p = p * x + <float> -0.4999949314
        p = p * x + <float> 0.9999999699
        return p * x


cdef inline floating sigmoid(floating x, float lowest) noexcept nogil:
    """Return 1 / (1 + e^-x); in float32 with an error below 2 units in the last place.

    The exponential is taken of -|x|: added to 1 it is the smaller one, so that the sum's rounding
    error can be known and taken from the quotient. `lowest` is hidden(-88).
    """
    cdef floating e, part, whole, share, lost
    e = exponential_of_size(x, lowest)
    if floating is double:
        return (e if x < 0 else 1.0) / (1.0 + e)
    else:
        whole = <float> 1.0 + e
        part = e if x < 0 else <float> 1.0
        share = part / whole
        lost = e - (whole - <float> 1.0)
        # A line is near enough to 1 / whole between 1 and 2.
        return share - share * lost * (<float> 1.457 - <float> 0.5 * whole)


cdef inline floating hyperbolic_tangent(floating x) noexcept nogil:
    """Return tanh(x); in float32 with an error below 3 units in the last place.

    Near zero, where 1 - e^-2x would cancel, an odd polynomial takes over.
    """
    cdef floating square, near, e
    cdef Bits far, sign
    if floating is double:
        e = wide_exponential(-2.0 * math.fabs(x), 1.0)
        return math.copysign(e / (e + 2.0), x)
    else:
        square = x * x
        near = <float> -0.005704986926
        near = near * square + <float> 0.020639087157
        near = near * square + <float> -0.053739715048
        near = near * square + <float> 0.133314421975
        near = near * square + <float> -0.33333281942
        near = near * square * x + x
        e = normal_exponential(<float> -2.0 * size_up_to(x, <float> 43.0))
        far.value = (<float> 1.0 - e) / (<float> 1.0 + e)
        sign.value = x
        far.number = far.number | (sign.number & <int32_t> SIGN)
        # square, unlike the size, is NaN where x is.
        return far.value if square >= <float> 0.390625 else near


cdef inline floating bell(floating x) noexcept nogil:
    """Return e^(-x^2 / 2); in float32 0 from |x| = 13.27 on and for NaN."""
    cdef float square, n
    cdef Bits shifted
    if floating is double:
        return math.exp2(-0.7213475204444817 * x * x)
    else:
        square = size_up_to(x, <float> 13.27)
        square = square * square
        # Rounded as in normal_exponential: at 13.27 the exponent's bits are 0.
        shifted.value = square * <float> -0.7213475204444817 + <float> 12583039.0
        n = shifted.value - <float> 12583039.0
        shifted.number = shifted.number << MANTISSA_BITS
        return power_of_two_near_zero(square * <float> -0.7213475204444817 - n) * shifted.value


cdef inline floating normal_share(floating x, floating bell_of_x) noexcept nogil:
    """Return P(X <= x), X standard normal; in float32 to 2e-7, and 0 for NaN.

    P(X <= -s) is e^(-s^2 / 2) times a slowly falling function of s, here a quotient of
    polynomials whose terms are all positive. So a small share does not come of a difference.
    """
    cdef float size, above, below, tail
    if floating is double:
        return 0.5 * math.erfc(-0.7071067811865476 * x)
    else:
        size = size_up_to(x, <float> 13.27)
        above = <float> 0.004037007074610948
        above = above * size + <float> 0.0400981330841459
        above = above * size + <float> 0.1816460708073777
        above = above * size + <float> 0.4361466077751898
        above = above * size + <float> 0.5000000025664155
        below = <float> 0.010119137243410624
        below = below * size + <float> 0.10051832369434996
        below = below * size + <float> 0.4652758518674449
        below = below * size + <float> 1.1958972513591613
        below = below * size + <float> 1.6701781449948285
        below = below * size + <float> 1.0
        tail = bell_of_x * above / below
        return <float> 1.0 - tail if x >= 0 else tail
