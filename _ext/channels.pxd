# cython: cdivision=True
"""Where the channels of an (N, C, *spatial) array lie, and sums per channel over a block of it.

Channels last (NHWC memory): `groups` rows of C numbers. Channels first (NCHW memory): `groups`
samples of C segments of `spatial` numbers. Sums add four numbers in their own type, the rest in
float64, like those of blocks.pxd.
"""

cimport numpy as cnp
from cython cimport floating

from blocks cimport (
    QUAD,
    add_sums_around,
    block_count,
    block_length,
    rows_per_block,
    sum_of,
    sum_of_centered_products,
)

cdef enum:
    # A block leaves figures per channel behind; of fewer numbers, and they would outgrow the data.
    LEAST_NUMBERS = 64


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


cdef inline void row_statistics(
    const floating *x, Py_ssize_t rows, Py_ssize_t channels, double *mean, double *squares,
    floating *center
) noexcept nogil:
    """Write each channel's mean over the rows and sum of squares around it.

    A first pass leaves a rounded mean in `center`; the second one adds distances from it, which
    are small and hardly rounded, and corrects the mean by their average.
    """
    cdef const floating *x0 = x
    cdef const floating *x1
    cdef const floating *x2
    cdef const floating *x3
    cdef floating d0, d1, d2, d3
    cdef Py_ssize_t row = 0
    cdef Py_ssize_t c
    for c in range(channels):
        mean[c] = 0
    while row + QUAD <= rows:
        x1 = x0 + channels
        x2 = x1 + channels
        x3 = x2 + channels
        for c in range(channels):
            mean[c] += <double> ((x0[c] + x1[c]) + (x2[c] + x3[c]))
        x0 = x3 + channels
        row += QUAD
    while row < rows:
        for c in range(channels):
            mean[c] += <double> x0[c]
        x0 = x0 + channels
        row += 1
    for c in range(channels):
        center[c] = <floating> (mean[c] / rows)
        mean[c] = 0
        squares[c] = 0
    x0 = x
    row = 0
    while row + QUAD <= rows:
        x1 = x0 + channels
        x2 = x1 + channels
        x3 = x2 + channels
        for c in range(channels):
            d0 = x0[c] - center[c]
            d1 = x1[c] - center[c]
            d2 = x2[c] - center[c]
            d3 = x3[c] - center[c]
            mean[c] += <double> ((d0 + d1) + (d2 + d3))
            squares[c] += <double> ((d0 * d0 + d1 * d1) + (d2 * d2 + d3 * d3))
        x0 = x3 + channels
        row += QUAD
    while row < rows:
        for c in range(channels):
            d0 = x0[c] - center[c]
            mean[c] += <double> d0
            squares[c] += <double> (d0 * d0)
        x0 = x0 + channels
        row += 1
    for c in range(channels):
        squares[c] -= mean[c] * mean[c] / rows
        mean[c] = center[c] + mean[c] / rows


cdef inline void segment_statistics(
    const floating *x, Py_ssize_t segments, Py_ssize_t step, Py_ssize_t size, double *mean,
    double *squares
) noexcept nogil:
    """Write one channel's mean over its segments, `step` apart, and sum of squares around it.

    In two passes, as in `row_statistics`.
    """
    cdef double numbers = <double> segments * size
    cdef double total = 0
    cdef floating center
    cdef Py_ssize_t i
    for i in range(segments):
        total += sum_of(x + i * step, size)
    center = <floating> (total / numbers)
    total = 0
    squares[0] = 0
    for i in range(segments):
        add_sums_around(x + i * step, center, size, &total, squares)
    squares[0] -= total * total / numbers
    mean[0] = center + total / numbers


cdef inline void row_products(
    const floating *weight, const floating *x, const floating *center, Py_ssize_t rows,
    Py_ssize_t channels, double *weights, double *products
) noexcept nogil:
    """Write each channel's sums of weight and of weight (x - center) over the rows."""
    cdef const floating *x1
    cdef const floating *x2
    cdef const floating *x3
    cdef const floating *w1
    cdef const floating *w2
    cdef const floating *w3
    cdef Py_ssize_t row = 0
    cdef Py_ssize_t c
    for c in range(channels):
        weights[c] = 0
        products[c] = 0
    while row + QUAD <= rows:
        x1 = x + channels
        x2 = x1 + channels
        x3 = x2 + channels
        w1 = weight + channels
        w2 = w1 + channels
        w3 = w2 + channels
        for c in range(channels):
            weights[c] += <double> ((weight[c] + w1[c]) + (w2[c] + w3[c]))
            products[c] += <double> (
                (weight[c] * (x[c] - center[c]) + w1[c] * (x1[c] - center[c]))
                + (w2[c] * (x2[c] - center[c]) + w3[c] * (x3[c] - center[c]))
            )
        x = x3 + channels
        weight = w3 + channels
        row += QUAD
    while row < rows:
        for c in range(channels):
            weights[c] += <double> weight[c]
            products[c] += <double> (weight[c] * (x[c] - center[c]))
        x = x + channels
        weight = weight + channels
        row += 1


cdef inline void segment_products(
    const floating *weight, const floating *x, floating center, Py_ssize_t segments,
    Py_ssize_t step, Py_ssize_t size, double *weights, double *products
) noexcept nogil:
    """Write one channel's sums of weight and of weight (x - center) over its segments."""
    cdef Py_ssize_t i
    weights[0] = 0
    products[0] = 0
    for i in range(segments):
        weights[0] += sum_of(weight + i * step, size)
        products[0] += sum_of_centered_products(weight + i * step, x + i * step, center, size)
