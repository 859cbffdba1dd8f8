# The loops of batch_norm.pyx, block by block, in the types of x, of the arrays
# before and after it (`passed`), and of the statistics.

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
    void *masked


cdef inline bint is_parallel(const Channels *at) noexcept nogil:
    return at.groups * at.spatial * at.channels >= PARALLEL_FROM


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


cdef void find_statistics(
    const Arrays *of, const storage *x, floating *mean, floating *rstd, floating *centers
) noexcept nogil:
    """Write mean and 1 / sqrt(variance + eps) per channel; the table is (2, blocks, C)."""
    cdef const Channels *at = &of.at
    cdef double *means = of.table
    cdef double *squares = of.table + at.blocks * at.channels
    cdef double *total_mean = of.totals
    cdef double *total_squares = of.totals + at.channels
    cdef double numbers, apart
    cdef double total = <double> at.groups * at.spatial
    cdef Py_ssize_t block, c
    for block in prange(at.blocks, schedule="static", use_threads_if=is_parallel(at)):
        statistics_of_block(of, block, x, centers)
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
    for c in range(at.channels):
        mean[c] = <floating> total_mean[c]
        rstd[c] = <floating> (1 / sqrt(max(total_squares[c], 0.0) / total + of.eps))


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
        if relu:  # Written with <= so that a NaN comes out as a NaN.
            value = <floating> 0 if value <= 0 else value
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
            value = <floating> 0 if value <= 0 else value
        store(out, i, value)


cdef inline void normalise_groups(
    const Channels *at, Py_ssize_t groups, const storage *x, const floating *mean,
    const floating *scale, const floating *beta, const passed *addend, passed *out, bint adds,
    bint relu
) noexcept nogil:
    """Write (x - mean) scale + beta, perhaps + addend, perhaps its positive part."""
    cdef Py_ssize_t step = at.channels * at.spatial
    cdef Py_ssize_t group, c, start
    for group in range(groups):
        start = group * step
        if at.last:
            normalise_row(
                x + start, mean, scale, beta, addend + start, out + start, at.channels, adds, relu
            )
        else:
            for c in range(at.channels):
                normalise_segment(
                    x + start, mean[c], scale[c], beta[c], addend + start, out + start,
                    at.spatial, adds, relu,
                )
                start = start + at.spatial


cdef void normalise_block(
    const Arrays *of, Py_ssize_t block, const storage *x, const floating *mean,
    const floating *scale, passed *out
) noexcept nogil:
    cdef const Channels *at = &of.at
    cdef Py_ssize_t start = first_of_block(at, block)
    cdef Py_ssize_t groups = groups_in_block(at, block)
    cdef const floating *beta = <const floating *> of.beta
    cdef const passed *addend = out
    x += start
    out += start
    if of.addend != NULL:
        addend = <const passed *> of.addend + start
        if of.relu:
            normalise_groups(at, groups, x, mean, scale, beta, addend, out, True, True)
        else:
            normalise_groups(at, groups, x, mean, scale, beta, addend, out, True, False)
    elif of.relu:
        normalise_groups(at, groups, x, mean, scale, beta, addend, out, False, True)
    else:
        normalise_groups(at, groups, x, mean, scale, beta, addend, out, False, False)


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
        normalise_block(of, block, x, mean, <const floating *> scale, out)


cdef inline void mask_row(
    const passed *dy, const storage *x, const floating *mean, const floating *scale,
    const floating *beta, passed *out, Py_ssize_t channels
) noexcept nogil:
    """Write dy where ReLU's input, made from x as in `normalise_row`, was positive; else 0."""
    cdef passed given
    cdef Py_ssize_t c
    for c in range(channels):
        given = dy[c]
        out[c] = 0 if (real(x[c], mean[c]) - mean[c]) * scale[c] + beta[c] <= 0 else given


cdef inline void mask_segment(
    const passed *dy, const storage *x, floating mean, floating scale, floating beta,
    passed *out, Py_ssize_t size
) noexcept nogil:
    cdef passed given
    cdef Py_ssize_t i
    for i in range(size):
        given = dy[i]
        out[i] = 0 if (real(x[i], mean) - mean) * scale + beta <= 0 else given


cdef inline void mask_by_result(
    const passed *dy, const passed *y, passed *out, Py_ssize_t size, floating like
) noexcept nogil:
    """Write dy where ReLU's result is positive, else 0."""
    cdef passed given
    cdef Py_ssize_t i
    for i in range(size):
        given = dy[i]
        out[i] = 0 if real(y[i], like) <= 0 else given


