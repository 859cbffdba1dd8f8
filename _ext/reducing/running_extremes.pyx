# cython: cdivision=True, boundscheck=False, wraparound=False
"""Running maxima and minima along the middle axis of (outer, length, inner), and where they are.

The last of equal numbers counts, and a NaN stays once it has come. A contiguous line is looked at
many numbers at a time, as most of them change nothing; lines side by side go on as vectors.
"""

cimport numpy as cnp
from cython.parallel cimport prange

from arrays cimport check, check_same_shape, type_name
from blocks cimport PARALLEL_FROM, block_count, block_length

cnp.import_array()

cdef extern from "running_extremes.h" nogil:
    ctypedef struct Running "dm_running":
        void (*line)(const void *row, Py_ssize_t count, int turning, void *values, void *places) noexcept nogil
        void (*lines)(
            const void *start, Py_ssize_t count, Py_ssize_t inner, Py_ssize_t width, int turning, void *values,
            void *places) noexcept nogil
    const Running dm_running_kinds[12][2]
    const Py_ssize_t STRIP "DM_STRIP"

# Names of types and their places in dm_running_kinds; bools are compared as their bytes.
KINDS = {
    "float32": 0, "float64": 1, "float16": 2, "bfloat16": 3, "int8": 4, "int16": 5, "int32": 6, "int64": 7,
    "uint8": 8, "uint16": 9, "uint32": 10, "uint64": 11, "bool": 8,
}


cdef void run_all(
    const Running *kind, const char *x, Py_ssize_t outer, Py_ssize_t length, Py_ssize_t inner, Py_ssize_t item,
    Py_ssize_t place_item, int turning, char *values, char *places
) noexcept nogil:
    """Run along all lines."""
    cdef bint parallel = outer * length * inner >= PARALLEL_FROM
    cdef Py_ssize_t strips = block_count(inner, STRIP)
    cdef Py_ssize_t task, start
    for task in prange(outer * strips, schedule="static", use_threads_if=parallel):
        start = task // strips * length * inner + task % strips * STRIP
        if inner == 1:
            kind.line(x + start * item, length, turning, values + start * item, places + start * place_item)
        else:
            kind.lines(
                x + start * item, length, inner, block_length(task % strips, inner, STRIP), turning,
                values + start * item, places + start * place_item)


def running_extremes(
    cnp.ndarray x not None, cnp.ndarray values not None, cnp.ndarray places not None, bint smallest
):
    """Write the running extremes along the middle axis of x (outer, length, inner), and where they are.

    Args:
        x: C-contiguous real numbers or bools.
        values: of its type and shape.
        places: int32 or int64 of its shape.
        smallest: minima instead of maxima.

    Raises:
        TypeError: for another type.
        ValueError: for another shape or layout, or places that int32 does not hold.

    >>> x = np.float32([1, 3, 2]).reshape(1, 3, 1)
    >>> values, places = np.empty_like(x), np.empty(x.shape, np.int64)
    >>> running_extremes(x, values, places, False)
    >>> print(values.ravel(), places.ravel())
    [1. 3. 3.] [0 1 1]
    """
    cdef str kernel = "running_extremes", name = type_name(x)
    cdef const Running *kind
    cdef int wide = cnp.PyArray_TYPE(places) != cnp.NPY_INT32
    if name not in KINDS:
        raise TypeError(f"For '{kernel}', 'x' must hold real numbers or bools, but got {name}.")
    check(kernel, "x", x, cnp.PyArray_TYPE(x), 3, False)
    check(kernel, "values", values, cnp.PyArray_TYPE(x), 3, True)
    check(kernel, "places", places, cnp.NPY_INT64 if wide else cnp.NPY_INT32, 3, True)
    check_same_shape(kernel, "values", values, "x", x)
    check_same_shape(kernel, "places", places, "x", x)
    if not wide and cnp.PyArray_DIM(x, 1) > 1 << 31:
        raise ValueError(f"For '{kernel}', 'places' must be int64 for a length of {cnp.PyArray_DIM(x, 1)}.")
    if cnp.PyArray_SIZE(x) == 0:
        return
    kind = &dm_running_kinds[<int> KINDS[name]][wide]
    with nogil:
        run_all(
            kind, <const char *> cnp.PyArray_DATA(x), cnp.PyArray_DIM(x, 0), cnp.PyArray_DIM(x, 1),
            cnp.PyArray_DIM(x, 2), cnp.PyArray_ITEMSIZE(x), cnp.PyArray_ITEMSIZE(places), -1 if smallest else 0,
            <char *> cnp.PyArray_DATA(values), <char *> cnp.PyArray_DATA(places))
