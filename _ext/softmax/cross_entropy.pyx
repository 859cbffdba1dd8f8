# cython: cdivision=True, boundscheck=False, wraparound=False
"""Cross entropy of softmax over the rows of a matrix, with labels or with weights.

Matrices are C-contiguous float64, or float32, bfloat16 and float16 in any mixture: 16-bit numbers
are computed with in float32, and a result is rounded once. An output may be an input. Losses and
what the rows add up to have the type computed with, float32 or float64. The largest element of a
row is subtracted first, so no exponential overflows.
"""

cimport numpy as cnp
from cython cimport floating
from cython.parallel cimport prange, threadid
from libc.math cimport INFINITY, exp, log
from libc.stdint cimport int64_t

from arrays cimport check, check_indices, check_vector, index_at
from blocks cimport (
    EXPONENTIAL_COST,
    PARALLEL_FROM,
    block_count,
    last_row,
    maximum_of,
    rows_per_block,
    sum_of,
    sum_of_centered_products,
)
from exponentials cimport lift, lifted_sum
from rows cimport Matrix, is_narrow, matrix, padded, place_of, put_back, scratch_rows, widened, working_type
from tiles cimport TILE, put_rest, take_rest
from transcendental cimport LIFT, LOWEST, hidden

cnp.import_array()


# ---- one row
cdef void labelled_row(
    const floating *logits, int64_t label, int64_t ignore_index, floating *loss, floating *totals,
    Py_ssize_t columns,
) noexcept nogil:
    """Write one row's loss, its largest logit and log(sum(exp(logits - largest)))."""
    cdef floating rest[TILE]
    if columns < TILE:
        # What e^-inf adds changes nothing.
        take_rest(logits, columns, <floating> -INFINITY, rest)
        labelled_row(<const floating *> rest, label, ignore_index, loss, totals, TILE)
        return
    totals[0] = maximum_of(logits, columns)
    totals[1] = <floating> log(lifted_sum(logits, totals[0], <floating *> NULL, logits, columns) / LIFT)
    loss[0] = 0 if label == ignore_index else -(logits[label] - totals[0] - totals[1])


cdef inline void scaled_exponentials(
    const floating *logits, floating largest, float lowest, floating factor, floating *out
) noexcept nogil:
    """Write `LIFT` e^(logits - largest) factor for a tile."""
    cdef floating tile[TILE]
    cdef int lane
    lift(logits, largest, lowest, tile)
    for lane in range(TILE):
        tile[lane] = tile[lane] * factor
    for lane in range(TILE):
        out[lane] = tile[lane]


cdef void labelled_gradient_row(
    floating dloss, const floating *logits, floating largest, floating log_total, int64_t label,
    int64_t ignore_index, floating *dlogits, Py_ssize_t columns,
) noexcept nogil:
    """Write one row's dloss (softmax(logits) - onehot(label)), or 0 where the label is ignored."""
    cdef float lowest = hidden(LOWEST)
    cdef floating factor = <floating> (dloss * exp(-log_total) / LIFT)
    cdef floating rest[TILE]
    cdef Py_ssize_t i = 0
    if label == ignore_index:
        for i in range(columns):
            dlogits[i] = 0
        return
    while i + TILE <= columns:
        scaled_exponentials(logits + i, largest, lowest, factor, dlogits + i)
        i += TILE
    if i < columns:
        take_rest(logits + i, columns - i, largest, rest)
        scaled_exponentials(<const floating *> rest, largest, lowest, factor, rest)
        put_rest(<const floating *> rest, columns - i, dlogits + i)
    dlogits[label] -= dloss


