/* A product whose first factor has few rows: the second factor, read once where it lies, is most of the work.
 *
 * A block of the result, all rows (eight at most) by a few columns, stays in registers for the whole inner axis. Every
 * element adds up its products in an order of its own, so neither threads nor where a block begins change a bit.
 */
#ifndef DIST_MS_FEW_ROWS_H
#define DIST_MS_FEW_ROWS_H

#include <stddef.h>

#if defined(__AVX512F__)
#define FEW_BYTES 64
#define FEW_REGISTERS 24 /* for sums */
#elif defined(__AVX__)
#define FEW_BYTES 32
#define FEW_REGISTERS 12
#else
#define FEW_BYTES 16
#define FEW_REGISTERS 12
#endif
#define FEW_LENGTH (FEW_BYTES / 4)
#define FEW_ROWS 8
/* Rows of the second factor that are fetched ahead: they lie too far apart for the CPU to guess. */
#define FEW_AHEAD 12

typedef float few_vector __attribute__((vector_size(FEW_BYTES), aligned(4), may_alias));
typedef int few_places __attribute__((vector_size(FEW_BYTES)));

/* How many vectors of columns, or columns that lie in memory, a block of so many rows has. */
#define FEW_BLOCK(rows) ((rows) > 6 ? FEW_REGISTERS / 8 : (rows) > 4 ? FEW_REGISTERS / 6 : FEW_REGISTERS / 4)
/* Columns that no block has more of. */
#define FEW_COLUMNS (FEW_REGISTERS / 4 * FEW_LENGTH)

/* A block of columns whose rows are neighbours: rows of `b` are `b_step` apart, those of `a` and `c` `a_row`, `c_row`. */
static inline __attribute__((always_inline)) void few_along_rows(
    int rows, ptrdiff_t depth, const float *a, ptrdiff_t a_row, const float *b, ptrdiff_t b_step, const float *bias,
    float *c, ptrdiff_t c_row)
{
    const int vectors = FEW_BLOCK(rows);
    few_vector sums[FEW_REGISTERS], x[FEW_REGISTERS / 4];
    _Pragma("GCC unroll 24")
    for (int s = 0; s < rows * vectors; s++)
        sums[s] = (few_vector) {0};
    for (ptrdiff_t k = 0; k < depth; k++) {
        _Pragma("GCC unroll 8")
        for (int v = 0; v < vectors; v++) {
            x[v] = *(const few_vector *) (b + k * b_step + v * FEW_LENGTH);
            __builtin_prefetch(b + (k + FEW_AHEAD) * b_step + v * FEW_LENGTH);
        }
        _Pragma("GCC unroll 8")
        for (int i = 0; i < rows; i++) {
            float factor = a[i * a_row + k];
            _Pragma("GCC unroll 8")
            for (int v = 0; v < vectors; v++)
                sums[i * vectors + v] += factor * x[v];
        }
    }
    _Pragma("GCC unroll 8")
    for (int i = 0; i < rows; i++) {
        _Pragma("GCC unroll 8")
        for (int v = 0; v < vectors; v++) {
            few_vector sum = sums[i * vectors + v];
            if (bias)
                sum += *(const few_vector *) (bias + v * FEW_LENGTH);
            *(few_vector *) (c + i * c_row + v * FEW_LENGTH) = sum;
        }
    }
}

/* Places of two vectors from which the lanes of their joint sums come: groups of `half` lanes in turns, or, with `half`
 * added, the groups behind them. */
#define FEW_PLACE(lane, half) ((lane) / (half) % 2 ? (lane) - (half) + FEW_LENGTH : (lane))
#define FEW_FOUR(lane, half, more)                                                                                    \
    FEW_PLACE(lane, half) + more, FEW_PLACE(lane + 1, half) + more, FEW_PLACE(lane + 2, half) + more,                 \
        FEW_PLACE(lane + 3, half) + more
#if FEW_LENGTH == 16
#define FEW_PLACES(half, more)                                                                                        \
    (few_places) {FEW_FOUR(0, half, more), FEW_FOUR(4, half, more), FEW_FOUR(8, half, more), FEW_FOUR(12, half, more)}
#elif FEW_LENGTH == 8
#define FEW_PLACES(half, more) (few_places) {FEW_FOUR(0, half, more), FEW_FOUR(4, half, more)}
#else
#define FEW_PLACES(half, more) (few_places) {FEW_FOUR(0, half, more)}
#endif
#define FEW_JOIN(half)                                                                                                \
    _Pragma("GCC unroll 8")                                                                                           \
    for (int pair = 0; pair < FEW_LENGTH; pair += 2 * half)                                                           \
        x[pair] = __builtin_shuffle(x[pair], x[pair + half], FEW_PLACES(half, 0))                                     \
                + __builtin_shuffle(x[pair], x[pair + half], FEW_PLACES(half, half));

