# cython: cdivision=True, boundscheck=False, wraparound=False
"""Transforms of Winograd's convolution F(4x4, 3x3): 36 products do the work of 144.

A 3 x 3 convolution of stride 1 is, with the matrices B, G and A below, for each tile of 6 x 6
inputs d and 4 x 4 results y and each kernel g:  y = A^T [(G g G^T) * (B^T d B)] A, where * is
element by element. Summed over channels the * becomes 36 matrix products, which are the caller's.
The gradient of g is G^T [(A dy A^T) * (B^T d B)] G, summed over tiles. Source: Lavin and Gray,
"Fast algorithms for convolutional neural networks", 2016.

Arrays are float32 with channels in whole vectors: x and y are (N, C, H, W) in channels-last memory,
kernels (O, C, 3, 3) contiguous; tiles (36, tiles, C) and transforms of kernels (36, O, C) may have
gaps between rows and between the 36: where those lie at multiples of a page, they evict each other.
"""

cimport numpy as cnp
from cython.parallel cimport prange
from libc.string cimport memcpy, memset

from arrays cimport check
from blocks cimport LANES, PARALLEL_FROM
from channels cimport has_strides

cnp.import_array()

cdef enum:
    TILE = 4  # Results of a tile, per direction.
    REACH = 6  # Inputs of a tile.
    SIZE = 36

ctypedef void (*Transform)(const float *x, int step, float *out, int out_step) noexcept nogil


cdef inline void inputs_line(const float *x, int step, float *out, int out_step) noexcept nogil:
    """Multiply 6 vectors by B^T."""
    cdef int lane
    cdef float x0, x1, x2, x3, x4, x5
    for lane in range(LANES):
        x0, x1, x2 = x[lane], x[lane + step], x[lane + 2 * step]
        x3, x4, x5 = x[lane + 3 * step], x[lane + 4 * step], x[lane + 5 * step]
        out[lane] = <float> 4.0 * x0 - <float> 5.0 * x2 + x4
        out[lane + out_step] = (x3 + x4) - <float> 4.0 * (x1 + x2)
        out[lane + 2 * out_step] = (x4 - x3) + <float> 4.0 * (x1 - x2)
        out[lane + 3 * out_step] = (x4 - x2) + <float> 2.0 * (x3 - x1)
        out[lane + 4 * out_step] = (x4 - x2) - <float> 2.0 * (x3 - x1)
        out[lane + 5 * out_step] = <float> 4.0 * x1 - <float> 5.0 * x3 + x5


cdef inline void results_line(const float *x, int step, float *out, int out_step) noexcept nogil:
    """Multiply 6 vectors by A^T."""
    cdef int lane
    cdef float x0, x5, sum1, sum2, apart1, apart2
    for lane in range(LANES):
        x0, x5 = x[lane], x[lane + 5 * step]
        sum1 = x[lane + step] + x[lane + 2 * step]
        apart1 = x[lane + step] - x[lane + 2 * step]
        sum2 = x[lane + 3 * step] + x[lane + 4 * step]
        apart2 = x[lane + 3 * step] - x[lane + 4 * step]
        out[lane] = x0 + sum1 + sum2
        out[lane + out_step] = apart1 + <float> 2.0 * apart2
        out[lane + 2 * out_step] = sum1 + <float> 4.0 * sum2
        out[lane + 3 * out_step] = apart1 + <float> 8.0 * apart2 + x5


cdef inline void gradients_line(const float *x, int step, float *out, int out_step) noexcept nogil:
    """Multiply 4 vectors by A."""
    cdef int lane
    cdef float x0, x1, x2, x3
    for lane in range(LANES):
        x0, x1, x2, x3 = x[lane], x[lane + step], x[lane + 2 * step], x[lane + 3 * step]
        out[lane] = x0
        out[lane + out_step] = (x0 + x2) + (x1 + x3)
        out[lane + 2 * out_step] = (x0 + x2) - (x1 + x3)
        out[lane + 3 * out_step] = (x0 + <float> 4.0 * x2) + (<float> 2.0 * x1 + <float> 8.0 * x3)
        out[lane + 4 * out_step] = (x0 + <float> 4.0 * x2) - (<float> 2.0 * x1 + <float> 8.0 * x3)
        out[lane + 5 * out_step] = x3


