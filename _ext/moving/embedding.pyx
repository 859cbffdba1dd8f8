# cython: cdivision=True, boundscheck=False, wraparound=False
"""Rows of a table by index, and the sum of row gradients back into the table.

Tables are C-contiguous (rows, columns): of any type without Python objects to read, of floats to add to.
Indices are int32 or int64 (number,).
"""

cimport numpy as cnp
from cython cimport floating
from cython.parallel cimport prange
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport calloc, free, malloc
from openmp cimport omp_get_max_threads

from arrays cimport check, check_indices, index_at
from blocks cimport PARALLEL_FROM, block_count, block_length, rows_per_block
from rows cimport Matrix, Number, is_narrow, number_of, put_back, widened

cnp.import_array()

cdef extern from *:
    """
    #include <string.h>

    /* Copies of a fixed length are a few moves: two that overlap make any length between half of both and both. */
    #define DM_COPY_ENDS(length) do { \
        char first[length], last[length]; \
        memcpy(first, in, length); \
        memcpy(last, in + size - length, length); \
        memcpy(out, first, length); \
        memcpy(out + size - length, last, length); \
    } while (0)

    static inline void dm_copy_row(char *out, const char *in, Py_ssize_t size) {
        if (size > 128 || size < 4) memcpy(out, in, size);
        else if (size > 64) DM_COPY_ENDS(64);
        else if (size > 32) DM_COPY_ENDS(32);
        else if (size > 16) DM_COPY_ENDS(16);
        else if (size > 8) DM_COPY_ENDS(8);
        else DM_COPY_ENDS(4);
    }
    """
    void prefetch "__builtin_prefetch"(const void *address) noexcept nogil
    void copy_row "dm_copy_row"(char *out, const char *row, Py_ssize_t size) noexcept nogil

ctypedef fused Id:
    int32_t
    int64_t

cdef enum:
    # Ids looked at before their rows are added.
    IDS = 1024
    # Rows of the table asked for before their turn, and how many cache lines of each, at most; the
    # CPU asks for the rest itself, as they follow one another.
    AHEAD = 8
    LINES = 8
    # Bytes.
    LINE = 64
    # Numbers of a row of 16-bit floats that are added up at once.
    PIECE = 1024


cdef void gather_rows(
    const char *table, const void *ids, int item_size, char *out, Py_ssize_t number,
    Py_ssize_t columns, Py_ssize_t row_bytes
) noexcept nogil:
    cdef Py_ssize_t block_rows = rows_per_block(columns, 1)
    cdef Py_ssize_t block, i
    for block in prange(
        block_count(number, block_rows),
        schedule="static",
        use_threads_if=number * columns >= PARALLEL_FROM,
    ):
        for i in range(block * block_rows, min((block + 1) * block_rows, number)):
            copy_row(out + i * row_bytes, table + index_at(ids, item_size, i) * row_bytes, row_bytes)


