# The forward: blocks of queries, each against all blocks of keys.

cdef inline Py_ssize_t score_row(const floating *x, Py_ssize_t keys) noexcept nogil:
    """Return how far apart the rows of a block of scores lie."""
    return padded(min(keys, BLOCK_KEYS), tile_columns(x)) + GAP


cdef Py_ssize_t forward_scratch(const Attention *a, const floating *x) noexcept nogil:
    """Return how many elements a thread works in."""
    cdef Py_ssize_t unit = tile_columns(x)
    cdef Py_ssize_t width = padded(a.length, unit)
    cdef Py_ssize_t keys = padded(a.keys, unit)
    cdef Py_ssize_t rows = min(a.queries, BLOCK_QUERIES)
    return keys * (a.length + width) + unit * a.length + rows * (2 * width + score_row(x, a.keys) + 2) + 4 * unit


cdef void forward_units(
    const Attention *a, Py_ssize_t units, Py_ssize_t shares, int threads, floating *scratch, Py_ssize_t size
) noexcept nogil:
    cdef Py_ssize_t unit
    for unit in prange(units, schedule="dynamic", chunksize=1, num_threads=threads):
        if a.tiles:
            forward_share_tiles(a, unit // shares, unit % shares, shares, <float *> scratch + threadid() * size)
        else:
            forward_share(a, unit // shares, unit % shares, shares, scratch + threadid() * size)


cdef void forward_share(
    const Attention *a, Py_ssize_t head, Py_ssize_t share, Py_ssize_t shares, floating *scratch
) noexcept nogil:
    """Work through a share of the blocks of queries of a head (of a batch)."""
    cdef Py_ssize_t unit = tile_columns(scratch)
    cdef Py_ssize_t width = padded(a.length, unit)
    cdef Py_ssize_t b = head // a.heads
    cdef Py_ssize_t h = head % a.heads
    cdef Py_ssize_t group = h // (a.heads // a.groups)
    cdef Py_ssize_t blocks = block_count(a.queries, BLOCK_QUERIES)
    cdef Py_ssize_t block, keys = 0
    cdef floating *values = scratch
    cdef floating *turned = values + padded(a.keys, unit) * width
    cdef floating *rest = turned + padded(a.keys, unit) * a.length
    for block in range(blocks * share // shares, blocks * (share + 1) // shares):
        keys = max(keys, end_of_keys(a, b, min((block + 1) * BLOCK_QUERIES, a.queries) - 1))
    read_rows(&a.v, b, group, 0, keys, a.length, width, <floating> 1, values)
    read_turned(&a.k, b, group, 0, keys, a.length, rest, turned)
    for block in range(blocks * share // shares, blocks * (share + 1) // shares):
        forward_block(a, b, h, block * BLOCK_QUERIES, values, turned, rest)


cdef void forward_block(
    const Attention *a, Py_ssize_t b, Py_ssize_t h, Py_ssize_t first,
    const floating *values, const floating *turned, floating *scratch
) noexcept nogil:
    """Write the outputs of a block of queries."""
    cdef Py_ssize_t unit = tile_columns(scratch)
    cdef Py_ssize_t width = padded(a.length, unit)
    cdef Py_ssize_t step = score_row(scratch, a.keys)
    cdef Py_ssize_t rows = min(BLOCK_QUERIES, a.queries - first)
    cdef Py_ssize_t place = (b * a.heads + h) * a.queries + first
    cdef Py_ssize_t end = end_of_keys(a, b, first + rows - 1)
    cdef Py_ssize_t index, key, count, i
    cdef floating *queries = scratch
    cdef floating *outputs = queries + rows * width
    cdef floating *scores = outputs + rows * width
    cdef floating *sums = scores + rows * step
    cdef floating *maxima = <floating *> a.maxima + place
    cdef floating *factors = <floating *> a.factors + place
    read_rows(&a.q, b, h, first, rows, a.length, width, <floating> a.scale, queries)
    memset(outputs, 0, rows * width * sizeof(floating))
    for i in range(rows):
        maxima[i] = <floating> -INFINITY
        sums[i] = 0
    for index in range(first_key(a, first) // BLOCK_KEYS, block_count(end, BLOCK_KEYS)):
        key = index * BLOCK_KEYS
        count = min(BLOCK_KEYS, end - key)
        product(rows, count, a.length, queries, width, 1, turned + key * a.length, unit * a.length, unit,
                scores, step, False)
        for i in range(rows):
            weigh_row(a, b, h, first + i, key, count, scores + i * step, maxima + i, sums + i,
                      outputs + i * width, width)
        product(rows, width, count, scores, step, 1, values + key * width, unit, width, outputs, width, True)
    for i in range(rows):
        finish_row(a, maxima + i, factors + i, sums[i], outputs + i * width)
        write_row(a.out.element, outputs + i * width, a.length, row_of(&a.out, b, h, first + i))


cdef inline void finish_row(
    const Attention *a, floating *maximum, floating *factor, floating total, floating *output
) noexcept nogil:
    """Divide a query's output by the sum of its weights."""
    cdef Py_ssize_t j
    if maximum[0] == <floating> -INFINITY:
        maximum[0], factor[0] = 0, <floating> a.empty
    else:
        factor[0] = 1 / total
    for j in range(a.length):
        output[j] *= factor[0]


cdef void weigh_row(
    const Attention *a, Py_ssize_t b, Py_ssize_t h, Py_ssize_t i, Py_ssize_t key, Py_ssize_t count,
    floating *scores, floating *maximum, floating *total, floating *output, Py_ssize_t width
) noexcept nogil:
    """Make weights of a query's scores, relative to the largest so far, and scale what came before."""
    cdef floating keeps[BLOCK_KEYS]
    cdef floating largest, factor
    cdef Py_ssize_t j
    mask_row(a, b, h, i, key, count, scores)
    largest = maximum_of(scores, count)
    if largest <= maximum[0]:
        largest = maximum[0]
    elif maximum[0] != <floating> -INFINITY:
        factor = falling_exponential(maximum[0] - largest)
        total[0] *= factor
        for j in range(width):
            output[j] *= factor
    maximum[0] = largest
    if largest == <floating> -INFINITY:
        memset(scores, 0, count * sizeof(floating))
        return
    for j in range(count):
        scores[j] = falling_exponential(scores[j] - largest)
    total[0] += <floating> sum_of(scores, count)
    if drops(a):
        dropout_row(a, b, h, i, key, count, &keeps[0])
        for j in range(count):
            scores[j] *= keeps[j]
