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

cdef extern from "borders_rows.h" nogil:
    void copy_bytes "dm_copy_row"(char *target, const char *source, Py_ssize_t size)
    void frame_row "dm_frame_row"(
        char *target, Py_ssize_t outer, Py_ssize_t before, const char *source, Py_ssize_t inner, const char *line
    )
    void stay_scalar "dm_stay_scalar"()

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


include "borders_frame.pxi"


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


cdef inline Py_ssize_t run_of(const Frame *frame, const Py_ssize_t *places, Py_ssize_t most) noexcept nogil:
    """Return how many rows, the one at these places first, lie one step apart in the array."""
    cdef const Dimension *dim
    cdef Py_ssize_t place
    if frame.count < 2:
        return 1
    dim, place = &frame.dims[frame.count - 2], places[frame.count - 2]
    if place < dim.before or place >= dim.before + dim.inner:
        return 1
    return min(most, min(dim.before + dim.inner, dim.outer) - place)


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
    cdef Py_ssize_t rest = first // pieces, piece = first % pieces, start, stop, found, left = count, run, _row
    cdef char line[LINE]
    cdef Py_ssize_t size = <Py_ssize_t> sizeof(word)
    cdef Py_ssize_t outer = row.outer * size, before = row.before * size, inner = row.inner * size
    cdef bint framed = (
        frame.rule == CONSTANT and pieces == 1 and outer >= LINE and 0 <= before <= LINE
        and 0 <= outer - before - inner <= LINE and outer > inner
    )
    cdef bint cropped = frame.rule == CONSTANT and before <= 0 and outer - before - inner <= 0
    for i in range(LINE // size):
        memcpy(line + i * size, &value, size)
    target += rest * row.outer
    for i in range(last - 1, -1, -1):
        places[i] = rest % frame.dims[i].outer
        rest //= frame.dims[i].outer
    starts[0] = 0
    inside[0] = True
    while left > 0:
        left -= 1
        # What lies before the first dimension whose place has changed is known.
        for i in range(axis, last):
            found = origin(&frame.dims[i], places[i])
            starts[i + 1] = starts[i] + found * frame.dims[i].step
            inside[i + 1] = inside[i] and found != NOWHERE
        axis = last
        start, stop = piece * PIECE, min((piece + 1) * PIECE, row.outer)
        if inside[last] and pieces == 1:
            run = run_of(frame, places, left + 1)
            for _row in range(run):
                if framed:
                    frame_row(<char *> target, outer, before, <const char *> (source + starts[last]), inner, line)
                elif cropped:
                    copy_bytes(<char *> target, <const char *> (source + starts[last] - row.before), outer)
                else:
                    write_piece(frame.rule, row, source + starts[last], target, start, stop, value)
                if run > 1:
                    target += row.outer
                    starts[last] += frame.dims[last - 1].step
            if run > 1:
                # The last of them ends as any other unit.
                target -= row.outer
                places[last - 1] += run - 1
                left -= run - 1
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


include "borders_sums.pxi"
