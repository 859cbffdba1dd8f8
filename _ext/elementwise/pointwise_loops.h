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

#include "pointwise_tiles.h"

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

/* Losses of differences, and their gradients with respect to x for a gradient z of the loss. */
#define DM_FORMULA ((x - y) * (x - y))
#define DM_X float
#define DM_OUT float
DM_LOOP(dm_squared_difference_float) { DM_BINARY }
#undef DM_X
#undef DM_OUT
#define DM_X double
#define DM_OUT double
DM_LOOP(dm_squared_difference_double) { DM_BINARY }
#undef DM_X
#undef DM_OUT
#undef DM_FORMULA
#define DM_FORMULA ((x - y) * z * 2)
#define DM_X float
#define DM_OUT float
DM_LOOP(dm_squared_difference_gradient_float) { DM_TERNARY }
#undef DM_X
#undef DM_OUT
#define DM_X double
#define DM_OUT double
DM_LOOP(dm_squared_difference_gradient_double) { DM_TERNARY }
#undef DM_X
#undef DM_OUT
#undef DM_FORMULA
#define DM_FORMULA (x > y ? x - y : y - x)
#define DM_X float
#define DM_OUT float
DM_LOOP(dm_absolute_difference_float) { DM_BINARY }
#undef DM_X
#undef DM_OUT
#define DM_X double
#define DM_OUT double
DM_LOOP(dm_absolute_difference_double) { DM_BINARY }
#undef DM_X
#undef DM_OUT
#undef DM_FORMULA
#define DM_FORMULA (x > y ? z : x < y ? -z : (x - y) * z)
#define DM_X float
#define DM_OUT float
DM_LOOP(dm_absolute_difference_gradient_float) { DM_TERNARY }
#undef DM_X
#undef DM_OUT
#define DM_X double
#define DM_OUT double
DM_LOOP(dm_absolute_difference_gradient_double) { DM_TERNARY }
#undef DM_X
#undef DM_OUT
#undef DM_FORMULA

/* The parabola d^2 / (2 z) of the difference d where it is below z, else |d| - z / 2; and its slope, d / z, but at most
 * 1 and at least -1. */
#define DM_SIZE (x > y ? x - y : y - x)
#define DM_FORMULA (DM_SIZE < z ? DM_SIZE * DM_SIZE * ((DM_X) 0.5 / z) : DM_SIZE - (DM_X) 0.5 * z)
#define DM_X float
#define DM_OUT float
DM_LOOP(dm_smooth_l1_float) { DM_TERNARY }
#undef DM_X
#undef DM_OUT
#define DM_X double
#define DM_OUT double
DM_LOOP(dm_smooth_l1_double) { DM_TERNARY }
#undef DM_X
#undef DM_OUT
#undef DM_FORMULA
#define DM_FORMULA (((x - y) / z < -1 ? -1 : (x - y) / z) > 1 ? 1 : ((x - y) / z < -1 ? -1 : (x - y) / z))
#define DM_X float
#define DM_OUT float
DM_LOOP(dm_smooth_l1_slope_float) { DM_TERNARY }
#undef DM_X
#undef DM_OUT
#define DM_X double
#define DM_OUT double
DM_LOOP(dm_smooth_l1_slope_double) { DM_TERNARY }
#undef DM_X
#undef DM_OUT
#undef DM_FORMULA
#undef DM_SIZE

/* x where it is positive, else y x; and the gradient for a gradient z of it. */
#define DM_FORMULA (x > 0 ? x : y * x)
#define DM_X float
#define DM_OUT float
DM_LOOP(dm_parametric_relu_float) { DM_BINARY }
#undef DM_X
#undef DM_OUT
#define DM_X double
#define DM_OUT double
DM_LOOP(dm_parametric_relu_double) { DM_BINARY }
#undef DM_X
#undef DM_OUT
#undef DM_FORMULA
#define DM_FORMULA (x > 0 ? z : y * z)
#define DM_X float
#define DM_OUT float
DM_LOOP(dm_parametric_relu_gradient_float) { DM_TERNARY }
#undef DM_X
#undef DM_OUT
#define DM_X double
#define DM_OUT double
DM_LOOP(dm_parametric_relu_gradient_double) { DM_TERNARY }
#undef DM_X
#undef DM_OUT
#undef DM_FORMULA

