# Lamb: the norms of weights and steps first, then the step.

cdef void lamb_block(
    const Task *task, Py_ssize_t block, double *squares, floating ratio, bint second,
    floating *kind
) noexcept nogil:
    """Run Lamb on one block: the moments and the squares of weights and step, then the step."""
    cdef floating direction[SPREAD]
    cdef floating product[SPREAD]
    cdef const floating *g
    cdef Py_ssize_t start = (block - task.first) * task.step
    cdef Py_ssize_t end = min(start + task.step, task.size)
    cdef Py_ssize_t size, i
    cdef floating *p
    cdef floating *m
    cdef floating *v
    while start < end:
        size = min(<Py_ssize_t> SPREAD, end - start)
        p = at(task, 0, start, kind)
        m = at(task, 2, start, kind)
        v = at(task, 3, start, kind)
        if not second:
            g = at(task, 1, start, kind)
            if task.factor != 1:
                write_product(g, <floating> task.factor, product, size)
                g = product
            run_rule(LAMB_MOMENTS, p, g, m, v, <floating *> NULL, task.numbers, size)
        lamb_direction(p, m, v, direction, task.numbers, size)
        if not second:
            squares[0] += sum_of_products(p, p, size)
            squares[1] += sum_of_products(direction, direction, size)
        else:
            for i in range(size):
                p[i] -= ratio * direction[i]
            write_copy(task, p, start, size)
        start += size


cdef void lamb_blocks(
    Tasks tasks, double *squares, const double *ratios, bint second, floating *kind
) noexcept nogil:
    cdef Py_ssize_t block
    cdef unsigned int before
    for block in prange(
        tasks.blocks, schedule="static", use_threads_if=tasks.elements >= PARALLEL_FROM
    ):
        before = flush_subnormals()
        lamb_block(
            tasks.tasks + tasks.owner[block], block, squares + 2 * block,
            <floating> ratios[tasks.owner[block]], second, kind,
        )
        flush_no_more(before)


def lamb(
    list arrays not None, list numbers not None, list copies=None, list factors=None
):
    """Make a step of Lamb (You et al., 2020) of many parameters.

    m = beta1 m + (1 - beta1) g'; v = beta2 v + (1 - beta2) g'^2 with g' = scale g;
    u = m c5 / (sqrt(v c6) + eps) + decay p; p -= lr |p| / |u| u, the ratio being 1 where a norm is 0.
    Numbers: lr, decay, scale, 1 - beta1, 1 - beta2, c5, c6, eps.

    >>> p, m, v = np.array([3.0, 4.0]), np.zeros(2), np.zeros(2)
    >>> lamb([(p, np.array([1.0, 0.0]), m, v)], [(0.1, 0.0, 1.0, 0.5, 0.5, 2.0, 2.0, 1.0)])
    >>> p
    array([2.5, 4. ])
    """
    cdef Tasks tasks = tasks_of("lamb", "lamb", arrays, numbers, copies, None, factors)
    cdef cnp.ndarray squares_array = cnp.PyArray_ZEROS(
        1, [2 * tasks.blocks], cnp.NPY_FLOAT64, 0
    )
    cdef cnp.ndarray ratio_array = cnp.PyArray_ZEROS(1, [tasks.count], cnp.NPY_FLOAT64, 0)
    cdef double *squares = <double *> cnp.PyArray_DATA(squares_array)
    cdef double *ratios = <double *> cnp.PyArray_DATA(ratio_array)
    cdef double weights, steps
    cdef Py_ssize_t task, block, end
    cdef int second
    with nogil:
        for second in range(2):
            if tasks.number == cnp.NPY_FLOAT32:
                lamb_blocks(tasks, squares, ratios, second, <float *> NULL)
            else:
                lamb_blocks(tasks, squares, ratios, second, <double *> NULL)
            if second:
                break
            for task in range(tasks.count):
                weights = steps = 0
                end = tasks.tasks[task + 1].first if task + 1 < tasks.count else tasks.blocks
                for block in range(tasks.tasks[task].first, end):
                    weights += squares[2 * block]
                    steps += squares[2 * block + 1]
                ratios[task] = tasks.tasks[task].numbers[0]
                if weights > 0 and steps > 0:
                    ratios[task] *= (weights / steps) ** 0.5
