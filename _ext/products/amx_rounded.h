/* Products of bfloat16 or float16 tiles on AMX, of operands of that type or of float32 rounded on the way.
 *
 * A panel is 32 rows (of A, or columns of B) by `blocks` blocks of 32 along the inner axis; a block is two tiles.
 * A's tiles have a row per row of A; B's have a row per pair of inner indices, as the tile product wants them.
 */
#ifndef DIST_MS_AMX_ROUNDED_H
#define DIST_MS_AMX_ROUNDED_H

#include "amx_tiles.h"

#define ROUNDED_BLOCK_BYTES 2048

/* Element (row, k) of an operand is at data + row * row_step + k * inner_step, counted in elements; a step is 1.
 * `half`: the type of 16 bits is float16. */
typedef struct {
    const char *data;
    long row_step, inner_step;
    int is_float, half;
} RoundedOperand;

/* Where a strip of 32 rows of the result goes. `sums`, float32, are those of the inner indices before these.
 * `next` is the memory that is packed next, `next_count` pieces of `next_lines` cache lines: it comes near meanwhile. */
typedef struct {
    const char *next;
    long next_step, next_count, next_lines;
    char *out;
    float *sums;
    const float *bias;
    long out_step, sums_step, rows, columns;
    int is_float, half, adds, ends;
} RoundedStrip;

#ifdef DIST_MS_HAS_AMX

#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,amx-tile,amx-bf16,fma")

/* Tiles of 16 rows (of A, or columns of B) by 32 inner indices. */
enum { FLOAT_SOURCE = 1, INNER_CONTIGUOUS = 2, PAIRS_ARE_ROWS = 4, HALF = 8 };

/* 16 numbers of 16 bits in float32. */
INLINED __m512 widen_16(__m256i x, int half)
{
    return half ? _mm512_cvtph_ps(x) : _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(x), 16));
}

/* Add the sums over the inner indices of 16 rows to `totals`. */
INLINED void add_totals(__m512 sum, double *totals)
{
    _mm512_storeu_pd(totals, _mm512_add_pd(_mm512_loadu_pd(totals), _mm512_cvtps_pd(_mm512_castps512_ps256(sum))));
    _mm512_storeu_pd(totals + 8, _mm512_add_pd(_mm512_loadu_pd(totals + 8),
                                               _mm512_cvtps_pd(_mm512_extractf32x8_ps(sum, 1))));
}

INLINED void round_tile(const char *data, long step, long rows, long inner, int kind, uint8_t *to, double *totals)
{
    const __m512i interleave = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8,
                                                23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
    __m512i r[16];
    __m512 sum[4] = {_mm512_setzero_ps(), _mm512_setzero_ps(), _mm512_setzero_ps(), _mm512_setzero_ps()};
    __mmask16 low = lanes_below(inner), high = lanes_below(inner - 16), across = lanes_below(rows);
    for (int i = 0; i < 16; i++) {
        r[i] = _mm512_setzero_si512();
        if (kind & INNER_CONTIGUOUS) {
            if (i >= rows)
                continue;
            if (kind & FLOAT_SOURCE) {
                const float *x = (const float *) data + i * step;
                r[i] = round_32(_mm512_maskz_loadu_ps(high, x + 16), _mm512_maskz_loadu_ps(low, x), kind & HALF);
            } else
                r[i] = _mm512_maskz_loadu_epi16(low | (__mmask32) high << 16, data + 2 * i * step);
        } else {
            if (2 * i >= inner)
                continue;
            __mmask16 second = 2 * i + 1 < inner ? across : 0;
            if (kind & FLOAT_SOURCE) {
                const float *x = (const float *) data + 2 * i * step;
                __m512 one = _mm512_maskz_loadu_ps(across, x), two = _mm512_maskz_loadu_ps(second, x + step);
                sum[i % 4] = _mm512_add_ps(sum[i % 4], _mm512_add_ps(one, two));
                r[i] = _mm512_permutexvar_epi16(interleave, round_32(two, one, kind & HALF));
            } else {
                const char *x = data + 4 * i * step;
                __m256i one = _mm256_maskz_loadu_epi16(across, x), two = _mm256_maskz_loadu_epi16(second, x + 2 * step);
                r[i] = _mm512_or_si512(_mm512_cvtepu16_epi32(one), _mm512_slli_epi32(_mm512_cvtepu16_epi32(two), 16));
                sum[i % 4] = _mm512_add_ps(sum[i % 4], _mm512_add_ps(widen_16(one, kind & HALF),
                                                                     widen_16(two, kind & HALF)));
            }
        }
    }
    if (totals && !(kind & INNER_CONTIGUOUS))
        add_totals(_mm512_add_ps(_mm512_add_ps(sum[0], sum[1]), _mm512_add_ps(sum[2], sum[3])), totals);
    if (!(kind & INNER_CONTIGUOUS) == !(kind & PAIRS_ARE_ROWS))
        transpose_16(r);
    for (int i = 0; i < 16; i++)
        _mm512_store_si512(to + 64 * i, r[i]);
}