/* The number in another type; whether it is not 0. */
#define DM_FORMULA ((DM_OUT) x)
#define DM_OUT float
#define DM_X int32_t
DM_LOOP(dm_cast_int_float) { DM_UNARY }
#undef DM_X
#define DM_X int64_t
DM_LOOP(dm_cast_long_float) { DM_UNARY }
#undef DM_X
#define DM_X uint8_t
DM_LOOP(dm_cast_byte_float) { DM_UNARY }
#undef DM_X
#define DM_X double
DM_LOOP(dm_cast_double_float) { DM_UNARY }
#undef DM_X
#undef DM_OUT
#define DM_OUT double
#define DM_X int32_t
DM_LOOP(dm_cast_int_double) { DM_UNARY }
#undef DM_X
#define DM_X int64_t
DM_LOOP(dm_cast_long_double) { DM_UNARY }
#undef DM_X
#define DM_X uint8_t
DM_LOOP(dm_cast_byte_double) { DM_UNARY }
#undef DM_X
#define DM_X float
DM_LOOP(dm_cast_float_double) { DM_UNARY }
#undef DM_X
#undef DM_OUT
#define DM_OUT int32_t
#define DM_X float
DM_LOOP(dm_cast_float_int) { DM_UNARY }
#undef DM_X
#define DM_X double
DM_LOOP(dm_cast_double_int) { DM_UNARY }
#undef DM_X
#define DM_X int64_t
DM_LOOP(dm_cast_long_int) { DM_UNARY }
#undef DM_X
#define DM_X uint8_t
DM_LOOP(dm_cast_byte_int) { DM_UNARY }
#undef DM_X
#undef DM_OUT
#define DM_OUT int64_t
#define DM_X float
DM_LOOP(dm_cast_float_long) { DM_UNARY }
#undef DM_X
#define DM_X double
DM_LOOP(dm_cast_double_long) { DM_UNARY }
#undef DM_X
#define DM_X int32_t
DM_LOOP(dm_cast_int_long) { DM_UNARY }
#undef DM_X
#define DM_X uint8_t
DM_LOOP(dm_cast_byte_long) { DM_UNARY }
#undef DM_X
#undef DM_OUT
#undef DM_FORMULA
#define DM_FORMULA (x != 0)
#define DM_OUT uint8_t
#define DM_X float
DM_LOOP(dm_cast_float_bool) { DM_UNARY }
#undef DM_X
#define DM_X double
DM_LOOP(dm_cast_double_bool) { DM_UNARY }
#undef DM_X
#define DM_X int32_t
DM_LOOP(dm_cast_int_bool) { DM_UNARY }
#undef DM_X
#define DM_X int64_t
DM_LOOP(dm_cast_long_bool) { DM_UNARY }
#undef DM_X
#undef DM_OUT
#undef DM_FORMULA

/* Whether a bool is false. */
#define DM_X uint8_t
#define DM_OUT uint8_t
#define DM_FORMULA (x == 0)
DM_LOOP(dm_logical_not) { DM_UNARY }
#undef DM_FORMULA
#undef DM_X
#undef DM_OUT

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

DM_LOOP(dm_fmod_float) { (void) options; dm_by_tiles(places, sizes, steps, dm_remainder_tile, 0); }
DM_LOOP(dm_remainder_float) { (void) options; dm_by_tiles(places, sizes, steps, dm_remainder_tile, 1); }
DM_LOOP(dm_power_float) { (void) options; dm_by_tiles(places, sizes, steps, dm_power_all, 0); }

/* All loops by the function that they belong to, with NumPy's letters for the types. */
typedef struct {
    const char *name;
    void (*loop)(char **, const dm_size *, const dm_size *, void *);
    const char *types;
} dm_entry;

