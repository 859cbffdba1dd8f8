# cython: cdivision=True, boundscheck=False, wraparound=False
"""Copies between arrays of any strides: transposed, broadcast, reversed, sliced.

A copy is planned first: dimensions are put in the order of the target's memory, and neighbours
that step alike in both arrays become one. Then a unit of work is either a run of the last
dimension or, where the source's neighbours lie along another one, a row of transposed tiles.
"""

cimport numpy as cnp
from cython.parallel cimport prange
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy

from arrays cimport check_memory, check_same_shape
from blocks cimport block_count, block_length

cnp.import_array()

cdef extern from "tile_transpose.h" nogil:
    enum: TRANSPOSE_LINE
    void transpose_tile "dm_transpose_tile"(
        int word, const char *source, Py_ssize_t source_step, Py_ssize_t rows, Py_ssize_t columns,
        char *target, Py_ssize_t target_step
    )

cdef extern from *:
    """
    #include <string.h>

    #ifdef __AVX512F__
    typedef char dm_bytes __attribute__((vector_size(64), aligned(1), may_alias));
    #elif defined(__AVX2__)
    typedef char dm_bytes __attribute__((vector_size(32), aligned(1), may_alias));
    #else
    typedef char dm_bytes __attribute__((vector_size(16), aligned(1), may_alias));
    #endif

    /* memcpy in vectors. From 4 KB on, 2 without AVX2, memcpy takes the CPU's string instruction, which on AMD's Zen 3
     * and 4 is ten times slower where source and target lie a little apart in their pages; in shorter pieces it begins
     * anew too often. */
    static inline void dm_copy_bytes(char *target, const char *source, Py_ssize_t size) {
        enum { STEP = 4 * sizeof(dm_bytes), LEAST = 1024 };
        if (size < LEAST) {
            memcpy(target, source, size);
            return;
        }
        /* To where the target's vectors are aligned; some bytes are copied twice. */
        const Py_ssize_t head = sizeof(dm_bytes) - (size_t) target % sizeof(dm_bytes);
        *(dm_bytes *) target = *(const dm_bytes *) source;
        Py_ssize_t i = head;
        for (; i + (Py_ssize_t) STEP <= size; i += STEP) {
            const dm_bytes *from = (const dm_bytes *) (source + i);
            dm_bytes *to = (dm_bytes *) (target + i);
            const dm_bytes a = from[0], b = from[1], c = from[2], d = from[3];
            to[0] = a, to[1] = b, to[2] = c, to[3] = d;
        }
        memcpy(target + i, source + i, size - i);
    }
    """
    void copy_bytes "dm_copy_bytes"(char *target, const char *source, Py_ssize_t size) noexcept nogil

cdef enum:
    DIMENSIONS = 64  # NumPy has at most as many.
    # Tiles that are read side by side, so that a line's neighbours are fetched with it.
    TILES = 2
    # Shorter dimensions are stepped along: most of a tile would be empty.
    LEAST_TURNED = 4
    # Bytes of a unit of work at most, and of a block of units, which one thread does at once.
    RUN = 32768
    SHARE = 65536
    PARALLEL_FROM_BYTES = 131072

ctypedef fused word:
    uint8_t
    uint16_t
    uint32_t
    uint64_t

cdef struct Dimension:
    Py_ssize_t length, source, target

cdef struct Plan:
    int itemsize
    int outer  # Dimensions that units are counted along.
    Dimension dims[DIMENSIONS + 2]
    Dimension run  # Along the target's neighbours.
    Dimension across  # Along the source's neighbours, where tiles are turned; else of length 0.
    Py_ssize_t run_piece, run_pieces  # A unit has this much of the run ...
    Py_ssize_t across_piece, across_pieces  # ... and this many rows of tiles.
    Py_ssize_t units


