# cython: cdivision=True, boundscheck=False, wraparound=False
"""Softmax, its logarithm and cross entropy over the rows of a matrix.

Matrices are C-contiguous float32 or float64; an output may be an input. The largest element of a
row is subtracted first, so no exponential overflows.
"""

cimport numpy as cnp
from cython cimport floating
from cython.parallel cimport prange
from libc.math cimport log
from libc.stdint cimport int64_t

from arrays cimport check, check_indices, check_same_shape, check_vector, index_at, real_type
from blocks cimport (
    PARALLEL_FROM,
    block_count,
    block_length,
    maximum_of,
    rows_per_block,
    sum_of,
    sum_of_products,
)
from transcendental cimport exponential

cnp.import_array()

cdef enum Function:
    SOFTMAX, LOG_SOFTMAX

cdef enum:
    # Elements whose exponentials wait on the stack to be added.
    CHUNK = 1024
    EXPONENTIAL_COST = 8


cdef double sum_of_exponentials(
    const floating *x, floating largest, Py_ssize_t columns
) noexcept nogil:
    """Return the sum of exp(x - largest)."""
    cdef floating chunk[CHUNK]
    cdef double total = 0
    cdef Py_ssize_t index, i, size
    for index in range(block_count(columns, CHUNK)):
        size = block_length(index, columns, CHUNK)
        for i in range(size):
            chunk[i] = exponential(x[index * CHUNK + i] - largest)
        total += sum_of(<const floating *> chunk, size)
    return total


cdef void forward_row(
    Function function, const floating *x, floating *out, Py_ssize_t columns
) noexcept nogil:
    """Write one row's softmax or its logarithm."""
    cdef floating largest = maximum_of(x, columns)
    cdef floating factor, log_total
    cdef Py_ssize_t i
    if function == SOFTMAX:
        for i in range(columns):
            out[i] = exponential(x[i] - largest)
        factor = <floating> (1 / sum_of(<const floating *> out, columns))
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


cdef void forward_rows(
    Function function, const floating *x, floating *out, Py_ssize_t rows, Py_ssize_t columns
) noexcept nogil:
    cdef Py_ssize_t block_rows = rows_per_block(columns, 1)
    cdef bint parallel = rows * columns * EXPONENTIAL_COST >= PARALLEL_FROM
    cdef Py_ssize_t block, row
    for block in prange(
        block_count(rows, block_rows), schedule="static", use_threads_if=parallel
    ):
        for row in range(block * block_rows, min((block + 1) * block_rows, rows)):
            forward_row(function, x + row * columns, out + row * columns, columns)


cdef void backward_rows(
    Function function,
    const floating *dy,
    const floating *y,
    floating *dx,
    Py_ssize_t rows,
    Py_ssize_t columns,
) noexcept nogil:
    cdef Py_ssize_t block_rows = rows_per_block(columns, 1)
    cdef bint parallel = rows * columns * EXPONENTIAL_COST >= PARALLEL_FROM
    cdef Py_ssize_t block, row
    for block in prange(
        block_count(rows, block_rows), schedule="static", use_threads_if=parallel
    ):
        for row in range(block * block_rows, min((block + 1) * block_rows, rows)):
            backward_row(
                function, dy + row * columns, y + row * columns, dx + row * columns, columns
            )


cdef void cross_entropy_row(
    const floating *logits,
    int64_t label,
    int64_t ignore_index,
    floating *loss,
    floating *totals,
    Py_ssize_t columns,
) noexcept nogil:
    """Write one row's loss, its largest logit and log(sum(exp(logits - largest)))."""
    totals[0] = maximum_of(logits, columns)
    totals[1] = <floating> log(sum_of_exponentials(logits, totals[0], columns))
    loss[0] = 0 if label == ignore_index else -(logits[label] - totals[0] - totals[1])


cdef void cross_entropy_rows(
    const floating *logits,
    const void *labels,
    int item_size,
    int64_t ignore_index,
    floating *loss,
    floating *totals,
    Py_ssize_t rows,
    Py_ssize_t columns,
) noexcept nogil:
    cdef Py_ssize_t block_rows = rows_per_block(columns, 1)
    cdef bint parallel = rows * columns * EXPONENTIAL_COST >= PARALLEL_FROM
    cdef Py_ssize_t block, row
    for block in prange(
        block_count(rows, block_rows), schedule="static", use_threads_if=parallel
    ):
        for row in range(block * block_rows, min((block + 1) * block_rows, rows)):
            cross_entropy_row(
                logits + row * columns, index_at(labels, item_size, row), ignore_index, loss + row,
                totals + 2 * row, columns,
            )


cdef void cross_entropy_gradient(
    const floating *dloss,
    const floating *logits,
    const floating *totals,
    const void *labels,
    int item_size,
    int64_t ignore_index,
    floating *dlogits,
    Py_ssize_t rows,
    Py_ssize_t columns,
) noexcept nogil:
    """Write dloss (softmax(logits) - onehot(label)) per row, or 0 where the label is ignored."""
    cdef Py_ssize_t block_rows = rows_per_block(columns, 1)
    cdef bint parallel = rows * columns * EXPONENTIAL_COST >= PARALLEL_FROM
    cdef Py_ssize_t block, row
    for block in prange(
        block_count(rows, block_rows), schedule="static", use_threads_if=parallel
    ):
        for row in range(block * block_rows, min((block + 1) * block_rows, rows)):
            cross_entropy_gradient_row(
                dloss[row],
                logits + row * columns,
                totals + 2 * row,
                index_at(labels, item_size, row),
                ignore_index,
                dlogits + row * columns,
                columns,
            )


