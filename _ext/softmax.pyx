# cython: cdivision=True, boundscheck=False, wraparound=False
"""Softmax, its logarithm and cross entropy over the rows of a matrix.

Matrices are C-contiguous float64, or float32, bfloat16 and float16 in any mixture: 16-bit numbers
are computed with in float32, and a result is rounded once. An output may be an input. Losses and
what the rows add up to have the type computed with, float32 or float64. The largest element of a
row is subtracted first, so no exponential overflows.
"""

cimport numpy as cnp
from cython cimport floating
from cython.parallel cimport prange, threadid
from libc.math cimport log
from libc.stdint cimport int64_t

from arrays cimport check, check_indices, check_vector, index_at
from blocks cimport (
    PARALLEL_FROM,
    block_count,
    block_length,
    maximum_of,
    rows_per_block,
    sum_of,
    sum_of_products,
)
from rows cimport (
    Matrix,
    is_narrow,
    matrix,
    padded,
    place_of,
    put_back,
    scratch_rows,
    widened,
    working_type,
)
from transcendental cimport exponential

cnp.import_array()

cdef enum Function:
    SOFTMAX, LOG_SOFTMAX

cdef enum:
    EXPONENTIAL_COST = 8
    # Exponentials that are added while the L1 cache holds them.
    SPAN = 1024


cdef inline Py_ssize_t last_row(Py_ssize_t block, Py_ssize_t block_rows, Py_ssize_t rows) noexcept nogil:
    """Return the row after a block's last one."""
    return min((block + 1) * block_rows, rows)


# ---- one row
cdef double exponentials(
    const floating *x, floating largest, floating *out, Py_ssize_t columns
) noexcept nogil:
    """Write exp(x - largest) and return its sum."""
    cdef double total = 0
    cdef Py_ssize_t index, start, i, size
    for index in range(block_count(columns, SPAN)):
        start = index * SPAN
        size = block_length(index, columns, SPAN)
        for i in range(start, start + size):
            out[i] = exponential(x[i] - largest)
        total += sum_of(<const floating *> out + start, size)
    return total


cdef double sum_of_exponentials(
    const floating *x, floating largest, Py_ssize_t columns
) noexcept nogil:
    """Return the sum of exp(x - largest)."""
    cdef floating span[SPAN]
    cdef double total = 0
    cdef Py_ssize_t index, start, i, size
    for index in range(block_count(columns, SPAN)):
        start = index * SPAN
        size = block_length(index, columns, SPAN)
        for i in range(size):
            span[i] = exponential(x[start + i] - largest)
        total += sum_of(<const floating *> span, size)
    return total


cdef void forward_row(
    Function function, const floating *x, floating *out, Py_ssize_t columns
) noexcept nogil:
    """Write one row's softmax or its logarithm."""
    cdef floating largest = maximum_of(x, columns)
    cdef floating factor, log_total
    cdef Py_ssize_t i
    if function == SOFTMAX:
        factor = <floating> (1 / exponentials(x, largest, out, columns))
        for i in range(columns):
            out[i] *= factor
    else:
        log_total = <floating> log(sum_of_exponentials(x, largest, columns))
        for i in range(columns):
            out[i] = x[i] - largest - log_total


cdef void backward_row(
    Function function, const floating *dy, const floating *y, floating *dx, Py_ssize_t columns
) noexcept nogil:
    """Write one row's y (dy - sum(dy y)), or dy - exp(y) sum(dy) for the logarithm."""
    cdef floating total
    cdef Py_ssize_t i
    if function == SOFTMAX:
        total = <floating> sum_of_products(dy, y, columns)
        for i in range(columns):
            dx[i] = y[i] * (dy[i] - total)
    else:
        total = <floating> sum_of(dy, columns)
        for i in range(columns):
            dx[i] = dy[i] - exponential(y[i]) * total


cdef void labelled_row(
    const floating *logits, int64_t label, int64_t ignore_index, floating *loss, floating *totals,
    Py_ssize_t columns,
) noexcept nogil:
    """Write one row's loss, its largest logit and log(sum(exp(logits - largest)))."""
    totals[0] = maximum_of(logits, columns)
    totals[1] = <floating> log(sum_of_exponentials(logits, totals[0], columns))
    loss[0] = 0 if label == ignore_index else -(logits[label] - totals[0] - totals[1])


cdef void labelled_gradient_row(
    floating dloss, const floating *logits, floating largest, floating log_total, int64_t label,
    int64_t ignore_index, floating *dlogits, Py_ssize_t columns,
) noexcept nogil:
    cdef Py_ssize_t i
    if label == ignore_index:
        for i in range(columns):
            dlogits[i] = 0
        return
    for i in range(columns):
        dlogits[i] = dloss * exponential(logits[i] - largest - log_total)
    dlogits[label] -= dloss


