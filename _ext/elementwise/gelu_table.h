/* GELU with erf and its derivative from tables: float32 on AVX-512, whose permutations look up 32 numbers at once.
 *
 * With s = |x| and the density f of a standard normal X, both follow from functions of s alone that fall to 0:
 *
 *     tail(s)  = P(X > s)            gelu(x)  = max(x, 0) - s tail(s)
 *     slope(s) = P(X > s) - s f(s)   gelu'(x) = slope(s) where x < 0, else 1 - slope(s)
 *
 * Interval i has its middle at i / 4, and there a polynomial in s - i / 4, which passes through the function at
 * Chebyshev's nodes. It is right to 2e-7 of the tail down to x = -3, and to 1e-13 where the last interval, from 7.625
 * on, puts 0. The coefficients are computed when the module is loaded: no list of numbers to trust. No exponential and
 * no division is left, so that large arrays take the time of their copy.
 */
#ifndef DIST_MS_GELU_TABLE_H
#define DIST_MS_GELU_TABLE_H

#include <stddef.h>

#if defined(__AVX512F__) && defined(__AVX512DQ__)

#include <immintrin.h>
#include <math.h>

#define DM_HAS_GELU_TABLE 1

enum { DM_INTERVALS = 32, DM_DEGREE = 5, DM_PER_UNIT = 4 };

typedef float dm_gelu_coefficients[DM_DEGREE + 1][DM_INTERVALS] __attribute__((aligned(64)));

static dm_gelu_coefficients dm_gelu_tails, dm_gelu_slopes;

static double dm_gelu_tail(double s) { return 0.5 * erfc(s * 0.7071067811865476); }

static double dm_gelu_slope(double s) { return dm_gelu_tail(s) - s * 0.3989422804014327 * exp(-0.5 * s * s); }

static void dm_fill_gelu_table(double (*function)(double), dm_gelu_coefficients table)
{
    double node[DM_DEGREE + 1], newton[DM_DEGREE + 1], power[DM_DEGREE + 2];
    /* The last interval stays 0. */
    for (int i = 0; i < DM_INTERVALS - 1; i++) {
        for (int k = 0; k <= DM_DEGREE; k++) {
            node[k] = cos(M_PI * (k + 0.5) / (DM_DEGREE + 1)) / (2 * DM_PER_UNIT);
            newton[k] = function((double) i / DM_PER_UNIT + node[k]);
            power[k] = 0;
        }
        for (int order = 1; order <= DM_DEGREE; order++)
            for (int k = DM_DEGREE; k >= order; k--)
                newton[k] = (newton[k] - newton[k - 1]) / (node[k] - node[k - order]);
        /* Newton's form, multiplied out from its innermost bracket. */
        for (int k = DM_DEGREE; k >= 0; k--) {
            for (int j = DM_DEGREE - k; j >= 1; j--) power[j] = power[j - 1] - node[k] * power[j];
            power[0] = newton[k] - node[k] * power[0];
        }
        for (int k = 0; k <= DM_DEGREE; k++) table[k][i] = (float) power[k];
    }
}

static void dm_fill_gelu_tables(void)
{
    dm_fill_gelu_table(dm_gelu_tail, dm_gelu_tails);
    dm_fill_gelu_table(dm_gelu_slope, dm_gelu_slopes);
}

typedef struct { __m512 low[DM_DEGREE + 1], high[DM_DEGREE + 1]; } dm_gelu_registers;

static inline __attribute__((always_inline)) dm_gelu_registers dm_load_gelu_table(const dm_gelu_coefficients table)
{
    dm_gelu_registers loaded;
    for (int k = 0; k <= DM_DEGREE; k++) {
        loaded.low[k] = _mm512_load_ps(table[k]);
        loaded.high[k] = _mm512_load_ps(table[k] + 16);
    }
    return loaded;
}

