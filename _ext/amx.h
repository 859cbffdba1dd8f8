/* Products of 16-bit tiles on AMX, and the split of float32 numbers into three bfloat16 parts.
 *
 * A panel is 32 rows (of A, or columns of B) by `blocks` blocks of 32 along the inner axis. A block
 * holds part 1, 2, 3, each as two tiles of 16 rows by 64 bytes. A's tiles have a row per row of A;
 * B's have a row per pair of inner indices, as the tile product wants them.
 */
#ifndef DIST_MS_AMX_H
#define DIST_MS_AMX_H

#include <stdint.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__) && (__GNUC__ >= 12 || defined(__clang__))
#define DIST_MS_HAS_AMX 1
#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TILE_BYTES 1024
#define PART_BYTES (2 * TILE_BYTES)
#define BLOCK_BYTES (3 * PART_BYTES)

/* Whether CPU and kernel give this process AMX's bfloat16 tiles and AVX-512's conversions. */
static int amx_permitted(void)
{
    const long REQUEST_PERMISSION = 0x1023, TILE_DATA = 18;
    unsigned a, b, c, d;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(d >> 24 & 1) || !(d >> 22 & 1))
        return 0;
    if (!__get_cpuid_count(7, 1, &a, &b, &c, &d) || !(a >> 5 & 1))
        return 0;
    return syscall(SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA) == 0;
}

#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,amx-tile,amx-bf16,fma")

typedef struct { uint8_t bytes[64]; } TileConfig;

/* The tile instructions do not tell the compiler which memory they read and write. */
#define FENCE() __asm__ volatile ("" : : : "memory")

/* Set all eight tiles to 16 rows of 64 bytes; `before` gets what was set. */
static void amx_begin(TileConfig *before)
{
    TileConfig config;
    memset(&config, 0, sizeof config);
    config.bytes[0] = 1;
    for (int tile = 0; tile < 8; tile++) {
        config.bytes[16 + 2 * tile] = 64;
        config.bytes[48 + tile] = 16;
    }
    __asm__ volatile ("sttilecfg %0" : "=m"(*before));
    __asm__ volatile ("ldtilecfg %0" : : "m"(config));
}

static void amx_end(const TileConfig *before)
{
    if (before->bytes[0])
        __asm__ volatile ("ldtilecfg %0" : : "m"(*before));
    else
        _tile_release();
}

/* Round 32 numbers to bfloat16 and leave in their place what is missing. */
static inline __m512i take_part(__m512 *low, __m512 *high)
{
    __m512i part = (__m512i) _mm512_cvtne2ps_pbh(*high, *low);
    __m512i first = _mm512_cvtepu16_epi32(_mm512_castsi512_si256(part));
    __m512i second = _mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64(part, 1));
    *low = _mm512_sub_ps(*low, _mm512_castsi512_ps(_mm512_slli_epi32(first, 16)));
    *high = _mm512_sub_ps(*high, _mm512_castsi512_ps(_mm512_slli_epi32(second, 16)));
    return part;
}

static inline void transpose_16(__m512i *r)
{
    __m512i t[16];
    for (int i = 0; i < 8; i++) {
        t[2 * i] = _mm512_unpacklo_epi32(r[2 * i], r[2 * i + 1]);
        t[2 * i + 1] = _mm512_unpackhi_epi32(r[2 * i], r[2 * i + 1]);
    }
    for (int i = 0; i < 4; i++) {
        r[4 * i] = _mm512_unpacklo_epi64(t[4 * i], t[4 * i + 2]);
        r[4 * i + 1] = _mm512_unpackhi_epi64(t[4 * i], t[4 * i + 2]);
        r[4 * i + 2] = _mm512_unpacklo_epi64(t[4 * i + 1], t[4 * i + 3]);
        r[4 * i + 3] = _mm512_unpackhi_epi64(t[4 * i + 1], t[4 * i + 3]);
    }
    for (int i = 0; i < 4; i++) {
        t[i] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0x88);
        t[i + 4] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0xdd);
        t[i + 8] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0x88);
        t[i + 12] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0xdd);
    }
    for (int i = 0; i < 4; i++) {
        r[i] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0x88);
        r[i + 8] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0xdd);
        r[i + 4] = _mm512_shuffle_i32x4(t[i + 4], t[i + 12], 0x88);
        r[i + 12] = _mm512_shuffle_i32x4(t[i + 4], t[i + 12], 0xdd);
    }
}

static inline __mmask16 lanes_below(long count)
{
    return count >= 16 ? 0xffff : count <= 0 ? 0 : (__mmask16) ((1u << count) - 1);
}

/* Split 16 rows by 32 inner indices into three tiles; what lies outside counts as 0.
 * Returns the running largest magnitude, as bits. */
static inline __m512i split_tile(const float *x, long step, int inner_contiguous, long rows,
                                 long inner, int pairs_are_rows, uint8_t *to, __m512i largest)
{
    const __m512i interleave = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8,
                                                23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
    const __m512i magnitude = _mm512_set1_epi32(0x7fffffff);
    __m512i part[3][16];
    for (int i = 0; i < 16; i++) {
        __m512 low = _mm512_setzero_ps(), high = low;
        if (inner_contiguous) {
            if (i < rows) {
                low = _mm512_maskz_loadu_ps(lanes_below(inner), x + i * step);
                high = _mm512_maskz_loadu_ps(lanes_below(inner - 16), x + i * step + 16);
            }
        } else {
            if (2 * i < inner)
                low = _mm512_maskz_loadu_ps(lanes_below(rows), x + 2 * i * step);
            if (2 * i + 1 < inner)
                high = _mm512_maskz_loadu_ps(lanes_below(rows), x + (2 * i + 1) * step);
        }
        largest = _mm512_max_epu32(largest, _mm512_and_si512(magnitude, _mm512_castps_si512(low)));
        largest = _mm512_max_epu32(largest, _mm512_and_si512(magnitude, _mm512_castps_si512(high)));
        for (int p = 0; p < 3; p++) {
            __m512i taken = take_part(&low, &high);
            part[p][i] = inner_contiguous ? taken : _mm512_permutexvar_epi16(interleave, taken);
        }
    }
    for (int p = 0; p < 3; p++) {
        if (inner_contiguous == pairs_are_rows)
            transpose_16(part[p]);
        for (int i = 0; i < 16; i++)
            _mm512_store_si512(to + p * PART_BYTES + i * 64, part[p][i]);
    }
    return largest;
}

