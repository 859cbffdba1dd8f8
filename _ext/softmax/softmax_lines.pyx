# cython: cdivision=True, boundscheck=False, wraparound=False
"""Softmax, its logarithm and log(sum(exp(x))) along the middle axis of (outer, length, inner).

Arrays are C-contiguous float32 or float64. Lines that lie side by side are taken in strips, of which
the L2 cache holds the numbers between the passes, so nothing is transposed. The largest number of a
line is subtracted first, so no exponential overflows. An output may be an input.
"""

cimport numpy as cnp
from cython cimport floating
from cython.parallel cimport prange
from libc.math cimport INFINITY, isfinite, isnan, log

from arrays cimport check, check_same_shape, real_type
from blocks cimport EXPONENTIAL_COST, PARALLEL_FROM, block_count, block_length, maximum_of, rows_per_block
from exponentials cimport lift, lifted_sum
from tiles cimport TILE, put_rest, take_rest
from transcendental cimport LIFT, LOWEST, hidden, lifted_exponential

cnp.import_array()

cdef enum:
    # Numbers of a strip, and its lines at most.
    STRIP_SIZE = 1 << 16
    WIDEST = 512

cdef enum Function:
    SOFTMAX, LOG_SOFTMAX, LOG_SUM

cdef struct Lines:
    Py_ssize_t outer, length, inner
    Py_ssize_t width


cdef Lines lines_of(cnp.ndarray x):
    """Return the lengths, and how many lines make a strip."""
    cdef Lines at
    at.outer, at.length, at.inner = cnp.PyArray_DIM(x, 0), cnp.PyArray_DIM(x, 1), cnp.PyArray_DIM(x, 2)
    at.width = STRIP_SIZE // max(at.length, <Py_ssize_t> 1) // TILE * TILE
    at.width = max(<Py_ssize_t> TILE, min(<Py_ssize_t> WIDEST, at.width))
    return at


# ---- a strip: `row` is its first number in each row of `inner` numbers
cdef inline void lift_below(
    const floating *x, const floating *origins, float lowest, floating *tile
) noexcept nogil:
    """Write `LIFT` e^(x - origin) for a tile, each number with its own origin."""
    cdef int lane
    for lane in range(TILE):
        tile[lane] = x[lane] - origins[lane]
    if floating is float:
        # Written such that a NaN stays one.
        for lane in range(TILE):
            tile[lane] = lowest if lowest > tile[lane] else tile[lane]
    for lane in range(TILE):
        tile[lane] = lifted_exponential(tile[lane])


cdef inline void exponentials_of_row(
    const floating *x, const floating *origins, float lowest, Py_ssize_t width, floating *terms
) noexcept nogil:
    """Write `LIFT` e^(x - origin) for part of a row; `origins` and `terms` have room for whole tiles."""
    cdef floating rest[TILE]
    cdef Py_ssize_t i = 0
    while i + TILE <= width:
        lift_below(x + i, origins + i, lowest, terms + i)
        i += TILE
    if i < width:
        take_rest(x + i, width - i, <floating> -INFINITY, rest)
        lift_below(<const floating *> rest, origins + i, lowest, terms + i)


cdef inline void largest_of_strip(
    const Lines *at, const floating *x, Py_ssize_t width, floating *largest
) noexcept nogil:
    cdef Py_ssize_t _row, i
    for i in range(width):
        largest[i] = x[i]
    for i in range(width, block_count(width, TILE) * TILE):
        largest[i] = 0
    for _row in range(1, at.length):
        x += at.inner
        for i in range(width):
            largest[i] = x[i] if x[i] > largest[i] else largest[i]


cdef inline floating log_sum(const Lines *at, const floating *x, floating largest, double total) noexcept nogil:
    """Return the logarithm of the sum of a line's exponentials, `LIFT` e^-largest times which is `total`."""
    cdef Py_ssize_t i
    if isfinite(largest):
        return <floating> (largest + log(total / LIFT))
    for i in range(at.length):
        if isnan(x[i * at.inner]):
            return x[i * at.inner]
    return largest