/* |x|, but at most the middle of the last interval; NaN stays. */
static inline __m512 dm_bounded_size(__m512 x)
{
    return _mm512_min_ps(_mm512_set1_ps((float) (DM_INTERVALS - 1) / DM_PER_UNIT), _mm512_abs_ps(x));
}

/* The tabled function of s, in the interval of `bounded`. */
static inline __attribute__((always_inline)) __m512 dm_look_up(dm_gelu_registers table, __m512 bounded, __m512 s)
{
    /* 1.5 * 2^23 leaves no bit for a fraction: the sum's low bits are the interval. */
    const __m512 magic = _mm512_set1_ps(12582912.0f);
    __m512 rounded = _mm512_fmadd_ps(bounded, _mm512_set1_ps(DM_PER_UNIT), magic), value;
    __m512i interval = _mm512_castps_si512(rounded);
    s = _mm512_fnmadd_ps(_mm512_sub_ps(rounded, magic), _mm512_set1_ps(1.0f / DM_PER_UNIT), s);
    value = _mm512_permutex2var_ps(table.low[DM_DEGREE], interval, table.high[DM_DEGREE]);
    _Pragma("GCC unroll 8")
    for (int k = DM_DEGREE - 1; k >= 0; k--)
        value = _mm512_fmadd_ps(value, s, _mm512_permutex2var_ps(table.low[k], interval, table.high[k]));
    return value;
}

static inline __mmask16 dm_lanes_from(ptrdiff_t i, ptrdiff_t size)
{
    return size - i >= 16 ? 0xffff : (__mmask16) ((1u << (size - i)) - 1u);
}

static void dm_gelu_by_table(const float *x, float *out, ptrdiff_t size)
{
    dm_gelu_registers table = dm_load_gelu_table(dm_gelu_tails);
    for (ptrdiff_t i = 0; i < size; i += 16) {
        __mmask16 lanes = dm_lanes_from(i, size);
        __m512 v = _mm512_maskz_loadu_ps(lanes, x + i), s = dm_bounded_size(v);
        __m512 tail = dm_look_up(table, s, s);
        /* Not bounded below, so that -inf times 0 is NaN, as the formula has it. NaN and -0 of v stay in the maximum. */
        s = _mm512_max_ps(s, _mm512_xor_ps(v, _mm512_set1_ps(-0.0f)));
        _mm512_mask_storeu_ps(out + i, lanes, _mm512_fnmadd_ps(s, tail, _mm512_max_ps(_mm512_setzero_ps(), v)));
    }
}

static void dm_gelu_gradient_by_table(const float *dy, const float *x, float *dx, ptrdiff_t size)
{
    dm_gelu_registers table = dm_load_gelu_table(dm_gelu_slopes);
    for (ptrdiff_t i = 0; i < size; i += 16) {
        __mmask16 lanes = dm_lanes_from(i, size);
        __m512 v = _mm512_maskz_loadu_ps(lanes, x + i), d = _mm512_maskz_loadu_ps(lanes, dy + i);
        __m512 slope = dm_look_up(table, dm_bounded_size(v), _mm512_abs_ps(v));
        slope = _mm512_mask_sub_ps(slope, _knot_mask16(_mm512_movepi32_mask(_mm512_castps_si512(v))),
                                   _mm512_set1_ps(1.0f), slope);
        _mm512_mask_storeu_ps(dx + i, lanes, _mm512_mul_ps(d, slope));
    }
}

#else

#define DM_HAS_GELU_TABLE 0

/* Without such permutations a table costs more than polynomials; none of these is called. */
static inline void dm_fill_gelu_tables(void) {}

static inline void dm_gelu_by_table(const float *x, float *out, ptrdiff_t size)
{
    (void) x, (void) out, (void) size;
    __builtin_unreachable();
}

static inline void dm_gelu_gradient_by_table(const float *dy, const float *x, float *dx, ptrdiff_t size)
{
    (void) dy, (void) x, (void) dx, (void) size;
    __builtin_unreachable();
}

#endif
#endif
