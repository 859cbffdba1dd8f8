# cython: cdivision=True, boundscheck=False, wraparound=False
"""Images and volumes read at the points of a grid, and the gradients of both.

Points are handled in blocks: first the pixels around each and their weights, then channel by channel. All arrays are
C-contiguous and of one type, float32 or float64: x (N, C, *spatial), the grid (N, points, rank) with the last
dimension's coordinate first, results (N, C, points). A plane's sums are added in the order of the points, a point's
in the order of the channels, whatever the number of threads.
"""

cimport numpy as cnp
from cython cimport floating
from cython.parallel cimport prange
from libc.math cimport floor, isfinite, trunc
from libc.stdint cimport int32_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from arrays cimport check, real_type
from blocks cimport LANES, PARALLEL_FROM, block_count, block_length

cnp.import_array()

cdef extern from "tile_transpose.h" nogil:
    enum:
        TRANSPOSE_LINE
    void transpose_tile "dm_transpose_tile"(
        int word, const char *x, Py_ssize_t step, Py_ssize_t rows, Py_ssize_t columns, char *out, Py_ssize_t out_step)

cdef enum Padding:
    ZEROS, BORDER, REFLECTION

cdef enum:
    POINTS = 128  # A block.
    CORNERS = 8
    RANK = 3
    # Parts into which the channels of few images are cut.
    PARTS = 8
    # Channels from which on it pays to lay an image's pixels with their channels side by side, where there are about as
    # many points as pixels: points are read one by one otherwise. What so lies side by side then is at most so much.
    LEAST_TURNED = 8
    TURNED = 131072

PADDINGS = {"zeros": ZEROS, "border": BORDER, "reflection": REFLECTION}

cdef struct Task:
    Py_ssize_t images, channels, points, pixels
    Py_ssize_t sizes[RANK]
    int rank, corners
    bint nearest, align
    Padding padding

cdef struct Block:
    Py_ssize_t count
    bint whole  # Whether all pixels are inside.
    int32_t places[CORNERS][POINTS]  # -1 outside.


cdef inline floating coordinate(const Task *task, int axis, floating given, floating *slope) noexcept nogil:
    """Return where a coordinate in [-1, 1] lies in pixels, and the derivative."""
    cdef Py_ssize_t length = task.sizes[axis]
    cdef floating x = given + 1, low, span, away, flips, factor = 1, addend = 0, last = length - 1
    cdef floating scale = (length - 1) / 2.0 if task.align else length / 2.0
    x = x * scale if task.align else (x * <floating> length - 1) / 2
    slope[0] = scale
    if not isfinite(x):
        slope[0] = 0
    if task.padding == ZEROS:
        return x if isfinite(x) else -2
    if task.padding == REFLECTION:
        low = 0 if task.align else -0.5
        span = last if task.align else last + 1
        if span == 0:
            factor = 0
        else:
            away = -1 if x < low else 1
            flips = floor((x - low) * away / span)
            if flips - 2 * floor(flips / 2) == 1:
                factor = -away
                addend = span * (flips + 1)
            else:
                factor = away
                addend = -span * flips
            addend = addend + low - factor * low
    x = x * factor + addend
    if not (0 < x < last):
        slope[0] = 0
        return 0 if x <= 0 else last  # NaN goes to the last pixel, as in MindSpore.
    slope[0] *= factor
    return x


cdef inline floating rounded(floating x) noexcept nogil:
    """Return the nearest whole number, halves away from 0."""
    cdef floating whole = trunc(x), rest = x - whole
    if rest >= 0.5:
        return whole + 1
    return whole - 1 if rest <= -0.5 else whole


