# What a kernel of batch_norm.pyx reads and writes, the memory it works in, and its vectors per channel.

cdef struct Arrays:
    # A matrix without data where there is no such array.
    Channels at
    Matrix x
    Matrix addend
    Matrix y
    Matrix dy
    Matrix out
    Matrix daddend
    const void *gamma
    const void *beta
    void *mean
    void *rstd
    void *dgamma
    void *dbeta
    bint relu
    double eps
    double least  # The largest result that is stored as 0.
    double *table  # (2, sample blocks, C): two sums of each block
    double *totals  # (2, C): the same of all blocks
    void *vectors  # (sample blocks or 3, C), in the type of the statistics
    double *sums  # per thread (channels of a block) Sums
    void *scratch
    Py_ssize_t room


cdef enum:
    # Numbers that are worked on at a time, about: as float32 in scratch memory, three arrays fit the L1 cache.
    CHUNK = 2048
    # Numbers that sums take of a segment at a time.
    STEP = 64
    # Short segments, of so many numbers at most together, are gone through as so many at once.
    SHORT = 1024
    AT_ONCE = 4
    # Numbers of a channel whose average is the first guess of its mean.
    FIRST_NUMBERS = 16
    # Pieces of scratch memory that a thread has, each with room for a chunk of float16 or for a vector.
    PIECES = 5


cdef inline bint is_parallel(const Channels *at) noexcept nogil:
    return numbers_per_channel(at) * at.channels >= PARALLEL_FROM


cdef inline floating *scratch_piece(const Arrays *of, int piece, const floating *_kind) noexcept nogil:
    """Return a piece of this thread's scratch memory."""
    return <floating *> of.scratch + (PIECES * threadid() + piece) * of.room


cdef inline const storage *stored(
    const Arrays *of, Matrix x, Py_ssize_t start, Py_ssize_t size, int piece, const storage *_kind
) noexcept nogil:
    """Return numbers in a type that loops read: where they lie, or float16 widened into scratch memory."""
    if storage is uint16_t:
        return <const storage *> x.data + start
    else:
        return <const storage *> widened(x, start, scratch_piece(of, piece, _kind), size)


cdef inline storage *place_to_store(
    const Arrays *of, Matrix x, Py_ssize_t start, int piece, const storage *_kind
) noexcept nogil:
    """Return where loops write numbers: where they belong, or scratch memory, for `store_back`."""
    if storage is uint16_t:
        return <storage *> x.data + start
    else:
        return <storage *> place_of(x, start, scratch_piece(of, piece, _kind))


cdef inline void store_back(
    Matrix x, Py_ssize_t start, const storage *numbers, Py_ssize_t size
) noexcept nogil:
    """Narrow numbers that `place_to_store` had put into scratch memory."""
    if storage is not uint16_t:
        put_back(x, start, numbers, size)


cdef inline void merge_statistics(const Arrays *of, Py_ssize_t first, Py_ssize_t count) noexcept nogil:
    """Put means and sums of squares around them into the totals of some channels, from those of the blocks."""
    cdef const Channels *at = &of.at
    cdef const double *means = of.table
    cdef const double *squares = of.table + at.sample_blocks * at.channels
    cdef double *total_mean = of.totals
    cdef double *total_squares = of.totals + at.channels
    cdef double total = <double> numbers_per_channel(at)
    cdef double numbers, apart
    cdef Py_ssize_t row, c
    for c in range(first, first + count):
        total_mean[c] = 0
        total_squares[c] = 0
    for row in range(at.sample_blocks):
        numbers = <double> block_length(row, at.samples, at.block_samples) * at.spatial
        for c in range(first, first + count):
            total_mean[c] += numbers * means[row * at.channels + c]
    for c in range(first, first + count):
        total_mean[c] = total_mean[c] / total
    for row in range(at.sample_blocks):
        numbers = <double> block_length(row, at.samples, at.block_samples) * at.spatial
        for c in range(first, first + count):
            apart = means[row * at.channels + c] - total_mean[c]
            total_squares[c] += squares[row * at.channels + c] + numbers * apart * apart


cdef inline void merge_sums(const Arrays *of, Py_ssize_t first, Py_ssize_t count) noexcept nogil:
    """Put the two sums of some channels into the totals, from those of the blocks."""
    cdef const Channels *at = &of.at
    cdef const double *second = of.table + at.sample_blocks * at.channels
    cdef Py_ssize_t row, c
    for c in range(first, first + count):
        of.totals[c] = 0
        of.totals[at.channels + c] = 0
    for row in range(at.sample_blocks):
        for c in range(first, first + count):
            of.totals[c] += of.table[row * at.channels + c]
            of.totals[at.channels + c] += second[row * at.channels + c]


cdef inline void put_statistics(
    const Arrays *of, Py_ssize_t first, Py_ssize_t count, floating *mean, floating *rstd
) noexcept nogil:
    """Write the mean and 1 / sqrt(variance + eps) of some channels, from the blocks' figures."""
    cdef const Channels *at = &of.at
    cdef double total = <double> numbers_per_channel(at)
    cdef Py_ssize_t c
    merge_statistics(of, first, count)
    for c in range(first, first + count):
        mean[c] = <floating> of.totals[c]
        rstd[c] = <floating> (1 / sqrt(max(of.totals[at.channels + c], 0.0) / total + of.eps))


cdef inline void put_gradients(
    const Arrays *of, Py_ssize_t first, Py_ssize_t count, const floating *rstd, floating *scale,
    floating *dgamma, floating *dbeta
) noexcept nogil:
    """Write dgamma and dbeta of some channels, and slope and shift behind `scale`, from the blocks' sums."""
    cdef const Channels *at = &of.at
    cdef double total = <double> numbers_per_channel(at)
    cdef double weight, product
    cdef Py_ssize_t c
    merge_sums(of, first, count)
    for c in range(first, first + count):
        weight = of.totals[c]
        product = of.totals[at.channels + c]
        dgamma[c] = <floating> (product * rstd[c])
        dbeta[c] = <floating> weight
        scale[at.channels + c] = <floating> (scale[c] * product * rstd[c] * rstd[c] / total)
        scale[2 * at.channels + c] = <floating> (scale[c] * weight / total)


cdef inline void mask(
    const Arrays *of, Py_ssize_t start, Py_ssize_t size, const passed *_after
) noexcept nogil:
    """Write what ReLU of a sum lets through of some numbers of dy."""
    cdef const uint16_t *dy = <const uint16_t *> of.dy.data + start
    cdef const uint16_t *y = <const uint16_t *> of.y.data + start
    cdef uint16_t *out = <uint16_t *> of.daddend.data + start
    if is_narrow(of.dy):
        mask_by_result(dy, y, out, size, <int16_t> (0xFF80 if of.y.number == BFLOAT16 else 0xFC00))
    else:
        mask_by_result(
            <const passed *> of.dy.data + start, <const passed *> of.y.data + start,
            <passed *> of.daddend.data + start, size, 0,
        )