cdef inline void kernels_line(const float *x, int step, float *out, int out_step) noexcept nogil:
    """Multiply 3 vectors by G."""
    cdef int lane
    cdef float x0, x1, x2
    cdef float sixth = <float> (1.0 / 6), twelfth = <float> (1.0 / 12)
    cdef float quarter = <float> 0.25, half = <float> 0.5
    for lane in range(LANES):
        x0, x1, x2 = x[lane], x[lane + step], x[lane + 2 * step]
        out[lane] = quarter * x0
        out[lane + out_step] = -sixth * (x0 + x2 + x1)
        out[lane + 2 * out_step] = -sixth * (x0 + x2 - x1)
        out[lane + 3 * out_step] = twelfth * (half * x0 + <float> 2.0 * x2 + x1)
        out[lane + 4 * out_step] = twelfth * (half * x0 + <float> 2.0 * x2 - x1)
        out[lane + 5 * out_step] = x2


cdef inline void kernel_gradients_line(
    const float *x, int step, float *out, int out_step
) noexcept nogil:
    """Multiply 6 vectors by G^T."""
    cdef int lane
    cdef float sum1, sum2, apart1, apart2
    cdef float sixth = <float> (1.0 / 6), twelfth = <float> (1.0 / 12)
    cdef float quarter = <float> 0.25
    for lane in range(LANES):
        sum1 = sixth * (x[lane + step] + x[lane + 2 * step])
        apart1 = sixth * (x[lane + 2 * step] - x[lane + step])
        sum2 = sixth * (x[lane + 3 * step] + x[lane + 4 * step])
        apart2 = twelfth * (x[lane + 3 * step] - x[lane + 4 * step])
        out[lane] = quarter * (x[lane] + sum2) - sum1
        out[lane + out_step] = apart1 + apart2
        out[lane + 2 * out_step] = sum2 - sum1 + x[lane + 5 * step]


cdef inline void both_ways(
    Transform line, const float *x, int size, float *out, int out_size
) noexcept nogil:
    """Transform columns, then rows, of size x size vectors."""
    cdef float between[SIZE * LANES]
    cdef int i
    for i in range(size):
        line(x + i * LANES, size * LANES, between + i * LANES, size * LANES)
    for i in range(out_size):
        line(between + i * size * LANES, LANES, out + i * out_size * LANES, LANES)


cdef struct Images:
    Py_ssize_t count, channels, height, width
    Py_ssize_t rows, columns, tiles  # Of tiles in an image, and tiles in all.
    Py_ssize_t before_y, before_x
    Py_ssize_t row, plane  # Numbers from a tile to the next, and from one of the 36 to the next.


cdef inline void place(
    const Images *at, Py_ssize_t tile, Py_ssize_t *image, Py_ssize_t *y, Py_ssize_t *x
) noexcept nogil:
    """Write which image a tile belongs to, and where its results start in it."""
    cdef Py_ssize_t of_image = at.rows * at.columns
    image[0] = tile // of_image
    y[0] = tile % of_image // at.columns * TILE
    x[0] = tile % at.columns * TILE


cdef inline void read_tile(
    const Images *at, const float *images, Py_ssize_t tile, Py_ssize_t channel, int size,
    float *out
) noexcept nogil:
    """Copy a tile of size x size vectors of channels, with zeros outside of the image."""
    cdef Py_ssize_t image, top, left
    cdef int i, j
    place(at, tile, &image, &top, &left)
    top -= at.before_y
    left -= at.before_x
    images += image * at.height * at.width * at.channels + channel
    for i in range(size):
        for j in range(size):
            if 0 <= top + i < at.height and 0 <= left + j < at.width:
                memcpy(
                    out + (i * size + j) * LANES,
                    images + ((top + i) * at.width + left + j) * at.channels,
                    LANES * sizeof(float),
                )
            else:
                memset(out + (i * size + j) * LANES, 0, LANES * sizeof(float))


cdef inline void spread(const float *x, float *out, Py_ssize_t step) noexcept nogil:
    """Write 36 vectors `step` apart."""
    cdef int i
    for i in range(SIZE):
        memcpy(out + i * step, x + i * LANES, LANES * sizeof(float))


cdef inline void gather(const float *x, Py_ssize_t step, float *out) noexcept nogil:
    """Read 36 vectors `step` apart."""
    cdef int i
    for i in range(SIZE):
        memcpy(out + i * LANES, x + i * step, LANES * sizeof(float))