cdef void find_coordinates(
    const Task *task, int axis, const floating *grid, Py_ssize_t count, floating *x, floating *slope
) noexcept nogil:
    """Write `coordinate` of each point; where nothing is added outside, in loops without branches."""
    cdef Py_ssize_t i
    cdef floating length = task.sizes[axis], scale = (task.sizes[axis] - 1) / 2.0, found
    cdef floating one = 1, half = 0.5, outside = -2  # As numbers of this type: Cython's constants are float64.
    grid += task.rank - 1 - axis
    if task.padding != ZEROS:
        for i in range(count):
            x[i] = coordinate(task, axis, grid[i * task.rank], &slope[i])
        return
    if task.align:
        for i in range(count):
            x[i] = (grid[i * task.rank] + one) * scale
    else:
        scale = task.sizes[axis] / 2.0
        for i in range(count):
            x[i] = ((grid[i * task.rank] + one) * length - one) * half
    for i in range(count):
        found = x[i]
        slope[i] = scale if found - found == 0 else 0
        x[i] = found if found - found == 0 else outside


cdef void find_pixels(
    const Task *task, const floating *grid, Block *block, floating[RANK][2][POINTS] sides,
    floating[RANK][POINTS] slopes, floating[CORNERS][POINTS] weights
) noexcept nogil:
    """Find for each point the pixels around it, their weights, and the weights' factors along each dimension."""
    cdef Py_ssize_t i, count = block.count
    cdef int axis, corner, side, outside = 0
    cdef floating x[POINTS]
    cdef floating low, one = 1, least = -2, most
    cdef int32_t lows[RANK][POINTS]
    cdef int32_t inside[POINTS]
    cdef int32_t at, size
    cdef int32_t *place
    cdef floating *weight
    for axis in range(task.rank):
        find_coordinates(task, axis, grid, count, <floating *> x, <floating *> slopes[axis])
        most = task.sizes[axis]
        if task.nearest:
            for i in range(count):
                x[i] = rounded(x[i])
        else:
            for i in range(count):
                low = floor(x[i])
                sides[axis][0][i] = (low + one) - x[i]
                sides[axis][1][i] = x[i] - low
                x[i] = low
        for i in range(count):
            # Far outside it makes no difference where, and an index need not hold it.
            lows[axis][i] = <int32_t> min(max(x[i], least), most)
    for corner in range(task.corners):
        place, weight = block.places[corner], weights[corner]
        for i in range(count):
            place[i], weight[i], inside[i] = 0, 1, 1
        for axis in range(task.rank):
            side = (corner >> (task.rank - 1 - axis)) & 1
            size = <int32_t> task.sizes[axis]
            for i in range(count):
                at = lows[axis][i] + side
                inside[i] = inside[i] & (at >= 0) & (at < size)
                place[i] = place[i] * size + at
            if not task.nearest:
                for i in range(count):
                    weight[i] = weight[i] * sides[axis][side][i]
        for i in range(count):
            place[i] = place[i] if inside[i] else -1
            outside |= not inside[i]
    block.whole = not outside


cdef void read_plane(
    const Task *task, const Block *block, floating[CORNERS][POINTS] weights, const floating *plane, floating *out
) noexcept nogil:
    """Write the sum over the corners, pixel times weight, for each point."""
    cdef Py_ssize_t i
    cdef int corner
    cdef floating total
    if block.whole and task.corners == 4:
        for i in range(block.count):
            out[i] = (
                plane[block.places[0][i]] * weights[0][i] + plane[block.places[1][i]] * weights[1][i]
                + plane[block.places[2][i]] * weights[2][i] + plane[block.places[3][i]] * weights[3][i]
            )
    elif block.whole:
        for i in range(block.count):
            out[i] = plane[block.places[0][i]] * weights[0][i]
        for corner in range(1, task.corners):
            for i in range(block.count):
                out[i] += plane[block.places[corner][i]] * weights[corner][i]
    else:
        for i in range(block.count):
            total = 0
            for corner in range(task.corners):
                if block.places[corner][i] >= 0:
                    total += plane[block.places[corner][i]] * weights[corner][i]
            out[i] = total


cdef void add_to_plane(
    const Task *task, const Block *block, floating[CORNERS][POINTS] weights, floating *plane, const floating *d_out
) noexcept nogil:
    """Add each point's gradient times weight to the pixels around it."""
    cdef Py_ssize_t i
    cdef int corner
    if block.whole and task.corners == 4:
        for i in range(block.count):
            plane[block.places[0][i]] += d_out[i] * weights[0][i]
            plane[block.places[1][i]] += d_out[i] * weights[1][i]
            plane[block.places[2][i]] += d_out[i] * weights[2][i]
            plane[block.places[3][i]] += d_out[i] * weights[3][i]
        return
    for i in range(block.count):
        for corner in range(task.corners):
            if block.places[corner][i] >= 0:
                plane[block.places[corner][i]] += d_out[i] * weights[corner][i]


