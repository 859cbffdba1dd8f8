# Parts of batch_norm.pyx for channels first in memory: a channel is a segment of each sample. Its
# numbers are taken chunk by chunk, some segments or a part of a long one at a time, and gone
# through backwards the second time: the last chunk is at hand still, those before it in caches.
# Numbers of 16 bits are widened, and very short segments gathered, in scratch memory.

cdef extern from *:
    void prefetch "__builtin_prefetch"(const void *place, int written, int locality) noexcept nogil

cdef enum:
    # So many channels are worked on one by one, as many threads as there may be; of fewer, the samples
    # are shared out in blocks.
    APART_FROM = 8


cdef struct Chunk:
    # Pieces of contiguous numbers in an array, `step` apart.
    Py_ssize_t start
    Py_ssize_t size
    Py_ssize_t pieces
    Py_ssize_t step


cdef struct Run:
    # How often a chunk's loops run, and over how many numbers, where each array has its own step.
    Py_ssize_t size
    Py_ssize_t pieces


cdef inline bint is_apart(const Channels *at) noexcept nogil:
    """Tell whether channels are worked on one by one, not block by block."""
    return not at.last and at.channels >= APART_FROM


cdef inline Py_ssize_t chunk_count(const Arrays *of, Py_ssize_t groups) noexcept nogil:
    """Return how many chunks one channel of so many samples has."""
    if of.at.spatial > CHUNK:
        return groups * block_count(of.at.spatial, CHUNK)
    return block_count(groups, CHUNK // max(of.at.spatial, 1))


cdef inline Chunk chunk_of(
    const Arrays *of, Py_ssize_t c, Py_ssize_t first, Py_ssize_t groups, Py_ssize_t index
) noexcept nogil:
    """Return a chunk of a channel of the samples from `first` on."""
    cdef Chunk found
    cdef Py_ssize_t spatial = of.at.spatial
    cdef Py_ssize_t parts = max(block_count(spatial, CHUNK), 1)
    cdef Py_ssize_t segments = max(CHUNK // max(spatial, 1), 1)
    cdef Py_ssize_t group = index // parts * segments
    found.step = of.at.channels * spatial
    found.start = index % parts * CHUNK
    found.size = min(<Py_ssize_t> CHUNK, spatial - found.start)
    found.pieces = min(segments, groups - group)
    found.start += (first + group) * found.step + c * spatial
    return found


cdef inline bint is_joined(const Chunk *chunk) noexcept nogil:
    """Tell whether pieces are too short for loops of their own, and become one in scratch memory."""
    return chunk.size < STEP and chunk.pieces > 1


cdef inline bint is_copied(Matrix x, const Chunk *chunk) noexcept nogil:
    """Tell whether a chunk's numbers are in scratch memory while loops run over them."""
    return is_narrow(x) or is_joined(chunk)


cdef inline Run run_of(const Arrays *of, const Chunk *chunk, bint sums) noexcept nogil:
    """Return what loops over a chunk run over: all of it at once where each array of it is copied.

    Sums only where whole steps fill a piece, as then they are the same either way.
    """
    cdef Run found
    cdef bint at_once = is_joined(chunk) or (of.copies and (not sums or chunk.size % STEP == 0))
    found.size = chunk.size * chunk.pieces if at_once else chunk.size
    found.pieces = 1 if at_once else chunk.pieces
    return found


cdef inline Py_ssize_t step_of(Matrix x, const Chunk *chunk) noexcept nogil:
    """Return how far apart a chunk's pieces are while loops run over them."""
    return chunk.size if is_copied(x, chunk) else chunk.step


cdef inline void fetch_next(const void *piece, Py_ssize_t bytes) noexcept nogil:
    """Have the caches load what follows a piece, the next channel's: too short for them to foresee."""
    cdef Py_ssize_t line
    for line in range(bytes // LINE + 1):
        prefetch(<const char *> piece + bytes + line * LINE, 0, 2)


cdef inline const floating *numbers_of(
    Matrix x, const Chunk *chunk, floating *scratch
) noexcept nogil:
    """Return a chunk's numbers: where they lie, or widened or gathered into `scratch`."""
    cdef const floating *here = <const floating *> x.data + chunk.start
    cdef floating *to = scratch
    cdef Py_ssize_t piece, start
    if not is_copied(x, chunk):
        return here
    if is_narrow(x):
        for piece in range(chunk.pieces):
            start = chunk.start + piece * chunk.step
            if is_joined(chunk):
                fetch_next(<const uint16_t *> x.data + start, chunk.size * <Py_ssize_t> sizeof(uint16_t))
            widened(x, start, to, chunk.size)
            to += chunk.size
    else:
        for piece in range(chunk.pieces):
            fetch_next(here, chunk.size * <Py_ssize_t> sizeof(floating))
            copy_numbers(here, to, chunk.size)
            here += chunk.step
            to += chunk.size
    return scratch


cdef inline floating *place_of_chunk(
    Matrix x, const Chunk *chunk, floating *scratch
) noexcept nogil:
    """Return where to write a chunk's numbers: where they belong, or `scratch`, for `put_chunk_back`."""
    return scratch if is_copied(x, chunk) else <floating *> x.data + chunk.start


cdef inline void put_chunk_back(
    Matrix x, const Chunk *chunk, const floating *numbers
) noexcept nogil:
    """Write numbers that `place_of_chunk` had put into scratch memory."""
    cdef floating *to = <floating *> x.data + chunk.start
    cdef Py_ssize_t piece, start
    if not is_copied(x, chunk):
        return
    if is_narrow(x):
        for piece in range(chunk.pieces):
            start = chunk.start + piece * chunk.step
            if is_joined(chunk):
                fetch_next(<const uint16_t *> x.data + start, chunk.size * <Py_ssize_t> sizeof(uint16_t))
            put_back(x, start, numbers, chunk.size)
            numbers += chunk.size
    else:
        for piece in range(chunk.pieces):
            fetch_next(to, chunk.size * <Py_ssize_t> sizeof(floating))
            copy_numbers(numbers, to, chunk.size)
            to += chunk.step
            numbers += chunk.size


cdef inline void copy_numbers(const floating *x, floating *out, Py_ssize_t size) noexcept nogil:
    """Copy a few numbers, vector by vector; the last one may overlap the one before."""
    cdef Py_ssize_t i = 0
    cdef int lane
    if size < LANES:
        for i in range(size):
            out[i] = x[i]
        return
    while i + LANES <= size:
        for lane in range(LANES):
            out[i + lane] = x[i + lane]
        i += LANES
    if i < size:
        for lane in range(LANES):
            out[size - LANES + lane] = x[size - LANES + lane]


cdef const floating *statistics_of_segments(
    const Arrays *of, Py_ssize_t c, Py_ssize_t first, Py_ssize_t groups, double *mean,
    double *squares, const floating *kind
) noexcept nogil:
    """Write one channel's mean and squares around it, of some samples; return the last chunk's numbers."""
    cdef floating *place = scratch_piece(of, 0, kind)
    cdef const floating *x = place
    cdef floating center = 0
    cdef Py_ssize_t index
    cdef Chunk chunk
    cdef Run run
    cdef Sums sums
    clear(&sums)
    for index in range(chunk_count(of, groups)):
        chunk = chunk_of(of, c, first, groups, index)
        run = run_of(of, &chunk, True)
        x = numbers_of(of.x, &chunk, place)
        if index == 0:
            center = <floating> average(x, min(chunk.size, <Py_ssize_t> FIRST_ROWS))
        add_statistics(x, run.pieces, step_of(of.x, &chunk), run.size, center, &sums)
    mean[0] = lane_total(sums.lanes)
    squares[0] = lane_total(sums.second_lanes)
    end_statistics(mean, squares, &center, <double> groups * of.at.spatial, 1)
    return x


cdef void normalise_channel_by_batch(
    const Arrays *of, Py_ssize_t c, floating *mean, floating *rstd, floating *scale
) noexcept nogil:
    """Write the statistics and the result of one channel."""
    cdef Py_ssize_t groups = of.at.groups
    cdef const floating *beta = <const floating *> of.beta
    cdef const floating *x
    cdef floating *place
    cdef floating *out
    cdef Py_ssize_t index, piece, last = chunk_count(of, groups) - 1
    cdef Chunk chunk
    cdef Run run
    x = statistics_of_segments(
        of, c, 0, groups, of.totals + c, of.totals + of.at.channels + c, <const floating *> mean
    )
    put_statistics(of, c, mean, rstd)
    scale[c] = (<const floating *> of.gamma)[c] * rstd[c]
    for index in range(last, -1, -1):
        chunk = chunk_of(of, c, 0, groups, index)
        if index < last:
            place = scratch_piece(of, 0, <const floating *> mean)
            x = numbers_of(of.x, &chunk, place)
        out = place_of_chunk(of.out, &chunk, scratch_piece(of, 1, <const floating *> mean))
        run = run_of(of, &chunk, False)
        for piece in range(run.pieces):
            normalise_numbers(
                x + piece * step_of(of.x, &chunk), mean[c], scale[c], beta[c], x,
                out + piece * step_of(of.out, &chunk), run.size, False, False,
            )
        put_chunk_back(of.out, &chunk, <const floating *> out)


cdef void normalise_samples(
    const Arrays *of, Py_ssize_t first, Py_ssize_t groups, const floating *mean,
    const floating *scale
) noexcept nogil:
    """Write the result of some samples, with given statistics: many short segments at a time."""
    cdef Py_ssize_t channels = of.at.channels
    cdef Py_ssize_t spatial = of.at.spatial
    cdef Py_ssize_t segments = max(CHUNK // max(spatial, 1), 1)
    cdef Py_ssize_t index, part, segment, count, start
    for index in range(block_count(groups * channels, segments)):
        segment = index * segments
        count = min(segments, groups * channels - segment)
        start = (first * channels + segment) * spatial
        for part in range(block_count(spatial, CHUNK)):
            normalise_segments(
                of, start + part * CHUNK, segment % max(channels, 1), count,
                block_length(part, spatial, CHUNK), mean, scale,
            )


cdef inline void normalise_segments(
    const Arrays *of, Py_ssize_t start, Py_ssize_t c, Py_ssize_t count, Py_ssize_t size,
    const floating *mean, const floating *scale
) noexcept nogil:
    """Write the result of segments that follow one another, the first of which is of channel `c`."""
    cdef const floating *beta = <const floating *> of.beta
    cdef bint adds = of.addend.data != NULL
    cdef const floating *x = widened(of.x, start, scratch_piece(of, 0, mean), count * size)
    cdef const floating *addend = x
    cdef floating *to = place_of(of.out, start, scratch_piece(of, 2, mean))
    cdef floating *out = to
    cdef Py_ssize_t _segment
    if adds:
        addend = widened(of.addend, start, scratch_piece(of, 1, mean), count * size)
    for _segment in range(count):
        if adds and of.relu:
            normalise_numbers(x, mean[c], scale[c], beta[c], addend, out, size, True, True)
        elif adds:
            normalise_numbers(x, mean[c], scale[c], beta[c], addend, out, size, True, False)
        elif of.relu:
            normalise_numbers(x, mean[c], scale[c], beta[c], addend, out, size, False, True)
        else:
            normalise_numbers(x, mean[c], scale[c], beta[c], addend, out, size, False, False)
        x += size
        addend += size
        out += size
        c = 0 if c + 1 == of.at.channels else c + 1
    put_back(of.out, start, <const floating *> to, count * size)


cdef void mask_narrow_chunk(const Arrays *of, const Chunk *chunk) noexcept nogil:
    """Write what ReLU lets through of a chunk of dy, all of 16 bits."""
    cdef const uint16_t *dy = <const uint16_t *> of.dy.data + chunk.start
    cdef const uint16_t *y = <const uint16_t *> of.y.data + chunk.start
    cdef uint16_t *masked = <uint16_t *> of.daddend.data + chunk.start
    cdef int16_t infinity = <int16_t> (0xFF80 if of.y.number == BFLOAT16 else 0xFC00)
    cdef Py_ssize_t _piece
    for _piece in range(chunk.pieces):
        mask_halves(dy, y, masked, chunk.size, infinity)
        dy += chunk.step
        y += chunk.step
        masked += chunk.step


cdef const floating *masked_chunk(
    const Arrays *of, const Chunk *chunk, const floating *kind
) noexcept nogil:
    """Return a chunk of dy; where a sum was ReLU's input, write and return what is let through."""
    cdef const floating *dy
    cdef const floating *y
    cdef floating *masked
    cdef Run run = run_of(of, chunk, False)
    cdef Py_ssize_t piece
    if of.y.data == NULL:
        return numbers_of(of.dy, chunk, scratch_piece(of, 0, kind))
    if is_narrow(of.dy):
        mask_narrow_chunk(of, chunk)
        return numbers_of(of.daddend, chunk, scratch_piece(of, 0, kind))
    dy = numbers_of(of.dy, chunk, scratch_piece(of, 0, kind))
    y = numbers_of(of.y, chunk, scratch_piece(of, 1, kind))
    masked = place_of_chunk(of.daddend, chunk, scratch_piece(of, 0, kind))
    for piece in range(run.pieces):
        mask_by_result(
            dy + piece * step_of(of.dy, chunk), y + piece * step_of(of.y, chunk),
            masked + piece * step_of(of.daddend, chunk), run.size, kind[0],
        )
    put_chunk_back(of.daddend, chunk, <const floating *> masked)
    return masked


cdef void products_of_segments(
    const Arrays *of, Py_ssize_t c, Py_ssize_t first, Py_ssize_t groups, const floating *mean,
    const floating *scale, double *weights, double *products
) noexcept nogil:
    """Write one channel's sum(dy) and sum(dy (x - mean)) over some samples."""
    cdef const floating *beta = <const floating *> of.beta
    cdef floating least = <floating> of.least
    cdef Matrix given = of.daddend if of.y.data != NULL else of.dy
    cdef const floating *x
    cdef const floating *dy
    cdef Py_ssize_t index, dy_step, step
    cdef Chunk chunk
    cdef Run run
    cdef Sums sums
    clear(&sums)
    for index in range(chunk_count(of, groups)):
        chunk = chunk_of(of, c, first, groups, index)
        run = run_of(of, &chunk, True)
        dy_step, step = step_of(given, &chunk), step_of(of.x, &chunk)
        dy = masked_chunk(of, &chunk, mean)
        x = numbers_of(of.x, &chunk, scratch_piece(of, 1, mean))
        if beta != NULL:
            add_products(
                dy, dy_step, x, step, run.pieces, run.size, mean[c], scale[c], beta[c], least,
                &sums, True,
            )
        else:
            add_products(
                dy, dy_step, x, step, run.pieces, run.size, mean[c], scale[c], scale[c], least,
                &sums, False,
            )
    weights[0] = lane_total(sums.lanes)
    products[0] = lane_total(sums.second_lanes)


cdef void input_gradient_of_segments(
    const Arrays *of, Py_ssize_t c, Py_ssize_t first, Py_ssize_t groups, const floating *mean,
    const floating *scale
) noexcept nogil:
    """Write one channel's dx of some samples, with slope and shift behind `scale`."""
    cdef const floating *beta = <const floating *> of.beta
    cdef floating slope = scale[of.at.channels + c]
    cdef floating shift = scale[2 * of.at.channels + c]
    cdef floating least = <floating> of.least
    cdef Matrix given = of.daddend if of.y.data != NULL else of.dy
    cdef const floating *x
    cdef const floating *dy
    cdef floating *dx
    cdef floating *to
    cdef Py_ssize_t index, _piece
    cdef Chunk chunk
    cdef Run run
    for index in range(chunk_count(of, groups) - 1, -1, -1):
        chunk = chunk_of(of, c, first, groups, index)
        run = run_of(of, &chunk, False)
        dy = numbers_of(given, &chunk, scratch_piece(of, 0, mean))
        x = numbers_of(of.x, &chunk, scratch_piece(of, 1, mean))
        dx = place_of_chunk(of.out, &chunk, scratch_piece(of, 2, mean))
        to = dx
        for _piece in range(run.pieces):
            if beta != NULL:
                input_gradient_numbers(
                    dy, x, mean[c], scale[c], slope, shift, beta[c], least, to, run.size, True
                )
            else:
                input_gradient_numbers(
                    dy, x, mean[c], scale[c], slope, shift, scale[c], least, to, run.size, False
                )
            dy += step_of(given, &chunk)
            x += step_of(of.x, &chunk)
            to += step_of(of.out, &chunk)
        put_chunk_back(of.out, &chunk, <const floating *> dx)


cdef void gradients_of_channel(
    const Arrays *of, Py_ssize_t c, const floating *mean, const floating *rstd, floating *scale,
    floating *dgamma, floating *dbeta
) noexcept nogil:
    """Fill the gradients of one channel that is worked on apart."""
    products_of_segments(
        of, c, 0, of.at.groups, mean, <const floating *> scale, of.totals + c,
        of.totals + of.at.channels + c,
    )
    put_vectors(of, c, rstd, scale, dgamma, dbeta)
    input_gradient_of_segments(of, c, 0, of.at.groups, mean, <const floating *> scale)
