/* Loops that convert numbers. */
#ifndef DIST_MS_POINTWISE_CASTS_H
#define DIST_MS_POINTWISE_CASTS_H

#include "pointwise_patterns.h"

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

/* Of the bits of bfloat16. */
#define DM_X uint16_t
#define DM_FORMULA ((DM_OUT) dm_of_bits(x))
#define DM_OUT int32_t
DM_LOOP(dm_cast_bits_int) { DM_UNARY }
#undef DM_OUT
#define DM_OUT int64_t
DM_LOOP(dm_cast_bits_long) { DM_UNARY }
#undef DM_OUT
#undef DM_FORMULA
#undef DM_X

#endif
