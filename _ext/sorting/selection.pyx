# cython: cdivision=True, boundscheck=False, wraparound=False
"""Where the number is that would stand at a given place of a sorted row: medians and the like.

Equal numbers stay in order, a NaN counts as the largest. Rows are searched side by side, and none
is sorted.
"""

cimport numpy as cnp
from cython.parallel cimport prange
from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc

from arrays cimport check, check_vector, type_name
from blocks cimport PARALLEL_FROM

cnp.import_array()

cdef extern from "selection.h" nogil:
    ctypedef Py_ssize_t (*Placer "dm_placer")(
        const void *row, Py_ssize_t count, Py_ssize_t k, void *scratch) noexcept nogil
    const Placer *dm_placers

cdef enum:
    # An element's share in a selection costs this many times what it costs to read.
    SELECTION_COST = 4

# Names of types and their places in dm_placers; bools are compared as their bytes.
KINDS = {
    "float32": 0, "float64": 1, "float16": 2, "bfloat16": 3, "int8": 4, "int16": 5, "int32": 6, "int64": 7,
    "uint8": 8, "uint16": 9, "uint32": 10, "uint64": 11, "bool": 8,
}
MEDIAN, MEDIAN_OF_NUMBERS = -1, -2


cdef int place_all(
    Placer placer, const char *x, Py_ssize_t rows, Py_ssize_t columns, Py_ssize_t item, Py_ssize_t k, int64_t *places
) noexcept nogil:
    """Write the places; return -1 without memory."""
    cdef bint parallel = rows > 1 and rows * columns * SELECTION_COST >= PARALLEL_FROM
    cdef Py_ssize_t row
    cdef void *scratch
    cdef int failed = 0
    for row in prange(rows, schedule="static", use_threads_if=parallel):
        scratch = malloc(columns * 8)
        if scratch == NULL:
            failed += 1
        else:
            places[row] = placer(x + row * columns * item, columns, k, scratch)
            free(scratch)
    return -1 if failed else 0


def select(cnp.ndarray x not None, Py_ssize_t k, cnp.ndarray places not None):
    """Write where the number k (from 0 on) of each row of x (rows, columns) in order is.

    Args:
        x: C-contiguous real numbers or bools.
        k: MEDIAN for the lower median, or a NaN, the last, if there is one; MEDIAN_OF_NUMBERS for that of what is
            no NaN.
        places: (rows,) int64.

    Raises:
        TypeError: for another type.
        ValueError: for another shape or layout, or a place that the rows do not have.

    >>> places = np.empty(1, np.int64)
    >>> select(np.float32([[5, 1, 3, 2]]), 2, places)
    >>> places
    array([2])
    """
    cdef str kernel = "select", name = type_name(x)
    cdef Placer placer
    cdef int state
    if name not in KINDS:
        raise TypeError(f"For '{kernel}', 'x' must hold real numbers or bools, but got {name}.")
    check(kernel, "x", x, cnp.PyArray_TYPE(x), 2, False)
    check_vector(kernel, "places", places, cnp.NPY_INT64, cnp.PyArray_DIM(x, 0), True)
    if not -2 <= k < cnp.PyArray_DIM(x, 1) or cnp.PyArray_DIM(x, 1) == 0:
        raise ValueError(f"For '{kernel}', 'k' must be one of {cnp.PyArray_DIM(x, 1)} places, but got {k}.")
    placer = dm_placers[<int> KINDS[name]]
    with nogil:
        state = place_all(
            placer, <const char *> cnp.PyArray_DATA(x), cnp.PyArray_DIM(x, 0), cnp.PyArray_DIM(x, 1),
            cnp.PyArray_ITEMSIZE(x), k, <int64_t *> cnp.PyArray_DATA(places))
    if state < 0:
        raise MemoryError()
