# cython: cdivision=True, boundscheck=False, wraparound=False
"""The numbers of rows in order, all or the first few, and where they were.

Equal numbers stay in order, a NaN counts as the largest. Rows are sorted side by side. Numbers of at
most 32 bits get 64-bit keys that say their place too (ordering.h); wider ones are sorted by NumPy's
stable sort. The first few are found by reading a row once with the worst of the best so far at hand.
"""

cimport numpy as cnp
from cython.parallel cimport prange
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc

from arrays cimport check, check_same_shape, type_name
from blocks cimport PARALLEL_FROM

cnp.import_array()

cdef extern from "ordering.h" nogil:
    ctypedef int (*Sorter "dm_sorter")(void *start, Py_ssize_t count, void *array) noexcept nogil
    ctypedef int (*PlaceSorter "dm_place_sorter")(
        void *values, Py_ssize_t *places, Py_ssize_t count, void *array) noexcept nogil
    Sorter key_sorter "dm_key_sorter"()
    PlaceSorter stable_sorter "dm_stable_sorter"(cnp.ndarray array)
    ctypedef struct Ordering "dm_ordering":
        void (*keys)(const void *row, Py_ssize_t count, uint32_t turned, uint64_t *keys) noexcept nogil
        Py_ssize_t (*below)(
            const void *row, Py_ssize_t *next, Py_ssize_t count, uint32_t turned, uint64_t bound, uint64_t *keys,
            Py_ssize_t found, Py_ssize_t most) noexcept nogil
        void (*take)(
            const void *row, const uint64_t *keys, Py_ssize_t count, void *values, int32_t *places) noexcept nogil
    const Ordering *dm_orderings

cdef enum:
    # The least number of keys that are gathered before the best of them are kept.
    GATHERED = 128
    # An element's share in sorting costs this many times what it costs to read.
    SORTING_COST = 8

# Names of types and their places in dm_orderings; bools are sorted as their bytes.
ORDERINGS = {
    "float32": 0, "float16": 1, "bfloat16": 2, "int8": 3, "int16": 4, "int32": 5, "uint8": 6, "uint16": 7,
    "uint32": 8, "bool": 6,
}
WIDE = ("float64", "int64", "uint64")


cdef struct Rows:
    const char *x
    char *values
    int32_t *places
    Py_ssize_t rows, columns, kept, item
    uint32_t turned
    Sorter sort
    const Ordering *ordering
    PlaceSorter stable
    void *array


cdef int first_of_row(const Rows *at, Py_ssize_t row, uint64_t *keys, Py_ssize_t most) noexcept nogil:
    """Write the `kept` first of one row in order; `keys` has room for `most` keys and one more vector."""
    cdef const char *x = at.x + row * at.columns * at.item
    cdef uint64_t bound = ~(<uint64_t> 0)
    cdef Py_ssize_t found = 0, following = 0
    while True:
        found = at.ordering.below(x, &following, at.columns, at.turned, bound, keys, found, most)
        if at.sort(keys, found, NULL) < 0:
            return -1
        found = min(found, at.kept)
        if following >= at.columns:
            break
        if found == at.kept:
            bound = keys[found - 1]
    at.ordering.take(x, keys, at.kept, at.values + row * at.kept * at.item, at.places + row * at.kept)
    return 0


cdef int sort_row(const Rows *at, Py_ssize_t row, uint64_t *keys) noexcept nogil:
    """Write one row in order."""
    cdef const char *x = at.x + row * at.columns * at.item
    at.ordering.keys(x, at.columns, at.turned, keys)
    if at.sort(keys, at.columns, NULL) < 0:
        return -1
    at.ordering.take(x, keys, at.kept, at.values + row * at.kept * at.item, at.places + row * at.kept)
    return 0


cdef int sort_wide_row(const Rows *at, Py_ssize_t row, Py_ssize_t *places, int64_t *turned) noexcept nogil:
    """Write one row of 64-bit numbers in order; falling, the row is sorted from its end on."""
    cdef const int64_t *x = (<const int64_t *> at.x) + row * at.columns
    cdef int64_t *values = (<int64_t *> at.values) + row * at.kept
    cdef int32_t *to = at.places + row * at.kept
    cdef Py_ssize_t i, last = at.columns - 1
    for i in range(at.columns):
        places[i] = i
        turned[i] = x[last - i] if at.turned else x[i]
    if at.stable(turned, places, at.columns, at.array) < 0:
        return -1
    for i in range(at.kept):
        to[i] = <int32_t> (last - places[last - i] if at.turned else places[i])
        values[i] = x[to[i]]
    return 0


