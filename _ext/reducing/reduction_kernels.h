/* Sums, products and extremes of float32, float64 and whole numbers: over contiguous rows, and over the rows of a
   strip of columns.

   float32 is added and multiplied up in float64, so a result is rounded once. Whole numbers wrap around. The
   extremes of numbers with a NaN are NaN. */

#ifndef DM_REDUCTION_KERNELS_H
#define DM_REDUCTION_KERNELS_H

#include <math.h>
#include <stdint.h>
#ifdef __AVX2__
#include <immintrin.h>
#endif

/* Elements that are put together in lanes; longer rows are halved down to these. */
#define DM_LEAF 1024

typedef struct {
    int width;                                                              /* bytes of a result before rounding */
    void (*rows)(const void *x, Py_ssize_t count, Py_ssize_t size, void *results);  /* one after the other */
    void (*gather)(const void *results, Py_ssize_t count, void *result);    /* of results, into one */
    void (*start)(void *results, Py_ssize_t count);
    void (*join)(const void *more, Py_ssize_t count, void *results);        /* result by result */
    void (*columns)(const void *rows, Py_ssize_t count, Py_ssize_t stride, Py_ssize_t width, void *results);
} dm_reduction;

enum { DM_SUM, DM_PROD, DM_MAX, DM_MIN, DM_SQUARES, DM_MAGNITUDES, DM_NUMBERS, DM_REDUCTIONS };

#define DM_PLUS(a, b) ((a) + (b))
#define DM_TIMES(a, b) ((a) * (b))
#define DM_TIMES_WRAPPED(a, b) ((DM_WHOLE) (1u * (a) * (b)))  /* short types would become int, which may not wrap */
#define DM_LARGER(a, b) ((a) >= (b) ? (a) : (b))
#define DM_SMALLER(a, b) ((a) <= (b) ? (a) : (b))
/* Two choices after each other become vectors, one within the other a branch. */
#define DM_LARGER_OR_NAN(a, b) ({ A larger = (a) > (b) ? (a) : (b); (a) != (a) ? (a) : larger; })
#define DM_SMALLER_OR_NAN(a, b) ({ A smaller = (a) < (b) ? (a) : (b); (a) != (a) ? (a) : smaller; })
#define DM_AS_IS(x) (x)
#define DM_DOUBLE(x) ((double) (x))
#define DM_SQUARE(x) ((double) (x) * (double) (x))
#define DM_NUMBER(x) ((x) != (x) ? 0 : (x))
#define DM_MAGNITUDE(x) fabs((double) (x))

/* ---- vectors of eight and sixteen */
#ifdef __AVX2__
static inline __m256 dm_eight_of_bits(const uint16_t *x)
{
    const __m256i wide = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *) x));
    return _mm256_castsi256_ps(_mm256_slli_epi32(wide, 16));
}

/* Of sixteen those at even places and those at odd ones: no lane moves. */
static inline __m256 dm_even_of_bits(const uint16_t *x)
{
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_loadu_si256((const __m256i *) x), 16));
}

static inline __m256 dm_odd_of_bits(const uint16_t *x)
{
    const __m256i upper = _mm256_set1_epi32((int) 0xffff0000u);
    return _mm256_castsi256_ps(_mm256_and_si256(_mm256_loadu_si256((const __m256i *) x), upper));
}

/* NaNs count as 0. */
static inline __m256 dm_eight_numbers(__m256 x)
{
    return _mm256_and_ps(x, _mm256_cmp_ps(x, x, _CMP_ORD_Q));
}
#define DM_EIGHT_NUMBERS(x) dm_eight_numbers(_mm256_loadu_ps(x))
#define DM_EIGHT_NUMBERS_OF_BITS(x) dm_eight_numbers(dm_eight_of_bits(x))
#define DM_EVEN_NUMBERS_OF_BITS(x) dm_eight_numbers(dm_even_of_bits(x))
#define DM_ODD_NUMBERS_OF_BITS(x) dm_eight_numbers(dm_odd_of_bits(x))
#endif
#ifdef __AVX512F__
/* The halves of sixteen, in float64. */
#define DM_LOWER(x) _mm512_cvtps_pd(_mm512_castps512_ps256(x))
#define DM_UPPER(x) _mm512_cvtps_pd(_mm512_extractf32x8_ps(x, 1))