cdef floating weighted_row(
    const floating *logits, const floating *labels, floating *gradient, Py_ssize_t columns
) noexcept nogil:
    """Write softmax(logits) - labels and return minus the sum of labels log softmax(logits)."""
    cdef floating largest = maximum_of(logits, columns)
    cdef floating log_total = <floating> log(sum_of_exponentials(logits, largest, columns))
    cdef floating span[SPAN]
    cdef double total = 0
    cdef Py_ssize_t index, start, i, size
    for index in range(block_count(columns, SPAN)):
        start = index * SPAN
        size = block_length(index, columns, SPAN)
        for i in range(size):
            span[i] = logits[start + i] - largest - log_total
        total += sum_of_products(<const floating *> span, labels + start, size)
        for i in range(size):
            gradient[start + i] = exponential(span[i]) - labels[start + i]
    return <floating> -total


# ---- all rows
cdef void forward_rows(
    Function function, Matrix x, Matrix out, floating *scratch, Py_ssize_t rows, Py_ssize_t columns
) noexcept nogil:
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
            to = place_of(out, start, place + padded(columns))
            forward_row(function, widened(x, start, place, columns), to, columns)
            put_back(out, start, <const floating *> to, columns)


cdef void backward_rows(
    Function function, Matrix dy, Matrix y, Matrix dx, floating *scratch, Py_ssize_t rows,
    Py_ssize_t columns,
) noexcept nogil:
    cdef Py_ssize_t block_rows = rows_per_block(columns, 1)
    cdef bint parallel = rows * columns * EXPONENTIAL_COST >= PARALLEL_FROM
    cdef Py_ssize_t block, row, start
    cdef floating *place
    cdef floating *to
    for block in prange(
        block_count(rows, block_rows), schedule="static", use_threads_if=parallel
    ):
        place = scratch + 3 * threadid() * padded(columns)
        for row in range(block * block_rows, last_row(block, block_rows, rows)):
            start = row * columns
            to = place_of(dx, start, place + 2 * padded(columns))
            backward_row(
                function, widened(dy, start, place, columns),
                widened(y, start, place + padded(columns), columns), to, columns,
            )
            put_back(dx, start, <const floating *> to, columns)


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
        place = scratch + 3 * threadid() * padded(columns)
        for row in range(block * block_rows, last_row(block, block_rows, rows)):
            start = row * columns
            to = place_of(gradient, start, place + 2 * padded(columns))
            loss[row] = weighted_row(
                widened(logits, start, place, columns),
                widened(labels, start, place + padded(columns), columns), to,
                columns,
            )
            put_back(gradient, start, <const floating *> to, columns)


# ---- arrays
cdef int check_labels(
    str kernel, cnp.ndarray labels, int64_t ignore_index, Py_ssize_t rows, Py_ssize_t columns
) except -1:
    """Raise unless each label is a column or `ignore_index`; return the bytes per label."""
    cdef int item_size = check_indices(kernel, "labels", labels, rows)
    cdef const void *data = cnp.PyArray_DATA(labels)
    cdef int64_t label
    cdef Py_ssize_t row
    for row in range(rows):
        label = index_at(data, item_size, row)
        if label != ignore_index and not 0 <= label < columns:
            raise ValueError(
                f"For '{kernel}', 'labels' must be in [0, {columns}) or the ignore_index "
                f"{ignore_index}, but got {label} at position {row}."
            )
    return item_size


cdef int forward(str kernel, Function function, cnp.ndarray x, cnp.ndarray out) except -1:
    """Check the arrays and write the softmax or its logarithm into `out`."""
    cdef Matrix source = matrix(kernel, "x", x, False, "x", x)
    cdef Matrix to = matrix(kernel, "out", out, True, "x", x)
    cdef Py_ssize_t rows = cnp.PyArray_DIM(x, 0)
    cdef Py_ssize_t columns = cnp.PyArray_DIM(x, 1)
    if columns == 0:
        return 0
    cdef cnp.ndarray scratch = scratch_rows(
        2, columns, is_narrow(source) or is_narrow(to)
    )
    cdef void *place = cnp.PyArray_DATA(scratch)
    with nogil:
        if working_type(source.number) == cnp.NPY_FLOAT32:
            forward_rows(function, source, to, <float *> place, rows, columns)
        else:
            forward_rows(function, source, to, <double *> place, rows, columns)
    return 0


