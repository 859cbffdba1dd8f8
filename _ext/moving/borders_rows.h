/* Rows of borders: copied, or framed by a line of one value at both ends. */
#include <string.h>

/* Short rows without a call; the last piece may overlap the one before. */
static inline void dm_copy_row(char *target, const char *source, Py_ssize_t size) {
    Py_ssize_t i = 0;
    if (size >= 64) {
        for (; i + 64 <= size; i += 64) memcpy(target + i, source + i, 64);
        if (i < size) memcpy(target + size - 64, source + size - 64, 64);
    } else if (size >= 16) {
        if (size >= 32) {
            memcpy(target, source, 32);
            memcpy(target + size - 32, source + size - 32, 32);
        } else {
            memcpy(target, source, 16);
            memcpy(target + size - 16, source + size - 16, 16);
        }
    } else {
        for (; i < size; i++) { target[i] = source[i]; __asm__ volatile(""); }
    }
}
/* A row between narrow borders: a line of the border's value at both ends, and the row over what is too much. */
static inline void dm_frame_row(
    char *target, Py_ssize_t outer, Py_ssize_t before, const char *source, Py_ssize_t inner, const char *line) {
    if (before <= 16 && outer - before - inner <= 16) {
        memcpy(target, line, 16);
        memcpy(target + outer - 16, line, 16);
    } else {
        memcpy(target, line, 64);
        memcpy(target + outer - 64, line, 64);
    }
    dm_copy_row(target + before, source, inner);
}
/* Keeps a loop of a few turns from becoming one of vectors. */
#define dm_stay_scalar() __asm__ volatile("")
