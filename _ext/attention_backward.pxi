# The gradient: heads of keys, each block of theirs against the blocks of queries.

cdef Py_ssize_t shared_units(const Attention *a) noexcept nogil:
    """Return how many parts of the work write to memory of their own."""
    cdef Py_ssize_t units = 1
    if a.dbias.data == NULL or a.dbias.batch:
        units *= a.batches
    if a.dbias.data == NULL or a.dbias.head:
        units *= a.groups
    return units


cdef Py_ssize_t backward_scratch(const Attention *a, const floating *x) noexcept nogil:
    """Return how many elements a thread works in."""
    cdef Py_ssize_t unit = tile_columns(x)
    cdef Py_ssize_t width = padded(a.length, unit)
    cdef Py_ssize_t keys = padded(a.keys, unit)
    cdef Py_ssize_t rows = min(a.queries, BLOCK_QUERIES)
    return (
        keys * (3 * width + 2 * a.length) + unit * a.length
        + a.queries * (3 * width + 1) + 2 * rows * score_row(x, a.keys) + 4 * unit
    )


cdef void backward_units(
    const Attention *a, Py_ssize_t units, int threads, floating *scratch, Py_ssize_t size
) noexcept nogil:
    cdef Py_ssize_t unit
    for unit in prange(units, schedule="dynamic", chunksize=1, num_threads=threads):
        backward_unit(a, unit, units, scratch + threadid() * size)


cdef void backward_unit(
    const Attention *a, Py_ssize_t unit, Py_ssize_t units, floating *scratch
) noexcept nogil:
    """Write the gradients of the heads of keys that belong to a unit, see `shared_units`."""
    cdef Py_ssize_t i
    if units == a.batches * a.groups:
        backward_group(a, unit // a.groups, unit % a.groups, scratch)
    elif a.dbias.batch:
        for i in range(a.groups):
            backward_group(a, unit, i, scratch)
    elif a.dbias.head:
        for i in range(a.batches):
            backward_group(a, i, unit, scratch)
    else:
        for i in range(a.batches * a.groups):
            backward_group(a, i // a.groups, i % a.groups, scratch)


cdef void backward_group(
    const Attention *a, Py_ssize_t b, Py_ssize_t group, floating *scratch
) noexcept nogil:
    """Write the gradients of a head of keys and values, and of the queries that see it."""
    cdef Py_ssize_t unit = tile_columns(scratch)
    cdef Py_ssize_t width = padded(a.length, unit)
    cdef Py_ssize_t keys = padded(a.keys, unit)
    cdef Py_ssize_t share = a.heads // a.groups
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
    read_rows(&a.k, b, group, 0, a.keys, a.length, width, <floating> 1, k)
    read_turned(&a.k, b, group, a.keys, a.length, rest, turned_k)
    read_turned(&a.v, b, group, a.keys, a.length, rest, turned_v)
    memset(dk, 0, keys * width * sizeof(floating))
    memset(dv, 0, keys * width * sizeof(floating))
    for h in range(group * share, (group + 1) * share):
        read_rows(&a.q, b, h, 0, a.queries, a.length, width, <floating> a.scale, q)
        read_rows(&a.dout, b, h, 0, a.queries, a.length, width, <floating> 1, dout)
        memset(dq, 0, a.queries * width * sizeof(floating))
        for i in range(a.queries):
            read_row(a.out.element, row_of(&a.out, b, h, i), a.length, rest)
            sums[i] = <floating> sum_of_products(<const floating *> rest, dout + i * width, a.length)
        for of_keys in range(block_count(a.keys, BLOCK_KEYS)):
            j = of_keys * BLOCK_KEYS
            for of_queries in range(block_count(a.queries, BLOCK_QUERIES)):
                i = of_queries * BLOCK_QUERIES
                backward_block(a, b, h, i, j, q + i * width, k + j * width, turned_k + j * a.length,
                               turned_v + j * a.length, dout + i * width, sums + i,
                               dq + i * width, dk + j * width, dv + j * width, rest)
        for i in range(a.queries):
            for j in range(a.length):
                dq[i * width + j] *= <floating> a.scale
            write_row(a.dq.element, dq + i * width, a.length, row_of(&a.dq, b, h, i))
    for i in range(a.keys):
        write_row(a.dk.element, dk + i * width, a.length, row_of(&a.dk, b, group, i))
        write_row(a.dv.element, dv + i * width, a.length, row_of(&a.dv, b, group, i))


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
