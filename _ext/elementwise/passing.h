/* Gradients of bfloat16 that pass where x lies in a range and stop elsewhere: whole numbers are compared, none widened.
 * At a corner half may pass.
 *
 * A number's place is the whole number of its bits without the sign, less than 0 where that is set: in the order of the
 * values, both zeros at 0, and each NaN beyond an infinity.
 */
#ifndef DIST_MS_PASSING_H
#define DIST_MS_PASSING_H

#include <stddef.h>
#include <stdint.h>

#define DM_INFINITE 0x7f80 /* the place of infinity */
#define DM_NOWHERE INT16_MIN /* the place of no number */
#define DM_STEP 0x80 /* what one more in the exponent adds to a place */

typedef struct {
    int16_t first, last; /* places that pass, */
    int16_t outside; /* or, if not 0, all others do, NaNs too */
    int16_t kept; /* bits of x that count: without the sign for a range of |x| */
    int16_t corners[2]; /* places where half of dy passes, or DM_NOWHERE */
} dm_passing;

/* The place of the first bfloat16 above a number that is not NaN, or with `itself` at or above it. */
static inline int dm_place_above(float x, int itself)
{
    const union { float value; uint32_t bits; } number = {x};
    const int size = (number.bits & 0x7fffffff) >> 16, exact = !(number.bits & 0xffff);
    return x < 0 ? (exact && !itself) - size : size + !(exact && itself);
}

static inline dm_passing dm_passing_between(int first, int last, int outside, int of_size)
{
    return (dm_passing) {
        (int16_t) (first < -DM_INFINITE ? -DM_INFINITE : first),
        (int16_t) (last > DM_INFINITE ? DM_INFINITE : last),
        (int16_t) outside,
        (int16_t) (of_size ? 0x7fff : 0xffff),
        {DM_NOWHERE, DM_NOWHERE},
    };
}

/* The place of a corner: nowhere if no bfloat16 is that number. */
static inline int16_t dm_corner_at(float x)
{
    const int place = dm_place_above(x, 1);
    return (int16_t) (place < dm_place_above(x, 0) ? place : DM_NOWHERE);
}

/* Half a bfloat16, rounded to even: below the second exponent a place counts equal steps, above only that is one less. */
static inline uint16_t dm_half(uint16_t x)
{
    const int16_t size = x & 0x7fff, odd = (size >> 1) & 1;
    const int16_t small = (int16_t) (size + odd) >> 1, large = size < DM_INFINITE ? size - DM_STEP : size;
    return (uint16_t) ((x & 0x8000) | (size < 2 * DM_STEP ? small : large));
}

static inline int16_t dm_place(uint16_t x, int16_t kept)
{
    const int16_t bits = (int16_t) (x & kept), far = bits & 0x7fff;
    return bits < 0 ? -far : far;
}

static inline void dm_pass(
    dm_passing range, const uint16_t *dy, const uint16_t *x, uint16_t *dx, ptrdiff_t size)
{
    for (ptrdiff_t i = 0; i < size; i++) {
        const int16_t place = dm_place(x[i], range.kept);
        const uint16_t given = dy[i]; /* before the choice: without masks no vector is made of a read that is one's part */
        dx[i] = ((place >= range.first) & (place <= range.last)) != range.outside ? given : 0;
    }
}

static inline void dm_pass_with_corners(
    dm_passing range, const uint16_t *dy, const uint16_t *x, uint16_t *dx, ptrdiff_t size)
{
    for (ptrdiff_t i = 0; i < size; i++) {
        const int16_t place = dm_place(x[i], range.kept);
        const uint16_t given = dy[i], half = dm_half(given);
        const uint16_t corner = ((place == range.corners[0]) | (place == range.corners[1])) ? half : 0;
        dx[i] = ((place >= range.first) & (place <= range.last)) != range.outside ? given : corner;
    }
}

#endif
