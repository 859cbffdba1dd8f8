# cython: cdivision=True, boundscheck=False, wraparound=False
"""Images of bytes cropped, mirrored, resized and made numbers by tables, in one pass, on the calling thread.

What a chain of functions of single pixels makes of a byte stands in a table for each channel, so the results have the
chain's bits. Bilinear sizes have OpenCV's weights of 11 bits and its two roundings.
"""

cimport numpy as cnp
from libc.math cimport floor, rint
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc

from arrays cimport check, check_memory, check_type

cnp.import_array()

cdef enum:
    BYTES = 256
    ONE = 2048  # weight 1 of the bilinear sum

ctypedef fused word:
    uint8_t
    uint16_t
    uint32_t
    uint64_t


ctypedef struct Frame:
    # One image: where it lies, its strides in bytes, and the part that is taken.
    const uint8_t *pixels
    Py_ssize_t pitch
    Py_ssize_t channels
    Py_ssize_t top
    Py_ssize_t left
    Py_ssize_t height
    Py_ssize_t width
    bint mirrored
    bint upside
    # Which row and column lies at each place of the image with its border, -1 for the fill; or NULL.
    const int32_t *row_map
    const int32_t *column_map
    const uint8_t *fill


ctypedef struct Scales:
    # Another size: for each number of a line its two sources and weights, and as much for each line.
    Py_ssize_t height
    Py_ssize_t width
    int32_t *places
    int32_t *weights
    int32_t *lines
    int32_t *shares


cdef const uint8_t *line_of(const Frame *frame, Py_ssize_t y, uint8_t *room) noexcept nogil:
    """Return line `y` of the part; made in `room` where it does not lie in memory as it is."""
    cdef Py_ssize_t channels = frame.channels
    cdef Py_ssize_t row = frame.top + (frame.height - 1 - y if frame.upside else y)
    cdef Py_ssize_t x, c, column
    cdef const uint8_t *source
    if frame.row_map != NULL:
        row = frame.row_map[row]
    if row < 0:
        for x in range(frame.width):
            for c in range(channels):
                room[x * channels + c] = frame.fill[c]
        return room
    source = frame.pixels + row * frame.pitch
    if frame.column_map == NULL and not frame.mirrored:
        return source + frame.left * channels
    for x in range(frame.width):
        column = frame.left + (frame.width - 1 - x if frame.mirrored else x)
        if frame.column_map != NULL:
            column = frame.column_map[column]
        if column < 0:
            for c in range(channels):
                room[x * channels + c] = frame.fill[c]
        elif channels == 3:
            room[3 * x] = source[3 * column]
            room[3 * x + 1] = source[3 * column + 1]
            room[3 * x + 2] = source[3 * column + 2]
        else:
            for c in range(channels):
                room[x * channels + c] = source[column * channels + c]
    return room


cdef void place(Py_ssize_t i, double scale, float *fraction, int64_t *at) noexcept nogil:
    """Find between which two source places number `i` of the new ones lies."""
    fraction[0] = <float> ((<double> i + 0.5) * scale - 0.5)
    at[0] = <int64_t> floor(fraction[0])
    fraction[0] = fraction[0] - <float> at[0]


