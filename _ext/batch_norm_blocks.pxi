# The loops of batch_norm.pyx, block by block or channel by channel, in the types of x, of the
# arrays before and after it (`passed`), and of the statistics.

cdef struct Arrays:
    # What a kernel reads and writes; NULL where there is no such array.
    Channels at
    const void *x
    const void *gamma
    const void *beta
    const void *addend
    const void *y
    const void *dy
    void *mean
    void *rstd
    void *out
    void *daddend
    void *dgamma
    void *dbeta
    bint relu
    bint widens  # What comes after x is float32, x is bfloat16.
    double eps
    double *table
    double *totals  # (2, C), zeros at first
    void *vectors


cdef enum:
    # So many channels first in memory are worked on one by one, as many threads as there may be: all
    # of a channel is in the caches still when it is read again.
    APART_FROM = 8


cdef inline bint is_parallel(const Channels *at) noexcept nogil:
    return at.groups * at.spatial * at.channels >= PARALLEL_FROM


cdef inline bint is_apart(const Channels *at) noexcept nogil:
    """Tell whether channels are worked on one by one, not block by block."""
    return not at.last and at.channels >= APART_FROM


cdef inline Py_ssize_t first_of_block(const Channels *at, Py_ssize_t block) noexcept nogil:
    """Return where a block starts."""
    return block * at.block_groups * at.channels * at.spatial


