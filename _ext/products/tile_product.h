/* Products of small matrices, float32 and float64, one thread each: what blocks of an attention are made of.
 *
 * A tile of the result, TILE_ROWS rows by two vectors, stays in registers for the whole inner axis. One source
 * serves all CPU levels: the length of a vector and the number of rows are those that fill the registers of the
 * level that is compiled for.
 */
#ifndef DIST_MS_TILE_PRODUCT_H
#define DIST_MS_TILE_PRODUCT_H

#include <stddef.h>

#if defined(__AVX512F__)
#define VECTOR_BYTES 64
#define TILE_ROWS 12
#elif defined(__AVX__)
#define VECTOR_BYTES 32
#define TILE_ROWS 6
#else
#define VECTOR_BYTES 16
#define TILE_ROWS 6
#endif

/* Two vectors: how many columns a tile has. */
#define TILE_COLUMNS(type) (2 * VECTOR_BYTES / (int) sizeof(type))

static inline ptrdiff_t dm_columns_f32(void) { return TILE_COLUMNS(float); }
static inline ptrdiff_t dm_columns_f64(void) { return TILE_COLUMNS(double); }

#define DEFINE_TILE_PRODUCT(type, suffix)                                                                             \
typedef type dm_vector_##suffix __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(type)), may_alias));         \
                                                                                                                      \
static inline __attribute__((always_inline)) void dm_tile_##suffix(                                                   \
    int rows, ptrdiff_t depth, const type *a, ptrdiff_t a_row, ptrdiff_t a_step, const type *b, ptrdiff_t b_step,     \
    type *c, ptrdiff_t c_row, int adds)                                                                               \
{                                                                                                                     \
    enum { LENGTH = VECTOR_BYTES / sizeof(type) };                                                                    \
    dm_vector_##suffix left[TILE_ROWS], right[TILE_ROWS];                                                             \
    _Pragma("GCC unroll 16")                                                                                          \
    for (int i = 0; i < rows; i++) {                                                                                  \
        left[i] = right[i] = (dm_vector_##suffix) {0};                                                                \
    }                                                                                                                 \
    for (ptrdiff_t k = 0; k < depth; k++) {                                                                           \
        dm_vector_##suffix first = *(const dm_vector_##suffix *) (b + k * b_step);                                    \
        dm_vector_##suffix second = *(const dm_vector_##suffix *) (b + k * b_step + LENGTH);                          \
        _Pragma("GCC unroll 16")                                                                                      \
        for (int i = 0; i < rows; i++) {                                                                              \
            type factor = a[i * a_row + k * a_step];                                                                  \
            left[i] += factor * first;                                                                                \
            right[i] += factor * second;                                                                              \
        }                                                                                                             \
    }                                                                                                                 \
    _Pragma("GCC unroll 16")                                                                                          \
    for (int i = 0; i < rows; i++) {                                                                                  \
        dm_vector_##suffix *to = (dm_vector_##suffix *) (c + i * c_row);                                              \
        dm_vector_##suffix *behind = (dm_vector_##suffix *) (c + i * c_row + LENGTH);                                 \
        *to = adds ? (dm_vector_##suffix) (*to + left[i]) : left[i];                                                  \
        *behind = adds ? (dm_vector_##suffix) (*behind + right[i]) : right[i];                                        \
    }                                                                                                                 \
}                                                                                                                     \
                                                                                                                      \
/* c = a b, or c + a b. Row i of `a` begins at i a_row, its elements are a_step apart; panel p of `b`, as many        \
   columns as a tile has, begins at p b_panel, its rows are b_step apart. `c` has room for whole panels. */           \
static void dm_product_##suffix(                                                                                      \
    ptrdiff_t rows, ptrdiff_t panels, ptrdiff_t depth, const type *a, ptrdiff_t a_row, ptrdiff_t a_step,              \
    const type *b, ptrdiff_t b_panel, ptrdiff_t b_step, type *c, ptrdiff_t c_row, int adds)                           \
{                                                                                                                     \
    for (ptrdiff_t p = 0; p < panels; p++) {                                                                          \
        const type *of_b = b + p * b_panel;                                                                           \
        type *of_c = c + p * TILE_COLUMNS(type);                                                                      \
        ptrdiff_t i = 0;                                                                                              \
        for (; i + TILE_ROWS <= rows; i += TILE_ROWS)                                                                 \
            dm_tile_##suffix(TILE_ROWS, depth, a + i * a_row, a_row, a_step, of_b, b_step,                            \
                             of_c + i * c_row, c_row, adds);                                                          \
        for (; i + 4 <= rows; i += 4)                                                                                 \
            dm_tile_##suffix(4, depth, a + i * a_row, a_row, a_step, of_b, b_step, of_c + i * c_row, c_row, adds);    \
        for (; i < rows; i++)                                                                                         \
            dm_tile_##suffix(1, depth, a + i * a_row, a_row, a_step, of_b, b_step, of_c + i * c_row, c_row, adds);    \
    }                                                                                                                 \
}

DEFINE_TILE_PRODUCT(float, f32)
DEFINE_TILE_PRODUCT(double, f64)

#endif
