/* Vectors of bfloat16 widened to two of float32 and back; for rows as they lie AVX-512 has its own ways in narrow.pxd.
 *
 * With AVX2 and SSE4 unpacking and packing work on halves of 16 bytes, and undo each other's order; with AVX-512 the two
 * are those of even and of odd places. What is computed element by element in between needs no other.
 */
#ifndef DIST_MS_NARROW_VECTORS_H
#define DIST_MS_NARROW_VECTORS_H
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __AVX512F__
typedef __m512 dm_floats;
typedef __m512i dm_words;
#define DM_VECTOR(name) _mm512_##name
#define DM_REGISTER(name) _mm512_##name##_si512

enum { DM_PAIR = sizeof(dm_words) / 2 };

typedef struct { dm_floats low, high; } dm_pair;

static inline __m512i dm_bf16_rounded(__m512 x)
{
    /* The upper half of each number is its bfloat16: as in bfloat16.pxd, with masks for its choices. */
    const __m512i bits = _mm512_castps_si512(x);
    const __mmask16 is_odd = _mm512_test_epi32_mask(bits, _mm512_set1_epi32(0x10000));
    const __mmask16 is_nan = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
    const __m512i rounded = _mm512_add_epi32(
        bits, _mm512_mask_mov_epi32(_mm512_set1_epi32(0x7fff), is_odd, _mm512_set1_epi32(0x8000)));
    return _mm512_mask_or_epi32(rounded, is_nan, bits, _mm512_set1_epi32(0x400000));
}

static inline __attribute__((always_inline)) dm_pair dm_widen_pair(const uint16_t *from)
{
    const __m512i x = _mm512_loadu_si512(from), odd = _mm512_and_si512(x, _mm512_set1_epi32(0xffff0000));
    return (dm_pair) {_mm512_castsi512_ps(_mm512_slli_epi32(x, 16)), _mm512_castsi512_ps(odd)};
}

static inline __attribute__((always_inline)) dm_words dm_narrow_pair(dm_pair x)
{
    const __m512i even = _mm512_srli_epi32(dm_bf16_rounded(x.low), 16);
    return _mm512_mask_blend_epi16(0xaaaaaaaau, even, dm_bf16_rounded(x.high));
}
#else
#ifdef __AVX2__
typedef __m256 dm_floats;
typedef __m256i dm_words;
#define DM_VECTOR(name) _mm256_##name
#define DM_REGISTER(name) _mm256_##name##_si256
#define DM_AS_WORDS(x) _mm256_castps_si256(x)
#define DM_AS_FLOATS(x) _mm256_castsi256_ps(x)
#define DM_IS_NAN(x) _mm256_cmp_ps(x, x, _CMP_UNORD_Q)
#define DM_ABOVE(x, y) _mm256_cmp_ps(x, y, _CMP_GT_OQ)
#else
typedef __m128 dm_floats;
typedef __m128i dm_words;
#define DM_VECTOR(name) _mm_##name
#define DM_REGISTER(name) _mm_##name##_si128
#define DM_AS_WORDS(x) _mm_castps_si128(x)
#define DM_AS_FLOATS(x) _mm_castsi128_ps(x)
#define DM_IS_NAN(x) _mm_cmpunord_ps(x, x)
#define DM_ABOVE(x, y) _mm_cmpgt_ps(x, y)
#endif

enum { DM_PAIR = sizeof(dm_words) / 2 };

typedef struct { dm_floats low, high; } dm_pair;

static inline __attribute__((always_inline)) dm_pair dm_widen_pair(const uint16_t *from)
{
    const dm_words zero = DM_REGISTER(setzero)(), x = DM_REGISTER(loadu)((const dm_words *) from);
    return (dm_pair) {DM_AS_FLOATS(DM_VECTOR(unpacklo_epi16)(zero, x)), DM_AS_FLOATS(DM_VECTOR(unpackhi_epi16)(zero, x))};
}

/* The bfloat16 of each number in its lower half: to the nearest, ties to even; a NaN stays one. */
static inline __attribute__((always_inline)) dm_words dm_narrow_words(dm_floats x)
{
    const dm_words bits = DM_AS_WORDS(x), odd = DM_REGISTER(and)(DM_VECTOR(srli_epi32)(bits, 16), DM_VECTOR(set1_epi32)(1));
    const dm_words rounded = DM_VECTOR(add_epi32)(DM_VECTOR(add_epi32)(bits, DM_VECTOR(set1_epi32)(0x7fff)), odd);
    const dm_words quiet = DM_REGISTER(or)(bits, DM_VECTOR(set1_epi32)(0x400000));
    return DM_VECTOR(srli_epi32)(DM_VECTOR(blendv_epi8)(rounded, quiet, DM_AS_WORDS(DM_IS_NAN(x))), 16);
}

static inline __attribute__((always_inline)) dm_words dm_narrow_pair(dm_pair x)
{
    return DM_VECTOR(packus_epi32)(dm_narrow_words(x.low), dm_narrow_words(x.high));
}

/* Numbers that lie side by side; returns how many it has done. */
static inline ptrdiff_t dm_narrow_row(const float *from, uint16_t *to, ptrdiff_t size)
{
    ptrdiff_t i = 0;
    for (; i + DM_PAIR <= size; i += DM_PAIR) {
        dm_words x = dm_narrow_pair(
            (dm_pair) {DM_VECTOR(loadu_ps)(from + i), DM_VECTOR(loadu_ps)(from + i + DM_PAIR / 2)});
#ifdef __AVX2__
        x = _mm256_permute4x64_epi64(x, 0xd8);
#endif
        DM_REGISTER(storeu)((dm_words *) (to + i), x);
    }
    return i;
}

#endif
#endif
