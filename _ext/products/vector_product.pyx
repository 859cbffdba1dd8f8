# cython: cdivision=True, boundscheck=False, wraparound=False
"""A matrix times a vector, and the outer product of two vectors, at the speed of memory.

Float32 and float64; the matrix may be bfloat16 or float16, too, whose rows are widened a piece at a time.
Partial sums lie over fixed pieces of the matrix and are added in their order, so the bits are the
same for any number of threads.
"""

cimport numpy as cnp
from cython cimport floating
from cython.parallel cimport prange, threadid
from libc.stdlib cimport free, malloc

from arrays cimport check, check_memory, check_vector, real_type
from blocks cimport BLOCK, PARALLEL_FROM, block_count, block_length, last_row, rows_per_block, sum_of_products
from rows cimport Matrix, is_narrow, number_of, scratch_rows, widened, working_type

cnp.import_array()

cdef enum:
    PIECE = 1 << 14  # elements of a row that are summed up by one thread
    TALL = 128  # rows that one partial sum of columns lies over
    WIDE = 2048  # columns of it: they stay in the L1 cache
    AT_ONCE = 8  # rows that are added to it together
    SCRATCH = AT_ONCE * WIDE  # numbers that a thread widens at once: a piece, or those rows


cdef void rows_times(
    Matrix a, Py_ssize_t step, const floating *x, floating *out, Py_ssize_t rows, Py_ssize_t columns, double *parts,
    floating *scratch
) noexcept nogil:
    """Write the sum of products for each row, whose elements are neighbours; `parts` has place for all pieces."""
    cdef Py_ssize_t pieces = block_count(columns, PIECE)
    cdef Py_ssize_t some = max(1, BLOCK // max(1, columns // max(1, pieces)))
    cdef Py_ssize_t task, index, piece, row, length
    for task in prange(
        block_count(rows * pieces, some), schedule="static", use_threads_if=rows * columns >= PARALLEL_FROM
    ):
        for index in range(task * some, min((task + 1) * some, rows * pieces)):
            row = index // pieces
            piece = index % pieces
            length = block_length(piece, columns, PIECE)
            parts[index] = sum_of_products(
                widened(a, row * step + piece * PIECE, scratch + threadid() * SCRATCH, length),
                x + piece * PIECE,
                length,
            )
    for row in range(rows):
        for piece in range(1, pieces):
            parts[row * pieces] += parts[row * pieces + piece]
        out[row] = <floating> parts[row * pieces]


cdef void add_rows(
    Matrix a, Py_ssize_t start, Py_ssize_t step, const floating *x, floating *sums, Py_ssize_t rows,
    Py_ssize_t columns, floating *scratch
) noexcept nogil:
    """Write the sum of rows, the first of which begins at `start`, each times its element of x."""
    cdef Py_ssize_t row = 0, column, apart = WIDE if is_narrow(a) else step, i
    cdef const floating *r
    cdef const floating *w
    for column in range(columns):
        sums[column] = 0
    while row + AT_ONCE <= rows:
        r = widened(a, start + row * step, scratch, columns)
        for i in range(1, AT_ONCE):
            widened(a, start + (row + i) * step, scratch + i * WIDE, columns)
        w = x + row
        for column in range(columns):
            sums[column] += (
                ((r[column] * w[0] + r[column + apart] * w[1])
                 + (r[column + 2 * apart] * w[2] + r[column + 3 * apart] * w[3]))
                + ((r[column + 4 * apart] * w[4] + r[column + 5 * apart] * w[5])
                   + (r[column + 6 * apart] * w[6] + r[column + 7 * apart] * w[7]))
            )
        row += AT_ONCE
    while row < rows:
        r = widened(a, start + row * step, scratch, columns)
        for column in range(columns):
            sums[column] += r[column] * x[row]
        row += 1


cdef void columns_times(
    Matrix a, Py_ssize_t step, const floating *x, floating *out, Py_ssize_t rows, Py_ssize_t columns,
    floating *parts, floating *scratch
) noexcept nogil:
    """Write the sum of products for each column, of rows whose elements are neighbours; `parts` has place for all."""
    cdef Py_ssize_t bands = block_count(rows, TALL)
    cdef Py_ssize_t strips = block_count(columns, WIDE)
    cdef Py_ssize_t task, band, strip
    for task in prange(bands * strips, schedule="static", use_threads_if=rows * columns >= PARALLEL_FROM):
        band = task // strips
        strip = task % strips
        add_rows(
            a,
            band * TALL * step + strip * WIDE,
            step,
            x + band * TALL,
            parts + band * columns + strip * WIDE,
            block_length(band, rows, TALL),
            block_length(strip, columns, WIDE),
            scratch + threadid() * SCRATCH,
        )
    for strip in prange(strips, schedule="static", use_threads_if=bands * columns >= PARALLEL_FROM):
        add_bands(parts + strip * WIDE, out + strip * WIDE, bands, columns, block_length(strip, columns, WIDE))


cdef void add_bands(
    const floating *parts, floating *out, Py_ssize_t bands, Py_ssize_t step, Py_ssize_t columns
) noexcept nogil:
    """Add up partial sums that are `step` apart."""
    cdef Py_ssize_t band, column
    for column in range(columns):
        out[column] = parts[column]
    for band in range(1, bands):
        for column in range(columns):
            out[column] += parts[band * step + column]


cdef void multiply(
    Matrix a, Py_ssize_t row_step, Py_ssize_t column_step, const floating *x, floating *out, Py_ssize_t rows,
    Py_ssize_t columns, void *parts, floating *scratch
) noexcept nogil:
    if column_step == 1 or columns == 1:
        rows_times(a, row_step, x, out, rows, columns, <double *> parts, scratch)
    else:  # what are columns here lie in rows
        columns_times(a, column_step, x, out, columns, rows, <floating *> parts, scratch)


def matrix_vector(cnp.ndarray a not None, cnp.ndarray x not None, cnp.ndarray out not None):
    """Compute ``out = a @ x``.

    Args:
        a: float32, float64, bfloat16 or float16 (rows, columns), neighbours in memory along one of its dimensions, at
            any positive distance along the other.
        x: (columns,), contiguous, of that type; float32 if that has 16 bits.
        out: (rows,), likewise; written.

    >>> out = np.empty(2)
    >>> matrix_vector(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1.0, 10.0]), out); out
    array([21., 43.])
    """
    cdef Matrix matrix
    matrix.number = number_of("matrix_vector", "a", a)
    matrix.data = cnp.PyArray_DATA(a)
    cdef int number = working_type(matrix.number)
    cdef Py_ssize_t rows, columns, row_step, column_step, size
    cdef Py_ssize_t item = cnp.PyArray_ITEMSIZE(a)
    cdef void *parts
    check_memory("matrix_vector", "a", a, False)
    if cnp.PyArray_NDIM(a) != 2:
        raise ValueError(f"For 'matrix_vector', 'a' must have 2 dimensions, but got shape {(<object> a).shape}.")
    rows = cnp.PyArray_DIM(a, 0)
    columns = cnp.PyArray_DIM(a, 1)
    row_step = cnp.PyArray_STRIDE(a, 0) // item
    column_step = cnp.PyArray_STRIDE(a, 1) // item
    check_vector("matrix_vector", "x", x, number, columns, False)
    check_vector("matrix_vector", "out", out, number, rows, True)
    if not rows or not columns:
        out[...] = 0
        return
    # The step of a dimension of length 1 is whatever NumPy left there.
    if rows == 1:
        row_step = columns if column_step == 1 or columns == 1 else 1
    if columns == 1:
        column_step = 1 if row_step != 1 or rows == 1 else rows
    if not (
        (column_step == 1 and row_step >= columns) or (row_step == 1 and column_step >= rows)
    ) or cnp.PyArray_STRIDE(a, 0) % item or cnp.PyArray_STRIDE(a, 1) % item:
        raise ValueError(
            f"For 'matrix_vector', rows or columns of 'a' must be contiguous and not overlap, but got shape "
            f"{(<object> a).shape} with strides {(<object> a).strides}; copy it."
        )
    if column_step == 1 or columns == 1:
        size = rows * block_count(columns, PIECE) * <Py_ssize_t> sizeof(double)
    else:
        size = rows * block_count(columns, TALL) * cnp.PyArray_ITEMSIZE(x)
    cdef cnp.ndarray scratch = scratch_rows(1, SCRATCH, is_narrow(matrix))
    parts = malloc(size)
    if parts == NULL:
        raise MemoryError
    cdef void *place = cnp.PyArray_DATA(scratch)
    cdef void *x_data = cnp.PyArray_DATA(x)
    cdef void *to = cnp.PyArray_DATA(out)
    with nogil:
        if number == cnp.NPY_FLOAT32:
            multiply(
                matrix, row_step, column_step, <const float *> x_data, <float *> to, rows, columns, parts,
                <float *> place,
            )
        else:
            multiply(
                matrix, row_step, column_step, <const double *> x_data, <double *> to, rows, columns, parts,
                <double *> place,
            )
    free(parts)


cdef void outer_rows(
    const floating *x, const floating *y, floating *out, Py_ssize_t first, Py_ssize_t end, Py_ssize_t columns
) noexcept nogil:
    cdef Py_ssize_t row, column
    for row in range(first, end):
        for column in range(columns):
            out[row * columns + column] = x[row] * y[column]


cdef void outer_blocks(
    const floating *x, const floating *y, floating *out, Py_ssize_t rows, Py_ssize_t columns
) noexcept nogil:
    cdef Py_ssize_t block, block_rows = rows_per_block(columns, 1)
    for block in prange(
        block_count(rows, block_rows), schedule="static", use_threads_if=rows * columns >= PARALLEL_FROM
    ):
        outer_rows(x, y, out, block * block_rows, last_row(block, block_rows, rows), columns)


def outer(cnp.ndarray x not None, cnp.ndarray y not None, cnp.ndarray out not None):
    """Compute ``out[i, j] = x[i] * y[j]``.

    Args:
        x: float32 or float64 (rows,), contiguous.
        y: (columns,), likewise.
        out: (rows, columns), C-contiguous; written.

    >>> out = np.empty((2, 2))
    >>> outer(np.array([1.0, 2.0]), np.array([3.0, 4.0]), out); out
    array([[3., 4.],
           [6., 8.]])
    """
    cdef int number = real_type("outer", "x", x)
    cdef Py_ssize_t rows = cnp.PyArray_SIZE(x), columns = cnp.PyArray_SIZE(y)
    check_vector("outer", "x", x, number, rows, False)
    check_vector("outer", "y", y, number, columns, False)
    check("outer", "out", out, number, 2, True)
    if cnp.PyArray_DIM(out, 0) != rows or cnp.PyArray_DIM(out, 1) != columns:
        raise ValueError(
            f"For 'outer', 'out' must have the shape ({rows}, {columns}), but got {(<object> out).shape}."
        )
    cdef void *x_data = cnp.PyArray_DATA(x)
    cdef void *y_data = cnp.PyArray_DATA(y)
    cdef void *to = cnp.PyArray_DATA(out)
    with nogil:
        if number == cnp.NPY_FLOAT32:
            outer_blocks(<const float *> x_data, <const float *> y_data, <float *> to, rows, columns)
        else:
            outer_blocks(<const double *> x_data, <const double *> y_data, <double *> to, rows, columns)
