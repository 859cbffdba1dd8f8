/* Tiles of AMX: whether this process has them, setting them up, and what packs numbers into them. */
#ifndef DIST_MS_AMX_TILES_H
#define DIST_MS_AMX_TILES_H

#include <stdint.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__) && (__GNUC__ >= 12 || defined(__clang__))
#define DIST_MS_HAS_AMX 1
#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TILE_BYTES 1024

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

/* Whether those tiles, where permitted, multiply float16 too. */
static int amx_has_float16(void)
{
    unsigned a, b, c, d;
    return __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a >> 21 & 1);
}

/* Tile `sums` += tile a times tile b of float16, as _tile_dpbf16ps does for bfloat16: GCC has a name for the instruction
 * from version 13 on, and assemblers that old do not know it. VEX.128.F2.0F38.W0 5C /r. */
#define TILE_DPFP16PS(sums, a, b) \
    __asm__ volatile (".byte 0xc4, 0xe2, %c0, 0x5c, %c1" : : "i"((15 - (b)) << 3 | 3), "i"(0xc0 | (sums) << 3 | (a)))

/* Add tiles 4 and 5 times tiles 6 and 7 to tiles 0 to 3: of float16 if `half`, else of bfloat16. */
#define MULTIPLY_TILES(half)                                                                                          \
    do {                                                                                                              \
        if (half) {                                                                                                   \
            TILE_DPFP16PS(0, 4, 6); TILE_DPFP16PS(1, 4, 7); TILE_DPFP16PS(2, 5, 6); TILE_DPFP16PS(3, 5, 7);           \
        } else {                                                                                                      \
            _tile_dpbf16ps(0, 4, 6); _tile_dpbf16ps(1, 4, 7); _tile_dpbf16ps(2, 5, 6); _tile_dpbf16ps(3, 5, 7);       \
        }                                                                                                             \
    } while (0)

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

#define INLINED static inline __attribute__((always_inline))

/* 32 numbers rounded to bfloat16, or float16 for `half`; the 16 of `low` in the lower half. */
INLINED __m512i round_32(__m512 high, __m512 low, int half)
{
    if (!half)
        return (__m512i) _mm512_cvtne2ps_pbh(high, low);
    return _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtps_ph(low, _MM_FROUND_TO_NEAREST_INT)),
                              _mm512_cvtps_ph(high, _MM_FROUND_TO_NEAREST_INT), 1);
}

#pragma GCC pop_options

#else
typedef struct { uint8_t bytes[64]; } TileConfig;
static int amx_permitted(void) { return 0; }
static int amx_has_float16(void) { return 0; }
static void amx_begin(TileConfig *before) { (void) before; }
static void amx_end(const TileConfig *before) { (void) before; }
#endif
#endif
