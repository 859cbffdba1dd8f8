/* Products of bfloat16 or float16 matrices on AMX, one thread each, and what packs their operands.
 *
 * All lengths are whole panels of 32, with zeros behind the numbers. A's rows lie one after the other, the inner
 * index contiguous. B is cut into tiles of 32 inner indices by 16 columns, a row per pair of inner indices.
 */
#ifndef DIST_MS_AMX_NARROW_H
#define DIST_MS_AMX_NARROW_H

#include "amx_tiles.h"

#ifdef DIST_MS_HAS_AMX

#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,amx-tile,amx-bf16,fma")

/* c = a b, or c + a b; `rows` and `columns` of c in panels, `inner` in blocks of 32. Steps are bytes, c_step floats. */
static void amx_product_16(long rows, long columns, long inner, const uint8_t *a, long a_step, const uint8_t *b,
                             long b_column, long b_block, float *c, long c_step, int adds, int half)
{
    for (long j = 0; j < columns; j++)
        for (long i = 0; i < rows; i++) {
            const uint8_t *of_a = a + 32 * i * a_step, *of_b = b + 2 * j * b_column;
            float *to = c + 32 * i * c_step + 32 * j;
            FENCE();
            if (adds) {
                _tile_loadd(0, to, 4 * c_step);
                _tile_loadd(1, to + 16, 4 * c_step);
                _tile_loadd(2, to + 16 * c_step, 4 * c_step);
                _tile_loadd(3, to + 16 * c_step + 16, 4 * c_step);
            } else {
                _tile_zero(0); _tile_zero(1); _tile_zero(2); _tile_zero(3);
            }
            for (long k = 0; k < inner; k++, of_a += 64, of_b += b_block) {
                _tile_loadd(4, of_a, a_step);
                _tile_loadd(6, of_b, 64);
                _tile_loadd(7, of_b + b_column, 64);
                _tile_loadd(5, of_a + 16 * a_step, a_step);
                MULTIPLY_TILES(half);
            }
            _tile_stored(0, to, 4 * c_step);
            _tile_stored(1, to + 16, 4 * c_step);
            _tile_stored(2, to + 16 * c_step, 4 * c_step);
            _tile_stored(3, to + 16 * c_step + 16, 4 * c_step);
            FENCE();
        }
}

/* Up to 16 numbers of a row, from column j on, in 32 bits each; zeros where the row ends or there is none. */
static inline __m512i row_part(const char *x, long step, long row, long rows, long j, long length)
{
    if (row >= rows)
        return _mm512_setzero_si512();
    return _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(lanes_below(length - j), x + row * step + 2 * j));
}

/* 16 columns, from j on, of rows i and i + 1: a pair per lane. */
static inline __m512i pair_of_rows(const char *x, long step, long i, long rows, long j, long length)
{
    return _mm512_or_si512(row_part(x, step, i, rows, j, length),
                           _mm512_slli_epi32(row_part(x, step, i + 1, rows, j, length), 16));
}

/* Rows of 16-bit numbers, `step` bytes apart, as rows of A. */
static void amx_pack_rows(const char *x, long step, long rows, long length, uint8_t *to)
{
    long panels = (rows + 31) / 32, width = (length + 31) / 32;
    for (long i = 0; i < 32 * panels; i++)
        for (long j = 0; j < width; j++) {
            long left = length - 32 * j;
            __mmask32 mask = i >= rows ? 0 : left >= 32 ? 0xffffffff : (1u << left) - 1;
            _mm512_storeu_si512(to + (i * width + j) * 64, _mm512_maskz_loadu_epi16(mask, x + i * step + 64 * j));
        }
}

/* The same rows as columns of B, the inner index along them: tile (16 rows, block) at 1024 (tile blocks + block). */
static void amx_pack_turned(const char *x, long step, long rows, long length, uint8_t *to)
{
    long tiles = (rows + 31) / 32 * 2, blocks = (length + 31) / 32;
    __m512i r[16];
    for (long tile = 0; tile < tiles; tile++)
        for (long k = 0; k < blocks; k++, to += TILE_BYTES) {
            long left = length - 32 * k;
            for (long i = 0; i < 16; i++) {
                __mmask32 mask = 16 * tile + i >= rows ? 0 : left >= 32 ? 0xffffffff : (1u << left) - 1;
                r[i] = _mm512_maskz_loadu_epi16(mask, x + (16 * tile + i) * step + 64 * k);
            }
            transpose_16(r);
            for (long i = 0; i < 16; i++)
                _mm512_storeu_si512(to + 64 * i, r[i]);
        }
}

