# cython: cdivision=True
"""Natural logarithms of normal float32 numbers, without a branch or a call, for loops that become vectors."""

from transcendental cimport MANTISSA_BITS, Bits


cdef inline float normal_logarithm(float x, float lifted) noexcept nogil:
    """Return log(x) less `lifted` ln 2 of an x in the normal range, to 0.9 units in the last place.

    Of a mantissa between sqrt(1/2) and sqrt(2), f off 1, a polynomial (Lawson's iteration on Chebyshev
    nodes, for the relative error of the logarithm) follows the first two terms of the series.
    """
    cdef Bits mantissa
    cdef float exponent, f, p, square
    cdef int raised
    mantissa.value = x
    # From the bits of sqrt(1/2) on the exponent is one more.
    raised = (mantissa.number - 0x3F3504F3) >> MANTISSA_BITS
    mantissa.number = mantissa.number - (raised << MANTISSA_BITS)
    exponent = <float> raised - lifted
    f = mantissa.value - <float> 1.0
    p = <float> -0.07634497756913829
    p = p * f + <float> 0.12761577535614776
    p = p * f + <float> -0.13160182161841927
    p = p * f + <float> 0.1420175791698065
    p = p * f + <float> -0.16623357359724686
    p = p * f + <float> 0.2000122688021576
    p = p * f + <float> -0.25000821033939913
    p = p * f + <float> 0.33333331707663466
    square = f * f
    p = p * f * square
    # ln 2 in two parts, of which the first one's product with the exponent is exact.
    p = p + exponent * <float> -2.12194440054690583e-4
    p = p - <float> 0.5 * square
    return f + p + exponent * <float> 0.693359375