cdef floating weighted_row(
    const floating *logits, const floating *labels, floating *terms, floating *gradient,
    Py_ssize_t columns,
) noexcept nogil:
    """Write softmax(logits) - labels and return minus the sum of labels log softmax(logits).

    `terms` is memory for a row. `gradient` may be an input.
    """
    cdef floating largest = maximum_of(logits, columns)
    cdef double lifted = lifted_sum(logits, largest, terms, labels, columns)
    cdef floating factor = <floating> (1 / lifted)
    cdef double loss = (
        log(lifted / LIFT) * sum_of(labels, columns)
        - sum_of_centered_products(labels, logits, largest, columns)
    )
    cdef Py_ssize_t i
    for i in range(columns):
        gradient[i] = terms[i] * factor - labels[i]
    return <floating> loss


# ---- all rows
cdef void labelled_rows(
    Matrix logits, const void *labels, int item_size, int64_t ignore_index, floating *loss,
    floating *totals, floating *scratch, Py_ssize_t rows, Py_ssize_t columns,
) noexcept nogil:
    cdef Py_ssize_t block_rows = rows_per_block(columns, 1)
    cdef bint parallel = rows * columns * EXPONENTIAL_COST >= PARALLEL_FROM
    cdef Py_ssize_t block, row
    cdef floating *place
    for block in prange(
        block_count(rows, block_rows), schedule="static", use_threads_if=parallel
    ):
        place = scratch + threadid() * padded(columns)
        for row in range(block * block_rows, last_row(block, block_rows, rows)):
            labelled_row(
                widened(logits, row * columns, place, columns),
                index_at(labels, item_size, row), ignore_index, loss + row, totals + 2 * row, columns,
            )


cdef void labelled_gradient(
    const floating *dloss, Matrix logits, const floating *totals, const void *labels,
    int item_size, int64_t ignore_index, Matrix dlogits, floating *scratch, Py_ssize_t rows,
    Py_ssize_t columns,
) noexcept nogil:
    """Write dloss (softmax(logits) - onehot(label)) per row, or 0 where the label is ignored."""
    cdef Py_ssize_t block_rows = rows_per_block(columns, 1)
    cdef bint parallel = rows * columns * EXPONENTIAL_COST >= PARALLEL_FROM
    cdef Py_ssize_t block, row, start
    cdef floating *place
    cdef floating *to
    for block in prange(
        block_count(rows, block_rows), schedule="static", use_threads_if=parallel
    ):
        place = scratch + 2 * threadid() * padded(columns)
        for row in range(block * block_rows, last_row(block, block_rows, rows)):
            start = row * columns
            to = place_of(dlogits, start, place + padded(columns))
            labelled_gradient_row(
                dloss[row], widened(logits, start, place, columns),
                totals[2 * row], totals[2 * row + 1], index_at(labels, item_size, row),
                ignore_index, to, columns,
            )
            put_back(dlogits, start, <const floating *> to, columns)


cdef void weighted_rows(
    Matrix logits, Matrix labels, floating *loss, Matrix gradient, floating *scratch,
    Py_ssize_t rows, Py_ssize_t columns,
) noexcept nogil:
    cdef Py_ssize_t block_rows = rows_per_block(columns, 1)
    cdef bint parallel = rows * columns * EXPONENTIAL_COST >= PARALLEL_FROM
    cdef Py_ssize_t block, row, start
    cdef floating *place
    cdef floating *to
    for block in prange(
        block_count(rows, block_rows), schedule="static", use_threads_if=parallel
    ):
        place = scratch + 4 * threadid() * padded(columns)
        for row in range(block * block_rows, last_row(block, block_rows, rows)):
            start = row * columns
            to = place_of(gradient, start, place + 2 * padded(columns))
            loss[row] = weighted_row(
                widened(logits, start, place, columns),
                widened(labels, start, place + padded(columns), columns), place + 3 * padded(columns), to, columns,
            )
            put_back(gradient, start, <const floating *> to, columns)


