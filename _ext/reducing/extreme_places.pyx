# cython: cdivision=True, boundscheck=False, wraparound=False
"""Where the largest or smallest number is along the middle axis of (outer, length, inner).

The first of equal ones counts, and a NaN before all numbers. Long lines are cut into parts, which
follow from the shape alone.
"""

cimport numpy as cnp
from cython.parallel cimport prange
from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc

from arrays cimport check, type_name
from blocks cimport BLOCK, PARALLEL_FROM, block_count, block_length

cnp.import_array()

cdef extern from "extreme_places.h" nogil:
    ctypedef struct Places "dm_places":
        int width
        void (*line)(
            const void *x, Py_ssize_t first, Py_ssize_t last, int turned, void *rank, void *place) noexcept nogil
        void (*lines)(
            const void *x, Py_ssize_t stride, Py_ssize_t first, Py_ssize_t last, Py_ssize_t width, int turned,
            void *ranks, void *places) noexcept nogil
        void (*join)(
            const void *more_ranks, const void *more_places, Py_ssize_t count, void *ranks,
            void *places) noexcept nogil
        void (*write)(const void *places, Py_ssize_t count, int64_t *to) noexcept nogil
    const Places *dm_extreme_places

cdef enum:
    # Lines side by side of a task, whose ranks and places the L1 cache holds.
    STRIP = 512
    # Parts at most that lines are cut into.
    PARTS = 16

KINDS = {"float32": 0, "float64": 1, "int32": 2, "int64": 3}


cdef int find_all(
    const Places *kind, const char *x, Py_ssize_t outer, Py_ssize_t length, Py_ssize_t inner, int turned, int64_t *out
) noexcept nogil:
    """Write the places; return -1 without memory."""
    cdef Py_ssize_t strips = block_count(inner, STRIP)
    cdef Py_ssize_t parts = 1, part_length = length
    cdef Py_ssize_t task, line, part, size, place
    cdef int width = kind.width
    cdef char *ranks
    cdef char *places
    if outer * strips < PARTS and length * inner >= 2 * BLOCK:
        part_length = block_count(length, PARTS)
        parts = block_count(length, part_length)
    ranks = <char *> malloc(2 * outer * parts * inner * width)
    if ranks == NULL:
        return -1
    places = ranks + outer * parts * inner * width
    for task in prange(
        outer * parts * strips, schedule="static", use_threads_if=outer * length * inner >= PARALLEL_FROM
    ):
        line = task // strips // parts
        part = task // strips % parts
        size = block_length(task % strips, inner, STRIP)
        place = (task // strips * inner + task % strips * STRIP) * width
        if inner == 1:
            kind.line(
                x + line * length * width, part * part_length, min((part + 1) * part_length, length), turned,
                ranks + place, places + place,
            )
        else:
            kind.lines(
                x + (line * length * inner + task % strips * STRIP) * width, inner, part * part_length,
                min((part + 1) * part_length, length), size, turned, ranks + place, places + place,
            )
    for line in range(outer):
        place = line * parts * inner * width
        for part in range(1, parts):
            size = place + part * inner * width
            kind.join(ranks + size, places + size, inner, ranks + place, places + place)
        kind.write(places + place, inner, out + line * inner)
    free(ranks)
    return 0


def extreme_places(cnp.ndarray x not None, cnp.ndarray out not None, bint smallest=False):
    """Write where the largest (smallest) numbers along the middle axis of x (outer, length, inner) are.

    Args:
        x: C-contiguous float32, float64, int32 or int64; the middle axis is not empty, and shorter than 2^31.
        out: (outer, inner) int64.
        smallest: the smallest instead of the largest.

    Raises:
        TypeError: for another type.
        ValueError: for another shape or layout.

    >>> out = np.empty((1, 1), np.int64)
    >>> extreme_places(np.array([1.0, 5.0, 3.0]).reshape(1, 3, 1), out)
    >>> out
    array([[1]])
    """
    cdef Py_ssize_t outer, length, inner
    cdef const Places *kind
    cdef int state = 0
    cdef const char *source = <const char *> cnp.PyArray_DATA(x)
    cdef int64_t *to = <int64_t *> cnp.PyArray_DATA(out)
    cdef str name = type_name(x)
    if name not in KINDS:
        raise TypeError(f"For 'extreme_places', 'x' must be float32, float64, int32 or int64, but got {name}.")
    check("extreme_places", "x", x, cnp.PyArray_TYPE(x), 3, False)
    check("extreme_places", "out", out, cnp.NPY_INT64, 2, True)
    outer, length, inner = cnp.PyArray_DIM(x, 0), cnp.PyArray_DIM(x, 1), cnp.PyArray_DIM(x, 2)
    if cnp.PyArray_DIM(out, 0) != outer or cnp.PyArray_DIM(out, 1) != inner:
        raise ValueError(
            f"For 'extreme_places', 'out' must have the shape {(outer, inner)}, but got {(<object> out).shape}.")
    if not 0 < length < 1 << 31:
        raise ValueError(
            f"For 'extreme_places', the middle axis of 'x' must have 1 to 2^31 - 1 elements, but got {length}.")
    kind = dm_extreme_places + <int> KINDS[name]
    if outer * inner == 0:
        return
    with nogil:
        state = find_all(kind, source, outer, length, inner, smallest, to)
    if state < 0:
        raise MemoryError()
