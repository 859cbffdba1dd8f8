# cython: cdivision=True, boundscheck=False, wraparound=False
"""One value from many over any axes of an array: sums, products, extremes and norms.

Axes are taken in the order of memory and neighbours of one kind joined, so an array in any order of
its axes is read once, front to back. What is left is reduced from the innermost axes outward, in at
most two ways: over contiguous rows, or over the rows of strips of columns. float32, float16 and
bfloat16 are added up in float64 and rounded once; whole numbers wrap around.
"""

cimport numpy as cnp
from cython.parallel cimport prange
from libc.math cimport sqrt
from libc.stdint cimport uint16_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from arrays cimport type_name
from blocks cimport BLOCK, PARALLEL_FROM, block_count, block_length
from narrow cimport narrow_bfloat16, narrow_float16, widen_bfloat16, widen_float16
from rows cimport is_bfloat16

cnp.import_array()

cdef extern from "reduction_kernels.h" nogil:
    enum:
        DM_LEAF, DM_SUM, DM_PROD, DM_MAX, DM_MIN, DM_SQUARES, DM_MAGNITUDES, DM_NUMBERS, DM_REDUCTIONS
    ctypedef struct Reduction "dm_reduction":
        int width
        void (*rows)(const void *x, Py_ssize_t count, Py_ssize_t size, void *results) noexcept nogil
        void (*gather)(const void *results, Py_ssize_t count, void *result) noexcept nogil
        void (*start)(void *results, Py_ssize_t count) noexcept nogil
        void (*join)(const void *more, Py_ssize_t count, void *results) noexcept nogil
        void (*columns)(
            const void *rows, Py_ssize_t count, Py_ssize_t stride, Py_ssize_t width, void *results) noexcept nogil
    const Reduction *const dm_reductions[10][7]
    const Reduction *const dm_bits_reductions[7]

cdef enum:
    AXES = 64
    # Columns of a strip: its float64 results stay in the L1 cache.
    STRIP = 1024
    # Columns up to which several rows are taken as one, and how many columns that makes at most.
    FEW_COLUMNS = 16
    JOINED_COLUMNS = 64
    # Parts at most that the rows of one strip are cut into.
    PARTS = 16
    ROWS_AT_ONCE = 4

# How numbers are stored: an index of dm_reductions, or a 16-bit float, which is widened to FLOAT32.
cdef enum Storage:
    FLOAT32, FLOAT64, INT8, UINT8, INT16, UINT16, INT32, UINT32, INT64, UINT64, FLOAT16, BFLOAT16, BOOL, NONE

cdef enum Finish:
    AS_IT_IS, DIVIDED, ROOT

OPS = {
    "sum": <int> DM_SUM, "mean": <int> DM_SUM, "prod": <int> DM_PROD, "max": <int> DM_MAX, "min": <int> DM_MIN,
    "square_sum": <int> DM_SQUARES, "length": <int> DM_SQUARES, "absolute_sum": <int> DM_MAGNITUDES,
    "number_sum": <int> DM_NUMBERS,
}


include "axis_reduction_axes.pxi"


cdef struct Pass:
    # One reduction of neighbouring axes: `outer` axes around `rows` rows of `columns` columns (0: of one row each).
    const Reduction *reduction
    # The same of bfloat16's bits, NULL if x holds others or is widened before.
    const Reduction *of_bits
    Storage storage
    Py_ssize_t item
    const char *x
    Axis outer[AXES]
    int outer_axes
    Py_ssize_t outer_size
    Py_ssize_t rows
    Py_ssize_t row_stride
    Py_ssize_t columns
    # Where results go: all of them unrounded and, in the last pass, rounded.
    char *results
    char *out
    Finish finish
    double divisor
    bint failed


cdef int storage_of(cnp.ndarray x) except -1:
    """Return how the numbers are stored, NONE if they are no real numbers."""
    cdef int number = cnp.PyArray_TYPE(x)
    cdef Py_ssize_t size = cnp.PyArray_ITEMSIZE(x)
    cdef int step = 0
    if number == cnp.NPY_FLOAT32:
        return FLOAT32
    if number == cnp.NPY_FLOAT64:
        return FLOAT64
    if number == cnp.NPY_FLOAT16:
        return FLOAT16
    if number == cnp.NPY_BOOL:
        return BOOL
    if cnp.PyTypeNum_ISINTEGER(number):
        while size > 1:
            size //= 2
            step += 2
        return INT8 + step + cnp.PyTypeNum_ISUNSIGNED(number)
    return BFLOAT16 if is_bfloat16(x) else NONE


