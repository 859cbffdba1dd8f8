/* Sines, exponentials and their inverses of float32, most computed in float64, so right to 0.51 units in the last place;
 * sines of close angles to 0.85.
 * The coefficients are fits of the relative error (Lawson's iteration on Chebyshev nodes). */
#ifndef DIST_MS_POINTWISE_ANGLES_H
#define DIST_MS_POINTWISE_ANGLES_H

#include "pointwise_patterns.h"
#include "pointwise_tiles.h"
#include "pointwise_wide.h"

/* Adding it leaves no bit for a fraction, so the sum is rounded to an integer, which its last bits are. */
#define DM_ROUNDING 6755399441055744.0
#define DM_LN_2 0.6931471805599453
#define DM_HALF_PI 1.5707963267948966
#define DM_PI 3.141592653589793

/* pi in two parts, the first short enough for its product with a whole number up to 2^20 to be exact. */
#define DM_PI_FIRST 3.1415926534682512
#define DM_PI_SECOND 1.2154201013012384e-10
/* Angles beyond it are left to the C library, those up to the other one to float32 where that has a loop. */
#define DM_LARGEST_ANGLE 1e6
#define DM_CLOSEST_ANGLE 100.0f

enum { DM_ANGLES = 512 };

/* sin(r) of |r| <= pi / 2. */
static inline double dm_near_sine(double r)
{
    const double z = r * r;
    double p = 1.5499806978031602e-10;
    p = p * z - 2.5036578027972868e-08;
    p = p * z + 2.7557119558920383e-06;
    p = p * z - 0.00019841268677050312;
    p = p * z + 0.008333333330840848;
    p = p * z - 0.1666666666665797;
    return r * (1.0 + z * p);
}

static inline double dm_sine(double x)
{
    dm_double n = {x * 0.3183098861837907 + DM_ROUNDING}, sine;
    const double whole = n.value - DM_ROUNDING;
    sine.value = dm_near_sine((x - whole * DM_PI_FIRST) - whole * DM_PI_SECOND);
    /* Odd multiples of pi turn the sign. */
    sine.bits ^= n.bits << 63;
    return sine.value;
}

static inline double dm_cosine(double x)
{
    dm_double n = {(x * 0.3183098861837907 - 0.5) + DM_ROUNDING}, sine;
    const double half = (n.value - DM_ROUNDING) + 0.5;
    sine.value = dm_near_sine((x - half * DM_PI_FIRST) - half * DM_PI_SECOND);
    sine.bits ^= ~n.bits << 63;
    return sine.value;
}

#ifdef __FMA__
/* sin(x + turn pi / 2) of |x| up to 100 in float32, as products are exact before they are added: x less the nearest
 * multiple of pi / 2, in two parts. */
static inline float dm_turned_sine(float x, uint32_t turn)
{
    /* 1.5 * 2^23: adding it leaves no bit for a fraction. */
    const dm_single shifted = {.value = fmaf(x, 0.63661975f, 12582912.0f)};
    const float n = shifted.value - 12582912.0f;
    const uint32_t quarter = shifted.bits + turn;
    /* pi / 2 in three parts, of which the first two's products with n are exact. */
    const float near = fmaf(-n, 1.5707931518554688f, x), r = fmaf(-n, 3.1749368645250797e-06f, near), z = r * r;
    /* What r lacks, with the other sign: so the sine of -0 is -0. */
    const float less = fmaf(n, 2.5633440682570896e-12f, fmaf(n, 3.1749368645250797e-06f, r - near));
    const float p = fmaf(fmaf(0.00019517138f, z, -0.008332177f), z, 0.16666655f), sine = r - fmaf(p, r * z, less);
    /* 1 - (r - less)^2 / 2, whose terms are exact together, and the rest. */
    const float q = fmaf(fmaf(2.4438272e-05f, z, -0.0013887367f), z, 0.041666646f), cosine = fmaf(-z, 0.5f, 1.0f);
    const float lost = fmaf(-fmaf(r, r, -z), 0.5f, fmaf(-z, 0.5f, 1.0f - cosine));
    dm_single found = {.value = quarter & 1 ? cosine + fmaf(r, less, fmaf(q, z * z, lost)) : sine};
    /* Half a turn changes the sign. */
    found.bits ^= (quarter & 2) << 30;
    return found.value;
}
#endif

