# cython: cdivision=True
"""Where the channels of an (N, C, *spatial) array lie, and sums per channel over a block of it.

Channels last (NHWC memory): `groups` rows of C numbers. Channels first (NCHW memory): `groups`
samples of C segments of `spatial` numbers. Sums add four numbers in the type of the statistics, the
rest in float64, like those of blocks.pxd.

Numbers may be stored as bfloat16 (its bits as uint16_t), with statistics in float32.
"""

cimport numpy as cnp
from cython cimport floating
from libc.stdint cimport uint16_t

from bfloat16 cimport bf16_load, bf16_store
from blocks cimport LANES, QUAD, block_count, block_length, lane_total, rows_per_block

ctypedef fused storage:
    float
    double
    uint16_t

cdef extern from *:
    """
    /* Half the least positive bfloat16. */
    #define DM_LEAST_STORED 0x1p-134f
    """
    float LEAST_STORED "DM_LEAST_STORED"

# Arrays that an operation is given beside x, or gives on: where x is bfloat16 they may be float32.
ctypedef fused passed:
    float
    double
    uint16_t

cdef enum:
    # Rows, or numbers of a segment, whose average is the first guess of a mean.
    FIRST_ROWS = 16
    # A block leaves figures per channel behind; of fewer numbers, and they would outgrow the data.
    LEAST_NUMBERS = 128


cdef struct Channels:
    bint last
    Py_ssize_t groups
    Py_ssize_t channels
    Py_ssize_t spatial
    Py_ssize_t block_groups
    Py_ssize_t blocks


cdef inline bint has_strides(cnp.ndarray x, bint last) noexcept:
    """Tell whether x is contiguous with its channels last, or first."""
    cdef int dimensions = cnp.PyArray_NDIM(x)
    cdef Py_ssize_t step = cnp.PyArray_ITEMSIZE(x)
    cdef int axis
    if last:
        if cnp.PyArray_DIM(x, 1) > 1 and cnp.PyArray_STRIDE(x, 1) != step:
            return False
        step *= cnp.PyArray_DIM(x, 1)
    for axis in range(dimensions - 1, -1, -1):
        if axis == 1 and last:
            continue
        if cnp.PyArray_DIM(x, axis) > 1 and cnp.PyArray_STRIDE(x, axis) != step:
            return False
        step *= cnp.PyArray_DIM(x, axis)
    return True


cdef inline Channels find_channels(str kernel, str name, cnp.ndarray x) except *:
    """Return where x has its channels, or raise."""
    cdef Channels found
    cdef Py_ssize_t samples
    if cnp.PyArray_NDIM(x) < 2:
        raise ValueError(
            f"For '{kernel}', '{name}' must have 2 or more dimensions, "
            f"but got shape {(<object> x).shape}."
        )
    samples = cnp.PyArray_DIM(x, 0)
    found.channels = cnp.PyArray_DIM(x, 1)
    found.spatial = 1
    for axis in range(2, cnp.PyArray_NDIM(x)):
        found.spatial *= cnp.PyArray_DIM(x, axis)
    found.last = found.spatial == 1 or not has_strides(x, False)
    if cnp.PyArray_SIZE(x) > 1 and not has_strides(x, found.last):
        raise ValueError(
            f"For '{kernel}', '{name}' must be contiguous in NCHW or NHWC order, but got shape "
            f"{(<object> x).shape} with strides {(<object> x).strides}; copy it."
        )
    if found.last:
        found.groups = samples * found.spatial
        found.spatial = 1
        found.block_groups = rows_per_block(found.channels, LEAST_NUMBERS)
    else:
        found.groups = samples
        found.block_groups = rows_per_block(
            found.channels * found.spatial, block_count(LEAST_NUMBERS, max(found.spatial, 1))
        )
    found.blocks = block_count(found.groups, found.block_groups)
    return found


cdef inline Py_ssize_t groups_in_block(const Channels *at, Py_ssize_t block) noexcept nogil:
    """Return how many rows, or samples, a block has."""
    return block_length(block, at.groups, at.block_groups)


cdef inline floating real(storage x, floating like) noexcept nogil:
    """Return a stored number in the type of `like`, which is that of the statistics."""
    if storage is uint16_t:
        return bf16_load(x)
    else:
        return <floating> x


cdef inline void store(storage *x, Py_ssize_t i, floating value) noexcept nogil:
    """Write a number as it is stored."""
    if storage is uint16_t:
        x[i] = bf16_store(<float> value)
    else:
        x[i] = <storage> value


cdef inline floating positive_part(floating value) noexcept nogil:
    """Return ReLU of a number; a NaN stays one, and adding 0 makes -0 a 0."""
    return (<floating> 0 if value < 0 else value) + <floating> 0