static inline __m512 dm_sixteen_of_bits(const uint16_t *x)
{
    const __m512i wide = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *) x));
    return _mm512_castsi512_ps(_mm512_slli_epi32(wide, 16));
}

static inline __m512 dm_sixteen_numbers(__m512 x)
{
    return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(x, x, _CMP_ORD_Q), x);
}
#define DM_SIXTEEN_NUMBERS(x) dm_sixteen_numbers(_mm512_loadu_ps(x))
#define DM_SIXTEEN_NUMBERS_OF_BITS(x) dm_sixteen_numbers(dm_sixteen_of_bits(x))
#endif

/* ---- floats; -0 changes no sum */
#define NAME(part) dm_sum_float_##part
#define T float
#define A double
#define VALUE DM_DOUBLE
#define BOTH DM_PLUS
#define START -0.0
#define QUAD
#define EIGHT _mm256_loadu_ps
#define SIXTEEN _mm512_loadu_ps
#include "reduction_template.h"

#define NAME(part) dm_prod_float_##part
#define T float
#define A double
#define VALUE DM_DOUBLE
#define BOTH DM_TIMES
#define START 1.0
#include "reduction_template.h"

#define NAME(part) dm_max_float_##part
#define T float
#define A float
#define VALUE DM_AS_IS
#define BOTH DM_LARGER_OR_NAN
#define START -INFINITY
#include "reduction_template.h"

#define NAME(part) dm_min_float_##part
#define T float
#define A float
#define VALUE DM_AS_IS
#define BOTH DM_SMALLER_OR_NAN
#define START INFINITY
#include "reduction_template.h"

#define NAME(part) dm_squares_float_##part
#define T float
#define A double
#define VALUE DM_SQUARE
#define BOTH DM_PLUS
#define START -0.0
#include "reduction_template.h"

#define NAME(part) dm_magnitudes_float_##part
#define T float
#define A double
#define VALUE DM_MAGNITUDE
#define BOTH DM_PLUS
#define START -0.0
#include "reduction_template.h"

#define NAME(part) dm_sum_double_##part
#define T double
#define A double
#define VALUE DM_AS_IS
#define BOTH DM_PLUS
#define START -0.0
#define QUAD
#include "reduction_template.h"

#define NAME(part) dm_prod_double_##part
#define T double
#define A double
#define VALUE DM_AS_IS
#define BOTH DM_TIMES
#define START 1.0
#include "reduction_template.h"

#define NAME(part) dm_max_double_##part
#define T double
#define A double
#define VALUE DM_AS_IS
#define BOTH DM_LARGER_OR_NAN
#define START -INFINITY
#include "reduction_template.h"

#define NAME(part) dm_min_double_##part
#define T double
#define A double
#define VALUE DM_AS_IS
#define BOTH DM_SMALLER_OR_NAN
#define START INFINITY
#include "reduction_template.h"

#define NAME(part) dm_squares_double_##part
#define T double
#define A double
#define VALUE DM_SQUARE
#define BOTH DM_PLUS
#define START -0.0
#include "reduction_template.h"

#define NAME(part) dm_magnitudes_double_##part
#define T double
#define A double
#define VALUE DM_MAGNITUDE
#define BOTH DM_PLUS
#define START -0.0
#include "reduction_template.h"

