# What batch_norm.pyx reads and writes, and the loops over its numbers in float32 or float64: those of
# the 16-bit types are widened piece by piece into scratch memory, which the caches hold.

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
    bint copies  # All arrays of the shape of x have 16 bits: the loops read and write copies.
    double eps
    double least  # The largest result that is stored as 0.
    double *table
    double *totals  # (2, C), zeros at first
    void *vectors
    void *scratch
    Py_ssize_t room


cdef enum:
    # Numbers that are taken into scratch memory at a time, about: three arrays of them fit the L1 cache.
    CHUNK = 2048
    # Pieces of scratch memory that a thread has, each with room for a chunk.
    PIECES = 3


cdef inline bint is_parallel(const Channels *at) noexcept nogil:
    return at.groups * at.spatial * at.channels >= PARALLEL_FROM


cdef inline floating *scratch_piece(const Arrays *of, int piece, const floating *kind) noexcept nogil:
    """Return a piece of this thread's scratch memory, for numbers of the type of `kind`."""
    return <floating *> of.scratch + (PIECES * threadid() + piece) * of.room


cdef inline void put_statistics(
    const Arrays *of, Py_ssize_t c, floating *mean, floating *rstd
) noexcept nogil:
    """Write a channel's mean and 1 / sqrt(variance + eps), given its totals."""
    cdef const Channels *at = &of.at
    cdef double total = <double> at.groups * at.spatial
    mean[c] = <floating> of.totals[c]
    rstd[c] = <floating> (1 / sqrt(max(of.totals[at.channels + c], 0.0) / total + of.eps))


cdef inline void put_vectors(
    const Arrays *of, Py_ssize_t c, const floating *rstd, floating *scale, floating *dgamma,
    floating *dbeta
) noexcept nogil:
    """Write a channel's dgamma and dbeta, and slope and shift behind `scale`, given its totals."""
    cdef const Channels *at = &of.at
    cdef double total = <double> at.groups * at.spatial
    cdef double weight = of.totals[c]
    cdef double product = of.totals[at.channels + c]
    dgamma[c] = <floating> (product * rstd[c])
    dbeta[c] = <floating> weight
    scale[at.channels + c] = <floating> (scale[c] * product * rstd[c] * rstd[c] / total)
    scale[2 * at.channels + c] = <floating> (scale[c] * weight / total)


cdef inline void normalise_numbers(
    const floating *x, floating mean, floating scale, floating beta, const floating *addend,
    floating *out, Py_ssize_t size, bint adds, bint relu
) noexcept nogil:
    """Write (x - mean) scale + beta, perhaps + addend, perhaps its positive part, of one channel."""
    cdef floating value
    cdef Py_ssize_t i
    for i in range(size):
        value = (x[i] - mean) * scale + beta
        if adds:
            value = value + addend[i]
        if relu:
            value = positive_part(value)
        out[i] = value


cdef inline void mask_by_result(
    const passed *dy, const passed *y, passed *out, Py_ssize_t size, floating like
) noexcept nogil:
    """Write dy where ReLU's result is positive, else 0."""
    cdef passed given
    cdef Py_ssize_t i
    for i in range(size):
        given = dy[i]
        out[i] = 0 if real(y[i], like) <= 0 else given


cdef inline void mask_halves(
    const uint16_t *dy, const uint16_t *y, uint16_t *out, Py_ssize_t size, int16_t infinity
) noexcept nogil:
    """The same of 16-bit numbers by their bits, given those of minus infinity: NaNs lie behind them."""
    cdef int16_t bits
    cdef Py_ssize_t i
    for i in range(size):
        bits = <int16_t> y[i]
        out[i] = 0 if (bits <= infinity) | (bits == 0) else dy[i]


cdef inline void input_gradient_numbers(
    const floating *dy, const floating *x, floating mean, floating scale, floating slope,
    floating shift, floating beta, floating least, floating *dx, Py_ssize_t size, bint relu
) noexcept nogil:
    """Write dy scale - (x - mean) slope - shift, with dy let through, of one channel."""
    cdef floating value
    cdef Py_ssize_t i
    for i in range(size):
        value = let_through(dy[i], x[i], mean, scale, beta, least, relu) * scale - shift
        dx[i] = value - (x[i] - mean) * slope
