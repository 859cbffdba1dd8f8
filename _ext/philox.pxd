# cython: cdivision=True
"""Random words that follow from a key and a counter, so that each can be drawn alone and again.

Philox4x32-10 of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011.
"""

from libc.stdint cimport uint32_t, uint64_t

cdef enum:
    WORDS = 4
    ROUNDS = 10
    # Counters worked on side by side, one per vector lane.
    COUNTERS = 64


cdef inline void philox(
    uint64_t first, uint64_t offset, uint64_t seed, uint32_t *words
) noexcept nogil:
    """Write the words of the counters (first, offset), (first + 1, offset), ..., in order."""
    cdef uint32_t c0[COUNTERS]
    cdef uint32_t c1[COUNTERS]
    cdef uint32_t c2[COUNTERS]
    cdef uint32_t c3[COUNTERS]
    cdef uint32_t key_0 = <uint32_t> seed
    cdef uint32_t key_1 = <uint32_t> (seed >> 32)
    cdef uint64_t product_0, product_1
    cdef int i, _round
    for i in range(COUNTERS):
        c0[i] = <uint32_t> (first + <uint64_t> i)
        c1[i] = <uint32_t> ((first + <uint64_t> i) >> 32)
        c2[i] = <uint32_t> offset
        c3[i] = <uint32_t> (offset >> 32)
    for _round in range(ROUNDS):
        for i in range(COUNTERS):
            product_0 = <uint64_t> 0xD2511F53 * c0[i]
            product_1 = <uint64_t> 0xCD9E8D57 * c2[i]
            c0[i] = <uint32_t> (product_1 >> 32) ^ c1[i] ^ key_0
            c1[i] = <uint32_t> product_1
            c2[i] = <uint32_t> (product_0 >> 32) ^ c3[i] ^ key_1
            c3[i] = <uint32_t> product_0
        key_0 += <uint32_t> 0x9E3779B9
        key_1 += <uint32_t> 0xBB67AE85
    for i in range(COUNTERS):
        words[WORDS * i] = c0[i]
        words[WORDS * i + 1] = c1[i]
        words[WORDS * i + 2] = c2[i]
        words[WORDS * i + 3] = c3[i]


cdef inline uint32_t last_kept_of(double keep_prob) noexcept nogil:
    """Return the largest word whose element stays, of a probability in (0, 1]."""
    return <uint32_t> (max(<uint64_t> (keep_prob * 4294967296.0), 1) - 1)