static inline double dm_tangent(double x)
{
    const dm_double n = {x * 0.6366197723675814 + DM_ROUNDING};
    const double whole = n.value - DM_ROUNDING;
    const double r = (x - whole * (0.5 * DM_PI_FIRST)) - whole * (0.5 * DM_PI_SECOND), z = r * r;
    double p = 0.0008332357562079662, tangent;
    p = p * z - 0.00025743216129767594;
    p = p * z + 0.002040972074769901;
    p = p * z + 0.003366402077630357;
    p = p * z + 0.008913285197335467;
    p = p * z + 0.021863336689149894;
    p = p * z + 0.053968629302700424;
    p = p * z + 0.13333332457934527;
    p = p * z + 0.3333333333667322;
    tangent = r * (1.0 + z * p);
    /* A quarter of a turn further it is -1 / tangent. */
    return n.bits & 1 ? -1.0 / tangent : tangent;
}

/* (asin(s) - s) / s of z = s^2 <= 1/4. */
static inline float dm_arcsine_share(float z)
{
    float p = 0.0421663083f;
    p = p * z + 0.0241795148f;
    p = p * z + 0.0454703759f;
    p = p * z + 0.0749529764f;
    p = p * z + 0.166667525f;
    return p * z;
}

/* From half on asin(s) is pi / 2 less twice that of the root of (1 - s) / 2. Beyond 1 the root is NaN. */
static inline float dm_arcsine(float x)
{
    const float size = fabsf(x), rest = 0.5f - 0.5f * size;
    const int far = size > 0.5f;
    const float s = far ? sqrtf(rest) : size, more = s * dm_arcsine_share(far ? rest : x * x);
    return copysignf(far ? 1.57079637f - (2.0f * s + (2.0f * more + 4.37113883e-08f)) : s + more, x);
}

static inline float dm_arccosine(float x)
{
    const float size = fabsf(x), rest = 0.5f - 0.5f * size;
    const int far = size > 0.5f;
    const float s = far ? sqrtf(rest) : x, more = s * dm_arcsine_share(far ? rest : x * x);
    const float twice = 2.0f * s + 2.0f * more;
    const float folded = x < 0 ? 3.14159274f - (twice + 8.74227766e-08f) : twice;
    return far ? folded : 1.57079637f - (s + (more + 4.37113883e-08f));
}

/* atan(t) of 0 <= t <= 1. */
static inline double dm_near_arctangent(double t)
{
    const double z = t * t;
    double p = 0.0006028868071084048;
    p = p * z - 0.004276309089788155;
    p = p * z + 0.014204092479575492;
    p = p * z - 0.030091240636094727;
    p = p * z + 0.04744522376378651;
    p = p * z - 0.06254489824351622;
    p = p * z + 0.07589511935913189;
    p = p * z - 0.09074178205126353;
    p = p * z + 0.1110947230734812;
    p = p * z - 0.14285630165753174;
    p = p * z + 0.19999998290522317;
    p = p * z - 0.33333333327532433;
    return t * (1.0 + z * p);
}

static inline double dm_arctangent(double x)
{
    const double size = fabs(x), turned = 1.0 / size, angle = dm_near_arctangent(size > 1.0 ? turned : size);
    return copysign(size > 1.0 ? DM_HALF_PI - angle : angle, x);
}

/* The angle of the point (y, x). */
static inline double dm_point_angle(double x, double y)
{
    const double up = fabs(x), along = fabs(y);
    /* Written such that a NaN reaches the quotient. */
    const double large = along > up ? along : up, small = along > up ? up : along, quotient = small / large;
    double share = (small == 0) & (large == 0) ? 0.0 : quotient, angle;
    share = (small == INFINITY) & (large == INFINITY) ? 1.0 : share;
    angle = dm_near_arctangent(share);
    angle = up > along ? DM_HALF_PI - angle : angle;
    angle = copysign(1.0, y) < 0 ? DM_PI - angle : angle;
    return copysign(angle, x);
}

