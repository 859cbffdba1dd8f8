/* Inner loops of universal functions, as NumPy calls them: places, a length, steps in bytes.
 *
 * A formula is written once. Where the first operand and the result are contiguous and the others are too, or one
 * number, the steps are constants, so that the compiler makes vectors of the loop.
 */
#ifndef DIST_MS_POINTWISE_LOOPS_H
#define DIST_MS_POINTWISE_LOOPS_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

typedef ptrdiff_t dm_size;

#define DM_AT(type, i, step) (*(const type *) (places[i] + at * (step)))

/* One number is read before the loop: for all that the compiler knows the results could lie over it. */
#define DM_OR_ONE(type, i, step, one) ((step) == 0 ? (one) : DM_AT(type, i, step))

#define DM_UNARY_LOOP(s0, s1)                                   \
    for (dm_size at = 0; at < size; at++) {                     \
        const DM_X x = DM_AT(DM_X, 0, s0);                      \
        *(DM_OUT *) (places[1] + at * (s1)) = DM_FORMULA;       \
    }

#define DM_UNARY                                                                        \
    const dm_size size = sizes[0];                                                      \
    (void) options;                                                                     \
    if (steps[0] == sizeof(DM_X) && steps[1] == sizeof(DM_OUT))                         \
        DM_UNARY_LOOP((dm_size) sizeof(DM_X), (dm_size) sizeof(DM_OUT))                 \
    else                                                                                \
        DM_UNARY_LOOP(steps[0], steps[1])

#define DM_TERNARY_LOOP(s0, s1, s2, s3)                         \
    for (dm_size at = 0; at < size; at++) {                     \
        const DM_X x = DM_AT(DM_X, 0, s0);                      \
        const DM_OUT y = DM_OR_ONE(DM_OUT, 1, s1, first_y);     \
        const DM_OUT z = DM_OR_ONE(DM_OUT, 2, s2, first_z);     \
        *(DM_OUT *) (places[3] + at * (s3)) = DM_FORMULA;       \
    }

#define DM_TERNARY                                                                              \
    const dm_size size = sizes[0], in = sizeof(DM_X), one = sizeof(DM_OUT);                     \
    const DM_OUT first_y = *(const DM_OUT *) places[1], first_z = *(const DM_OUT *) places[2];  \
    (void) options;                                                                             \
    if (steps[0] == in && steps[1] == one && steps[2] == one && steps[3] == one)                \
        DM_TERNARY_LOOP(in, one, one, one)                                                      \
    else if (steps[0] == in && steps[1] == one && steps[2] == 0 && steps[3] == one)             \
        DM_TERNARY_LOOP(in, one, 0, one)                                                        \
    else if (steps[0] == in && steps[1] == 0 && steps[2] == one && steps[3] == one)             \
        DM_TERNARY_LOOP(in, 0, one, one)                                                        \
    else if (steps[0] == in && steps[1] == 0 && steps[2] == 0 && steps[3] == one)               \
        DM_TERNARY_LOOP(in, 0, 0, one)                                                          \
    else                                                                                        \
        DM_TERNARY_LOOP(steps[0], steps[1], steps[2], steps[3])

#define DM_LOOP(name) \
    static void name(char **places, const dm_size *sizes, const dm_size *steps, void *options)

/* y where the condition x is true, else z. */
#define DM_FORMULA (x ? y : z)
#define DM_X uint8_t
#define DM_OUT uint8_t
DM_LOOP(dm_select_8) { DM_TERNARY }
#undef DM_OUT
#define DM_OUT uint16_t
DM_LOOP(dm_select_16) { DM_TERNARY }
#undef DM_OUT
#define DM_OUT uint32_t
DM_LOOP(dm_select_32) { DM_TERNARY }
#undef DM_OUT
#define DM_OUT uint64_t
DM_LOOP(dm_select_64) { DM_TERNARY }
#undef DM_OUT
#undef DM_X
#undef DM_FORMULA