/* The sums of the lanes of as many vectors as a vector has lanes, in `x[0]`: neighbours are joined again and again. */
static inline __attribute__((always_inline)) void few_totals(few_vector *x)
{
    FEW_JOIN(1)
    FEW_JOIN(2)
#if FEW_LENGTH > 4
    FEW_JOIN(4)
#endif
#if FEW_LENGTH > 8
    FEW_JOIN(8)
#endif
}

/* A block of columns each of which lies in memory as a whole; they are `b_step` apart. */
static inline __attribute__((always_inline)) void few_along_columns(
    int rows, ptrdiff_t depth, const float *a, ptrdiff_t a_row, const float *b, ptrdiff_t b_step, const float *bias,
    float *c, ptrdiff_t c_row)
{
    enum { MOST = 32 }; /* sums in whole groups of FEW_LENGTH */
    const int columns = FEW_BLOCK(rows);
    few_vector sums[MOST], x[FEW_REGISTERS / 4];
    float totals[MOST];
    ptrdiff_t k = 0;
    _Pragma("GCC unroll 32")
    for (int s = 0; s < MOST; s++)
        sums[s] = (few_vector) {0};
    for (; k + FEW_LENGTH <= depth; k += FEW_LENGTH) {
        _Pragma("GCC unroll 8")
        for (int j = 0; j < columns; j++)
            x[j] = *(const few_vector *) (b + j * b_step + k);
        _Pragma("GCC unroll 8")
        for (int i = 0; i < rows; i++) {
            few_vector y = *(const few_vector *) (a + i * a_row + k);
            __asm__ ("" : "+x"(y)); /* loaded once, not by every product: it may cross a line of the cache */
            _Pragma("GCC unroll 8")
            for (int j = 0; j < columns; j++)
                sums[i * columns + j] += y * x[j];
        }
    }
    _Pragma("GCC unroll 8")
    for (int from = 0; from < rows * columns; from += FEW_LENGTH) {
        few_totals(sums + from);
        *(few_vector *) (totals + from) = sums[from];
    }
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < columns; j++) {
            float total = totals[i * columns + j];
            for (ptrdiff_t rest = k; rest < depth; rest++)
                total += a[i * a_row + rest] * b[j * b_step + rest];
            c[i * c_row + j] = bias ? total + bias[j] : total;
        }
    }
}

typedef void few_function(
    ptrdiff_t depth, const float *a, ptrdiff_t a_row, const float *b, ptrdiff_t b_step, const float *bias, float *c,
    ptrdiff_t c_row);

#define DEFINE_FEW(rows)                                                                                              \
static void few_along_rows_##rows(                                                                                    \
    ptrdiff_t depth, const float *a, ptrdiff_t a_row, const float *b, ptrdiff_t b_step, const float *bias, float *c,  \
    ptrdiff_t c_row)                                                                                                  \
{                                                                                                                     \
    few_along_rows(rows, depth, a, a_row, b, b_step, bias, c, c_row);                                                 \
}                                                                                                                     \
static void few_along_columns_##rows(                                                                                 \
    ptrdiff_t depth, const float *a, ptrdiff_t a_row, const float *b, ptrdiff_t b_step, const float *bias, float *c,  \
    ptrdiff_t c_row)                                                                                                  \
{                                                                                                                     \
    few_along_columns(rows, depth, a, a_row, b, b_step, bias, c, c_row);                                              \
}

DEFINE_FEW(1) DEFINE_FEW(2) DEFINE_FEW(3) DEFINE_FEW(4) DEFINE_FEW(5) DEFINE_FEW(6) DEFINE_FEW(7) DEFINE_FEW(8)

static few_function *const few_of_rows[] = {
    few_along_rows_1, few_along_rows_2, few_along_rows_3, few_along_rows_4,
    few_along_rows_5, few_along_rows_6, few_along_rows_7, few_along_rows_8,
};
static few_function *const few_of_columns[] = {
    few_along_columns_1, few_along_columns_2, few_along_columns_3, few_along_columns_4,
    few_along_columns_5, few_along_columns_6, few_along_columns_7, few_along_columns_8,
};

/* How many columns a block of so many rows has. */
static inline ptrdiff_t few_columns(ptrdiff_t rows, int along_rows)
{
    return FEW_BLOCK(rows) * (along_rows ? FEW_LENGTH : 1);
}

/* Write a block of the product: `rows` rows by `few_columns` columns from the given one on. */
static inline void few_product(
    ptrdiff_t rows, int along_rows, ptrdiff_t column, ptrdiff_t depth, const float *a, ptrdiff_t a_row, const float *b,
    ptrdiff_t b_step, const float *bias, float *c, ptrdiff_t c_row)
{
    few_function *run = (along_rows ? few_of_rows : few_of_columns)[rows - 1];
    run(depth, a, a_row, b + column * (along_rows ? 1 : b_step), b_step, bias ? bias + column : bias, c + column, c_row);
}

#endif
