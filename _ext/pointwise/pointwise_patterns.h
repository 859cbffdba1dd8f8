/* Inner loops of universal functions, as NumPy calls them: places, a length, steps in bytes.
 *
 * A formula is written once. Where the first operand and the result are contiguous and the others are too, or one
 * number, the steps are constants, so that the compiler makes vectors of the loop.
 */
#ifndef DIST_MS_POINTWISE_PATTERNS_H
#define DIST_MS_POINTWISE_PATTERNS_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

typedef ptrdiff_t dm_size;
typedef union { uint32_t bits; float value; } dm_single;

/* Of the bits of a bfloat16, and to the nearest one, ties to even; a NaN stays one. */
static inline float dm_of_bits(uint16_t x)
{
    const dm_single wide = {(uint32_t) x << 16};
    return wide.value;
}

static inline uint16_t dm_to_bits(float x)
{
    const dm_single wide = {.value = x};
    const uint32_t rounded = wide.bits + 0x7fff + (wide.bits >> 16 & 1);
    return (uint16_t) ((x != x ? wide.bits | 0x400000 : rounded) >> 16);
}

/* The places are local: a result that is a byte could lie over the list of them. */
#define DM_AT(type, i, step) (*(const type *) (place_##i + at * (step)))
#define DM_PUT(i, step) *(DM_OUT *) (place_##i + at * (step)) = DM_FORMULA;

/* One number is read before the loop: for all that the compiler knows the results could lie over it. */
#define DM_OR_ONE(type, i, step, one) ((step) == 0 ? (one) : DM_AT(type, i, step))

#define DM_UNARY_LOOP(s0, s1)                                   \
    for (dm_size at = 0; at < size; at++) {                     \
        const DM_X x = DM_AT(DM_X, 0, s0);                      \
        DM_PUT(1, s1)       \
    }

#define DM_UNARY                                                                        \
    char *const place_0 = places[0], *const place_1 = places[1];                        \
    const dm_size size = sizes[0];                                                      \
    (void) options;                                                                     \
    if (steps[0] == sizeof(DM_X) && steps[1] == sizeof(DM_OUT))                         \
        DM_UNARY_LOOP((dm_size) sizeof(DM_X), (dm_size) sizeof(DM_OUT))                 \
    else                                                                                \
        DM_UNARY_LOOP(steps[0], steps[1])

#define DM_BINARY_LOOP(s0, s1, s2)                              \
    for (dm_size at = 0; at < size; at++) {                     \
        const DM_X x = DM_AT(DM_X, 0, s0);                      \
        const DM_OUT y = DM_OR_ONE(DM_OUT, 1, s1, first_y);     \
        DM_PUT(2, s2)       \
    }

#define DM_BINARY                                                                   \
    char *const place_0 = places[0], *const place_1 = places[1], *const place_2 = places[2]; \
    const dm_size size = sizes[0], in = sizeof(DM_X), one = sizeof(DM_OUT);         \
    const DM_OUT first_y = *(const DM_OUT *) places[1];                             \
    (void) options;                                                                 \
    if (steps[0] == in && steps[1] == one && steps[2] == one)                       \
        DM_BINARY_LOOP(in, one, one)                                                \
    else if (steps[0] == in && steps[1] == 0 && steps[2] == one)                    \
        DM_BINARY_LOOP(in, 0, one)                                                  \
    else                                                                            \
        DM_BINARY_LOOP(steps[0], steps[1], steps[2])

#define DM_TERNARY_LOOP(s0, s1, s2, s3)                         \
    for (dm_size at = 0; at < size; at++) {                     \
        const DM_X x = DM_AT(DM_X, 0, s0);                      \
        const DM_OUT y = DM_OR_ONE(DM_OUT, 1, s1, first_y);     \
        const DM_OUT z = DM_OR_ONE(DM_OUT, 2, s2, first_z);     \
        DM_PUT(3, s3)       \
    }

#define DM_TERNARY                                                                              \
    char *const place_0 = places[0], *const place_1 = places[1];                                \
    char *const place_2 = places[2], *const place_3 = places[3];                                \
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

#endif
