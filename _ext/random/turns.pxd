"""Sines and cosines of parts of a turn, in float32, without branches."""

from libc cimport math


cdef inline float sine_of_quarter(float x) noexcept nogil:
    """Return sin(2 pi x) for |x| <= 1/4."""
    cdef float square = x * x
    cdef float p = <float> -14.38139848
    p = p * square + <float> 42.00779849
    p = p * square + <float> -76.70417034
    p = p * square + <float> 81.60522369
    p = p * square + <float> -41.3417021
    return (p * square + <float> 6.283185307) * x


cdef inline float sine(float turn) noexcept nogil:
    """Return sin(2 pi turn) for |turn| <= 1/2."""
    return sine_of_quarter(math.copysignf(<float> 0.25 - math.fabsf(math.fabsf(turn) - <float> 0.25), turn))


cdef inline float cosine(float turn) noexcept nogil:
    """Return cos(2 pi turn) for |turn| <= 1/2."""
    return sine_of_quarter(<float> 0.25 - math.fabsf(turn))