INLINED void round_panel(const char *data, long row_step, long inner_step, long rows, long inner, int kind,
                         uint8_t *to, double *totals, int far)
{
    long size = kind & FLOAT_SOURCE ? 4 : 2, step = kind & INNER_CONTIGUOUS ? row_step : inner_step;
    for (long k = 0; k < inner; k += 32)
        for (int tile = 0; tile < 2; tile++, to += TILE_BYTES) {
            const char *from = data + (16 * tile * row_step + k * inner_step) * size;
            double *of_tile = totals ? totals + 16 * tile : NULL;
            /* What is packed next but one comes from far away meanwhile: further inner indices or, where they lie
             * apart, further rows, as panels are packed side by side. */
            const char *next = kind & INNER_CONTIGUOUS ? from + 64 * size : from + 256;
            for (int i = 0; far && i < (kind & INNER_CONTIGUOUS ? 16 : 32); i++) {
                __builtin_prefetch(next + i * step * size, 0, 3);
                if ((kind & INNER_CONTIGUOUS) && (kind & FLOAT_SOURCE))
                    __builtin_prefetch(next + i * step * size + 64, 0, 3);
            }
            if (rows >= 16 * (tile + 1) && inner >= k + 32)
                round_tile(from, step, 16, 32, kind, to, of_tile);
            else
                round_tile(from, step, rows - 16 * tile, inner - k, kind, to, of_tile);
        }
}

/* Pack one panel, `row` and `k` its first row and inner index. `totals`, 32 or none, get the sums over the inner
 * indices added; not where inner indices are contiguous. */
static void amx_round_panel(const RoundedOperand *x, long row, long k, long rows, long inner, int pairs_are_rows,
                            uint8_t *to, double *totals)
{
    long at = row * x->row_step + k * x->inner_step, r = x->row_step, i = x->inner_step;
    const char *data = x->data + at * (x->is_float ? 4 : 2);
    switch ((x->is_float ? FLOAT_SOURCE : 0) | (r != 1 ? INNER_CONTIGUOUS : 0) | (pairs_are_rows ? PAIRS_ARE_ROWS : 0)
            | (x->half ? HALF : 0)) {
    case 0: round_panel(data, 1, i, rows, inner, 0, to, totals, pairs_are_rows); break;
    case 1: round_panel(data, 1, i, rows, inner, 1, to, totals, pairs_are_rows); break;
    case 2: case 2 | HALF: round_panel(data, r, 1, rows, inner, 2, to, NULL, pairs_are_rows); break;
    case 3: round_panel(data, r, 1, rows, inner, 3, to, NULL, pairs_are_rows); break;
    case 4: round_panel(data, 1, i, rows, inner, 4, to, NULL, pairs_are_rows); break;
    case 5: round_panel(data, 1, i, rows, inner, 5, to, NULL, pairs_are_rows); break;
    /* Numbers of 16 bits are moved as they are, whatever their type. */
    case 6: case 6 | HALF: round_panel(data, r, 1, rows, inner, 6, to, NULL, pairs_are_rows); break;
    case 7: round_panel(data, r, 1, rows, inner, 7, to, NULL, pairs_are_rows); break;
    case 8: round_panel(data, 1, i, rows, inner, 8, to, totals, pairs_are_rows); break;
    case 9: round_panel(data, 1, i, rows, inner, 9, to, totals, pairs_are_rows); break;
    case 11: round_panel(data, r, 1, rows, inner, 11, to, NULL, pairs_are_rows); break;
    case 12: round_panel(data, 1, i, rows, inner, 12, to, NULL, pairs_are_rows); break;
    case 13: round_panel(data, 1, i, rows, inner, 13, to, NULL, pairs_are_rows); break;
    default: round_panel(data, r, 1, rows, inner, 15, to, NULL, pairs_are_rows);
    }
}

/* Say in a strip which memory amx_round_panel will read for this panel. */
static void amx_note_next(const RoundedOperand *x, long row, long k, long rows, long inner, RoundedStrip *strip)
{
    long size = x->is_float ? 4 : 2, inner_contiguous = x->row_step != 1;
    strip->next = x->data + (row * x->row_step + k * x->inner_step) * size;
    strip->next_step = (inner_contiguous ? x->row_step : x->inner_step) * size;
    strip->next_count = inner_contiguous ? rows : inner;
    strip->next_lines = ((inner_contiguous ? inner : rows) * size + 63) / 64;
}