cdef void inputs_of_tile(
    const Images *at, const float *images, Py_ssize_t tile, float *out, bint gradients
) noexcept nogil:
    cdef float read[SIZE * LANES]
    cdef float made[SIZE * LANES]
    cdef Py_ssize_t block, channel
    for block in range(at.channels // LANES):
        channel = block * LANES
        if gradients:
            read_tile(at, images, tile, channel, TILE, read)
            both_ways(gradients_line, read, TILE, made, REACH)
        else:
            read_tile(at, images, tile, channel, REACH, read)
            both_ways(inputs_line, read, REACH, made, REACH)
        spread(made, out + tile * at.row + channel, at.plane)


cdef void results_of_tile(
    const Images *at, const float *tiles, const float *bias, Py_ssize_t tile, float *images
) noexcept nogil:
    cdef float read[SIZE * LANES]
    cdef float made[SIZE * LANES]
    cdef Py_ssize_t block, channel, image, top, left
    cdef float *out
    cdef int i, j, lane
    place(at, tile, &image, &top, &left)
    images += image * at.height * at.width * at.channels
    for block in range(at.channels // LANES):
        channel = block * LANES
        gather(tiles + tile * at.row + channel, at.plane, read)
        both_ways(results_line, read, REACH, made, TILE)
        for i in range(min(<Py_ssize_t> TILE, at.height - top)):
            for j in range(min(<Py_ssize_t> TILE, at.width - left)):
                out = images + ((top + i) * at.width + left + j) * at.channels + channel
                if bias == NULL:
                    memcpy(out, made + (i * TILE + j) * LANES, LANES * sizeof(float))
                else:
                    for lane in range(LANES):
                        out[lane] = made[(i * TILE + j) * LANES + lane] + bias[channel + lane]


cdef void kernels_of_output(
    const float *w, Py_ssize_t channels, Py_ssize_t plane, bint flipped, float *out
) noexcept nogil:
    """Transform the kernels of one output channel; flipped for the input's gradient."""
    cdef float read[9 * LANES]
    cdef float made[SIZE * LANES]
    cdef Py_ssize_t block, channel
    cdef int i, lane
    for block in range(channels // LANES):
        channel = block * LANES
        for i in range(9):
            for lane in range(LANES):
                read[i * LANES + lane] = w[(channel + lane) * 9 + (8 - i if flipped else i)]
        both_ways(kernels_line, read, 3, made, REACH)
        spread(made, out + channel, plane)


cdef void kernel_gradients_of_output(
    const float *tiles, Py_ssize_t channels, Py_ssize_t plane, float *dw
) noexcept nogil:
    """Transform the gradients of the kernels of one output channel back."""
    cdef float read[SIZE * LANES]
    cdef float made[9 * LANES]
    cdef Py_ssize_t block, channel
    cdef int i, lane
    for block in range(channels // LANES):
        channel = block * LANES
        gather(tiles + channel, plane, read)
        both_ways(kernel_gradients_line, read, REACH, made, 3)
        for lane in range(LANES):
            for i in range(9):
                dw[(channel + lane) * 9 + i] = made[i * LANES + lane]


cdef int check_tiles(str kernel, cnp.ndarray tiles, tuple wanted, bint written) except -1:
    """Check an array of 36 matrices whose rows are contiguous and lie one behind the other."""
    cdef Py_ssize_t row, item = sizeof(float)
    if cnp.PyArray_TYPE(tiles) != cnp.NPY_FLOAT32:
        raise TypeError(f"For '{kernel}', 'tiles' must be float32, but got {tiles.dtype}.")
    if (<object> tiles).shape != wanted:
        raise ValueError(
            f"For '{kernel}', 'tiles' must have shape {wanted}, but got {(<object> tiles).shape}."
        )
    row = cnp.PyArray_STRIDE(tiles, 1)
    if (
        not cnp.PyArray_ISBEHAVED_RO(tiles)
        or (written and not cnp.PyArray_ISWRITEABLE(tiles))
        or (cnp.PyArray_DIM(tiles, 2) > 1 and cnp.PyArray_STRIDE(tiles, 2) != item)
        or row % item
        or row < item * cnp.PyArray_DIM(tiles, 2)
        or cnp.PyArray_STRIDE(tiles, 0) % item
        or cnp.PyArray_STRIDE(tiles, 0) < row * cnp.PyArray_DIM(tiles, 1)
    ):
        raise ValueError(
            f"For '{kernel}', 'tiles' must be {'writeable, ' if written else ''}aligned and made of "
            f"contiguous rows, one behind the other, but got strides {(<object> tiles).strides} for "
            f"shape {(<object> tiles).shape}."
        )
    return 0


cdef Images find_images(
    str kernel, str name, cnp.ndarray x, cnp.ndarray tiles, Py_ssize_t rows, Py_ssize_t columns,
    Py_ssize_t before_y, Py_ssize_t before_x, bint written
) except *:
    """Check images and tiles of so many rows and columns per image, and return what they are."""
    cdef Images at
    if cnp.PyArray_TYPE(x) != cnp.NPY_FLOAT32 or cnp.PyArray_NDIM(x) != 4:
        raise TypeError(
            f"For '{kernel}', '{name}' must be a float32 array of 4 dimensions, but got "
            f"{x.dtype} of shape {(<object> x).shape}."
        )
    if not (cnp.PyArray_ISALIGNED(x) and cnp.PyArray_ISNOTSWAPPED(x) and has_strides(x, True)) or (
        written and not cnp.PyArray_ISWRITEABLE(x)
    ):
        raise ValueError(
            f"For '{kernel}', '{name}' must be {'writeable ' if written else ''}channels-last "
            f"memory, but got strides {(<object> x).strides} for shape {(<object> x).shape}; copy it."
        )
    at.count, at.channels = cnp.PyArray_DIM(x, 0), cnp.PyArray_DIM(x, 1)
    at.height, at.width = cnp.PyArray_DIM(x, 2), cnp.PyArray_DIM(x, 3)
    at.rows, at.columns, at.tiles = rows, columns, at.count * rows * columns
    at.before_y, at.before_x = before_y, before_x
    if at.channels % LANES or rows < 1 or columns < 1 or before_y < 0 or before_x < 0:
        raise ValueError(
            f"For '{kernel}', the channels of '{name}' must be a multiple of {<int> LANES}, rows and "
            f"columns positive and the padding not negative, but got {at.channels}, {rows}, "
            f"{columns}, {(before_y, before_x)}."
        )
    check_tiles(kernel, tiles, (SIZE, at.tiles, at.channels), not written)
    at.row = cnp.PyArray_STRIDE(tiles, 1) // sizeof(float)
    at.plane = cnp.PyArray_STRIDE(tiles, 0) // sizeof(float)
    return at


def input_tiles(
    cnp.ndarray x not None, Py_ssize_t before_y, Py_ssize_t before_x, Py_ssize_t rows,
    Py_ssize_t columns, cnp.ndarray tiles not None
):
    """Write B^T d B of each tile of `x` with `before` zeros on its top and left.

    >>> import numpy as np
    >>> x = np.ones((1, 1, 1, 16), np.float32).transpose(0, 3, 1, 2)
    >>> tiles = np.empty((36, 1, 16), np.float32)
    >>> input_tiles(x, 0, 0, 1, 1, tiles)
    >>> float(tiles[0, 0, 0])
    16.0
    """
    cdef Images at = find_images(
        "winograd.input_tiles", "x", x, tiles, rows, columns, before_y, before_x, False
    )
    transform_tiles(&at, x, tiles, False)


def gradient_tiles(
    cnp.ndarray dy not None, Py_ssize_t rows, Py_ssize_t columns, cnp.ndarray tiles not None
):
    """Write A dy A^T of each tile of `dy`.

    >>> import numpy as np
    >>> dy = np.ones((1, 4, 4, 16), np.float32).transpose(0, 3, 1, 2)
    >>> tiles = np.empty((36, 1, 16), np.float32)
    >>> gradient_tiles(dy, 1, 1, tiles)
    >>> float(tiles[7, 0, 0])
    16.0
    """
    cdef Images at = find_images(
        "winograd.gradient_tiles", "dy", dy, tiles, rows, columns, 0, 0, False
    )
    transform_tiles(&at, dy, tiles, True)


cdef int transform_tiles(
    const Images *at, cnp.ndarray images, cnp.ndarray tiles, bint gradients
) except -1:
    cdef const float *source = <const float *> cnp.PyArray_DATA(images)
    cdef float *target = <float *> cnp.PyArray_DATA(tiles)
    cdef Py_ssize_t tile
    with nogil:
        for tile in prange(
            at.tiles, schedule="static",
            use_threads_if=at.tiles * at.channels * TILE >= PARALLEL_FROM,
        ):
            inputs_of_tile(at, source, tile, target, gradients)
    return 0


def result_tiles(
    cnp.ndarray tiles not None, Py_ssize_t rows, Py_ssize_t columns, cnp.ndarray bias,
    cnp.ndarray y not None
):
    """Write A^T m A of each tile m, plus `bias` (channels,) unless None, into `y`.

    >>> import numpy as np
    >>> y = np.empty((1, 4, 4, 16), np.float32).transpose(0, 3, 1, 2)
    >>> result_tiles(np.ones((36, 1, 16), np.float32), 1, 1, None, y)
    >>> float(y[0, 0, 0, 0])
    25.0
    """
    cdef str kernel = "winograd.result_tiles"
    cdef Images at = find_images(kernel, "y", y, tiles, rows, columns, 0, 0, True)
    cdef const float *source = <const float *> cnp.PyArray_DATA(tiles)
    cdef const float *added = NULL
    cdef float *target = <float *> cnp.PyArray_DATA(y)
    cdef Py_ssize_t tile
    if (rows - 1) * TILE >= at.height or (columns - 1) * TILE >= at.width:
        raise ValueError(
            f"For '{kernel}', each tile must lie in 'y' {(<object> y).shape}, but got {rows} rows "
            f"and {columns} columns."
        )
    if bias is not None:
        check(kernel, "bias", bias, cnp.NPY_FLOAT32, 1, False)
        if cnp.PyArray_DIM(bias, 0) != at.channels:
            raise ValueError(
                f"For '{kernel}', 'bias' must have length {at.channels}, "
                f"but got {cnp.PyArray_DIM(bias, 0)}."
            )
        added = <const float *> cnp.PyArray_DATA(bias)
    with nogil:
        for tile in prange(
            at.tiles, schedule="static",
            use_threads_if=at.tiles * at.channels * TILE >= PARALLEL_FROM,
        ):
            results_of_tile(&at, source, added, tile, target)


cdef int check_kernels(
    str kernel, str name, cnp.ndarray w, cnp.ndarray tiles, bint written
) except -1:
    """Check kernels (O, C, 3, 3) and their transforms (36, O, C)."""
    check(kernel, name, w, cnp.NPY_FLOAT32, 4, written)
    shape = (<object> w).shape
    if shape[2:] != (3, 3) or shape[1] % LANES:
        raise ValueError(
            f"For '{kernel}', '{name}' must have shape (O, C, 3, 3), C a multiple of "
            f"{<int> LANES}, but got {shape}."
        )
    return check_tiles(kernel, tiles, (SIZE, *shape[:2]), not written)


def kernel_tiles(cnp.ndarray w not None, bint flipped, cnp.ndarray tiles not None):
    """Write G g G^T of each kernel g of `w`, or of the kernels turned by half a circle.

    >>> import numpy as np
    >>> tiles = np.empty((36, 1, 16), np.float32)
    >>> kernel_tiles(np.ones((1, 16, 3, 3), np.float32), False, tiles)
    >>> float(tiles[0, 0, 0])
    0.0625
    """
    check_kernels("winograd.kernel_tiles", "w", w, tiles, False)
    cdef const float *source = <const float *> cnp.PyArray_DATA(w)
    cdef float *target = <float *> cnp.PyArray_DATA(tiles)
    cdef Py_ssize_t outputs = cnp.PyArray_DIM(w, 0)
    cdef Py_ssize_t channels = cnp.PyArray_DIM(w, 1)
    cdef Py_ssize_t row = cnp.PyArray_STRIDE(tiles, 1) // sizeof(float)
    cdef Py_ssize_t plane = cnp.PyArray_STRIDE(tiles, 0) // sizeof(float)
    cdef Py_ssize_t o
    with nogil:
        for o in prange(
            outputs, schedule="static", use_threads_if=outputs * channels * 9 >= PARALLEL_FROM
        ):
            kernels_of_output(
                source + o * channels * 9, channels, plane, flipped, target + o * row
            )


def kernel_gradients(cnp.ndarray tiles not None, cnp.ndarray dw not None):
    """Write G^T u G of each kernel's u into `dw`.

    >>> import numpy as np
    >>> dw = np.empty((1, 16, 3, 3), np.float32)
    >>> kernel_gradients(np.ones((36, 1, 16), np.float32), dw)
    >>> round(float(dw[0, 0, 2, 2]), 6)
    1.0
    """
    check_kernels("winograd.kernel_gradients", "dw", dw, tiles, True)
    cdef const float *source = <const float *> cnp.PyArray_DATA(tiles)
    cdef float *target = <float *> cnp.PyArray_DATA(dw)
    cdef Py_ssize_t outputs = cnp.PyArray_DIM(dw, 0)
    cdef Py_ssize_t channels = cnp.PyArray_DIM(dw, 1)
    cdef Py_ssize_t row = cnp.PyArray_STRIDE(tiles, 1) // sizeof(float)
    cdef Py_ssize_t plane = cnp.PyArray_STRIDE(tiles, 0) // sizeof(float)
    cdef Py_ssize_t o
    with nogil:
        for o in prange(
            outputs, schedule="static", use_threads_if=outputs * channels * 9 >= PARALLEL_FROM
        ):
            kernel_gradients_of_output(
                source + o * row, channels, plane, target + o * channels * 9
            )