/* Split one panel: element (r, k) is x[r * row_step + k * inner_step], and one step is 1. */
static uint32_t amx_split_panel(const float *x, long row_step, long inner_step, long rows, long inner,
                                int pairs_are_rows, uint8_t *to)
{
    int inner_contiguous = inner_step == 1;
    long step = inner_contiguous ? row_step : inner_step;
    __m512i largest = _mm512_setzero_si512();
    for (long k = 0; k < inner; k += 32, to += BLOCK_BYTES)
        for (int tile = 0; tile < 2; tile++)
            largest = split_tile(x + 16 * tile * row_step + k * inner_step, step, inner_contiguous,
                                 rows - 16 * tile, inner - k, pairs_are_rows, to + tile * TILE_BYTES, largest);
    return _mm512_reduce_max_epu32(largest);
}

#define A_AT(part, tile) (a + (part - 1) * PART_BYTES + tile * TILE_BYTES)
#define B_AT(part, tile) (b + (part - 1) * PART_BYTES + tile * TILE_BYTES)
#define LOAD_A(part) do { _tile_loadd(4, A_AT(part, 0), 64); _tile_loadd(5, A_AT(part, 1), 64); } while (0)
#define LOAD_B(part) do { _tile_loadd(6, B_AT(part, 0), 64); _tile_loadd(7, B_AT(part, 1), 64); } while (0)
#define MULTIPLY() do { _tile_dpbf16ps(0, 4, 6); _tile_dpbf16ps(1, 4, 7); \
                        _tile_dpbf16ps(2, 5, 6); _tile_dpbf16ps(3, 5, 7); } while (0)

/* Multiply two panels and add to (or write) the 32 by 32 numbers at `out`.
 *
 * Of the nine products of parts the six above 2^-24 are made; the small ones first, so that they
 * are added up before they meet the large one. */
static void amx_multiply_panels(const uint8_t *a_panel, const uint8_t *b_panel, long blocks, float *out,
                                long out_step, long rows, long columns, const float *bias, int add)
{
    float sums[32 * 32] __attribute__((aligned(64)));
    const uint8_t *a = a_panel, *b = b_panel;
    long ahead = 0;
    FENCE();
    _tile_zero(0); _tile_zero(1); _tile_zero(2); _tile_zero(3);
    for (long k = 0; k < blocks; k++, a += BLOCK_BYTES, b += BLOCK_BYTES) {
        /* The result's lines come from far away meanwhile, a few at a time. */
        for (; ahead < rows && ahead * blocks < 32 * (k + 1); ahead++) {
            __builtin_prefetch(out + ahead * out_step, 1, 2);
            __builtin_prefetch(out + ahead * out_step + 16, 1, 2);
        }
        LOAD_A(3); LOAD_B(1); MULTIPLY();
        LOAD_A(2); MULTIPLY();
        LOAD_B(2); MULTIPLY();
        LOAD_A(1); MULTIPLY();
        LOAD_B(3); MULTIPLY();
        LOAD_B(1); MULTIPLY();
    }
    _tile_stored(0, sums, 128);
    _tile_stored(1, sums + 16, 128);
    _tile_stored(2, sums + 16 * 32, 128);
    _tile_stored(3, sums + 16 * 32 + 16, 128);
    __mmask16 left = lanes_below(columns), right = lanes_below(columns - 16);
    __m512 bias_left = _mm512_setzero_ps(), bias_right = bias_left;
    if (bias) {
        bias_left = _mm512_maskz_loadu_ps(left, bias);
        bias_right = _mm512_maskz_loadu_ps(right, bias + 16);
    }
    for (long i = 0; i < rows; i++, out += out_step) {
        __m512 x = _mm512_add_ps(_mm512_load_ps(sums + 32 * i), bias_left);
        __m512 y = _mm512_add_ps(_mm512_load_ps(sums + 32 * i + 16), bias_right);
        if (add) {
            x = _mm512_add_ps(x, _mm512_maskz_loadu_ps(left, out));
            y = _mm512_add_ps(y, _mm512_maskz_loadu_ps(right, out + 16));
        }
        _mm512_mask_storeu_ps(out, left, x);
        _mm512_mask_storeu_ps(out + 16, right, y);
    }
}

#pragma GCC pop_options

#else
#define BLOCK_BYTES 6144
typedef struct { uint8_t bytes[64]; } TileConfig;
static int amx_permitted(void) { return 0; }
static void amx_begin(TileConfig *before) { (void) before; }
static void amx_end(const TileConfig *before) { (void) before; }
static uint32_t amx_split_panel(const float *x, long row_step, long inner_step, long rows, long inner,
                                int pairs_are_rows, uint8_t *to) { return 0; }
static void amx_multiply_panels(const uint8_t *a_panel, const uint8_t *b_panel, long blocks, float *out,
                                long out_step, long rows, long columns, const float *bias, int add) {}
#endif
#endif