/* Put 32 by 32 sums, from column j of the strip on, into their place. */
INLINED void put_rounded(const RoundedStrip *to, long j, const float *sums)
{
    __mmask16 left = lanes_below(to->columns - j), right = lanes_below(to->columns - j - 16);
    __mmask32 both = left | (__mmask32) right << 16;
    __m512 bias_left = _mm512_setzero_ps(), bias_right = bias_left;
    if (to->bias && to->ends) {
        bias_left = _mm512_maskz_loadu_ps(left, to->bias + j);
        bias_right = _mm512_maskz_loadu_ps(right, to->bias + j + 16);
    }
    for (long i = 0; i < to->rows; i++, sums += 32) {
        __m512 x = _mm512_load_ps(sums), y = _mm512_load_ps(sums + 16);
        float *before = to->sums + i * to->sums_step + j;
        if (to->adds) {
            x = _mm512_add_ps(x, _mm512_maskz_loadu_ps(left, before));
            y = _mm512_add_ps(y, _mm512_maskz_loadu_ps(right, before + 16));
        }
        x = _mm512_add_ps(x, bias_left);
        y = _mm512_add_ps(y, bias_right);
        if (!to->ends) {
            _mm512_mask_storeu_ps(before, left, x);
            _mm512_mask_storeu_ps(before + 16, right, y);
        } else if (to->is_float) {
            float *out = (float *) to->out + i * to->out_step + j;
            _mm512_mask_storeu_ps(out, left, x);
            _mm512_mask_storeu_ps(out + 16, right, y);
        } else
            _mm512_mask_storeu_epi16(to->out + 2 * (i * to->out_step + j), both, round_32(y, x, to->half));
    }
}

/* Multiply one panel of A by the panels of B, which lie one after the other, and put the sums into place: whole
 * tiles of float32 at once, with the bias at their beginning, others while the products of the next panel are made. */
static void amx_multiply_rounded(const uint8_t *a_panel, const uint8_t *b, long blocks, const RoundedStrip *to)
{
    float memory[2][32 * 32] __attribute__((aligned(64)));
    int floats = to->is_float || !to->ends, which = 0;
    int direct = floats && to->rows == 32, with_bias = to->is_float && to->bias;
    char *out = to->ends ? to->out : (char *) to->sums;
    long step = (floats ? 4 : 2) * (to->ends ? to->out_step : to->sums_step), waiting = -1;
    long times = blocks * ((to->columns + 31) / 32), line = 0, left = to->next_count;
    long each = (left * to->next_lines + times - 1) / times;
    const char *next = to->next;
    for (long j = 0; j < to->columns; j += 32) {
        const uint8_t *a = a_panel;
        char *place = out + (floats ? 4 : 2) * j;
        int now = direct && j + 32 <= to->columns;
        FENCE();
        if (now && to->adds) {
            const float *before = to->sums + j;
            long bytes = 4 * to->sums_step;
            _tile_loadd(0, before, bytes);
            _tile_loadd(1, before + 16, bytes);
            _tile_loadd(2, before + 16 * to->sums_step, bytes);
            _tile_loadd(3, before + 16 * to->sums_step + 16, bytes);
        } else if (now && with_bias) {
            _tile_loadd(0, to->bias + j, 0);
            _tile_loadd(1, to->bias + j + 16, 0);
            _tile_loadd(2, to->bias + j, 0);
            _tile_loadd(3, to->bias + j + 16, 0);
        } else {
            _tile_zero(0); _tile_zero(1); _tile_zero(2); _tile_zero(3);
        }
        for (long k = 0; k < blocks; k++, a += ROUNDED_BLOCK_BYTES, b += ROUNDED_BLOCK_BYTES) {
            _tile_loadd(6, b, 64);
            _tile_loadd(4, a, 64);
            _tile_loadd(7, b + TILE_BYTES, 64);
            _tile_loadd(5, a + TILE_BYTES, 64);
            MULTIPLY_TILES(to->half);
            for (long i = 0; i < each && left; i++) {
                __builtin_prefetch(next + 64 * line, 0, 2);
                if (++line == to->next_lines)
                    line = 0, left--, next += to->next_step;
            }
            if (k)
                continue;
            if (waiting >= 0) {
                put_rounded(to, waiting, memory[1 - which]);
                waiting = -1;
            }
            for (long i = 0; i < to->rows; i++) {
                __builtin_prefetch(place + i * step, 1, 2);
                if (floats)
                    __builtin_prefetch(place + i * step + 64, 1, 2);
            }
        }
        if (now) {
            _tile_stored(0, place, step);
            _tile_stored(1, place + 64, step);
            _tile_stored(2, place + 16 * step, step);
            _tile_stored(3, place + 16 * step + 64, step);
        } else {
            float *sums = memory[which];
            _tile_stored(0, sums, 128);
            _tile_stored(1, sums + 16, 128);
            _tile_stored(2, sums + 16 * 32, 128);
            _tile_stored(3, sums + 16 * 32 + 16, 128);
            waiting = j;
            which = 1 - which;
        }
        FENCE();
    }
    if (waiting >= 0)
        put_rounded(to, waiting, memory[1 - which]);
}

#pragma GCC pop_options

#else
static void amx_round_panel(const RoundedOperand *x, long row, long k, long rows, long inner, int pairs_are_rows,
                            uint8_t *to, double *totals) {}
static void amx_note_next(const RoundedOperand *x, long row, long k, long rows, long inner, RoundedStrip *strip) {}
static void amx_multiply_rounded(const uint8_t *a_panel, const uint8_t *b, long blocks, const RoundedStrip *to) {}
#endif
#endif
