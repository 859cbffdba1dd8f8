# Samples by way of pixels whose channels lie side by side: a point then is read by whole vectors.

cdef inline void read_point(
    const Block *block, floating[CORNERS][POINTS] weights, Py_ssize_t i, int corners, const floating *pixels,
    floating *out
) noexcept nogil:
    """Write a point's LANES channels, read from pixels that have them side by side; the order is `read_plane`'s."""
    cdef const floating *one
    cdef const floating *two
    cdef const floating *three
    cdef const floating *four
    cdef int corner, lane
    if block.whole and corners == 4:
        one, two = pixels + block.places[0][i] * LANES, pixels + block.places[1][i] * LANES
        three, four = pixels + block.places[2][i] * LANES, pixels + block.places[3][i] * LANES
        for lane in range(LANES):
            out[lane] = (
                one[lane] * weights[0][i] + two[lane] * weights[1][i]
                + three[lane] * weights[2][i] + four[lane] * weights[3][i]
            )
        return
    for lane in range(LANES):
        out[lane] = 0
    for corner in range(corners):
        if block.places[corner][i] >= 0:
            one = pixels + block.places[corner][i] * LANES
            for lane in range(LANES):
                out[lane] += one[lane] * weights[corner][i]


cdef void turn(
    const floating *x, Py_ssize_t step, Py_ssize_t rows, Py_ssize_t columns, floating *out, Py_ssize_t out_step
) noexcept nogil:
    """Write a matrix whose rows are `step` apart turned."""
    cdef Py_ssize_t side = TRANSPOSE_LINE // sizeof(floating), item = sizeof(floating), i, j
    for i in range(block_count(rows, side)):
        for j in range(block_count(columns, side)):
            transpose_tile(
                item, <const char *> (x + i * side * step + j * side), step * item, block_length(i, rows, side),
                block_length(j, columns, side), <char *> (out + j * side * out_step + i * side), out_step * item
            )


cdef void read_turned(
    const Task *task, const floating *x, const floating *grid, floating *out, Py_ssize_t image,
    Py_ssize_t first_channel, Py_ssize_t channels, floating *turned
) noexcept nogil:
    """Write some channels of an image's points; `turned` has place for whole groups of LANES channels."""
    cdef Block block
    cdef floating sides[RANK][2][POINTS]
    cdef floating slopes[RANK][POINTS]
    cdef floating weights[CORNERS][POINTS]
    cdef floating samples[LANES * LANES]
    cdef Py_ssize_t groups = block_count(channels, LANES), start = image * task.channels + first_channel
    cdef Py_ssize_t group, number, first, tile, i, j, count
    cdef int corners = task.corners
    x, out = x + start * task.pixels, out + start * task.points
    for group in range(groups):
        turn(
            x + group * LANES * task.pixels, task.pixels, block_length(group, channels, LANES), task.pixels,
            turned + group * LANES * task.pixels, LANES
        )
    for number in range(block_count(task.points, POINTS)):
        first = number * POINTS
        block.count = min(<Py_ssize_t> POINTS, task.points - first)
        find_pixels(task, grid + (image * task.points + first) * task.rank, &block, sides, slopes, weights)
        for group in range(groups):
            for tile in range(block_count(block.count, LANES)):
                i, count = tile * LANES, block_length(tile, block.count, LANES)
                for j in range(count):
                    read_point(
                        &block, weights, i + j, corners, turned + group * LANES * task.pixels, samples + j * LANES
                    )
                turn(
                    <const floating *> samples, LANES, count, block_length(group, channels, LANES),
                    out + group * LANES * task.points + first + i, task.points
                )


cdef bint read_all_turned(const Task *task, const floating *x, const floating *grid, floating *out) noexcept nogil:
    """Write the samples by way of pixels whose channels lie side by side; return False without memory."""
    cdef Py_ssize_t part = block_count(task.channels, block_count(PARTS, task.images)), parts, unit
    cdef floating *turned
    cdef int missing = 0
    part = min(block_count(part, LANES), max(TURNED // (task.pixels * LANES), 1)) * LANES
    parts = block_count(task.channels, part)
    for unit in prange(
        task.images * parts, schedule="static",
        use_threads_if=task.images * task.channels * task.points >= PARALLEL_FROM // 2
    ):
        turned = <floating *> calloc(part * task.pixels, sizeof(floating))
        if turned == NULL:
            missing += 1
        else:
            read_turned(
                task, x, grid, out, unit // parts, unit % parts * part, block_length(unit % parts, task.channels, part),
                turned
            )
            free(turned)
    return not missing
