/* Inner loops of universal functions: of all types, and the table of all loops. */
#ifndef DIST_MS_POINTWISE_LOOPS_H
#define DIST_MS_POINTWISE_LOOPS_H

#include "pointwise_angles.h"
#include "pointwise_casts.h"
#include "pointwise_logarithms.h"
#include "pointwise_patterns.h"
#include "pointwise_roots.h"
#include "pointwise_special.h"
#include "pointwise_tiles.h"
#include "pointwise_wide.h"

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

/* Whether a bool is false. */
#define DM_X uint8_t
#define DM_OUT uint8_t
#define DM_FORMULA (x == 0)
DM_LOOP(dm_logical_not) { DM_UNARY }
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
    {"erfinv", dm_erfinv_float, "ff"},
    {"sqrt", dm_sqrt_float, "ff"},
    {"square", dm_square_float, "ff"},
    {"reciprocal", dm_reciprocal_float, "ff"},
    {"bits_sqrt", dm_sqrt_bits, "HH"},
    {"bits_square", dm_square_bits, "HH"},
    {"bits_reciprocal", dm_reciprocal_bits, "HH"},
    {"bits_rsqrt", dm_rsqrt_bits, "HH"},
    {"hypot", dm_hypot_float, "fff"},
    {"frac", dm_frac_float, "ff"},
    {"frac", dm_frac_double, "dd"},
    {"finite", dm_finite_float, "ffff"},
    {"finite", dm_finite_double, "dddd"},
    {"divide_add", dm_divide_add_float, "ffff"},
    {"divide_add", dm_divide_add_double, "dddd"},
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
    {"sin", dm_sin_float, "ff"},
    {"cos", dm_cos_float, "ff"},
    {"tan", dm_tan_float, "ff"},
    {"arcsin", dm_arcsin_float, "ff"},
    {"arccos", dm_arccos_float, "ff"},
    {"arctan", dm_arctan_float, "ff"},
    {"sinh", dm_sinh_float, "ff"},
    {"cosh", dm_cosh_float, "ff"},
    {"arctanh", dm_arctanh_float, "ff"},
    {"exp2", dm_exp2_float, "ff"},
    {"expm1", dm_expm1_float, "ff"},
    {"log1p", dm_log1p_float, "ff"},
    {"log2", dm_log2_float, "ff"},
    {"log10", dm_log10_float, "ff"},
    {"log", dm_log_float, "ff"},
    {"arctan2", dm_arctan2_float, "fff"},
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
    {"bits_to_int", dm_cast_bits_int, "Hi"},
    {"bits_to_long", dm_cast_bits_long, "Hl"},
    {"to_bool", dm_cast_float_bool, "f?"},
    {"to_bool", dm_cast_double_bool, "d?"},
    {"to_bool", dm_cast_int_bool, "i?"},
    {"to_bool", dm_cast_long_bool, "l?"},
};

enum { DM_ENTRY_COUNT = sizeof dm_entries / sizeof dm_entries[0] };

#endif
