# Blocks of batch_norm.pyx with channels first in memory: a channel of a sample is a segment of numbers. A
# block's samples are gone through strip by strip, backwards the second time: the last strip is at hand
# still, those before it in caches. A channel's sums wait in memory while other channels have their turn.

cdef struct Strip:
    # Segments that loops run over: of neighbouring channels in samples that follow one another, or parts of long
    # ones. Their first number, how many there are, how long each is and how far apart the samples are.
    Py_ssize_t start
    Py_ssize_t samples
    Py_ssize_t channel
    Py_ssize_t channels
    Py_ssize_t size
    Py_ssize_t step


cdef inline Py_ssize_t samples_at_once(const Arrays *of) noexcept nogil:
    """Return how many samples a strip has: several of short segments."""
    return max(min(<Py_ssize_t> AT_ONCE, SHORT // max(of.at.spatial, 1)), 1)


cdef inline Py_ssize_t channels_at_once(const Arrays *of) noexcept nogil:
    """Return how many channels a strip has."""
    return max(CHUNK // max(of.at.spatial * samples_at_once(of), 1), 1)


cdef inline Py_ssize_t strips_across(const Arrays *of, const Block *block) noexcept nogil:
    """Return how many strips the same samples have."""
    return block_count(block.channels, channels_at_once(of)) * block_count(of.at.spatial, CHUNK)


cdef inline Py_ssize_t strip_count(const Arrays *of, const Block *block) noexcept nogil:
    return block_count(block.samples, samples_at_once(of)) * strips_across(of, block)


cdef inline Strip strip_of(const Arrays *of, const Block *block, Py_ssize_t index) noexcept nogil:
    """Return one of a block's strips."""
    cdef Strip found
    cdef const Channels *at = &of.at
    cdef Py_ssize_t across = strips_across(of, block)
    cdef Py_ssize_t parts = block_count(at.spatial, CHUNK)
    cdef Py_ssize_t group = index // across
    cdef Py_ssize_t strip = index % across // parts
    cdef Py_ssize_t part = index % parts
    found.samples = block_length(group, block.samples, samples_at_once(of))
    found.channel = block.channel + strip * channels_at_once(of)
    found.channels = block_length(strip, block.channels, channels_at_once(of))
    found.size = block_length(part, at.spatial, CHUNK)
    found.step = at.channels * at.spatial
    found.start = (block.sample + group * samples_at_once(of)) * found.step + found.channel * at.spatial + part * CHUNK
    return found


cdef inline const storage *stored_strip(
    const Arrays *of, Matrix x, const Strip *strip, int piece, const storage *kind
) noexcept nogil:
    """Return a strip's numbers: where they lie, or float16 widened into scratch memory."""
    cdef Py_ssize_t run = strip.channels * strip.size
    cdef Py_ssize_t sample
    if storage is not uint16_t:
        if x.number == FLOAT16:
            for sample in range(strip.samples):
                widened(x, strip.start + sample * strip.step, scratch_piece(of, piece, kind) + sample * run, run)
            return scratch_piece(of, piece, kind)
    return <const storage *> x.data + strip.start


cdef inline Py_ssize_t step_of(Matrix x, const Strip *strip) noexcept nogil:
    """Return how far apart the samples of a stored strip are."""
    return strip.channels * strip.size if x.number == FLOAT16 else strip.step


cdef inline void store_strip_back(Matrix x, const Strip *strip, const storage *numbers) noexcept nogil:
    """Narrow a strip that `place_to_store` had put into scratch memory."""
    cdef Py_ssize_t run = strip.channels * strip.size
    cdef Py_ssize_t sample
    if storage is not uint16_t:
        for sample in range(strip.samples):
            put_back(x, strip.start + sample * strip.step, numbers + sample * run, run)


cdef inline int gather(
    const storage *x, Py_ssize_t size, floating *rest, int filled, floating filler
) noexcept nogil:
    """Append the numbers of a segment that make no whole step to others, in vectors that `filler` fills up."""
    cdef int left = <int> (size % STEP)
    cdef int k
    x += size - left
    rest += filled
    # Always a whole step, for loops without a rest of their own: the next segment overwrites what is too much.
    for k in range(STEP):
        rest[k] = real(x[k], filler) if k < left else filler
    return filled + (left + LANES - 1) // LANES * LANES


cdef inline int fill_step(floating *rest, int filled, floating filler) noexcept nogil:
    """Fill up the last step of gathered numbers and return how many steps there are."""
    cdef int lane
    while filled % STEP:
        for lane in range(LANES):
            rest[filled + lane] = filler
        filled += LANES
    return filled // STEP


cdef inline Sums *cleared_sums(const Arrays *of, const Block *block) noexcept nogil:
    """Return this thread's sums, one for each channel of a block."""
    cdef Sums *sums = <Sums *> of.sums + threadid() * of.at.block_channels
    cdef Py_ssize_t c
    for c in range(block.channels):
        clear(&sums[c])
    return sums


cdef inline void put_sums(
    const Sums *sums, const Block *block, double *first, double *second
) noexcept nogil:
    """Write the totals of a block's sums into one row of the table each."""
    cdef Py_ssize_t c
    for c in range(block.channels):
        first[block.channel + c] = lane_total(sums[c].lanes)
        second[block.channel + c] = lane_total(sums[c].second_lanes)


cdef inline void add_step_statistics(
    const storage *x, floating center, Sums *sums, bint words
) noexcept nogil:
    """Add the distances from `center` of a step of numbers, and their squares."""
    cdef floating d0, d1, d2, d3
    cdef int lane
    for lane in range(LANES):
        d0 = number_of_step(x, lane, 0, center, words) - center
        d1 = number_of_step(x, lane, 1, center, words) - center
        d2 = number_of_step(x, lane, 2, center, words) - center
        d3 = number_of_step(x, lane, 3, center, words) - center
        sums.lanes[lane] += <double> ((d0 + d1) + (d2 + d3))
        sums.second_lanes[lane] += <double> (multiply_add(d0, d0, d1 * d1) + multiply_add(d2, d2, d3 * d3))


cdef inline void add_statistics(
    const storage *x, Py_ssize_t step, const Strip *strip, floating center, Sums *sums
) noexcept nogil:
    """Add the distances from `center` of one channel's numbers in a strip, and their squares."""
    cdef Sums now = sums[0]
    cdef floating rest[AT_ONCE * STEP + STEP]
    cdef Py_ssize_t _sample, i
    cdef int filled = 0
    for _sample in range(strip.samples):
        for i in range(strip.size // STEP):
            add_step_statistics(x + i * STEP, center, &now, storage is uint16_t)
        if strip.size % STEP:
            filled = gather(x, strip.size, rest, filled, center)
        x += step
    for i in range(fill_step(rest, filled, center)):
        add_step_statistics(<const floating *> rest + i * STEP, center, &now, False)
    sums[0] = now


cdef inline void add_step_products(
    const passed *dy, const storage *x, floating center, floating scale, floating beta, floating least,
    Sums *sums, bint relu, bint words
) noexcept nogil:
    """Add v and v (x - center), v = dy let through, of a step of numbers."""
    cdef floating v0, v1, v2, v3, d0, d1, d2, d3
    cdef int lane
    for lane in range(LANES):
        d0 = number_of_step(x, lane, 0, center, words) - center
        d1 = number_of_step(x, lane, 1, center, words) - center
        d2 = number_of_step(x, lane, 2, center, words) - center
        d3 = number_of_step(x, lane, 3, center, words) - center
        v0 = let_through(number_of_step(dy, lane, 0, center, words), d0, scale, beta, least, relu)
        v1 = let_through(number_of_step(dy, lane, 1, center, words), d1, scale, beta, least, relu)
        v2 = let_through(number_of_step(dy, lane, 2, center, words), d2, scale, beta, least, relu)
        v3 = let_through(number_of_step(dy, lane, 3, center, words), d3, scale, beta, least, relu)
        sums.lanes[lane] += <double> ((v0 + v1) + (v2 + v3))
        sums.second_lanes[lane] += <double> (multiply_add(v0, d0, v1 * d1) + multiply_add(v2, d2, v3 * d3))


cdef inline void add_products(
    const passed *dy, Py_ssize_t dy_step, const storage *x, Py_ssize_t step, const Strip *strip,
    floating center, floating scale, floating beta, floating least, Sums *sums, bint relu
) noexcept nogil:
    """Add v and v (x - center), v = dy let through, of one channel's numbers in a strip."""
    cdef Sums now = sums[0]
    cdef floating rest[AT_ONCE * STEP + STEP]
    cdef floating rest_dy[AT_ONCE * STEP + STEP]
    cdef bint words = storage is uint16_t and passed is uint16_t
    cdef Py_ssize_t _sample, i
    cdef int filled = 0
    for _sample in range(strip.samples):
        for i in range(strip.size // STEP):
            add_step_products(dy + i * STEP, x + i * STEP, center, scale, beta, least, &now, relu, words)
        if strip.size % STEP:
            gather(dy, strip.size, rest_dy, filled, <floating> 0)
            filled = gather(x, strip.size, rest, filled, center)
        dy += dy_step
        x += step
    fill_step(rest_dy, filled, <floating> 0)
    for i in range(fill_step(rest, filled, center)):
        add_step_products(
            <const floating *> rest_dy + i * STEP, <const floating *> rest + i * STEP, center, scale, beta, least,
            &now, relu, False,
        )
    sums[0] = now


cdef inline void normalise_channel(
    const storage *x, Py_ssize_t step, const passed *addend, passed *out, Py_ssize_t out_step,
    const Strip *strip, floating mean, floating scale, floating beta, bint adds, bint relu
) noexcept nogil:
    """Write the result of one channel in a strip."""
    cdef Py_ssize_t _sample
    for _sample in range(strip.samples):
        normalise_numbers(x, addend, out, strip.size, mean, scale, beta, adds, relu)
        x += step
        out += out_step
        if adds:
            addend += out_step


cdef inline void input_gradient_of_channel(
    const passed *dy, Py_ssize_t dy_step, const storage *x, storage *dx, Py_ssize_t step,
    const Strip *strip, floating mean, floating scale, floating slope, floating shift, floating beta,
    floating least, bint relu
) noexcept nogil:
    """Write dx of one channel in a strip."""
    cdef Py_ssize_t _sample
    for _sample in range(strip.samples):
        input_gradient_numbers(dy, x, dx, strip.size, mean, scale, slope, shift, beta, least, relu)
        dy += dy_step
        x += step
        dx += step


cdef void statistics_of_segments(
    const Arrays *of, const Block *block, const storage *kind, double *means, double *squares,
    floating *center
) noexcept nogil:
    """Fill a block's part of one row of the tables (blocks, C) of means and of squares around them."""
    cdef const Channels *at = &of.at
    cdef Sums *sums = cleared_sums(of, block)
    cdef Py_ssize_t some = min(at.spatial, <Py_ssize_t> FIRST_NUMBERS)
    cdef const storage *x
    cdef Py_ssize_t index, c
    cdef Strip strip
    for c in range(block.channel, block.channel + block.channels):
        x = stored(of, of.x, (block.sample * at.channels + c) * at.spatial, some, 0, kind)
        center[c] = <floating> average(x, some)
    for index in range(strip_count(of, block)):
        strip = strip_of(of, block, index)
        x = stored_strip(of, of.x, &strip, 0, kind)
        for c in range(strip.channel, strip.channel + strip.channels):
            add_statistics(x, step_of(of.x, &strip), &strip, center[c], sums + (c - block.channel))
            x += strip.size
    put_sums(<const Sums *> sums, block, means, squares)
    end_statistics(
        means + block.channel, squares + block.channel, <const floating *> center + block.channel,
        <double> block.samples * at.spatial, block.channels,
    )


cdef void normalise_segments(
    const Arrays *of, const Block *block, const storage *kind, const passed *after, const floating *mean,
    const floating *scale
) noexcept nogil:
    """Write one block of the result."""
    cdef const floating *beta = <const floating *> of.beta
    cdef bint adds = of.addend.data != NULL
    cdef const storage *x
    cdef const passed *addend = NULL
    cdef passed *out
    cdef Py_ssize_t index, c, i, step, out_step
    cdef Strip strip
    for index in range(strip_count(of, block) - 1, -1, -1):
        strip = strip_of(of, block, index)
        x = stored_strip(of, of.x, &strip, 0, kind)
        if adds:
            addend = stored_strip(of, of.addend, &strip, 1, after)
        out = place_to_store(of, of.out, strip.start, 2, after)
        step, out_step = step_of(of.x, &strip), step_of(of.out, &strip)
        for c in range(strip.channel, strip.channel + strip.channels):
            i = (c - strip.channel) * strip.size
            if adds and of.relu:
                normalise_channel(
                    x + i, step, addend + i, out + i, out_step, &strip, mean[c], scale[c], beta[c], True, True
                )
            elif adds:
                normalise_channel(
                    x + i, step, addend + i, out + i, out_step, &strip, mean[c], scale[c], beta[c], True, False
                )
            elif of.relu:
                normalise_channel(
                    x + i, step, addend, out + i, out_step, &strip, mean[c], scale[c], beta[c], False, True
                )
            else:
                normalise_channel(
                    x + i, step, addend, out + i, out_step, &strip, mean[c], scale[c], beta[c], False, False
                )
        if of.out.number == FLOAT16:
            store_strip_back(of.out, &strip, <const passed *> out)


cdef void products_of_segments(
    const Arrays *of, const Block *block, const storage *kind, const passed *after, const floating *mean,
    const floating *scale, double *weights, double *products
) noexcept nogil:
    """Fill a block's part of one row of the tables (blocks, C) of sum(dy) and sum(dy (x - mean))."""
    cdef Sums *sums = cleared_sums(of, block)
    cdef const floating *beta = <const floating *> of.beta
    cdef floating least = <floating> of.least
    cdef Matrix given = of.daddend if of.y.data != NULL else of.dy
    cdef const storage *x
    cdef const passed *dy
    cdef Py_ssize_t index, c, i, step, dy_step
    cdef Strip strip
    for index in range(strip_count(of, block)):
        strip = strip_of(of, block, index)
        if of.y.data != NULL:
            for i in range(strip.samples):
                mask(of, strip.start + i * strip.step, strip.channels * strip.size, after)
        dy = stored_strip(of, given, &strip, 0, after)
        x = stored_strip(of, of.x, &strip, 1, kind)
        step, dy_step = step_of(of.x, &strip), step_of(given, &strip)
        for c in range(strip.channel, strip.channel + strip.channels):
            i = (c - strip.channel) * strip.size
            if beta != NULL:
                add_products(
                    dy + i, dy_step, x + i, step, &strip, mean[c], scale[c], beta[c], least,
                    sums + (c - block.channel), True,
                )
            else:
                add_products(
                    dy + i, dy_step, x + i, step, &strip, mean[c], scale[c], scale[c], least,
                    sums + (c - block.channel), False,
                )
    put_sums(<const Sums *> sums, block, weights, products)


cdef void input_gradient_of_segments(
    const Arrays *of, const Block *block, const storage *kind, const passed *after, const floating *mean,
    const floating *scale
) noexcept nogil:
    """Write one block of dx, with slope and shift behind `scale`."""
    cdef const floating *slope = scale + of.at.channels
    cdef const floating *shift = slope + of.at.channels
    cdef const floating *beta = <const floating *> of.beta
    cdef floating least = <floating> of.least
    cdef Matrix given = of.daddend if of.y.data != NULL else of.dy
    cdef const storage *x
    cdef const passed *dy
    cdef storage *dx
    cdef Py_ssize_t index, c, i, step, dy_step
    cdef Strip strip
    for index in range(strip_count(of, block) - 1, -1, -1):
        strip = strip_of(of, block, index)
        dy = stored_strip(of, given, &strip, 0, after)
        x = stored_strip(of, of.x, &strip, 1, kind)
        dx = place_to_store(of, of.out, strip.start, 2, kind)
        step, dy_step = step_of(of.x, &strip), step_of(given, &strip)
        for c in range(strip.channel, strip.channel + strip.channels):
            i = (c - strip.channel) * strip.size
            if beta != NULL:
                input_gradient_of_channel(
                    dy + i, dy_step, x + i, dx + i, step, &strip, mean[c], scale[c], slope[c], shift[c], beta[c],
                    least, True,
                )
            else:
                input_gradient_of_channel(
                    dy + i, dy_step, x + i, dx + i, step, &strip, mean[c], scale[c], slope[c], shift[c], scale[c],
                    least, False,
                )
        if of.out.number == FLOAT16:
            store_strip_back(of.out, &strip, <const storage *> dx)