cdef const passed *masked_block(
    const Arrays *of, Py_ssize_t block, const storage *x, const floating *mean,
    const floating *scale, const passed *dy, bint again
) noexcept nogil:
    """Return the gradient of what ReLU got for one block, made now unless made before."""
    cdef const Channels *at = &of.at
    cdef Py_ssize_t step = at.channels * at.spatial
    cdef Py_ssize_t start = first_of_block(at, block)
    cdef Py_ssize_t groups = groups_in_block(at, block)
    cdef const floating *beta = <const floating *> of.beta
    cdef passed *out
    cdef Py_ssize_t group, c
    dy += start
    if not of.relu:
        return dy
    if of.y != NULL:
        out = <passed *> of.daddend + start
        if not again:
            mask_by_result(dy, <const passed *> of.y + start, out, groups * step, mean[0])
        return out
    out = <passed *> of.masked + openmp.omp_get_thread_num() * at.block_groups * step
    x += start
    for group in range(groups):
        start = group * step
        if at.last:
            mask_row(dy + start, x + start, mean, scale, beta, out + start, at.channels)
        else:
            for c in range(at.channels):
                mask_segment(
                    dy + start, x + start, mean[c], scale[c], beta[c], out + start, at.spatial
                )
                start = start + at.spatial
    return out


cdef void products_of_block(
    const Arrays *of, Py_ssize_t block, const storage *x, const floating *mean,
    const floating *scale, const passed *dy
) noexcept nogil:
    """Fill one block's row of the tables (blocks, C) of sum(dy) and sum(dy (x - mean))."""
    cdef const Channels *at = &of.at
    cdef Py_ssize_t groups = groups_in_block(at, block)
    cdef double *weights = of.table + block * at.channels
    cdef double *products = weights + at.blocks * at.channels
    cdef Py_ssize_t group, c, start
    dy = masked_block(of, block, x, mean, scale, dy, False)
    x += first_of_block(at, block)
    for c in range(at.channels):
        weights[c] = 0
        products[c] = 0
    if at.last:
        row_products(dy, x, mean, groups, at.channels, weights, products)
        return
    for group in range(groups):
        for c in range(at.channels):
            start = (group * at.channels + c) * at.spatial
            segment_products(
                dy + start, x + start, mean[c], at.spatial, weights + c, products + c
            )


cdef inline void input_gradient_row(
    const passed *dy, const storage *x, const floating *mean, const floating *scale,
    const floating *slope, const floating *shift, storage *dx, Py_ssize_t channels
) noexcept nogil:
    cdef floating value
    cdef Py_ssize_t c
    for c in range(channels):
        value = real(dy[c], mean[c]) * scale[c] - shift[c]
        store(dx, c, value - (real(x[c], mean[c]) - mean[c]) * slope[c])


cdef inline void input_gradient_segment(
    const passed *dy, const storage *x, floating mean, floating scale, floating slope,
    floating shift, storage *dx, Py_ssize_t size
) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(size):
        store(
            dx, i, real(dy[i], mean) * scale - shift - (real(x[i], mean) - mean) * slope
        )


cdef void input_gradient_block(
    const Arrays *of, Py_ssize_t block, const storage *x, const floating *mean,
    const floating *scale, const passed *dy
) noexcept nogil:
    """Write dy scale - (x - mean) slope - shift for one block."""
    cdef const Channels *at = &of.at
    cdef const floating *slope = scale + at.channels
    cdef const floating *shift = slope + at.channels
    cdef Py_ssize_t step = at.channels * at.spatial
    cdef Py_ssize_t first = first_of_block(at, block)
    cdef storage *dx = <storage *> of.out + first
    cdef Py_ssize_t group, c, start
    dy = masked_block(of, block, x, mean, scale, dy, True)
    x += first
    for group in range(groups_in_block(at, block)):
        start = group * step
        if at.last:
            input_gradient_row(
                dy + start, x + start, mean, scale, slope, shift, dx + start, at.channels
            )
        else:
            for c in range(at.channels):
                input_gradient_segment(
                    dy + start, x + start, mean[c], scale[c], slope[c], shift[c], dx + start,
                    at.spatial,
                )
                start = start + at.spatial


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
    cdef floating *slope = scale + at.channels
    cdef floating *shift = slope + at.channels
    cdef double *weight = of.totals
    cdef double *product = of.totals + at.channels
    cdef double total = <double> at.groups * at.spatial
    cdef Py_ssize_t block, c
    for c in range(at.channels):
        scale[c] = gamma[c] * rstd[c]
    for block in prange(at.blocks, schedule="static", use_threads_if=is_parallel(at)):
        products_of_block(of, block, x, mean, <const floating *> scale, dy)
    for block in range(at.blocks):
        for c in range(at.channels):
            weight[c] += weights[block * at.channels + c]
            product[c] += products[block * at.channels + c]
    for c in range(at.channels):
        dgamma[c] = <floating> (product[c] * rstd[c])
        dbeta[c] = <floating> weight[c]
        slope[c] = <floating> (scale[c] * product[c] * rstd[c] * rstd[c] / total)
        shift[c] = <floating> (scale[c] * weight[c] / total)
    for block in prange(at.blocks, schedule="static", use_threads_if=is_parallel(at)):
        input_gradient_block(of, block, x, mean, <const floating *> scale, dy)
