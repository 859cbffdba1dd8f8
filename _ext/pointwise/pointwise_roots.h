/* Loops of powers, roots and quotients. */
#ifndef DIST_MS_POINTWISE_ROOTS_H
#define DIST_MS_POINTWISE_ROOTS_H

#include "narrow_loops.h"
#include "pointwise_patterns.h"

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

/* Roots, squares and reciprocals of float32: NumPy's loops have four lanes. */
#define DM_X float
#define DM_OUT float
#define DM_FORMULA (sqrtf(x))
DM_LOOP(dm_sqrt_float) { DM_UNARY }
#undef DM_FORMULA
#define DM_FORMULA (x * x)
DM_LOOP(dm_square_float) { DM_UNARY }
#undef DM_FORMULA
#define DM_FORMULA (1.0f / x)
DM_LOOP(dm_reciprocal_float) { DM_UNARY }
#undef DM_FORMULA

/* The same of the bits of bfloat16, which need no scratch on the way. */
#define DM_SIDE_BY_SIDE(name)                                            \
    if (steps[0] == sizeof(uint16_t) && steps[1] == sizeof(uint16_t)) {  \
        dm_narrow_##name(places, sizes, steps, options);                 \
        return;                                                          \
    }                                                                    \
    DM_UNARY
#undef DM_X
#undef DM_OUT
#define DM_X uint16_t
#define DM_OUT uint16_t
#define DM_FORMULA (dm_to_bits(sqrtf(dm_of_bits(x))))
DM_LOOP(dm_sqrt_bits) { DM_SIDE_BY_SIDE(sqrt) }
#undef DM_FORMULA
#define DM_FORMULA (dm_to_bits(dm_of_bits(x) * dm_of_bits(x)))
DM_LOOP(dm_square_bits) { DM_SIDE_BY_SIDE(square) }
#undef DM_FORMULA
#define DM_FORMULA (dm_to_bits(1.0f / dm_of_bits(x)))
DM_LOOP(dm_reciprocal_bits) { DM_SIDE_BY_SIDE(reciprocal) }
#undef DM_FORMULA
#define DM_FORMULA (dm_to_bits(1.0f / sqrtf(dm_of_bits(x))))
DM_LOOP(dm_rsqrt_bits) { DM_SIDE_BY_SIDE(rsqrt) }
#undef DM_FORMULA
#undef DM_X
#undef DM_OUT
#define DM_X float
#define DM_OUT float

/* sqrt(x^2 + y^2), by way of float64, which holds the squares; infinite if one of them is, whatever the other. */
#define DM_FORMULA \
    (fabsf(x) == INFINITY || fabsf(y) == INFINITY ? INFINITY : (float) sqrt((double) x * x + (double) y * y))
DM_LOOP(dm_hypot_float) { DM_BINARY }
#undef DM_FORMULA

/* x without its integer part, and x plus a quotient. */
#define DM_FORMULA (x - truncf(x))
DM_LOOP(dm_frac_float) { DM_UNARY }
#undef DM_FORMULA
#define DM_FORMULA (x + y / z)
DM_LOOP(dm_divide_add_float) { DM_TERNARY }
#undef DM_FORMULA

/* y for NaN, and the infinities as z and -z. */
#define DM_FORMULA (x != x ? y : x > z ? z : x < -z ? -z : x)
DM_LOOP(dm_finite_float) { DM_TERNARY }
#undef DM_X
#undef DM_OUT
#define DM_X double
#define DM_OUT double
DM_LOOP(dm_finite_double) { DM_TERNARY }
#undef DM_FORMULA
#define DM_FORMULA (x - trunc(x))
DM_LOOP(dm_frac_double) { DM_UNARY }
#undef DM_FORMULA
#define DM_FORMULA (x + y / z)
DM_LOOP(dm_divide_add_double) { DM_TERNARY }
#undef DM_FORMULA
#undef DM_X
#undef DM_OUT

#endif