cdef void statistics_of_block(
    const Arrays *of, Py_ssize_t block, const storage *x, floating *center
) noexcept nogil:
    """Fill one block's row of the tables (blocks, C) of means and of squares around them."""
    cdef const Channels *at = &of.at
    cdef Py_ssize_t groups = groups_in_block(at, block)
    cdef Py_ssize_t step = at.channels * at.spatial
    cdef double *means = of.table + block * at.channels
    cdef double *squares = means + at.blocks * at.channels
    cdef Py_ssize_t c
    x += first_of_block(at, block)
    if at.last:
        row_statistics(x, groups, at.channels, means, squares, center + block * at.channels)
    else:
        for c in range(at.channels):
            segment_statistics(
                x + c * at.spatial, groups, step, at.spatial, means + c, squares + c, center[0]
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


cdef inline void put_statistics(
    const Arrays *of, Py_ssize_t c, floating *mean, floating *rstd
) noexcept nogil:
    """Write a channel's mean and 1 / sqrt(variance + eps), given its totals."""
    cdef const Channels *at = &of.at
    cdef double total = <double> at.groups * at.spatial
    mean[c] = <floating> of.totals[c]
    rstd[c] = <floating> (1 / sqrt(max(of.totals[at.channels + c], 0.0) / total + of.eps))


cdef inline void statistics_of_channel(
    const Arrays *of, Py_ssize_t c, const storage *x, floating *mean, floating *rstd
) noexcept nogil:
    cdef const Channels *at = &of.at
    segment_statistics(
        x + c * at.spatial, at.groups, at.channels * at.spatial, at.spatial, of.totals + c,
        of.totals + at.channels + c, mean[0],
    )
    put_statistics(of, c, mean, rstd)


cdef void find_statistics(
    const Arrays *of, const storage *x, floating *mean, floating *rstd, floating *centers
) noexcept nogil:
    """Write mean and 1 / sqrt(variance + eps) per channel."""
    cdef const Channels *at = &of.at
    cdef Py_ssize_t block, c
    if is_apart(at):
        for c in prange(at.channels, schedule="static", use_threads_if=is_parallel(at)):
            statistics_of_channel(of, c, x, mean, rstd)
        return
    for block in prange(at.blocks, schedule="static", use_threads_if=is_parallel(at)):
        statistics_of_block(of, block, x, centers)
    merge_statistics(of)
    for c in range(at.channels):
        put_statistics(of, c, mean, rstd)


cdef inline void normalise_row(
    const storage *x, const floating *mean, const floating *scale, const floating *beta,
    const passed *addend, passed *out, Py_ssize_t channels, bint adds, bint relu
) noexcept nogil:
    cdef floating value
    cdef Py_ssize_t c
    for c in range(channels):
        value = (real(x[c], mean[c]) - mean[c]) * scale[c] + beta[c]
        if adds:
            value = value + real(addend[c], value)
        if relu:
            value = positive_part(value)
        store(out, c, value)


cdef inline void normalise_segment(
    const storage *x, floating mean, floating scale, floating beta, const passed *addend,
    passed *out, Py_ssize_t size, bint adds, bint relu
) noexcept nogil:
    cdef floating value
    cdef Py_ssize_t i
    for i in range(size):
        value = (real(x[i], mean) - mean) * scale + beta
        if adds:
            value = value + real(addend[i], value)
        if relu:
            value = positive_part(value)
        store(out, i, value)


cdef inline void normalise_groups(
    const Channels *at, Py_ssize_t groups, Py_ssize_t first, Py_ssize_t last, const storage *x,
    const floating *mean, const floating *scale, const floating *beta, const passed *addend,
    passed *out, bint adds, bint relu
) noexcept nogil:
    """Write (x - mean) scale + beta, perhaps + addend, perhaps its positive part.

    Of channels first in memory, only those from `first` to before `last`.
    """
    cdef Py_ssize_t step = at.channels * at.spatial
    cdef Py_ssize_t group, c, start
    for group in range(groups):
        start = group * step
        if at.last:
            normalise_row(
                x + start, mean, scale, beta, addend + start, out + start, at.channels, adds, relu
            )
        else:
            for c in range(first, last):
                start = group * step + c * at.spatial
                normalise_segment(
                    x + start, mean[c], scale[c], beta[c], addend + start, out + start,
                    at.spatial, adds, relu,
                )


cdef void normalise_part(
    const Arrays *of, Py_ssize_t start, Py_ssize_t groups, Py_ssize_t first, Py_ssize_t last,
    const storage *x, const floating *mean, const floating *scale, passed *out
) noexcept nogil:
    """Write the result for some groups, from the place `start` on, and some channels."""
    cdef const Channels *at = &of.at
    cdef const floating *beta = <const floating *> of.beta
    cdef const passed *addend = out + start
    x += start
    out += start
    if of.addend != NULL:
        addend = <const passed *> of.addend + start
        if of.relu:
            normalise_groups(
                at, groups, first, last, x, mean, scale, beta, addend, out, True, True
            )
        else:
            normalise_groups(
                at, groups, first, last, x, mean, scale, beta, addend, out, True, False
            )
    elif of.relu:
        normalise_groups(at, groups, first, last, x, mean, scale, beta, addend, out, False, True)
    else:
        normalise_groups(at, groups, first, last, x, mean, scale, beta, addend, out, False, False)


cdef void normalise(
    const Arrays *of, const storage *x, const floating *mean, const floating *rstd,
    bint is_variance, passed *out
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
        normalise_part(
            of, first_of_block(at, block), groups_in_block(at, block), 0, at.channels, x, mean,
            <const floating *> scale, out,
        )


cdef inline void normalise_channel_by_batch(
    const Arrays *of, Py_ssize_t c, const storage *x, floating *mean, floating *rstd,
    floating *scale, passed *out
) noexcept nogil:
    statistics_of_channel(of, c, x, mean, rstd)
    scale[c] = (<const floating *> of.gamma)[c] * rstd[c]
    normalise_part(
        of, 0, of.at.groups, c, c + 1, x, <const floating *> mean, <const floating *> scale, out
    )


cdef void normalise_by_batch(
    const Arrays *of, const storage *x, floating *mean, floating *rstd, passed *out
) noexcept nogil:
    """Write the statistics and the result."""
    cdef const Channels *at = &of.at
    cdef floating *vectors = <floating *> of.vectors
    cdef Py_ssize_t c
    if is_apart(at):
        for c in prange(at.channels, schedule="static", use_threads_if=is_parallel(at)):
            normalise_channel_by_batch(of, c, x, mean, rstd, vectors, out)
        return
    find_statistics(of, x, mean, rstd, vectors)
    normalise(of, x, <const floating *> mean, <const floating *> rstd, False, out)


cdef inline void mask_by_result(
    const passed *dy, const passed *y, passed *out, Py_ssize_t size, floating like
) noexcept nogil:
    """Write dy where ReLU's result is positive, else 0."""
    cdef passed given
    cdef Py_ssize_t i
    for i in range(size):
        given = dy[i]
        out[i] = 0 if real(y[i], like) <= 0 else given


cdef void products_of_block(
    const Arrays *of, Py_ssize_t block, const storage *x, const floating *mean,
    const floating *scale, const passed *dy
) noexcept nogil:
    """Fill one block's row of the tables (blocks, C) of sum(dy) and sum(dy (x - mean))."""
    cdef const Channels *at = &of.at
    cdef const floating *beta = <const floating *> of.beta
    cdef Py_ssize_t groups = groups_in_block(at, block)
    cdef Py_ssize_t step = at.channels * at.spatial
    cdef Py_ssize_t first = first_of_block(at, block)
    cdef double *weights = of.table + block * at.channels
    cdef double *products = weights + at.blocks * at.channels
    cdef Py_ssize_t c
    x += first
    dy += first
    if of.y != NULL:
        mask_by_result(
            dy, <const passed *> of.y + first, <passed *> of.daddend + first, groups * step, mean[0]
        )
        dy = <const passed *> of.daddend + first
    if at.last:
        for c in range(at.channels):
            weights[c] = 0
            products[c] = 0
        if beta != NULL:
            row_products(dy, x, mean, scale, beta, groups, at.channels, weights, products, True)
        else:
            row_products(dy, x, mean, scale, scale, groups, at.channels, weights, products, False)
        return
    for c in range(at.channels):
        products_of_segments(
            of, dy + c * at.spatial, x + c * at.spatial, groups, c, mean, scale, weights + c,
            products + c,
        )


cdef inline void products_of_segments(
    const Arrays *of, const passed *dy, const storage *x, Py_ssize_t segments, Py_ssize_t c,
    const floating *mean, const floating *scale, double *weights, double *products
) noexcept nogil:
    """Write one channel's sum(dy) and sum(dy (x - mean)) over some of its segments."""
    cdef const Channels *at = &of.at
    cdef const floating *beta = <const floating *> of.beta
    cdef Py_ssize_t step = at.channels * at.spatial
    if beta != NULL:
        segment_products(
            dy, x, mean[c], scale[c], beta[c], segments, step, at.spatial, weights, products, True
        )
    else:
        segment_products(
            dy, x, mean[c], scale[c], scale[c], segments, step, at.spatial, weights, products,
            False,
        )


cdef inline void input_gradient_row(
    const passed *dy, const storage *x, const floating *mean, const floating *scale,
    const floating *slope, const floating *shift, const floating *beta, storage *dx,
    Py_ssize_t channels, bint relu
) noexcept nogil:
    cdef floating value
    cdef Py_ssize_t c
    for c in range(channels):
        value = let_through(dy[c], x[c], mean[c], scale[c], beta[c], relu) * scale[c] - shift[c]
        store(dx, c, value - (real(x[c], mean[c]) - mean[c]) * slope[c])


cdef inline void input_gradient_segment(
    const passed *dy, const storage *x, floating mean, floating scale, floating slope,
    floating shift, floating beta, storage *dx, Py_ssize_t size, bint relu
) noexcept nogil:
    cdef floating value
    cdef Py_ssize_t i
    for i in range(size):
        value = let_through(dy[i], x[i], mean, scale, beta, relu) * scale - shift
        store(dx, i, value - (real(x[i], mean) - mean) * slope)


cdef inline void input_gradient_groups(
    const Channels *at, Py_ssize_t groups, Py_ssize_t first, Py_ssize_t last, const storage *x,
    const floating *mean, const floating *scale, const floating *beta, const passed *dy,
    storage *dx, bint relu
) noexcept nogil:
    """Write dy scale - (x - mean) slope - shift, with dy let through; channels as in `normalise_groups`."""
    cdef const floating *slope = scale + at.channels
    cdef const floating *shift = slope + at.channels
    cdef Py_ssize_t step = at.channels * at.spatial
    cdef Py_ssize_t group, c, start
    for group in range(groups):
        start = group * step
        if at.last:
            input_gradient_row(
                dy + start, x + start, mean, scale, slope, shift, beta, dx + start, at.channels,
                relu,
            )
        else:
            for c in range(first, last):
                start = group * step + c * at.spatial
                input_gradient_segment(
                    dy + start, x + start, mean[c], scale[c], slope[c], shift[c], beta[c],
                    dx + start, at.spatial, relu,
                )


cdef void input_gradient_part(
    const Arrays *of, Py_ssize_t start, Py_ssize_t groups, Py_ssize_t first, Py_ssize_t last,
    const storage *x, const floating *mean, const floating *scale, const passed *dy
) noexcept nogil:
    """Write dx for some groups, from the place `start` on, and some channels."""
    cdef const Channels *at = &of.at
    cdef const floating *beta = <const floating *> of.beta
    cdef storage *dx = <storage *> of.out + start
    if of.y != NULL:
        dy = <const passed *> of.daddend
    x += start
    dy += start
    if beta != NULL:
        input_gradient_groups(at, groups, first, last, x, mean, scale, beta, dy, dx, True)
    else:
        input_gradient_groups(at, groups, first, last, x, mean, scale, scale, dy, dx, False)


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


cdef inline void gradients_of_channel(
    const Arrays *of, Py_ssize_t c, const storage *x, const floating *mean, const floating *rstd,
    floating *scale, floating *dgamma, floating *dbeta, const passed *dy
) noexcept nogil:
    """Fill the gradients of one channel that is worked on apart."""
    cdef const Channels *at = &of.at
    cdef Py_ssize_t first = c * at.spatial
    cdef Py_ssize_t group, start
    cdef const passed *through = dy
    if of.y != NULL:
        for group in range(at.groups):
            start = first + group * at.channels * at.spatial
            mask_by_result(
                dy + start, <const passed *> of.y + start, <passed *> of.daddend + start,
                at.spatial, mean[0],
            )
        through = <const passed *> of.daddend
    products_of_segments(
        of, through + first, x + first, at.groups, c, mean, <const floating *> scale,
        of.totals + c, of.totals + at.channels + c,
    )
    put_vectors(of, c, rstd, scale, dgamma, dbeta)
    input_gradient_part(of, 0, at.groups, c, c + 1, x, mean, <const floating *> scale, dy)


cdef void find_gradients(
    const Arrays *of, const storage *x, const floating *mean, const floating *rstd,
    floating *dgamma, floating *dbeta, const passed *dy
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
            gradients_of_channel(of, c, x, mean, rstd, scale, dgamma, dbeta, dy)
        return
    for block in prange(at.blocks, schedule="static", use_threads_if=is_parallel(at)):
        products_of_block(of, block, x, mean, <const floating *> scale, dy)
    for block in range(at.blocks):
        for c in range(at.channels):
            of.totals[c] += weights[block * at.channels + c]
            of.totals[at.channels + c] += products[block * at.channels + c]
    for c in range(at.channels):
        put_vectors(of, c, rstd, scale, dgamma, dbeta)
    for block in prange(at.blocks, schedule="static", use_threads_if=is_parallel(at)):
        input_gradient_part(
            of, first_of_block(at, block), groups_in_block(at, block), 0, at.channels, x, mean,
            <const floating *> scale, dy,
        )
