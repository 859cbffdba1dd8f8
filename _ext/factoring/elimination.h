/* Gaussian elimination with row exchanges, float32 and float64: a matrix's triangular factors, and its inverse.
 *
 * Matrices are worked on PANEL columns at a time. Their lengths are multiples of PANEL, reached by ones on the diagonal,
 * and there is room for a panel behind each row. A panel is turned while it is factored, so that its columns are
 * vectors. What the factors below the diagonal are made of is kept negated, as products are added.
 */
#ifndef DIST_MS_ELIMINATION_H
#define DIST_MS_ELIMINATION_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "tile_product.h"
#include "tile_transpose.h"

#define PANEL 16

static inline ptrdiff_t dm_padded(ptrdiff_t n) { return (n + PANEL - 1) / PANEL * PANEL; }

/* From row to row: an odd number of cache lines, as columns would meet in few sets otherwise. */
static inline ptrdiff_t dm_row_step(ptrdiff_t n, int item) {
    ptrdiff_t line = TRANSPOSE_LINE / item, lines = (dm_padded(n) + PANEL) / line;
    return (lines | 1) * line;
}

/* DEFINE_ELIMINATION(type, word, suffix): `word` is a signed integer as long as the type. */
#define DEFINE_ELIMINATION(type, word, suffix)                                                                        \
/* The place of the largest magnitude of m numbers, the first of equal ones; NaN is larger than all. */               \
static ptrdiff_t dm_largest_##suffix(const type *x, ptrdiff_t m) {                                                    \
    const word *bits = (const word *) x;                                                                              \
    const word magnitude = (word) (~(uint64_t) 0 >> (65 - 8 * sizeof(type)));                                         \
    word best = 0;                                                                                                    \
    ptrdiff_t i = 0;                                                                                                  \
    for (ptrdiff_t k = 0; k < m; k++) {                                                                               \
        word found = bits[k] & magnitude;                                                                             \
        best = found > best ? found : best;                                                                           \
    }                                                                                                                 \
    while ((bits[i] & magnitude) != best) i++;                                                                        \
    return i;                                                                                                         \
}                                                                                                                     \
                                                                                                                      \
static void dm_swap_##suffix(type *a, type *b, ptrdiff_t count) {                                                     \
    for (ptrdiff_t i = 0; i < count; i++) {                                                                           \
        type kept = a[i];                                                                                             \
        a[i] = b[i];                                                                                                  \
        b[i] = kept;                                                                                                  \
    }                                                                                                                 \
}                                                                                                                     \
                                                                                                                      \
/* Turn the m rows of a panel of `a` into the columns of `panel`, whose rows are p apart, or back. */                 \
static void dm_turn_panel_##suffix(type *a, ptrdiff_t step, ptrdiff_t m, type *panel, ptrdiff_t p, int back) {        \
    enum { SIDE = TRANSPOSE_LINE / sizeof(type) };                                                                    \
    for (ptrdiff_t i = 0; i < m; i += SIDE)                                                                           \
        for (ptrdiff_t k = 0; k < PANEL; k += SIDE) {                                                                 \
            char *one = (char *) (a + i * step + k), *other = (char *) (panel + k * p + i);                           \
            if (back) dm_turn_tile(sizeof(type), other, p * sizeof(type), one, step * sizeof(type));                  \
            else dm_turn_tile(sizeof(type), one, step * sizeof(type), other, p * sizeof(type));                       \
        }                                                                                                             \
}                                                                                                                     \
                                                                                                                      \
/* Factor a turned panel of m rows; the row that came to each of the first PANEL places is noted. */                  \
static void dm_factor_panel_##suffix(type *panel, ptrdiff_t p, ptrdiff_t m, ptrdiff_t *from) {                        \
    for (ptrdiff_t j = 0; j < PANEL; j++) {                                                                           \
        type *column = panel + j * p;                                                                                 \
        ptrdiff_t row = from[j] = j + dm_largest_##suffix(column + j, m - j);                                         \
        if (row != j)                                                                                                 \
            for (ptrdiff_t k = 0; k < PANEL; k++) dm_swap_##suffix(panel + k * p + j, panel + k * p + row, 1);        \
        type pivot = column[j];                                                                                       \
        if (pivot == 0) continue;                                                                                     \
        for (ptrdiff_t i = j + 1; i < m; i++) column[i] = -column[i] / pivot;                                         \
        for (ptrdiff_t k = j + 1; k < PANEL; k++) {                                                                   \
            type *other = panel + k * p, factor = other[j];                                                           \
            for (ptrdiff_t i = j + 1; i < m; i++) other[i] += column[i] * factor;                                     \
        }                                                                                                             \
    }                                                                                                                 \
}                                                                                                                     \
                                                                                                                      \