/* min(max(x, y), z) of limits that are no NaN; an x that is one stays. */
#define DM_FORMULA ((x < y ? y : x) > z ? z : (x < y ? y : x))
#define DM_X float
#define DM_OUT float
DM_LOOP(dm_clamp_float) { DM_TERNARY }
#undef DM_X
#undef DM_OUT
#define DM_X double
#define DM_OUT double
DM_LOOP(dm_clamp_double) { DM_TERNARY }
#undef DM_X
#undef DM_OUT
#define DM_X int32_t
#define DM_OUT int32_t
DM_LOOP(dm_clamp_int) { DM_TERNARY }
#undef DM_X
#undef DM_OUT
#define DM_X int64_t
#define DM_OUT int64_t
DM_LOOP(dm_clamp_long) { DM_TERNARY }
#undef DM_X
#undef DM_OUT
#undef DM_FORMULA

/* From x to y by the share z, and x + y z. */
#define DM_FORMULA (x + z * (y - x))
#define DM_X float
#define DM_OUT float
DM_LOOP(dm_lerp_float) { DM_TERNARY }
#undef DM_X
#undef DM_OUT
#define DM_X double
#define DM_OUT double
DM_LOOP(dm_lerp_double) { DM_TERNARY }
#undef DM_X
#undef DM_OUT
#undef DM_FORMULA
#define DM_FORMULA (x + y * z)
#define DM_X float
#define DM_OUT float
DM_LOOP(dm_multiply_add_float) { DM_TERNARY }
#undef DM_X
#undef DM_OUT
#define DM_X double
#define DM_OUT double
DM_LOOP(dm_multiply_add_double) { DM_TERNARY }
#undef DM_X
#undef DM_OUT
#undef DM_FORMULA

/* -1, 0 or 1; a NaN stays one. */
#define DM_FORMULA (x != x ? x : (DM_X) (x > 0) - (DM_X) (x < 0))
#define DM_X float
#define DM_OUT float
DM_LOOP(dm_sign_float) { DM_UNARY }
#undef DM_X
#undef DM_OUT
#define DM_X double
#define DM_OUT double
DM_LOOP(dm_sign_double) { DM_UNARY }
#undef DM_X
#undef DM_OUT
#undef DM_FORMULA

/* One over the root, each step rounded. */
#define DM_X float
#define DM_OUT float
#define DM_FORMULA (1.0f / sqrtf(x))
DM_LOOP(dm_rsqrt_float) { DM_UNARY }
#undef DM_X
#undef DM_OUT
#undef DM_FORMULA
#define DM_X double
#define DM_OUT double
#define DM_FORMULA (1.0 / sqrt(x))
DM_LOOP(dm_rsqrt_double) { DM_UNARY }
#undef DM_X
#undef DM_OUT
#undef DM_FORMULA

/* x^3: in float32 computed in float64, so right to half a unit. */
#define DM_X float
#define DM_OUT float
#define DM_FORMULA ((float) ((double) x * x * x))
DM_LOOP(dm_cube_float) { DM_UNARY }
#undef DM_X
#undef DM_OUT
#undef DM_FORMULA
#define DM_X double
#define DM_OUT double
#define DM_FORMULA (x * x * x)
DM_LOOP(dm_cube_double) { DM_UNARY }
#undef DM_X
#undef DM_OUT
#undef DM_FORMULA

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
#define DM_X float
#define DM_OUT float
#define DM_FORMULA ((float) erfc(x))
DM_LOOP(dm_erfc_float) { DM_UNARY }
#undef DM_FORMULA
#undef DM_X
#undef DM_OUT

enum { DM_TILE = 64 };

typedef union { double value; uint64_t bits; } dm_double;

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
    const double s = (m.value - 1.0) / (m.value + 1.0), q = s * s;
    double p = 0.22195308321368667;
    p = p * q + 0.2623081892525388;
    p = p * q + 0.3205988979753252;
    p = p * q + 0.4121985831111324;
    p = p * q + 0.5770780163555854;
    p = p * q + 0.9617966939259756;
    p = p * q + 2.8853900817779268;
    return p * s + ((shifted.value - 6755399441055744.0) - 1023.0);
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

DM_LOOP(dm_fmod_float) { (void) options; dm_by_tiles(places, sizes, steps, dm_remainder_tile, 0); }
DM_LOOP(dm_remainder_float) { (void) options; dm_by_tiles(places, sizes, steps, dm_remainder_tile, 1); }
DM_LOOP(dm_power_float) { (void) options; dm_by_tiles(places, sizes, steps, dm_power_all, 0); }

#endif
