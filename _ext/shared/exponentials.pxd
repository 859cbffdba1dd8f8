# cython: cdivision=True
"""Exponentials of a row, relative to its largest element, and their sum."""

from cython cimport floating
from libc.math cimport INFINITY

from blocks cimport LANES, block_count, block_length, lane_total
from tiles cimport TILE, put_rest, take_rest
from transcendental cimport LIFT, LOWEST, hidden, lifted_exponential

cdef enum:
    # Elements that are added in their own type before the sum goes on in float64.
    SPAN = 16 * TILE
    # Columns from which on the L2 cache does not hold a row beside the next one and the results.
    LONG_ROW = 1 << 16

cdef extern from *:
    void prefetch "__builtin_prefetch"(const void *place) noexcept nogil


cdef inline void lift(
    const floating *x, floating origin, float lowest, floating *tile
) noexcept nogil:
    """Write `LIFT` e^(x - origin) for a tile; `lowest` is `hidden(LOWEST)`."""
    cdef int lane
    for lane in range(TILE):
        tile[lane] = x[lane] - origin
    if floating is float:
        # Written such that a NaN stays one.
        for lane in range(TILE):
            tile[lane] = lowest if lowest > tile[lane] else tile[lane]
    for lane in range(TILE):
        tile[lane] = lifted_exponential(tile[lane])


cdef inline double lifted_sum(
    const floating *x, floating largest, floating *out, const floating *ahead, Py_ssize_t columns
) noexcept nogil:
    """Return `LIFT` sum(e^(x - largest)), and write the terms into `out` unless it is NULL.

    While it computes, the memory is asked for the next row, and for as much from `ahead` on, which
    the caller means to write or read next.
    """
    cdef float lowest = hidden(LOWEST)
    cdef floating tile[TILE]
    cdef floating rest[TILE]
    cdef floating sums[TILE]
    cdef double lanes[LANES]
    cdef Py_ssize_t index, i, end
    cdef int lane
    for lane in range(LANES):
        lanes[lane] = 0
    for index in range(block_count(columns, SPAN)):
        i = index * SPAN
        end = i + block_length(index, columns, SPAN)
        for lane in range(TILE):
            sums[lane] = 0
        while i + TILE <= end:
            if columns <= LONG_ROW:
                prefetch(x + columns + i)
                prefetch(x + columns + i + LANES)
                prefetch(ahead + i)
                prefetch(ahead + i + LANES)
            lift(x + i, largest, lowest, tile)
            for lane in range(TILE):
                sums[lane] += tile[lane]
            if out != NULL:
                for lane in range(TILE):
                    out[i + lane] = tile[lane]
            i += TILE
        if i < end:
            take_rest(x + i, end - i, <floating> -INFINITY, rest)
            lift(<const floating *> rest, largest, lowest, rest)
            for lane in range(TILE):
                sums[lane] += rest[lane]
            if out != NULL:
                put_rest(<const floating *> rest, end - i, out + i)
        for lane in range(LANES):
            lanes[lane] += <double> (sums[lane] + sums[lane + LANES])
    return lane_total(lanes)
