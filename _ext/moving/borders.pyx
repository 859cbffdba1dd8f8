# cython: cdivision=True, boundscheck=False, wraparound=False
"""Borders around arrays, of one value or of the array's own elements, and the sums that are their gradients.

A rule tells which element each position of a dimension is a copy of. Neighbouring dimensions without a border are one;
a unit of work is a piece of a row of the result. A sum is made where it is stored, one row of the gradient at a time,
so its order of additions is the same for any number of threads.
"""

cimport numpy as cnp
from cython cimport floating
from cython.parallel cimport prange
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from arrays cimport check, check_memory, type_name
from blocks cimport block_count, block_length
from rows cimport Matrix, is_narrow, number_of, put_back, widened, working_type

cnp.import_array()

cdef enum Rule:
    CONSTANT, REFLECT, SYMMETRIC, REPLICATE, CIRCULAR

cdef enum:
    DIMENSIONS = 64  # NumPy has at most as many.
    # Elements of a row that a unit has at most.
    PIECE = 16384
    # Bytes of a block of units, which one thread does at once.
    SHARE = 32768
    PARALLEL_FROM_BYTES = 131072
    LINE = 64  # Bytes.
    # Elements of a border that are written one by one.
    FEW = 16

cdef extern from *:
    """
    #include <string.h>
    /* Short rows without a call; the last piece may overlap the one before. */
    static inline void dm_copy_row(char *target, const char *source, Py_ssize_t size) {
        Py_ssize_t i = 0;
        if (size >= 64) {
            for (; i + 64 <= size; i += 64) memcpy(target + i, source + i, 64);
            if (i < size) memcpy(target + size - 64, source + size - 64, 64);
        } else if (size >= 16) {
            if (size >= 32) {
                memcpy(target, source, 32);
                memcpy(target + size - 32, source + size - 32, 32);
            } else {
                memcpy(target, source, 16);
                memcpy(target + size - 16, source + size - 16, 16);
            }
        } else {
            for (; i < size; i++) { target[i] = source[i]; __asm__ volatile(""); }
        }
    }
    /* A row between narrow borders: a line of the border's value at both ends, and the row over what is too much. */
    static inline void dm_frame_row(
        char *target, Py_ssize_t outer, Py_ssize_t before, const char *source, Py_ssize_t inner, const char *line) {
        memcpy(target, line, 64);
        memcpy(target + outer - 64, line, 64);
        dm_copy_row(target + before, source, inner);
    }
    /* Keeps a loop of a few turns from becoming one of vectors. */
    #define dm_stay_scalar() __asm__ volatile("")
    """
    void copy_bytes "dm_copy_row"(char *target, const char *source, Py_ssize_t size) noexcept nogil
    void frame_row "dm_frame_row"(
        char *target, Py_ssize_t outer, Py_ssize_t before, const char *source, Py_ssize_t inner, const char *line
    ) noexcept nogil
    void stay_scalar "dm_stay_scalar"() noexcept nogil

cdef Py_ssize_t NOWHERE = -1

RULES = {"constant": CONSTANT, "reflect": REFLECT, "symmetric": SYMMETRIC, "replicate": REPLICATE, "circular": CIRCULAR}

ctypedef fused word:
    uint8_t
    uint16_t
    uint32_t
    uint64_t
    double complex

cdef union Element:
    uint8_t byte
    uint16_t half
    uint32_t single
    uint64_t twice
    double complex pair

cdef struct Line:
    # A border's element at a place is a copy of the one at base + slope * place.
    Py_ssize_t base, slope

cdef struct Dimension:
    Py_ssize_t inner, outer, before  # Lengths without and with the border, and its width in front.
    Py_ssize_t step  # Of the array without it, in elements.
    Line left, right

cdef struct Frame:
    Rule rule
    int count
    Dimension dims[DIMENSIONS + 1]


cdef void draw_lines(Rule rule, Dimension *dim) noexcept nogil:
    """Say what the borders are copies of; -1 for nothing."""
    cdef Py_ssize_t n = dim.inner, before = dim.before
    dim.left = dim.right = Line(NOWHERE, 0)
    if rule == REPLICATE:
        dim.left, dim.right = Line(0, 0), Line(n - 1, 0)
    elif rule == REFLECT:
        dim.left, dim.right = Line(before, -1), Line(2 * (n - 1) + before, -1)
    elif rule == SYMMETRIC:
        dim.left, dim.right = Line(before - 1, -1), Line(2 * n - 1 + before, -1)
    elif rule == CIRCULAR:
        dim.left, dim.right = Line(n - before, 1), Line(-n - before, 1)


