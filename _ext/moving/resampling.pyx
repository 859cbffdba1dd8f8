# cython: cdivision=True, boundscheck=False, wraparound=False
"""A dimension of an array multiplied by a sparse matrix: each new element is a weighted sum of a few old ones.

The matrix comes by rows: `starts[i]` to `starts[i + 1]` are the places in `columns` and `weights` of row i. Terms are
added in their order, so neither the number of threads nor where a line lies changes a bit, and what has no weight is
not read.
"""

cimport numpy as cnp
from cython cimport floating
from cython.parallel cimport prange
from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc

from arrays cimport check, real_type
from blocks cimport BLOCK, PARALLEL_FROM, block_count, block_length

cnp.import_array()

cdef enum:
    # Lines side by side where elements of a line do not lie apart: a register of AVX-512, two of AVX2.
    LINES = 16
    # Elements of such lines, at most: 64 KB of float32.
    LONGEST = 1024
    # Elements that lie apart by less are not worth a loop of their own.
    NARROW = 8

cdef struct Sums:
    Py_ssize_t outer, length, count, inner
    const int64_t *starts
    const int64_t *columns


cdef void sum_wide(
    const Sums *task, const floating *x, const floating *weights, Py_ssize_t row, Py_ssize_t first, Py_ssize_t size,
    floating *out
) noexcept nogil:
    """Write `size` neighbours of row `row`, from number `first` of its inner ones."""
    cdef Py_ssize_t i = row % task.count, k, j, term = task.starts[i], end = task.starts[i + 1]
    cdef const floating *lines = x + row // task.count * task.length * task.inner + first
    cdef const floating *one
    cdef const floating *two
    cdef floating a, b
    cdef floating *to = out + row * task.inner + first
    if (end - term) % 2:
        one, a = lines + task.columns[term] * task.inner, weights[term]
        for j in range(size):
            to[j] = a * one[j]
        term += 1
    elif term < end:
        one, a = lines + task.columns[term] * task.inner, weights[term]
        two, b = lines + task.columns[term + 1] * task.inner, weights[term + 1]
        for j in range(size):
            to[j] = a * one[j] + b * two[j]
        term += 2
    else:
        for j in range(size):
            to[j] = 0
    for k in range(term, end, 2):
        one, a = lines + task.columns[k] * task.inner, weights[k]
        two, b = lines + task.columns[k + 1] * task.inner, weights[k + 1]
        for j in range(size):
            to[j] = to[j] + a * one[j] + b * two[j]


cdef void sum_lines(
    const Sums *task, const floating *x, const floating *weights, Py_ssize_t first, Py_ssize_t lines,
    floating *side_by_side, floating *out
) noexcept nogil:
    """Write up to LINES lines, from number `first`; elements of a line are `inner` apart."""
    cdef Py_ssize_t i, k, j, line
    cdef const floating *from_here[LINES]
    cdef floating *to_there[LINES]
    cdef const floating *at
    cdef floating total[LINES]
    cdef floating weight
    for j in range(LINES):
        line = first + min(j, lines - 1)
        from_here[j] = x + line // task.inner * task.length * task.inner + line % task.inner
        to_there[j] = out + line // task.inner * task.count * task.inner + line % task.inner
    for i in range(task.length):
        for j in range(LINES):
            side_by_side[i * LINES + j] = from_here[j][i * task.inner]
    for i in range(task.count):
        for j in range(LINES):
            total[j] = 0
        for k in range(task.starts[i], task.starts[i + 1]):
            at, weight = side_by_side + task.columns[k] * LINES, weights[k]
            for j in range(LINES):
                total[j] = total[j] + weight * at[j]
        for j in range(lines):
            to_there[j][i * task.inner] = total[j]


cdef void sum_line(
    const Sums *task, const floating *x, const floating *weights, Py_ssize_t line, floating *out
) noexcept nogil:
    """Write one long line."""
    cdef Py_ssize_t i, k
    cdef const floating *from_here = x + line // task.inner * task.length * task.inner + line % task.inner
    cdef floating *to_there = out + line // task.inner * task.count * task.inner + line % task.inner
    cdef floating total
    for i in range(task.count):
        total = 0
        for k in range(task.starts[i], task.starts[i + 1]):
            total = total + weights[k] * from_here[task.columns[k] * task.inner]
        to_there[i * task.inner] = total


cdef int sum_block(
    const Sums *task, const floating *x, const floating *weights, Py_ssize_t first, Py_ssize_t lines, floating *out
) noexcept nogil:
    """Write a block of lines; -1 if there is no memory."""
    cdef Py_ssize_t line
    cdef floating *side_by_side
    if task.length > LONGEST:
        for line in range(first, first + lines):
            sum_line(task, x, weights, line, out)
        return 0
    side_by_side = <floating *> malloc(max(task.length, 1) * LINES * sizeof(floating))
    if side_by_side == NULL:
        return -1
    for line in range(block_count(lines, LINES)):
        sum_lines(
            task, x, weights, first + line * LINES, block_length(line, lines, LINES), side_by_side, out
        )
    free(side_by_side)
    return 0


