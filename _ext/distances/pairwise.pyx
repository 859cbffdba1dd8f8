# cython: cdivision=True, boundscheck=False, wraparound=False
"""Distances between the rows of matrices, and the gradients of their sum with weights.

Many sums run side by side, as vectors, each in one order: a few numbers in their own type, those sums in float64.
"""

cimport numpy as cnp
from cython cimport floating
from cython.parallel cimport prange
from libc.math cimport fabs, fabsf, sqrt, sqrtf

from arrays cimport check, real_type
from blocks cimport PARALLEL_FROM, block_count

cnp.import_array()

cdef enum:
    # Sums that run side by side, of which the last ones are fewer: constants, so that they stay in registers.
    STRIP = 64
    HALF = 32
    VECTOR = 16
    # Numbers that are added in their own type before the sum goes on in float64, which costs as much as four of them.
    PART = 32


cdef inline Py_ssize_t next_width(Py_ssize_t rest) noexcept nogil:
    """How many of the sums that are left run side by side next."""
    return STRIP if rest >= STRIP else HALF if rest >= HALF else VECTOR if rest >= VECTOR else rest


cdef inline floating magnitude(floating d) noexcept nogil:
    if floating is float:
        return fabsf(d)
    else:
        return fabs(d)


cdef inline void add_parts(
    const floating *x, const floating *y, double *sums, Py_ssize_t n, Py_ssize_t first, Py_ssize_t last,
    Py_ssize_t width, bint squares
) noexcept nogil:
    """Add what some columns of x make of `width` distances; few enough for single precision."""
    cdef floating parts[STRIP]
    cdef Py_ssize_t column, k
    cdef floating d
    for column in range(width):
        parts[column] = 0
    for k in range(first, last):
        if squares:
            for column in range(width):
                d = x[k] - y[k * n + column]
                parts[column] += d * d
        else:
            for column in range(width):
                d = x[k] - y[k * n + column]
                parts[column] += magnitude(d)
    for column in range(width):
        sums[column] += parts[column]


cdef void row_distances(
    const floating *x, const floating *y, floating *out, Py_ssize_t n, Py_ssize_t size, bint squares
) noexcept nogil:
    """Write the distances from the row x to the columns of y (size, n)."""
    cdef double sums[STRIP]
    cdef Py_ssize_t start = 0, column, width, part, first, last
    while start < n:
        width = next_width(n - start)
        for column in range(width):
            sums[column] = 0
        for part in range(block_count(size, PART)):
            first, last = part * PART, min(part * PART + PART, size)
            if width == STRIP:
                add_parts(x, y + start, sums, n, first, last, STRIP, squares)
            elif width == HALF:
                add_parts(x, y + start, sums, n, first, last, HALF, squares)
            elif width == VECTOR:
                add_parts(x, y + start, sums, n, first, last, VECTOR, squares)
            else:
                add_parts(x, y + start, sums, n, first, last, width, squares)
        if not squares:
            for column in range(width):
                out[start + column] = <floating> sums[column]
        elif floating is float:
            # Rounding a sum first changes the last bit of one root in ten; roots of float64 take four times as long.
            for column in range(width):
                out[start + column] = sqrtf(<float> sums[column])
        else:
            for column in range(width):
                out[start + column] = sqrt(sums[column])
        start += width


