/* Keys by which numbers of at most 32 bits are put in order: whole numbers of 64 bits, all different.

   The upper half is the number's rank among those of its type, turned around for falling order, the lower half its
   place. So equal numbers stay in the order of their places, and any way of sorting gives the same result. NaN ranks
   above all numbers, and both zeros rank alike. */

#ifndef DM_ORDERING_H
#define DM_ORDERING_H

#include <stdint.h>
#include <string.h>
#include <numpy/arrayobject.h>

typedef int (*dm_sorter)(void *start, npy_intp count, void *array);
typedef int (*dm_place_sorter)(void *values, npy_intp *places, npy_intp count, void *array);

/* NumPy's own sorts of C arrays, which need no GIL for numbers. */
static dm_sorter dm_key_sorter(void) {
    PyArray_Descr *descr = PyArray_DescrFromType(NPY_UINT64);
    dm_sorter found = (dm_sorter) PyDataType_GetArrFuncs(descr)->sort[NPY_QUICKSORT];
    Py_DECREF(descr);
    return found;
}

static dm_place_sorter dm_stable_sorter(PyArrayObject *array) {
    return (dm_place_sorter) PyDataType_GetArrFuncs(PyArray_DESCR(array))->argsort[NPY_STABLESORT];
}

static inline uint32_t dm_rank_of_bits(uint32_t bits, uint32_t infinity) {
    /* Of a float32's bits, or a 16-bit float's in the upper half of 32. */
    uint32_t size = bits & 0x7fffffffu, negative = -(bits >> 31);
    uint32_t rank = size ? bits ^ (negative | 0x80000000u) : 0x80000000u;
    return size > infinity ? 0xffffffffu : rank;
}

#define DM_KEYS(name, T, RANK)                                                                                        \
    static void name(const void *row, Py_ssize_t count, uint32_t turned, uint64_t *keys) {                            \
        const T *x = row;                                                                                             \
        for (Py_ssize_t i = 0; i < count; i++) {                                                                      \
            T at = x[i];                                                                                              \
            uint32_t rank = RANK;                                                                                     \
            keys[i] = (uint64_t) (rank ^ turned) << 32 | (uint32_t) i;                                                \
        }                                                                                                             \
    }                                                                                                                 \
    /* Appends the keys below `bound` to `keys` and returns how many there are then, at most `most`; `next` is where  \
       to go on. */                                                                                                   \
    static Py_ssize_t name##_below(const void *row, Py_ssize_t *next, Py_ssize_t count, uint32_t turned,              \
                                   uint64_t bound, uint64_t *keys, Py_ssize_t found, Py_ssize_t most) {               \
        const T *x = row;                                                                                             \
        uint32_t ranks[16], highest = (uint32_t) (bound >> 32);                                                       \
        Py_ssize_t i = *next;                                                                                         \
        for (; i + 16 <= count && found + 16 <= most; i += 16) {                                                      \
            int any = 0;                                                                                              \
            for (int k = 0; k < 16; k++) {                                                                            \
                T at = x[i + k];                                                                                      \
                ranks[k] = (RANK) ^ turned;                                                                           \
            }                                                                                                         \
            for (int k = 0; k < 16; k++) any |= ranks[k] <= highest;                                                  \
            if (!any) continue;                                                                                       \
            for (int k = 0; k < 16; k++) {                                                                            \
                uint64_t key = (uint64_t) ranks[k] << 32 | (uint32_t) (i + k);                                        \
                keys[found] = key;                                                                                    \
                found += key < bound;                                                                                 \
            }                                                                                                         \
        }                                                                                                             \
        for (; i < count && i + 16 > count && found < most; i++) {                                                    \
            T at = x[i];                                                                                              \
            keys[found] = (uint64_t) ((RANK) ^ turned) << 32 | (uint32_t) i;                                          \
            found += keys[found] < bound;                                                                             \
        }                                                                                                             \
        *next = i;                                                                                                    \
        return found;                                                                                                 \
    }

DM_KEYS(dm_keys_float32, uint32_t, dm_rank_of_bits(at, 0x7f800000u))
DM_KEYS(dm_keys_float16, uint16_t, dm_rank_of_bits((uint32_t) at << 16, 0x7c000000u))
DM_KEYS(dm_keys_bfloat16, uint16_t, dm_rank_of_bits((uint32_t) at << 16, 0x7f800000u))
DM_KEYS(dm_keys_int8, int8_t, (uint32_t) (int32_t) at ^ 0x80000000u)
DM_KEYS(dm_keys_int16, int16_t, (uint32_t) (int32_t) at ^ 0x80000000u)
DM_KEYS(dm_keys_int32, int32_t, (uint32_t) at ^ 0x80000000u)
DM_KEYS(dm_keys_uint8, uint8_t, at)
DM_KEYS(dm_keys_uint16, uint16_t, at)
DM_KEYS(dm_keys_uint32, uint32_t, at)

#define DM_TAKE(name, T)                                                                                              \
    static void name(const void *row, const uint64_t *keys, Py_ssize_t count, void *values, int32_t *places) {        \
        for (Py_ssize_t i = 0; i < count; i++) {                                                                      \
            places[i] = (int32_t) keys[i];                                                                            \
            ((T *) values)[i] = ((const T *) row)[(uint32_t) keys[i]];                                                \
        }                                                                                                             \
    }

DM_TAKE(dm_take_8, uint8_t)
DM_TAKE(dm_take_16, uint16_t)
DM_TAKE(dm_take_32, uint32_t)

typedef struct {
    void (*keys)(const void *row, Py_ssize_t count, uint32_t turned, uint64_t *keys);
    Py_ssize_t (*below)(const void *row, Py_ssize_t *next, Py_ssize_t count, uint32_t turned, uint64_t bound,
                        uint64_t *keys, Py_ssize_t found, Py_ssize_t most);
    void (*take)(const void *row, const uint64_t *keys, Py_ssize_t count, void *values, int32_t *places);
} dm_ordering;

static const dm_ordering dm_orderings[] = {
    {dm_keys_float32, dm_keys_float32_below, dm_take_32}, {dm_keys_float16, dm_keys_float16_below, dm_take_16},
    {dm_keys_bfloat16, dm_keys_bfloat16_below, dm_take_16}, {dm_keys_int8, dm_keys_int8_below, dm_take_8},
    {dm_keys_int16, dm_keys_int16_below, dm_take_16}, {dm_keys_int32, dm_keys_int32_below, dm_take_32},
    {dm_keys_uint8, dm_keys_uint8_below, dm_take_8}, {dm_keys_uint16, dm_keys_uint16_below, dm_take_16},
    {dm_keys_uint32, dm_keys_uint32_below, dm_take_32}};

#endif