# ---- arrays
cdef int check_labels(
    str kernel, cnp.ndarray labels, int64_t ignore_index, Py_ssize_t rows, Py_ssize_t columns, Py_ssize_t *counted
) except -1:
    """Raise unless each label is a column or `ignore_index`, and count the former; return the bytes per label."""
    cdef int item_size = check_indices(kernel, "labels", labels, rows)
    cdef const void *data = cnp.PyArray_DATA(labels)
    cdef int64_t label
    cdef Py_ssize_t row
    counted[0] = 0
    for row in range(rows):
        label = index_at(data, item_size, row)
        if label == ignore_index:
            continue
        counted[0] += 1
        if not 0 <= label < columns:
            raise ValueError(
                f"For '{kernel}', 'labels' must be in [0, {columns}) or the ignore_index "
                f"{ignore_index}, but got {label} at position {row}."
            )
    return item_size


cdef int check_totals(
    str kernel, cnp.ndarray totals, int number, Py_ssize_t rows, bint written
) except -1:
    """Raise unless `totals` is (rows, 2)."""
    check(kernel, "totals", totals, number, 2, written)
    if cnp.PyArray_DIM(totals, 0) != rows or cnp.PyArray_DIM(totals, 1) != 2:
        raise ValueError(
            f"For '{kernel}', 'totals' must have shape ({rows}, 2), "
            f"but got {(<object> totals).shape}."
        )
    return 0


def cross_entropy_forward(
    cnp.ndarray logits not None,
    cnp.ndarray labels not None,
    int64_t ignore_index,
    cnp.ndarray loss not None,
    cnp.ndarray totals not None,
):
    """Write minus the log softmax of logits (rows, columns) at each row's label into `loss`.

    Rows whose label is `ignore_index` have loss 0. Labels are int32 or int64 (rows,). `totals`
    (rows, 2) becomes each row's largest logit and log(sum(exp(logits - largest))). Returns how many
    rows are not ignored.

    >>> loss, totals = np.empty(2), np.empty((2, 2))
    >>> labels = np.array([1, -100])
    >>> cross_entropy_forward(np.zeros((2, 2)), labels, -100, loss, totals)
    1
    >>> loss.round(4) + 0
    array([0.6931, 0.    ])
    """
    cdef str kernel = "cross_entropy_forward"
    cdef Matrix source = matrix(kernel, "logits", logits, False, "logits", logits)
    cdef int number = working_type(source.number)
    cdef Py_ssize_t rows = cnp.PyArray_DIM(logits, 0)
    cdef Py_ssize_t columns = cnp.PyArray_DIM(logits, 1)
    cdef Py_ssize_t counted
    cdef int item_size = check_labels(kernel, labels, ignore_index, rows, columns, &counted)
    check_vector(kernel, "loss", loss, number, rows, True)
    check_totals(kernel, totals, number, rows, True)
    cdef void *label_data = cnp.PyArray_DATA(labels)
    cdef void *loss_data = cnp.PyArray_DATA(loss)
    cdef void *total_data = cnp.PyArray_DATA(totals)
    if columns == 0:
        loss[...] = 0
        totals[...] = 0
        return counted
    cdef cnp.ndarray scratch = scratch_rows(1, columns, is_narrow(source))
    cdef void *place = cnp.PyArray_DATA(scratch)
    with nogil:
        if number == cnp.NPY_FLOAT32:
            labelled_rows(
                source, label_data, item_size, ignore_index, <float *> loss_data,
                <float *> total_data, <float *> place, rows, columns,
            )
        else:
            labelled_rows(
                source, label_data, item_size, ignore_index, <double *> loss_data,
                <double *> total_data, <double *> place, rows, columns,
            )
    return counted