/* Without NaNs. */
#define NAME(part) dm_numbers_float_##part
#define T float
#define A double
#define VALUE DM_DOUBLE
#define ELEMENT DM_NUMBER
#define BOTH DM_PLUS
#define START -0.0
#define QUAD
#define EIGHT DM_EIGHT_NUMBERS
#define SIXTEEN DM_SIXTEEN_NUMBERS
#include "reduction_template.h"

#define NAME(part) dm_numbers_double_##part
#define T double
#define A double
#define VALUE DM_AS_IS
#define ELEMENT DM_NUMBER
#define BOTH DM_PLUS
#define START -0.0
#define QUAD
#include "reduction_template.h"

/* ---- bfloat16 as its bits, with the arithmetic of float32 */
static inline float dm_bits_value(uint16_t x)
{
    const union { uint32_t bits; float value; } wide = {(uint32_t) x << 16};
    return wide.value;
}
#define DM_OF_BITS(x) dm_bits_value(x)
#define DM_NUMBER_OF_BITS(x) DM_NUMBER(dm_bits_value(x))

#define NAME(part) dm_sum_bits_##part
#define T uint16_t
#define A double
#define VALUE DM_DOUBLE
#define ELEMENT DM_OF_BITS
#define BOTH DM_PLUS
#define START -0.0
#define QUAD
#define EIGHT dm_eight_of_bits
#define SIXTEEN dm_sixteen_of_bits
#define EVEN dm_even_of_bits
#define ODD dm_odd_of_bits
#include "reduction_template.h"

#define NAME(part) dm_numbers_bits_##part
#define T uint16_t
#define A double
#define VALUE DM_DOUBLE
#define ELEMENT DM_NUMBER_OF_BITS
#define BOTH DM_PLUS
#define START -0.0
#define QUAD
#define EIGHT DM_EIGHT_NUMBERS_OF_BITS
#define SIXTEEN DM_SIXTEEN_NUMBERS_OF_BITS
#define EVEN DM_EVEN_NUMBERS_OF_BITS
#define ODD DM_ODD_NUMBERS_OF_BITS
#include "reduction_template.h"

/* Squares of bfloat16 are exact in float32. Whether their sum stays within its range, with all that counts: then it is
   written. Rows shorter than the lanes are not tried. */
static inline int dm_squares_in_float(const uint16_t *x, Py_ssize_t size, double *sum)
{
    enum { TOGETHER = 128 };
    float lanes[TOGETHER];
    Py_ssize_t i = 0;
    if (size < TOGETHER) return 0;
    for (int k = 0; k < TOGETHER; k++) lanes[k] = 0;
    for (; i + TOGETHER <= size; i += TOGETHER)
        for (int k = 0; k < TOGETHER; k++) lanes[k] += dm_bits_value(x[i + k]) * dm_bits_value(x[i + k]);
    for (; i < size; i++) lanes[i % TOGETHER] += dm_bits_value(x[i]) * dm_bits_value(x[i]);
    #pragma GCC unroll 16
    for (int half = TOGETHER / 2; half > 0; half /= 2)
        for (int k = 0; k < half; k++) lanes[k] += lanes[k + half];
    *sum = lanes[0];
    return lanes[0] >= 0x1p-90f && lanes[0] < INFINITY; /* what 1024 squares below 2^-126 lose is no bit of that */
}
#define DM_SQUARE_OF_BITS(x) DM_SQUARE(dm_bits_value(x))

#define NAME(part) dm_squares_bits_##part
#define T uint16_t
#define A double
#define VALUE DM_SQUARE_OF_BITS
#define BOTH DM_PLUS
#define START -0.0
#define QUICK dm_squares_in_float
#include "reduction_template.h"

#define NAME(part) dm_max_bits_##part
#define T uint16_t
#define A float
#define VALUE DM_OF_BITS
#define BOTH DM_LARGER_OR_NAN
#define START -INFINITY
#include "reduction_template.h"

#define NAME(part) dm_min_bits_##part
#define T uint16_t
#define A float
#define VALUE DM_OF_BITS
#define BOTH DM_SMALLER_OR_NAN
#define START INFINITY
#include "reduction_template.h"