cdef void forward_strip(
    const Lines *at, Function function, const floating *x, floating *out, Py_ssize_t width
) noexcept nogil:
    """Fill a strip of `out`, which is a row of results for LOG_SUM."""
    cdef floating largest[WIDEST]
    cdef floating terms[WIDEST]
    cdef double totals[WIDEST]
    cdef float lowest = hidden(LOWEST)
    cdef Py_ssize_t row, _row, i
    largest_of_strip(at, x, width, largest)
    for i in range(width):
        totals[i] = 0
    for row in range(at.length):
        exponentials_of_row(x + row * at.inner, <const floating *> largest, lowest, width, terms)
        for i in range(width):
            totals[i] += <double> terms[i]
        if function == SOFTMAX:
            for i in range(width):
                out[row * at.inner + i] = terms[i]
    if function == LOG_SUM:
        for i in range(width):
            out[i] = log_sum(at, x + i, largest[i], totals[i])
        return
    for i in range(width):
        terms[i] = <floating> (1 / totals[i] if function == SOFTMAX else log(totals[i] / LIFT))
    for _row in range(at.length):
        if function == SOFTMAX:
            for i in range(width):
                out[i] *= terms[i]
        else:
            for i in range(width):
                out[i] = x[i] - largest[i] - terms[i]
        x += at.inner
        out += at.inner


cdef void backward_strip(
    const Lines *at, Function function, const floating *dy, const floating *y, floating *dx, Py_ssize_t width
) noexcept nogil:
    """Fill a strip of y (dy - sum(dy y)), or of dy - exp(y) sum(dy) for the logarithm."""
    cdef floating origins[WIDEST]
    cdef floating terms[WIDEST]
    cdef floating factors[WIDEST]
    cdef double totals[WIDEST]
    cdef float lowest = hidden(LOWEST)
    cdef Py_ssize_t row, _row, i
    for i in range(WIDEST):
        totals[i] = 0
        origins[i] = 0
    for row in range(at.length):
        for i in range(width):
            if function == SOFTMAX:
                totals[i] += <double> (dy[row * at.inner + i] * y[row * at.inner + i])
            else:
                totals[i] += <double> dy[row * at.inner + i]
    for i in range(width):
        factors[i] = <floating> (totals[i] if function == SOFTMAX else totals[i] / LIFT)
    for _row in range(at.length):
        if function == SOFTMAX:
            for i in range(width):
                dx[i] = y[i] * (dy[i] - factors[i])
        else:
            exponentials_of_row(y, <const floating *> origins, lowest, width, terms)
            for i in range(width):
                dx[i] = dy[i] - terms[i] * factors[i]
        dy += at.inner
        y += at.inner
        dx += at.inner


cdef void share_strip(
    const Lines *at, const floating *x, const floating *origins, const floating *factors, floating *out,
    Py_ssize_t width
) noexcept nogil:
    """Fill a strip of e^(x - origin) factor."""
    cdef floating from_these[WIDEST]
    cdef floating terms[WIDEST]
    cdef floating scales[WIDEST]
    cdef float lowest = hidden(LOWEST)
    cdef Py_ssize_t _row, i
    for i in range(WIDEST):
        from_these[i] = 0
    for i in range(width):
        from_these[i] = origins[i]
        scales[i] = factors[i] / LIFT
    for _row in range(at.length):
        exponentials_of_row(x, <const floating *> from_these, lowest, width, terms)
        for i in range(width):
            out[i] = terms[i] * scales[i]
        x += at.inner
        out += at.inner


cdef void share_row(
    const floating *x, floating origin, floating factor, floating *out, Py_ssize_t size
) noexcept nogil:
    """Write e^(x - origin) factor for contiguous numbers."""
    cdef float lowest = hidden(LOWEST)
    cdef floating tile[TILE]
    cdef floating rest[TILE]
    cdef floating scale = factor / LIFT
    cdef Py_ssize_t i = 0
    cdef int lane
    while i + TILE <= size:
        lift(x + i, origin, lowest, tile)
        for lane in range(TILE):
            out[i + lane] = tile[lane] * scale
        i += TILE
    if i < size:
        take_rest(x + i, size - i, <floating> -INFINITY, rest)
        lift(<const floating *> rest, origin, lowest, rest)
        for lane in range(TILE):
            rest[lane] *= scale
        put_rest(<const floating *> rest, size - i, out + i)


# ---- all strips
cdef void forward_all(
    const Lines *at, Function function, const floating *x, floating *out, bint parallel
) noexcept nogil:
    cdef Py_ssize_t strips = block_count(at.inner, at.width)
    cdef Py_ssize_t results = at.inner if function == LOG_SUM else at.length * at.inner
    cdef Py_ssize_t task
    for task in prange(at.outer * strips, schedule="static", use_threads_if=parallel):
        forward_strip(
            at, function, x + task // strips * at.length * at.inner + task % strips * at.width,
            out + task // strips * results + task % strips * at.width,
            block_length(task % strips, at.inner, at.width),
        )


