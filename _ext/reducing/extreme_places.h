/* Where the largest of ranks is: along contiguous numbers, and along many lines side by side.

   A rank is a whole number that orders a type: turned around for the smallest, the largest of all for a NaN, the same
   for both zeros. A later one must be larger to win. */

#ifndef DM_EXTREME_PLACES_H
#define DM_EXTREME_PLACES_H

#include <stdint.h>

#define DM_PLACE_LANES 32

typedef struct {
    int width;   /* bytes of a number, of its rank and of its place */
    void (*line)(const void *x, Py_ssize_t first, Py_ssize_t last, int turned, void *rank, void *place);
    void (*lines)(const void *x, Py_ssize_t stride, Py_ssize_t first, Py_ssize_t last, Py_ssize_t width, int turned,
                  void *ranks, void *places);
    /* Takes over what is larger, and writes where it is. */
    void (*join)(const void *more_ranks, const void *more_places, Py_ssize_t count, void *ranks, void *places);
    void (*write)(const void *places, Py_ssize_t count, int64_t *to);
} dm_places;

#define DM_FLOAT_RANK(I, U, at, turned, SIGN, INFINITY_BITS)                                                          \
    ({                                                                                                                \
        U size = (U) (at) & ~(SIGN);                                                                                  \
        I rank = (I) ((at) >> (8 * sizeof(I) - 1) ? ~size : size);                                                    \
        rank = size ? rank : 0;                                                                                       \
        rank ^= -(I) (turned);                                                                                        \
        size > (INFINITY_BITS) ? (I) ~(SIGN) : rank;                                                                  \
    })

#define DM_PLACES(name, T, I, LEAST, RANK)                                                                            \
    static void name##_line(const void *x, Py_ssize_t first, Py_ssize_t last, int turned, void *rank, void *place) {  \
        I best[DM_PLACE_LANES], where[DM_PLACE_LANES], largest = LEAST, found = (I) first;                            \
        Py_ssize_t i = first;                                                                                         \
        for (int k = 0; k < DM_PLACE_LANES; k++) best[k] = LEAST, where[k] = (I) first;                               \
        for (; i + DM_PLACE_LANES <= last; i += DM_PLACE_LANES)                                                       \
            for (int k = 0; k < DM_PLACE_LANES; k++) {                                                                \
                T at = ((const T *) x)[i + k];                                                                        \
                I now = RANK, here = (I) (i + k);                                                                     \
                where[k] = now > best[k] ? here : where[k];                                                           \
                best[k] = now > best[k] ? now : best[k];                                                              \
            }                                                                                                         \
        for (int k = 0; k < DM_PLACE_LANES; k++)                                                                      \
            if (best[k] > largest || (best[k] == largest && where[k] < found)) largest = best[k], found = where[k];   \
        for (; i < last; i++) {                                                                                       \
            T at = ((const T *) x)[i];                                                                                \
            I now = RANK;                                                                                             \
            if (now > largest) largest = now, found = (I) i;                                                          \
        }                                                                                                             \
        *(I *) rank = largest;                                                                                        \
        *(I *) place = found;                                                                                         \
    }                                                                                                                 \
    static void name##_lines(const void *x, Py_ssize_t stride, Py_ssize_t first, Py_ssize_t last, Py_ssize_t width,   \
                             int turned, void *ranks, void *places) {                                                 \
        I *best = ranks, *where = places;                                                                             \
        for (Py_ssize_t k = 0; k < width; k++) best[k] = LEAST, where[k] = (I) first;                                 \
        for (Py_ssize_t i = first; i < last; i++) {                                                                   \
            const T *row = (const T *) x + i * stride;                                                                \
            for (Py_ssize_t k = 0; k < width; k++) {                                                                  \
                T at = row[k];                                                                                        \
                I now = RANK, before = best[k], there = where[k];                                                     \
                where[k] = now > before ? (I) i : there;                                                              \
                best[k] = now > before ? now : before;                                                                \
            }                                                                                                         \
        }                                                                                                             \
    }                                                                                                                 \
    static void name##_join(const void *more_ranks, const void *more_places, Py_ssize_t count, void *ranks,           \
                            void *places) {                                                                           \
        for (Py_ssize_t k = 0; k < count; k++)                                                                        \
            if (((const I *) more_ranks)[k] > ((I *) ranks)[k]) {                                                     \
                ((I *) ranks)[k] = ((const I *) more_ranks)[k];                                                       \
                ((I *) places)[k] = ((const I *) more_places)[k];                                                     \
            }                                                                                                         \
    }                                                                                                                 \
    static void name##_write(const void *places, Py_ssize_t count, int64_t *to) {                                     \
        for (Py_ssize_t k = 0; k < count; k++) to[k] = ((const I *) places)[k];                                       \
    }

DM_PLACES(dm_places_float, uint32_t, int32_t, INT32_MIN,
          DM_FLOAT_RANK(int32_t, uint32_t, at, turned, (uint32_t) 1 << 31, 0x7f800000u))
DM_PLACES(dm_places_double, uint64_t, int64_t, INT64_MIN,
          DM_FLOAT_RANK(int64_t, uint64_t, at, turned, (uint64_t) 1 << 63, 0x7ff0000000000000u))
DM_PLACES(dm_places_int32, int32_t, int32_t, INT32_MIN, at ^ -turned)
DM_PLACES(dm_places_int64, int64_t, int64_t, INT64_MIN, at ^ -(int64_t) turned)

#define DM_PLACES_OF(name) {sizeof(name##_type), name##_line, name##_lines, name##_join, name##_write}
typedef int32_t dm_places_float_type, dm_places_int32_type;
typedef int64_t dm_places_double_type, dm_places_int64_type;

static const dm_places dm_extreme_places[] = {
    DM_PLACES_OF(dm_places_float), DM_PLACES_OF(dm_places_double), DM_PLACES_OF(dm_places_int32),
    DM_PLACES_OF(dm_places_int64)};

#endif
