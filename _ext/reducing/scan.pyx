# cython: cdivision=True, boundscheck=False, wraparound=False
"""Running sums and products along the middle axis of (outer, length, inner).

float32 runs on in float64 and is rounded where it is written. Lines of contiguous numbers are run
along four at a time, since each addition waits for the one before it; of lines that lie side by
side many are, as vectors. Few long lines are cut into blocks, whose totals are found first.
"""

cimport numpy as cnp
from cython.parallel cimport prange
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, malloc

from arrays cimport check, check_same_shape, type_name
from blocks cimport BLOCK, PARALLEL_FROM, block_count, block_length

cnp.import_array()

cdef enum:
    # Lines side by side of a task.
    STRIP = 128
    # Contiguous lines that run together.
    TOGETHER = 4
    # Lines from which on each is run along by one thread, however long.
    MANY = 16

ctypedef fused number:
    float
    double
    int32_t
    int64_t

ctypedef fused wide:
    double
    int64_t

cdef struct Scan:
    bint product, reverse, exclusive
    Py_ssize_t outer, length, inner


cdef inline wide joined(bint product, wide total, wide x) noexcept nogil:
    return total * x if product else total + x


cdef inline void run_lines(
    const Scan *scan, const number *x, number *out, Py_ssize_t apart, Py_ssize_t size, wide *totals
) noexcept nogil:
    """Run along four contiguous lines from `totals` on, and leave the new totals there."""
    cdef wide a = totals[0], b = totals[1], c = totals[2], d = totals[3]
    cdef wide before_a, before_b, before_c, before_d
    cdef bint product = scan.product
    cdef Py_ssize_t step = -1 if scan.reverse else 1
    cdef Py_ssize_t place = size - 1 if scan.reverse else 0
    cdef Py_ssize_t _i
    if scan.exclusive:
        for _i in range(size):
            before_a, before_b, before_c, before_d = a, b, c, d
            a = joined(product, a, <wide> x[place])
            b = joined(product, b, <wide> x[place + apart])
            c = joined(product, c, <wide> x[place + 2 * apart])
            d = joined(product, d, <wide> x[place + 3 * apart])
            out[place], out[place + apart] = <number> before_a, <number> before_b
            out[place + 2 * apart], out[place + 3 * apart] = <number> before_c, <number> before_d
            place += step
    else:
        for _i in range(size):
            a = joined(product, a, <wide> x[place])
            b = joined(product, b, <wide> x[place + apart])
            c = joined(product, c, <wide> x[place + 2 * apart])
            d = joined(product, d, <wide> x[place + 3 * apart])
            out[place], out[place + apart] = <number> a, <number> b
            out[place + 2 * apart], out[place + 3 * apart] = <number> c, <number> d
            place += step
    totals[0], totals[1], totals[2], totals[3] = a, b, c, d


cdef inline wide run_line(
    const Scan *scan, const number *x, number *out, Py_ssize_t size, wide total
) noexcept nogil:
    """Run along one contiguous line from a total on, and return the new one; `out` may be NULL."""
    cdef Py_ssize_t step = -1 if scan.reverse else 1
    cdef Py_ssize_t place = size - 1 if scan.reverse else 0
    cdef wide before
    cdef Py_ssize_t _i
    for _i in range(size):
        before = total
        total = joined(scan.product, total, <wide> x[place])
        if out != NULL:
            out[place] = <number> (before if scan.exclusive else total)
        place += step
    return total


cdef inline void run_strip(
    const Scan *scan, const number *x, number *out, Py_ssize_t width, wide *totals
) noexcept nogil:
    """Run along up to STRIP lines side by side."""
    cdef Py_ssize_t step = -scan.inner if scan.reverse else scan.inner
    cdef bint product = scan.product
    cdef Py_ssize_t _i, column
    for column in range(width):
        totals[column] = product
    if scan.reverse:
        x += (scan.length - 1) * scan.inner
        out += (scan.length - 1) * scan.inner
    for _i in range(scan.length):
        if scan.exclusive:
            for column in range(width):
                out[column] = <number> totals[column]
        if product:
            for column in range(width):
                totals[column] *= <wide> x[column]
        else:
            for column in range(width):
                totals[column] += <wide> x[column]
        if not scan.exclusive:
            for column in range(width):
                out[column] = <number> totals[column]
        x += step
        out += step


cdef inline void run_group(
    const Scan *scan, const number *x, number *out, Py_ssize_t lines, wide *totals
) noexcept nogil:
    """Run along up to TOGETHER contiguous lines."""
    cdef Py_ssize_t line
    for line in range(TOGETHER):
        totals[line] = scan.product
    if lines == TOGETHER:
        run_lines(scan, x, out, scan.length, scan.length, totals)
    else:
        for line in range(lines):
            run_line(scan, x + line * scan.length, out + line * scan.length, scan.length, totals[0])