/* e^x - 1. The bounds' results are infinite and -1 as float32; a NaN stays one. */
static inline double dm_exponential_less_one(double x)
{
    const double above = x > 700.0 ? 700.0 : x, bounded = above < -700.0 ? -700.0 : above;
    dm_double n = {bounded * 1.4426950408889634 + DM_ROUNDING};
    const double r = bounded - (n.value - DM_ROUNDING) * DM_LN_2;
    double p = 2.482087268102864e-05;
    p = p * r + 0.0001989923225166923;
    p = p * r + 0.0013888923755786557;
    p = p * r + 0.0083332985490165;
    p = p * r + 0.041666666405278135;
    p = p * r + 0.16666666718793655;
    p = p * r + 0.5000000000020894;
    n.bits = (n.bits + 1023) << 52;
    return n.value * (r + r * r * p) + (n.value - 1.0);
}

static inline double dm_hyperbolic_sine(double x)
{
    const double less_one = dm_exponential_less_one(fabs(x));
    return copysign(0.5 * (less_one + less_one / (less_one + 1.0)), x);
}

static inline double dm_hyperbolic_cosine(double x)
{
    const double power = dm_exponential_less_one(fabs(x)) + 1.0;
    return 0.5 * (power + 1.0 / power);
}

/* log2(x) of any x. */
static inline double dm_log2_any(double x)
{
    const double log = dm_log2_size(x), bounded = x > 1e300 ? x : log, none = x == 0 ? -INFINITY : NAN;
    return x > 0 ? bounded : none;
}

/* log2(1 + x), where that is log2(2^k (1 + f)), by a 1 + f between sqrt(1/2) and sqrt(2) whose f is x itself for small x. */
static inline double dm_log2_one_more(double x)
{
    const dm_double sum = {1.0 + x};
    const uint64_t exponent = (sum.bits + (0x3ff0000000000000 - 0x3fe6a09e667f3bcd)) >> 52;
    const dm_double scale = {.bits = (2046 - exponent) << 52}, shifted = {.bits = exponent + 0x4338000000000000};
    const double f = x * scale.value + (scale.value - 1.0);
    const double log = dm_log2_near(f / (f + 2.0)) + ((shifted.value - DM_ROUNDING) - 1023.0);
    const double bounded = x > 1e300 ? x : log, none = x == -1 ? -INFINITY : NAN;
    return x > -1 ? bounded : none;
}

static inline double dm_inverse_hyperbolic_tangent(double x)
{
    const double size = fabs(x), z = x * x, log = 0.5 * DM_LN_2 * dm_log2_any((1.0 + size) / (1.0 - size));
    double p = 0.0990609381727888;
    p = p * z + 0.11082039649730939;
    p = p * z + 0.1428613335450915;
    p = p * z + 0.19999997894230898;
    p = p * z + 0.33333333335022397;
    return copysign(size < 0.2 ? size * (1.0 + z * p) : log, x);
}

/* 2^x in float32, which takes half the time, to 1.1 units; below the normal range gradually 0. */
static inline float dm_power_of_two(float x)
{
    const float above = x > 200.0f ? 200.0f : x, bounded = above < -200.0f ? -200.0f : above;
    dm_single n = {.value = bounded + 12582912.0f}, first, second;
    const float f = bounded - (n.value - 12582912.0f);
    float p = 0.00015403508240607509f;
    p = p * f + 0.0013390735461094208f;
    p = p * f + 0.00961823750780964f;
    p = p * f + 0.0555035743367756f;
    p = p * f + 0.24022649794879128f;
    p = p * f + 0.6931471879266785f;
    /* 2^n is no float32 at the ends, its halves are. */
    n.bits -= 0x4b400000;
    first.bits = (uint32_t) ((int32_t) n.bits >> 1);
    second.bits = (n.bits - first.bits + 127) << 23;
    first.bits = (first.bits + 127) << 23;
    return (1.0f + f * p) * first.value * second.value;
}

