/* Gradients of bfloat16 that pass where x lies in a range and stop elsewhere: whole numbers are compared, none widened.
 *
 * A number's place is the whole number of its bits without the sign, less than 0 where that is set: in the order of the
 * values, both zeros at 0, and each NaN beyond an infinity.
 */
#ifndef DIST_MS_PASSING_H
#define DIST_MS_PASSING_H

#include <stddef.h>
#include <stdint.h>

#define DM_INFINITE 0x7f80 /* the place of infinity */

typedef struct {
    int16_t first, last; /* places that pass, */
    int16_t outside; /* or, if not 0, all others do, NaNs too */
    int16_t kept; /* bits of x that count: without the sign for a range of |x| */
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
    };
}

static inline void dm_pass(
    dm_passing range, const uint16_t *dy, const uint16_t *x, uint16_t *dx, ptrdiff_t size)
{
    for (ptrdiff_t i = 0; i < size; i++) {
        const int16_t bits = (int16_t) (x[i] & range.kept), far = bits & 0x7fff, place = bits < 0 ? -far : far;
        const uint16_t given = dy[i]; /* before the choice: without masks no vector is made of a read that is one's part */
        dx[i] = ((place >= range.first) & (place <= range.last)) != range.outside ? given : 0;
    }
}

#endif
