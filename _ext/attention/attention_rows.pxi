# Rows of an attention: reading and writing them in any layout, and what befalls the scores of a row.

cdef enum Element:
    FLOAT32, FLOAT64, FLOAT16, BFLOAT16, BYTES


# An array (batch, head, row, column) whose columns are neighbours in memory; steps in bytes, 0 where it repeats.
ctypedef struct View:
    char *data
    Element element
    Py_ssize_t batch, head, row


# A call: its arrays, of which those without data are not there, and its numbers.
ctypedef struct Attention:
    View q, k, v, out, bias, hidden, kept, dout, dq, dk, dv, dbias
    void *maxima
    void *factors
    const int64_t *prefix
    Py_ssize_t batches, heads, groups, queries, keys, length
    Py_ssize_t low, high
    # The gradient: into how many parts the keys of a head are cut, and their shares in that of the queries.
    Py_ssize_t parts
    void *shares_of_dq
    # Whether the products are those of AMX's tiles.
    bint tiles
    bint half  # They are float16.
    double scale, keep_scale, empty
    bint draws
    uint32_t last_kept
    uint64_t seed, offset


cdef inline char *row_of(const View *view, Py_ssize_t b, Py_ssize_t h, Py_ssize_t i) noexcept nogil:
    return view.data + b * view.batch + h * view.head + i * view.row


cdef inline void read_row(
    Element element, const char *row, Py_ssize_t size, floating *out
) noexcept nogil:
    """Write a row's elements in the working type."""
    cdef Py_ssize_t i
    if floating is double:
        for i in range(size):
            out[i] = (<const double *> row)[i]
    elif element == FLOAT32:
        for i in range(size):
            out[i] = (<const float *> row)[i]
    elif element == FLOAT16:
        widen_float16(<const uint16_t *> row, out, size)
    else:
        widen_bfloat16(<const uint16_t *> row, out, size)


cdef inline void write_row(
    Element element, const floating *x, Py_ssize_t size, char *row
) noexcept nogil:
    """Write a row of an array from the working type."""
    cdef Py_ssize_t i
    if floating is double:
        for i in range(size):
            (<double *> row)[i] = x[i]
    elif element == FLOAT32:
        for i in range(size):
            (<float *> row)[i] = x[i]
    elif element == FLOAT16:
        narrow_float16(x, <uint16_t *> row, size)
    else:
        narrow_bfloat16(x, <uint16_t *> row, size)


cdef void read_rows(
    const View *view, Py_ssize_t b, Py_ssize_t h, Py_ssize_t first, Py_ssize_t count,
    Py_ssize_t length, Py_ssize_t width, floating scale, floating *out
) noexcept nogil:
    """Write rows times `scale` as rows of `width` elements, zeros behind the first `length`."""
    cdef Py_ssize_t i, j
    cdef floating *row
    for i in range(count):
        row = out + i * width
        read_row(view.element, row_of(view, b, h, first + i), length, row)
        if scale != 1:
            for j in range(length):
                row[j] *= scale
        for j in range(length, width):
            row[j] = 0


cdef void read_turned(
    const View *view, Py_ssize_t b, Py_ssize_t h, Py_ssize_t begin, Py_ssize_t count, Py_ssize_t length,
    floating *rows, floating *out
) noexcept nogil:
    """Write a head's rows from `begin` on as columns of panels (length, tile columns), with zeros behind the last.

    `rows` has room for as many rows as a panel has columns.
    """
    cdef Py_ssize_t unit = tile_columns(rows)
    cdef Py_ssize_t index, first, i, j, size
    cdef floating *panel
    for index in range(block_count(count, unit)):
        first = index * unit
        size = min(unit, count - first)
        read_rows(view, b, h, begin + first, size, length, length, <floating> 1, rows)
        memset(rows + size * length, 0, (unit - size) * length * sizeof(floating))
        panel = out + first * length
        for i in range(length):
            for j in range(unit):
                panel[i * unit + j] = rows[j * length + i]


cdef inline Py_ssize_t first_key(const Attention *a, Py_ssize_t i) noexcept nogil:
    """Return the first key that query `i` may see."""
    return min(max(i + a.low, 0), a.keys)


cdef inline Py_ssize_t end_of_keys(const Attention *a, Py_ssize_t b, Py_ssize_t i) noexcept nogil:
    """Return the key behind the last that query `i` may see."""
    cdef Py_ssize_t end = i + a.high + 1
    if a.prefix != NULL and a.prefix[b] > end:
        end = a.prefix[b]
    return max(min(end, a.keys), first_key(a, i))


cdef void mask_row(
    const Attention *a, Py_ssize_t b, Py_ssize_t h, Py_ssize_t i, Py_ssize_t first,
    Py_ssize_t size, floating *scores
) noexcept nogil:
    """Add the bias to a query's scores of keys `first` on, and make those of hidden keys -inf."""
    cdef floating bias[BLOCK_KEYS]
    cdef Py_ssize_t j
    cdef Py_ssize_t begin = first_key(a, i) - first
    cdef Py_ssize_t end = end_of_keys(a, b, i) - first
    cdef const uint8_t *hidden
    if a.bias.data != NULL:
        read_row(a.bias.element, row_of(&a.bias, b, h, i) + first * bytes_of(a.bias.element), size, &bias[0])
        for j in range(size):
            scores[j] += bias[j]
    if a.hidden.data != NULL:
        hidden = <const uint8_t *> row_of(&a.hidden, b, h, i) + first
        for j in range(size):
            scores[j] = <floating> -INFINITY if hidden[j] else scores[j]
    for j in range(min(begin, size)):
        scores[j] = <floating> -INFINITY
    for j in range(max(end, 0), size):
        scores[j] = <floating> -INFINITY


cdef inline Py_ssize_t bytes_of(Element element) noexcept nogil:
    return 4 if element == FLOAT32 else 8 if element == FLOAT64 else 2


cdef inline bint drops(const Attention *a) noexcept nogil:
    return a.draws or a.kept.data != NULL


cdef void dropout_row(
    const Attention *a, Py_ssize_t b, Py_ssize_t h, Py_ssize_t i, Py_ssize_t first,
    Py_ssize_t size, floating *factors
) noexcept nogil:
    """Write what the weights of a query are multiplied by: 0, or what makes up for the dropped."""
    cdef uint32_t words[BLOCK_KEYS]
    cdef floating scale = <floating> a.keep_scale
    cdef const uint8_t *kept
    cdef uint64_t row, counters
    cdef Py_ssize_t j, wanted
    if a.draws:
        counters = <uint64_t> padded(a.keys, BLOCK_KEYS) // WORDS
        row = <uint64_t> ((b * a.heads + h) * a.queries + i)
        wanted = padded(block_count(size, WORDS), AT_ONCE)
        philox(row * counters + <uint64_t> first // WORDS, a.offset, a.seed, <int> wanted, words)
        for j in range(size):
            factors[j] = scale if words[j] <= a.last_kept else 0
    else:
        kept = <const uint8_t *> row_of(&a.kept, b, h, i) + first // 8
        for j in range(size):
            factors[j] = scale if kept[j // 8] >> (j % 8) & 1 else 0