cdef void find_scales(Scales *scales, Py_ssize_t height, Py_ssize_t width, Py_ssize_t channels) noexcept nogil:
    """Find the places and weights that make an image of `height` x `width` one of the new size."""
    cdef double across = 1.0 / (<double> scales.width / <double> width)
    cdef double down = 1.0 / (<double> scales.height / <double> height)
    cdef Py_ssize_t i, c, k
    cdef float fraction
    cdef int64_t at
    for i in range(scales.width):
        place(i, across, &fraction, &at)
        if at < 0:
            fraction = 0
            at = 0
        if at >= width - 1:
            fraction = 0
            at = width - 1
        for c in range(channels):
            k = i * channels + c
            scales.places[2 * k] = <int32_t> (at * channels + c)
            scales.places[2 * k + 1] = <int32_t> (min(at + 1, width - 1) * channels + c)
            scales.weights[2 * k] = <int32_t> rint((<float> 1 - fraction) * <float> ONE)
            scales.weights[2 * k + 1] = <int32_t> rint(fraction * <float> ONE)
    for i in range(scales.height):
        place(i, down, &fraction, &at)
        scales.lines[2 * i] = <int32_t> min(max(at, 0), height - 1)
        scales.lines[2 * i + 1] = <int32_t> min(max(at + 1, 0), height - 1)
        scales.shares[2 * i] = <int32_t> rint((<float> 1 - fraction) * <float> ONE)
        scales.shares[2 * i + 1] = <int32_t> rint(fraction * <float> ONE)


cdef void stretch(const uint8_t *line, const Scales *scales, Py_ssize_t count, int32_t *out) noexcept nogil:
    """Write a line in its new width, times ONE."""
    cdef Py_ssize_t k
    cdef const int32_t *places = scales.places
    cdef const int32_t *weights = scales.weights
    for k in range(count):
        out[k] = line[places[2 * k]] * weights[2 * k] + line[places[2 * k + 1]] * weights[2 * k + 1]


cdef void blend(
    const int32_t *above, const int32_t *below, int32_t share, int32_t rest, Py_ssize_t count, uint8_t *out
) noexcept nogil:
    """Write the sum of two lines of `stretch` as bytes."""
    cdef Py_ssize_t k
    for k in range(count):
        out[k] = <uint8_t> (((share * (above[k] >> 4) >> 16) + (rest * (below[k] >> 4) >> 16) + 2) >> 2)


cdef void translate(
    const uint8_t *line, Py_ssize_t width, Py_ssize_t channels, bint mirrored, const word *tables, word *out,
    Py_ssize_t across, Py_ssize_t between
) noexcept nogil:
    """Write what the tables say of a line's bytes; `across` and `between` pixels and channels lie in `out`."""
    cdef Py_ssize_t x, c
    cdef const word *table
    if mirrored:
        out += (width - 1) * across
        across = -across
    if between == 1 and channels == 3:
        for x in range(width):
            out[x * across] = tables[line[3 * x]]
            out[x * across + 1] = tables[BYTES + line[3 * x + 1]]
            out[x * across + 2] = tables[2 * BYTES + line[3 * x + 2]]
        return
    # Constant steps make loops that need no multiplication.
    for c in range(channels):
        table = tables + c * BYTES
        if channels == 3 and across == 1:
            for x in range(width):
                out[x] = table[line[3 * x + c]]
        elif channels == 3 and across == -1:
            for x in range(width):
                out[-x] = table[line[3 * x + c]]
        else:
            for x in range(width):
                out[x * across] = table[line[x * channels + c]]
        out += between


cdef void write_image(
    const Frame *frame, const Scales *scales, bint mirrored, bint upside, const word *tables, word *out,
    Py_ssize_t down, Py_ssize_t across, Py_ssize_t between, uint8_t *room, int32_t *stretched
) noexcept nogil:
    """Write one image; `mirrored` and `upside` are of the result."""
    cdef Py_ssize_t height = frame.height if scales == NULL else scales.height
    cdef Py_ssize_t width = frame.width if scales == NULL else scales.width
    cdef Py_ssize_t count = width * frame.channels
    cdef Py_ssize_t y, k
    cdef const uint8_t *line
    cdef int64_t[2] has
    cdef int32_t *lines[2]
    cdef uint8_t *bytes = room + frame.width * frame.channels
    # Lines that are stretched already; the one above is often the one that was below.
    has[0] = has[1] = -1
    lines[0] = stretched
    lines[1] = stretched + count
    for y in range(height):
        if scales == NULL:
            line = line_of(frame, y, room)
        else:
            if has[0] != scales.lines[2 * y] and has[1] == scales.lines[2 * y]:
                lines[0], lines[1] = lines[1], lines[0]
                has[0], has[1] = has[1], has[0]
            for k in range(2):
                if has[k] != scales.lines[2 * y + k]:
                    has[k] = scales.lines[2 * y + k]
                    stretch(line_of(frame, has[k], room), scales, count, lines[k])
            blend(lines[0], lines[1], scales.shares[2 * y], scales.shares[2 * y + 1], count, bytes)
            line = bytes
        translate(
            line, width, frame.channels, mirrored, tables, out + (height - 1 - y if upside else y) * down, across,
            between
        )