def cross_entropy_backward(
    cnp.ndarray dloss not None,
    cnp.ndarray logits not None,
    cnp.ndarray totals not None,
    cnp.ndarray labels not None,
    int64_t ignore_index,
    cnp.ndarray dlogits not None,
):
    """Write dloss (softmax(logits) - onehot(label)) into `dlogits`, 0 in the rows ignored.

    `totals` is what `cross_entropy_forward` wrote.

    >>> dlogits, totals = np.empty((2, 2)), np.array([[0, np.log(2)]] * 2)
    >>> labels = np.array([1, -100])
    >>> cross_entropy_backward(np.ones(2), np.zeros((2, 2)), totals, labels, -100, dlogits)
    >>> dlogits
    array([[ 0.5, -0.5],
           [ 0. ,  0. ]])
    """
    cdef str kernel = "cross_entropy_backward"
    cdef Matrix source = matrix(kernel, "logits", logits, False, "logits", logits)
    cdef int number = working_type(source.number)
    cdef Py_ssize_t rows = cnp.PyArray_DIM(logits, 0)
    cdef Py_ssize_t columns = cnp.PyArray_DIM(logits, 1)
    cdef Py_ssize_t counted
    cdef int item_size = check_labels(kernel, labels, ignore_index, rows, columns, &counted)
    check_vector(kernel, "dloss", dloss, number, rows, False)
    check_totals(kernel, totals, number, rows, False)
    cdef Matrix to = matrix(kernel, "dlogits", dlogits, True, "logits", logits)
    cdef void *dloss_data = cnp.PyArray_DATA(dloss)
    cdef void *total_data = cnp.PyArray_DATA(totals)
    cdef void *label_data = cnp.PyArray_DATA(labels)
    cdef cnp.ndarray scratch = scratch_rows(
        2, columns, is_narrow(source) or is_narrow(to)
    )
    cdef void *place = cnp.PyArray_DATA(scratch)
    with nogil:
        if number == cnp.NPY_FLOAT32:
            labelled_gradient(
                <const float *> dloss_data, source, <const float *> total_data, label_data,
                item_size, ignore_index, to, <float *> place, rows, columns,
            )
        else:
            labelled_gradient(
                <const double *> dloss_data, source, <const double *> total_data, label_data,
                item_size, ignore_index, to, <double *> place, rows, columns,
            )


def dense_cross_entropy(
    cnp.ndarray logits not None, cnp.ndarray labels not None, cnp.ndarray loss not None,
    cnp.ndarray gradient not None,
):
    """Write minus the sum of labels times log softmax(logits) per row into `loss`.

    `gradient` becomes softmax(logits) - labels. Matrices are (rows, columns), `loss` is (rows,).

    >>> loss, gradient = np.empty(1), np.empty((1, 2))
    >>> dense_cross_entropy(np.zeros((1, 2)), np.array([[0.5, 0.5]]), loss, gradient)
    >>> loss.round(4), gradient
    (array([0.6931]), array([[0., 0.]]))
    """
    cdef str kernel = "dense_cross_entropy"
    cdef Matrix source = matrix(kernel, "logits", logits, False, "logits", logits)
    cdef Matrix wanted = matrix(kernel, "labels", labels, False, "logits", logits)
    cdef Matrix to = matrix(kernel, "gradient", gradient, True, "logits", logits)
    cdef int number = working_type(source.number)
    cdef Py_ssize_t rows = cnp.PyArray_DIM(logits, 0)
    cdef Py_ssize_t columns = cnp.PyArray_DIM(logits, 1)
    check_vector(kernel, "loss", loss, number, rows, True)
    cdef void *loss_data = cnp.PyArray_DATA(loss)
    if columns == 0:
        loss[...] = 0
        return
    # Four rows per thread, counted in float32.
    cdef cnp.ndarray scratch = scratch_rows(4 if number == cnp.NPY_FLOAT32 else 8, columns, True)
    cdef void *place = cnp.PyArray_DATA(scratch)
    with nogil:
        if number == cnp.NPY_FLOAT32:
            weighted_rows(
                source, wanted, <float *> loss_data, to, <float *> place, rows, columns
            )
        else:
            weighted_rows(
                source, wanted, <double *> loss_data, to, <double *> place, rows, columns
            )
