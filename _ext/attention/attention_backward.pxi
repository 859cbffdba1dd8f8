# The gradient: parts of the keys of a head, each block of theirs against the blocks of queries.

cdef Py_ssize_t shared_units(const Attention *a) noexcept nogil:
    """Return how many parts of the work write to memory of their own."""
    cdef Py_ssize_t units = 1
    if a.dbias.data == NULL or a.dbias.batch:
        units *= a.batches
    if a.dbias.data == NULL or a.dbias.head:
        units *= a.groups
    return units


cdef void cut_keys(Attention *a) noexcept nogil:
    """Choose into how many parts the keys of a head are cut, so that few heads make enough work for many threads.

    The shapes alone decide, as each part's share in the gradients of the queries is added apart.
    """
    cdef Py_ssize_t heads = max(a.batches * a.groups, 1)
    a.parts = max(min(block_count(PARTS, heads), block_count(a.keys, BLOCK_KEYS)), 1)


cdef inline Py_ssize_t first_of_part(const Attention *a, Py_ssize_t part) noexcept nogil:
    """Return the first key of a part."""
    return min(block_count(a.keys, BLOCK_KEYS) * part // a.parts * BLOCK_KEYS, a.keys)


cdef inline Py_ssize_t part_of_keys(const Attention *a) noexcept nogil:
    """Return how many keys a part has at most."""
    return min(block_count(block_count(a.keys, BLOCK_KEYS), a.parts) * BLOCK_KEYS, a.keys)


cdef inline Py_ssize_t first_query(const Attention *a, Py_ssize_t b, Py_ssize_t key) noexcept nogil:
    """Return where the first block of queries begins of which one may see `key` or keys behind it."""
    cdef Py_ssize_t i = 0
    while i < a.queries and end_of_keys(a, b, min(i + BLOCK_QUERIES, a.queries) - 1) <= key:
        i += BLOCK_QUERIES
    return min(i, a.queries)


cdef inline Py_ssize_t end_of_queries(const Attention *a, Py_ssize_t i, Py_ssize_t key) noexcept nogil:
    """Return the query, from `i` on, behind the blocks of which one may see keys before `key`."""
    while i < a.queries and first_key(a, i) < key:
        i += BLOCK_QUERIES
    return min(i, a.queries)


cdef void put_nothing(
    const Attention *a, Py_ssize_t b, Py_ssize_t h, Py_ssize_t i, Py_ssize_t end, Py_ssize_t part, floating *rest
) noexcept nogil:
    """Write that a part has no share in the gradients of queries `i` to `end`."""
    memset(rest, 0, a.length * sizeof(floating))
    for i in range(i, end):
        put_dq(a, b, h, i, part, <const floating *> rest)


cdef Py_ssize_t backward_scratch(const Attention *a, const floating *x) noexcept nogil:
    """Return how many elements a thread works in."""
    cdef Py_ssize_t unit = tile_columns(x)
    cdef Py_ssize_t width = padded(a.length, unit)
    cdef Py_ssize_t keys = padded(part_of_keys(a), unit)
    cdef Py_ssize_t rows = min(a.queries, BLOCK_QUERIES)
    return (
        keys * (3 * width + 2 * a.length) + unit * a.length
        + a.queries * (3 * width + 1) + 2 * rows * score_row(x, a.keys) + 4 * unit
    )


cdef void backward_units(
    const Attention *a, Py_ssize_t units, int threads, floating *scratch, Py_ssize_t size
) noexcept nogil:
    cdef Py_ssize_t unit
    for unit in prange(units * a.parts, schedule="dynamic", chunksize=1, num_threads=threads):
        backward_unit(a, unit // a.parts, unit % a.parts, units, scratch + threadid() * size)
    if a.parts > 1:
        for unit in prange(a.batches * a.heads, schedule="static", num_threads=threads):
            add_parts(a, unit, scratch + threadid() * size)


cdef void backward_unit(
    const Attention *a, Py_ssize_t unit, Py_ssize_t part, Py_ssize_t units, floating *scratch
) noexcept nogil:
    """Write what a part of the keys of all heads that belong to a unit has in the gradients, see `shared_units`."""
    cdef Py_ssize_t i
    if units == a.batches * a.groups:
        backward_part(a, unit // a.groups, unit % a.groups, part, scratch)
    elif a.dbias.batch:
        for i in range(a.groups):
            backward_part(a, unit, i, part, scratch)
    elif a.dbias.head:
        for i in range(a.batches):
            backward_part(a, i, unit, part, scratch)
    else:
        for i in range(a.batches * a.groups):
            backward_part(a, i // a.groups, i % a.groups, part, scratch)


cdef inline floating *part_of_dq(
    const Attention *a, Py_ssize_t head, Py_ssize_t i, Py_ssize_t part, const floating *x
) noexcept nogil:
    """Return where a part's share in the gradient of a query is kept."""
    return <floating *> a.shares_of_dq + ((part * a.batches * a.heads + head) * a.queries + i) * a.length


cdef inline void put_dq(
    const Attention *a, Py_ssize_t b, Py_ssize_t h, Py_ssize_t i, Py_ssize_t part, const floating *x
) noexcept nogil:
    """Write a part's share in the gradient of a query, or all of it."""
    if a.parts == 1:
        write_row(a.dq.element, x, a.length, row_of(&a.dq, b, h, i))
    else:
        memcpy(part_of_dq(a, b * a.heads + h, i, part, x), x, a.length * sizeof(floating))


cdef void add_parts(const Attention *a, Py_ssize_t head, floating *sums) noexcept nogil:
    """Write the gradients of a head's queries from the shares of the parts."""
    cdef Py_ssize_t i, j, part
    cdef const floating *share
    for i in range(a.queries):
        memcpy(sums, part_of_dq(a, head, i, 0, <const floating *> sums), a.length * sizeof(floating))
        for part in range(1, a.parts):
            share = part_of_dq(a, head, i, part, <const floating *> sums)
            for j in range(a.length):
                sums[j] += share[j]
        write_row(a.dq.element, <const floating *> sums, a.length,
                  row_of(&a.dq, head // a.heads, head % a.heads, i))


cdef void backward_part(
    const Attention *a, Py_ssize_t b, Py_ssize_t group, Py_ssize_t part, floating *scratch
) noexcept nogil:
    """Write the gradients of a part of the keys of a head, and what it adds to those of the queries that see it."""
    cdef Py_ssize_t unit = tile_columns(scratch)
    cdef Py_ssize_t width = padded(a.length, unit)
    cdef Py_ssize_t first = first_of_part(a, part)
    cdef Py_ssize_t count = first_of_part(a, part + 1) - first
    cdef Py_ssize_t keys = padded(count, unit)
    cdef Py_ssize_t share = a.heads // a.groups
    cdef Py_ssize_t begin = first_query(a, b, first)
    cdef Py_ssize_t end = end_of_queries(a, begin, first + count)
    cdef Py_ssize_t h, i, j, of_keys, of_queries
    cdef floating *k = scratch
    cdef floating *dk = k + keys * width
    cdef floating *dv = dk + keys * width
    cdef floating *turned_k = dv + keys * width
    cdef floating *turned_v = turned_k + keys * a.length
    cdef floating *q = turned_v + keys * a.length
    cdef floating *dq = q + a.queries * width
    cdef floating *dout = dq + a.queries * width
    cdef floating *sums = dout + a.queries * width
    cdef floating *rest = sums + a.queries
    if floating is float:
        if a.tiles:
            backward_part_tiles(a, b, group, part, scratch)
            return
    read_rows(&a.k, b, group, first, count, a.length, width, <floating> 1, k)
    read_turned(&a.k, b, group, first, count, a.length, rest, turned_k)
    read_turned(&a.v, b, group, first, count, a.length, rest, turned_v)
    memset(dk, 0, keys * width * sizeof(floating))
    memset(dv, 0, keys * width * sizeof(floating))
    for h in range(group * share, (group + 1) * share):
        read_rows(&a.q, b, h, begin, end - begin, a.length, width, <floating> a.scale, q + begin * width)
        read_rows(&a.dout, b, h, begin, end - begin, a.length, width, <floating> 1, dout + begin * width)
        memset(dq + begin * width, 0, (end - begin) * width * sizeof(floating))
        for i in range(begin, end):
            read_row(a.out.element, row_of(&a.out, b, h, i), a.length, rest)
            sums[i] = <floating> sum_of_products(<const floating *> rest, dout + i * width, a.length)
        for of_keys in range(block_count(count, BLOCK_KEYS)):
            j = of_keys * BLOCK_KEYS
            for of_queries in range(begin // BLOCK_QUERIES, block_count(end, BLOCK_QUERIES)):
                i = of_queries * BLOCK_QUERIES
                backward_block(a, b, h, i, first + j, q + i * width, k + j * width, turned_k + j * a.length,
                               turned_v + j * a.length, dout + i * width, sums + i,
                               dq + i * width, dk + j * width, dv + j * width, rest)
        put_nothing(a, b, h, 0, begin, part, rest)
        put_nothing(a, b, h, end, a.queries, part, rest)
        for i in range(begin, end):
            for j in range(a.length):
                dq[i * width + j] *= <floating> a.scale
            put_dq(a, b, h, i, part, <const floating *> dq + i * width)
    for i in range(count):
        write_row(a.dk.element, dk + i * width, a.length, row_of(&a.dk, b, group, first + i))
        write_row(a.dv.element, dv + i * width, a.length, row_of(&a.dv, b, group, first + i))


cdef void backward_block(
    const Attention *a, Py_ssize_t b, Py_ssize_t h, Py_ssize_t first, Py_ssize_t key,
    const floating *q, const floating *k, const floating *turned_k, const floating *turned_v,
    const floating *dout, const floating *sums,
    floating *dq, floating *dk, floating *dv, floating *scratch
) noexcept nogil:
    """Add what a block of queries and a block of keys have to do with each other."""
    cdef Py_ssize_t unit = tile_columns(scratch)
    cdef Py_ssize_t width = padded(a.length, unit)
    cdef Py_ssize_t step = score_row(scratch, a.keys)
    cdef Py_ssize_t rows = min(BLOCK_QUERIES, a.queries - first)
    cdef Py_ssize_t count = min(BLOCK_KEYS, a.keys - key)
    cdef Py_ssize_t place = (b * a.heads + h) * a.queries + first
    cdef Py_ssize_t i
    cdef floating *weights = scratch
    cdef floating *dscores = weights + rows * step
    if end_of_keys(a, b, first + rows - 1) <= key or first_key(a, first) >= key + count:
        return
    product(rows, count, a.length, q, width, 1, turned_k, unit * a.length, unit, weights, step, False)
    product(rows, count, a.length, dout, width, 1, turned_v, unit * a.length, unit, dscores, step, False)
    for i in range(rows):
        differentiate_row(a, b, h, first + i, key, count, (<const floating *> a.maxima)[place + i],
                          (<const floating *> a.factors)[place + i], sums[i],
                          weights + i * step, dscores + i * step)
    product(count, width, rows, weights, 1, step, dout, unit, width, dv, width, True)
    product(rows, width, count, dscores, step, 1, k, unit, width, dq, width, True)
    product(count, width, rows, dscores, 1, step, q, unit, width, dk, width, True)


cdef void differentiate_row(
    const Attention *a, Py_ssize_t b, Py_ssize_t h, Py_ssize_t i, Py_ssize_t key, Py_ssize_t count,
    floating maximum, floating factor, floating total, floating *scores, floating *dscores
) noexcept nogil:
    """Make weights of a query's scores, and of their gradients those of the scores."""
    cdef floating keeps[BLOCK_KEYS]
    cdef floating weight
    cdef floating *dbias
    cdef Py_ssize_t j
    mask_row(a, b, h, i, key, count, scores)
    if drops(a):
        dropout_row(a, b, h, i, key, count, &keeps[0])
        for j in range(count):
            weight = falling_exponential(scores[j] - maximum) * factor
            scores[j] = weight * keeps[j]
            dscores[j] = weight * (dscores[j] * keeps[j] - total)
    else:
        for j in range(count):
            scores[j] = falling_exponential(scores[j] - maximum) * factor
            dscores[j] = scores[j] * (dscores[j] - total)
    if a.dbias.data != NULL:
        dbias = <floating *> row_of(&a.dbias, b, h, i) + key
        for j in range(count):
            dbias[j] += dscores[j]