#define DM_X float
#define DM_OUT float
#define DM_FORMULA (dm_arcsine(x))
DM_LOOP(dm_arcsin_float) { DM_UNARY }
#undef DM_FORMULA
#define DM_FORMULA (dm_arccosine(x))
DM_LOOP(dm_arccos_float) { DM_UNARY }
#undef DM_FORMULA
#define DM_FORMULA ((float) dm_arctangent(x))
DM_LOOP(dm_arctan_float) { DM_UNARY }
#undef DM_FORMULA
#define DM_FORMULA ((float) dm_point_angle(x, y))
DM_LOOP(dm_arctan2_float) { DM_BINARY }
#undef DM_FORMULA
#define DM_FORMULA (copysignf((float) dm_exponential_less_one(x), x))
DM_LOOP(dm_expm1_float) { DM_UNARY }
#undef DM_FORMULA
#define DM_FORMULA ((float) dm_hyperbolic_sine(x))
DM_LOOP(dm_sinh_float) { DM_UNARY }
#undef DM_FORMULA
#define DM_FORMULA ((float) dm_hyperbolic_cosine(x))
DM_LOOP(dm_cosh_float) { DM_UNARY }
#undef DM_FORMULA
#define DM_FORMULA ((float) dm_inverse_hyperbolic_tangent(x))
DM_LOOP(dm_arctanh_float) { DM_UNARY }
#undef DM_FORMULA
#define DM_FORMULA (copysignf((float) (DM_LN_2 * dm_log2_one_more(x)), x))
DM_LOOP(dm_log1p_float) { DM_UNARY }
#undef DM_FORMULA
#define DM_FORMULA (dm_power_of_two(x))
DM_LOOP(dm_exp2_float) { DM_UNARY }
#undef DM_FORMULA

/* Whether any angle is larger than a bound; NaN is not. */
static inline int dm_any_large(const char *place, dm_size size, dm_size step, float bound)
{
    int found = 0;
    if (step == sizeof(float))
        for (dm_size at = 0; at < size; at++) found |= fabsf(((const float *) place)[at]) > bound;
    else
        for (dm_size at = 0; at < size; at++)
            found |= fabsf(*(const float *) (place + at * step)) > bound;
    return found;
}

typedef void (*dm_unary_loop)(char **, const dm_size *, const dm_size *, void *);

/* A tile of angles by vectors, of float32 if there are such for close ones, or one by one where a large one is among
 * them. */
static inline __attribute__((always_inline)) void dm_angles(
    char **places, const dm_size *sizes, const dm_size *steps,
    dm_unary_loop closest, dm_unary_loop loop, double (*near)(double), double (*far)(double))
{
    for (dm_size start = 0; start < sizes[0]; start += DM_ANGLES) {
        const dm_size size = sizes[0] - start < DM_ANGLES ? sizes[0] - start : DM_ANGLES;
        char *at[2] = {places[0] + start * steps[0], places[1] + start * steps[1]};
        if (closest && !dm_any_large(at[0], size, steps[0], DM_CLOSEST_ANGLE)) {
            closest(at, &size, steps, NULL);
            continue;
        }
        if (!dm_any_large(at[0], size, steps[0], (float) DM_LARGEST_ANGLE)) {
            loop(at, &size, steps, NULL);
            continue;
        }
        for (dm_size i = 0; i < size; i++) {
            const float x = *(const float *) (at[0] + i * steps[0]);
            *(float *) (at[1] + i * steps[1]) = (float) (fabsf(x) > (float) DM_LARGEST_ANGLE ? far(x) : near(x));
        }
    }
}

#define DM_FORMULA ((float) dm_sine(x))
DM_LOOP(dm_near_sin) { DM_UNARY }
#undef DM_FORMULA
#define DM_FORMULA ((float) dm_cosine(x))
DM_LOOP(dm_near_cos) { DM_UNARY }
#undef DM_FORMULA
#define DM_FORMULA ((float) dm_tangent(x))
DM_LOOP(dm_near_tan) { DM_UNARY }
#undef DM_FORMULA
#ifdef __FMA__
#define DM_FORMULA (dm_turned_sine(x, 0))
DM_LOOP(dm_closest_sin) { DM_UNARY }
#undef DM_FORMULA
#define DM_FORMULA (dm_turned_sine(x, 1))
DM_LOOP(dm_closest_cos) { DM_UNARY }
#undef DM_FORMULA
#endif
#undef DM_X
#undef DM_OUT
#ifdef __FMA__
#define DM_CLOSEST(name) dm_closest_##name
#else
#define DM_CLOSEST(name) NULL
#endif
DM_LOOP(dm_sin_float) { (void) options; dm_angles(places, sizes, steps, DM_CLOSEST(sin), dm_near_sin, dm_sine, sin); }
DM_LOOP(dm_cos_float) { (void) options; dm_angles(places, sizes, steps, DM_CLOSEST(cos), dm_near_cos, dm_cosine, cos); }
DM_LOOP(dm_tan_float) { (void) options; dm_angles(places, sizes, steps, NULL, dm_near_tan, dm_tangent, tan); }

#endif
