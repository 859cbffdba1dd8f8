"""Random words that follow from a key and a counter, so that each can be drawn alone and again.

Philox4x32-10 of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011,
with several counters side by side in the lanes of a vector.
"""

from libc.stdint cimport uint32_t, uint64_t

cdef enum:
    WORDS = 4
    COUNTERS = 64  # Counters whose words wait in the L1 cache.


# Each number of 32 bits has a lane of 64 for itself, so that one instruction multiplies it to 64;
# what is above its 32 bits is never read. gcc makes no such product of a loop.
cdef extern from *:
    """
    #include <immintrin.h>
    #include <stdint.h>
    #include <string.h>

    #ifdef __AVX2__
    typedef uint64_t dm_lanes __attribute__((vector_size(32)));
    #define DM_MULTIPLY(a, b) ((dm_lanes) _mm256_mul_epu32((__m256i) (a), (__m256i) (b)))
    #define DM_FIRST_LANES {0, 1, 2, 3}
    #define DM_LOW_PAIRS(a, b) __builtin_shuffle(a, b, (dm_lanes) {0, 4, 1, 5})
    #define DM_HIGH_PAIRS(a, b) __builtin_shuffle(a, b, (dm_lanes) {2, 6, 3, 7})
    #else
    typedef uint64_t dm_lanes __attribute__((vector_size(16)));
    #define DM_MULTIPLY(a, b) ((dm_lanes) _mm_mul_epu32((__m128i) (a), (__m128i) (b)))
    #define DM_FIRST_LANES {0, 1}
    #define DM_LOW_PAIRS(a, b) __builtin_shuffle(a, b, (dm_lanes) {0, 2})
    #define DM_HIGH_PAIRS(a, b) __builtin_shuffle(a, b, (dm_lanes) {1, 3})
    #endif
    #define DM_COUNTERS ((int) (sizeof(dm_lanes) / 8))
    /* Vectors worked on side by side: the rounds of one wait for each other. */
    #define DM_VECTORS 2

    static inline void dm_philox(uint64_t first, uint64_t offset, uint64_t seed, int counters, uint32_t *words) {
        const dm_lanes zero = {0}, low = zero + 0xFFFFFFFFu, steps = DM_FIRST_LANES;
        const dm_lanes multiplier_0 = zero + 0xD2511F53u, multiplier_1 = zero + 0xCD9E8D57u;
        for (int i = 0; i < counters; i += DM_VECTORS * DM_COUNTERS) {
            dm_lanes c0[DM_VECTORS], c1[DM_VECTORS], c2[DM_VECTORS], c3[DM_VECTORS], product_0, product_1;
            uint32_t key_0 = (uint32_t) seed, key_1 = (uint32_t) (seed >> 32);
            for (int v = 0; v < DM_VECTORS; v++) {
                c0[v] = zero + (first + (uint64_t) (i + v * DM_COUNTERS)) + steps;
                c1[v] = c0[v] >> 32;
                c2[v] = zero + offset;
                c3[v] = c2[v] >> 32;
            }
            #pragma GCC unroll 10
            for (int round = 0; round < 10; round++) {
                #pragma GCC unroll 2
                for (int v = 0; v < DM_VECTORS; v++) {
                    product_0 = DM_MULTIPLY(c0[v], multiplier_0);
                    product_1 = DM_MULTIPLY(c2[v], multiplier_1);
                    c0[v] = (product_1 >> 32) ^ c1[v] ^ (zero + key_0);
                    c2[v] = (product_0 >> 32) ^ c3[v] ^ (zero + key_1);
                    c1[v] = product_1;
                    c3[v] = product_0;
                }
                key_0 += 0x9E3779B9u;
                key_1 += 0xBB67AE85u;
            }
            for (int v = 0; v < DM_VECTORS; v++) {
                c0[v] = (c0[v] & low) | (c1[v] << 32);
                c2[v] = (c2[v] & low) | (c3[v] << 32);
                c1[v] = DM_LOW_PAIRS(c0[v], c2[v]);
                c3[v] = DM_HIGH_PAIRS(c0[v], c2[v]);
                memcpy(words + 4 * (i + v * DM_COUNTERS), &c1[v], sizeof c1[v]);
                memcpy(words + 4 * (i + v * DM_COUNTERS) + 2 * DM_COUNTERS, &c3[v], sizeof c3[v]);
            }
        }
    }
    """
    # Write the four words of each of `counters` (first, offset), (first + 1, offset), ...; a
    # multiple of 8 of them.
    void philox "dm_philox"(
        uint64_t first, uint64_t offset, uint64_t seed, int counters, uint32_t *words) noexcept nogil


cdef inline uint32_t last_kept_of(double keep_prob) noexcept nogil:
    """Return the largest word whose element stays, of a probability in (0, 1]."""
    return <uint32_t> (max(<uint64_t> (keep_prob * 4294967296.0), 1) - 1)
