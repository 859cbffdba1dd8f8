/* Sums and copies of memory that other cores hold in their caches.
 *
 * A line that this core is going to write is asked for with the right to write from the start: to read it first and
 * ask for that right afterwards costs a second way to the core that holds it. PREFETCHW does nothing where a CPU has
 * no such instruction, and never faults.
 */
#ifndef DIST_MS_SHARED_LINES_H
#define DIST_MS_SHARED_LINES_H

#include <stddef.h>

#if defined(__AVX512F__)
#define WORD_BYTES 64
#elif defined(__AVX__)
#define WORD_BYTES 32
#else
#define WORD_BYTES 16
#endif

enum { LINE = 64, WORDS = LINE / WORD_BYTES, AHEAD = 16 * LINE, FAR_AHEAD = 32 * LINE };

typedef char dm_word __attribute__((vector_size(WORD_BYTES), aligned(1), may_alias));

static inline void dm_ask_for(const char *line) { __asm__ volatile("prefetchw %0" : : "m"(*line)); }

static inline ptrdiff_t dm_smaller(ptrdiff_t a, ptrdiff_t b) { return a < b ? a : b; }

#define DEFINE_SUM(type, suffix)                                                                                      \
typedef type dm_lanes_##suffix __attribute__((vector_size(WORD_BYTES), aligned(sizeof(type)), may_alias));            \
                                                                                                                      \
static inline __attribute__((always_inline)) void dm_sum_of_##suffix(                                                 \
    type scale, const char *const *sources, int count, char *const *outs, int copies, ptrdiff_t at, ptrdiff_t end)    \
{                                                                                                                     \
    for (ptrdiff_t ahead = at; ahead < dm_smaller(at + AHEAD, end); ahead += LINE) {                                  \
        for (int copy = 0; copy < copies; copy++) {                                                                   \
            dm_ask_for(outs[copy] + ahead);                                                                           \
        }                                                                                                             \
    }                                                                                                                 \
    for (; at + LINE <= end; at += LINE) {                                                                            \
        dm_lanes_##suffix sum[WORDS];                                                                                 \
        if (at + AHEAD < end) {                                                                                       \
            for (int copy = 0; copy < copies; copy++) {                                                               \
                dm_ask_for(outs[copy] + at + AHEAD);                                                                  \
            }                                                                                                         \
        }                                                                                                             \
        _Pragma("GCC unroll 4")                                                                                       \
        for (int word = 0; word < WORDS; word++) {                                                                    \
            sum[word] = ((const dm_lanes_##suffix *) (sources[0] + at))[word];                                        \
        }                                                                                                             \
        for (int source = 1; source < count; source++) {                                                              \
            _Pragma("GCC unroll 4")                                                                                   \
            for (int word = 0; word < WORDS; word++) {                                                                \
                sum[word] += ((const dm_lanes_##suffix *) (sources[source] + at))[word];                              \
            }                                                                                                         \
        }                                                                                                             \
        _Pragma("GCC unroll 4")                                                                                       \
        for (int word = 0; word < WORDS; word++) {                                                                    \
            sum[word] *= scale;                                                                                       \
        }                                                                                                             \
        for (int copy = 0; copy < copies; copy++) {                                                                   \
            _Pragma("GCC unroll 4")                                                                                   \
            for (int word = 0; word < WORDS; word++) {                                                                \
                ((dm_lanes_##suffix *) (outs[copy] + at))[word] = sum[word];                                          \
            }                                                                                                         \
        }                                                                                                             \
    }                                                                                                                 \
    for (; at < end; at += sizeof(type)) {                                                                            \
        type sum = *(const type *) (sources[0] + at);                                                                 \
        for (int source = 1; source < count; source++) {                                                              \
            sum += *(const type *) (sources[source] + at);                                                            \
        }                                                                                                             \
        sum *= scale;                                                                                                 \
        for (int copy = 0; copy < copies; copy++) {                                                                   \
            *(type *) (outs[copy] + at) = sum;                                                                        \
        }                                                                                                             \
    }                                                                                                                 \
}                                                                                                                     \
                                                                                                                      \
/* Write scale times the sum of the sources to all outputs, bytes `start` to `stop`; an output may be a source. */    \
static void dm_sum_##suffix(                                                                                          \
    double scale, const char *const *sources, int count, char *const *outs, int copies, ptrdiff_t start,              \
    ptrdiff_t stop)                                                                                                   \
{                                                                                                                     \
    if (count == 2 && copies <= 2) { /* two ranks: the pointers stay in registers */                                  \
        const char *pair[2] = {sources[0], sources[1]};                                                               \
        char *both[2] = {outs[0], outs[copies - 1]};                                                                  \
        dm_sum_of_##suffix((type) scale, pair, 2, both, 2, start, stop);                                              \
    } else {                                                                                                          \
        dm_sum_of_##suffix((type) scale, sources, count, outs, copies, start, stop);                                  \
    }                                                                                                                 \
}

DEFINE_SUM(float, f32)
DEFINE_SUM(double, f64)

/* Copy bytes; `takes` says that this core writes the source next, as its own lines. */
static inline __attribute__((always_inline)) void dm_copy_of(char *to, const char *from, ptrdiff_t size, int takes)
{
    ptrdiff_t at = 0;
    for (; at + LINE <= size; at += LINE) {
        if (at + AHEAD < size) {
            dm_ask_for(to + at + AHEAD);
            if (takes) {
                dm_ask_for(from + at + AHEAD);
            } else if (at + FAR_AHEAD < size) {
                __builtin_prefetch(from + at + FAR_AHEAD, 0, 3);
            }
        }
        _Pragma("GCC unroll 4")
        for (int word = 0; word < WORDS; word++) {
            ((dm_word *) (to + at))[word] = ((const dm_word *) (from + at))[word];
        }
    }
    for (; at < size; at++) {
        to[at] = from[at];
    }
}

static void dm_copy_from(char *to, const char *from, ptrdiff_t size) { dm_copy_of(to, from, size, 0); }
static void dm_copy_back(char *to, const char *from, ptrdiff_t size) { dm_copy_of(to, from, size, 1); }

#endif