cdef void collect(Plan *plan, cnp.ndarray source, cnp.ndarray target) noexcept:
    """Put the dimensions in the order of the target's memory and join those that step alike."""
    cdef int axis, place, count = 0
    cdef Dimension dim, last
    for axis in range(cnp.PyArray_NDIM(target)):
        dim = Dimension(
            cnp.PyArray_DIM(target, axis), cnp.PyArray_STRIDE(source, axis), cnp.PyArray_STRIDE(target, axis)
        )
        if dim.length == 1:
            continue
        place = count
        while place > 0 and abs(plan.dims[place - 1].target) < abs(dim.target):
            plan.dims[place] = plan.dims[place - 1]
            place -= 1
        plan.dims[place] = dim
        count += 1
    plan.outer = 0
    for place in range(count):
        dim = plan.dims[place]
        if plan.outer:
            last = plan.dims[plan.outer - 1]
            if last.target == dim.target * dim.length and last.source == dim.source * dim.length:
                plan.dims[plan.outer - 1] = Dimension(last.length * dim.length, dim.source, dim.target)
                continue
        plan.dims[plan.outer] = dim
        plan.outer += 1
    if plan.outer == 0:
        plan.dims[0] = Dimension(1, plan.itemsize, plan.itemsize)
        plan.outer = 1


