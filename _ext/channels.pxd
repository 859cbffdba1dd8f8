# cython: cdivision=True
"""Where the channels of an (N, C, *spatial) array lie, and sums per channel over a part of it.

Channels last (NHWC memory): `groups` rows of C numbers. Channels first (NCHW memory): `groups`
samples of C segments of `spatial` numbers. Sums add four numbers in the type of the statistics, the
rest in float64, like those of blocks.pxd.

Rows may be stored as bfloat16 (its bits as uint16_t), with statistics in float32.
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
    # Rows, or numbers of a channel, whose average is the first guess of a mean.
    FIRST_ROWS = 16
    # A block leaves figures per channel behind; of fewer numbers, and they would outgrow the data.
    LEAST_NUMBERS = 128
    # Numbers that sums take at a time.
    STEP = 64


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


cdef struct Sums:
    # Of numbers and of a second figure that each has: in as many lanes as a vector has numbers.
    double lanes[LANES]
    double second_lanes[LANES]


cdef inline void clear(Sums *sums) noexcept nogil:
    cdef int lane
    for lane in range(LANES):
        sums.lanes[lane] = 0
        sums.second_lanes[lane] = 0


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


cdef inline floating let_through(
    floating dy, floating x, floating center, floating scale, floating beta, floating least,
    bint relu
) noexcept nogil:
    """Return dy; with `relu`, 0 where its input, made from x again, is stored as 0: up to `least`."""
    if relu and (x - center) * scale + beta <= least:
        return 0
    return dy


cdef inline double average(const floating *x, Py_ssize_t size) noexcept nogil:
    """Return the average of a few numbers."""
    cdef double total = 0
    cdef Py_ssize_t i
    for i in range(size):
        total += <double> x[i]
    return total / max(size, 1)


cdef inline void begin_row_statistics(
    const storage *x, Py_ssize_t rows, Py_ssize_t channels, double *sums, double *squares,
    floating *center
) noexcept nogil:
    """Clear the sums that `add_row_statistics` adds to, and guess the means from the first rows."""
    cdef Py_ssize_t first = min(rows, <Py_ssize_t> FIRST_ROWS)
    cdef Py_ssize_t row, c
    for c in range(channels):
        sums[c] = 0
        squares[c] = 0
    for row in range(first):
        for c in range(channels):
            sums[c] += <double> real(x[row * channels + c], center[c])
    for c in range(channels):
        center[c] = <floating> (sums[c] / first)
        sums[c] = 0


cdef inline void add_row_statistics(
    const storage *x, Py_ssize_t rows, Py_ssize_t channels, double *sums, double *squares,
    const floating *center
) noexcept nogil:
    """Add each channel's distances from `center` and their squares: small numbers, hardly rounded."""
    cdef const storage *x1
    cdef const storage *x2
    cdef const storage *x3
    cdef floating d0, d1, d2, d3
    cdef Py_ssize_t row = 0
    cdef Py_ssize_t c
    while row + QUAD <= rows:
        x1 = x + channels
        x2 = x1 + channels
        x3 = x2 + channels
        for c in range(channels):
            d0 = real(x[c], center[c]) - center[c]
            d1 = real(x1[c], center[c]) - center[c]
            d2 = real(x2[c], center[c]) - center[c]
            d3 = real(x3[c], center[c]) - center[c]
            sums[c] += <double> ((d0 + d1) + (d2 + d3))
            squares[c] += <double> ((d0 * d0 + d1 * d1) + (d2 * d2 + d3 * d3))
        x = x3 + channels
        row += QUAD
    while row < rows:
        for c in range(channels):
            d0 = real(x[c], center[c]) - center[c]
            sums[c] += <double> d0
            squares[c] += <double> (d0 * d0)
        x = x + channels
        row += 1


cdef inline void end_statistics(
    double *sums, double *squares, const floating *center, double numbers, Py_ssize_t channels
) noexcept nogil:
    """Turn sums of distances and of squares into means and sums of squares around them."""
    cdef Py_ssize_t c
    for c in range(channels):
        squares[c] -= sums[c] * sums[c] / numbers
        sums[c] = center[c] + sums[c] / numbers


cdef inline void add_step_statistics(const floating *x, floating center, Sums *sums) noexcept nogil:
    """Add the distances from `center` of a step of numbers, and their squares."""
    cdef floating d0, d1, d2, d3
    cdef int lane
    for lane in range(LANES):
        d0 = x[lane] - center
        d1 = x[lane + LANES] - center
        d2 = x[lane + 2 * LANES] - center
        d3 = x[lane + 3 * LANES] - center
        sums.lanes[lane] += <double> ((d0 + d1) + (d2 + d3))
        sums.second_lanes[lane] += <double> ((d0 * d0 + d1 * d1) + (d2 * d2 + d3 * d3))


