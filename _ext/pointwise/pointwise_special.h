/* Loops of the error function's kin. The coefficients are fits of the relative error (Lawson's iteration on Chebyshev
 * nodes). With AVX-512 those of float32 are in pointwise_wide.h. */
#ifndef DIST_MS_POINTWISE_SPECIAL_H
#define DIST_MS_POINTWISE_SPECIAL_H

#include "growth.h"
#include "logarithm.h"
#include "pointwise_patterns.h"
#include "pointwise_wide.h"

#ifndef __AVX512F__
/* The first twelve bits of a number: the product of two such is exact. */
static inline float dm_first_half(float x)
{
    dm_single half = {.value = x};
    half.bits &= 0xfffff000;
    return half.value;
}

/* e^(-x^2) times (1 + 2 x) e^(x^2) erfc(x) over 1 + 2 x, the second factor 1 + u p(u - 1) of u = 2 x / (x + 2); for
 * negative x taken from 2. */
static inline float dm_erfc_of_single(float x)
{
    /* From here on no float32 is small enough. A NaN stays one. */
    const float size = fabsf(x) > 10.2f ? 10.2f : fabsf(x), first = dm_first_half(size);
    const dm_single shifted = {.value = first * first * -1.44269504f + 12582912.0f};
    const float n = shifted.value - 12582912.0f, u = 2.0f * size / (size + 2.0f), q = u - 1.0f;
    const float r = ((-first * first - n * 0.693359375f) + n * 2.12194440e-4f) - (size - first) * (size + first);
    /* 2^n is no float32 at the ends, its halves are. */
    const int32_t whole = (int32_t) (shifted.bits - 0x4b400000), half = whole >> 1;
    const dm_single low = {.bits = (uint32_t) (half + 127) << 23}, high = {.bits = (uint32_t) (whole - half + 127) << 23};
    float p = -0.000400013692f, tail;
    p = p * q - 0.000828341457f;
    p = p * q + 0.00214234366f;
    p = p * q + 0.00648807271f;
    p = p * q - 0.014548517f;
    p = p * q - 0.0396554502f;
    p = p * q + 0.203710926f;
    p = p * q - 0.369742381f;
    p = p * q + 0.276978394f;
    p = (p * u + 1.0f) / (1.0f + 2.0f * size);
    tail = (p * dm_growth_near_zero(r) + p) * low.value * high.value;
    return x < 0 ? 2.0f - tail : tail;
}

/* y times 7 / 8 + w / 4 and a quotient in w = -log(1 - y^2), which is below 17. */
static inline float dm_erfinv_of_single(float y)
{
    float k, f, w = dm_log_terms((1.0f - y) * (1.0f + y), &k, &f), above = -2.06232199e-05f, below = -3.46239421e-07f, inverse;
    w = -(f + (w - 0.5f * (f * f))) - k * 0.693147181f;
    above = above * w + 1.7181151e-05f;
    above = above * w - 0.00195639772f;
    above = above * w + 0.0104680527f;
    above = above * w - 0.0170950763f;
    above = above * w + 0.0112269607f;
    below = below * w + 0.000132111092f;
    below = below * w + 0.00165980958f;
    below = below * w + 0.0306332099f;
    below = below * w + 0.0794720629f;
    below = below * w + 1.0f;
    inverse = y * ((w * 0.25f + 0.875f) + above / below);
    inverse = fabsf(y) >= 1 ? y * INFINITY : inverse;
    return fabsf(y) > 1 ? NAN : inverse;
}
#endif

/* By the C library, whose float64 functions are right to a unit. */
#define DM_X double
#define DM_OUT double
#define DM_FORMULA (erf(x))
DM_LOOP(dm_erf_double) { DM_UNARY }
#undef DM_FORMULA
#define DM_FORMULA (erfc(x))
DM_LOOP(dm_erfc_double) { DM_UNARY }
#undef DM_FORMULA
#undef DM_X
#undef DM_OUT
#ifndef __AVX512F__
#define DM_X float
#define DM_OUT float
#define DM_FORMULA (dm_erfc_of_single(x))
DM_LOOP(dm_erfc_float) { DM_UNARY }
#undef DM_FORMULA
#define DM_FORMULA (dm_erfinv_of_single(x))
DM_LOOP(dm_erfinv_float) { DM_UNARY }
#undef DM_FORMULA
#undef DM_X
#undef DM_OUT
#endif

#endif