cdef int backward(
    str kernel, Function function, cnp.ndarray dy, cnp.ndarray y, cnp.ndarray dx
) except -1:
    """Check the arrays and write the gradient into `dx`."""
    cdef Matrix source = matrix(kernel, "dy", dy, False, "dy", dy)
    cdef Matrix kept = matrix(kernel, "y", y, False, "dy", dy)
    cdef Matrix to = matrix(kernel, "dx", dx, True, "dy", dy)
    cdef Py_ssize_t rows = cnp.PyArray_DIM(dy, 0)
    cdef Py_ssize_t columns = cnp.PyArray_DIM(dy, 1)
    cdef cnp.ndarray scratch = scratch_rows(
        3, columns, is_narrow(source) or is_narrow(kept) or is_narrow(to)
    )
    cdef void *place = cnp.PyArray_DATA(scratch)
    with nogil:
        if working_type(source.number) == cnp.NPY_FLOAT32:
            backward_rows(function, source, kept, to, <float *> place, rows, columns)
        else:
            backward_rows(function, source, kept, to, <double *> place, rows, columns)
    return 0


def softmax_forward(cnp.ndarray x not None, cnp.ndarray out not None):
    """Write exp(x) / sum(exp(x)) over the last axis of x (rows, columns) into `out`.

    >>> out = np.empty((1, 2))
    >>> softmax_forward(np.log([[1.0, 3.0]]), out)
    >>> out.round(4)
    array([[0.25, 0.75]])
    """
    forward("softmax_forward", SOFTMAX, x, out)


def softmax_backward(cnp.ndarray dy not None, cnp.ndarray y not None, cnp.ndarray dx not None):
    """Write y (dy - sum(dy y)) into `dx`, y being the softmax.

    >>> dx = np.empty((1, 2))
    >>> softmax_backward(np.array([[1.0, 0.0]]), np.array([[0.25, 0.75]]), dx)
    >>> dx
    array([[ 0.1875, -0.1875]])
    """
    backward("softmax_backward", SOFTMAX, dy, y, dx)


def log_softmax_forward(cnp.ndarray x not None, cnp.ndarray out not None):
    """Write x - log(sum(exp(x))) over the last axis of x (rows, columns) into `out`.

    >>> out = np.empty((1, 2))
    >>> log_softmax_forward(np.log([[1.0, 3.0]]), out)
    >>> np.exp(out).round(4)
    array([[0.25, 0.75]])
    """
    forward("log_softmax_forward", LOG_SOFTMAX, x, out)


def log_softmax_backward(cnp.ndarray dy not None, cnp.ndarray y not None, cnp.ndarray dx not None):
    """Write dy - exp(y) sum(dy) into `dx`, y being the log softmax.

    >>> dx = np.empty((1, 2))
    >>> log_softmax_backward(np.array([[1.0, 0.0]]), np.log([[0.25, 0.75]]), dx)
    >>> dx
    array([[ 0.75, -0.75]])
    """
    backward("log_softmax_backward", LOG_SOFTMAX, dy, y, dx)


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
    (rows, 2) becomes each row's largest logit and log(sum(exp(logits - largest))).

    >>> loss, totals = np.empty(2), np.empty((2, 2))
    >>> labels = np.array([1, -100])
    >>> cross_entropy_forward(np.zeros((2, 2)), labels, -100, loss, totals)
    >>> loss.round(4) + 0
    array([0.6931, 0.    ])
    """
    cdef str kernel = "cross_entropy_forward"
    cdef Matrix source = matrix(kernel, "logits", logits, False, "logits", logits)
    cdef int number = working_type(source.number)
    cdef Py_ssize_t rows = cnp.PyArray_DIM(logits, 0)
    cdef Py_ssize_t columns = cnp.PyArray_DIM(logits, 1)
    cdef int item_size = check_labels(kernel, labels, ignore_index, rows, columns)
    check_vector(kernel, "loss", loss, number, rows, True)
    check_totals(kernel, totals, number, rows, True)
    cdef void *label_data = cnp.PyArray_DATA(labels)
    cdef void *loss_data = cnp.PyArray_DATA(loss)
    cdef void *total_data = cnp.PyArray_DATA(totals)
    if columns == 0:
        loss[...] = 0
        totals[...] = 0
        return
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
    cdef int item_size = check_labels(kernel, labels, ignore_index, rows, columns)
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
    cdef cnp.ndarray scratch = scratch_rows(
        3, columns, is_narrow(source) or is_narrow(wanted) or is_narrow(to)
    )
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
