# cython: cdivision=True, boundscheck=False, wraparound=False
"""The gated linear unit and its gradient: one half of each row gates the other.

Rows lie one after the other, a first half a and a second half b: y = a / (1 + e^-b). Arrays are float32, float64,
bfloat16 or float16; 16-bit floats are computed with in float32.
"""

cimport numpy as cnp
from cython cimport floating
from cython.parallel cimport prange
from libc.string cimport memcpy

from arrays cimport check
from blocks cimport EXPONENTIAL_COST, PARALLEL_FROM, block_count, block_length
from rows cimport FLOAT64, LINE, Matrix, Number, number_of, place_of, put_back, widened
from transcendental cimport hidden, normal_exponential, sigmoid

cnp.import_array()

cdef enum:
    # Elements of a half that are worked on at once: what they need stays in the L1 cache.
    TILE = 1024
    # Halves below which several rows make a tile: a loop over one would hardly begin.
    SHORT = 64
    # Elements of a half that a thread does at once.
    SHARE = 8192
    # Numbers of a thread's scratch memory: five tiles from the start of a cache line on.
    SCRATCH = 5 * TILE + LINE // 8


cdef inline floating share_of(floating b, float lowest, float highest, floating *fall) noexcept nogil:
    """Return s = 1 / (1 + e^-b), in float32 0 below -88, and 1 - s without cancellation.

    The bounds are hidden(-88) and hidden(88).
    """
    cdef floating share
    cdef float bounded, e
    if floating is double:
        share = sigmoid(b, lowest)
        fall[0] = sigmoid(-b, lowest)
        return share
    else:
        # Written such that a NaN stays one.
        bounded = highest if highest < -b else -b
        bounded = lowest if lowest > bounded else bounded
        e = normal_exponential(bounded)
        share = <float> 1.0 / (<float> 1.0 + e)
        fall[0] = e * share
        return <float> 0.0 if b < lowest else share


cdef void gate_piece(const floating *a, const floating *b, floating *out, Py_ssize_t size) noexcept nogil:
    """Write a s(b)."""
    cdef float lowest = hidden(-88)
    cdef float highest = hidden(88)
    cdef floating fall
    cdef Py_ssize_t i
    for i in range(size):
        out[i] = a[i] * share_of(b[i], lowest, highest, &fall)


cdef void slope_piece(
    const floating *dy, const floating *a, const floating *b, floating *da, floating *db, Py_ssize_t size
) noexcept nogil:
    """Write the gradients of a and b, whose places they may take."""
    cdef float lowest = hidden(-88)
    cdef float highest = hidden(88)
    cdef floating fall, passed, first
    cdef Py_ssize_t i
    for i in range(size):
        first = a[i]
        passed = dy[i] * share_of(b[i], lowest, highest, &fall)
        da[i] = passed
        db[i] = passed * fall * first


cdef void split(const floating *rows, floating *a, floating *b, Py_ssize_t count, Py_ssize_t half) noexcept nogil:
    """Copy the halves of rows apart."""
    cdef Py_ssize_t row
    for row in range(count):
        memcpy(a + row * half, rows + 2 * row * half, half * sizeof(floating))
        memcpy(b + row * half, rows + (2 * row + 1) * half, half * sizeof(floating))


cdef void join(const floating *a, const floating *b, floating *rows, Py_ssize_t count, Py_ssize_t half) noexcept nogil:
    """Copy halves together into rows."""
    cdef Py_ssize_t row
    for row in range(count):
        memcpy(rows + 2 * row * half, a + row * half, half * sizeof(floating))
        memcpy(rows + (2 * row + 1) * half, b + row * half, half * sizeof(floating))


cdef void gate_rows(
    Matrix x, Matrix out, Py_ssize_t first, Py_ssize_t count, Py_ssize_t half, floating *scratch
) noexcept nogil:
    """Gate some short rows; `scratch` takes five tiles."""
    cdef Py_ssize_t size = count * half
    cdef const floating *rows = widened(x, 2 * first * half, scratch, 2 * size)
    cdef floating *to = place_of(out, first * half, scratch + 4 * TILE)
    split(rows, scratch + 2 * TILE, scratch + 3 * TILE, count, half)
    gate_piece(<const floating *> scratch + 2 * TILE, <const floating *> scratch + 3 * TILE, to, size)
    put_back(out, first * half, <const floating *> to, size)


cdef void slope_rows(
    Matrix dy, Matrix x, Matrix dx, Py_ssize_t first, Py_ssize_t count, Py_ssize_t half, floating *scratch
) noexcept nogil:
    """Write the gradient of some short rows; `scratch` takes five tiles."""
    cdef Py_ssize_t size = count * half
    cdef floating *a = scratch + 2 * TILE
    cdef floating *b = scratch + 3 * TILE
    cdef floating *to = place_of(dx, 2 * first * half, scratch)
    split(widened(x, 2 * first * half, scratch, 2 * size), a, b, count, half)
    # The halves are read before their gradients take their places.
    slope_piece(
        widened(dy, first * half, scratch + 4 * TILE, size), <const floating *> a, <const floating *> b, a, b, size
    )
    join(<const floating *> a, <const floating *> b, to, count, half)
    put_back(dx, 2 * first * half, <const floating *> to, 2 * size)


