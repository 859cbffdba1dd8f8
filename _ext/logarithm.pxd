# cython: cdivision=True
"""Natural logarithms of positive float32 numbers, without a branch or a call, for loops that become vectors.

The coefficients are minimax fits of the relative error, made for this file as those of `transcendental.pxd`.
"""

from libc.stdint cimport int32_t

cdef enum:
    ROOT_OF_HALF = 0x3F3504F3  # its bits
    MANTISSA = 23

cdef union LogBits:
    int32_t number
    float value


cdef inline float logarithm(float x) noexcept nogil:
    """Return ln x of a positive normal number, right to about one unit in the last place."""
    cdef LogBits bits
    cdef int32_t exponent
    cdef float f, p, e, square
    bits.value = x
    # x = 2^exponent (1 + f), 1 + f between the root of a half and that of 2.
    exponent = (bits.number - ROOT_OF_HALF) >> MANTISSA
    bits.number = bits.number - exponent * (1 << MANTISSA)
    f = bits.value - <float> 1.0
    e = <float> exponent
    p = <float> 0.0674664032
    p = p * f + <float> -0.1167565177
    p = p * f + <float> 0.1188816232
    p = p * f + <float> -0.1240558893
    p = p * f + <float> 0.1421955235
    p = p * f + <float> -0.1666799585
    p = p * f + <float> 0.2000211866
    p = p * f + <float> -0.250000096
    p = p * f + <float> 0.333333126
    square = f * f
    # ln 2 in two parts, of which the first one's product with an exponent is exact; small parts first.
    p = p * f * square + e * <float> -2.12194440e-4
    return e * <float> 0.693359375 + (f + (p - <float> 0.5 * square))
