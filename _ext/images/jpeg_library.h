/* A libjpeg of the binary interface 6.2, which a shared library brings: no header of it is needed to build.
 *
 * The library itself refuses to start where its structures are of another size, so the places of fields below hold.
 */
#ifndef DM_JPEG_LIBRARY_H
#define DM_JPEG_LIBRARY_H

#include <dlfcn.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define DM_JPEG_VERSION 62
#define DM_JPEG_STATE_BYTES 632
#define DM_JPEG_ERROR_BYTES 168
#define DM_JPEG_MESSAGE 200 /* longest message, with its end */
#define DM_JPEG_RGB 2
#define DM_JPEG_LINES 8 /* rows read at a time; warnings that are looked at */

typedef struct {
    uint64_t state[DM_JPEG_STATE_BYTES / 8]; /* the library's: first, as its functions get its address */
    uint64_t error[DM_JPEG_ERROR_BYTES / 8];
    jmp_buf back;
    uint8_t *lines;
    int warnings;
    char message[DM_JPEG_MESSAGE];
} dm_jpeg;

/* Fields of the library's structures, by their places in bytes. */
#define DM_JPEG_FIELD(jpeg, type, place) (*(type __attribute__((may_alias)) *) ((char *) (jpeg)->state + (place)))
#define DM_JPEG_ERRORS(jpeg) DM_JPEG_FIELD(jpeg, void *, 0)
#define DM_JPEG_WIDTH(jpeg) DM_JPEG_FIELD(jpeg, uint32_t, 48)
#define DM_JPEG_HEIGHT(jpeg) DM_JPEG_FIELD(jpeg, uint32_t, 52)
#define DM_JPEG_COLOURS(jpeg) DM_JPEG_FIELD(jpeg, int, 60)
#define DM_JPEG_OUT_COLOURS(jpeg) DM_JPEG_FIELD(jpeg, int, 64)
#define DM_JPEG_OUT_WIDTH(jpeg) DM_JPEG_FIELD(jpeg, uint32_t, 136)
#define DM_JPEG_MOST_ACROSS(jpeg) DM_JPEG_FIELD(jpeg, int, 408)

typedef struct {
    void *(*std_error)(void *);
    void (*create)(void *, int, size_t);
    void (*memory)(void *, const unsigned char *, unsigned long);
    int (*header)(void *, int);
    int (*start)(void *);
    void (*crop)(void *, uint32_t *, uint32_t *);
    uint32_t (*skip)(void *, uint32_t);
    uint32_t (*read)(void *, uint8_t **, uint32_t);
    void (*destroy)(void *);
} dm_jpeg_functions;

static dm_jpeg_functions dm_jpeg_calls;

/* Take the functions of a shared library; 0, or -1 where it is none or lacks some. */
static int dm_jpeg_open(const char *path) {
    dm_jpeg_functions found;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) return -1;
    *(void **) &found.std_error = dlsym(library, "jpeg_std_error");
    *(void **) &found.create = dlsym(library, "jpeg_CreateDecompress");
    *(void **) &found.memory = dlsym(library, "jpeg_mem_src");
    *(void **) &found.header = dlsym(library, "jpeg_read_header");
    *(void **) &found.start = dlsym(library, "jpeg_start_decompress");
    *(void **) &found.crop = dlsym(library, "jpeg_crop_scanline");
    *(void **) &found.skip = dlsym(library, "jpeg_skip_scanlines");
    *(void **) &found.read = dlsym(library, "jpeg_read_scanlines");
    *(void **) &found.destroy = dlsym(library, "jpeg_destroy_decompress");
    if (!found.std_error || !found.create || !found.memory || !found.header || !found.start || !found.crop ||
        !found.skip || !found.read || !found.destroy) {
        dlclose(library);
        return -1;
    }
    dm_jpeg_calls = found;
    return 0;
}

static void dm_jpeg_tell(void *state) {
    dm_jpeg *jpeg = (dm_jpeg *) state;
    char text[DM_JPEG_MESSAGE];
    void (*format)(void *, char *) = *(void (**)(void *, char *)) ((char *) jpeg->error + 24);
    format(state, text);
    text[DM_JPEG_MESSAGE - 1] = 0;
    memcpy(jpeg->message, text, DM_JPEG_MESSAGE);
}

static void dm_jpeg_fail(void *state) {
    dm_jpeg_tell(state);
    longjmp(((dm_jpeg *) state)->back, 1);
}

/* A level of -1 is a warning of damaged data, which the library gets over; others are news. That a file ends too early
 * is an error: the library would make up the rest. */
static void dm_jpeg_warn(void *state, int level) {
    dm_jpeg *jpeg = (dm_jpeg *) state;
    if (level >= 0 || jpeg->warnings++ > DM_JPEG_LINES) return;
    dm_jpeg_tell(state);
    if (strncmp(jpeg->message, "Premature end of JPEG", 21) == 0) longjmp(jpeg->back, 1);
}

static void dm_jpeg_silent(void *state) { (void) state; }

