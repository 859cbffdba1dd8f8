# The passes of batch_norm.pyx over memory, block by block, which threads share. `kind` and `after` only tell
# in what type numbers are read: x, and what comes after it. Where one block has all samples of its channels,
# the second pass over it follows the first; else the figures of all blocks are merged between them.

cdef void statistics_of_block(
    const Arrays *of, Py_ssize_t index, const storage *kind, floating *center
) noexcept nogil:
    """Fill a block's part of the tables (blocks, C) of means and of squares around them."""
    cdef const Channels *at = &of.at
    cdef Block block = block_of(at, index)
    cdef Py_ssize_t row = index // at.channel_blocks * at.channels
    cdef double *means = of.table + row
    cdef double *squares = means + at.sample_blocks * at.channels
    if at.last:
        statistics_of_rows(of, &block, kind, means, squares, center + row)
    else:
        statistics_of_segments(of, &block, kind, means, squares, center + row)


cdef void normalise_block(
    const Arrays *of, Py_ssize_t index, const storage *kind, const passed *after, const floating *mean,
    const floating *scale
) noexcept nogil:
    """Write one block of the result."""
    cdef Block block = block_of(&of.at, index)
    if of.at.last:
        normalise_rows(of, &block, kind, after, mean, scale)
    else:
        normalise_segments(of, &block, kind, after, mean, scale)


cdef void products_of_block(
    const Arrays *of, Py_ssize_t index, const storage *kind, const passed *after,
    const floating *mean, const floating *scale
) noexcept nogil:
    """Fill a block's part of the tables (blocks, C) of sum(dy) and sum(dy (x - mean))."""
    cdef const Channels *at = &of.at
    cdef Block block = block_of(at, index)
    cdef double *weights = of.table + index // at.channel_blocks * at.channels
    cdef double *products = weights + at.sample_blocks * at.channels
    if at.last:
        products_of_rows(of, &block, kind, after, mean, scale, weights, products)
    else:
        products_of_segments(of, &block, kind, after, mean, scale, weights, products)


cdef void input_gradient_of_block(
    const Arrays *of, Py_ssize_t index, const storage *kind, const passed *after,
    const floating *mean, const floating *scale
) noexcept nogil:
    """Write one block of dx."""
    cdef Block block = block_of(&of.at, index)
    if of.at.last:
        input_gradient_of_rows(of, &block, kind, after, mean, scale)
    else:
        input_gradient_of_segments(of, &block, kind, after, mean, scale)


cdef inline void statistics_of_channels(
    const Arrays *of, Py_ssize_t index, const storage *kind, floating *mean, floating *rstd
) noexcept nogil:
    """Write mean and 1 / sqrt(variance + eps) of the channels that one block has whole."""
    cdef Block block = block_of(&of.at, index)
    statistics_of_block(of, index, kind, <floating *> of.vectors)
    put_statistics(of, block.channel, block.channels, mean, rstd)


cdef void normalise_channels(
    const Arrays *of, Py_ssize_t index, const storage *kind, const passed *after, floating *mean,
    floating *rstd, floating *scale
) noexcept nogil:
    """Write the statistics and the result of the channels that one block has whole."""
    cdef Block block = block_of(&of.at, index)
    cdef Py_ssize_t c
    statistics_of_channels(of, index, kind, mean, rstd)
    for c in range(block.channel, block.channel + block.channels):
        scale[c] = (<const floating *> of.gamma)[c] * rstd[c]
    normalise_block(of, index, kind, after, <const floating *> mean, <const floating *> scale)


cdef void gradients_of_channels(
    const Arrays *of, Py_ssize_t index, const storage *kind, const passed *after, const floating *mean,
    const floating *rstd, floating *scale, floating *dgamma, floating *dbeta
) noexcept nogil:
    """Fill the gradients of the channels that one block has whole."""
    cdef Block block = block_of(&of.at, index)
    products_of_block(of, index, kind, after, mean, <const floating *> scale)
    put_gradients(of, block.channel, block.channels, rstd, scale, dgamma, dbeta)
    input_gradient_of_block(of, index, kind, after, mean, <const floating *> scale)


cdef void find_statistics(
    const Arrays *of, const storage *kind, floating *mean, floating *rstd
) noexcept nogil:
    """Write mean and 1 / sqrt(variance + eps) per channel."""
    cdef const Channels *at = &of.at
    cdef Py_ssize_t index
    if at.sample_blocks == 1:
        for index in prange(at.channel_blocks, schedule="static", use_threads_if=is_parallel(at)):
            statistics_of_channels(of, index, kind, mean, rstd)
        return
    for index in prange(at.sample_blocks, schedule="static", use_threads_if=is_parallel(at)):
        statistics_of_block(of, index, kind, <floating *> of.vectors)
    put_statistics(of, 0, at.channels, mean, rstd)


cdef void normalise(
    const Arrays *of, const storage *kind, const passed *after, const floating *mean,
    const floating *rstd, bint is_variance
) noexcept nogil:
    """Write the result with given statistics; the vectors are (C,)."""
    cdef const Channels *at = &of.at
    cdef const floating *gamma = <const floating *> of.gamma
    cdef floating *scale = <floating *> of.vectors
    cdef Py_ssize_t index, c
    for c in range(at.channels):
        if is_variance:
            scale[c] = <floating> (gamma[c] / sqrt(rstd[c] + of.eps))
        else:
            scale[c] = gamma[c] * rstd[c]
    for index in prange(
        at.sample_blocks * at.channel_blocks, schedule="static", use_threads_if=is_parallel(at)
    ):
        normalise_block(of, index, kind, after, mean, <const floating *> scale)


cdef void normalise_by_batch(
    const Arrays *of, const storage *kind, const passed *after, floating *mean, floating *rstd
) noexcept nogil:
    """Write the statistics and the result."""
    cdef const Channels *at = &of.at
    cdef floating *scale = <floating *> of.vectors
    cdef Py_ssize_t index
    if at.sample_blocks == 1:
        for index in prange(at.channel_blocks, schedule="static", use_threads_if=is_parallel(at)):
            normalise_channels(of, index, kind, after, mean, rstd, scale)
        return
    find_statistics(of, kind, mean, rstd)
    normalise(of, kind, after, <const floating *> mean, <const floating *> rstd, False)


cdef void find_gradients(
    const Arrays *of, const storage *kind, const passed *after, const floating *mean,
    const floating *rstd, floating *dgamma, floating *dbeta
) noexcept nogil:
    """Fill all gradients; the vectors are (3, C)."""
    cdef const Channels *at = &of.at
    cdef const floating *gamma = <const floating *> of.gamma
    cdef floating *scale = <floating *> of.vectors
    cdef Py_ssize_t index, c
    for c in range(at.channels):
        scale[c] = gamma[c] * rstd[c]
    if at.sample_blocks == 1:
        for index in prange(at.channel_blocks, schedule="static", use_threads_if=is_parallel(at)):
            gradients_of_channels(of, index, kind, after, mean, rstd, scale, dgamma, dbeta)
        return
    for index in prange(at.sample_blocks, schedule="static", use_threads_if=is_parallel(at)):
        products_of_block(of, index, kind, after, mean, <const floating *> scale)
    put_gradients(of, 0, at.channels, rstd, scale, dgamma, dbeta)
    for index in prange(at.sample_blocks, schedule="static", use_threads_if=is_parallel(at)):
        input_gradient_of_block(of, index, kind, after, mean, <const floating *> scale)