cdef void write_images(
    const Frame *first, const int64_t *rows, Py_ssize_t count, Py_ssize_t distance, const int64_t *tops,
    const int64_t *lefts, const uint8_t *early, const uint8_t *late, const Scales *scales, const word *tables,
    word *out, const Py_ssize_t *steps, uint8_t *room, int32_t *stretched
) noexcept nogil:
    """Write all images; of `early` and `late` bit 0 mirrors and bit 1 turns upside down, before and after the size."""
    cdef Py_ssize_t i
    cdef Frame frame = first[0]
    cdef uint8_t turns
    for i in range(count):
        frame.pixels = first.pixels + (i if rows == NULL else rows[i]) * distance
        frame.top = 0 if tops == NULL else tops[i]
        frame.left = 0 if lefts == NULL else lefts[i]
        turns = 0 if late == NULL else late[i]
        if early != NULL and scales == NULL:
            turns ^= early[i]
        elif early != NULL:
            frame.mirrored = early[i] & 1
            frame.upside = early[i] >> 1
        write_image(
            &frame, scales, turns & 1, turns >> 1 & 1, tables, out + i * steps[0], steps[1], steps[2], steps[3],
            room, stretched
        )


cdef cnp.ndarray numbers(str name, object array, int kind, Py_ssize_t count):
    """Return a contiguous array of `count` numbers of a type, or None."""
    if array is None:
        return None
    check("write", name, array, kind, 1, False)
    if count >= 0 and array.shape[0] != count:
        raise ValueError(f"For 'write', '{name}' must have {count} numbers, but got {array.shape[0]}.")
    return array


cdef void *data_of(cnp.ndarray array) noexcept:
    return NULL if array is None else cnp.PyArray_DATA(array)