cdef void divide(Plan *plan) noexcept:
    """Choose the run, the dimension across it, and how much of both makes a unit."""
    cdef int i, found = -1
    cdef Py_ssize_t side
    plan.outer -= 1
    plan.run = plan.dims[plan.outer]
    plan.across = Dimension(0, 0, 0)
    plan.across_piece = plan.across_pieces = 1
    plan.run_piece = max(RUN // plan.itemsize, 1)
    if plan.itemsize <= 8 and plan.run.target == plan.itemsize and plan.run.source != plan.itemsize:
        for i in range(plan.outer):
            if plan.dims[i].source == plan.itemsize:
                found = i
        if found >= 0 and plan.dims[found].length < LEAST_TURNED:
            found = -1
        if found >= 0 and plan.run.length < LEAST_TURNED:
            plan.run = plan.dims[found]
            plan.dims[found] = plan.dims[plan.outer]
        elif found >= 0 and plan.run.source != 0:
            plan.across = plan.dims[found]
            for i in range(found, plan.outer - 1):
                plan.dims[i] = plan.dims[i + 1]
            plan.outer -= 1
            side = TRANSPOSE_LINE // plan.itemsize
            plan.across_piece = side * TILES
            plan.across_pieces = block_count(plan.across.length, plan.across_piece)
            plan.run_piece = max(RUN // (TRANSPOSE_LINE * TILES) // side, 1) * side
    plan.run_pieces = block_count(plan.run.length, plan.run_piece)
    plan.units = plan.across_pieces * plan.run_pieces
    for i in range(plan.outer):
        plan.units *= plan.dims[i].length


cdef inline void step_words(
    word *target, Py_ssize_t target_step, const word *source, Py_ssize_t source_step, Py_ssize_t length
) noexcept nogil:
    """Copy words whose steps, in words, are told; the compiler makes vectors of the first three."""
    cdef Py_ssize_t i
    cdef word one
    if target_step == 1 and source_step == 0:
        one = source[0]
        for i in range(length):
            target[i] = one
    elif target_step == 1 and source_step == -1:
        for i in range(length):
            target[i] = source[-i]
    elif target_step == 1 and source_step == 2:
        for i in range(length):
            target[i] = source[2 * i]
    else:
        for i in range(length):
            target[i * target_step] = source[i * source_step]


cdef void copy_run(
    int itemsize, char *target, Py_ssize_t target_step, const char *source, Py_ssize_t source_step,
    Py_ssize_t length
) noexcept nogil:
    cdef Py_ssize_t i, size = length * itemsize
    if source_step == itemsize and target_step == itemsize:
        copy_bytes(target, source, size)
    elif source_step % itemsize or target_step % itemsize or itemsize > 8:
        for i in range(length):
            memcpy(target + i * target_step, source + i * source_step, itemsize)
    elif itemsize == 4:
        step_words(<uint32_t *> target, target_step // 4, <const uint32_t *> source, source_step // 4, length)
    elif itemsize == 2:
        step_words(<uint16_t *> target, target_step // 2, <const uint16_t *> source, source_step // 2, length)
    elif itemsize == 8:
        step_words(<uint64_t *> target, target_step // 8, <const uint64_t *> source, source_step // 8, length)
    else:
        step_words(<uint8_t *> target, target_step, <const uint8_t *> source, source_step, length)


cdef void turn_tiles(
    int itemsize, char *target, Py_ssize_t target_step, const char *source, Py_ssize_t source_step,
    Py_ssize_t run, Py_ssize_t across
) noexcept nogil:
    """Copy `across` rows of the target, `run` words each, from as many columns of the source."""
    cdef Py_ssize_t side = TRANSPOSE_LINE // itemsize
    cdef Py_ssize_t tile, beside
    for tile in range(block_count(run, side)):
        for beside in range(block_count(across, side)):
            transpose_tile(
                itemsize, source + tile * side * source_step + beside * TRANSPOSE_LINE, source_step,
                block_length(tile, run, side), block_length(beside, across, side),
                target + tile * TRANSPOSE_LINE + beside * side * target_step, target_step
            )


cdef void copy_units(
    const Plan *plan, const char *source, char *target, Py_ssize_t first, Py_ssize_t count
) noexcept nogil:
    """Copy `count` units from number `first` on; the last dimension's number runs fastest."""
    cdef Py_ssize_t places[DIMENSIONS]
    cdef Py_ssize_t _unit, rest, run, run_start, across_start
    cdef Py_ssize_t run_block = first % plan.run_pieces
    cdef Py_ssize_t across_block = first // plan.run_pieces % plan.across_pieces
    cdef int i
    rest = first // plan.run_pieces // plan.across_pieces
    for i in range(plan.outer - 1, -1, -1):
        places[i] = rest % plan.dims[i].length
        rest //= plan.dims[i].length
        source += places[i] * plan.dims[i].source
        target += places[i] * plan.dims[i].target
    for _unit in range(count):
        run_start = run_block * plan.run_piece
        run = block_length(run_block, plan.run.length, plan.run_piece)
        if plan.across.length:
            across_start = across_block * plan.across_piece
            turn_tiles(
                plan.itemsize,
                target + across_start * plan.across.target + run_start * plan.run.target,
                plan.across.target,
                source + across_start * plan.across.source + run_start * plan.run.source,
                plan.run.source, run,
                block_length(across_block, plan.across.length, plan.across_piece)
            )
        else:
            copy_run(
                plan.itemsize, target + run_start * plan.run.target, plan.run.target,
                source + run_start * plan.run.source, plan.run.source, run
            )
        run_block += 1
        if run_block < plan.run_pieces:
            continue
        run_block = 0
        across_block += 1
        if across_block < plan.across_pieces:
            continue
        across_block = 0
        for i in range(plan.outer - 1, -1, -1):
            source += plan.dims[i].source
            target += plan.dims[i].target
            places[i] += 1
            if places[i] < plan.dims[i].length:
                break
            source -= places[i] * plan.dims[i].source
            target -= places[i] * plan.dims[i].target
            places[i] = 0


cdef void copy_all(const Plan *plan, const char *source, char *target, Py_ssize_t size) noexcept nogil:
    cdef Py_ssize_t units = min(max(SHARE * plan.units // size, 1), plan.units)
    cdef Py_ssize_t blocks = block_count(plan.units, units)
    cdef Py_ssize_t block
    for block in prange(blocks, schedule="static", use_threads_if=size >= PARALLEL_FROM_BYTES):
        copy_units(plan, source, target, block * units, block_length(block, plan.units, units))


def copy(cnp.ndarray source not None, cnp.ndarray target not None):
    """Copy the elements of `source` to `target`, of the same shape and type: any strides, apart in memory.

    Raises:
        TypeError: the types differ, hold Python objects, or are in foreign byte order.
        ValueError: the shapes differ, or `target` is read-only.

    >>> import numpy as np
    >>> out = np.empty((2, 3), np.int16)
    >>> copy(np.array([[1, 2], [3, 4], [5, 6]], np.int16).T, out)
    >>> out
    array([[1, 3, 5],
           [2, 4, 6]], dtype=int16)
    """
    cdef Plan plan
    check_same_shape("copy", "source", source, "target", target)
    check_memory("copy", "source", source, False)
    check_memory("copy", "target", target, True)
    if cnp.PyArray_TYPE(source) != cnp.PyArray_TYPE(target) or cnp.PyArray_TYPE(source) == cnp.NPY_OBJECT:
        raise TypeError(
            f"For 'copy', 'source' and 'target' must have one type without Python objects, but got "
            f"{source.dtype} and {target.dtype}."
        )
    cdef Py_ssize_t size = cnp.PyArray_NBYTES(target)
    if size == 0:
        return
    plan.itemsize = <int> cnp.PyArray_ITEMSIZE(target)
    collect(&plan, source, target)
    divide(&plan)
    cdef const char *read = <const char *> cnp.PyArray_DATA(source)
    cdef char *written = <char *> cnp.PyArray_DATA(target)
    with nogil:
        copy_all(&plan, read, written, size)
