# Blocks of batch_norm.pyx with channels last in memory: rows of C numbers, a chunk of them at a time. Sums
# add QUAD rows in the type of the statistics and go on in float64, in the table itself. Where bfloat16 fills
# whole vectors of words, loops run over words, and vectors per channel are split as the words are.

cdef inline Py_ssize_t rows_at_once(Py_ssize_t channels) noexcept nogil:
    """Return how many rows make a chunk: sums add QUAD of them at a time."""
    return max(CHUNK // max(channels, 1) // QUAD, 1) * QUAD


cdef inline void begin_row_statistics(
    const storage *x, Py_ssize_t rows, Py_ssize_t channels, double *sums, double *squares,
    floating *center
) noexcept nogil:
    """Clear the sums that `add_row_statistics` adds to, and guess the means from the first rows."""
    cdef Py_ssize_t first = min(rows, <Py_ssize_t> FIRST_NUMBERS)
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
            squares[c] += <double> (multiply_add(d0, d0, d1 * d1) + multiply_add(d2, d2, d3 * d3))
        x = x3 + channels
        row += QUAD
    while row < rows:
        for c in range(channels):
            d0 = real(x[c], center[c]) - center[c]
            sums[c] += <double> d0
            squares[c] += <double> (d0 * d0)
        x = x + channels
        row += 1


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
    cdef floating v0, v1, v2, v3, d0, d1, d2, d3
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
            d0 = real(x[c], like) - center[c]
            d1 = real(x1[c], like) - center[c]
            d2 = real(x2[c], like) - center[c]
            d3 = real(x3[c], like) - center[c]
            v0 = let_through(real(dy[c], like), d0, scale[c], beta[c], least, relu)
            v1 = let_through(real(dy1[c], like), d1, scale[c], beta[c], least, relu)
            v2 = let_through(real(dy2[c], like), d2, scale[c], beta[c], least, relu)
            v3 = let_through(real(dy3[c], like), d3, scale[c], beta[c], least, relu)
            weights[c] += <double> ((v0 + v1) + (v2 + v3))
            products[c] += <double> (multiply_add(v0, d0, v1 * d1) + multiply_add(v2, d2, v3 * d3))
        x = x3 + channels
        dy = dy3 + channels
        row += QUAD
    while row < rows:
        for c in range(channels):
            d0 = real(x[c], like) - center[c]
            v0 = let_through(real(dy[c], like), d0, scale[c], beta[c], least, relu)
            weights[c] += <double> v0
            products[c] += <double> (v0 * d0)
        x = x + channels
        dy = dy + channels
        row += 1


cdef inline bint in_words(const Arrays *of, const storage *_kind, const passed *_after) noexcept nogil:
    """Tell whether rows are read as words of two bfloat16: where these fill whole vectors."""
    return storage is uint16_t and passed is uint16_t and of.at.channels % (2 * LANES) == 0


cdef inline const floating *split(const Arrays *of, const floating *vector, int piece) noexcept nogil:
    """Return a vector with the channels of the low halves first, then those of the high ones, in scratch memory."""
    cdef Py_ssize_t words = of.at.channels // 2
    cdef floating *found = scratch_piece(of, piece, vector)
    cdef Py_ssize_t c
    for c in range(words):
        found[c] = plain(vector[2 * c])
        found[words + c] = plain(vector[2 * c + 1])
    return found


cdef inline void add_lanes(const Sums *low, const Sums *high, double *sums, double *seconds) noexcept nogil:
    """Add the sums of a vector of words to those of their channels."""
    cdef int lane
    for lane in range(LANES):
        sums[2 * lane] += low.lanes[lane]
        sums[2 * lane + 1] += high.lanes[lane]
        seconds[2 * lane] += low.second_lanes[lane]
        seconds[2 * lane + 1] += high.second_lanes[lane]


cdef inline void add_word_statistics(
    const Halves *x, Py_ssize_t rows, Py_ssize_t words, const floating *center, double *sums,
    double *squares
) noexcept nogil:
    """Do what `add_row_statistics` does; `center` is split."""
    cdef const Halves *row
    cdef floating d0, d1, d2, d3
    cdef Py_ssize_t index, c, _quad
    cdef Sums low, high
    cdef int lane
    for index in range(words // LANES):
        c = index * LANES
        clear(&low)
        clear(&high)
        row = x + c
        for _quad in range(rows // QUAD):
            for lane in range(LANES):
                d0 = low_half(row[lane]) - center[c + lane]
                d1 = low_half(row[words + lane]) - center[c + lane]
                d2 = low_half(row[2 * words + lane]) - center[c + lane]
                d3 = low_half(row[3 * words + lane]) - center[c + lane]
                low.lanes[lane] += <double> ((d0 + d1) + (d2 + d3))
                low.second_lanes[lane] += <double> (multiply_add(d0, d0, d1 * d1) + multiply_add(d2, d2, d3 * d3))
                d0 = high_half(row[lane]) - center[words + c + lane]
                d1 = high_half(row[words + lane]) - center[words + c + lane]
                d2 = high_half(row[2 * words + lane]) - center[words + c + lane]
                d3 = high_half(row[3 * words + lane]) - center[words + c + lane]
                high.lanes[lane] += <double> ((d0 + d1) + (d2 + d3))
                high.second_lanes[lane] += <double> (multiply_add(d0, d0, d1 * d1) + multiply_add(d2, d2, d3 * d3))
            row += QUAD * words
        add_lanes(&low, &high, sums + 2 * c, squares + 2 * c)


cdef inline void word_products(
    const Halves *dy, const Halves *x, const floating *center, const floating *scale, const floating *beta,
    floating least, Py_ssize_t rows, Py_ssize_t words, double *weights, double *products, bint relu
) noexcept nogil:
    """Do what `row_products` does; the vectors are split."""
    cdef Py_ssize_t index, c, high_c, i, _quad
    cdef floating v0, v1, v2, v3, d0, d1, d2, d3
    cdef Sums low, high
    cdef int lane
    for index in range(words // LANES):
        clear(&low)
        clear(&high)
        i = index * LANES
        for _quad in range(rows // QUAD):
            for lane in range(LANES):
                c = index * LANES + lane
                high_c = words + c
                d0 = low_half(x[i + lane]) - center[c]
                d1 = low_half(x[i + words + lane]) - center[c]
                d2 = low_half(x[i + 2 * words + lane]) - center[c]
                d3 = low_half(x[i + 3 * words + lane]) - center[c]
                v0 = let_through(low_half(dy[i + lane]), d0, scale[c], beta[c], least, relu)
                v1 = let_through(low_half(dy[i + words + lane]), d1, scale[c], beta[c], least, relu)
                v2 = let_through(low_half(dy[i + 2 * words + lane]), d2, scale[c], beta[c], least, relu)
                v3 = let_through(low_half(dy[i + 3 * words + lane]), d3, scale[c], beta[c], least, relu)
                low.lanes[lane] += <double> ((v0 + v1) + (v2 + v3))
                low.second_lanes[lane] += <double> (multiply_add(v0, d0, v1 * d1) + multiply_add(v2, d2, v3 * d3))
                d0 = high_half(x[i + lane]) - center[high_c]
                d1 = high_half(x[i + words + lane]) - center[high_c]
                d2 = high_half(x[i + 2 * words + lane]) - center[high_c]
                d3 = high_half(x[i + 3 * words + lane]) - center[high_c]
                v0 = let_through(high_half(dy[i + lane]), d0, scale[high_c], beta[high_c], least, relu)
                v1 = let_through(high_half(dy[i + words + lane]), d1, scale[high_c], beta[high_c], least, relu)
                v2 = let_through(high_half(dy[i + 2 * words + lane]), d2, scale[high_c], beta[high_c], least, relu)
                v3 = let_through(high_half(dy[i + 3 * words + lane]), d3, scale[high_c], beta[high_c], least, relu)
                high.lanes[lane] += <double> ((v0 + v1) + (v2 + v3))
                high.second_lanes[lane] += <double> (multiply_add(v0, d0, v1 * d1) + multiply_add(v2, d2, v3 * d3))
            i += QUAD * words
        add_lanes(&low, &high, weights + 2 * index * LANES, products + 2 * index * LANES)


cdef inline void normalise_words(
    const Halves *x, const floating *mean, const floating *scale, const floating *beta,
    const Halves *addend, Result out, Py_ssize_t words, bint adds, bint relu
) noexcept nogil:
    """Do what `normalise_row` does; the vectors are split."""
    cdef Halves other = 0
    cdef Py_ssize_t c
    for c in range(words):
        if adds:
            other = addend[c]
        out[c] = halves(
            normalised_number(low_half(x[c]), mean[c], scale[c], beta[c], low_half(other), adds, relu),
            normalised_number(
                high_half(x[c]), mean[words + c], scale[words + c], beta[words + c], high_half(other), adds, relu
            ),
        )


cdef inline void input_gradient_words(
    const Halves *dy, const Halves *x, const floating *mean, const floating *scale,
    const floating *slope, const floating *shift, const floating *beta, floating least,
    Result dx, Py_ssize_t words, bint relu
) noexcept nogil:
    """Do what `input_gradient_row` does; the vectors are split."""
    cdef Py_ssize_t c, h
    for c in range(words):
        h = words + c
        dx[c] = halves(
            input_gradient(
                low_half(dy[c]), low_half(x[c]), mean[c], scale[c], slope[c], shift[c], beta[c], least, relu
            ),
            input_gradient(
                high_half(dy[c]), high_half(x[c]), mean[h], scale[h], slope[h], shift[h], beta[h], least, relu
            ),
        )


cdef inline void normalise_row(
    const storage *x, const floating *mean, const floating *scale, const floating *beta,
    const passed *addend, passed *out, Py_ssize_t channels, bint adds, bint relu
) noexcept nogil:
    """Write (x - mean) scale + beta, perhaps + addend, perhaps its positive part."""
    cdef floating given = 0
    cdef Py_ssize_t c
    for c in range(channels):
        if adds:
            given = real(addend[c], given)
        store(out, c, normalised_number(real(x[c], given), mean[c], scale[c], beta[c], given, adds, relu))


cdef inline void input_gradient_row(
    const passed *dy, const storage *x, const floating *mean, const floating *scale,
    const floating *slope, const floating *shift, const floating *beta, floating least,
    storage *dx, Py_ssize_t channels, bint relu
) noexcept nogil:
    """Write dy scale - shift - (x - mean) slope, with dy let through."""
    cdef Py_ssize_t c
    for c in range(channels):
        store(dx, c, input_gradient(
            real(dy[c], least), real(x[c], least), mean[c], scale[c], slope[c], shift[c], beta[c], least, relu
        ))


cdef void statistics_of_rows(
    const Arrays *of, const Block *block, const storage *kind, double *means, double *squares,
    floating *center
) noexcept nogil:
    """Fill one row of the tables (blocks, C) of means and of squares around them."""
    cdef Py_ssize_t channels = of.at.channels
    cdef Py_ssize_t chunk = rows_at_once(channels)
    cdef const floating *middle = center
    cdef const storage *x
    cdef Py_ssize_t index, rows, done = 0
    for index in range(block_count(block.samples, chunk)):
        rows = block_length(index, block.samples, chunk)
        x = stored(of, of.x, (block.sample + index * chunk) * channels, rows * channels, 0, kind)
        if index == 0:
            begin_row_statistics(x, rows, channels, means, squares, center)
            if in_words(of, kind, kind):
                middle = split(of, <const floating *> center, 0)
        if in_words(of, kind, kind):
            add_word_statistics(<const Halves *> x, rows, channels // 2, middle, means, squares)
            done = rows // QUAD * QUAD
        add_row_statistics(x + done * channels, rows - done, channels, means, squares, <const floating *> center)
    end_statistics(means, squares, <const floating *> center, <double> block.samples, channels)


cdef void normalise_rows(
    const Arrays *of, const Block *block, const storage *kind, const passed *after,
    const floating *mean, const floating *scale
) noexcept nogil:
    """Write one block of the result."""
    cdef Py_ssize_t channels = of.at.channels
    cdef Py_ssize_t chunk = rows_at_once(channels)
    cdef const floating *beta = <const floating *> of.beta
    cdef bint words = in_words(of, kind, after)
    cdef bint adds = of.addend.data != NULL
    cdef const storage *x
    cdef const passed *addend = NULL
    cdef passed *out
    cdef Py_ssize_t index, start, rows
    if words:
        mean, scale, beta = split(of, mean, 0), split(of, scale, 1), split(of, beta, 2)
    for index in range(block_count(block.samples, chunk)):
        start = (block.sample + index * chunk) * channels
        rows = block_length(index, block.samples, chunk)
        x = stored(of, of.x, start, rows * channels, 0, kind)
        if adds:
            addend = stored(of, of.addend, start, rows * channels, 1, after)
        out = place_to_store(of, of.out, start, 2, after)
        if adds and of.relu:
            normalise_chunk(x, mean, scale, beta, addend, out, rows, channels, words, True, True)
        elif adds:
            normalise_chunk(x, mean, scale, beta, addend, out, rows, channels, words, True, False)
        elif of.relu:
            normalise_chunk(x, mean, scale, beta, addend, out, rows, channels, words, False, True)
        else:
            normalise_chunk(x, mean, scale, beta, addend, out, rows, channels, words, False, False)
        store_back(of.out, start, <const passed *> out, rows * channels)


cdef inline void normalise_chunk(
    const storage *x, const floating *mean, const floating *scale, const floating *beta,
    const passed *addend, passed *out, Py_ssize_t rows, Py_ssize_t channels, bint words, bint adds, bint relu
) noexcept nogil:
    """Write some rows of the result."""
    cdef Py_ssize_t _row
    for _row in range(rows):
        if words:
            normalise_words(
                <const Halves *> x, mean, scale, beta, <const Halves *> addend, <Halves *> out, channels // 2,
                adds, relu,
            )
        else:
            normalise_row(x, mean, scale, beta, addend, out, channels, adds, relu)
        x += channels
        out += channels
        if adds:
            addend += channels


cdef void products_of_rows(
    const Arrays *of, const Block *block, const storage *kind, const passed *after,
    const floating *mean, const floating *scale, double *weights, double *products
) noexcept nogil:
    """Fill one row of the tables (blocks, C) of sum(dy) and sum(dy (x - mean))."""
    cdef Py_ssize_t channels = of.at.channels
    cdef Py_ssize_t chunk = rows_at_once(channels)
    cdef bint relu = of.beta != NULL
    cdef const floating *beta = <const floating *> of.beta if relu else scale
    cdef const floating *split_mean = mean
    cdef const floating *split_scale = scale
    cdef const floating *split_beta = beta
    cdef bint words = in_words(of, kind, after)
    cdef floating least = <floating> of.least
    cdef Matrix given = of.daddend if of.y.data != NULL else of.dy
    cdef const storage *x
    cdef const passed *dy
    cdef Py_ssize_t index, c, start, rows, done = 0
    for c in range(channels):
        weights[c] = 0
        products[c] = 0
    if words:
        split_mean, split_scale, split_beta = split(of, mean, 0), split(of, scale, 1), split(of, beta, 2)
    for index in range(block_count(block.samples, chunk)):
        start = (block.sample + index * chunk) * channels
        rows = block_length(index, block.samples, chunk)
        if of.y.data != NULL:
            mask(of, start, rows * channels, after)
        dy = stored(of, given, start, rows * channels, 0, after)
        x = stored(of, of.x, start, rows * channels, 1, kind)
        if words:
            done = rows // QUAD * QUAD
            if relu:
                word_products(
                    <const Halves *> dy, <const Halves *> x, split_mean, split_scale, split_beta, least, rows,
                    channels // 2, weights, products, True,
                )
            else:
                word_products(
                    <const Halves *> dy, <const Halves *> x, split_mean, split_scale, split_beta, least, rows,
                    channels // 2, weights, products, False,
                )
        dy += done * channels
        x += done * channels
        rows -= done
        if relu:
            row_products(dy, x, mean, scale, beta, least, rows, channels, weights, products, True)
        else:
            row_products(dy, x, mean, scale, beta, least, rows, channels, weights, products, False)


cdef void input_gradient_of_rows(
    const Arrays *of, const Block *block, const storage *kind, const passed *after,
    const floating *mean, const floating *scale
) noexcept nogil:
    """Write one block of dx, with slope and shift behind `scale`."""
    cdef Py_ssize_t channels = of.at.channels
    cdef Py_ssize_t chunk = rows_at_once(channels)
    cdef bint relu = of.beta != NULL
    cdef const floating *beta = <const floating *> of.beta if relu else scale
    cdef const floating *slope = scale + channels
    cdef const floating *shift = slope + channels
    cdef bint words = in_words(of, kind, after)
    cdef floating least = <floating> of.least
    cdef Matrix given = of.daddend if of.y.data != NULL else of.dy
    cdef const storage *x
    cdef const passed *dy
    cdef storage *dx
    cdef Py_ssize_t index, start, rows
    if words:
        mean, scale, beta = split(of, mean, 0), split(of, scale, 1), split(of, beta, 2)
        slope, shift = split(of, slope, 3), split(of, shift, 4)
    for index in range(block_count(block.samples, chunk)):
        start = (block.sample + index * chunk) * channels
        rows = block_length(index, block.samples, chunk)
        dy = stored(of, given, start, rows * channels, 0, after)
        x = stored(of, of.x, start, rows * channels, 1, kind)
        dx = place_to_store(of, of.out, start, 2, kind)
        if relu:
            input_gradient_chunk(
                dy, x, mean, scale, slope, shift, beta, least, dx, rows, channels, words, True
            )
        else:
            input_gradient_chunk(
                dy, x, mean, scale, slope, shift, beta, least, dx, rows, channels, words, False
            )
        store_back(of.out, start, <const storage *> dx, rows * channels)


cdef inline void input_gradient_chunk(
    const passed *dy, const storage *x, const floating *mean, const floating *scale,
    const floating *slope, const floating *shift, const floating *beta, floating least, storage *dx,
    Py_ssize_t rows, Py_ssize_t channels, bint words, bint relu
) noexcept nogil:
    """Write some rows of dx."""
    cdef Py_ssize_t _row
    for _row in range(rows):
        if words:
            input_gradient_words(
                <const Halves *> dy, <const Halves *> x, mean, scale, slope, shift, beta, least, <Halves *> dx,
                channels // 2, relu,
            )
        else:
            input_gradient_row(dy, x, mean, scale, slope, shift, beta, least, dx, channels, relu)
        dy += channels
        x += channels
        dx += channels
