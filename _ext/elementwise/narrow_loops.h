/* Loops of bfloat16 that are widened and narrowed in registers: functions that take less time than a tile in scratch.
 *
 * As NumPy calls its loops; an operand's step is that of its elements, or 0 for one number. The results are those of a
 * float32 that is rounded once.
 */
#ifndef DIST_MS_NARROW_LOOPS_H
#define DIST_MS_NARROW_LOOPS_H

#include <string.h>
#include "narrow_vectors.h"

typedef void (*dm_narrow_loop)(char **places, const ptrdiff_t *sizes, const ptrdiff_t *steps, void *options);

typedef struct { const char *name; dm_narrow_loop loop; } dm_narrow_entry;

typedef dm_floats (*dm_formula)(dm_floats x, dm_floats y, dm_floats z);

/* Where an operand's next vector lies: in the array, or at one number's copies. */
static inline __attribute__((always_inline)) dm_words dm_narrow_step(
    const uint16_t *const *from, const int *moves, ptrdiff_t at, int operands, dm_formula formula)
{
    dm_pair x = dm_widen_pair(from[0] + (moves[0] ? at : 0)), y = x, z = x;
    if (operands > 1) y = dm_widen_pair(from[1] + (moves[1] ? at : 0));
    if (operands > 2) z = dm_widen_pair(from[2] + (moves[2] ? at : 0));
    return dm_narrow_pair((dm_pair) {formula(x.low, y.low, z.low), formula(x.high, y.high, z.high)});
}

static inline __attribute__((always_inline)) void dm_narrow_all(
    char **places, const ptrdiff_t *sizes, const ptrdiff_t *steps, int operands, dm_formula formula)
{
    const ptrdiff_t size = sizes[0];
    uint16_t copies[3][DM_PAIR], result[DM_PAIR];
    const uint16_t *from[3];
    int moves[3];
    ptrdiff_t at = 0;
    uint16_t *const out = (uint16_t *) places[operands];
    for (int i = 0; i < operands; i++) {
        moves[i] = steps[i] != 0;
        from[i] = moves[i] ? (const uint16_t *) places[i] : copies[i];
        for (int lane = 0; lane < DM_PAIR; lane++) copies[i][lane] = moves[i] ? 0 : *(const uint16_t *) places[i];
    }
    for (; at + DM_PAIR <= size; at += DM_PAIR)
        DM_REGISTER(storeu)((dm_words *) (out + at), dm_narrow_step(from, moves, at, operands, formula));
    if (at < size) {
        for (int i = 0; i < operands; i++)
            if (moves[i]) {
                memcpy(copies[i], from[i] + at, (size - at) * sizeof(uint16_t));
                from[i] = copies[i];
            }
        DM_REGISTER(storeu)((dm_words *) result, dm_narrow_step(from, moves, 0, operands, formula));
        memcpy(out + at, result, (size - at) * sizeof(uint16_t));
    }
}