cdef void all_distances(
    const floating *x, const floating *y, floating *out, Py_ssize_t batch, Py_ssize_t m, Py_ssize_t n,
    Py_ssize_t size, bint squares
) noexcept nogil:
    cdef Py_ssize_t row
    for row in prange(batch * m, schedule="static", use_threads_if=batch * m * n * size >= PARALLEL_FROM):
        row_distances(x + row * size, y + row // m * size * n, out + row * n, n, size, squares)


def distances(cnp.ndarray x not None, cnp.ndarray y not None, cnp.ndarray out not None, int p):
    """Write the distances between the rows of x (batch, m, k) and the columns of y (batch, k, n) into `out`.

    Args:
        x: C-contiguous float32 or float64.
        y: of its type.
        out: of its type, (batch, m, n).
        p: 1 or 2.

    Raises:
        TypeError: for another type.
        ValueError: for another shape, layout or order.

    >>> out = np.empty((1, 1, 2))
    >>> distances(np.zeros((1, 1, 2)), np.array([[[3.0, 0.0], [4.0, 1.0]]]), out, 2)
    >>> out
    array([[[5., 1.]]])
    """
    cdef int kind = real_type("distances", "x", x)
    check("distances", "x", x, kind, 3, False)
    check("distances", "y", y, kind, 3, False)
    check("distances", "out", out, kind, 3, True)
    if p not in (1, 2):
        raise ValueError(f"For 'distances', 'p' must be 1 or 2, but got {p}.")
    cdef Py_ssize_t batch = cnp.PyArray_DIM(x, 0), m = cnp.PyArray_DIM(x, 1), size = cnp.PyArray_DIM(x, 2)
    cdef Py_ssize_t n = cnp.PyArray_DIM(y, 2)
    if (<object> y).shape != (batch, size, n):
        raise ValueError(f"For 'distances', 'y' must have the shape {(batch, size, n)}, but got {(<object> y).shape}.")
    if (<object> out).shape != (batch, m, n):
        raise ValueError(f"For 'distances', 'out' must have the shape {(batch, m, n)}, but got {(<object> out).shape}.")
    cdef void *a = cnp.PyArray_DATA(x)
    cdef void *b = cnp.PyArray_DATA(y)
    cdef void *c = cnp.PyArray_DATA(out)
    with nogil:
        if kind == cnp.NPY_FLOAT32:
            all_distances(<const float *> a, <const float *> b, <float *> c, batch, m, n, size, p == 2)
        else:
            all_distances(<const double *> a, <const double *> b, <double *> c, batch, m, n, size, p == 2)


cdef inline floating sign(floating d) noexcept nogil:
    return d if d != d else <floating> ((d > 0) - (d < 0))


cdef inline void add_slopes(
    const floating *x, const floating *y, const floating *weights, double *sums, Py_ssize_t size, Py_ssize_t first,
    Py_ssize_t last, Py_ssize_t width, bint squares
) noexcept nogil:
    """Add what some rows of y make of `width` columns."""
    cdef floating parts[STRIP]
    cdef Py_ssize_t k, j
    cdef floating weight
    for k in range(width):
        parts[k] = 0
    for j in range(first, last):
        weight = weights[j]
        if squares:
            for k in range(width):
                parts[k] += weight * (x[k] - y[j * size + k])
        else:
            for k in range(width):
                parts[k] += weight * sign(x[k] - y[j * size + k])
    for k in range(width):
        sums[k] += parts[k]


cdef void row_slopes(
    const floating *x, const floating *y, const floating *weights, floating *out, Py_ssize_t n, Py_ssize_t size,
    bint squares
) noexcept nogil:
    """Write the weighted sum of the slopes of the distances from the row x to the rows of y (n, size)."""
    cdef double sums[STRIP]
    cdef Py_ssize_t start = 0, k, part, first, last, width
    while start < size:
        width = next_width(size - start)
        for k in range(width):
            sums[k] = 0
        for part in range(block_count(n, PART)):
            first, last = part * PART, min(part * PART + PART, n)
            if width == STRIP:
                add_slopes(x + start, y + start, weights, sums, size, first, last, STRIP, squares)
            elif width == HALF:
                add_slopes(x + start, y + start, weights, sums, size, first, last, HALF, squares)
            elif width == VECTOR:
                add_slopes(x + start, y + start, weights, sums, size, first, last, VECTOR, squares)
            else:
                add_slopes(x + start, y + start, weights, sums, size, first, last, width, squares)
        for k in range(width):
            out[start + k] = <floating> sums[k]
        start += width


cdef void all_slopes(
    const floating *x, const floating *y, const floating *weights, floating *out, Py_ssize_t batch, Py_ssize_t m,
    Py_ssize_t n, Py_ssize_t size, bint squares
) noexcept nogil:
    cdef Py_ssize_t row
    for row in prange(batch * m, schedule="static", use_threads_if=batch * m * n * size >= PARALLEL_FROM):
        row_slopes(
            x + row * size, y + row // m * size * n, weights + row * n, out + row * size, n, size, squares
        )


def weighted_slopes(
    cnp.ndarray x not None, cnp.ndarray y not None, cnp.ndarray weights not None, cnp.ndarray out not None, int p
):
    """Write the sums over j of weights[i, j] f(x[i] - y[j]), f the identity for p = 2 and the sign for p = 1.

    Args:
        x: C-contiguous float32 or float64, (batch, m, k).
        y: of its type, (batch, n, k).
        weights: of its type, (batch, m, n).
        out: of its type, (batch, m, k).
        p: 1 or 2.

    Raises:
        TypeError: for another type.
        ValueError: for another shape, layout or order.

    >>> out = np.empty((1, 1, 2))
    >>> weighted_slopes(np.zeros((1, 1, 2)), np.array([[[3.0, 4.0]]]), np.full((1, 1, 1), 0.5), out, 2)
    >>> out
    array([[[-1.5, -2. ]]])
    """
    cdef int kind = real_type("weighted_slopes", "x", x)
    check("weighted_slopes", "x", x, kind, 3, False)
    check("weighted_slopes", "y", y, kind, 3, False)
    check("weighted_slopes", "weights", weights, kind, 3, False)
    check("weighted_slopes", "out", out, kind, 3, True)
    if p not in (1, 2):
        raise ValueError(f"For 'weighted_slopes', 'p' must be 1 or 2, but got {p}.")
    cdef Py_ssize_t batch = cnp.PyArray_DIM(x, 0), m = cnp.PyArray_DIM(x, 1), size = cnp.PyArray_DIM(x, 2)
    cdef Py_ssize_t n = cnp.PyArray_DIM(y, 1)
    for name, array, wanted in (
        ("y", y, (batch, n, size)), ("weights", weights, (batch, m, n)), ("out", out, (batch, m, size))
    ):
        if (<object> array).shape != wanted:
            raise ValueError(
                f"For 'weighted_slopes', '{name}' must have the shape {wanted}, but got {(<object> array).shape}."
            )
    cdef void *a = cnp.PyArray_DATA(x)
    cdef void *b = cnp.PyArray_DATA(y)
    cdef void *w = cnp.PyArray_DATA(weights)
    cdef void *c = cnp.PyArray_DATA(out)
    with nogil:
        if kind == cnp.NPY_FLOAT32:
            all_slopes(<const float *> a, <const float *> b, <const float *> w, <float *> c, batch, m, n, size, p == 2)
        else:
            all_slopes(
                <const double *> a, <const double *> b, <const double *> w, <double *> c, batch, m, n, size, p == 2
            )
