# cython: cdivision=True
"""The 16-bit floats in memory, float32 in registers: block conversions.

Narrowing rounds to the nearest value, ties to even; NaN stays NaN, too large becomes infinite.
"""

from libc.stdint cimport uint16_t

from bfloat16 cimport bf16_load, bf16_store

cdef extern from *:
    """
    #include <stdint.h>
    #include <string.h>
    #if defined(__F16C__) || defined(__AVX512F__)
    #include <immintrin.h>
    #endif

    static inline float dm_f16_widen(uint16_t h) {
        /* Scaling by 2^112 puts the exponent right, subnormals included. */
        uint32_t bits = (uint32_t) (h & 0x7fffu) << 13, wide;
        float x;
        memcpy(&x, &bits, 4);
        x *= 5192296858534827628530496329220096.0f;
        memcpy(&wide, &x, 4);
        if ((h & 0x7c00u) == 0x7c00u) wide = bits | 0x7f800000u;
        wide |= (uint32_t) (h & 0x8000u) << 16;
        memcpy(&x, &wide, 4);
        return x;
    }

    static inline uint16_t dm_f16_narrow(float x) {
        uint32_t bits, sign, small;
        float y;
        memcpy(&bits, &x, 4);
        sign = (bits >> 16) & 0x8000u;
        bits &= 0x7fffffffu;
        if (bits > 0x7f800000u) return (uint16_t) (sign | 0x7e00u | ((bits >> 13) & 0x3ffu));
        if (bits >= 0x477ff000u) return (uint16_t) (sign | 0x7c00u);
        if (bits < 0x38800000u) {  /* subnormal: adding 0.5 lets the adder round */
            memcpy(&y, &bits, 4);
            y += 0.5f;
            memcpy(&small, &y, 4);
            return (uint16_t) (sign | (small - 0x3f000000u));
        }
        bits += 0xfffu + ((bits >> 13) & 1u);
        return (uint16_t) (sign | ((bits - 0x38000000u) >> 13));
    }

    static inline void dm_f16_widen_block(const uint16_t *in, float *out, Py_ssize_t n) {
        Py_ssize_t i = 0;
    #if defined(__AVX512BW__) && defined(__AVX512VL__)
        for (; i < n; i += 16) {
            __mmask16 kept = n - i < 16 ? (__mmask16) ((1u << (n - i)) - 1) : 0xffffu;
            _mm512_mask_storeu_ps(out + i, kept, _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(kept, in + i)));
        }
    #elif defined(__F16C__)
        for (; i + 8 <= n; i += 8)
            _mm256_storeu_ps(out + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *) (in + i))));
    #endif
        for (; i < n; i++) out[i] = dm_f16_widen(in[i]);
    }

    static inline void dm_f16_narrow_block(const float *in, uint16_t *out, Py_ssize_t n) {
        Py_ssize_t i = 0;
    #if defined(__AVX512BW__) && defined(__AVX512VL__)
        for (; i < n; i += 16) {
            __mmask16 kept = n - i < 16 ? (__mmask16) ((1u << (n - i)) - 1) : 0xffffu;
            _mm256_mask_storeu_epi16(out + i, kept, _mm512_cvtps_ph(_mm512_maskz_loadu_ps(kept, in + i), 0));
        }
    #elif defined(__F16C__)
        for (; i + 8 <= n; i += 8)
            _mm_storeu_si128((__m128i *) (out + i), _mm256_cvtps_ph(_mm256_loadu_ps(in + i), 0));
    #endif
        for (; i < n; i++) out[i] = dm_f16_narrow(in[i]);
    }

    #include "narrow_vectors.h"

    /* The next two return how many numbers they have done: all with AVX-512. */
    #if defined(__AVX512BW__) && defined(__AVX512VL__)
    static inline Py_ssize_t dm_bf16_widen_vectors(const uint16_t *in, float *out, Py_ssize_t n) {
        Py_ssize_t i = 0;
        for (; i + 16 <= n; i += 16) {
            __m256i x = _mm256_loadu_si256((const __m256i *) (in + i));
            _mm512_storeu_si512(out + i, _mm512_slli_epi32(_mm512_cvtepu16_epi32(x), 16));
        }
        if (i < n) {
            __mmask16 kept = (__mmask16) ((1u << (n - i)) - 1);
            __m256i x = _mm256_maskz_loadu_epi16(kept, in + i);
            _mm512_mask_storeu_epi32(out + i, kept, _mm512_slli_epi32(_mm512_cvtepu16_epi32(x), 16));
        }
        return n;
    }

    static inline Py_ssize_t dm_bf16_narrow_vectors(const float *in, uint16_t *out, Py_ssize_t n) {
        static const uint16_t order[32] = {0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30,
                                           1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31};
        const __m512i places = _mm512_loadu_si512(order);
        Py_ssize_t i = 0;
        for (; i + 32 <= n; i += 32) {
            __m512i first = _mm512_srli_epi32(dm_bf16_rounded(_mm512_loadu_ps(in + i)), 16);
            __m512i second = dm_bf16_rounded(_mm512_loadu_ps(in + i + 16));
            first = _mm512_mask_blend_epi16(0xaaaaaaaau, first, second);
            _mm512_storeu_si512(out + i, _mm512_permutexvar_epi16(places, first));
        }
        for (; i < n; i += 16) {
            __mmask16 kept = n - i < 16 ? (__mmask16) ((1u << (n - i)) - 1) : 0xffffu;
            __m512i x = _mm512_srli_epi32(dm_bf16_rounded(_mm512_maskz_loadu_ps(kept, in + i)), 16);
            _mm256_mask_storeu_epi16(out + i, kept, _mm512_cvtepi32_epi16(x));
        }
        return n;
    }
    #else
    static inline Py_ssize_t dm_bf16_widen_vectors(const uint16_t *in, float *out, Py_ssize_t n) { return 0; }
    static inline Py_ssize_t dm_bf16_narrow_vectors(const float *in, uint16_t *out, Py_ssize_t n) {
        return dm_narrow_row(in, out, n);
    }
    #endif
    """
    void widen_float16 "dm_f16_widen_block"(
        const uint16_t *narrow, float *wide, Py_ssize_t size) noexcept nogil
    void narrow_float16 "dm_f16_narrow_block"(
        const float *wide, uint16_t *narrow, Py_ssize_t size) noexcept nogil
    Py_ssize_t widen_vectors "dm_bf16_widen_vectors"(
        const uint16_t *narrow, float *wide, Py_ssize_t size) noexcept nogil
    Py_ssize_t narrow_vectors "dm_bf16_narrow_vectors"(
        const float *wide, uint16_t *narrow, Py_ssize_t size) noexcept nogil


cdef inline void widen_bfloat16(const uint16_t *narrow, float *wide, Py_ssize_t size) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(widen_vectors(narrow, wide, size), size):
        wide[i] = bf16_load(narrow[i])


cdef inline void narrow_bfloat16(const float *wide, uint16_t *narrow, Py_ssize_t size) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(narrow_vectors(wide, narrow, size), size):
        narrow[i] = bf16_store(wide[i])