cdef void read_block(
    const Task *task, const floating *x, const floating *grid, floating *out, Py_ssize_t image, Py_ssize_t first
) noexcept nogil:
    cdef Block block
    cdef floating sides[RANK][2][POINTS]
    cdef floating slopes[RANK][POINTS]
    cdef floating weights[CORNERS][POINTS]
    cdef Py_ssize_t channel
    block.count = min(<Py_ssize_t> POINTS, task.points - first)
    find_pixels(task, grid + (image * task.points + first) * task.rank, &block, sides, slopes, weights)
    for channel in range(image * task.channels, (image + 1) * task.channels):
        read_plane(task, &block, weights, x + channel * task.pixels, out + channel * task.points + first)


cdef void add_to_planes(
    const Task *task, floating *d_x, const floating *grid, const floating *d_out, Py_ssize_t image,
    Py_ssize_t first_channel, Py_ssize_t channels
) noexcept nogil:
    cdef Block block
    cdef floating sides[RANK][2][POINTS]
    cdef floating slopes[RANK][POINTS]
    cdef floating weights[CORNERS][POINTS]
    cdef Py_ssize_t number, first, channel, start = image * task.channels + first_channel
    memset(d_x + start * task.pixels, 0, channels * task.pixels * sizeof(floating))
    for number in range(block_count(task.points, POINTS)):
        first = number * POINTS
        block.count = min(<Py_ssize_t> POINTS, task.points - first)
        find_pixels(task, grid + (image * task.points + first) * task.rank, &block, sides, slopes, weights)
        for channel in range(start, start + channels):
            add_to_plane(task, &block, weights, d_x + channel * task.pixels, d_out + channel * task.points + first)


cdef void slope_block(
    const Task *task, const floating *x, const floating *grid, const floating *d_out, floating *d_grid,
    Py_ssize_t image, Py_ssize_t first
) noexcept nogil:
    """Write the gradients of a block of points, interpolated between pixels."""
    cdef Block block
    cdef floating sides[RANK][2][POINTS]
    cdef floating slopes[RANK][POINTS]
    cdef floating weights[CORNERS][POINTS]
    cdef Py_ssize_t channel, i
    cdef int corner, axis, other, side
    cdef floating total, part
    cdef const floating *plane
    cdef const floating *rows
    block.count = min(<Py_ssize_t> POINTS, task.points - first)
    grid += (image * task.points + first) * task.rank
    d_grid += (image * task.points + first) * task.rank
    find_pixels(task, grid, &block, sides, slopes, weights)
    memset(weights, 0, sizeof(weights))  # Their gradients from here on.
    for channel in range(image * task.channels, (image + 1) * task.channels):
        plane, rows = x + channel * task.pixels, d_out + channel * task.points + first
        for corner in range(task.corners):
            if block.whole:
                for i in range(block.count):
                    weights[corner][i] += rows[i] * plane[block.places[corner][i]]
                continue
            for i in range(block.count):
                if block.places[corner][i] >= 0:
                    weights[corner][i] += rows[i] * plane[block.places[corner][i]]
    for axis in range(task.rank):
        for i in range(block.count):
            total = 0
            for corner in range(task.corners):
                part = weights[corner][i]
                for other in range(task.rank):
                    side = (corner >> (task.rank - 1 - other)) & 1
                    if other != axis:
                        part *= sides[other][side][i]
                    elif not side:
                        part = -part
                total += part
            d_grid[i * task.rank + task.rank - 1 - axis] = total * slopes[axis][i]


include "grid_sampling_turned.pxi"


