/* Running extremes of lines, and where they are.

   Numbers are compared by signed keys, which are turned around for minima: both zeros have one key, and a NaN the
   largest, so that it stays once it has come. The last of equal numbers counts. */

#ifndef DM_RUNNING_EXTREMES_H
#define DM_RUNNING_EXTREMES_H

#include <stdint.h>
#include <Python.h>

enum {
    /* Lines side by side of a task, whose keys lie on the stack. */
    DM_STRIP = 128,
    /* Numbers of a line that are looked at together: many, as long as none changes anything, then few. */
    DM_PASSED = 128,
    DM_LOOKED_AT = 16
};

#define DM_FLOAT_KEY(name, K, LARGEST, INFINITY_BITS)                                                                 \
    static inline K name(K bits, K turned) {                                                                          \
        K size = bits & LARGEST, key = bits < 0 ? -size : size;                                                       \
        return size > INFINITY_BITS ? LARGEST : key ^ turned;                                                         \
    }

DM_FLOAT_KEY(dm_running_key_float32, int32_t, INT32_MAX, 0x7f800000)
DM_FLOAT_KEY(dm_running_key_float64, int64_t, INT64_MAX, 0x7ff0000000000000)
DM_FLOAT_KEY(dm_running_key_float16, int16_t, INT16_MAX, 0x7c00)
DM_FLOAT_KEY(dm_running_key_bfloat16, int16_t, INT16_MAX, 0x7f80)

#define DM_RUNNING(name, T, P, KEY)                                                                                   \
    static inline int name##_changes(const T *x, Py_ssize_t count, T turned, T best) {                                \
        int any = 0;                                                                                                  \
        for (Py_ssize_t k = 0; k < count; k++) {                                                                      \
            T seen = x[k];                                                                                            \
            any |= (KEY) >= best;                                                                                     \
        }                                                                                                             \
        return any;                                                                                                   \
    }                                                                                                                 \
    static inline void name##_fill(T *values, P *places, Py_ssize_t count, T value, P place) {                        \
        for (Py_ssize_t k = 0; k < count; k++) values[k] = value;                                                     \
        for (Py_ssize_t k = 0; k < count; k++) places[k] = place;                                                     \
    }                                                                                                                 \
    static void name##_line(const void *row, Py_ssize_t count, int turning, void *to, void *at) {                     \
        const T *x = row, turned = (T) turning;                                                                       \
        T *values = to;                                                                                               \
        P *places = at, place = 0;                                                                                    \
        T value = x[0], seen = value, best = KEY;                                                                     \
        Py_ssize_t i = 0;                                                                                             \
        while (i < count) {                                                                                           \
            Py_ssize_t end = i + DM_LOOKED_AT;                                                                        \
            if (i + DM_PASSED <= count && !name##_changes(x + i, DM_PASSED, turned, best)) {                          \
                name##_fill(values + i, places + i, DM_PASSED, value, place);                                         \
                i += DM_PASSED;                                                                                       \
                continue;                                                                                             \
            }                                                                                                         \
            if (end <= count && !name##_changes(x + i, DM_LOOKED_AT, turned, best)) {                                 \
                name##_fill(values + i, places + i, DM_LOOKED_AT, value, place);                                      \
                i = end;                                                                                              \
                continue;                                                                                             \
            }                                                                                                         \
            for (end = end < count ? end : count; i < end; i++) {                                                     \
                seen = x[i];                                                                                          \
                T key = KEY;                                                                                          \
                int more = key >= best;                                                                               \
                best = more ? key : best;                                                                             \
                value = more ? seen : value;                                                                          \
                place = more ? (P) i : place;                                                                         \
                values[i] = value;                                                                                    \
                places[i] = place;                                                                                    \
            }                                                                                                         \
        }                                                                                                             \
    }                                                                                                                 \
    /* Of up to DM_STRIP lines side by side. */                                                                       \
    static void name##_lines(const void *start, Py_ssize_t count, Py_ssize_t inner, Py_ssize_t width, int turning,    \
                             void *to, void *at) {                                                                    \
        const T *x = start, turned = (T) turning;                                                                     \
        T *values = to, best[DM_STRIP];                                                                               \
        P *places = at;                                                                                               \
        for (Py_ssize_t c = 0; c < width; c++) {                                                                      \
            T seen = x[c];                                                                                            \
            best[c] = KEY;                                                                                            \
            values[c] = seen;                                                                                         \
            places[c] = 0;                                                                                            \
        }                                                                                                             \
        for (Py_ssize_t i = 1; i < count; i++) {                                                                      \
            const T *value = values;                                                                                  \
            const P *place = places;                                                                                  \
            x += inner, values += inner, places += inner;                                                             \
            _Pragma("GCC ivdep") for (Py_ssize_t c = 0; c < width; c++) {                                             \
                T seen = x[c], key = KEY;                                                                             \
                int more = key >= best[c];                                                                            \
                best[c] = more ? key : best[c];                                                                       \
                values[c] = more ? seen : value[c];                                                                   \
                places[c] = more ? (P) i : place[c];                                                                  \
            }                                                                                                         \
        }                                                                                                             \
    }

#define DM_BOTH_PLACES(name, T, KEY)                                                                                  \
    DM_RUNNING(dm_running_##name##_32, T, int32_t, KEY)                                                               \
    DM_RUNNING(dm_running_##name##_64, T, int64_t, KEY)

DM_BOTH_PLACES(float32, int32_t, dm_running_key_float32(seen, turned))
DM_BOTH_PLACES(float64, int64_t, dm_running_key_float64(seen, turned))
DM_BOTH_PLACES(float16, int16_t, dm_running_key_float16(seen, turned))
DM_BOTH_PLACES(bfloat16, int16_t, dm_running_key_bfloat16(seen, turned))
DM_BOTH_PLACES(int8, int8_t, (int8_t) (seen ^ turned))
DM_BOTH_PLACES(int16, int16_t, (int16_t) (seen ^ turned))
DM_BOTH_PLACES(int32, int32_t, seen ^ turned)
DM_BOTH_PLACES(int64, int64_t, seen ^ turned)
DM_BOTH_PLACES(uint8, int8_t, (int8_t) (seen ^ turned ^ INT8_MIN))
DM_BOTH_PLACES(uint16, int16_t, (int16_t) (seen ^ turned ^ INT16_MIN))
DM_BOTH_PLACES(uint32, int32_t, seen ^ turned ^ INT32_MIN)
DM_BOTH_PLACES(uint64, int64_t, seen ^ turned ^ INT64_MIN)

typedef struct {
    void (*line)(const void *row, Py_ssize_t count, int turning, void *values, void *places);
    void (*lines)(const void *start, Py_ssize_t count, Py_ssize_t inner, Py_ssize_t width, int turning, void *values,
                  void *places);
} dm_running;

#define DM_ROW(name)                                                                                                  \
    {{dm_running_##name##_32_line, dm_running_##name##_32_lines},                                                     \
     {dm_running_##name##_64_line, dm_running_##name##_64_lines}}

static const dm_running dm_running_kinds[][2] = {
    DM_ROW(float32), DM_ROW(float64), DM_ROW(float16), DM_ROW(bfloat16), DM_ROW(int8),   DM_ROW(int16),
    DM_ROW(int32),   DM_ROW(int64),   DM_ROW(uint8),   DM_ROW(uint16),   DM_ROW(uint32), DM_ROW(uint64)};

#endif
