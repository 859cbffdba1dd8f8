/* Products of 16-bit tiles on AMX, and the split of float32 numbers into three bfloat16 parts.
 *
 * A panel is 32 rows (of A, or columns of B) by `blocks` blocks of 32 along the inner axis. A block
 * holds part 1, 2, 3, each as two tiles of 16 rows by 64 bytes. A's tiles have a row per row of A;
 * B's have a row per pair of inner indices, as the tile product wants them. Inner indices i and
 * i + 16 of a block are a pair.
 */
#ifndef DIST_MS_AMX_H
#define DIST_MS_AMX_H

#include "amx_tiles.h"

#ifdef DIST_MS_HAS_AMX

#define PART_BYTES (2 * TILE_BYTES)
#define BLOCK_BYTES (3 * PART_BYTES)

#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,amx-tile,amx-bf16,fma")

/* Split 16 pairs into three parts and write them, a pair per 32 bits: its first number's part is the low half.
 *
 * A part is the 8 leading bits, rounded half away from 0; what is left of 24 bits after two parts are 8 bits. */
static inline void split_pairs(__m512 first, __m512 second, uint8_t *to)
{
    const __m512i half = _mm512_set1_epi32(0x8000), upper = _mm512_set1_epi32(0xffff0000);
    for (int p = 0; p < 3; p++) {
        __m512i one = _mm512_castps_si512(first), two = _mm512_castps_si512(second);
        if (p < 2) {
            one = _mm512_and_si512(_mm512_add_epi32(one, half), upper);
            two = _mm512_and_si512(_mm512_add_epi32(two, half), upper);
            first = _mm512_sub_ps(first, _mm512_castsi512_ps(one));
            second = _mm512_sub_ps(second, _mm512_castsi512_ps(two));
        }
        /* one >> 16 | (two & upper): what is left may lie below the normal range, where its bits are the lowest. */
        _mm512_store_si512(to + p * PART_BYTES,
                           _mm512_ternarylogic_epi32(_mm512_srli_epi32(one, 16), two, upper, 0xf8));
    }
}

/* Split 16 rows by 32 inner indices into three tiles; what lies outside counts as 0.
 * Returns the running largest magnitude, as bits. */
static inline __attribute__((always_inline)) __m512i split_tile(
    const float *x, long step, int inner_contiguous, long rows, long inner, int pairs_are_rows, uint8_t *to,
    __m512i largest)
{
    const __m512i magnitude = _mm512_set1_epi32(0x7fffffff);
    __m512i first[16], second[16];
    for (int i = 0; i < 16; i++) {
        first[i] = second[i] = _mm512_setzero_si512();
        if (inner_contiguous) {
            if (i < rows) {
                first[i] = _mm512_maskz_loadu_epi32(lanes_below(inner), x + i * step);
                second[i] = _mm512_maskz_loadu_epi32(lanes_below(inner - 16), x + i * step + 16);
            }
        } else {
            if (i < inner)
                first[i] = _mm512_maskz_loadu_epi32(lanes_below(rows), x + i * step);
            if (i + 16 < inner)
                second[i] = _mm512_maskz_loadu_epi32(lanes_below(rows), x + (i + 16) * step);
        }
        largest = _mm512_max_epu32(largest, _mm512_and_si512(magnitude, first[i]));
        largest = _mm512_max_epu32(largest, _mm512_and_si512(magnitude, second[i]));
    }
    if (inner_contiguous == pairs_are_rows) {
        transpose_16(first);
        transpose_16(second);
    }
    for (int i = 0; i < 16; i++)
        split_pairs(_mm512_castsi512_ps(first[i]), _mm512_castsi512_ps(second[i]), to + i * 64);
    return largest;
}

/* Split one panel: element (r, k) is x[r * row_step + k * inner_step], and one step is 1. */
static inline __attribute__((always_inline)) uint32_t split_panel(
    const float *x, long row_step, long inner_step, long rows, long inner, int inner_contiguous, int pairs_are_rows,
    uint8_t *to)
{
    long step = inner_contiguous ? row_step : inner_step;
    __m512i largest = _mm512_setzero_si512();
    for (long k = 0; k < inner; k += 32, to += BLOCK_BYTES) {
        /* The next block comes from far away meanwhile. */
        const float *next = x + (k + 32) * inner_step;
        for (int i = 0; i < 32; i++) {
            __builtin_prefetch(next + i * step, 0, 3);
            __builtin_prefetch(next + i * step + 16, 0, 3);
        }
        for (int tile = 0; tile < 2; tile++) {
            const float *of_tile = x + 16 * tile * row_step + k * inner_step;
            uint8_t *there = to + tile * TILE_BYTES;
            if (rows >= 16 * (tile + 1) && inner >= k + 32)
                largest = split_tile(of_tile, step, inner_contiguous, 16, 32, pairs_are_rows, there, largest);
            else
                largest = split_tile(of_tile, step, inner_contiguous, rows - 16 * tile, inner - k, pairs_are_rows,
                                     there, largest);
        }
    }
    return _mm512_reduce_max_epu32(largest);
}

static uint32_t amx_split_panel(const float *x, long row_step, long inner_step, long rows, long inner,
                                int pairs_are_rows, uint8_t *to)
{
    if (inner_step == 1)
        return pairs_are_rows ? split_panel(x, row_step, 1, rows, inner, 1, 1, to)
                              : split_panel(x, row_step, 1, rows, inner, 1, 0, to);
    return pairs_are_rows ? split_panel(x, 1, inner_step, rows, inner, 0, 1, to)
                          : split_panel(x, 1, inner_step, rows, inner, 0, 0, to);
}