# ---- rounding
cdef void finish(const Pass *work, const char *results, Py_ssize_t first, Py_ssize_t count) noexcept nogil:
    """Write results from `first` on in the type they are wanted in."""
    cdef float wide[STRIP]
    cdef float *singles = <float *> work.out + first
    cdef const double *doubles = <const double *> results
    cdef Py_ssize_t block, start, i, size
    if work.storage == FLOAT64:
        for i in range(count):
            (<double *> work.out)[first + i] = finished(work, doubles[i])
        return
    if work.storage != FLOAT32 and work.storage != FLOAT16 and work.storage != BFLOAT16:
        memcpy(work.out + first * work.reduction.width, results, count * work.reduction.width)
        return
    for block in range(block_count(count, STRIP)):
        start, size = block * STRIP, block_length(block, count, STRIP)
        if work.storage != FLOAT32:
            singles = wide
        if work.reduction.width == sizeof(float):
            memcpy(singles, (<const float *> results) + start, size * sizeof(float))
        else:
            round_to_single(work, doubles + start, size, singles)
        if work.storage == FLOAT16:
            narrow_float16(wide, <uint16_t *> work.out + first + start, size)
        elif work.storage == BFLOAT16:
            narrow_bfloat16(wide, <uint16_t *> work.out + first + start, size)
        singles += size


cdef inline void round_to_single(
    const Pass *work, const double *results, Py_ssize_t size, float *out
) noexcept nogil:
    """Write float64 results in float32; there is time for a root, but not for a division each."""
    cdef double share = 1 / work.divisor if work.finish == DIVIDED else 1
    cdef Py_ssize_t i
    if work.finish == ROOT:
        for i in range(size):
            out[i] = <float> sqrt(results[i])
    else:
        for i in range(size):
            out[i] = <float> (results[i] * share)


cdef inline double finished(const Pass *work, double result) noexcept nogil:
    if work.finish == DIVIDED:
        return result / work.divisor
    return sqrt(result) if work.finish == ROOT else result


# ---- contiguous rows
cdef inline const char *outer_start(const Pass *work, Py_ssize_t index) noexcept nogil:
    """Return where the part of x at one index of the outer axes starts."""
    cdef const char *place = work.x
    cdef int axis = work.outer_axes - 1
    while axis > 0:
        place += index % work.outer[axis].length * work.outer[axis].stride
        index //= work.outer[axis].length
        axis -= 1
    if work.outer_axes > 0:
        place += index * work.outer[0].stride
    return place


cdef inline void widen(const Pass *work, const char *x, Py_ssize_t size, float *wide) noexcept nogil:
    if work.storage == FLOAT16:
        widen_float16(<const uint16_t *> x, wide, size)
    else:
        widen_bfloat16(<const uint16_t *> x, wide, size)


cdef void reduce_row(const Pass *work, const char *x, Py_ssize_t size, char *result) noexcept nogil:
    """Write the reduction of contiguous numbers."""
    cdef float wide[DM_LEAF]
    cdef double part
    cdef Py_ssize_t leaf, length
    if work.storage != FLOAT16 and work.storage != BFLOAT16:
        work.reduction.rows(x, 1, size, result)
        return
    work.reduction.start(result, 1)
    for leaf in range(block_count(size, DM_LEAF)):
        length = block_length(leaf, size, DM_LEAF)
        if work.of_bits != NULL:
            work.of_bits.rows(x + leaf * DM_LEAF * work.item, 1, length, &part)
            work.reduction.join(&part, 1, result)
            continue
        widen(work, x + leaf * DM_LEAF * work.item, length, wide)
        work.reduction.rows(wide, 1, length, &part)
        work.reduction.join(&part, 1, result)