def write(
    cnp.ndarray images not None,
    cnp.ndarray tables not None,
    cnp.ndarray out not None,
    rows=None,
    tuple part=None,
    tops=None,
    lefts=None,
    row_map=None,
    column_map=None,
    fill=None,
    early=None,
    late=None,
    bint resized=False,
):
    """Write ``out[i, y, x, c] = tables[c, image[y, x, c]]`` of images that are cropped, mirrored and resized.

    Args:
        images: (N, H, W, C) uint8; the pixels of a row lie side by side.
        tables: (C, 256), contiguous.
        out: (n, h, w, C) of the tables' type, with any strides.
        rows: int64, which images; all in turn by default.
        part: (height, width) of what is taken of each image, by default all.
        tops, lefts: int64, where the part begins in each image, its border included; 0 by default.
        row_map, column_map: int32, the row and column of the image at each place of the image with its border,
            -1 where the border is `fill`.
        fill: (C,) uint8, the border's colour.
        early, late: uint8; bit 0 mirrors, bit 1 turns upside down, before and after the change of size.
        resized: whether the part's size is changed to that of `out`, by bilinear interpolation.

    >>> import numpy as np
    >>> images = np.arange(4, dtype=np.uint8).reshape(1, 2, 2, 1)
    >>> out = np.empty((1, 2, 2, 1), np.float32)
    >>> write(images, np.arange(256, dtype=np.float32)[None] / 2, out, late=np.array([1], np.uint8))
    >>> out.ravel()
    array([0.5, 0. , 1.5, 1. ], dtype=float32)
    """
    cdef Py_ssize_t n, channels, high, wide, size
    cdef Frame frame
    cdef Scales scales
    cdef Scales *found = NULL
    cdef Py_ssize_t[4] steps
    cdef int axis, bytes_each = cnp.PyArray_ITEMSIZE(out)
    cdef uint8_t *room = NULL
    cdef int32_t *numbers_of_room
    cdef int32_t *stretched = NULL
    check_type("write", "images", images, cnp.NPY_UINT8)
    if images.ndim != 4 or out.ndim != 4 or tables.ndim != 2:
        raise ValueError(
            f"For 'write', 'images', 'tables' and 'out' must have 4, 2 and 4 dimensions, but got {images.ndim}, "
            f"{tables.ndim} and {out.ndim}."
        )
    n, channels = out.shape[0], images.shape[3]
    if images.strides[3] != 1 or (images.strides[2] != channels and images.shape[2] > 1):
        raise ValueError(
            f"For 'write', 'images' must have the pixels of a row side by side, but got strides "
            f"{(<object> images).strides}."
        )
    if tables.dtype != out.dtype or bytes_each not in (1, 2, 4, 8):
        raise TypeError(f"For 'write', 'tables' must be {out.dtype}, as 'out', but got {tables.dtype}.")
    check_memory("write", "out", out, True)
    check_memory("write", "tables", tables, False)
    if not tables.flags.c_contiguous or tables.shape[0] != channels or tables.shape[1] != BYTES:
        raise ValueError(
            f"For 'write', 'tables' must be ({channels}, 256) and contiguous, but got {(<object> tables).shape}."
        )
    frame.height, frame.width = part if part is not None else (images.shape[1], images.shape[2])
    high, wide = (images.shape[1], images.shape[2])
    if (row_map is None) != (column_map is None):
        raise ValueError("For 'write', 'row_map' and 'column_map' must be given together, but got one of them.")
    cdef cnp.ndarray row_numbers = numbers("rows", rows, cnp.NPY_INT64, n)
    cdef cnp.ndarray top_numbers = numbers("tops", tops, cnp.NPY_INT64, n)
    cdef cnp.ndarray left_numbers = numbers("lefts", lefts, cnp.NPY_INT64, n)
    cdef cnp.ndarray down_map = numbers("row_map", row_map, cnp.NPY_INT32, -1)
    cdef cnp.ndarray across_map = numbers("column_map", column_map, cnp.NPY_INT32, -1)
    cdef cnp.ndarray colour = numbers("fill", fill, cnp.NPY_UINT8, channels)
    cdef cnp.ndarray early_turns = numbers("early", early, cnp.NPY_UINT8, n)
    cdef cnp.ndarray late_turns = numbers("late", late, cnp.NPY_UINT8, n)
    inside("rows", row_numbers, images.shape[0] - 1, n)
    if down_map is not None:
        inside_map("row_map", down_map, high, colour)
        inside_map("column_map", across_map, wide, colour)
        high, wide = down_map.shape[0], across_map.shape[0]
    if n and (frame.height < 1 or frame.width < 1 or out.shape[1] < 1 or out.shape[2] < 1):
        raise ValueError(f"For 'write', 'part' must not be empty, but got {(frame.height, frame.width)}.")
    inside("tops", top_numbers, high - frame.height, 1)
    inside("lefts", left_numbers, wide - frame.width, 1)
    if out.shape[3] != channels or (not resized and (out.shape[1] != frame.height or out.shape[2] != frame.width)):
        raise ValueError(
            f"For 'write', 'out' must be {(n, frame.height, frame.width, channels)}, but got {(<object> out).shape}."
        )
    if n == 0 or channels == 0:
        return
    for axis in range(4):
        if out.strides[axis] % bytes_each:
            raise ValueError(f"For 'write', 'out' must have whole strides, but got {(<object> out).strides}.")
        steps[axis] = out.strides[axis] // bytes_each
    frame.pixels = <const uint8_t *> cnp.PyArray_DATA(images)
    frame.pitch, frame.channels, frame.mirrored, frame.upside = images.strides[1], channels, False, False
    frame.row_map, frame.column_map = <const int32_t *> data_of(down_map), <const int32_t *> data_of(across_map)
    frame.fill = <const uint8_t *> data_of(colour)
    scales.height, scales.width = out.shape[1], out.shape[2]
    size = scales.width * channels
    room = <uint8_t *> malloc(frame.width * channels + size)
    numbers_of_room = <int32_t *> malloc((6 * size + 4 * scales.height) * sizeof(int32_t)) if resized else NULL
    if room == NULL or (resized and numbers_of_room == NULL):
        free(room)
        free(numbers_of_room)
        raise MemoryError("For 'write', there is no memory for a line.")
    if resized:
        found = &scales
        scales.places, scales.weights = numbers_of_room, numbers_of_room + 2 * size
        stretched = numbers_of_room + 4 * size
        scales.lines = stretched + 2 * size
        scales.shares = scales.lines + 2 * scales.height
        find_scales(found, frame.height, frame.width, channels)
    cdef const int64_t *at = <const int64_t *> data_of(row_numbers)
    cdef const int64_t *down = <const int64_t *> data_of(top_numbers)
    cdef const int64_t *across = <const int64_t *> data_of(left_numbers)
    cdef const uint8_t *before = <const uint8_t *> data_of(early_turns)
    cdef const uint8_t *after = <const uint8_t *> data_of(late_turns)
    cdef const void *words = cnp.PyArray_DATA(tables)
    cdef void *to = cnp.PyArray_DATA(out)
    cdef Py_ssize_t far = images.strides[0]
    with nogil:
        if bytes_each == 1:
            write_images(
                &frame, at, n, far, down, across, before, after, found, <const uint8_t *> words, <uint8_t *> to,
                steps, room, stretched)
        elif bytes_each == 2:
            write_images(
                &frame, at, n, far, down, across, before, after, found, <const uint16_t *> words, <uint16_t *> to,
                steps, room, stretched)
        elif bytes_each == 4:
            write_images(
                &frame, at, n, far, down, across, before, after, found, <const uint32_t *> words, <uint32_t *> to,
                steps, room, stretched)
        else:
            write_images(
                &frame, at, n, far, down, across, before, after, found, <const uint64_t *> words, <uint64_t *> to,
                steps, room, stretched)
    free(room)
    free(numbers_of_room)


cdef int inside(str name, cnp.ndarray found, Py_ssize_t most, Py_ssize_t needed) except -1:
    """Raise unless all numbers are in [0, most]; without any, 0 to needed - 1 must be."""
    cdef Py_ssize_t i
    cdef const int64_t *values
    if found is None:
        if needed - 1 > most:
            raise ValueError(f"For 'write', '{name}' must be at most {most}, but got {needed - 1}.")
        return 0
    values = <const int64_t *> cnp.PyArray_DATA(found)
    for i in range(found.shape[0]):
        if values[i] < 0 or values[i] > most:
            raise ValueError(f"For 'write', '{name}' must be in [0, {most}], but got {values[i]}.")
    return 0


cdef int inside_map(str name, cnp.ndarray found, Py_ssize_t length, cnp.ndarray colour) except -1:
    """Raise unless all numbers are below the image's length, and -1 only where there is a fill."""
    cdef Py_ssize_t i
    cdef const int32_t *values = <const int32_t *> cnp.PyArray_DATA(found)
    for i in range(found.shape[0]):
        if values[i] >= length or values[i] < (0 if colour is None else -1):
            raise ValueError(f"For 'write', '{name}' must be in [-1, {length - 1}], but got {values[i]}.")
    return 0