cdef inline Py_ssize_t origin(const Dimension *dim, Py_ssize_t place) noexcept nogil:
    """Return which element the one at `place` is a copy of, or -1."""
    if place < dim.before:
        return dim.left.base + dim.left.slope * place
    if place < dim.before + dim.inner:
        return place - dim.before
    return dim.right.base + dim.right.slope * place


cdef int make_frame(
    str kernel, Frame *frame, cnp.ndarray inner, cnp.ndarray outer, object widths, str rule
) except -1:
    """Check shapes and widths, and join dimensions without a border that follow each other in both arrays."""
    cdef int axis, rank = cnp.PyArray_NDIM(inner)
    cdef Py_ssize_t before, behind, itemsize = cnp.PyArray_ITEMSIZE(inner), least, most
    cdef Dimension dim
    cdef Dimension *last
    cdef bint is_plain, was_plain = False
    if rule not in RULES:
        raise ValueError(f"For '{kernel}', 'rule' must be one of {sorted(RULES)}, but got {rule!r}.")
    frame.rule = RULES[rule]
    frame.count = 0
    if cnp.PyArray_NDIM(outer) != rank or len(widths) != rank:
        raise ValueError(f"For '{kernel}', 'widths' must hold a pair per dimension, but got {widths} for {rank}.")
    for axis in range(rank):
        before, behind = widths[axis]
        dim = Dimension(
            cnp.PyArray_DIM(inner, axis), cnp.PyArray_DIM(outer, axis), before,
            cnp.PyArray_STRIDE(inner, axis) // itemsize, Line(0, 0), Line(0, 0)
        )
        if dim.outer != dim.inner + before + behind:
            raise ValueError(
                f"For '{kernel}', the larger array must have the length {dim.inner + before + behind} along dimension "
                f"{axis}, but got {dim.outer}."
            )
        if frame.rule != CONSTANT and (before or behind):
            most = dim.inner - (frame.rule == REFLECT)
            least = -dim.inner if frame.rule == CIRCULAR else 0
            if dim.inner == 0 or min(before, behind) < least or (
                max(before, behind) > most and frame.rule != REPLICATE
            ):
                raise ValueError(
                    f"For '{kernel}', 'widths' must be in [{least}, {most}] along dimension {axis}, but got "
                    f"{(before, behind)}."
                )
        is_plain = before == 0 and behind == 0
        if is_plain and dim.inner == 1:
            continue
        last = &frame.dims[frame.count - 1]
        if is_plain and was_plain and last.step == dim.step * dim.inner:
            last[0] = Dimension(
                last.inner * dim.inner, last.outer * dim.outer, 0, dim.step, Line(0, 0), Line(0, 0)
            )
            continue
        draw_lines(frame.rule, &dim)
        frame.dims[frame.count] = dim
        frame.count += 1
        was_plain = is_plain
    if frame.count == 0 or frame.dims[frame.count - 1].step != 1:
        # Rows whose elements are apart: each is one.
        frame.dims[frame.count] = Dimension(1, 1, 0, 1, Line(0, 0), Line(0, 0))
        frame.count += 1
    return 0


cdef inline void fill(word *target, Py_ssize_t size, word value) noexcept nogil:
    cdef Py_ssize_t i
    if size <= FEW:
        for i in range(size):
            target[i] = value
            stay_scalar()
        return
    for i in range(size):
        target[i] = value


cdef inline void write_line(
    Line line, const word *source, word *target, Py_ssize_t first, Py_ssize_t stop
) noexcept nogil:
    cdef Py_ssize_t i
    if line.slope == 1 and stop > first:
        copy_bytes(
            <char *> (target + first), <const char *> (source + line.base + first),
            (stop - first) * <Py_ssize_t> sizeof(word)
        )
        return
    for i in range(first, stop):
        target[i] = source[line.base + line.slope * i]
        stay_scalar()


cdef inline void write_piece(
    Rule rule, const Dimension *dim, const word *source, word *target, Py_ssize_t first, Py_ssize_t stop, word value
) noexcept nogil:
    """Write the places [first, stop) of a row whose element 0 would lie at `target`."""
    cdef Py_ssize_t left = min(max(dim.before, first), stop)
    cdef Py_ssize_t right = min(max(dim.before + dim.inner, left), stop)
    if rule == CONSTANT:
        fill(target + first, left - first, value)
        fill(target + right, stop - right, value)
    else:
        write_line(dim.left, source, target, first, left)
        write_line(dim.right, source, target, right, stop)
    copy_bytes(
        <char *> (target + left), <const char *> (source + (left - dim.before)),
        (right - left) * <Py_ssize_t> sizeof(word)
    )