cdef void log_sums_of_rows(const Lines *at, const floating *x, floating *out, bint parallel) noexcept nogil:
    cdef Py_ssize_t at_once = rows_per_block(at.length, 1)
    cdef Py_ssize_t task, row
    cdef floating largest
    cdef double total
    for task in prange(block_count(at.outer, at_once), schedule="static", use_threads_if=parallel):
        for row in range(task * at_once, task * at_once + block_length(task, at.outer, at_once)):
            largest = maximum_of(x + row * at.length, at.length)
            total = lifted_sum(
                x + row * at.length, largest, <floating *> NULL, x + row * at.length, at.length)
            out[row] = log_sum(at, x + row * at.length, largest, total)


cdef void backward_all(
    const Lines *at, Function function, const floating *dy, const floating *y, floating *dx, bint parallel
) noexcept nogil:
    cdef Py_ssize_t strips = block_count(at.inner, at.width)
    cdef Py_ssize_t task, start
    for task in prange(at.outer * strips, schedule="static", use_threads_if=parallel):
        start = task // strips * at.length * at.inner + task % strips * at.width
        backward_strip(
            at, function, dy + start, y + start, dx + start, block_length(task % strips, at.inner, at.width))


cdef void share_all(
    const Lines *at, const floating *x, const floating *origins, const floating *factors, floating *out, bint parallel
) noexcept nogil:
    cdef Py_ssize_t strips = block_count(at.inner, at.width)
    cdef Py_ssize_t at_once = rows_per_block(at.length, 1)
    cdef Py_ssize_t task, row, start
    if at.inner == 1:
        for task in prange(block_count(at.outer, at_once), schedule="static", use_threads_if=parallel):
            for row in range(task * at_once, task * at_once + block_length(task, at.outer, at_once)):
                share_row(x + row * at.length, origins[row], factors[row], out + row * at.length, at.length)
        return
    for task in prange(at.outer * strips, schedule="static", use_threads_if=parallel):
        start = task // strips * at.length * at.inner + task % strips * at.width
        row = task // strips * at.inner + task % strips * at.width
        share_strip(
            at, x + start, origins + row, factors + row, out + start,
            block_length(task % strips, at.inner, at.width),
        )


# ---- arrays
cdef int check_lines(str kernel, str name, cnp.ndarray array, bint written, cnp.ndarray x) except -1:
    check(kernel, name, array, cnp.PyArray_TYPE(x), 3, written)
    check_same_shape(kernel, name, array, "x", x)
    return 0


cdef int check_results(str kernel, str name, cnp.ndarray array, bint written, cnp.ndarray x) except -1:
    check(kernel, name, array, cnp.PyArray_TYPE(x), 2, written)
    if (
        cnp.PyArray_DIM(array, 0) != cnp.PyArray_DIM(x, 0)
        or cnp.PyArray_DIM(array, 1) != cnp.PyArray_DIM(x, 2)
    ):
        raise ValueError(
            f"For '{kernel}', '{name}' must have the shape {(cnp.PyArray_DIM(x, 0), cnp.PyArray_DIM(x, 2))}, "
            f"but got {(<object> array).shape}."
        )
    return 0


cdef bint is_parallel(const Lines *at) noexcept nogil:
    return at.outer * at.length * at.inner * EXPONENTIAL_COST >= PARALLEL_FROM


cdef int forward(str kernel, Function function, cnp.ndarray x, cnp.ndarray out) except -1:
    """Check the arrays and fill `out`."""
    cdef int number = real_type(kernel, "x", x)
    cdef void *source = cnp.PyArray_DATA(x)
    cdef void *to = cnp.PyArray_DATA(out)
    cdef Lines at
    check(kernel, "x", x, number, 3, False)
    if function == LOG_SUM:
        check_results(kernel, "out", out, True, x)
    else:
        check_lines(kernel, "out", out, True, x)
    at = lines_of(x)
    if at.length == 0 and function == LOG_SUM:
        raise ValueError(f"For '{kernel}', the middle axis of 'x' must not be empty.")
    if cnp.PyArray_SIZE(x) == 0:
        return 0
    with nogil:
        if function == LOG_SUM and at.inner == 1:
            if number == cnp.NPY_FLOAT32:
                log_sums_of_rows(&at, <const float *> source, <float *> to, is_parallel(&at))
            else:
                log_sums_of_rows(&at, <const double *> source, <double *> to, is_parallel(&at))
        elif number == cnp.NPY_FLOAT32:
            forward_all(&at, function, <const float *> source, <float *> to, is_parallel(&at))
        else:
            forward_all(&at, function, <const double *> source, <double *> to, is_parallel(&at))
    return 0