cdef void add_to_shard(
    const floating *d_out, const void *ids, int item_size, floating *d_table, Py_ssize_t number,
    Py_ssize_t columns, int64_t first, int64_t stop
) noexcept nogil:
    """Add, in the order of the ids, those rows whose id lies in [first, stop)."""
    cdef Py_ssize_t positions[IDS]
    cdef int64_t rows[IDS]
    cdef Py_ssize_t lines = min(<Py_ssize_t> (columns * sizeof(floating) - 1) // LINE + 1, LINES)
    cdef Py_ssize_t block, i, found, count, column, line
    cdef int64_t row
    cdef floating *to
    cdef const floating *source
    for block in range(block_count(number, IDS)):
        # Without a branch, which random ids would make a guess.
        count = 0
        for i in range(block * IDS, min((block + 1) * IDS, number)):
            row = index_at(ids, item_size, i)
            positions[count] = i
            rows[count] = row
            count += (first <= row) & (row < stop)
        for found in range(count):
            if found + AHEAD < count:
                to = d_table + rows[found + AHEAD] * columns
                for line in range(lines):
                    prefetch(<const char *> to + line * LINE)
            to = d_table + rows[found] * columns
            source = d_out + positions[found] * columns
            for column in range(columns):
                to[column] += source[column]


cdef void add_rows(
    const floating *d_out, const void *ids, int item_size, floating *d_table, Py_ssize_t number,
    Py_ssize_t columns, Py_ssize_t rows
) noexcept nogil:
    """Let each thread own a range of table rows, so that no row's order of additions changes."""
    cdef int shards = omp_get_max_threads() if number * columns >= PARALLEL_FROM else 1
    cdef int shard
    for shard in prange(shards, schedule="static", use_threads_if=shards > 1):
        add_to_shard(
            d_out, ids, item_size, d_table, number, columns,
            rows * shard // shards, rows * (shard + 1) // shards,
        )


cdef bint are_rows(const Id *ids, Py_ssize_t number, Py_ssize_t rows) noexcept nogil:
    """Tell whether each id is a row of the table: without a branch in the loop, which then is one of vectors."""
    cdef Py_ssize_t i
    cdef int wrong = 0
    for i in range(number):
        wrong |= (ids[i] < 0) | (ids[i] >= rows)
    return not wrong


cdef int check_ids(
    str kernel, cnp.ndarray ids, Py_ssize_t number, Py_ssize_t rows
) except -1:
    """Raise IndexError unless each id is a row of the table; return the bytes per id."""
    cdef int item_size = check_indices(kernel, "ids", ids, number)
    cdef const void *data = cnp.PyArray_DATA(ids)
    cdef int64_t row
    cdef Py_ssize_t i
    if item_size == sizeof(int32_t):
        if are_rows(<const int32_t *> data, number, rows):
            return item_size
    elif are_rows(<const int64_t *> data, number, rows):
        return item_size
    for i in range(number):
        row = index_at(data, item_size, i)
        if not 0 <= row < rows:
            raise IndexError(
                f"For '{kernel}', 'ids' must be in [0, {rows}), the rows of the table, "
                f"but got {row} at position {i}."
            )
    return item_size


cdef int check_rows(
    str kernel, str name, cnp.ndarray rows, int number, cnp.ndarray table, bint written
) except -1:
    """Raise unless `rows` is a matrix of the table's type and number of columns."""
    check(kernel, name, rows, number, 2, written)
    if cnp.PyArray_DIM(rows, 1) != cnp.PyArray_DIM(table, 1):
        raise ValueError(
            f"For '{kernel}', '{name}' must have the table's {cnp.PyArray_DIM(table, 1)} columns, "
            f"but got {cnp.PyArray_DIM(rows, 1)}."
        )
    return 0


def gather(cnp.ndarray table not None, cnp.ndarray ids not None, cnp.ndarray out not None):
    """Write table[ids] into `out` (number, columns); an id out of range raises IndexError.

    >>> out = np.empty((3, 2))
    >>> gather(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1, 0, 1]), out)
    >>> out
    array([[3., 4.],
           [1., 2.],
           [3., 4.]])
    """
    cdef int number = cnp.PyArray_TYPE(table)
    if number == cnp.NPY_OBJECT:
        raise TypeError("For 'gather', 'table' must hold no Python objects, but got object.")
    check("gather", "table", table, number, 2, False)
    check_rows("gather", "out", out, number, table, True)
    cdef Py_ssize_t columns = cnp.PyArray_DIM(table, 1)
    cdef Py_ssize_t wanted = cnp.PyArray_DIM(out, 0)
    cdef int item_size = check_ids("gather", ids, wanted, cnp.PyArray_DIM(table, 0))
    cdef Py_ssize_t row_bytes = columns * cnp.PyArray_ITEMSIZE(table)
    cdef char *from_table = <char *> cnp.PyArray_DATA(table)
    cdef void *id_data = cnp.PyArray_DATA(ids)
    cdef char *to = <char *> cnp.PyArray_DATA(out)
    with nogil:
        gather_rows(from_table, id_data, item_size, to, wanted, columns, row_bytes)


cdef void add_to_row(
    Matrix d_out, const int64_t *positions, Py_ssize_t count, Matrix d_table, Py_ssize_t row, Py_ssize_t columns
) noexcept nogil:
    """Add rows of d_out to a row of the table, in this order and in float32; the sum is rounded once."""
    cdef float sums[PIECE]
    cdef float wide[PIECE]
    cdef const float *source
    cdef Py_ssize_t piece, start, size, i, column
    for piece in range(block_count(columns, PIECE)):
        start = piece * PIECE
        size = block_length(piece, columns, PIECE)
        widened(d_table, row * columns + start, <float *> sums, size)
        for i in range(count):
            source = widened(d_out, positions[i] * columns + start, <float *> wide, size)
            for column in range(size):
                sums[column] += source[column]
        put_back(d_table, row * columns + start, <const float *> sums, size)


cdef int add_narrow(
    Matrix d_out, const void *ids, int item_size, Matrix d_table, Py_ssize_t number, Py_ssize_t columns,
    Py_ssize_t rows
) except -1 nogil:
    """Sort the rows of d_out by id, then let threads add up each row of the table."""
    cdef int64_t *starts = <int64_t *> calloc(rows + 2, sizeof(int64_t))
    cdef int64_t *positions = <int64_t *> malloc((number + 1) * sizeof(int64_t))
    cdef Py_ssize_t i, row
    if starts == NULL or positions == NULL:
        free(starts)
        free(positions)
        with gil:
            raise MemoryError
    # starts[row + 2] counts the row's ids, then starts[row + 1] is where the next of them goes.
    for i in range(number):
        starts[index_at(ids, item_size, i) + 2] += 1
    for row in range(rows):
        starts[row + 2] += starts[row + 1]
    for i in range(number):
        row = index_at(ids, item_size, i)
        positions[starts[row + 1]] = i
        starts[row + 1] += 1
    for row in prange(rows, schedule="dynamic", chunksize=16, use_threads_if=number * columns >= PARALLEL_FROM):
        if starts[row + 1] > starts[row]:
            add_to_row(d_out, positions + starts[row], starts[row + 1] - starts[row], d_table, row, columns)
    free(starts)
    free(positions)
    return 0


def scatter_add(
    cnp.ndarray d_out not None, cnp.ndarray ids not None, cnp.ndarray d_table not None
):
    """Add row i of d_out (number, columns) to row ids[i] of `d_table`, in the order of i.

    Rows of 16-bit floats are added in float32, and each sum is rounded once. An id out of range raises IndexError
    before anything is added.

    >>> d_table = np.zeros((2, 2))
    >>> scatter_add(np.ones((3, 2)), np.array([1, 0, 1]), d_table)
    >>> d_table
    array([[1., 1.],
           [2., 2.]])
    """
    cdef Number stored = number_of("scatter_add", "d_table", d_table)
    cdef int number = cnp.PyArray_TYPE(d_table)
    check("scatter_add", "d_table", d_table, number, 2, True)
    check_rows("scatter_add", "d_out", d_out, number, d_table, False)
    cdef Py_ssize_t columns = cnp.PyArray_DIM(d_table, 1)
    cdef Py_ssize_t rows = cnp.PyArray_DIM(d_table, 0)
    cdef Py_ssize_t count = cnp.PyArray_DIM(d_out, 0)
    cdef int item_size = check_ids("scatter_add", ids, count, rows)
    cdef void *from_rows = cnp.PyArray_DATA(d_out)
    cdef void *id_data = cnp.PyArray_DATA(ids)
    cdef void *to = cnp.PyArray_DATA(d_table)
    cdef Matrix given, table
    given.number = table.number = stored
    given.data, table.data = from_rows, to
    with nogil:
        if is_narrow(table):
            add_narrow(given, id_data, item_size, table, count, columns, rows)
        elif number == cnp.NPY_FLOAT32:
            add_rows(
                <const float *> from_rows, id_data, item_size, <float *> to, count, columns, rows
            )
        else:
            add_rows(
                <const double *> from_rows, id_data, item_size, <double *> to, count, columns, rows
            )
