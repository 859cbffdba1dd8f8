/* Remainders and powers of pairs of float32, computed with in float64, tile by tile. */
#ifndef DIST_MS_POINTWISE_TILES_H
#define DIST_MS_POINTWISE_TILES_H

#include "pointwise_patterns.h"

enum { DM_TILE = 64 };

typedef union { double value; uint64_t bits; } dm_double;

/* 2 atanh(s) / ln 2 of an s whose (1 + s) / (1 - s) lies between sqrt(1/2) and sqrt(2), to 2e-12 of it. */
static inline double dm_log2_near(double s)
{
    const double q = s * s;
    double p = 0.22195308321368667;
    p = p * q + 0.2623081892525388;
    p = p * q + 0.3205988979753252;
    p = p * q + 0.4121985831111324;
    p = p * q + 0.5770780163555854;
    p = p * q + 0.9617966939259756;
    p = p * q + 2.8853900817779268;
    return p * s;
}

/* log2 |x| to 2e-12 of it, x not 0: of a mantissa m between sqrt(1/2) and sqrt(2) it is 2 atanh((m - 1) / (m + 1)) / ln 2. */
static inline double dm_log2_size(double x)
{
    dm_double m = {fabs(x)}, shifted;
    /* From this mantissa on the exponent is one more. */
    const uint64_t lift = 0x3ff0000000000000 - 0x3fe6a09e667f3bcd;
    const uint64_t exponent = (m.bits + lift) >> 52;
    m.bits -= (exponent - 1023) << 52;
    /* An integer below 2^51 as a double, without an instruction that only AVX-512 has. */
    shifted.bits = exponent + 0x4338000000000000;
    return dm_log2_near((m.value - 1.0) / (m.value + 1.0)) + ((shifted.value - 6755399441055744.0) - 1023.0);
}

/* 2^t for |t| <= 1000, to 3e-11 of it. */
static inline double dm_exp2(double t)
{
    dm_double n = {t + 6755399441055744.0};
    const double f = t - (n.value - 6755399441055744.0);
    double p = 1.3215486790144305e-06;
    p = p * f + 1.5252733804059838e-05;
    p = p * f + 0.00015403530393381606;
    p = p * f + 0.0013333558146428441;
    p = p * f + 0.009618129107628477;
    p = p * f + 0.055504108664821576;
    p = p * f + 0.2402265069591007;
    p = p * f + 0.6931471805599453;
    p = p * f + 1.0;
    n.bits = (n.bits + 1023) << 52;
    return p * n.value;
}

/* x^y by way of float64, so right to little more than half a unit. Returns whether NaN and infinite exponents are right
 * too: that all are numbers. */
static inline int dm_power_tile(const float *x, const float *y, float *out, int count)
{
    int numbers = 1;
    for (int i = 0; i < count; i++) {
        const double base = x[i], exponent = y[i], size = fabs(base), whole = trunc(exponent), half = 0.5 * whole;
        /* Far enough for the result to be 0, 1 or infinite as it has to. */
        double log = dm_log2_size(size), power;
        log = size == 0 ? -1e60 : log;
        log = size > 1e300 ? 1e60 : log;
        power = exponent * log;
        power = power > 200.0 ? 200.0 : power;
        power = power < -200.0 ? -200.0 : power;
        power = dm_exp2(power);
        /* An odd exponent keeps the sign; of negative numbers only whole powers exist. */
        power *= (whole == exponent) & (trunc(half) != half) ? copysign(1.0, base) : 1.0;
        power = (base < 0) & (size <= 1e300) & (whole != exponent) ? NAN : power;
        numbers &= (base == base) & (fabs(exponent) <= 1e300);
        out[i] = (float) power;
    }
    return numbers;
}

static inline void dm_power_all(const float *x, const float *y, float *out, int count, int unused)
{
    (void) unused;
    if (!dm_power_tile(x, y, out, count))
        for (int i = 0; i < count; i++)
            if (x[i] != x[i] || !(fabsf(y[i]) <= 3e38f)) out[i] = powf(x[i], y[i]);
}

/* Quotients from here on have too many digits for their product with y to be exact in float64. */
#define DM_LARGEST_QUOTIENT 268435456.0

/* x - trunc(x / y) y, exactly: both are float32, so that a quotient below 2^28 that is no whole number is further from
 * one than float64 rounds, and the product is exact. Returns whether all quotients were of that size. */
static inline int dm_fmod_tile(const float *x, const float *y, float *out, int count)
{
    int fits = 1;
    for (int i = 0; i < count; i++) {
        const double q = trunc((double) x[i] / y[i]);
        const float rest = (float) (x[i] - q * y[i]);
        fits &= !(fabs(q) >= DM_LARGEST_QUOTIENT && fabs(q) <= 1e300);
        out[i] = copysignf(q == 0 ? x[i] : rest, x[i]);
    }
    return fits;
}

static inline void dm_remainder_tile(const float *x, const float *y, float *out, int count, int floored)
{
    if (!dm_fmod_tile(x, y, out, count))
        for (int i = 0; i < count; i++) out[i] = fmodf(x[i], y[i]);
    if (floored)
        for (int i = 0; i < count; i++) {
            const float rest = out[i], up = (y[i] < 0) != (rest < 0) ? rest + y[i] : rest;
            out[i] = rest == 0 ? copysignf(0.0f, y[i]) : up;
        }
}

typedef void (*dm_tile_function)(const float *x, const float *y, float *out, int count, int choice);

/* Calls a function of two operands for tiles of them, where they lie or, at odd steps and at the end, copied. */
static inline __attribute__((always_inline)) void dm_by_tiles(
    char **places, const dm_size *sizes, const dm_size *steps, dm_tile_function function, int choice)
{
    float x[DM_TILE], y[DM_TILE], out[DM_TILE];
    const dm_size size = sizes[0], one = sizeof(float);
    const int plain = steps[0] == one && steps[2] == one;
    if (steps[1] == 0)
        for (int i = 0; i < DM_TILE; i++) y[i] = *(const float *) places[1];
    for (dm_size start = 0; start < size; start += DM_TILE) {
        const int count = (int) (size - start < DM_TILE ? size - start : DM_TILE);
        if (plain && count == DM_TILE && (steps[1] == one || steps[1] == 0)) {
            function((const float *) places[0] + start, steps[1] ? (const float *) places[1] + start : y,
                     (float *) places[2] + start, DM_TILE, choice);
            continue;
        }
        for (int i = 0; i < count; i++) {
            x[i] = *(const float *) (places[0] + (start + i) * steps[0]);
            y[i] = *(const float *) (places[1] + (start + i) * steps[1]);
        }
        function(x, y, out, count, choice);
        for (int i = 0; i < count; i++) *(float *) (places[2] + (start + i) * steps[2]) = out[i];
    }
}

#endif