/* The same rows as rows of B, the inner index across them: tile (32 rows, 16 columns) at 1024 (block tiles + tile). */
static void amx_pack_pairs(const char *x, long step, long rows, long length, uint8_t *to)
{
    long tiles = (length + 31) / 32 * 2, blocks = (rows + 31) / 32;
    for (long k = 0; k < blocks; k++)
        for (long tile = 0; tile < tiles; tile++, to += TILE_BYTES)
            for (long i = 0; i < 16; i++)
                _mm512_storeu_si512(to + 64 * i, pair_of_rows(x, step, 32 * k + 2 * i, rows, 16 * tile, length));
}

/* The same rows as columns of A: row j of A, `to_step` bytes each, is their column j. */
static void amx_pack_columns(const char *x, long step, long rows, long length, uint8_t *to, long to_step)
{
    long tiles = (length + 31) / 32 * 2, blocks = (rows + 31) / 32;
    __m512i r[16];
    for (long tile = 0; tile < tiles; tile++)
        for (long k = 0; k < blocks; k++) {
            for (long i = 0; i < 16; i++)
                r[i] = pair_of_rows(x, step, 32 * k + 2 * i, rows, 16 * tile, length);
            transpose_16(r);
            for (long i = 0; i < 16; i++)
                _mm512_storeu_si512(to + (16 * tile + i) * to_step + 64 * k, r[i]);
        }
}

/* Rows of float32 rounded, as rows of A of `width` blocks of 32. */
static void amx_round_rows(const float *x, long step, long rows, long columns, uint8_t *to, long width, int half)
{
    for (long i = 0; i < rows; i++)
        for (long j = 0; j < (columns + 31) / 32; j++) {
            const float *from = x + i * step + 32 * j;
            __m512 low = _mm512_maskz_loadu_ps(lanes_below(columns - 32 * j), from);
            __m512 high = _mm512_maskz_loadu_ps(lanes_below(columns - 32 * j - 16), from + 16);
            _mm512_storeu_si512(to + (i * width + j) * 64, round_32(high, low, half));
        }
}

/* Rows of float32 rounded, as rows of B, laid out as by amx_pack_pairs. */
static void amx_round_pairs(const float *x, long step, long rows, long columns, uint8_t *to)
{
    const __m512i interleave = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8,
                                                23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
    long tiles = (columns + 31) / 32 * 2, pairs = (rows + 31) / 32 * 16;
    for (long i = 0; i < pairs; i++)
        for (long tile = 0; tile < tiles; tile++) {
            const float *from = x + 2 * i * step + 16 * tile;
            __mmask16 mask = lanes_below(columns - 16 * tile);
            __m512 first = _mm512_maskz_loadu_ps(2 * i < rows ? mask : 0, from);
            __m512 second = _mm512_maskz_loadu_ps(2 * i + 1 < rows ? mask : 0, from + step);
            __m512i pair = _mm512_permutexvar_epi16(interleave, (__m512i) _mm512_cvtne2ps_pbh(second, first));
            _mm512_storeu_si512(to + (i / 16 * tiles + tile) * TILE_BYTES + i % 16 * 64, pair);
        }
}

/* 16 columns of a float32 matrix of `rows` rows, a multiple of 16, times `scale`, as rows of `rows` numbers. */
static void amx_turn_columns(const float *x, long step, long rows, float scale, float *to)
{
    __m512i r[16];
    for (long j = 0; j < rows; j += 16) {
        for (long i = 0; i < 16; i++)
            r[i] = _mm512_castps_si512(_mm512_mul_ps(_mm512_set1_ps(scale), _mm512_loadu_ps(x + (j + i) * step)));
        transpose_16(r);
        for (long i = 0; i < 16; i++)
            _mm512_storeu_si512(to + i * rows + j, r[i]);
    }
}

#pragma GCC pop_options

#else
static void amx_product_16(long rows, long columns, long inner, const uint8_t *a, long a_step, const uint8_t *b,
                             long b_column, long b_block, float *c, long c_step, int adds, int half) {}
static void amx_pack_rows(const char *x, long step, long rows, long length, uint8_t *to) {}
static void amx_pack_turned(const char *x, long step, long rows, long length, uint8_t *to) {}
static void amx_pack_pairs(const char *x, long step, long rows, long length, uint8_t *to) {}
static void amx_pack_columns(const char *x, long step, long rows, long length, uint8_t *to, long to_step) {}
static void amx_round_rows(const float *x, long step, long rows, long columns, uint8_t *to, long width, int half) {}
static void amx_round_pairs(const float *x, long step, long rows, long columns, uint8_t *to) {}
static void amx_turn_columns(const float *x, long step, long rows, float scale, float *to) {}
#endif
#endif