cdef inline int run_blocks(const Scan *scan, const number *x, number *out, wide *unused) noexcept nogil:
    """Run along few long contiguous lines, block by block; return -1 without memory."""
    cdef Py_ssize_t blocks = block_count(scan.length, BLOCK)
    cdef Py_ssize_t task, line, block, start
    cdef wide total, part
    cdef wide *totals = <wide *> malloc(scan.outer * blocks * sizeof(wide))
    if totals == NULL:
        return -1
    for task in prange(scan.outer * blocks, schedule="static"):
        start = task // blocks * scan.length + task % blocks * BLOCK
        totals[task] = run_line(
            scan, x + start, <number *> NULL, block_length(task % blocks, scan.length, BLOCK), <wide> scan.product)
    for line in range(scan.outer):
        total = scan.product
        for block in range(blocks):
            start = line * blocks + (blocks - 1 - block if scan.reverse else block)
            part = totals[start]
            totals[start] = total
            total = joined(scan.product, total, part)
    for task in prange(scan.outer * blocks, schedule="static"):
        start = task // blocks * scan.length + task % blocks * BLOCK
        run_line(scan, x + start, out + start, block_length(task % blocks, scan.length, BLOCK), totals[task])
    free(totals)
    return 0


cdef inline void run_strip_task(
    const Scan *scan, const number *x, number *out, Py_ssize_t task, wide like
) noexcept nogil:
    """Run along one strip, with totals on the stack."""
    cdef wide totals[STRIP]
    cdef Py_ssize_t strips = block_count(scan.inner, STRIP)
    cdef Py_ssize_t start = task // strips * scan.length * scan.inner + task % strips * STRIP
    run_strip(scan, x + start, out + start, block_length(task % strips, scan.inner, STRIP), totals)


cdef inline void run_group_task(
    const Scan *scan, const number *x, number *out, Py_ssize_t task, wide like
) noexcept nogil:
    """Run along one group of contiguous lines."""
    cdef wide totals[TOGETHER]
    cdef Py_ssize_t start = task * TOGETHER * scan.length
    run_group(scan, x + start, out + start, block_length(task, scan.outer, TOGETHER), totals)


cdef inline int run_all(const Scan *scan, const number *x, number *out, wide like) noexcept nogil:
    """Run along all lines; return -1 without memory."""
    cdef bint parallel = scan.outer * scan.length * scan.inner >= PARALLEL_FROM
    cdef Py_ssize_t task
    if scan.inner > 1:
        for task in prange(
            scan.outer * block_count(scan.inner, STRIP), schedule="static", use_threads_if=parallel
        ):
            run_strip_task(scan, x, out, task, like)
    elif scan.outer < MANY and scan.length >= 2 * BLOCK:
        return run_blocks(scan, x, out, &like)
    else:
        for task in prange(block_count(scan.outer, TOGETHER), schedule="static", use_threads_if=parallel):
            run_group_task(scan, x, out, task, like)
    return 0


def scan(cnp.ndarray x not None, cnp.ndarray out not None, str op, bint reverse=False, bint exclusive=False):
    """Write the running sum or product along the middle axis of x (outer, length, inner) into `out`.

    Args:
        x: C-contiguous float32, float64, int32 or int64.
        out: of its type and shape.
        op: "sum" or "prod".
        reverse: run from the end.
        exclusive: element i is the total of those before i.

    Raises:
        TypeError: for another type.
        ValueError: for another shape, layout or operation.

    >>> out = np.empty((1, 3, 1))
    >>> scan(np.array([1.0, 2.0, 3.0]).reshape(1, 3, 1), out, "sum")
    >>> out.ravel()
    array([1., 3., 6.])
    """
    cdef Scan work
    cdef int kind = cnp.PyArray_TYPE(x)
    cdef int state = 0
    cdef void *source = cnp.PyArray_DATA(x)
    cdef void *to = cnp.PyArray_DATA(out)
    if op not in ("sum", "prod"):
        raise ValueError(f"For 'scan', 'op' must be sum or prod, but got {op!r}.")
    if type_name(x) not in ("float32", "float64", "int32", "int64"):
        raise TypeError(f"For 'scan', 'x' must be float32, float64, int32 or int64, but got {type_name(x)}.")
    check("scan", "x", x, kind, 3, False)
    check("scan", "out", out, kind, 3, True)
    check_same_shape("scan", "out", out, "x", x)
    if cnp.PyArray_SIZE(x) == 0:
        return
    work.product, work.reverse, work.exclusive = op == "prod", reverse, exclusive
    work.outer, work.length, work.inner = cnp.PyArray_DIM(x, 0), cnp.PyArray_DIM(x, 1), cnp.PyArray_DIM(x, 2)
    with nogil:
        if kind == cnp.NPY_FLOAT32:
            state = run_all(&work, <const float *> source, <float *> to, <double> 0)
        elif kind == cnp.NPY_FLOAT64:
            state = run_all(&work, <const double *> source, <double *> to, <double> 0)
        elif kind == cnp.NPY_INT32:
            state = run_all(&work, <const int32_t *> source, <int32_t *> to, <int64_t> 0)
        else:
            state = run_all(&work, <const int64_t *> source, <int64_t *> to, <int64_t> 0)
    if state < 0:
        raise MemoryError()