cdef inline void add_statistics(
    const floating *x, Py_ssize_t pieces, Py_ssize_t step, Py_ssize_t size, floating center,
    Sums *sums
) noexcept nogil:
    """Add one channel's distances from `center` and their squares, of pieces that are `step` apart."""
    cdef Sums now = sums[0]
    cdef floating rest[STEP]
    cdef Py_ssize_t _piece, i, k
    for _piece in range(pieces):
        i = 0
        while i + STEP <= size:
            add_step_statistics(x + i, center, &now)
            i += STEP
        if i < size:
            for k in range(STEP):
                rest[k] = x[i + k] if i + k < size else center
            add_step_statistics(<const floating *> rest, center, &now)
        x += step
    sums[0] = now


cdef inline void row_products(
    const passed *dy, const storage *x, const floating *center, const floating *scale,
    const floating *beta, floating least, Py_ssize_t rows, Py_ssize_t channels, double *weights,
    double *products, bint relu
) noexcept nogil:
    """Add to each channel's sums of v and of v (x - center) over the rows, v = dy let through."""
    cdef const storage *x1
    cdef const storage *x2
    cdef const storage *x3
    cdef const passed *dy1
    cdef const passed *dy2
    cdef const passed *dy3
    cdef floating v0, v1, v2, v3, n0, n1, n2, n3
    cdef floating like = 0
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
            n0 = real(x[c], like)
            n1 = real(x1[c], like)
            n2 = real(x2[c], like)
            n3 = real(x3[c], like)
            v0 = let_through(real(dy[c], like), n0, center[c], scale[c], beta[c], least, relu)
            v1 = let_through(real(dy1[c], like), n1, center[c], scale[c], beta[c], least, relu)
            v2 = let_through(real(dy2[c], like), n2, center[c], scale[c], beta[c], least, relu)
            v3 = let_through(real(dy3[c], like), n3, center[c], scale[c], beta[c], least, relu)
            weights[c] += <double> ((v0 + v1) + (v2 + v3))
            products[c] += <double> (
                (v0 * (n0 - center[c]) + v1 * (n1 - center[c]))
                + (v2 * (n2 - center[c]) + v3 * (n3 - center[c]))
            )
        x = x3 + channels
        dy = dy3 + channels
        row += QUAD
    while row < rows:
        for c in range(channels):
            n0 = real(x[c], like)
            v0 = let_through(real(dy[c], like), n0, center[c], scale[c], beta[c], least, relu)
            weights[c] += <double> v0
            products[c] += <double> (v0 * (n0 - center[c]))
        x = x + channels
        dy = dy + channels
        row += 1


cdef inline void add_step_products(
    const floating *dy, const floating *x, floating center, floating scale, floating beta,
    floating least, Sums *sums, bint relu
) noexcept nogil:
    """Add v and v (x - center), v = dy let through, of a step of numbers."""
    cdef floating v0, v1, v2, v3, x0, x1, x2, x3
    cdef int lane
    for lane in range(LANES):
        x0 = x[lane]
        x1 = x[lane + LANES]
        x2 = x[lane + 2 * LANES]
        x3 = x[lane + 3 * LANES]
        v0 = let_through(dy[lane], x0, center, scale, beta, least, relu)
        v1 = let_through(dy[lane + LANES], x1, center, scale, beta, least, relu)
        v2 = let_through(dy[lane + 2 * LANES], x2, center, scale, beta, least, relu)
        v3 = let_through(dy[lane + 3 * LANES], x3, center, scale, beta, least, relu)
        sums.lanes[lane] += <double> ((v0 + v1) + (v2 + v3))
        sums.second_lanes[lane] += <double> (
            (v0 * (x0 - center) + v1 * (x1 - center)) + (v2 * (x2 - center) + v3 * (x3 - center))
        )


cdef inline void add_products(
    const floating *dy, Py_ssize_t dy_step, const floating *x, Py_ssize_t step, Py_ssize_t pieces,
    Py_ssize_t size, floating center, floating scale, floating beta, floating least, Sums *sums,
    bint relu
) noexcept nogil:
    """Add one channel's v and v (x - center), v = dy let through, of pieces that are `step` apart."""
    cdef Sums now = sums[0]
    cdef floating rest[STEP]
    cdef floating rest_dy[STEP]
    cdef Py_ssize_t _piece, i, k
    for _piece in range(pieces):
        i = 0
        while i + STEP <= size:
            add_step_products(dy + i, x + i, center, scale, beta, least, &now, relu)
            i += STEP
        if i < size:
            for k in range(STEP):
                rest[k] = x[i + k] if i + k < size else center
                rest_dy[k] = dy[i + k] if i + k < size else 0
            add_step_products(
                <const floating *> rest_dy, <const floating *> rest, center, scale, beta, least,
                &now, relu,
            )
        dy += dy_step
        x += step
    sums[0] = now