/* ---- whole numbers: unsigned sums and products wrap around as the signed ones do in two's complement */

#define DM_WHOLE uint8_t
#define DM_WHOLE_NAME(op, part) dm_##op##_uint8_##part
#define DM_LEAST 0
#define DM_MOST UINT8_MAX
#include "reduction_whole.h"
#define DM_WHOLE uint16_t
#define DM_WHOLE_NAME(op, part) dm_##op##_uint16_##part
#define DM_LEAST 0
#define DM_MOST UINT16_MAX
#include "reduction_whole.h"
#define DM_WHOLE uint32_t
#define DM_WHOLE_NAME(op, part) dm_##op##_uint32_##part
#define DM_LEAST 0
#define DM_MOST UINT32_MAX
#include "reduction_whole.h"
#define DM_WHOLE uint64_t
#define DM_WHOLE_NAME(op, part) dm_##op##_uint64_##part
#define DM_LEAST 0
#define DM_MOST UINT64_MAX
#include "reduction_whole.h"
#define DM_SIGNED
#define DM_WHOLE int8_t
#define DM_WHOLE_NAME(op, part) dm_##op##_int8_##part
#define DM_LEAST INT8_MIN
#define DM_MOST INT8_MAX
#include "reduction_whole.h"
#define DM_WHOLE int16_t
#define DM_WHOLE_NAME(op, part) dm_##op##_int16_##part
#define DM_LEAST INT16_MIN
#define DM_MOST INT16_MAX
#include "reduction_whole.h"
#define DM_WHOLE int32_t
#define DM_WHOLE_NAME(op, part) dm_##op##_int32_##part
#define DM_LEAST INT32_MIN
#define DM_MOST INT32_MAX
#include "reduction_whole.h"
#define DM_WHOLE int64_t
#define DM_WHOLE_NAME(op, part) dm_##op##_int64_##part
#define DM_LEAST INT64_MIN
#define DM_MOST INT64_MAX
#include "reduction_whole.h"

#define DM_FLOAT_ROW(kind) \
    {&dm_sum_##kind##_reduction, &dm_prod_##kind##_reduction, &dm_max_##kind##_reduction, \
     &dm_min_##kind##_reduction, &dm_squares_##kind##_reduction, &dm_magnitudes_##kind##_reduction, \
     &dm_numbers_##kind##_reduction}
#define DM_WHOLE_ROW(bits) \
    {&dm_sum_uint##bits##_reduction, &dm_prod_uint##bits##_reduction, &dm_max_uint##bits##_reduction, \
     &dm_min_uint##bits##_reduction, NULL, NULL, NULL}
#define DM_SIGNED_ROW(bits) \
    {&dm_sum_uint##bits##_reduction, &dm_prod_uint##bits##_reduction, &dm_max_int##bits##_reduction, \
     &dm_min_int##bits##_reduction, NULL, NULL, NULL}

/* float, double; then whole numbers by the logarithm of their size: signed, unsigned. */
static const dm_reduction *const dm_reductions[10][DM_REDUCTIONS] = {
    DM_FLOAT_ROW(float), DM_FLOAT_ROW(double),
    DM_SIGNED_ROW(8), DM_WHOLE_ROW(8), DM_SIGNED_ROW(16), DM_WHOLE_ROW(16),
    DM_SIGNED_ROW(32), DM_WHOLE_ROW(32), DM_SIGNED_ROW(64), DM_WHOLE_ROW(64)};

/* Of bfloat16's bits; NULL for those that are widened before. */
static const dm_reduction *const dm_bits_reductions[DM_REDUCTIONS] = {
    &dm_sum_bits_reduction, NULL, &dm_max_bits_reduction, &dm_min_bits_reduction,
    &dm_squares_bits_reduction, NULL, &dm_numbers_bits_reduction};

#endif