static const dm_entry dm_entries[] = {
    {"select", dm_select_8, "????"},
    {"select", dm_select_8, "?bbb"},
    {"select", dm_select_8, "?BBB"},
    {"select", dm_select_16, "?hhh"},
    {"select", dm_select_16, "?HHH"},
    {"select", dm_select_32, "?iii"},
    {"select", dm_select_32, "?III"},
    {"select", dm_select_64, "?lll"},
    {"select", dm_select_64, "?LLL"},
    {"select", dm_select_64, "?qqq"},
    {"select", dm_select_64, "?QQQ"},
    {"select", dm_select_32, "?fff"},
    {"select", dm_select_64, "?ddd"},
    {"logical_not", dm_logical_not, "??"},
    {"clamp", dm_clamp_int, "iiii"},
    {"clamp", dm_clamp_long, "llll"},
    {"clamp", dm_clamp_float, "ffff"},
    {"clamp", dm_clamp_double, "dddd"},
    {"lerp", dm_lerp_float, "ffff"},
    {"lerp", dm_lerp_double, "dddd"},
    {"multiply_add", dm_multiply_add_float, "ffff"},
    {"multiply_add", dm_multiply_add_double, "dddd"},
    {"sign", dm_sign_float, "ff"},
    {"sign", dm_sign_double, "dd"},
    {"rsqrt", dm_rsqrt_float, "ff"},
    {"rsqrt", dm_rsqrt_double, "dd"},
    {"cube", dm_cube_float, "ff"},
    {"cube", dm_cube_double, "dd"},
    {"erf", dm_erf_double, "dd"},
    {"erfc", dm_erfc_float, "ff"},
    {"erfc", dm_erfc_double, "dd"},
    {"power", dm_power_float, "fff"},
    {"fmod", dm_fmod_float, "fff"},
    {"remainder", dm_remainder_float, "fff"},
    {"squared_difference", dm_squared_difference_float, "fff"},
    {"squared_difference", dm_squared_difference_double, "ddd"},
    {"absolute_difference", dm_absolute_difference_float, "fff"},
    {"absolute_difference", dm_absolute_difference_double, "ddd"},
    {"parametric_relu", dm_parametric_relu_float, "fff"},
    {"parametric_relu", dm_parametric_relu_double, "ddd"},
    {"squared_difference_gradient", dm_squared_difference_gradient_float, "ffff"},
    {"squared_difference_gradient", dm_squared_difference_gradient_double, "dddd"},
    {"absolute_difference_gradient", dm_absolute_difference_gradient_float, "ffff"},
    {"absolute_difference_gradient", dm_absolute_difference_gradient_double, "dddd"},
    {"smooth_l1", dm_smooth_l1_float, "ffff"},
    {"smooth_l1", dm_smooth_l1_double, "dddd"},
    {"smooth_l1_slope", dm_smooth_l1_slope_float, "ffff"},
    {"smooth_l1_slope", dm_smooth_l1_slope_double, "dddd"},
    {"parametric_relu_gradient", dm_parametric_relu_gradient_float, "ffff"},
    {"parametric_relu_gradient", dm_parametric_relu_gradient_double, "dddd"},
    {"to_float", dm_cast_int_float, "if"},
    {"to_float", dm_cast_long_float, "lf"},
    {"to_float", dm_cast_byte_float, "Bf"},
    {"to_float", dm_cast_byte_float, "?f"},
    {"to_float", dm_cast_double_float, "df"},
    {"to_double", dm_cast_int_double, "id"},
    {"to_double", dm_cast_long_double, "ld"},
    {"to_double", dm_cast_byte_double, "Bd"},
    {"to_double", dm_cast_byte_double, "?d"},
    {"to_double", dm_cast_float_double, "fd"},
    {"to_int", dm_cast_float_int, "fi"},
    {"to_int", dm_cast_double_int, "di"},
    {"to_int", dm_cast_long_int, "li"},
    {"to_int", dm_cast_byte_int, "Bi"},
    {"to_int", dm_cast_byte_int, "?i"},
    {"to_long", dm_cast_float_long, "fl"},
    {"to_long", dm_cast_double_long, "dl"},
    {"to_long", dm_cast_int_long, "il"},
    {"to_long", dm_cast_byte_long, "Bl"},
    {"to_long", dm_cast_byte_long, "?l"},
    {"to_bool", dm_cast_float_bool, "f?"},
    {"to_bool", dm_cast_double_bool, "d?"},
    {"to_bool", dm_cast_int_bool, "i?"},
    {"to_bool", dm_cast_long_bool, "l?"},
};

enum { DM_ENTRY_COUNT = sizeof dm_entries / sizeof dm_entries[0] };

#endif
