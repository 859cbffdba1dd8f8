# cython: cdivision=True, boundscheck=False, wraparound=False
"""Softmax and its logarithm over the rows of a matrix.

Matrices are C-contiguous float64, or float32, bfloat16 and float16 in any mixture: 16-bit numbers
are computed with in float32, and a result is rounded once. An output may be an input. The largest
element of a row is subtracted first, so no exponential overflows.
"""

cimport numpy as cnp
from cython cimport floating
from cython.parallel cimport prange, threadid
from libc.math cimport INFINITY, log
from libc.stdint cimport uint16_t

from arrays cimport type_name
from blocks cimport (
    EXPONENTIAL_COST,
    PARALLEL_FROM,
    block_count,
    block_length,
    last_row,
    maximum_of,
    rows_per_block,
    sum_of,
    sum_of_products,
)
from exponentials cimport lift, lifted_sum
from narrow cimport narrow_float16, widen_float16
from rows cimport FLOAT16, Matrix, is_narrow, matrix, padded, place_of, put_back, scratch_rows, widened, working_type
from tiles cimport TILE, put_rest, take_rest
from transcendental cimport LIFT, LOWEST, hidden

cnp.import_array()

cdef enum Function:
    SOFTMAX, LOG_SOFTMAX, STEPWISE_SOFTMAX

cdef enum:
    ROUNDED = 512


# ---- one row
cdef void round_to_float16(float *x, Py_ssize_t size) noexcept nogil:
    """Round numbers to the nearest float16."""
    cdef uint16_t narrow[ROUNDED]
    cdef Py_ssize_t index, length
    for index in range(block_count(size, ROUNDED)):
        length = block_length(index, size, ROUNDED)
        narrow_float16(x + index * ROUNDED, narrow, length)
        widen_float16(narrow, x + index * ROUNDED, length)


cdef void stepwise_row(const float *x, float *out, Py_ssize_t columns) noexcept nogil:
    """Write one row's softmax, each step rounded to float16 but the sum one of float32; x may be `out`."""
    cdef float lowest = hidden(LOWEST)
    cdef float largest = maximum_of(x, columns)
    cdef float scale = <float> 1.0 / LIFT
    cdef float rest[TILE]
    cdef float total
    cdef Py_ssize_t i = 0
    for i in range(columns):
        out[i] = x[i] - largest
    round_to_float16(out, columns)
    i = 0
    while i + TILE <= columns:
        lift(<const float *> out + i, <float> 0.0, lowest, out + i)
        i += TILE
    if i < columns:
        take_rest(<const float *> out + i, columns - i, <float> 0.0, rest)
        lift(<const float *> rest, <float> 0.0, lowest, rest)
        put_rest(<const float *> rest, columns - i, out + i)
    for i in range(columns):
        out[i] = out[i] * scale
    round_to_float16(out, columns)
    total = <float> sum_of(<const float *> out, columns)
    round_to_float16(&total, 1)
    for i in range(columns):
        out[i] = out[i] / total


cdef void forward_row(
    Function function, const floating *x, floating *out, Py_ssize_t columns
) noexcept nogil:
    """Write one row's softmax or its logarithm."""
    cdef floating largest, factor, log_total
    cdef floating rest[TILE]
    cdef Py_ssize_t i
    if floating is float:
        if function == STEPWISE_SOFTMAX:
            stepwise_row(x, out, columns)
            return
    if columns < TILE:
        # What e^-inf adds changes nothing.
        take_rest(x, columns, <floating> -INFINITY, rest)
        forward_row(function, <const floating *> rest, rest, TILE)
        put_rest(<const floating *> rest, columns, out)
        return
    largest = maximum_of(x, columns)
    if function == SOFTMAX:
        factor = <floating> (1 / lifted_sum(x, largest, out, out + columns, columns))
        for i in range(columns):
            out[i] *= factor
    else:
        log_total = <floating> log(lifted_sum(x, largest, <floating *> NULL, out, columns) / LIFT)
        for i in range(columns):
            out[i] = x[i] - largest - log_total


cdef inline void logarithm_gradient(
    const floating *dy, const floating *y, floating factor, float lowest, floating *dx
) noexcept nogil:
    """Write dy - `LIFT` e^y factor for a tile."""
    cdef floating tile[TILE]
    cdef int lane
    lift(y, <floating> 0, lowest, tile)
    for lane in range(TILE):
        tile[lane] = dy[lane] - tile[lane] * factor
    for lane in range(TILE):
        dx[lane] = tile[lane]


cdef void backward_row(
    Function function, const floating *dy, const floating *y, floating *dx, Py_ssize_t columns
) noexcept nogil:
    """Write one row's y (dy - sum(dy y)), or dy - exp(y) sum(dy) for the logarithm."""
    cdef float lowest = hidden(LOWEST)
    cdef floating total, factor
    cdef floating y_rest[TILE]
    cdef floating dy_rest[TILE]
    cdef Py_ssize_t i = 0
    if function == SOFTMAX:
        total = <floating> sum_of_products(dy, y, columns)
        for i in range(columns):
            dx[i] = y[i] * (dy[i] - total)
        return
    factor = <floating> (sum_of(dy, columns) / LIFT)
    while i + TILE <= columns:
        logarithm_gradient(dy + i, y + i, factor, lowest, dx + i)
        i += TILE
    if i < columns:
        take_rest(y + i, columns - i, 0, y_rest)
        take_rest(dy + i, columns - i, 0, dy_rest)
        logarithm_gradient(<const floating *> dy_rest, <const floating *> y_rest, factor, lowest, dy_rest)
        put_rest(<const floating *> dy_rest, columns - i, dx + i)


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


# ---- arrays
cdef int forward(str kernel, Function function, cnp.ndarray x, cnp.ndarray out) except -1:
    """Check the arrays and write the softmax or its logarithm into `out`."""
    cdef Matrix source = matrix(kernel, "x", x, False, "x", x)
    cdef Matrix to = matrix(kernel, "out", out, True, "x", x)
    cdef Py_ssize_t rows = cnp.PyArray_DIM(x, 0)
    cdef Py_ssize_t columns = cnp.PyArray_DIM(x, 1)
    if function == STEPWISE_SOFTMAX and (source.number != FLOAT16 or to.number != FLOAT16):
        raise TypeError(
            f"For '{kernel}', 'x' and 'out' must be float16, but got {type_name(x)} and {type_name(out)}."
        )
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


def stepwise_softmax_forward(cnp.ndarray x not None, cnp.ndarray out not None):
    """Write the softmax of float16 numbers with every step rounded to float16, but a float32 sum.

    That is how MindSpore rounds; `softmax_forward` rounds once.

    >>> out = np.empty((1, 2), np.float16)
    >>> stepwise_softmax_forward(np.log(np.array([[1.0, 3.0]], np.float16)), out)
    >>> out.round(2)
    array([[0.25, 0.75]], dtype=float16)
    """
    forward("stepwise_softmax_forward", STEPWISE_SOFTMAX, x, out)


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