cdef inline floating least_stored(const passed *kind, floating like) noexcept nogil:
    """Return the largest number that is stored as 0."""
    return <floating> LEAST_STORED if passed is uint16_t else <floating> 0


cdef inline floating let_through(
    passed dy, storage x, floating center, floating scale, floating beta, bint relu
) noexcept nogil:
    """Return dy; with `relu`, 0 where its input, made from x again, gave a 0."""
    cdef floating given = real(dy, center)
    if relu and (real(x, center) - center) * scale + beta <= least_stored(&dy, center):
        given = 0
    return given


cdef inline void row_statistics(
    const storage *x, Py_ssize_t rows, Py_ssize_t channels, double *mean, double *squares,
    floating *center
) noexcept nogil:
    """Write each channel's mean over the rows and sum of squares around it.

    Sums distances from `center`, the average of the first rows: small numbers, hardly rounded.
    """
    cdef Py_ssize_t first = min(rows, <Py_ssize_t> FIRST_ROWS)
    cdef const storage *x0 = x
    cdef const storage *x1
    cdef const storage *x2
    cdef const storage *x3
    cdef floating d0, d1, d2, d3
    cdef floating like = 0
    cdef Py_ssize_t row, c
    for c in range(channels):
        mean[c] = 0
        squares[c] = 0
    for row in range(first):
        for c in range(channels):
            mean[c] += <double> real(x[row * channels + c], like)
    for c in range(channels):
        center[c] = <floating> (mean[c] / first)
        mean[c] = 0
    row = 0
    while row + QUAD <= rows:
        x1 = x0 + channels
        x2 = x1 + channels
        x3 = x2 + channels
        for c in range(channels):
            d0 = real(x0[c], like) - center[c]
            d1 = real(x1[c], like) - center[c]
            d2 = real(x2[c], like) - center[c]
            d3 = real(x3[c], like) - center[c]
            mean[c] += <double> ((d0 + d1) + (d2 + d3))
            squares[c] += <double> ((d0 * d0 + d1 * d1) + (d2 * d2 + d3 * d3))
        x0 = x3 + channels
        row += QUAD
    while row < rows:
        for c in range(channels):
            d0 = real(x0[c], like) - center[c]
            mean[c] += <double> d0
            squares[c] += <double> (d0 * d0)
        x0 = x0 + channels
        row += 1
    for c in range(channels):
        squares[c] -= mean[c] * mean[c] / rows
        mean[c] = center[c] + mean[c] / rows


cdef inline void segment_statistics(
    const storage *x, Py_ssize_t segments, Py_ssize_t step, Py_ssize_t size, double *mean,
    double *squares, floating like
) noexcept nogil:
    """Write one channel's mean over its segments, `step` apart, and sum of squares around it.

    Sums distances from the average of the first numbers, as `row_statistics` does: lane by lane,
    four numbers at a time where a segment has as many.
    """
    cdef double lanes[LANES]
    cdef double square_lanes[LANES]
    cdef double numbers = <double> segments * size
    cdef double total = 0
    cdef double total_squares = 0
    cdef floating center, d0, d1, d2, d3
    cdef Py_ssize_t first = min(size, <Py_ssize_t> FIRST_ROWS)
    cdef Py_ssize_t _segment, i
    cdef int lane
    for i in range(first):
        total += <double> real(x[i], like)
    center = <floating> (total / max(first, 1))
    total = 0
    for lane in range(LANES):
        lanes[lane] = 0
        square_lanes[lane] = 0
    for _segment in range(segments):
        i = 0
        while i + QUAD * LANES <= size:
            for lane in range(LANES):
                d0 = real(x[i + lane], center) - center
                d1 = real(x[i + lane + LANES], center) - center
                d2 = real(x[i + lane + 2 * LANES], center) - center
                d3 = real(x[i + lane + 3 * LANES], center) - center
                lanes[lane] += <double> ((d0 + d1) + (d2 + d3))
                square_lanes[lane] += <double> ((d0 * d0 + d1 * d1) + (d2 * d2 + d3 * d3))
            i += QUAD * LANES
        while i + LANES <= size:
            for lane in range(LANES):
                d0 = real(x[i + lane], center) - center
                lanes[lane] += <double> d0
                square_lanes[lane] += <double> (d0 * d0)
            i += LANES
        while i < size:
            d0 = real(x[i], center) - center
            total += <double> d0
            total_squares += <double> (d0 * d0)
            i += 1
        x += step
    total += lane_total(lanes)
    total_squares += lane_total(square_lanes)
    squares[0] = total_squares - total * total / numbers
    mean[0] = center + total / numbers