cdef void cross_entropy_gradient_row(
    floating dloss,
    const floating *logits,
    const floating *totals,
    int64_t label,
    int64_t ignore_index,
    floating *dlogits,
    Py_ssize_t columns,
) noexcept nogil:
    cdef Py_ssize_t i
    if label == ignore_index:
        for i in range(columns):
            dlogits[i] = 0
        return
    for i in range(columns):
        dlogits[i] = dloss * exponential(logits[i] - totals[0] - totals[1])
    dlogits[label] -= dloss


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
    cdef int number = real_type(kernel, "x", x)
    check(kernel, "x", x, number, 2, False)
    check(kernel, "out", out, number, 2, True)
    check_same_shape(kernel, "out", out, "x", x)
    cdef Py_ssize_t rows = cnp.PyArray_DIM(x, 0)
    cdef Py_ssize_t columns = cnp.PyArray_DIM(x, 1)
    cdef void *from_x = cnp.PyArray_DATA(x)
    cdef void *to = cnp.PyArray_DATA(out)
    if columns == 0:
        return 0
    with nogil:
        if number == cnp.NPY_FLOAT32:
            forward_rows(function, <const float *> from_x, <float *> to, rows, columns)
        else:
            forward_rows(function, <const double *> from_x, <double *> to, rows, columns)
    return 0


cdef int backward(
    str kernel, Function function, cnp.ndarray dy, cnp.ndarray y, cnp.ndarray dx
) except -1:
    """Check the arrays and write the gradient into `dx`."""
    cdef int number = real_type(kernel, "dy", dy)
    check(kernel, "dy", dy, number, 2, False)
    check(kernel, "y", y, number, 2, False)
    check_same_shape(kernel, "y", y, "dy", dy)
    check(kernel, "dx", dx, number, 2, True)
    check_same_shape(kernel, "dx", dx, "dy", dy)
    cdef Py_ssize_t rows = cnp.PyArray_DIM(dy, 0)
    cdef Py_ssize_t columns = cnp.PyArray_DIM(dy, 1)
    cdef void *from_dy = cnp.PyArray_DATA(dy)
    cdef void *from_y = cnp.PyArray_DATA(y)
    cdef void *to = cnp.PyArray_DATA(dx)
    with nogil:
        if number == cnp.NPY_FLOAT32:
            backward_rows(
                function, <const float *> from_dy, <const float *> from_y, <float *> to,
                rows, columns,
            )
        else:
            backward_rows(
                function, <const double *> from_dy, <const double *> from_y, <double *> to,
                rows, columns,
            )
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
    cdef int number = real_type(kernel, "logits", logits)
    check(kernel, "logits", logits, number, 2, False)
    cdef Py_ssize_t rows = cnp.PyArray_DIM(logits, 0)
    cdef Py_ssize_t columns = cnp.PyArray_DIM(logits, 1)
    cdef int item_size = check_labels(kernel, labels, ignore_index, rows, columns)
    check_vector(kernel, "loss", loss, number, rows, True)
    check_totals(kernel, totals, number, rows, True)
    cdef void *from_logits = cnp.PyArray_DATA(logits)
    cdef void *label_data = cnp.PyArray_DATA(labels)
    cdef void *loss_data = cnp.PyArray_DATA(loss)
    cdef void *total_data = cnp.PyArray_DATA(totals)
    if columns == 0:
        loss[...] = 0
        totals[...] = 0
        return
    with nogil:
        if number == cnp.NPY_FLOAT32:
            cross_entropy_rows(
                <const float *> from_logits, label_data, item_size, ignore_index,
                <float *> loss_data, <float *> total_data, rows, columns,
            )
        else:
            cross_entropy_rows(
                <const double *> from_logits, label_data, item_size, ignore_index,
                <double *> loss_data, <double *> total_data, rows, columns,
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
    cdef int number = real_type(kernel, "logits", logits)
    check(kernel, "logits", logits, number, 2, False)
    cdef Py_ssize_t rows = cnp.PyArray_DIM(logits, 0)
    cdef Py_ssize_t columns = cnp.PyArray_DIM(logits, 1)
    cdef int item_size = check_labels(kernel, labels, ignore_index, rows, columns)
    check_vector(kernel, "dloss", dloss, number, rows, False)
    check_totals(kernel, totals, number, rows, False)
    check(kernel, "dlogits", dlogits, number, 2, True)
    check_same_shape(kernel, "dlogits", dlogits, "logits", logits)
    cdef void *dloss_data = cnp.PyArray_DATA(dloss)
    cdef void *from_logits = cnp.PyArray_DATA(logits)
    cdef void *total_data = cnp.PyArray_DATA(totals)
    cdef void *label_data = cnp.PyArray_DATA(labels)
    cdef void *to = cnp.PyArray_DATA(dlogits)
    with nogil:
        if number == cnp.NPY_FLOAT32:
            cross_entropy_gradient(
                <const float *> dloss_data, <const float *> from_logits,
                <const float *> total_data, label_data, item_size, ignore_index, <float *> to,
                rows, columns,
            )
        else:
            cross_entropy_gradient(
                <const double *> dloss_data, <const double *> from_logits,
                <const double *> total_data, label_data, item_size, ignore_index, <double *> to,
                rows, columns,
            )
