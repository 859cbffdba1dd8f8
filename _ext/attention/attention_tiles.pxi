# Attention of 16-bit types on AMX: as the other blocks, but products of tiles, whose weights are rounded to that type.
# float16 has the forward alone.

cdef enum:
    PANEL = 32
    TILE = 1024
    # Where operands of AMX and rows of float32 begin.
    LINE = 64


cdef inline Py_ssize_t in_panels(Py_ssize_t size) noexcept nogil:
    return padded(size, PANEL)


cdef inline uint8_t *taken(uint8_t **place, Py_ssize_t bytes) noexcept nogil:
    """Return the next so many bytes of scratch memory."""
    cdef uint8_t *found = place[0]
    place[0] = found + padded(bytes, LINE)
    return found


cdef inline uint8_t *aligned(float *scratch) noexcept nogil:
    return <uint8_t *> ((<size_t> scratch + LINE - 1) // LINE * LINE)


cdef Py_ssize_t forward_tiles_scratch(const Attention *a) noexcept nogil:
    """Return how many float32 a thread of the forward works in."""
    cdef Py_ssize_t width = in_panels(a.length)
    cdef Py_ssize_t numbers = BLOCK_QUERIES * (width + in_panels(min(a.keys, BLOCK_KEYS)) + GAP + 1)
    cdef Py_ssize_t narrow = (
        2 * in_panels(a.keys) * width + BLOCK_QUERIES * (width + in_panels(min(a.keys, BLOCK_KEYS)))
    )
    return numbers + narrow // 2 + 16 * LINE


cdef void forward_share_tiles(
    const Attention *a, Py_ssize_t head, Py_ssize_t share, Py_ssize_t shares, float *scratch
) noexcept nogil:
    """Work through a share of the blocks of queries of a head (of a batch)."""
    cdef Py_ssize_t width = in_panels(a.length)
    cdef Py_ssize_t b = head // a.heads
    cdef Py_ssize_t h = head % a.heads
    cdef Py_ssize_t group = h // (a.heads // a.groups)
    cdef Py_ssize_t blocks = block_count(a.queries, BLOCK_QUERIES)
    cdef Py_ssize_t block, keys = 0
    cdef uint8_t *place = aligned(scratch)
    cdef uint8_t *values = taken(&place, 2 * in_panels(a.keys) * width)
    cdef uint8_t *turned = taken(&place, 2 * in_panels(a.keys) * width)
    cdef TileConfig before
    for block in range(blocks * share // shares, blocks * (share + 1) // shares):
        keys = max(keys, end_of_keys(a, b, min((block + 1) * BLOCK_QUERIES, a.queries) - 1))
    amx_pack_pairs(row_of(&a.v, b, group, 0), a.v.row, keys, a.length, values)
    amx_pack_turned(row_of(&a.k, b, group, 0), a.k.row, keys, a.length, turned)
    amx_begin(&before)
    for block in range(blocks * share // shares, blocks * (share + 1) // shares):
        forward_block_tiles(a, b, h, block * BLOCK_QUERIES, values, turned, place)
    amx_end(&before)


cdef void forward_block_tiles(
    const Attention *a, Py_ssize_t b, Py_ssize_t h, Py_ssize_t first,
    const uint8_t *values, const uint8_t *turned, uint8_t *place
) noexcept nogil:
    """Write the outputs of a block of queries."""
    cdef Py_ssize_t width = in_panels(a.length)
    cdef Py_ssize_t most = in_panels(min(a.keys, BLOCK_KEYS))
    cdef Py_ssize_t step = most + GAP
    cdef Py_ssize_t rows = min(BLOCK_QUERIES, a.queries - first)
    cdef Py_ssize_t panels = block_count(rows, PANEL)
    cdef Py_ssize_t end = end_of_keys(a, b, first + rows - 1)
    cdef Py_ssize_t index, key, count, i, j
    cdef float *outputs = <float *> taken(&place, 4 * BLOCK_QUERIES * width)
    cdef float *scores = <float *> taken(&place, 4 * BLOCK_QUERIES * step)
    cdef float *sums = <float *> taken(&place, 4 * BLOCK_QUERIES)
    cdef uint8_t *queries = taken(&place, 2 * BLOCK_QUERIES * width)
    cdef uint8_t *weights = taken(&place, 2 * BLOCK_QUERIES * most)
    cdef float *maxima = <float *> a.maxima + (b * a.heads + h) * a.queries + first
    cdef float *factors = <float *> a.factors + (b * a.heads + h) * a.queries + first
    amx_pack_rows(row_of(&a.q, b, h, first), a.q.row, rows, a.length, queries)
    memset(outputs, 0, 4 * BLOCK_QUERIES * width)
    for i in range(rows):
        maxima[i] = <float> -INFINITY
        sums[i] = 0
    for index in range(first_key(a, first) // BLOCK_KEYS, block_count(end, BLOCK_KEYS)):
        key = index * BLOCK_KEYS
        count = min(BLOCK_KEYS, end - key)
        amx_product_16(panels, block_count(count, PANEL), width // PANEL, queries, 2 * width,
                       turned + 2 * key * width, width // PANEL * TILE, TILE, scores, step, False, a.half)
        for i in range(rows):
            for j in range(count):
                scores[i * step + j] *= <float> a.scale
            weigh_row(a, b, h, first + i, key, count, scores + i * step, maxima + i, sums + i,
                      outputs + i * width, width)
        amx_round_rows(scores, step, rows, count, weights, most // PANEL, a.half)
        amx_product_16(panels, width // PANEL, block_count(count, PANEL), weights, 2 * most,
                       values + 2 * key * width, TILE, width // 16 * TILE, outputs, width, True, a.half)
    for i in range(rows):
        finish_row(a, maxima + i, factors + i, sums[i], outputs + i * width)
        write_row(a.out.element, <const float *> outputs + i * width, a.length, row_of(&a.out, b, h, first + i))


cdef Py_ssize_t backward_tiles_scratch(const Attention *a) noexcept nogil:
    """Return how many float32 a thread of the gradient works in."""
    cdef Py_ssize_t width = in_panels(a.length)
    cdef Py_ssize_t keys = in_panels(part_of_keys(a))
    cdef Py_ssize_t queries = padded(a.queries, BLOCK_QUERIES)
    cdef Py_ssize_t block = BLOCK_QUERIES * in_panels(min(a.keys, BLOCK_KEYS))
    cdef Py_ssize_t numbers = 2 * width * (keys + GAP) + queries * (width + 1) + 2 * (block + BLOCK_QUERIES * GAP)
    return numbers + (3 * keys * width + 4 * queries * width + 3 * block) // 2 + (16 + 2) * width + 16 * LINE


cdef void backward_part_tiles(
    const Attention *a, Py_ssize_t b, Py_ssize_t group, Py_ssize_t part, float *scratch
) noexcept nogil:
    """Write the gradients of a part of the keys of a head, and what it adds to those of the queries that see it."""
    cdef Py_ssize_t width = in_panels(a.length)
    cdef Py_ssize_t share = a.heads // a.groups
    cdef Py_ssize_t first = first_of_part(a, part)
    cdef Py_ssize_t count = first_of_part(a, part + 1) - first
    cdef Py_ssize_t keys = in_panels(count)
    cdef Py_ssize_t step = in_panels(part_of_keys(a)) + GAP
    cdef Py_ssize_t queries = padded(a.queries, BLOCK_QUERIES)
    cdef Py_ssize_t begin = first_query(a, b, first)
    cdef Py_ssize_t end = end_of_queries(a, begin, first + count)
    cdef Py_ssize_t h, i, j, of_keys, of_queries
    cdef uint8_t *place = aligned(scratch)
    cdef uint8_t *k = taken(&place, 2 * keys * width)
    cdef uint8_t *turned_k = taken(&place, 2 * keys * width)
    cdef uint8_t *turned_v = taken(&place, 2 * keys * width)
    # Turned, so that the weights of a row of queries are a row of the product's second factor.
    cdef float *dk = <float *> taken(&place, 4 * step * width)
    cdef float *dv = <float *> taken(&place, 4 * step * width)
    cdef uint8_t *q = taken(&place, 2 * queries * width)
    cdef uint8_t *dout = taken(&place, 2 * queries * width)
    cdef uint8_t *columns_of_q = taken(&place, 2 * queries * width)
    cdef uint8_t *columns_of_dout = taken(&place, 2 * queries * width)
    cdef float *dq = <float *> taken(&place, 4 * queries * width)
    cdef float *sums = <float *> taken(&place, 4 * queries)
    cdef float *rest = <float *> taken(&place, 4 * 18 * width)
    cdef TileConfig before
    amx_pack_pairs(row_of(&a.k, b, group, first), a.k.row, count, a.length, k)
    amx_pack_turned(row_of(&a.k, b, group, first), a.k.row, count, a.length, turned_k)
    amx_pack_turned(row_of(&a.v, b, group, first), a.v.row, count, a.length, turned_v)
    memset(dk, 0, 4 * step * width)
    memset(dv, 0, 4 * step * width)
    amx_begin(&before)
    for h in range(group * share, (group + 1) * share):
        amx_pack_rows(row_of(&a.q, b, h, begin), a.q.row, end - begin, a.length, q + 2 * begin * width)
        amx_pack_rows(row_of(&a.dout, b, h, begin), a.dout.row, end - begin, a.length, dout + 2 * begin * width)
        amx_pack_columns(row_of(&a.q, b, h, begin), a.q.row, end - begin, a.length,
                         columns_of_q + 2 * begin, 2 * queries)
        amx_pack_columns(row_of(&a.dout, b, h, begin), a.dout.row, end - begin, a.length,
                         columns_of_dout + 2 * begin, 2 * queries)
        memset(dq + begin * width, 0, 4 * (end - begin) * width)
        for i in range(begin, end):
            read_row(a.out.element, row_of(&a.out, b, h, i), a.length, rest)
            read_row(a.dout.element, row_of(&a.dout, b, h, i), a.length, rest + width)
            sums[i] = <float> sum_of_products(<const float *> rest, <const float *> rest + width, a.length)
        for of_keys in range(block_count(count, BLOCK_KEYS)):
            j = of_keys * BLOCK_KEYS
            for of_queries in range(begin // BLOCK_QUERIES, block_count(end, BLOCK_QUERIES)):
                i = of_queries * BLOCK_QUERIES
                backward_block_tiles(
                    a, b, h, i, first + j, q + 2 * i * width, k + 2 * j * width, turned_k + 2 * j * width,
                    turned_v + 2 * j * width, dout + 2 * i * width, columns_of_q + 2 * i, columns_of_dout + 2 * i,
                    2 * queries, sums + i, dq + i * width, dk + j, dv + j, step, place)
        put_nothing(a, b, h, 0, begin, part, rest)
        put_nothing(a, b, h, end, a.queries, part, rest)
        for i in range(begin, end):
            for j in range(a.length):
                dq[i * width + j] *= <float> a.scale
            put_dq(a, b, h, i, part, <const float *> dq + i * width)
    amx_end(&before)
    for i in range(0, count, 16):
        amx_turn_columns(dk + i, step, width, <float> a.scale, rest)
        for j in range(min(16, count - i)):
            write_row(a.dk.element, <const float *> rest + j * width, a.length, row_of(&a.dk, b, group, first + i + j))
        amx_turn_columns(dv + i, step, width, 1, rest)
        for j in range(min(16, count - i)):
            write_row(a.dv.element, <const float *> rest + j * width, a.length, row_of(&a.dv, b, group, first + i + j))


cdef void backward_block_tiles(
    const Attention *a, Py_ssize_t b, Py_ssize_t h, Py_ssize_t first, Py_ssize_t key,
    const uint8_t *q, const uint8_t *k, const uint8_t *turned_k, const uint8_t *turned_v, const uint8_t *dout,
    const uint8_t *columns_of_q, const uint8_t *columns_of_dout, Py_ssize_t column_step,
    const float *sums, float *dq, float *dk, float *dv, Py_ssize_t step_of_keys, uint8_t *place
) noexcept nogil:
    """Add what a block of queries and a block of keys have to do with each other."""
    cdef Py_ssize_t width = in_panels(a.length)
    cdef Py_ssize_t most = in_panels(min(a.keys, BLOCK_KEYS))
    cdef Py_ssize_t step = most + GAP
    cdef Py_ssize_t rows = min(BLOCK_QUERIES, a.queries - first)
    cdef Py_ssize_t count = min(BLOCK_KEYS, a.keys - key)
    cdef Py_ssize_t down = block_count(rows, PANEL)
    cdef Py_ssize_t across = block_count(count, PANEL)
    cdef Py_ssize_t inner = width // PANEL
    cdef Py_ssize_t row = (b * a.heads + h) * a.queries + first
    cdef Py_ssize_t i, j
    cdef float *weights = <float *> taken(&place, 4 * BLOCK_QUERIES * step)
    cdef float *dscores = <float *> taken(&place, 4 * BLOCK_QUERIES * step)
    cdef uint8_t *narrow = taken(&place, 2 * BLOCK_QUERIES * most)
    if end_of_keys(a, b, first + rows - 1) <= key or first_key(a, first) >= key + count:
        return
    amx_product_16(down, across, inner, q, 2 * width, turned_k, inner * TILE, TILE, weights, step, False, False)
    amx_product_16(down, across, inner, dout, 2 * width, turned_v, inner * TILE, TILE, dscores, step, False, False)
    for i in range(rows):
        for j in range(count):
            weights[i * step + j] *= <float> a.scale
        differentiate_row(a, b, h, first + i, key, count, (<const float *> a.maxima)[row + i],
                          (<const float *> a.factors)[row + i], sums[i], weights + i * step, dscores + i * step)
    amx_round_pairs(weights, step, rows, count, narrow)
    amx_product_16(inner, across, down, columns_of_dout, column_step, narrow, TILE, 2 * across * TILE,
                   dv, step_of_keys, True, False)
    amx_round_pairs(dscores, step, rows, count, narrow)
    amx_product_16(inner, across, down, columns_of_q, column_step, narrow, TILE, 2 * across * TILE,
                   dk, step_of_keys, True, False)
    amx_round_rows(dscores, step, rows, count, narrow, most // PANEL, False)
    amx_product_16(down, inner, across, narrow, 2 * most, k, TILE, 2 * inner * TILE, dq, width, True, False)