static void dm_jpeg_begin(dm_jpeg *jpeg, const uint8_t *data, size_t size) {
    char *error = (char *) jpeg->error;
    DM_JPEG_ERRORS(jpeg) = dm_jpeg_calls.std_error(error);
    *(void (**)(void *)) error = dm_jpeg_fail;
    *(void (**)(void *, int)) (error + 8) = dm_jpeg_warn;
    *(void (**)(void *)) (error + 16) = dm_jpeg_silent;
    dm_jpeg_calls.create(jpeg, DM_JPEG_VERSION, DM_JPEG_STATE_BYTES);
    dm_jpeg_calls.memory(jpeg, data, (unsigned long) size);
    dm_jpeg_calls.header(jpeg, 1);
}

static void dm_jpeg_end(dm_jpeg *jpeg) {
    if (DM_JPEG_FIELD(jpeg, void *, 8)) dm_jpeg_calls.destroy(jpeg); /* its memory manager was made */
    free(jpeg->lines);
}

/* Read a file's header: height, width and the number of its kind of colours; 0, or -1 with a message. */
static int dm_jpeg_size(const uint8_t *data, size_t size, int64_t *found, char *message) {
    dm_jpeg jpeg;
    memset(&jpeg, 0, sizeof jpeg);
    if (setjmp(jpeg.back)) {
        memcpy(message, jpeg.message, DM_JPEG_MESSAGE);
        dm_jpeg_end(&jpeg);
        return -1;
    }
    dm_jpeg_begin(&jpeg, data, size);
    found[0] = DM_JPEG_HEIGHT(&jpeg);
    found[1] = DM_JPEG_WIDTH(&jpeg);
    found[2] = DM_JPEG_COLOURS(&jpeg);
    dm_jpeg_end(&jpeg);
    return 0;
}

/* Decode the pixels from (top, left) on, height x width of them, in RGB; the caller has checked that they are inside.
 *
 * Columns of neighbouring blocks are decoded too, as the colours of a block's edge are smoothed with the next one's.
 * Returns how many warnings there were, or -1; the message is the error's or a warning's.
 */
static int dm_jpeg_part(
    const uint8_t *data, size_t size, int64_t top, int64_t left, int64_t height, int64_t width, uint8_t *out,
    int64_t pitch, char *message) {
    dm_jpeg jpeg;
    uint8_t *rows[DM_JPEG_LINES];
    int64_t begun = 0, line = 0, row = 0;
    memset(&jpeg, 0, sizeof jpeg);
    if (setjmp(jpeg.back)) {
        memcpy(message, jpeg.message, DM_JPEG_MESSAGE);
        dm_jpeg_end(&jpeg);
        return -1;
    }
    dm_jpeg_begin(&jpeg, data, size);
    DM_JPEG_OUT_COLOURS(&jpeg) = DM_JPEG_RGB;
    dm_jpeg_calls.start(&jpeg);
    if (width < (int64_t) DM_JPEG_OUT_WIDTH(&jpeg)) {
        const int64_t block = 8 * (int64_t) DM_JPEG_MOST_ACROSS(&jpeg);
        int64_t from = (left / block - 1) * block, to = ((left + width + block - 1) / block + 1) * block;
        if (from < 0) from = 0;
        if (to > (int64_t) DM_JPEG_OUT_WIDTH(&jpeg)) to = DM_JPEG_OUT_WIDTH(&jpeg);
        if (from > 0 || to < (int64_t) DM_JPEG_OUT_WIDTH(&jpeg)) {
            uint32_t start = (uint32_t) from, count = (uint32_t) (to - from);
            dm_jpeg_calls.crop(&jpeg, &start, &count);
            begun = start;
        }
    }
    if (top > 0) dm_jpeg_calls.skip(&jpeg, (uint32_t) top);
    line = 3 * (int64_t) DM_JPEG_OUT_WIDTH(&jpeg);
    if (line == 3 * width) {
        while (row < height) {
            int many = height - row < DM_JPEG_LINES ? (int) (height - row) : DM_JPEG_LINES;
            for (int i = 0; i < many; i++) rows[i] = out + (row + i) * pitch;
            many = (int) dm_jpeg_calls.read(&jpeg, rows, (uint32_t) many);
            if (many == 0) break;
            row += many;
        }
    } else {
        jpeg.lines = (uint8_t *) malloc((size_t) (line * DM_JPEG_LINES));
        if (!jpeg.lines) {
            dm_jpeg_end(&jpeg);
            strcpy(message, "there is no memory");
            return -1;
        }
        for (int i = 0; i < DM_JPEG_LINES; i++) rows[i] = jpeg.lines + i * line;
        while (row < height) {
            int many = height - row < DM_JPEG_LINES ? (int) (height - row) : DM_JPEG_LINES;
            many = (int) dm_jpeg_calls.read(&jpeg, rows, (uint32_t) many);
            if (many == 0) break;
            for (int i = 0; i < many; i++)
                memcpy(out + (row + i) * pitch, rows[i] + 3 * (left - begun), (size_t) (3 * width));
            row += many;
        }
    }
    memcpy(message, jpeg.message, DM_JPEG_MESSAGE);
    dm_jpeg_end(&jpeg);
    if (row < height) {
        strcpy(message, "rows are missing");
        return -1;
    }
    return jpeg.warnings;
}

#endif
