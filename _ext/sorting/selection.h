/* The number that would stand at a given place of a sorted row, and where it is.

   A row is written out as ranks (ordering.h). Those beyond a pivot, which comes from a small sample, drop out until the
   one that is looked for is the pivot; equal numbers keep their order, so its place is the one that a stable sort would
   find. After many rounds the pivot halves the range of what can still be the answer, which bounds the work. */

#ifndef DM_SELECTION_H
#define DM_SELECTION_H

#include "ordering.h"

enum { DM_SAMPLE = 15, DM_SAMPLED_ROUNDS = 40 };

static inline uint64_t dm_rank_of_double(uint64_t bits) {
    uint64_t size = bits & 0x7fffffffffffffffu, negative = -(bits >> 63);
    uint64_t rank = size ? bits ^ (negative | 0x8000000000000000u) : 0x8000000000000000u;
    return size > 0x7ff0000000000000u ? UINT64_MAX : rank;
}

#define DM_SELECT(name, U, LARGEST)                                                                                   \
    static void name##_sort(U *a, Py_ssize_t count) {                                                                 \
        for (Py_ssize_t i = 1; i < count; i++) {                                                                      \
            U at = a[i];                                                                                              \
            Py_ssize_t k = i;                                                                                         \
            for (; k > 0 && a[k - 1] > at; k--) a[k] = a[k - 1];                                                      \
            a[k] = at;                                                                                                \
        }                                                                                                             \
    }                                                                                                                 \
    /* The rank number k of `count`, which are written over. */                                                       \
    static U name(U *a, Py_ssize_t count, Py_ssize_t k) {                                                             \
        U sample[DM_SAMPLE], low = 0, high = LARGEST, pivot;                                                          \
        for (int round = 0; count > DM_SAMPLE; round++) {                                                             \
            if (round < DM_SAMPLED_ROUNDS) {                                                                          \
                for (int i = 0; i < DM_SAMPLE; i++) sample[i] = a[i * (count - 1) / (DM_SAMPLE - 1)];                 \
                name##_sort(sample, DM_SAMPLE);                                                                       \
                pivot = sample[k * DM_SAMPLE / count];                                                                \
            } else {                                                                                                  \
                pivot = low + (high - low) / 2;                                                                       \
            }                                                                                                         \
            Py_ssize_t below = 0, equal = 0, kept = 0;                                                                \
            for (Py_ssize_t i = 0; i < count; i++) below += a[i] < pivot;                                             \
            for (Py_ssize_t i = 0; i < count; i++) equal += a[i] == pivot;                                            \
            if (k < below) {                                                                                          \
                high = pivot - 1;                                                                                     \
                for (Py_ssize_t i = 0; i < count; i++) {                                                              \
                    U at = a[i];                                                                                      \
                    a[kept] = at;                                                                                     \
                    kept += at < pivot;                                                                               \
                }                                                                                                     \
            } else if (k < below + equal) {                                                                           \
                return pivot;                                                                                         \
            } else {                                                                                                  \
                low = pivot + 1;                                                                                      \
                k -= below + equal;                                                                                   \
                for (Py_ssize_t i = 0; i < count; i++) {                                                              \
                    U at = a[i];                                                                                      \
                    a[kept] = at;                                                                                     \
                    kept += at > pivot;                                                                               \
                }                                                                                                     \
            }                                                                                                         \
            count = kept;                                                                                             \
        }                                                                                                             \
        name##_sort(a, count);                                                                                        \
        return a[k];                                                                                                  \
    }

DM_SELECT(dm_select_32, uint32_t, UINT32_MAX)
DM_SELECT(dm_select_64, uint64_t, UINT64_MAX)

/* Where the number k of a sorted row is; below 0 the median's, -1 a NaN if there is one, -2 that of the others. */
#define DM_PLACE(name, T, U, LARGEST, FLOATS, RANK)                                                                   \
    static Py_ssize_t dm_place_##name(const void *row, Py_ssize_t count, Py_ssize_t k, void *scratch) {               \
        const T *x = row;                                                                                             \
        U *ranks = scratch;                                                                                           \
        Py_ssize_t missing = 0, below = 0, i;                                                                         \
        for (i = 0; i < count; i++) {                                                                                 \
            T at = x[i];                                                                                              \
            ranks[i] = (U) (RANK);                                                                                    \
        }                                                                                                             \
        if (k < 0) {                                                                                                  \
            for (i = 0; FLOATS && i < count; i++) missing += ranks[i] == LARGEST;                                     \
            if (missing == count || (missing && k == -1))                                                             \
                k = k == -1 ? count - 1 : 0;                                                                          \
            else                                                                                                      \
                k = (count - missing - 1) / 2;                                                                        \
        }                                                                                                             \
        U found = DM_SELECTOR_##U(ranks, count, k);                                                                   \
        for (i = 0; i < count; i++) {                                                                                 \
            T at = x[i];                                                                                              \
            below += (U) (RANK) < found;                                                                              \
        }                                                                                                             \
        for (i = 0, k -= below; i < count; i++) {                                                                     \
            T at = x[i];                                                                                              \
            if ((U) (RANK) == found && k-- == 0) break;                                                               \
        }                                                                                                             \
        return i;                                                                                                     \
    }

#define DM_SELECTOR_uint32_t dm_select_32
#define DM_SELECTOR_uint64_t dm_select_64

DM_PLACE(float32, uint32_t, uint32_t, UINT32_MAX, 1, dm_rank_of_bits(at, 0x7f800000u))
DM_PLACE(float64, uint64_t, uint64_t, UINT64_MAX, 1, dm_rank_of_double(at))
DM_PLACE(float16, uint16_t, uint32_t, UINT32_MAX, 1, dm_rank_of_bits((uint32_t) at << 16, 0x7c000000u))
DM_PLACE(bfloat16, uint16_t, uint32_t, UINT32_MAX, 1, dm_rank_of_bits((uint32_t) at << 16, 0x7f800000u))
DM_PLACE(int8, int8_t, uint32_t, UINT32_MAX, 0, (uint32_t) (int32_t) at ^ 0x80000000u)
DM_PLACE(int16, int16_t, uint32_t, UINT32_MAX, 0, (uint32_t) (int32_t) at ^ 0x80000000u)
DM_PLACE(int32, int32_t, uint32_t, UINT32_MAX, 0, (uint32_t) at ^ 0x80000000u)
DM_PLACE(int64, int64_t, uint64_t, UINT64_MAX, 0, (uint64_t) at ^ 0x8000000000000000u)
DM_PLACE(uint8, uint8_t, uint32_t, UINT32_MAX, 0, at)
DM_PLACE(uint16, uint16_t, uint32_t, UINT32_MAX, 0, at)
DM_PLACE(uint32, uint32_t, uint32_t, UINT32_MAX, 0, at)
DM_PLACE(uint64, uint64_t, uint64_t, UINT64_MAX, 0, at)

typedef Py_ssize_t (*dm_placer)(const void *row, Py_ssize_t count, Py_ssize_t k, void *scratch);

static const dm_placer dm_placers[] = {
    dm_place_float32, dm_place_float64, dm_place_float16, dm_place_bfloat16, dm_place_int8,   dm_place_int16,
    dm_place_int32,   dm_place_int64,   dm_place_uint8,   dm_place_uint16,   dm_place_uint32, dm_place_uint64};

#endif