cdef void gate_part(
    Matrix x, Matrix out, Py_ssize_t row, Py_ssize_t start, Py_ssize_t size, Py_ssize_t half, floating *scratch
) noexcept nogil:
    """Gate a piece of a row; `scratch` takes three tiles."""
    cdef floating *to = place_of(out, row * half + start, scratch + 2 * TILE)
    gate_piece(
        widened(x, 2 * row * half + start, scratch, size),
        widened(x, (2 * row + 1) * half + start, scratch + TILE, size), to, size
    )
    put_back(out, row * half + start, <const floating *> to, size)


cdef void slope_part(
    Matrix dy, Matrix x, Matrix dx, Py_ssize_t row, Py_ssize_t start, Py_ssize_t size, Py_ssize_t half,
    floating *scratch
) noexcept nogil:
    """Write the gradient of a piece of a row; `scratch` takes five tiles."""
    cdef Py_ssize_t first = 2 * row * half + start
    cdef floating *da = place_of(dx, first, scratch + 3 * TILE)
    cdef floating *db = place_of(dx, first + half, scratch + 4 * TILE)
    slope_piece(
        widened(dy, row * half + start, scratch, size), widened(x, first, scratch + TILE, size),
        widened(x, first + half, scratch + 2 * TILE, size), da, db, size
    )
    put_back(dx, first, <const floating *> da, size)
    put_back(dx, first + half, <const floating *> db, size)


cdef void run_task(
    Matrix *arrays, bint slope, Py_ssize_t rows, Py_ssize_t half, Py_ssize_t task, floating *scratch
) noexcept nogil:
    """Do a share of the rows: `arrays` are x, the result and dy."""
    cdef Py_ssize_t at_once = max(1, SHARE // half), row = task * at_once, index, count
    cdef Py_ssize_t end = min(row + at_once, rows), some = TILE // half
    while half < SHORT and row < end:
        count = min(some, end - row)
        if slope:
            slope_rows(arrays[2], arrays[0], arrays[1], row, count, half, scratch)
        else:
            gate_rows(arrays[0], arrays[1], row, count, half, scratch)
        row += count
    while row < end:
        for index in range(block_count(half, TILE)):
            if slope:
                slope_part(
                    arrays[2], arrays[0], arrays[1], row, index * TILE, block_length(index, half, TILE), half, scratch
                )
            else:
                gate_part(arrays[0], arrays[1], row, index * TILE, block_length(index, half, TILE), half, scratch)
        row += 1


cdef void task_of(
    Matrix *arrays, bint slope, Py_ssize_t rows, Py_ssize_t half, Py_ssize_t task
) noexcept nogil:
    cdef double scratch[SCRATCH]
    cdef size_t start = (<size_t> scratch + LINE - 1) // LINE * LINE
    if arrays[0].number == FLOAT64:
        run_task(arrays, slope, rows, half, task, <double *> start)
    else:
        run_task(arrays, slope, rows, half, task, <float *> start)


cdef int run(str kernel, cnp.ndarray x, cnp.ndarray half_rows, str name, cnp.ndarray result, bint slope) except -1:
    """Check the arrays, of which `half_rows` has half of x's columns, and do all rows; `result` is written."""
    cdef Number number = number_of(kernel, "x", x)
    cdef int kind = cnp.PyArray_TYPE(x)
    cdef Py_ssize_t rows, half, task
    cdef Matrix arrays[3]
    check(kernel, "x", x, kind, 2, False)
    check(kernel, name, half_rows, kind, 2, not slope)
    if slope:
        check(kernel, "dx", result, kind, 2, True)
        if not cnp.PyArray_SAMESHAPE(result, x):
            raise ValueError(
                f"For '{kernel}', 'dx' must have the shape {(<object> x).shape} of 'x', but got "
                f"{(<object> result).shape}."
            )
    rows, half = cnp.PyArray_DIM(x, 0), cnp.PyArray_DIM(half_rows, 1)
    if cnp.PyArray_DIM(half_rows, 0) != rows or cnp.PyArray_DIM(x, 1) != 2 * half:
        raise ValueError(
            f"For '{kernel}', '{name}' must have the rows of 'x' {(<object> x).shape} and half of its columns, but got "
            f"shape {(<object> half_rows).shape}."
        )
    if not rows or not half:
        return 0
    for array, at in ((x, 0), (result, 1), (half_rows, 2)):
        arrays[<int> at].number = number
        arrays[<int> at].data = cnp.PyArray_DATA(<cnp.ndarray> array)
    with nogil:
        for task in prange(
            block_count(rows, max(1, SHARE // half)), schedule="static",
            use_threads_if=rows * half * EXPONENTIAL_COST >= PARALLEL_FROM
        ):
            task_of(arrays, slope, rows, half, task)
    return 0


def forward(cnp.ndarray x not None, cnp.ndarray out not None):
    """Write a / (1 + e^-b) into `out`.

    Args:
        x: C-contiguous (rows, 2 n), a and b beside each other.
        out: C-contiguous (rows, n), of its type; written.

    >>> out = np.empty((1, 2))
    >>> forward(np.array([[2.0, 3.0, 0.0, 100.0]]), out)
    >>> out
    array([[1., 3.]])
    """
    run("forward", x, out, "out", out, False)


def backward(cnp.ndarray dy not None, cnp.ndarray x not None, cnp.ndarray dx not None):
    """Write the gradient of `forward` into `dx`, of the shape and type of `x`.

    >>> dx = np.empty((1, 2))
    >>> backward(np.ones((1, 1)), np.array([[2.0, 0.0]]), dx)
    >>> dx
    array([[0.5, 0.5]])
    """
    run("backward", x, dy, "dy", dx, True)
