# Parts of batch_norm.pyx for channels last in memory: rows of C numbers, block by block. Figures of
# the blocks are merged in their order. bfloat16 is widened in registers, float16 in scratch memory.

cdef inline Py_ssize_t rows_at_once(Py_ssize_t channels) noexcept nogil:
    """Return how many rows make a chunk: sums add QUAD of them at a time."""
    return max(CHUNK // max(channels, 1) // QUAD, 1) * QUAD


cdef inline const storage *stored(
    Matrix x, Py_ssize_t start, floating *scratch, Py_ssize_t size, const storage *_kind
) noexcept nogil:
    """Return numbers in a type that loops read: where they lie, or float16 widened into `scratch`."""
    if storage is uint16_t:
        return <const storage *> x.data + start
    else:
        return <const storage *> widened(x, start, scratch, size)


cdef inline storage *place_to_store(
    Matrix x, Py_ssize_t start, floating *scratch, const storage *_kind
) noexcept nogil:
    """Return where loops write numbers: where they belong, or `scratch`, for `store_back`."""
    if storage is uint16_t:
        return <storage *> x.data + start
    else:
        return <storage *> place_of(x, start, scratch)


cdef inline void store_back(
    Matrix x, Py_ssize_t start, const storage *numbers, Py_ssize_t size, floating _like
) noexcept nogil:
    """Narrow numbers that `place_to_store` had put into scratch memory."""
    if storage is not uint16_t:
        put_back(x, start, <const floating *> numbers, size)


cdef inline void normalise_row(
    const storage *x, const floating *mean, const floating *scale, const floating *beta,
    const passed *addend, passed *out, Py_ssize_t channels, bint adds, bint relu
) noexcept nogil:
    """Write (x - mean) scale + beta, perhaps + addend, perhaps its positive part."""
    cdef floating value
    cdef Py_ssize_t c
    for c in range(channels):
        value = (real(x[c], mean[c]) - mean[c]) * scale[c] + beta[c]
        if adds:
            value = value + real(addend[c], value)
        if relu:
            value = positive_part(value)
        store(out, c, value)


cdef inline void input_gradient_row(
    const passed *dy, const storage *x, const floating *mean, const floating *scale,
    const floating *slope, const floating *shift, const floating *beta, floating least,
    storage *dx, Py_ssize_t channels, bint relu
) noexcept nogil:
    """Write dy scale - (x - mean) slope - shift, with dy let through."""
    cdef floating number, value
    cdef Py_ssize_t c
    for c in range(channels):
        number = real(x[c], mean[c])
        value = let_through(real(dy[c], number), number, mean[c], scale[c], beta[c], least, relu)
        store(dx, c, value * scale[c] - shift[c] - (number - mean[c]) * slope[c])


cdef void statistics_of_rows(
    const Arrays *of, Py_ssize_t block, const storage *kind, floating *center
) noexcept nogil:
    """Fill one block's row of the tables (blocks, C) of means and of squares around them."""
    cdef Py_ssize_t channels = of.at.channels
    cdef Py_ssize_t first = block * of.at.block_groups
    cdef Py_ssize_t groups = groups_in_block(&of.at, block)
    cdef Py_ssize_t chunk = rows_at_once(channels)
    cdef double *means = of.table + block * channels
    cdef double *squares = means + of.at.blocks * channels
    cdef floating *place = scratch_piece(of, 0, <const floating *> center)
    cdef const storage *x
    cdef Py_ssize_t index, row, rows
    for index in range(block_count(groups, chunk)):
        row = index * chunk
        rows = min(chunk, groups - row)
        x = stored(of.x, (first + row) * channels, place, rows * channels, kind)
        if row == 0:
            begin_row_statistics(x, rows, channels, means, squares, center)
        add_row_statistics(x, rows, channels, means, squares, <const floating *> center)
    end_statistics(means, squares, <const floating *> center, <double> groups, channels)


cdef void normalise_rows(
    const Arrays *of, Py_ssize_t block, const storage *kind, const passed *after,
    const floating *mean, const floating *scale
) noexcept nogil:
    """Write one block of the result."""
    cdef Py_ssize_t channels = of.at.channels
    cdef Py_ssize_t first = block * of.at.block_groups
    cdef Py_ssize_t groups = groups_in_block(&of.at, block)
    cdef Py_ssize_t chunk = rows_at_once(channels)
    cdef const floating *beta = <const floating *> of.beta
    cdef bint adds = of.addend.data != NULL
    cdef const storage *x
    cdef const passed *addend = NULL
    cdef passed *out
    cdef Py_ssize_t index, row, i, start, rows
    for index in range(block_count(groups, chunk)):
        start = (first + index * chunk) * channels
        rows = min(chunk, groups - index * chunk)
        x = stored(of.x, start, scratch_piece(of, 0, mean), rows * channels, kind)
        if adds:
            addend = stored(of.addend, start, scratch_piece(of, 1, mean), rows * channels, after)
        out = place_to_store(of.out, start, scratch_piece(of, 2, mean), after)
        for row in range(rows):
            i = row * channels
            if adds and of.relu:
                normalise_row(x + i, mean, scale, beta, addend + i, out + i, channels, True, True)
            elif adds:
                normalise_row(x + i, mean, scale, beta, addend + i, out + i, channels, True, False)
            elif of.relu:
                normalise_row(x + i, mean, scale, beta, addend, out + i, channels, False, True)
            else:
                normalise_row(x + i, mean, scale, beta, addend, out + i, channels, False, False)
        store_back(of.out, start, <const passed *> out, rows * channels, mean[0])


cdef void products_of_rows(
    const Arrays *of, Py_ssize_t block, const storage *kind, const passed *after,
    const floating *mean, const floating *scale
) noexcept nogil:
    """Fill one block's row of the tables (blocks, C) of sum(dy) and sum(dy (x - mean))."""
    cdef Py_ssize_t channels = of.at.channels
    cdef Py_ssize_t first = block * of.at.block_groups
    cdef Py_ssize_t groups = groups_in_block(&of.at, block)
    cdef Py_ssize_t chunk = rows_at_once(channels)
    cdef const floating *beta = <const floating *> of.beta
    cdef floating least = <floating> of.least
    cdef double *weights = of.table + block * channels
    cdef double *products = weights + of.at.blocks * channels
    cdef const storage *x
    cdef const passed *dy
    cdef const passed *y
    cdef passed *masked
    cdef Py_ssize_t index, c, start, rows
    for c in range(channels):
        weights[c] = 0
        products[c] = 0
    for index in range(block_count(groups, chunk)):
        start = (first + index * chunk) * channels
        rows = min(chunk, groups - index * chunk)
        dy = stored(of.dy, start, scratch_piece(of, 0, mean), rows * channels, after)
        if of.y.data != NULL:
            masked = place_to_store(of.daddend, start, scratch_piece(of, 1, mean), after)
            y = stored(of.y, start, scratch_piece(of, 2, mean), rows * channels, after)
            mask_by_result(dy, y, masked, rows * channels, mean[0])
            store_back(of.daddend, start, <const passed *> masked, rows * channels, mean[0])
            dy = masked
        x = stored(of.x, start, scratch_piece(of, 2, mean), rows * channels, kind)
        if beta != NULL:
            row_products(
                dy, x, mean, scale, beta, least, rows, channels, weights, products, True
            )
        else:
            row_products(
                dy, x, mean, scale, scale, least, rows, channels, weights, products, False
            )


cdef void input_gradient_rows(
    const Arrays *of, Py_ssize_t block, const storage *kind, const passed *after,
    const floating *mean, const floating *scale
) noexcept nogil:
    """Write one block of dx, with slope and shift behind `scale`."""
    cdef Py_ssize_t channels = of.at.channels
    cdef Py_ssize_t first = block * of.at.block_groups
    cdef Py_ssize_t groups = groups_in_block(&of.at, block)
    cdef Py_ssize_t chunk = rows_at_once(channels)
    cdef const floating *beta = <const floating *> of.beta
    cdef const floating *slope = scale + channels
    cdef const floating *shift = slope + channels
    cdef floating least = <floating> of.least
    cdef Matrix given = of.daddend if of.y.data != NULL else of.dy
    cdef const storage *x
    cdef const passed *dy
    cdef storage *dx
    cdef Py_ssize_t index, row, i, start, rows
    for index in range(block_count(groups, chunk)):
        start = (first + index * chunk) * channels
        rows = min(chunk, groups - index * chunk)
        dy = stored(given, start, scratch_piece(of, 0, mean), rows * channels, after)
        x = stored(of.x, start, scratch_piece(of, 1, mean), rows * channels, kind)
        dx = place_to_store(of.out, start, scratch_piece(of, 2, mean), kind)
        for row in range(rows):
            i = row * channels
            if beta != NULL:
                input_gradient_row(
                    dy + i, x + i, mean, scale, slope, shift, beta, least, dx + i, channels, True
                )
            else:
                input_gradient_row(
                    dy + i, x + i, mean, scale, slope, shift, scale, least, dx + i, channels, False
                )
        store_back(of.out, start, <const storage *> dx, rows * channels, mean[0])