cdef int backward(str kernel, Function function, cnp.ndarray dy, cnp.ndarray y, cnp.ndarray dx) except -1:
    """Check the arrays and fill `dx`."""
    cdef int number = real_type(kernel, "dy", dy)
    cdef void *given = cnp.PyArray_DATA(dy)
    cdef void *kept = cnp.PyArray_DATA(y)
    cdef void *to = cnp.PyArray_DATA(dx)
    cdef Lines at
    check(kernel, "dy", dy, number, 3, False)
    check_lines(kernel, "y", y, False, dy)
    check_lines(kernel, "dx", dx, True, dy)
    at = lines_of(dy)
    if cnp.PyArray_SIZE(dy) == 0:
        return 0
    with nogil:
        if number == cnp.NPY_FLOAT32:
            backward_all(
                &at, function, <const float *> given, <const float *> kept, <float *> to, is_parallel(&at))
        else:
            backward_all(
                &at, function, <const double *> given, <const double *> kept, <double *> to, is_parallel(&at))
    return 0


def softmax_forward(cnp.ndarray x not None, cnp.ndarray out not None):
    """Write exp(x) / sum(exp(x)) along the middle axis of x (outer, length, inner) into `out`.

    >>> out = np.empty((1, 2, 1))
    >>> softmax_forward(np.log([[[1.0], [3.0]]]), out)
    >>> out.ravel().round(4)
    array([0.25, 0.75])
    """
    forward("softmax_forward", SOFTMAX, x, out)


def softmax_backward(cnp.ndarray dy not None, cnp.ndarray y not None, cnp.ndarray dx not None):
    """Write y (dy - sum(dy y)) into `dx`, y being the softmax.

    >>> dx = np.empty((1, 2, 1))
    >>> softmax_backward(np.array([[[1.0], [0.0]]]), np.array([[[0.25], [0.75]]]), dx)
    >>> dx.ravel()
    array([ 0.1875, -0.1875])
    """
    backward("softmax_backward", SOFTMAX, dy, y, dx)


def log_softmax_forward(cnp.ndarray x not None, cnp.ndarray out not None):
    """Write x - log(sum(exp(x))) along the middle axis of x (outer, length, inner) into `out`.

    >>> out = np.empty((1, 2, 1))
    >>> log_softmax_forward(np.log([[[1.0], [3.0]]]), out)
    >>> np.exp(out).ravel().round(4)
    array([0.25, 0.75])
    """
    forward("log_softmax_forward", LOG_SOFTMAX, x, out)


def log_softmax_backward(cnp.ndarray dy not None, cnp.ndarray y not None, cnp.ndarray dx not None):
    """Write dy - exp(y) sum(dy) into `dx`, y being the log softmax.

    >>> dx = np.empty((1, 2, 1))
    >>> log_softmax_backward(np.array([[[1.0], [0.0]]]), np.log([[[0.25], [0.75]]]), dx)
    >>> dx.ravel()
    array([ 0.75, -0.75])
    """
    backward("log_softmax_backward", LOG_SOFTMAX, dy, y, dx)


def log_sum_forward(cnp.ndarray x not None, cnp.ndarray out not None):
    """Write log(sum(exp(x))) along the middle axis of x (outer, length, inner) into `out` (outer, inner).

    >>> out = np.empty((1, 1))
    >>> log_sum_forward(np.log([[[1.0], [3.0]]]), out)
    >>> np.exp(out).round(4)
    array([[4.]])
    """
    forward("log_sum_forward", LOG_SUM, x, out)


def log_sum_backward(
    cnp.ndarray dy not None, cnp.ndarray x not None, cnp.ndarray y not None, cnp.ndarray dx not None
):
    """Write dy e^(x - y) into `dx`, y (outer, inner) being log(sum(exp(x))).

    >>> dx = np.empty((1, 2, 1))
    >>> log_sum_backward(np.ones((1, 1)), np.log([[[1.0], [3.0]]]), np.log([[4.0]]), dx)
    >>> dx.ravel().round(4)
    array([0.25, 0.75])
    """
    cdef str kernel = "log_sum_backward"
    cdef int number = real_type(kernel, "x", x)
    cdef void *source = cnp.PyArray_DATA(x)
    cdef void *origins = cnp.PyArray_DATA(y)
    cdef void *factors = cnp.PyArray_DATA(dy)
    cdef void *to = cnp.PyArray_DATA(dx)
    cdef Lines at
    check(kernel, "x", x, number, 3, False)
    check_results(kernel, "y", y, False, x)
    check_results(kernel, "dy", dy, False, x)
    check_lines(kernel, "dx", dx, True, x)
    at = lines_of(x)
    if cnp.PyArray_SIZE(x) == 0:
        return
    with nogil:
        if number == cnp.NPY_FLOAT32:
            share_all(
                &at, <const float *> source, <const float *> origins, <const float *> factors, <float *> to,
                is_parallel(&at),
            )
        else:
            share_all(
                &at, <const double *> source, <const double *> origins, <const double *> factors, <double *> to,
                is_parallel(&at),
            )
