"""bfloat16 as its 16 bits: to float32 and back, in loops that the compiler makes vectors of.

A bfloat16 is the upper half of a float32. NumPy has no such type, so arrays of it come as uint16
or as ml_dtypes' type of the same bits.
"""

from libc.stdint cimport int32_t, uint16_t, uint32_t

cdef enum:
    # All bits of a float32 but the sign; infinity; the bit that makes a NaN quiet.
    MAGNITUDE = 0x7FFFFFFF
    INFINITY_BITS = 0x7F800000
    QUIET_BITS = 0x400000


cdef union FloatBits:
    uint32_t bits
    float value


cdef inline float bf16_load(uint16_t x) noexcept nogil:
    """Return the float32 of the same value."""
    cdef FloatBits word
    word.bits = <uint32_t> x << 16
    return word.value


cdef inline uint16_t bf16_store(float x) noexcept nogil:
    """Return the nearest bfloat16, ties to the even one; a NaN stays a NaN of its sign."""
    cdef FloatBits word
    cdef uint32_t rounded, is_nan
    word.value = x
    # Just below half a unit, and one more where the kept part is odd: carries as rounding does.
    rounded = word.bits + <uint32_t> 0x7FFF + ((word.bits >> 16) & <uint32_t> 1)
    # All bits or none: a choice without a branch or a vector mask, which costs more beside another.
    is_nan = <uint32_t> (<int32_t> (INFINITY_BITS - (word.bits & <uint32_t> MAGNITUDE)) >> 31)
    rounded = (rounded & ~is_nan) | ((word.bits | <uint32_t> QUIET_BITS) & is_nan)
    return <uint16_t> (rounded >> 16)
