/* Sums of rows of weights, laid end to end: some of them noted, each made in the order of the weights.
 *
 * A sum waits for the one before, so those of several rows are made side by side.
 */
#ifndef DIST_MS_WEIGHTED_PLACES_H
#define DIST_MS_WEIGHTED_PLACES_H

#include <stddef.h>

/* Rows side by side, and weights from one noted sum to the next. */
#define SIDE_BY_SIDE 8
#define SPAN 8

/* Add SPAN numbers of each row to its sum: as scalars, since numbers of several rows do not lie as vectors. */
__attribute__((optimize("no-tree-vectorize", "no-tree-slp-vectorize")))
static void dm_add_spans(double wide[SIDE_BY_SIDE][SPAN], double *sums) {
    double a = sums[0], b = sums[1], c = sums[2], d = sums[3], e = sums[4], f = sums[5], g = sums[6], h = sums[7];
#pragma GCC unroll 8
    for (int k = 0; k < SPAN; k++) {
        a += wide[0][k], b += wide[1][k], c += wide[2][k], d += wide[3][k];
        e += wide[4][k], f += wide[5][k], g += wide[6][k], h += wide[7][k];
    }
    sums[0] = a, sums[1] = b, sums[2] = c, sums[3] = d, sums[4] = e, sums[5] = f, sums[6] = g, sums[7] = h;
}

/* DEFINE_ROW_SUMS(type, suffix). Write the sum up to each SPAN weights' end, and to the row's end, of up to SIDE_BY_SIDE
   rows; `ends` of a row are `spans` apart. Returns whether no weight is negative or no number. */
#define DEFINE_ROW_SUMS(type, suffix)                                                                                 \
static int dm_row_sums_##suffix(const type *weights, ptrdiff_t rows, ptrdiff_t size, double *ends, ptrdiff_t spans) { \
    double wide[SIDE_BY_SIDE][SPAN] = {{0}}, sums[SIDE_BY_SIDE] = {0};                                                \
    int wrong = 0;                                                                                                    \
    for (ptrdiff_t span = 0; span < spans; span++) {                                                                  \
        const type *from = weights + span * SPAN;                                                                     \
        ptrdiff_t count = size - span * SPAN;                                                                         \
        for (ptrdiff_t row = 0; row < rows; row++) {                                                                  \
            if (count >= SPAN)                                                                                        \
                for (int k = 0; k < SPAN; k++) {                                                                      \
                    wide[row][k] = from[row * size + k];                                                              \
                    wrong |= !(from[row * size + k] >= 0);                                                            \
                }                                                                                                     \
            else                                                                                                      \
                for (int k = 0; k < SPAN; k++) {                                                                      \
                    wide[row][k] = k < count ? from[row * size + k] : 0;                                              \
                    wrong |= !(wide[row][k] >= 0);                                                                    \
                }                                                                                                     \
        }                                                                                                             \
        dm_add_spans(wide, sums);                                                                                     \
        for (ptrdiff_t row = 0; row < rows; row++) ends[row * spans + span] = sums[row];                              \
    }                                                                                                                 \
    return !wrong;                                                                                                    \
}                                                                                                                     \
                                                                                                                      \
/* The first weight of a row that ends behind the mark, or `size`. */                                                 \
static ptrdiff_t dm_place_##suffix(                                                                                   \
    const type *weights, ptrdiff_t size, const double *ends, ptrdiff_t spans, double mark)                            \
{                                                                                                                     \
    ptrdiff_t low = 0, high = spans;                                                                                  \
    while (low < high) {                                                                                              \
        ptrdiff_t middle = (low + high) / 2;                                                                          \
        if (ends[middle] > mark) high = middle;                                                                       \
        else low = middle + 1;                                                                                        \
    }                                                                                                                 \
    if (low == spans) return size;                                                                                    \
    double sum = low ? ends[low - 1] : 0;                                                                             \
    ptrdiff_t i = low * SPAN;                                                                                         \
    for (; i < size; i++) {                                                                                           \
        sum += weights[i];                                                                                            \
        if (sum > mark) break;                                                                                        \
    }                                                                                                                 \
    return i;                                                                                                         \
}

DEFINE_ROW_SUMS(float, f32)
DEFINE_ROW_SUMS(double, f64)

#endif