cdef void write_units(
    const Frame *frame, const word *source, word *target, Py_ssize_t first, Py_ssize_t count, Py_ssize_t pieces,
    word value
) noexcept nogil:
    """Write `count` units from number `first` on."""
    cdef Py_ssize_t places[DIMENSIONS + 1]
    cdef Py_ssize_t starts[DIMENSIONS + 1]
    cdef bint inside[DIMENSIONS + 1]
    cdef int last = frame.count - 1, axis = 0, i
    cdef const Dimension *row = &frame.dims[last]
    cdef Py_ssize_t rest = first // pieces, piece = first % pieces, start, stop, found, _unit
    cdef char line[LINE]
    cdef Py_ssize_t size = <Py_ssize_t> sizeof(word)
    cdef Py_ssize_t outer = row.outer * size, before = row.before * size, inner = row.inner * size
    cdef bint framed = (
        frame.rule == CONSTANT and pieces == 1 and outer >= LINE and 0 <= before <= LINE
        and 0 <= outer - before - inner <= LINE and outer > inner
    )
    for i in range(LINE // size):
        memcpy(line + i * size, &value, size)
    target += rest * row.outer
    for i in range(last - 1, -1, -1):
        places[i] = rest % frame.dims[i].outer
        rest //= frame.dims[i].outer
    starts[0] = 0
    inside[0] = True
    for _unit in range(count):
        # What lies before the first dimension whose place has changed is known.
        for i in range(axis, last):
            found = origin(&frame.dims[i], places[i])
            starts[i + 1] = starts[i] + found * frame.dims[i].step
            inside[i + 1] = inside[i] and found != NOWHERE
        axis = last
        start, stop = piece * PIECE, min((piece + 1) * PIECE, row.outer)
        if inside[last] and framed:
            frame_row(<char *> target, outer, before, <const char *> (source + starts[last]), inner, line)
        elif inside[last]:
            write_piece(frame.rule, row, source + starts[last], target, start, stop, value)
        else:
            fill(target + start, stop - start, value)
        piece += 1
        if piece < pieces:
            continue
        piece = 0
        target += row.outer
        axis -= 1
        while axis >= 0:
            places[axis] += 1
            if places[axis] < frame.dims[axis].outer:
                break
            places[axis] = 0
            axis -= 1
        axis = max(axis, 0)


cdef void write_all(const Frame *frame, const word *source, word *target, Py_ssize_t size, word value) noexcept nogil:
    cdef Py_ssize_t length = frame.dims[frame.count - 1].outer
    cdef Py_ssize_t pieces = block_count(length, PIECE)
    cdef Py_ssize_t units = size // length * pieces
    cdef Py_ssize_t share = max(SHARE // <Py_ssize_t> sizeof(word) // min(length, PIECE), 1)
    cdef Py_ssize_t block
    for block in prange(
        block_count(units, share), schedule="static",
        use_threads_if=size * <Py_ssize_t> sizeof(word) >= PARALLEL_FROM_BYTES
    ):
        write_units(frame, source, target, block * share, block_length(block, units, share), pieces, value)


def surround(
    cnp.ndarray x not None, cnp.ndarray out not None, widths not None, str rule not None, cnp.ndarray value=None
):
    """Write `x` with a border into `out`, which is C-contiguous; `x` may have any strides.

    Args:
        x: the elements.
        out: of the type of x, each dimension as long as that of x and its widths together.
        widths: a pair (before, behind) per dimension; for "constant" and "circular" negative ones cut off.
        rule: "constant", "reflect", "symmetric", "replicate" or "circular".
        value: of "constant": one element of the type.

    Raises:
        TypeError: the types differ or hold Python objects.
        ValueError: shapes, widths or the rule do not fit.

    >>> import numpy as np
    >>> out = np.empty((1, 6), np.int16)
    >>> surround(np.array([[1, 2, 3]], np.int16), out, ((0, 0), (2, 1)), "reflect")
    >>> out
    array([[3, 2, 1, 2, 3, 2]], dtype=int16)
    """
    cdef Frame frame
    cdef int itemsize = <int> cnp.PyArray_ITEMSIZE(x), axis
    cdef Element border
    check_memory("surround", "x", x, False)
    check("surround", "out", out, cnp.PyArray_TYPE(x), -1, True)
    if cnp.PyArray_TYPE(x) == cnp.NPY_OBJECT or itemsize not in (1, 2, 4, 8, 16):
        raise TypeError(f"For 'surround', 'x' must have elements of 1, 2, 4, 8 or 16 bytes, but got {type_name(x)}.")
    for axis in range(cnp.PyArray_NDIM(x)):
        if cnp.PyArray_STRIDE(x, axis) % itemsize:
            raise ValueError(
                f"For 'surround', 'x' must have strides of whole elements, but got {(<object> x).strides}."
            )
    make_frame("surround", &frame, x, out, widths, rule)
    if frame.rule == CONSTANT:
        if value is None or cnp.PyArray_TYPE(value) != cnp.PyArray_TYPE(x) or cnp.PyArray_SIZE(value) != 1:
            raise TypeError(f"For 'surround', 'value' must be one element of {type_name(x)}, but got {value!r}.")
        memcpy(&border, cnp.PyArray_DATA(value), itemsize)
    cdef Py_ssize_t size = cnp.PyArray_SIZE(out)
    if size == 0:
        return
    cdef void *source = cnp.PyArray_DATA(x)
    cdef void *target = cnp.PyArray_DATA(out)
    with nogil:
        if itemsize == 4:
            write_all(&frame, <uint32_t *> source, <uint32_t *> target, size, border.single)
        elif itemsize == 2:
            write_all(&frame, <uint16_t *> source, <uint16_t *> target, size, border.half)
        elif itemsize == 8:
            write_all(&frame, <uint64_t *> source, <uint64_t *> target, size, border.twice)
        elif itemsize == 1:
            write_all(&frame, <uint8_t *> source, <uint8_t *> target, size, border.byte)
        else:
            write_all(&frame, <double complex *> source, <double complex *> target, size, border.pair)


cdef struct Copies:
    # For each element of a dimension, where its copies are; nothing for a dimension without a border.
    Py_ssize_t *starts
    Py_ssize_t *places


cdef void list_copies(const Frame *frame, Copies *copies, Py_ssize_t *memory) noexcept nogil:
    """Fill `memory`: inner + 1 starts and outer places for each dimension but the last."""
    cdef const Dimension *dim
    cdef Py_ssize_t i, found
    cdef int axis
    for axis in range(frame.count - 1):
        dim = &frame.dims[axis]
        copies[axis].starts = NULL
        if dim.inner == dim.outer:
            continue
        copies[axis].starts, copies[axis].places = memory, memory + dim.inner + 1
        memory += dim.inner + 1 + dim.outer
        for i in range(dim.inner + 1):
            copies[axis].starts[i] = 0
        for i in range(dim.outer):
            copies[axis].starts[origin(dim, i)] += 1
        for i in range(dim.inner):
            copies[axis].starts[i + 1] += copies[axis].starts[i]
        for i in range(dim.outer - 1, -1, -1):
            found = origin(dim, i)
            copies[axis].starts[found] -= 1
            copies[axis].places[copies[axis].starts[found]] = i


cdef inline void add_border(const Dimension *dim, const floating *row, floating *sums) noexcept nogil:
    """Add a row's border to the elements that it is made of."""
    cdef Py_ssize_t i
    for i in range(dim.before):
        sums[dim.left.base + dim.left.slope * i] += row[i]
    for i in range(dim.before + dim.inner, dim.outer):
        sums[dim.right.base + dim.right.slope * i] += row[i]


cdef void sum_row(
    const Frame *frame, const Copies *copies, const Py_ssize_t *places, Matrix d_out, Matrix d_x, Py_ssize_t row,
    floating *scratch
) noexcept nogil:
    """Make one row of the sums; `scratch` has memory for two rows with their borders."""
    cdef const Dimension *dim = &frame.dims[frame.count - 1]
    cdef Py_ssize_t turns[DIMENSIONS + 1]
    cdef Py_ssize_t start, i
    cdef int axis
    cdef bint is_first = True
    cdef const floating *source
    cdef floating *sums = <floating *> d_x.data + row * dim.inner
    if is_narrow(d_x):
        sums = scratch + dim.outer
    for axis in range(frame.count - 1):
        turns[axis] = 0
    while True:
        start = 0
        for axis in range(frame.count - 1):
            start *= frame.dims[axis].outer
            if copies[axis].starts == NULL:
                start += places[axis]
            else:
                start += copies[axis].places[copies[axis].starts[places[axis]] + turns[axis]]
        source = widened(d_out, start * dim.outer, scratch, dim.outer)
        if is_first:
            memcpy(sums, source + dim.before, dim.inner * sizeof(floating))
        else:
            for i in range(dim.inner):
                sums[i] += source[dim.before + i]
        is_first = False
        add_border(dim, source, sums)
        axis = frame.count - 2
        while axis >= 0:
            if copies[axis].starts != NULL:
                turns[axis] += 1
                if turns[axis] < copies[axis].starts[places[axis] + 1] - copies[axis].starts[places[axis]]:
                    break
                turns[axis] = 0
            axis -= 1
        if axis < 0:
            break
    put_back(d_x, row * dim.inner, sums, dim.inner)


cdef int sum_rows(
    const Frame *frame, const Copies *copies, Matrix d_out, Matrix d_x, Py_ssize_t first, Py_ssize_t count,
    const floating *_type
) noexcept nogil:
    """Make `count` rows from number `first` on; return 1 if there is no memory."""
    cdef Py_ssize_t places[DIMENSIONS + 1]
    cdef Py_ssize_t row, rest = first
    cdef int axis
    cdef floating *scratch = NULL
    if is_narrow(d_x):
        scratch = <floating *> malloc(2 * frame.dims[frame.count - 1].outer * sizeof(floating))
        if scratch == NULL:
            return 1
    for axis in range(frame.count - 2, -1, -1):
        places[axis] = rest % frame.dims[axis].inner
        rest //= frame.dims[axis].inner
    for row in range(first, first + count):
        sum_row(frame, copies, places, d_out, d_x, row, scratch)
        for axis in range(frame.count - 2, -1, -1):
            places[axis] += 1
            if places[axis] < frame.dims[axis].inner:
                break
            places[axis] = 0
    free(scratch)
    return 0


cdef int sum_all(
    const Frame *frame, const Copies *copies, Matrix d_out, Matrix d_x, Py_ssize_t size, const floating *_type
) noexcept nogil:
    cdef Py_ssize_t length = frame.dims[frame.count - 1].inner
    cdef Py_ssize_t rows = size // length
    cdef Py_ssize_t share = max(SHARE // 4 // length, 1)
    cdef Py_ssize_t block
    cdef int failed = 0
    for block in prange(block_count(rows, share), schedule="static", use_threads_if=size * 4 >= PARALLEL_FROM_BYTES):
        failed += sum_rows(frame, copies, d_out, d_x, block * share, block_length(block, rows, share), _type)
    return failed


def sum_copies(cnp.ndarray d_out not None, cnp.ndarray d_x not None, widths not None, str rule not None):
    """Write into `d_x` the sum over the copies of each element: the gradient of `surround`.

    Both arrays are C-contiguous and of one type: float32, float64, bfloat16 or float16, whose sums are made in float32.

    Raises:
        TypeError: another type.
        ValueError: shapes, widths or the rule do not fit; "constant" has no copies.

    >>> import numpy as np
    >>> d_x = np.empty((1, 3))
    >>> sum_copies(np.array([[1.0, 2.0, 4.0, 8.0, 16.0]]), d_x, ((0, 0), (2, 0)), "replicate")
    >>> d_x
    array([[ 7.,  8., 16.]])
    """
    cdef Frame frame
    cdef Copies copies[DIMENSIONS + 1]
    cdef Matrix large, small
    cdef Py_ssize_t room = 1, size = cnp.PyArray_SIZE(d_x)
    cdef int axis, failed
    small.number = large.number = number_of("sum_copies", "d_x", d_x)
    check("sum_copies", "d_x", d_x, cnp.PyArray_TYPE(d_x), -1, True)
    check("sum_copies", "d_out", d_out, cnp.PyArray_TYPE(d_x), -1, False)
    if rule == "constant":
        raise ValueError("For 'sum_copies', 'rule' must be one whose borders are copies, but got 'constant'.")
    make_frame("sum_copies", &frame, d_x, d_out, widths, rule)
    for axis in range(cnp.PyArray_NDIM(d_x)):
        if min(widths[axis]) < 0:
            raise ValueError(f"For 'sum_copies', 'widths' must not be negative, but got {widths}.")
    if size == 0:
        return
    small.data, large.data = cnp.PyArray_DATA(d_x), cnp.PyArray_DATA(d_out)
    for axis in range(frame.count - 1):
        if frame.dims[axis].inner != frame.dims[axis].outer:
            room += frame.dims[axis].inner + 1 + frame.dims[axis].outer
    cdef Py_ssize_t *memory = <Py_ssize_t *> malloc(room * sizeof(Py_ssize_t))
    if memory == NULL:
        raise MemoryError()
    with nogil:
        list_copies(&frame, copies, memory)
        if working_type(small.number) == cnp.NPY_FLOAT64:
            failed = sum_all(&frame, copies, large, small, size, <double *> NULL)
        else:
            failed = sum_all(&frame, copies, large, small, size, <float *> NULL)
        free(memory)
    if failed:
        raise MemoryError()