cdef void reduce_narrow_rows(const Pass *work, const char *x, Py_ssize_t rows, char *results) noexcept nogil:
    """Write the reductions of short rows of 16-bit floats that follow each other, as many at once as a leaf holds."""
    cdef float wide[DM_LEAF]
    cdef Py_ssize_t at_once = DM_LEAF // work.rows, block, first, count
    if work.of_bits != NULL:
        work.of_bits.rows(x, rows, work.rows, results)
        return
    for block in range(block_count(rows, at_once)):
        first, count = block * at_once, block_length(block, rows, at_once)
        widen(work, x + first * work.rows * work.item, count * work.rows, wide)
        work.reduction.rows(wide, count, work.rows, results + first * work.reduction.width)


cdef void reduce_rows(Pass *work) noexcept nogil:
    """Reduce contiguous rows; long ones are cut into blocks."""
    cdef Py_ssize_t pieces = block_count(work.rows, BLOCK)
    cdef Py_ssize_t at_once = max(<Py_ssize_t> 1, BLOCK // work.rows)
    cdef bint parallel = work.outer_size * work.rows >= PARALLEL_FROM
    cdef Py_ssize_t task, row, first
    cdef int width = work.reduction.width
    cdef char *parts
    cdef bint narrow = work.storage == FLOAT16 or work.storage == BFLOAT16
    cdef bint dense = (
        work.outer_axes == 1 and work.outer[0].stride == work.rows * work.item
        and (not narrow or work.rows <= DM_LEAF)
    )
    if pieces == 1:
        for task in prange(
            block_count(work.outer_size, at_once), schedule="static", use_threads_if=parallel
        ):
            first = task * at_once
            if dense and narrow:
                reduce_narrow_rows(
                    work, outer_start(work, first), block_length(task, work.outer_size, at_once),
                    work.results + first * width,
                )
            elif dense:
                work.reduction.rows(
                    outer_start(work, first), block_length(task, work.outer_size, at_once), work.rows,
                    work.results + first * width,
                )
            else:
                for row in range(first, first + block_length(task, work.outer_size, at_once)):
                    reduce_row(work, outer_start(work, row), work.rows, work.results + row * width)
            if work.out != NULL:
                finish(work, work.results + first * width, first, block_length(task, work.outer_size, at_once))
        return
    parts = <char *> malloc(work.outer_size * pieces * width)
    if parts == NULL:
        work.failed = True
        return
    for task in prange(work.outer_size * pieces, schedule="static", use_threads_if=parallel):
        reduce_row(
            work, outer_start(work, task // pieces) + task % pieces * BLOCK * work.item,
            block_length(task % pieces, work.rows, BLOCK), parts + task * width,
        )
    for row in range(work.outer_size):
        work.reduction.gather(parts + row * pieces * width, pieces, work.results + row * width)
    free(parts)
    if work.out != NULL:
        finish(work, work.results, 0, work.outer_size)


# ---- strips of columns
cdef void reduce_strip(
    const Pass *work, const char *x, Py_ssize_t first, Py_ssize_t rows, Py_ssize_t width, char *results
) noexcept nogil:
    """Write the results of `width` columns over `rows` rows from `first` on."""
    cdef float wide[ROWS_AT_ONCE * STRIP]
    cdef double more[JOINED_COLUMNS]
    cdef Py_ssize_t row = 0, i, joined_rows
    cdef int count, bytes_wide = work.reduction.width
    x += first * work.row_stride
    work.reduction.start(results, width)
    if work.of_bits != NULL:
        work.of_bits.columns(x, rows, work.row_stride // work.item, width, results)
        return
    if work.storage == FLOAT16 or work.storage == BFLOAT16:
        while row < rows:
            count = <int> min(<Py_ssize_t> ROWS_AT_ONCE, rows - row)
            for i in range(count):
                widen(work, x + (row + i) * work.row_stride, width, wide + i * STRIP)
            work.reduction.columns(wide, count, STRIP, width, results)
            row += count
        return
    if width <= FEW_COLUMNS and width == work.columns and work.row_stride == width * work.item:
        joined_rows = JOINED_COLUMNS // width
        count = <int> (joined_rows * width)
        work.reduction.start(more, count)
        work.reduction.columns(x, rows // joined_rows, count, count, more)
        for i in range(joined_rows):
            work.reduction.join((<char *> more) + i * width * bytes_wide, width, results)
        row = rows // joined_rows * joined_rows
    work.reduction.columns(
        x + row * work.row_stride, rows - row, work.row_stride // work.item, width, results)


cdef void reduce_columns(Pass *work) noexcept nogil:
    """Reduce the rows of strips of columns; a strip of many rows is cut into parts."""
    cdef Py_ssize_t strips = block_count(work.columns, STRIP)
    cdef Py_ssize_t elements = work.rows * min(work.columns, <Py_ssize_t> STRIP)
    cdef Py_ssize_t parts = 1, part_rows = work.rows
    cdef Py_ssize_t at_once = max(<Py_ssize_t> 1, BLOCK // elements)
    cdef bint parallel = work.outer_size * work.rows * work.columns >= PARALLEL_FROM
    cdef Py_ssize_t task, index, place, part
    cdef int width = work.reduction.width
    cdef char *pieces = work.results
    if work.outer_size * strips < PARTS and elements >= 2 * BLOCK:
        part_rows = max(block_count(work.rows, PARTS), 4 * BLOCK // min(work.columns, <Py_ssize_t> STRIP))
        part_rows = block_count(part_rows, ROWS_AT_ONCE) * ROWS_AT_ONCE
        parts = block_count(work.rows, part_rows)
        pieces = <char *> malloc(work.outer_size * parts * work.columns * width)
        if pieces == NULL:
            work.failed = True
            return
        at_once = 1
    # Tasks count strips within parts within the outer axes.
    for task in prange(
        block_count(work.outer_size * parts * strips, at_once), schedule="static", use_threads_if=parallel
    ):
        for index in range(
            task * at_once, task * at_once + block_length(task, work.outer_size * parts * strips, at_once)
        ):
            place = index // strips * work.columns + index % strips * STRIP
            reduce_strip(
                work, outer_start(work, index // (strips * parts)) + index % strips * STRIP * work.item,
                index // strips % parts * part_rows, block_length(index // strips % parts, work.rows, part_rows),
                block_length(index % strips, work.columns, STRIP), pieces + place * width,
            )
            if parts == 1 and work.out != NULL:
                finish(work, pieces + place * width, place, block_length(index % strips, work.columns, STRIP))
    if parts == 1:
        return
    for index in prange(work.outer_size * strips, schedule="static", use_threads_if=parallel):
        place = index // strips * work.columns + index % strips * STRIP
        work.reduction.start(work.results + place * width, block_length(index % strips, work.columns, STRIP))
        for part in range(parts):
            work.reduction.join(
                pieces + ((index // strips * parts + part) * work.columns + index % strips * STRIP) * width,
                block_length(index % strips, work.columns, STRIP), work.results + place * width,
            )
        if work.out != NULL:
            finish(work, work.results + place * width, place, block_length(index % strips, work.columns, STRIP))
    free(pieces)


# ---- passes
cdef int reduce_all(Pass *work, int op, Axis *axes, int count) noexcept nogil:
    """Run a pass per group of reduced axes, from the innermost outward; return -1 without memory."""
    cdef char *out = work.out
    cdef char *before = NULL
    cdef Storage stored = work.storage
    cdef int axis, groups, kept
    while True:
        groups = -1
        for axis in range(count):
            groups += axes[axis].reduced
        kept = 0 if axes[count - 1].reduced else 1
        work.columns = axes[count - 1].length if kept else 0
        work.rows = axes[count - 1 - kept].length
        work.row_stride = axes[count - 1 - kept].stride
        work.outer_axes = count - 1 - kept
        work.outer_size = 1
        for axis in range(work.outer_axes):
            work.outer[axis] = axes[axis]
            work.outer_size *= axes[axis].length
        work.results = <char *> malloc(max(<Py_ssize_t> 1, work.columns) * work.outer_size * work.reduction.width)
        if work.results == NULL:
            free(before)
            return -1
        work.out = NULL
        if groups == 0:
            work.out, work.storage = out, stored
            if before != NULL:
                # The results of the pass before are read as they are, but written in x's type.
                work.storage = widest(work.reduction.width, stored)
                work.out = NULL
        if kept:
            reduce_columns(work)
        else:
            reduce_rows(work)
        free(before)
        before = work.results
        if work.failed:
            break
        if groups == 0:
            if work.out == NULL:
                work.out, work.storage = out, stored
                finish(work, work.results, 0, max(<Py_ssize_t> 1, work.columns) * work.outer_size)
            break
        # What is left lies densely, as unrounded results.
        work.x, work.item = work.results, work.reduction.width
        work.storage = widest(work.reduction.width, stored)
        work.of_bits = NULL
        work.reduction = dm_reductions[<int> work.storage][DM_SUM if op >= DM_SQUARES else op]
        if kept:
            axes[count - 2] = axes[count - 1]
        count -= 1
        axes[count - 1].stride = work.item
        for axis in range(count - 2, -1, -1):
            axes[axis].stride = axes[axis + 1].stride * axes[axis + 1].length
        count = joined(axes, count)
    free(before)
    return -1 if work.failed else 0


cdef inline Storage widest(int width, Storage stored) noexcept nogil:
    """Return how unrounded results are stored."""
    if stored == FLOAT32 or stored == FLOAT16 or stored == BFLOAT16:
        return FLOAT64 if width == sizeof(double) else FLOAT32
    return stored


def reduce_axes(cnp.ndarray x not None, tuple axes not None, str op="sum", bint keep_dims=False):
    """Return the reduction of x over some axes, or None for an array that this kernel does not take.

    Args:
        x: floats, whole numbers or bools, at least one, in aligned memory whose innermost axis has no gaps; a view
            may leave out parts of the other axes.
        axes: the numbers of the axes, at least one that is longer than 1.
        op: "sum", "prod", "max" or "min"; of bools the first and third tell whether any is true, the others whether
            all are. Of floats also "mean", "square_sum", "length", its square root, "absolute_sum" and "number_sum",
            in which a NaN counts as 0.
        keep_dims: keep the axes with length 1.

    Returns:
        An array of the type of x; a sum is added up in float64 if x holds floats.

    Raises:
        ValueError: for another axis or operation.

    >>> reduce_axes(np.array([[1.0, 2.0], [3.0, 5.0]]), (0,))
    array([4., 7.])
    """
    cdef Pass work
    cdef Axis found[AXES]
    cdef bint reduced[AXES]
    cdef cnp.ndarray out
    cdef int code, count, state, axis
    cdef bint floats
    if op not in OPS:
        raise ValueError(f"For 'reduce_axes', 'op' must be one of {', '.join(OPS)}, but got {op!r}.")
    code = OPS[op]
    work.storage = <Storage> storage_of(x)
    if work.storage == NONE or cnp.PyArray_SIZE(x) == 0 or not cnp.PyArray_ISBEHAVED_RO(x):
        return None
    floats = work.storage in (FLOAT32, FLOAT64, FLOAT16, BFLOAT16)
    if not floats and op not in ("sum", "prod", "max", "min"):
        raise ValueError(f"For 'reduce_axes', 'op' must be sum, prod, max or min for {type_name(x)}, but got {op!r}.")
    work.finish = DIVIDED if op == "mean" else ROOT if op == "length" else AS_IT_IS
    if work.storage == BOOL:
        code = DM_MAX if code in (DM_SUM, DM_MAX) else DM_MIN
        work.storage = UINT8
    reduced_axes(x, axes, reduced)
    count = axes_of(x, reduced, found)
    work.item = cnp.PyArray_ITEMSIZE(x)
    if not can_reduce(found, count, work.item):
        return None
    work.reduction = dm_reductions[FLOAT32 if work.storage in (FLOAT16, BFLOAT16) else <int> work.storage][code]
    work.of_bits = dm_bits_reductions[code] if work.storage == BFLOAT16 else NULL
    work.divisor = 1
    for axis in range(cnp.PyArray_NDIM(x)):
        if reduced[axis]:
            work.divisor *= cnp.PyArray_DIM(x, axis)
    work.x = <const char *> cnp.PyArray_DATA(x)
    work.failed = False
    out = output_of(x, reduced, keep_dims)
    work.out = <char *> cnp.PyArray_DATA(out)
    with nogil:
        state = reduce_all(&work, code, found, count)
    if state < 0:
        raise MemoryError()
    return out
