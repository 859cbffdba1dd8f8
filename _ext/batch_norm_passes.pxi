# The passes of batch_norm.pyx over memory, shared out to threads: by blocks of rows or samples, or by
# channels. `kind` and `after` only tell in what type rows are read: x, and what comes after it.

cdef void statistics_of_block(
    const Arrays *of, Py_ssize_t block, const storage *kind, floating *center
) noexcept nogil:
    """Fill one block's row of the tables (blocks, C) of means and of squares around them."""
    cdef const Channels *at = &of.at
    cdef double *means = of.table + block * at.channels
    cdef double *squares = means + at.blocks * at.channels
    cdef Py_ssize_t c
    if at.last:
        statistics_of_rows(of, block, kind, center + block * at.channels)
        return
    for c in range(at.channels):
        statistics_of_segments(
            of, c, block * at.block_groups, groups_in_block(at, block), means + c, squares + c,
            <const floating *> center,
        )


cdef void merge_statistics(const Arrays *of) noexcept nogil:
    """Put the whole batch's means and squares around them into the totals, from those of the blocks."""
    cdef const Channels *at = &of.at
    cdef const double *means = of.table
    cdef const double *squares = of.table + at.blocks * at.channels
    cdef double *total_mean = of.totals
    cdef double *total_squares = of.totals + at.channels
    cdef double numbers, apart
    cdef double total = <double> at.groups * at.spatial
    cdef Py_ssize_t block, c
    for block in range(at.blocks):
        numbers = <double> groups_in_block(at, block) * at.spatial
        for c in range(at.channels):
            total_mean[c] += numbers * means[block * at.channels + c]
    for c in range(at.channels):
        total_mean[c] = total_mean[c] / total
    for block in range(at.blocks):
        numbers = <double> groups_in_block(at, block) * at.spatial
        for c in range(at.channels):
            apart = means[block * at.channels + c] - total_mean[c]
            total_squares[c] += squares[block * at.channels + c] + numbers * apart * apart


cdef inline void statistics_of_channel(
    const Arrays *of, Py_ssize_t c, floating *mean, floating *rstd
) noexcept nogil:
    statistics_of_segments(
        of, c, 0, of.at.groups, of.totals + c, of.totals + of.at.channels + c,
        <const floating *> mean,
    )
    put_statistics(of, c, mean, rstd)


cdef void find_statistics(
    const Arrays *of, const storage *kind, floating *mean, floating *rstd
) noexcept nogil:
    """Write mean and 1 / sqrt(variance + eps) per channel."""
    cdef const Channels *at = &of.at
    cdef Py_ssize_t block, c
    if is_apart(at):
        for c in prange(at.channels, schedule="static", use_threads_if=is_parallel(at)):
            statistics_of_channel(of, c, mean, rstd)
        return
    for block in prange(at.blocks, schedule="static", use_threads_if=is_parallel(at)):
        statistics_of_block(of, block, kind, <floating *> of.vectors)
    merge_statistics(of)
    for c in range(at.channels):
        put_statistics(of, c, mean, rstd)


cdef void normalise(
    const Arrays *of, const storage *kind, const passed *after, const floating *mean,
    const floating *rstd, bint is_variance
) noexcept nogil:
    """Write the result with given statistics; the vectors are (C,)."""
    cdef const Channels *at = &of.at
    cdef const floating *gamma = <const floating *> of.gamma
    cdef floating *scale = <floating *> of.vectors
    cdef Py_ssize_t block, c
    for c in range(at.channels):
        if is_variance:
            scale[c] = <floating> (gamma[c] / sqrt(rstd[c] + of.eps))
        else:
            scale[c] = gamma[c] * rstd[c]
    for block in prange(at.blocks, schedule="static", use_threads_if=is_parallel(at)):
        if at.last:
            normalise_rows(of, block, kind, after, mean, <const floating *> scale)
        else:
            normalise_samples(
                of, block * at.block_groups, groups_in_block(at, block), mean,
                <const floating *> scale,
            )


cdef void normalise_by_batch(
    const Arrays *of, const storage *kind, const passed *after, floating *mean, floating *rstd
) noexcept nogil:
    """Write the statistics and the result."""
    cdef const Channels *at = &of.at
    cdef floating *scale = <floating *> of.vectors
    cdef Py_ssize_t c
    if is_apart(at):
        for c in prange(at.channels, schedule="static", use_threads_if=is_parallel(at)):
            normalise_channel_by_batch(of, c, mean, rstd, scale)
        return
    find_statistics(of, kind, mean, rstd)
    normalise(of, kind, after, <const floating *> mean, <const floating *> rstd, False)


cdef void products_of_block(
    const Arrays *of, Py_ssize_t block, const storage *kind, const passed *after,
    const floating *mean, const floating *scale
) noexcept nogil:
    """Fill one block's row of the tables (blocks, C) of sum(dy) and sum(dy (x - mean))."""
    cdef const Channels *at = &of.at
    cdef double *weights = of.table + block * at.channels
    cdef double *products = weights + at.blocks * at.channels
    cdef Py_ssize_t c
    if at.last:
        products_of_rows(of, block, kind, after, mean, scale)
        return
    for c in range(at.channels):
        products_of_segments(
            of, c, block * at.block_groups, groups_in_block(at, block), mean, scale, weights + c,
            products + c,
        )


cdef void input_gradient_of_block(
    const Arrays *of, Py_ssize_t block, const storage *kind, const passed *after,
    const floating *mean, const floating *scale
) noexcept nogil:
    """Write one block of dx."""
    cdef const Channels *at = &of.at
    cdef Py_ssize_t c
    if at.last:
        input_gradient_rows(of, block, kind, after, mean, scale)
        return
    for c in range(at.channels):
        input_gradient_of_segments(
            of, c, block * at.block_groups, groups_in_block(at, block), mean, scale
        )


cdef void find_gradients(
    const Arrays *of, const storage *kind, const passed *after, const floating *mean,
    const floating *rstd, floating *dgamma, floating *dbeta
) noexcept nogil:
    """Fill all gradients; the table is (2, blocks, C) and the vectors are (3, C)."""
    cdef const Channels *at = &of.at
    cdef const floating *gamma = <const floating *> of.gamma
    cdef double *weights = of.table
    cdef double *products = weights + at.blocks * at.channels
    cdef floating *scale = <floating *> of.vectors
    cdef Py_ssize_t block, c
    for c in range(at.channels):
        scale[c] = gamma[c] * rstd[c]
    if is_apart(at):
        for c in prange(at.channels, schedule="static", use_threads_if=is_parallel(at)):
            gradients_of_channel(of, c, mean, rstd, scale, dgamma, dbeta)
        return
    for block in prange(at.blocks, schedule="static", use_threads_if=is_parallel(at)):
        products_of_block(of, block, kind, after, mean, <const floating *> scale)
    for block in range(at.blocks):
        for c in range(at.channels):
            of.totals[c] += weights[block * at.channels + c]
            of.totals[at.channels + c] += products[block * at.channels + c]
    for c in range(at.channels):
        put_vectors(of, c, rstd, scale, dgamma, dbeta)
    for block in prange(at.blocks, schedule="static", use_threads_if=is_parallel(at)):
        input_gradient_of_block(of, block, kind, after, mean, <const floating *> scale)