#define DM_NARROW(name, operands, formula)                                                                            \
    static inline __attribute__((always_inline)) dm_floats dm_of_##name(dm_floats x, dm_floats y, dm_floats z)        \
    {                                                                                                                 \
        (void) y, (void) z;                                                                                           \
        return formula;                                                                                               \
    }                                                                                                                 \
    static __attribute__((unused)) void dm_narrow_##name(char **places, const ptrdiff_t *sizes, const ptrdiff_t *steps, void *options)\
    {                                                                                                                 \
        (void) options;                                                                                               \
        dm_narrow_all(places, sizes, steps, operands, dm_of_##name);                                                  \
    }

#define DM_ONE DM_VECTOR(set1_ps)(1.0f)

DM_NARROW(add, 2, DM_VECTOR(add_ps)(x, y))
DM_NARROW(subtract, 2, DM_VECTOR(sub_ps)(x, y))
DM_NARROW(multiply, 2, DM_VECTOR(mul_ps)(x, y))
DM_NARROW(divide, 2, DM_VECTOR(div_ps)(x, y))
DM_NARROW(sqrt, 1, DM_VECTOR(sqrt_ps)(x))
DM_NARROW(square, 1, DM_VECTOR(mul_ps)(x, x))
DM_NARROW(reciprocal, 1, DM_VECTOR(div_ps)(DM_ONE, x))
DM_NARROW(rsqrt, 1, DM_VECTOR(div_ps)(DM_ONE, DM_VECTOR(sqrt_ps)(x)))
DM_NARROW(squared_difference, 2, DM_VECTOR(mul_ps)(DM_VECTOR(sub_ps)(x, y), DM_VECTOR(sub_ps)(x, y)))
DM_NARROW(divide_add, 3, DM_VECTOR(add_ps)(x, DM_VECTOR(div_ps)(y, z)))
#ifdef __FMA__
DM_NARROW(multiply_add, 3, DM_VECTOR(fmadd_ps)(y, z, x))
DM_NARROW(lerp, 3, DM_VECTOR(fmadd_ps)(z, DM_VECTOR(sub_ps)(y, x), x))
#else
DM_NARROW(multiply_add, 3, DM_VECTOR(add_ps)(x, DM_VECTOR(mul_ps)(y, z)))
DM_NARROW(lerp, 3, DM_VECTOR(add_ps)(x, DM_VECTOR(mul_ps)(z, DM_VECTOR(sub_ps)(y, x))))
#endif

/* Those that choose need no vectors of their own with AVX-512. */
#ifndef __AVX512F__
/* x where it is a NaN, else y. */
#define DM_NAN_OR(x, y) DM_VECTOR(blendv_ps)(y, x, DM_IS_NAN(x))

/* The instructions give the second operand if one is a NaN. */
DM_NARROW(maximum, 2, DM_NAN_OR(x, DM_VECTOR(max_ps)(x, y)))
DM_NARROW(minimum, 2, DM_NAN_OR(x, DM_VECTOR(min_ps)(x, y)))
DM_NARROW(floor, 1, DM_VECTOR(round_ps)(x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC))
DM_NARROW(ceil, 1, DM_VECTOR(round_ps)(x, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC))
DM_NARROW(trunc, 1, DM_VECTOR(round_ps)(x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC))
DM_NARROW(rint, 1, DM_VECTOR(round_ps)(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC))
/* Limits that are no NaN; an x that is one stays, as the second operand. */
DM_NARROW(clamp, 3, DM_VECTOR(min_ps)(z, DM_VECTOR(max_ps)(y, x)))
DM_NARROW(parametric_relu, 2,
    DM_VECTOR(blendv_ps)(DM_VECTOR(mul_ps)(x, y), x, DM_ABOVE(x, DM_VECTOR(setzero_ps)())))
DM_NARROW(parametric_relu_gradient, 3,
    DM_VECTOR(blendv_ps)(DM_VECTOR(mul_ps)(y, z), z, DM_ABOVE(x, DM_VECTOR(setzero_ps)())))
DM_NARROW(absolute_difference, 2, DM_VECTOR(andnot_ps)(DM_VECTOR(set1_ps)(-0.0f), DM_VECTOR(sub_ps)(x, y)))
DM_NARROW(sign, 1, DM_NAN_OR(x, DM_VECTOR(sub_ps)(
    DM_VECTOR(and_ps)(DM_ONE, DM_ABOVE(x, DM_VECTOR(setzero_ps)())),
    DM_VECTOR(and_ps)(DM_ONE, DM_ABOVE(DM_VECTOR(setzero_ps)(), x)))))
/* y for NaN, and z, which is positive, as the largest size. */
DM_NARROW(finite, 3, DM_VECTOR(blendv_ps)(
    DM_VECTOR(min_ps)(z, DM_VECTOR(max_ps)(DM_VECTOR(sub_ps)(DM_VECTOR(setzero_ps)(), z), x)), y, DM_IS_NAN(x)))
#endif

/* By the name of the universal function whose results they give. */
#define DM_ENTRY(name) {#name, dm_narrow_##name}
static const dm_narrow_entry dm_narrow_entries[] = {
    DM_ENTRY(add), DM_ENTRY(subtract), DM_ENTRY(multiply), DM_ENTRY(divide), DM_ENTRY(sqrt), DM_ENTRY(square),
    DM_ENTRY(reciprocal), DM_ENTRY(rsqrt), DM_ENTRY(squared_difference), DM_ENTRY(divide_add), DM_ENTRY(multiply_add),
    DM_ENTRY(lerp),
#ifndef __AVX512F__
    DM_ENTRY(maximum), DM_ENTRY(minimum), DM_ENTRY(floor), DM_ENTRY(ceil), DM_ENTRY(trunc), DM_ENTRY(rint),
    DM_ENTRY(clamp), DM_ENTRY(parametric_relu), DM_ENTRY(parametric_relu_gradient), DM_ENTRY(absolute_difference), DM_ENTRY(sign),
    DM_ENTRY(finite),
#endif
};
enum { DM_NARROW_ENTRIES = sizeof dm_narrow_entries / sizeof dm_narrow_entries[0] };

#endif