/* Solve for PANEL rows of `x` with the unit lower triangle of which `a` has the negated rest. */                     \
static void dm_lower_rows_##suffix(const type *a, ptrdiff_t step, type *x, ptrdiff_t width) {                         \
    for (ptrdiff_t j = 1; j < PANEL; j++)                                                                             \
        for (ptrdiff_t i = 0; i < j; i++) {                                                                           \
            type factor = a[j * step + i], *to = x + j * step;                                                        \
            const type *row = x + i * step;                                                                           \
            for (ptrdiff_t k = 0; k < width; k++) to[k] += factor * row[k];                                           \
        }                                                                                                             \
}                                                                                                                     \
                                                                                                                      \
/* Solve for PANEL rows of `x` with the upper triangle in `a`; leave the results negated in `negated`, too. */        \
static void dm_upper_rows_##suffix(const type *a, ptrdiff_t step, type *x, ptrdiff_t width, type *negated) {          \
    for (ptrdiff_t j = PANEL - 1; j >= 0; j--) {                                                                      \
        type *to = x + j * step, *copy = negated + j * step, factor = 1 / a[j * step + j];                            \
        for (ptrdiff_t i = j + 1; i < PANEL; i++) {                                                                   \
            type other = a[j * step + i];                                                                             \
            const type *row = negated + i * step;                                                                     \
            for (ptrdiff_t k = 0; k < width; k++) to[k] += other * row[k];                                            \
        }                                                                                                             \
        for (ptrdiff_t k = 0; k < width; k++) {                                                                       \
            to[k] *= factor;                                                                                          \
            copy[k] = -to[k];                                                                                         \
        }                                                                                                             \
    }                                                                                                                 \
}                                                                                                                     \
                                                                                                                      \
/* c (rows, width) += a (rows, PANEL) b (PANEL, width), all with rows that are `step` apart. */                       \
static void dm_add_product_##suffix(                                                                                  \
    const type *a, ptrdiff_t rows, const type *b, type *c, ptrdiff_t width, ptrdiff_t step)                           \
{                                                                                                                     \
    enum { COLUMNS = TILE_COLUMNS(type) };                                                                            \
    dm_product_##suffix(rows, (width + COLUMNS - 1) / COLUMNS, PANEL, a, step, 1, b, COLUMNS, step, c, step, 1);      \
}                                                                                                                     \
                                                                                                                      \
/* Factor the padded matrix `a` of n rows. `order` says which row each has been, `panel` is scratch of PANEL rows.    \
   Rows to the left of a panel follow where `whole`. Returns whether the exchanges are odd. */                        \
static int dm_factor_##suffix(type *a, ptrdiff_t n, ptrdiff_t step, type *panel, ptrdiff_t *order, int whole) {       \
    int odd = 0;                                                                                                      \
    for (ptrdiff_t i = 0; i < n; i++) order[i] = i;                                                                   \
    for (ptrdiff_t k = 0; k < n; k += PANEL) {                                                                        \
        ptrdiff_t from[PANEL], behind = n - k - PANEL;                                                                \
        type *corner = a + k * step + k;                                                                              \
        dm_turn_panel_##suffix(corner, step, n - k, panel, step, 0);                                                  \
        dm_factor_panel_##suffix(panel, step, n - k, from);                                                           \
        dm_turn_panel_##suffix(corner, step, n - k, panel, step, 1);                                                  \
        for (ptrdiff_t j = 0; j < PANEL; j++) {                                                                       \
            if (from[j] == j) continue;                                                                               \
            type *one = a + (k + j) * step, *other = a + (k + from[j]) * step;                                        \
            ptrdiff_t kept = order[k + j];                                                                            \
            odd = !odd;                                                                                               \
            order[k + j] = order[k + from[j]];                                                                        \
            order[k + from[j]] = kept;                                                                                \
            if (whole) dm_swap_##suffix(one, other, k);                                                               \
            dm_swap_##suffix(one + k + PANEL, other + k + PANEL, behind);                                             \
        }                                                                                                             \
        if (behind <= 0) break;                                                                                       \
        dm_lower_rows_##suffix(corner, step, corner + PANEL, behind);                                                 \
        dm_add_product_##suffix(corner + PANEL * step, behind, corner + PANEL, corner + PANEL * step + PANEL,         \
                                behind, step);                                                                        \
    }                                                                                                                 \
    return odd;                                                                                                       \
}                                                                                                                     \
                                                                                                                      \