cdef void read_all(const Task *task, const floating *x, const floating *grid, floating *out) noexcept nogil:
    if (
        task.channels >= LEAST_TURNED and task.pixels * LANES <= TURNED and task.pixels <= task.points * task.corners
        and read_all_turned(task, x, grid, out)
    ):
        return
    cdef Py_ssize_t blocks = block_count(task.points, POINTS), unit
    for unit in prange(
        task.images * blocks, schedule="static",
        use_threads_if=task.images * task.channels * task.points >= PARALLEL_FROM // 2
    ):
        read_block(task, x, grid, out, unit // blocks, unit % blocks * POINTS)


cdef void add_all(const Task *task, floating *d_x, const floating *grid, const floating *d_out) noexcept nogil:
    cdef Py_ssize_t part = block_count(task.channels, block_count(PARTS, task.images))
    cdef Py_ssize_t parts = block_count(task.channels, part), unit
    for unit in prange(
        task.images * parts, schedule="static",
        use_threads_if=task.images * task.channels * task.points >= PARALLEL_FROM // 2
    ):
        add_to_planes(
            task, d_x, grid, d_out, unit // parts, unit % parts * part,
            block_length(unit % parts, task.channels, part)
        )


cdef void slope_all(
    const Task *task, const floating *x, const floating *grid, const floating *d_out, floating *d_grid
) noexcept nogil:
    cdef Py_ssize_t blocks = block_count(task.points, POINTS), unit
    for unit in prange(
        task.images * blocks, schedule="static",
        use_threads_if=task.images * task.channels * task.points >= PARALLEL_FROM // 2
    ):
        slope_block(task, x, grid, d_out, d_grid, unit // blocks, unit % blocks * POINTS)


cdef int make_task(
    str kernel, Task *task, cnp.ndarray x, cnp.ndarray grid, cnp.ndarray out, bint nearest, str padding, bint align
) except -1:
    """Check the arrays and options."""
    cdef int axis, rank = cnp.PyArray_NDIM(x) - 2
    if rank not in (1, 2, 3):
        raise ValueError(f"For '{kernel}', 'x' must have 3 to 5 dimensions, but got shape {(<object> x).shape}.")
    if padding not in PADDINGS:
        raise ValueError(f"For '{kernel}', 'padding' must be one of {sorted(PADDINGS)}, but got {padding!r}.")
    task.rank, task.corners = rank, 1 if nearest else 1 << rank
    task.nearest, task.align, task.padding = nearest, align, PADDINGS[padding]
    task.images, task.channels = cnp.PyArray_DIM(x, 0), cnp.PyArray_DIM(x, 1)
    task.pixels = 1
    for axis in range(rank):
        task.sizes[axis] = cnp.PyArray_DIM(x, axis + 2)
        task.pixels *= task.sizes[axis]
    if not 0 < task.pixels < 2 ** 31:
        raise ValueError(f"For '{kernel}', 'x' must have 1 to 2**31 - 1 pixels, but got shape {(<object> x).shape}.")
    task.points = cnp.PyArray_DIM(grid, 1) if cnp.PyArray_NDIM(grid) == 3 else -1
    if (<object> grid).shape != (task.images, task.points, rank):
        raise ValueError(
            f"For '{kernel}', 'grid' must have the shape ({task.images}, points, {rank}), but got "
            f"{(<object> grid).shape}."
        )
    if (<object> out).shape != (task.images, task.channels, task.points):
        raise ValueError(
            f"For '{kernel}', the result must have the shape {(task.images, task.channels, task.points)}, but got "
            f"{(<object> out).shape}."
        )
    return 0


def sample(
    cnp.ndarray x not None, cnp.ndarray grid not None, cnp.ndarray out not None, bint nearest, str padding not None,
    bint align
):
    """Write into `out` the pixels of `x` at the points of `grid`, interpolated linearly or the nearest ones.

    Args:
        padding: what lies outside: "zeros", "border" or "reflection".
        align: whether -1 and 1 are the centres of the outermost pixels, or their outer edges.

    >>> import numpy as np
    >>> out = np.empty((1, 1, 2))
    >>> sample(np.array([[[0.0, 10.0]]]), np.array([[[0.0], [0.5]]]), out, False, "zeros", True)
    >>> out
    array([[[5. , 7.5]]])
    """
    cdef Task task
    cdef int number = real_type("sample", "x", x)
    check("sample", "x", x, number, -1, False)
    check("sample", "grid", grid, number, -1, False)
    check("sample", "out", out, number, -1, True)
    make_task("sample", &task, x, grid, out, nearest, padding, align)
    cdef void *read = cnp.PyArray_DATA(x)
    cdef void *where = cnp.PyArray_DATA(grid)
    cdef void *written = cnp.PyArray_DATA(out)
    with nogil:
        if number == cnp.NPY_FLOAT32:
            read_all(&task, <const float *> read, <const float *> where, <float *> written)
        else:
            read_all(&task, <const double *> read, <const double *> where, <double *> written)


def sample_gradient(
    cnp.ndarray d_x not None, cnp.ndarray grid not None, cnp.ndarray d_out not None, bint nearest,
    str padding not None, bint align
):
    """Write into `d_x` the gradient of `x` in `sample`, for the gradient `d_out` of its result.

    >>> import numpy as np
    >>> d_x = np.empty((1, 1, 2))
    >>> sample_gradient(d_x, np.array([[[0.0], [0.5]]]), np.ones((1, 1, 2)), False, "zeros", True)
    >>> d_x
    array([[[0.75, 1.25]]])
    """
    cdef Task task
    cdef int number = real_type("sample_gradient", "d_x", d_x)
    check("sample_gradient", "d_x", d_x, number, -1, True)
    check("sample_gradient", "grid", grid, number, -1, False)
    check("sample_gradient", "d_out", d_out, number, -1, False)
    make_task("sample_gradient", &task, d_x, grid, d_out, nearest, padding, align)
    cdef void *written = cnp.PyArray_DATA(d_x)
    cdef void *where = cnp.PyArray_DATA(grid)
    cdef void *read = cnp.PyArray_DATA(d_out)
    if task.channels == 0 or task.images == 0:
        return
    with nogil:
        if number == cnp.NPY_FLOAT32:
            add_all(&task, <float *> written, <const float *> where, <const float *> read)
        else:
            add_all(&task, <double *> written, <const double *> where, <const double *> read)


def grid_gradient(
    cnp.ndarray x not None, cnp.ndarray grid not None, cnp.ndarray d_out not None, cnp.ndarray d_grid not None,
    str padding not None, bint align
):
    """Write into `d_grid` the gradient of the grid in `sample` that interpolates.

    >>> import numpy as np
    >>> d_grid = np.empty((1, 2, 1))
    >>> x, grid = np.array([[[0.0, 10.0]]]), np.array([[[0.0], [0.5]]])
    >>> grid_gradient(x, grid, np.ones((1, 1, 2)), d_grid, "zeros", True)
    >>> d_grid.ravel()
    array([5., 5.])
    """
    cdef Task task
    cdef int number = real_type("grid_gradient", "x", x)
    check("grid_gradient", "x", x, number, -1, False)
    check("grid_gradient", "grid", grid, number, -1, False)
    check("grid_gradient", "d_out", d_out, number, -1, False)
    check("grid_gradient", "d_grid", d_grid, number, 3, True)
    make_task("grid_gradient", &task, x, grid, d_out, False, padding, align)
    if (<object> d_grid).shape != (<object> grid).shape:
        raise ValueError(
            f"For 'grid_gradient', 'd_grid' must have the shape {(<object> grid).shape} of 'grid', but got "
            f"{(<object> d_grid).shape}."
        )
    cdef void *read = cnp.PyArray_DATA(x)
    cdef void *where = cnp.PyArray_DATA(grid)
    cdef void *slopes = cnp.PyArray_DATA(d_out)
    cdef void *written = cnp.PyArray_DATA(d_grid)
    with nogil:
        if number == cnp.NPY_FLOAT32:
            slope_all(
                &task, <const float *> read, <const float *> where, <const float *> slopes, <float *> written
            )
        else:
            slope_all(
                &task, <const double *> read, <const double *> where, <const double *> slopes, <double *> written
            )