cdef int sum_all(const Sums *task, const floating *x, const floating *weights, floating *out) noexcept nogil:
    """Write all; below 0 if there is no memory."""
    cdef Py_ssize_t rows = task.outer * task.count, lines = task.outer * task.inner
    cdef Py_ssize_t parts, length, block
    cdef bint many = rows * task.inner >= PARALLEL_FROM
    cdef int failed = 0
    if task.inner >= NARROW:
        length = min(task.inner, BLOCK)
        parts = block_count(task.inner, length)
        for block in prange(rows * parts, schedule="static", use_threads_if=many):
            sum_wide(
                task, x, weights, block // parts, block % parts * length,
                block_length(block % parts, task.inner, length), out
            )
        return 0
    length = max(BLOCK // max(task.length, task.count) // LINES, 1) * LINES
    for block in prange(block_count(lines, length), schedule="static", use_threads_if=many):
        failed += sum_block(task, x, weights, block * length, block_length(block, lines, length), out)
    return failed


cdef bint rises(const Sums *task, Py_ssize_t terms) noexcept nogil:
    """Say whether the rows' starts go from 0 to the number of terms."""
    cdef Py_ssize_t i
    if task.count < 0 or task.starts[0] != 0 or task.starts[task.count] != terms:
        return False
    for i in range(task.count):
        if task.starts[i + 1] < task.starts[i]:
            return False
    return True


cdef bint are_inside(const Sums *task) noexcept nogil:
    """Say whether all columns are."""
    cdef Py_ssize_t k
    for k in range(task.starts[task.count]):
        if not 0 <= task.columns[k] < task.length:
            return False
    return True


def weighted_sums(
    cnp.ndarray x not None, cnp.ndarray starts not None, cnp.ndarray columns not None, cnp.ndarray weights not None,
    cnp.ndarray out not None
):
    """Write ``out[o, i] = sum of weights[k] x[o, columns[k]]`` over k from starts[i] to starts[i + 1].

    Args:
        x: (outer, length, inner), float32 or float64.
        starts: int64 (count + 1,), from 0, not falling.
        columns: int64 (terms,), each below the length.
        weights: (terms,), of the type of x.
        out: (outer, count, inner).

    >>> import numpy as np
    >>> out = np.empty((1, 2, 1))
    >>> starts, columns = np.array([0, 1, 3]), np.array([2, 0, 1])
    >>> weighted_sums(np.array([[[1.0], [3], [5]]]), starts, columns, np.array([1, 0.5, 0.5]), out)
    >>> out.ravel()
    array([5., 2.])
    """
    cdef str kernel = "weighted_sums"
    cdef Sums task
    cdef int number = real_type(kernel, "x", x), failed
    check(kernel, "x", x, number, 3, False)
    check(kernel, "starts", starts, cnp.NPY_INT64, 1, False)
    check(kernel, "columns", columns, cnp.NPY_INT64, 1, False)
    check(kernel, "weights", weights, number, 1, False)
    check(kernel, "out", out, number, 3, True)
    task.outer, task.length, task.inner = (<object> x).shape
    task.count = cnp.PyArray_SIZE(starts) - 1
    if (<object> out).shape != (task.outer, task.count, task.inner):
        raise ValueError(
            f"For '{kernel}', 'out' must have the shape {(task.outer, task.count, task.inner)}, but got "
            f"{(<object> out).shape}."
        )
    task.starts = <const int64_t *> cnp.PyArray_DATA(starts)
    task.columns = <const int64_t *> cnp.PyArray_DATA(columns)
    if cnp.PyArray_SIZE(weights) != cnp.PyArray_SIZE(columns) or not rises(&task, cnp.PyArray_SIZE(columns)):
        raise ValueError(
            f"For '{kernel}', 'starts' must rise from 0 to the {cnp.PyArray_SIZE(columns)} terms, and each have a "
            "weight."
        )
    if not are_inside(&task):
        raise ValueError(f"For '{kernel}', 'columns' must be from 0 to {task.length - 1}, below the length of 'x'.")
    if cnp.PyArray_SIZE(out) == 0:
        return
    cdef const void *read = cnp.PyArray_DATA(x)
    cdef const void *factors = cnp.PyArray_DATA(weights)
    cdef void *written = cnp.PyArray_DATA(out)
    with nogil:
        if number == cnp.NPY_FLOAT32:
            failed = sum_all(&task, <const float *> read, <const float *> factors, <float *> written)
        else:
            failed = sum_all(&task, <const double *> read, <const double *> factors, <double *> written)
    if failed:
        raise MemoryError(f"For '{kernel}', there is no memory for {LINES} lines of {task.length} elements.")
