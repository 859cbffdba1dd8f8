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

# Arrays that an operation is given beside x, or gives on: where x is bfloat16 they may be float32.
ctypedef fused passed:
    float
    double
    uint16_t

cdef enum:
    # Rows whose average is the first guess of a block's mean.
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

    Sums distances from the average of the first segment, as `row_statistics` does.
    """
    cdef double numbers = <double> segments * size
    cdef double total = 0
    cdef floating center = 0
    cdef Py_ssize_t i
    squares[0] = 0
    add_distances(x, center, size, &total, squares)
    center = <floating> (total / size)
    total = 0
    squares[0] = 0
    for i in range(segments):
        add_distances(x + i * step, center, size, &total, squares)
    squares[0] -= total * total / numbers
    mean[0] = center + total / numbers


cdef inline void add_distances(
    const storage *x, floating center, Py_ssize_t size, double *total, double *squares
) noexcept nogil:
    """Add the sums of x - center and of its squares: lane by lane, four numbers at a time."""
    cdef double lanes[LANES]
    cdef double square_lanes[LANES]
    cdef floating d0, d1, d2, d3
    cdef Py_ssize_t i = 0
    cdef int lane
    for lane in range(LANES):
        lanes[lane] = 0
        square_lanes[lane] = 0
    while i + QUAD * LANES <= size:
        for lane in range(LANES):
            d0 = real(x[i + lane], center) - center
            d1 = real(x[i + lane + LANES], center) - center
            d2 = real(x[i + lane + 2 * LANES], center) - center
            d3 = real(x[i + lane + 3 * LANES], center) - center
            lanes[lane] += <double> ((d0 + d1) + (d2 + d3))
            square_lanes[lane] += <double> ((d0 * d0 + d1 * d1) + (d2 * d2 + d3 * d3))
        i += QUAD * LANES
    while i < size:
        d0 = real(x[i], center) - center
        total[0] += d0
        squares[0] += d0 * d0
        i += 1
    total[0] += lane_total(lanes)
    squares[0] += lane_total(square_lanes)


cdef inline void row_products(
    const passed *weight, const storage *x, const floating *center, Py_ssize_t rows,
    Py_ssize_t channels, double *weights, double *products
) noexcept nogil:
    """Add to each channel's sums of weight and of weight (x - center) over the rows."""
    cdef const storage *x1
    cdef const storage *x2
    cdef const storage *x3
    cdef const passed *w1
    cdef const passed *w2
    cdef const passed *w3
    cdef floating v0, v1, v2, v3
    cdef Py_ssize_t row = 0
    cdef Py_ssize_t c
    while row + QUAD <= rows:
        x1 = x + channels
        x2 = x1 + channels
        x3 = x2 + channels
        w1 = weight + channels
        w2 = w1 + channels
        w3 = w2 + channels
        for c in range(channels):
            v0 = real(weight[c], center[c])
            v1 = real(w1[c], center[c])
            v2 = real(w2[c], center[c])
            v3 = real(w3[c], center[c])
            weights[c] += <double> ((v0 + v1) + (v2 + v3))
            products[c] += <double> (
                (v0 * (real(x[c], v0) - center[c]) + v1 * (real(x1[c], v0) - center[c]))
                + (v2 * (real(x2[c], v0) - center[c]) + v3 * (real(x3[c], v0) - center[c]))
            )
        x = x3 + channels
        weight = w3 + channels
        row += QUAD
    while row < rows:
        for c in range(channels):
            v0 = real(weight[c], center[c])
            weights[c] += <double> v0
            products[c] += <double> (v0 * (real(x[c], v0) - center[c]))
        x = x + channels
        weight = weight + channels
        row += 1


cdef inline void segment_products(
    const passed *weight, const storage *x, floating center, Py_ssize_t size,
    double *weights, double *products
) noexcept nogil:
    """Add to one channel's sums of weight and of weight (x - center) over a segment."""
    cdef double lanes[LANES]
    cdef double product_lanes[LANES]
    cdef floating v0, v1
    cdef Py_ssize_t i = 0
    cdef int lane
    for lane in range(LANES):
        lanes[lane] = 0
        product_lanes[lane] = 0
    while i + 2 * LANES <= size:
        for lane in range(LANES):
            v0 = real(weight[i + lane], center)
            v1 = real(weight[i + lane + LANES], center)
            lanes[lane] += <double> (v0 + v1)
            product_lanes[lane] += <double> (
                v0 * (real(x[i + lane], center) - center)
                + v1 * (real(x[i + lane + LANES], center) - center)
            )
        i += 2 * LANES
    while i < size:
        v0 = real(weight[i], center)
        weights[0] += v0
        products[0] += v0 * (real(x[i], center) - center)
        i += 1
    weights[0] += lane_total(lanes)
    products[0] += lane_total(product_lanes)
