# A strip of lines: `row` is its first number in each row of `inner` numbers.

cdef inline void lift_below(
    const floating *x, const floating *origins, float lowest, floating *tile
) noexcept nogil:
    """Write `LIFT` e^(x - origin) for a tile, each number with its own origin."""
    cdef int lane
    for lane in range(TILE):
        tile[lane] = x[lane] - origins[lane]
    if floating is float:
        # Written such that a NaN stays one.
        for lane in range(TILE):
            tile[lane] = lowest if lowest > tile[lane] else tile[lane]
    for lane in range(TILE):
        tile[lane] = lifted_exponential(tile[lane])


cdef inline void exponentials_of_row(
    const floating *x, const floating *origins, float lowest, Py_ssize_t width, floating *terms
) noexcept nogil:
    """Write `LIFT` e^(x - origin) for part of a row; `origins` and `terms` have room for whole tiles."""
    cdef floating rest[TILE]
    cdef Py_ssize_t i = 0
    while i + TILE <= width:
        lift_below(x + i, origins + i, lowest, terms + i)
        i += TILE
    if i < width:
        take_rest(x + i, width - i, <floating> -INFINITY, rest)
        lift_below(<const floating *> rest, origins + i, lowest, terms + i)


cdef inline void largest_of_strip(
    const Lines *at, const floating *x, Py_ssize_t width, floating *largest
) noexcept nogil:
    cdef Py_ssize_t _row, i
    for i in range(width):
        largest[i] = x[i]
    for i in range(width, block_count(width, TILE) * TILE):
        largest[i] = 0
    for _row in range(1, at.length):
        x += at.inner
        for i in range(width):
            largest[i] = x[i] if x[i] > largest[i] else largest[i]


cdef inline floating log_sum(const Lines *at, const floating *x, floating largest, double total) noexcept nogil:
    """Return the logarithm of the sum of a line's exponentials, `LIFT` e^-largest times which is `total`."""
    cdef Py_ssize_t i
    if isfinite(largest):
        return <floating> (largest + log(total / LIFT))
    for i in range(at.length):
        if isnan(x[i * at.inner]):
            return x[i * at.inner]
    return largest


cdef void forward_strip(
    const Lines *at, Function function, const floating *x, floating *out, Py_ssize_t width
) noexcept nogil:
    """Fill a strip of `out`, which is a row of results for LOG_SUM."""
    cdef floating largest[WIDEST]
    cdef floating terms[WIDEST]
    cdef floating sums[WIDEST]
    cdef double totals[WIDEST]
    cdef float lowest = hidden(LOWEST)
    cdef Py_ssize_t row, _row, i
    largest_of_strip(at, x, width, largest)
    for i in range(width):
        totals[i] = 0
        sums[i] = 0
    for row in range(at.length):
        exponentials_of_row(x + row * at.inner, <const floating *> largest, lowest, width, terms)
        for i in range(width):
            sums[i] += terms[i]
        if function == SOFTMAX:
            for i in range(width):
                out[row * at.inner + i] = terms[i]
        if row % SPAN == SPAN - 1 or row == at.length - 1:
            for i in range(width):
                totals[i] += <double> sums[i]
                sums[i] = 0
    if function == LOG_SUM:
        for i in range(width):
            out[i] = log_sum(at, x + i, largest[i], totals[i])
        return
    for i in range(width):
        terms[i] = <floating> (1 / totals[i] if function == SOFTMAX else log(totals[i] / LIFT))
    for _row in range(at.length):
        if function == SOFTMAX:
            for i in range(width):
                out[i] *= terms[i]
        else:
            for i in range(width):
                out[i] = x[i] - largest[i] - terms[i]
        x += at.inner
        out += at.inner


cdef void forward_packed_strip(
    const Lines *at, Function function, Matrix x, Matrix out, Py_ssize_t start, float *scratch, Py_ssize_t width
) noexcept nogil:
    """Fill a strip of `out` from `start` on by way of scratch memory, where its rows lie side by side."""
    cdef Lines packed = at[0]
    cdef Py_ssize_t row
    cdef float *place
    cdef const float *found
    packed.inner = at.width
    for row in range(at.length):
        place = scratch + row * at.width
        found = widened(x, start + row * at.inner, place, width)
        if found != place:
            memcpy(place, found, width * sizeof(float))
    forward_strip(&packed, function, <const float *> scratch, scratch, width)
    for row in range(at.length):
        place = scratch + row * at.width
        if is_narrow(out):
            put_back(out, start + row * at.inner, <const float *> place, width)
        else:
            memcpy(<float *> out.data + start + row * at.inner, place, width * sizeof(float))