/* Lay the n x n numbers of `x` into `a`, with ones behind the end of the diagonal. */                                \
static void dm_lay_##suffix(const type *x, ptrdiff_t n, type *a, ptrdiff_t step) {                                    \
    memset(a, 0, dm_padded(n) * step * sizeof(type));                                                                 \
    for (ptrdiff_t i = 0; i < dm_padded(n); i++) {                                                                    \
        if (i < n) memcpy(a + i * step, x + i * n, n * sizeof(type));                                                 \
        else a[i * step + i] = 1;                                                                                     \
    }                                                                                                                 \
}                                                                                                                     \
                                                                                                                      \
/* Write the inverse of a matrix; returns 1 if it has none, -1 without memory. */                                     \
static int dm_invert_##suffix(const type *x, ptrdiff_t n, type *out) {                                                \
    ptrdiff_t rows = dm_padded(n), step = dm_row_step(n, sizeof(type)), size = rows * step;                           \
    type *a = aligned_alloc(TRANSPOSE_LINE, (2 * size + PANEL * step) * sizeof(type));                                \
    ptrdiff_t *order = malloc(rows * sizeof(ptrdiff_t));                                                              \
    int wrong = a == NULL || order == NULL ? -1 : 0;                                                                  \
    if (!wrong) {                                                                                                     \
        type *b = a + size, *panel = b + size;                                                                        \
        dm_lay_##suffix(x, n, a, step);                                                                               \
        dm_factor_##suffix(a, rows, step, panel, order, 1);                                                           \
        for (ptrdiff_t i = 0; i < n; i++) wrong |= a[i * step + i] == 0;                                              \
        memset(b, 0, size * sizeof(type));                                                                            \
        for (ptrdiff_t i = 0; i < rows; i++) b[i * step + i] = 1;                                                     \
        for (ptrdiff_t k = 0; k < rows && !wrong; k += PANEL) {                                                       \
            const type *corner = a + k * step + k;                                                                    \
            dm_lower_rows_##suffix(corner, step, b + k * step, k + PANEL);                                            \
            dm_add_product_##suffix(corner + PANEL * step, rows - k - PANEL, b + k * step,                            \
                                    b + (k + PANEL) * step, k + PANEL, step);                                         \
        }                                                                                                             \
        for (ptrdiff_t k = rows - PANEL; k >= 0 && !wrong; k -= PANEL) {                                              \
            dm_upper_rows_##suffix(a + k * step + k, step, b + k * step, rows, panel);                                \
            dm_add_product_##suffix(a + k, k, panel, b, rows, step);                                                  \
        }                                                                                                             \
        /* Many zeros come out as -0, which a sum with 0 is not. */                                                   \
        for (ptrdiff_t i = 0; i < n && !wrong; i++)                                                                   \
            for (ptrdiff_t k = 0; k < n; k++) out[i * n + order[k]] = b[i * step + k] + 0;                            \
    }                                                                                                                 \
    free(a);                                                                                                          \
    free(order);                                                                                                      \
    return wrong;                                                                                                     \
}

DEFINE_ELIMINATION(float, int32_t, f32)
DEFINE_ELIMINATION(double, int64_t, f64)

/* Write the determinant as part 2^power, 0.5 <= |part| < 1 or no such number; returns -1 without memory. */
static int dm_determinant(const double *x, ptrdiff_t n, double *part, int *power) {
    ptrdiff_t rows = dm_padded(n), step = dm_row_step(n, sizeof(double)), size = rows * step;
    double *a = aligned_alloc(TRANSPOSE_LINE, (size + PANEL * step) * sizeof(double));
    ptrdiff_t *order = malloc(rows * sizeof(ptrdiff_t));
    int wrong = a == NULL || order == NULL ? -1 : 0;
    if (!wrong) {
        int more = 0;
        dm_lay_f64(x, n, a, step);
        *part = dm_factor_f64(a, rows, step, a + size, order, 0) ? -0.5 : 0.5;
        *power = 1;
        for (ptrdiff_t i = 0; i < n; i++) {
            *part = frexp(*part * a[i * step + i], &more);
            *power += more;
        }
    }
    free(a);
    free(order);
    return wrong;
}

#endif
