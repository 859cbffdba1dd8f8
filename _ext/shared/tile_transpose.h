/* Transposes of tiles as wide and as high as a cache line: TRANSPOSE_LINE bytes a row, words of 1, 2, 4 or 8 bytes.
 *
 * Whole lines are read and whole lines are written, each once: rows that lie at multiples of 4 KiB share a few places
 * of the first cache, where a second visit would find its line gone. In between, 128-bit registers turn small squares.
 */
#ifndef DIST_MS_TILE_TRANSPOSE_H
#define DIST_MS_TILE_TRANSPOSE_H

#include <stddef.h>
#include <string.h>
#include <emmintrin.h>

#define TRANSPOSE_LINE 64

#define LOAD(row) _mm_loadu_si128((const __m128i *) (in + (row) * from))
#define STORE(row, x) _mm_storeu_si128((__m128i *) (out + (row) * to), x)

/* A square of 2 x 2 words of 8 bytes, whose rows are `from` bytes apart in `in` and `to` in `out`. */
static inline void dm_turn_8(const char *in, ptrdiff_t from, char *out, ptrdiff_t to) {
    __m128i a = LOAD(0), b = LOAD(1);
    STORE(0, _mm_unpacklo_epi64(a, b));
    STORE(1, _mm_unpackhi_epi64(a, b));
}

/* 4 x 4 words of 4 bytes. */
static inline void dm_turn_4(const char *in, ptrdiff_t from, char *out, ptrdiff_t to) {
    __m128i a = LOAD(0), b = LOAD(1), c = LOAD(2), d = LOAD(3);
    __m128i ab = _mm_unpacklo_epi32(a, b), cd = _mm_unpacklo_epi32(c, d);
    STORE(0, _mm_unpacklo_epi64(ab, cd));
    STORE(1, _mm_unpackhi_epi64(ab, cd));
    ab = _mm_unpackhi_epi32(a, b);
    cd = _mm_unpackhi_epi32(c, d);
    STORE(2, _mm_unpacklo_epi64(ab, cd));
    STORE(3, _mm_unpackhi_epi64(ab, cd));
}

/* 8 x 8 words of 2 bytes. */
static inline void dm_turn_2(const char *in, ptrdiff_t from, char *out, ptrdiff_t to) {
    __m128i pairs[8], quads[8];
    for (int i = 0; i < 4; i++) {
        __m128i a = LOAD(2 * i), b = LOAD(2 * i + 1);
        pairs[2 * i] = _mm_unpacklo_epi16(a, b);
        pairs[2 * i + 1] = _mm_unpackhi_epi16(a, b);
    }
    for (int half = 0; half < 2; half++)
        for (int i = 0; i < 2; i++) {
            __m128i a = pairs[4 * i + half], b = pairs[4 * i + 2 + half];
            quads[4 * half + i] = _mm_unpacklo_epi32(a, b);
            quads[4 * half + 2 + i] = _mm_unpackhi_epi32(a, b);
        }
    for (int i = 0; i < 4; i++) {
        STORE(2 * i, _mm_unpacklo_epi64(quads[2 * i], quads[2 * i + 1]));
        STORE(2 * i + 1, _mm_unpackhi_epi64(quads[2 * i], quads[2 * i + 1]));
    }
}

/* 16 x 16 words of 1 byte. */
static inline void dm_turn_1(const char *in, ptrdiff_t from, char *out, ptrdiff_t to) {
    __m128i x[16], y[16];
    for (int i = 0; i < 16; i++) x[i] = LOAD(i);
    /* Rows i and i + 8 are interleaved four times: a number's place turns by one bit of its row each time. */
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < 8; i++) {
            y[2 * i] = _mm_unpacklo_epi8(x[i], x[i + 8]);
            y[2 * i + 1] = _mm_unpackhi_epi8(x[i], x[i + 8]);
        }
        memcpy(x, y, sizeof(x));
    }
    for (int i = 0; i < 16; i++) STORE(i, x[i]);
}

#undef LOAD
#undef STORE

/* A whole tile: row r of `out` holds word r of every row of `in`. */
#define DEFINE_TURN_TILE(word, side)                                                                                  \
static inline void dm_turn_tile_##word(const char *in, ptrdiff_t from, char *out, ptrdiff_t to) {                     \
    for (int row = 0; row < TRANSPOSE_LINE / word; row += side)                                                       \
        for (int column = 0; column < TRANSPOSE_LINE / word; column += side)                                          \
            dm_turn_##word(in + row * from + column * word, from, out + column * to + row * word, to);                \
}
DEFINE_TURN_TILE(1, 16)
DEFINE_TURN_TILE(2, 8)
DEFINE_TURN_TILE(4, 4)
DEFINE_TURN_TILE(8, 2)

static inline void dm_turn_tile(int word, const char *in, ptrdiff_t from, char *out, ptrdiff_t to) {
    if (word == 4) dm_turn_tile_4(in, from, out, to);
    else if (word == 2) dm_turn_tile_2(in, from, out, to);
    else if (word == 8) dm_turn_tile_8(in, from, out, to);
    else dm_turn_tile_1(in, from, out, to);
}

/* Write the `rows` x `columns` words of `in`, each at most a tile's side, turned: `columns` rows of `rows` words. */
static void dm_transpose_tile(
    int word, const char *in, ptrdiff_t from, ptrdiff_t rows, ptrdiff_t columns, char *out, ptrdiff_t to
) {
    char turned[TRANSPOSE_LINE * TRANSPOSE_LINE] __attribute__((aligned(64)));
    ptrdiff_t side = TRANSPOSE_LINE / word;
    if (rows == side && columns == side) {
        dm_turn_tile(word, in, from, turned, TRANSPOSE_LINE);
        for (ptrdiff_t i = 0; i < side; i++) memcpy(out + i * to, turned + i * TRANSPOSE_LINE, TRANSPOSE_LINE);
        return;
    }
    char part[TRANSPOSE_LINE * TRANSPOSE_LINE] __attribute__((aligned(64)));
    for (ptrdiff_t i = 0; i < rows; i++) memcpy(part + i * TRANSPOSE_LINE, in + i * from, columns * word);
    dm_turn_tile(word, part, TRANSPOSE_LINE, turned, TRANSPOSE_LINE);
    for (ptrdiff_t i = 0; i < columns; i++) memcpy(out + i * to, turned + i * TRANSPOSE_LINE, rows * word);
}

#endif