#define A_AT(part, tile) (a + (part - 1) * PART_BYTES + tile * TILE_BYTES)
#define B_AT(part, tile) (b + (part - 1) * PART_BYTES + tile * TILE_BYTES)
#define LOAD_A(part) do { _tile_loadd(4, A_AT(part, 0), 64); _tile_loadd(5, A_AT(part, 1), 64); } while (0)
#define LOAD_B(part) do { _tile_loadd(6, B_AT(part, 0), 64); _tile_loadd(7, B_AT(part, 1), 64); } while (0)
#define MULTIPLY() do { _tile_dpbf16ps(0, 4, 6); _tile_dpbf16ps(1, 4, 7); \
                        _tile_dpbf16ps(2, 5, 6); _tile_dpbf16ps(3, 5, 7); } while (0)

/* Tiles are stored after so many blocks: a store that waits for more products holds up what is behind it. */
#define BLOCKS_PER_STORE 4
#define MAX_STORES 2

/* 32 by 32 sums in so many summands, and where they belong: written there, or added. */
typedef struct {
    float sums[MAX_STORES][32 * 32] __attribute__((aligned(64)));
    float *out;
    const float *bias;
    long stores, step, rows, columns;
    int add;
} Sums;

static inline void put_sums(const Sums *from)
{
    __mmask16 left = lanes_below(from->columns), right = lanes_below(from->columns - 16);
    __m512 bias_left = _mm512_setzero_ps(), bias_right = bias_left;
    float *out = from->out;
    if (from->bias) {
        bias_left = _mm512_maskz_loadu_ps(left, from->bias);
        bias_right = _mm512_maskz_loadu_ps(right, from->bias + 16);
    }
    for (long i = 0; i < from->rows; i++, out += from->step) {
        __m512 x = _mm512_load_ps(from->sums[0] + 32 * i), y = _mm512_load_ps(from->sums[0] + 32 * i + 16);
        if (from->stores > 1) {
            x = _mm512_add_ps(x, _mm512_load_ps(from->sums[1] + 32 * i));
            y = _mm512_add_ps(y, _mm512_load_ps(from->sums[1] + 32 * i + 16));
        }
        if (from->add) {
            x = _mm512_add_ps(x, _mm512_maskz_loadu_ps(left, out));
            y = _mm512_add_ps(y, _mm512_maskz_loadu_ps(right, out + 16));
        }
        x = _mm512_add_ps(x, bias_left), y = _mm512_add_ps(y, bias_right);
        _mm512_mask_storeu_ps(out, left, x);
        _mm512_mask_storeu_ps(out + 16, right, y);
    }
}

/* Multiply panels of A, which lie one after the other, by one of B, of up to 8 blocks; write (or add) the sums.
 *
 * Of the nine products of parts the six above 2^-24 are made; the small ones first, so that they
 * are added up before they meet the large one. The sums of a panel are put into place while the
 * products of the next one are made. */
static void amx_multiply_panels(const uint8_t *a_panels, long a_size, const uint8_t *b_panel, long blocks, float *out,
                                long out_step, long rows, long columns, const float *bias, int add)
{
    Sums memory[2], *here = memory, *before = memory + 1;
    before->stores = 0;
    for (long row = 0; row < rows; row += 32, a_panels += a_size) {
        const uint8_t *a = a_panels, *b = b_panel;
        here->out = out + row * out_step;
        here->bias = bias, here->step = out_step, here->columns = columns, here->add = add, here->stores = 0;
        here->rows = rows - row < 32 ? rows - row : 32;
        for (long i = 0; i < here->rows; i++) {
            __builtin_prefetch(here->out + i * out_step, 1, 2);
            __builtin_prefetch(here->out + i * out_step + 16, 1, 2);
        }
        for (long k = 0; k < blocks; here->stores++) {
            long end = k + BLOCKS_PER_STORE < blocks ? k + BLOCKS_PER_STORE : blocks;
            float *sums = here->sums[here->stores];
            FENCE();
            _tile_zero(0); _tile_zero(1); _tile_zero(2); _tile_zero(3);
            for (; k < end; k++, a += BLOCK_BYTES, b += BLOCK_BYTES) {
                LOAD_A(3); LOAD_B(1); MULTIPLY();
                LOAD_A(2); MULTIPLY();
                LOAD_B(2); MULTIPLY();
                LOAD_A(1); MULTIPLY();
                LOAD_B(3); MULTIPLY();
                LOAD_B(1); MULTIPLY();
                if (k == 0 && before->stores)
                    put_sums(before);
            }
            _tile_stored(0, sums, 128);
            _tile_stored(1, sums + 16, 128);
            _tile_stored(2, sums + 16 * 32, 128);
            _tile_stored(3, sums + 16 * 32 + 16, 128);
            FENCE();
        }
        Sums *next = before;
        before = here, here = next;
    }
    if (before->stores)
        put_sums(before);
}

#pragma GCC pop_options

#else
#define BLOCK_BYTES 6144
static uint32_t amx_split_panel(const float *x, long row_step, long inner_step, long rows, long inner,
                                int pairs_are_rows, uint8_t *to) { return 0; }
static void amx_multiply_panels(const uint8_t *a_panels, long a_size, const uint8_t *b_panel, long blocks, float *out,
                                long out_step, long rows, long columns, const float *bias, int add) {}
#endif
#endif