cdef void backward_strip(
    const Lines *at, Function function, Matrix dy, Matrix y, Matrix dx, const floating *_kind, Py_ssize_t start,
    Py_ssize_t width,
) noexcept nogil:
    """Fill a strip of y (dy - sum(dy y)), or of dy - exp(y) sum(dy) for the logarithm."""
    cdef floating origins[WIDEST]
    cdef floating terms[WIDEST]
    cdef floating factors[WIDEST]
    cdef floating sums[WIDEST]
    cdef floating wide_dy[WIDEST]
    cdef floating wide_y[WIDEST]
    cdef floating wide_dx[WIDEST]
    cdef double totals[WIDEST]
    cdef const floating *from_dy
    cdef const floating *from_y
    cdef floating *to
    cdef float lowest = hidden(LOWEST)
    cdef Py_ssize_t row, place, i
    for i in range(WIDEST):
        totals[i] = 0
        origins[i] = 0
        sums[i] = 0
    for row in range(at.length):
        place = start + row * at.inner
        from_dy = widened(dy, place, wide_dy, width)
        if function == SOFTMAX:
            from_y = widened(y, place, wide_y, width)
            for i in range(width):
                sums[i] += from_dy[i] * from_y[i]
        else:
            for i in range(width):
                sums[i] += from_dy[i]
        if row % SPAN == SPAN - 1 or row == at.length - 1:
            for i in range(width):
                totals[i] += <double> sums[i]
                sums[i] = 0
    for i in range(width):
        factors[i] = <floating> (totals[i] if function == SOFTMAX else totals[i] / LIFT)
    for row in range(at.length):
        place = start + row * at.inner
        from_dy = widened(dy, place, wide_dy, width)
        from_y = widened(y, place, wide_y, width)
        to = place_of(dx, place, wide_dx)
        if function == SOFTMAX:
            for i in range(width):
                to[i] = from_y[i] * (from_dy[i] - factors[i])
        else:
            exponentials_of_row(from_y, <const floating *> origins, lowest, width, terms)
            for i in range(width):
                to[i] = from_dy[i] - terms[i] * factors[i]
        put_back(dx, place, <const floating *> to, width)


cdef void share_strip(
    const Lines *at, const floating *x, const floating *origins, const floating *factors, floating *out,
    Py_ssize_t width
) noexcept nogil:
    """Fill a strip of e^(x - origin) factor."""
    cdef floating from_these[WIDEST]
    cdef floating terms[WIDEST]
    cdef floating scales[WIDEST]
    cdef float lowest = hidden(LOWEST)
    cdef Py_ssize_t _row, i
    for i in range(WIDEST):
        from_these[i] = 0
    for i in range(width):
        from_these[i] = origins[i]
        scales[i] = factors[i] / LIFT
    for _row in range(at.length):
        exponentials_of_row(x, <const floating *> from_these, lowest, width, terms)
        for i in range(width):
            out[i] = terms[i] * scales[i]
        x += at.inner
        out += at.inner


cdef void share_row(
    const floating *x, floating origin, floating factor, floating *out, Py_ssize_t size
) noexcept nogil:
    """Write e^(x - origin) factor for contiguous numbers."""
    cdef float lowest = hidden(LOWEST)
    cdef floating tile[TILE]
    cdef floating rest[TILE]
    cdef floating scale = factor / LIFT
    cdef Py_ssize_t i = 0
    cdef int lane
    while i + TILE <= size:
        lift(x + i, origin, lowest, tile)
        for lane in range(TILE):
            out[i + lane] = tile[lane] * scale
        i += TILE
    if i < size:
        take_rest(x + i, size - i, <floating> -INFINITY, rest)
        lift(<const floating *> rest, origin, lowest, rest)
        for lane in range(TILE):
            rest[lane] *= scale
        put_rest(<const floating *> rest, size - i, out + i)