cdef inline void row_products(
    const passed *dy, const storage *x, const floating *center, const floating *scale,
    const floating *beta, Py_ssize_t rows, Py_ssize_t channels, double *weights, double *products,
    bint relu
) noexcept nogil:
    """Add to each channel's sums of v and of v (x - center) over the rows, v = dy let through."""
    cdef const storage *x1
    cdef const storage *x2
    cdef const storage *x3
    cdef const passed *dy1
    cdef const passed *dy2
    cdef const passed *dy3
    cdef floating v0, v1, v2, v3
    cdef Py_ssize_t row = 0
    cdef Py_ssize_t c
    while row + QUAD <= rows:
        x1 = x + channels
        x2 = x1 + channels
        x3 = x2 + channels
        dy1 = dy + channels
        dy2 = dy1 + channels
        dy3 = dy2 + channels
        for c in range(channels):
            v0 = let_through(dy[c], x[c], center[c], scale[c], beta[c], relu)
            v1 = let_through(dy1[c], x1[c], center[c], scale[c], beta[c], relu)
            v2 = let_through(dy2[c], x2[c], center[c], scale[c], beta[c], relu)
            v3 = let_through(dy3[c], x3[c], center[c], scale[c], beta[c], relu)
            weights[c] += <double> ((v0 + v1) + (v2 + v3))
            products[c] += <double> (
                (v0 * (real(x[c], v0) - center[c]) + v1 * (real(x1[c], v0) - center[c]))
                + (v2 * (real(x2[c], v0) - center[c]) + v3 * (real(x3[c], v0) - center[c]))
            )
        x = x3 + channels
        dy = dy3 + channels
        row += QUAD
    while row < rows:
        for c in range(channels):
            v0 = let_through(dy[c], x[c], center[c], scale[c], beta[c], relu)
            weights[c] += <double> v0
            products[c] += <double> (v0 * (real(x[c], v0) - center[c]))
        x = x + channels
        dy = dy + channels
        row += 1


cdef inline void segment_products(
    const passed *dy, const storage *x, floating center, floating scale, floating beta,
    Py_ssize_t segments, Py_ssize_t step, Py_ssize_t size, double *weights, double *products,
    bint relu
) noexcept nogil:
    """Write one channel's sums, as `row_products` has them, over its segments, `step` apart."""
    cdef double lanes[LANES]
    cdef double product_lanes[LANES]
    cdef double total = 0
    cdef double total_products = 0
    cdef const storage *x1
    cdef const storage *x2
    cdef const storage *x3
    cdef const passed *dy1
    cdef const passed *dy2
    cdef const passed *dy3
    cdef floating v0, v1, v2, v3
    cdef Py_ssize_t _segment, i
    cdef int lane
    for lane in range(LANES):
        lanes[lane] = 0
        product_lanes[lane] = 0
    for _segment in range(segments):
        i = 0
        while i + QUAD * LANES <= size:
            x1 = x + LANES
            x2 = x1 + LANES
            x3 = x2 + LANES
            dy1 = dy + LANES
            dy2 = dy1 + LANES
            dy3 = dy2 + LANES
            for lane in range(LANES):
                v0 = let_through(dy[i + lane], x[i + lane], center, scale, beta, relu)
                v1 = let_through(dy1[i + lane], x1[i + lane], center, scale, beta, relu)
                v2 = let_through(dy2[i + lane], x2[i + lane], center, scale, beta, relu)
                v3 = let_through(dy3[i + lane], x3[i + lane], center, scale, beta, relu)
                lanes[lane] += <double> ((v0 + v1) + (v2 + v3))
                product_lanes[lane] += <double> (
                    (
                        v0 * (real(x[i + lane], center) - center)
                        + v1 * (real(x1[i + lane], center) - center)
                    )
                    + (
                        v2 * (real(x2[i + lane], center) - center)
                        + v3 * (real(x3[i + lane], center) - center)
                    )
                )
            i += QUAD * LANES
        while i + LANES <= size:
            for lane in range(LANES):
                v0 = let_through(dy[i + lane], x[i + lane], center, scale, beta, relu)
                lanes[lane] += <double> v0
                product_lanes[lane] += <double> (v0 * (real(x[i + lane], center) - center))
            i += LANES
        while i < size:
            v0 = let_through(dy[i], x[i], center, scale, beta, relu)
            total += <double> v0
            total_products += <double> (v0 * (real(x[i], center) - center))
            i += 1
        dy += step
        x += step
    weights[0] = total + lane_total(lanes)
    products[0] = total_products + lane_total(product_lanes)