cdef int sort_rows(const Rows *at) noexcept nogil:
    """Sort all rows; return -1 without memory."""
    cdef Py_ssize_t row, most = max(<Py_ssize_t> GATHERED, 2 * at.kept)
    cdef bint few = 2 * at.kept < at.columns
    cdef bint parallel = at.rows > 1 and at.rows * at.columns * SORTING_COST >= PARALLEL_FROM
    cdef Py_ssize_t size = (most + 16 if few else at.columns) * <Py_ssize_t> sizeof(uint64_t)
    cdef uint64_t *keys
    cdef int failed = 0
    if at.ordering == NULL:
        few, size = False, 2 * at.columns * <Py_ssize_t> sizeof(uint64_t)
    for row in prange(at.rows, schedule="static", use_threads_if=parallel):
        keys = <uint64_t *> malloc(size)
        if keys == NULL:
            failed += 1
        else:
            if at.ordering == NULL:
                failed += sort_wide_row(
                    at, row, <Py_ssize_t *> keys, <int64_t *> (keys + at.columns)) < 0
            elif few:
                failed += first_of_row(at, row, keys, most) < 0
            else:
                failed += sort_row(at, row, keys) < 0
            free(keys)
    return -1 if failed else 0


def sort_first(cnp.ndarray x not None, cnp.ndarray values not None, cnp.ndarray places not None, bint descending):
    """Write the first numbers of each row of x (rows, columns) in order, and where they are.

    Args:
        x: C-contiguous real numbers or bools, less than 2^31 columns.
        values: (rows, kept) of its type.
        places: (rows, kept) int32.
        descending: largest first.

    Raises:
        TypeError: for another type.
        ValueError: for another shape or layout.

    >>> values, places = np.empty((1, 2), np.float32), np.empty((1, 2), np.int32)
    >>> sort_first(np.float32([[1, 3, 2]]), values, places, True)
    >>> print(values, places)
    [[3. 2.]] [[1 2]]
    """
    cdef Rows at
    cdef int state
    cdef str kernel = "sort_first", kind = type_name(x)
    check(kernel, "x", x, cnp.PyArray_TYPE(x), 2, False)
    check(kernel, "values", values, cnp.PyArray_TYPE(x), 2, True)
    check(kernel, "places", places, cnp.NPY_INT32, 2, True)
    check_same_shape(kernel, "places", places, "values", values)
    at.rows, at.columns, at.kept = cnp.PyArray_DIM(x, 0), cnp.PyArray_DIM(x, 1), cnp.PyArray_DIM(values, 1)
    if cnp.PyArray_DIM(values, 0) != at.rows or at.kept > at.columns:
        raise ValueError(
            f"For '{kernel}', 'values' must have {at.rows} rows of at most {at.columns} numbers, but got shape "
            f"{(<object> values).shape}."
        )
    if at.columns >= 1 << 31:
        raise ValueError(f"For '{kernel}', 'x' must have less than 2^31 columns, but got {at.columns}.")
    at.ordering, at.stable = NULL, NULL
    if kind in ORDERINGS:
        at.ordering = dm_orderings + <int> ORDERINGS[kind]
    elif kind in WIDE:
        at.stable = stable_sorter(x)
    else:
        raise TypeError(f"For '{kernel}', 'x' must hold real numbers or bools, but got {kind}.")
    at.item = cnp.PyArray_ITEMSIZE(x)
    at.x, at.values = <const char *> cnp.PyArray_DATA(x), <char *> cnp.PyArray_DATA(values)
    at.places = <int32_t *> cnp.PyArray_DATA(places)
    at.turned = 0xffffffff if descending else 0
    at.sort = key_sorter()
    at.array = <void *> x
    if at.kept == 0:
        return
    with nogil:
        state = sort_rows(&at)
    if state < 0:
        raise MemoryError()
