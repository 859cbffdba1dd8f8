/* Loops of logarithms of float32 in float32; with AVX-512 they are those of pointwise_wide.h. */
#ifndef DIST_MS_POINTWISE_LOGARITHMS_H
#define DIST_MS_POINTWISE_LOGARITHMS_H
#ifndef __AVX512F__

#include <float.h>
#include "logarithm.h"
#include "pointwise_patterns.h"

enum { DM_LOGARITHMS = 512, DM_MANTISSA = 23 };

static inline float dm_normal_log2(float x)
{
    float k, f, log = dm_log_terms(x, &k, &f);
    log = f + (log - 0.5f * (f * f));
    return (log * 0.44269504f + log) + k;
}

static inline float dm_normal_log10(float x)
{
    float k, f, log = dm_log_terms(x, &k, &f);
    log = f + (log - 0.5f * (f * f));
    /* The logarithm of 2 in two parts, as in logarithm.h. */
    return (k * 7.9034151668e-07f + log * 0.43429448f) + k * 0.30102920532f;
}

/* Whether any number is 0, below the normal range, negative, infinite or NaN. */
static inline int dm_any_abnormal(const char *place, dm_size size, dm_size step)
{
    int found = 0;
    for (dm_size at = 0; at < size; at++) {
        const dm_single x = {.value = *(const float *) (place + at * step)};
        found |= x.bits - 0x00800000 >= 0x7f000000;
    }
    return found;
}

/* A tile by vectors, or with a look at each number where one is not in the normal range. */
static inline __attribute__((always_inline)) void dm_logarithms(
    char **places, const dm_size *sizes, const dm_size *steps, float (*normal)(float), float of_two)
{
    const dm_size one = sizeof(float);
    for (dm_size start = 0; start < sizes[0]; start += DM_LOGARITHMS) {
        const dm_size size = sizes[0] - start < DM_LOGARITHMS ? sizes[0] - start : DM_LOGARITHMS;
        const char *const from = places[0] + start * steps[0];
        char *const to = places[1] + start * steps[1];
        if (steps[0] == one && steps[1] == one && !dm_any_abnormal(from, size, one)) {
            for (dm_size at = 0; at < size; at++) ((float *) to)[at] = normal(((const float *) from)[at]);
            continue;
        }
        for (dm_size at = 0; at < size; at++) {
            const float x = *(const float *) (from + at * steps[0]), raised = x < FLT_MIN ? x * (1 << DM_MANTISSA) : x;
            const float log = normal(raised) - (x < FLT_MIN ? DM_MANTISSA * of_two : 0.0f);
            const float none = x == 0 ? -INFINITY : NAN, bounded = x > FLT_MAX ? x : log;
            *(float *) (to + at * steps[1]) = x > 0 ? bounded : none;
        }
    }
}

#define DM_LOGARITHM(name, normal, of_two) \
    DM_LOOP(name) { (void) options; dm_logarithms(places, sizes, steps, normal, of_two); }
DM_LOGARITHM(dm_log_float, dm_normal_logarithm, 0.6931472f)
DM_LOGARITHM(dm_log2_float, dm_normal_log2, 1.0f)
DM_LOGARITHM(dm_log10_float, dm_normal_log10, 0.30103f)

#endif
#endif
