# cython: cdivision=True, boundscheck=False, wraparound=False
"""The small steps of blocked factorisations: what is left between large matrix products.

All matrices are float32 or float64, neighbours along a row contiguous, rows at any distance: parts of a larger one.
"""

cimport numpy as cnp
from cython cimport floating
from cython.parallel cimport prange
from libc cimport math
from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc

from arrays cimport check, check_memory, check_type, check_vector, real_type
from blocks cimport LANES, PARALLEL_FROM, block_count, block_length, last_row, rows_per_block, sum_of_products

cnp.import_array()

cdef enum:
    MOST = 64  # columns of a panel, rows of a triangle
    STRIP = 256  # columns of which one thread swaps the rows


ctypedef struct Matrix:
    Py_ssize_t rows
    Py_ssize_t columns
    Py_ssize_t step
    void *data


cdef int read_matrix(Matrix *matrix, str kernel, str name, cnp.ndarray a, int number, bint written) except -1:
    """Fill `matrix` from an array whose rows are contiguous, or raise."""
    cdef Py_ssize_t item = cnp.PyArray_ITEMSIZE(a)
    check_type(kernel, name, a, number)
    check_memory(kernel, name, a, written)
    if cnp.PyArray_NDIM(a) != 2:
        raise ValueError(f"For '{kernel}', '{name}' must have 2 dimensions, but got shape {(<object> a).shape}.")
    matrix.rows = cnp.PyArray_DIM(a, 0)
    matrix.columns = cnp.PyArray_DIM(a, 1)
    matrix.step = cnp.PyArray_STRIDE(a, 0) // item if matrix.rows > 1 else matrix.columns
    matrix.data = cnp.PyArray_DATA(a)
    if (matrix.columns > 1 and cnp.PyArray_STRIDE(a, 1) != item) or matrix.step < matrix.columns or (
        matrix.rows > 1 and cnp.PyArray_STRIDE(a, 0) % item
    ):
        raise ValueError(
            f"For '{kernel}', the rows of '{name}' must be contiguous and not overlap, but got shape "
            f"{(<object> a).shape} with strides {(<object> a).strides}; copy it."
        )
    return 0


cdef int check_most(str kernel, str name, Py_ssize_t found) except -1:
    if found > MOST:
        raise ValueError(f"For '{kernel}', '{name}' must have at most {<int> MOST} columns, but got {found}.")
    return 0


cdef void take_columns_of(
    const floating *a, Py_ssize_t step, Py_ssize_t rows, Py_ssize_t columns, floating *out
) noexcept nogil:
    """Copy a panel column by column: columns are what is swept over, and rows may fall into few sets of the cache."""
    cdef Py_ssize_t i, k
    for i in range(rows):
        for k in range(columns):
            out[k * padded(rows) + i] = a[i * step + k]


cdef void put_columns_of(
    const floating *columns_of, Py_ssize_t rows, Py_ssize_t columns, floating *a, Py_ssize_t step
) noexcept nogil:
    """Copy a panel back."""
    cdef Py_ssize_t i, k
    for i in range(rows):
        for k in range(columns):
            a[i * step + k] = columns_of[k * padded(rows) + i]


cdef inline Py_ssize_t padded(Py_ssize_t rows) noexcept nogil:
    """Return the distance of columns of so many rows, which lie in different sets of the cache."""
    return (rows + 15) // 16 * 16 + 16


cdef inline void less_multiple(floating *x, const floating *y, floating factor, Py_ssize_t count) noexcept nogil:
    """Subtract a multiple of y from x."""
    cdef Py_ssize_t i
    for i in range(count):
        x[i] = x[i] - factor * y[i]


cdef inline Py_ssize_t place_of_largest(const floating *x, Py_ssize_t count) noexcept nogil:
    """Return where the first largest size is; 0 if the first number is NaN."""
    cdef floating sizes[LANES]
    cdef floating largest = 0
    cdef Py_ssize_t i = 0
    cdef int lane
    for lane in range(LANES):
        sizes[lane] = 0
    while i + LANES <= count:
        for lane in range(LANES):
            sizes[lane] = math.fabs(x[i + lane]) if math.fabs(x[i + lane]) > sizes[lane] else sizes[lane]
        i += LANES
    while i < count:
        largest = math.fabs(x[i]) if math.fabs(x[i]) > largest else largest
        i += 1
    for lane in range(LANES):
        largest = sizes[lane] if sizes[lane] > largest else largest
    if x[0] != x[0]:
        return 0
    for i in range(count):
        if math.fabs(x[i]) == largest:
            return i
    return 0


cdef void factor_panel(floating *a, Py_ssize_t rows, Py_ssize_t columns, int64_t *pivots) noexcept nogil:
    """Factor a panel given by columns, with the largest number below each diagonal element swapped onto it."""
    cdef Py_ssize_t i, j, k, step = padded(rows)
    cdef floating factor, swapped
    cdef floating *column
    for j in range(columns):
        column = a + j * step
        for k in range(j):
            less_multiple(column + k + 1, a + k * step + k + 1, column[k], rows - k - 1)
        pivots[j] = j + place_of_largest(column + j, rows - j)
        if pivots[j] != j:
            for k in range(columns):
                swapped = a[k * step + j]
                a[k * step + j] = a[k * step + pivots[j]]
                a[k * step + pivots[j]] = swapped
        if column[j] == 0:
            continue
        factor = column[j]
        for i in range(j + 1, rows):
            column[i] = column[i] / factor


def lu_panel(cnp.ndarray a not None, cnp.ndarray pivots not None):
    """Factor a panel into P L U in place: L below the diagonal, which is 1 there, U above it.

    Args:
        a: (rows, columns), at most 64 columns and not more than rows.
        pivots: int64 (columns,); written: with which row each was swapped, one after the other.

    >>> a, pivots = np.array([[1.0, 2.0], [4.0, 4.0]]), np.empty(2, np.int64)
    >>> lu_panel(a, pivots); a, pivots
    (array([[4.  , 4.  ],
           [0.25, 1.  ]]), array([1, 1]))
    """
    cdef int number = real_type("lu_panel", "a", a)
    cdef Matrix m
    read_matrix(&m, "lu_panel", "a", a, number, True)
    check_most("lu_panel", "a", m.columns)
    check_vector("lu_panel", "pivots", pivots, cnp.NPY_INT64, m.columns, True)
    if m.columns > m.rows:
        raise ValueError(f"For 'lu_panel', 'a' must have no more columns than rows, but got {(<object> a).shape}.")
    cdef int64_t *places = <int64_t *> cnp.PyArray_DATA(pivots)
    cdef void *work = work_for(&m, cnp.PyArray_ITEMSIZE(a))
    with nogil:
        if number == cnp.NPY_FLOAT32:
            take_columns_of(<const float *> m.data, m.step, m.rows, m.columns, <float *> work)
            factor_panel(<float *> work, m.rows, m.columns, places)
            put_columns_of(<const float *> work, m.rows, m.columns, <float *> m.data, m.step)
        else:
            take_columns_of(<const double *> m.data, m.step, m.rows, m.columns, <double *> work)
            factor_panel(<double *> work, m.rows, m.columns, places)
            put_columns_of(<const double *> work, m.rows, m.columns, <double *> m.data, m.step)
    free(work)


cdef void *work_for(const Matrix *panel, Py_ssize_t item) except NULL:
    """Return memory for the columns of a panel."""
    cdef void *work = malloc(padded(panel.rows) * max(panel.columns, 1) * item)
    if work == NULL:
        raise MemoryError
    return work


cdef void swap_strip(
    floating *a, Py_ssize_t step, Py_ssize_t columns, const int64_t *pivots, Py_ssize_t count
) noexcept nogil:
    cdef Py_ssize_t i, k
    cdef floating swapped
    cdef floating *one
    cdef floating *other
    for i in range(count):
        if pivots[i] == i:
            continue
        one = a + i * step
        other = a + pivots[i] * step
        for k in range(columns):
            swapped = one[k]
            one[k] = other[k]
            other[k] = swapped


cdef void swap_strips(
    floating *a, Py_ssize_t step, Py_ssize_t columns, const int64_t *pivots, Py_ssize_t count
) noexcept nogil:
    cdef Py_ssize_t strip
    for strip in prange(
        block_count(columns, STRIP), schedule="static", use_threads_if=count * columns >= PARALLEL_FROM
    ):
        swap_strip(a + strip * STRIP, step, block_length(strip, columns, STRIP), pivots, count)


def swap_rows(cnp.ndarray a not None, cnp.ndarray pivots not None):
    """Swap row i with row pivots[i], for one i after the other, in place.

    Args:
        a: (rows, columns).
        pivots: int64 (up to rows,), contiguous.

    Raises:
        ValueError: if a pivot is no row.

    >>> a = np.arange(3.0)[:, None]
    >>> swap_rows(a, np.array([2, 2])); a[:, 0]
    array([2., 0., 1.])
    """
    cdef int number = real_type("swap_rows", "a", a)
    cdef Matrix m
    cdef Py_ssize_t i, count = cnp.PyArray_SIZE(pivots)
    read_matrix(&m, "swap_rows", "a", a, number, True)
    check_vector("swap_rows", "pivots", pivots, cnp.NPY_INT64, count, False)
    cdef const int64_t *places = <const int64_t *> cnp.PyArray_DATA(pivots)
    for i in range(count):
        if i >= m.rows or not 0 <= places[i] < m.rows:
            raise ValueError(f"For 'swap_rows', 'pivots' must be rows of 'a', below {m.rows}, but got {places[i]}.")
    with nogil:
        if number == cnp.NPY_FLOAT32:
            swap_strips(<float *> m.data, m.step, m.columns, places, count)
        else:
            swap_strips(<double *> m.data, m.step, m.columns, places, count)


cdef void invert_triangle(
    const floating *a, Py_ssize_t step, floating *out, Py_ssize_t out_step, Py_ssize_t n, bint unit
) noexcept nogil:
    """Write the inverse of a lower triangle, row by row."""
    cdef Py_ssize_t i, j, k
    cdef floating factor
    for i in range(n):
        for j in range(n):
            out[i * out_step + j] = 0
        out[i * out_step + i] = 1
        for k in range(i):
            factor = a[i * step + k]
            for j in range(k + 1):
                out[i * out_step + j] -= factor * out[k * out_step + j]
        if not unit:
            factor = a[i * step + i]
            for j in range(i + 1):
                out[i * out_step + j] /= factor


def invert_lower(cnp.ndarray a not None, cnp.ndarray out not None, bint unit):
    """Write the inverse of a lower triangular matrix, zeros above its diagonal.

    Args:
        a: (n, n), n at most 64; what is above the diagonal is not read.
        out: (n, n); it must not share memory with `a`.
        unit: take the diagonal for ones.

    >>> out = np.empty((2, 2))
    >>> invert_lower(np.array([[2.0, 9.0], [4.0, 4.0]]), out, False); out
    array([[ 0.5 ,  0.  ],
           [-0.5 ,  0.25]])
    """
    cdef int number = real_type("invert_lower", "a", a)
    cdef Matrix m, to
    read_matrix(&m, "invert_lower", "a", a, number, False)
    read_matrix(&to, "invert_lower", "out", out, number, True)
    check_most("invert_lower", "a", m.columns)
    if not m.rows == m.columns == to.rows == to.columns:
        raise ValueError(
            f"For 'invert_lower', 'a' and 'out' must be square and equally large, but got {(<object> a).shape} "
            f"and {(<object> out).shape}."
        )
    with nogil:
        if number == cnp.NPY_FLOAT32:
            invert_triangle(<const float *> m.data, m.step, <float *> to.data, to.step, m.rows, unit)
        else:
            invert_triangle(<const double *> m.data, m.step, <double *> to.data, to.step, m.rows, unit)


cdef bint factor_square(floating *a, Py_ssize_t step, Py_ssize_t n) noexcept nogil:
    """Write L of L L^T into the lower triangle; say whether the matrix is positive definite."""
    cdef Py_ssize_t i, j, k
    cdef floating root
    cdef floating column[MOST]
    for j in range(n):
        if not a[j * step + j] > 0:
            return False
        root = math.sqrt(a[j * step + j])
        a[j * step + j] = root
        for i in range(j + 1, n):
            a[i * step + j] = a[i * step + j] / root
            column[i] = a[i * step + j]
        for i in range(j + 1, n):
            for k in range(j + 1, i + 1):
                a[i * step + k] -= column[i] * column[k]
    return True


def cholesky_square(cnp.ndarray a not None):
    """Replace the lower triangle of a symmetric matrix by L of L L^T; what is above is neither read nor written.

    Args:
        a: (n, n), n at most 64.

    Returns:
        Whether it is positive definite; if not, `a` is half done.

    >>> a = np.array([[4.0, 9.0], [2.0, 5.0]])
    >>> cholesky_square(a), a
    (True, array([[2., 9.],
           [1., 2.]]))
    """
    cdef int number = real_type("cholesky_square", "a", a)
    cdef Matrix m
    read_matrix(&m, "cholesky_square", "a", a, number, True)
    check_most("cholesky_square", "a", m.columns)
    if m.rows != m.columns:
        raise ValueError(f"For 'cholesky_square', 'a' must be square, but got shape {(<object> a).shape}.")
    with nogil:
        if number == cnp.NPY_FLOAT32:
            good = factor_square(<float *> m.data, m.step, m.rows)
        else:
            good = factor_square(<double *> m.data, m.step, m.rows)
    return bool(good)


cdef void reflect_panel(floating *a, Py_ssize_t rows, Py_ssize_t columns, floating *t, Py_ssize_t count) noexcept nogil:
    """Factor a panel given by columns into reflections and a triangle, and write the reflections' T."""
    cdef Py_ssize_t i, j, k, step = padded(rows)
    cdef double square, total
    cdef floating first, beta, scale
    cdef floating *column
    cdef floating diagonal[MOST]
    for j in range(count):
        column = a + j * step
        first = column[j]
        square = sum_of_products(<const floating *> column + j + 1, <const floating *> column + j + 1, rows - j - 1)
        beta = first
        scale = 0
        if square != 0:
            beta = <floating> (-math.copysign(math.sqrt(square + <double> first * <double> first), first))
            scale = (beta - first) / beta
            for i in range(j + 1, rows):
                column[i] = column[i] / (first - beta)
        diagonal[j] = beta
        column[j] = 1
        for k in range(j + 1, columns):
            total = scale * sum_of_products(
                <const floating *> column + j, <const floating *> a + k * step + j, rows - j
            )
            less_multiple(a + k * step + j, <const floating *> column + j, <floating> total, rows - j)
        # The new column of T is -scale T (V^T v).
        for i in range(j):
            t[i * count + j] = <floating> (-scale * sum_of_products(
                <const floating *> a + i * step + j, <const floating *> column + j, rows - j
            ))
        for i in range(j):
            total = 0
            for k in range(i, j):
                total += <double> t[i * count + k] * <double> t[k * count + j]
            t[i * count + j] = <floating> total
        t[j * count + j] = scale
        for i in range(j + 1, count):
            t[i * count + j] = 0
    for j in range(count):
        a[j * step + j] = diagonal[j]


cdef void part_panel(floating *a, Py_ssize_t step, Py_ssize_t rows, floating *v, Py_ssize_t count) noexcept nogil:
    """Move what is below the diagonal into a matrix with ones on it and zeros above."""
    cdef Py_ssize_t i, k
    for i in range(rows):
        for k in range(count):
            v[i * count + k] = a[i * step + k] if k < i else (1 if k == i else 0)
            a[i * step + k] = a[i * step + k] if k >= i else 0


def qr_panel(cnp.ndarray a not None, cnp.ndarray v not None, cnp.ndarray t not None):
    """Factor a panel into Q R; `a` becomes R, and Q = I - V T V^T.

    Args:
        a: (rows, columns), at most 64 columns.
        v: (rows, min(rows, columns)), C-contiguous; written: zeros above the diagonal, ones on it.
        t: (min(rows, columns), min(rows, columns)), C-contiguous; written, an upper triangle.

    >>> a, v, t = np.array([[3.0], [4.0]]), np.empty((2, 1)), np.empty((1, 1))
    >>> qr_panel(a, v, t); a[:, 0], v[:, 0], t
    (array([-5.,  0.]), array([1. , 0.5]), array([[1.6]]))
    """
    cdef int number = real_type("qr_panel", "a", a)
    cdef Matrix m
    cdef Py_ssize_t count
    read_matrix(&m, "qr_panel", "a", a, number, True)
    check_most("qr_panel", "a", m.columns)
    check("qr_panel", "v", v, number, 2, True)
    check("qr_panel", "t", t, number, 2, True)
    count = min(m.rows, m.columns)
    if (<object> v).shape != (m.rows, count) or (<object> t).shape != (count, count):
        raise ValueError(
            f"For 'qr_panel', 'v' and 't' must have the shapes {(m.rows, count)} and {(count, count)}, "
            f"but got {(<object> v).shape} and {(<object> t).shape}."
        )
    cdef void *v_data = cnp.PyArray_DATA(v)
    cdef void *t_data = cnp.PyArray_DATA(t)
    cdef void *work = work_for(&m, cnp.PyArray_ITEMSIZE(a))
    with nogil:
        if number == cnp.NPY_FLOAT32:
            take_columns_of(<const float *> m.data, m.step, m.rows, m.columns, <float *> work)
            reflect_panel(<float *> work, m.rows, m.columns, <float *> t_data, count)
            put_columns_of(<const float *> work, m.rows, m.columns, <float *> m.data, m.step)
            part_panel(<float *> m.data, m.step, m.rows, <float *> v_data, count)
        else:
            take_columns_of(<const double *> m.data, m.step, m.rows, m.columns, <double *> work)
            reflect_panel(<double *> work, m.rows, m.columns, <double *> t_data, count)
            put_columns_of(<const double *> work, m.rows, m.columns, <double *> m.data, m.step)
            part_panel(<double *> m.data, m.step, m.rows, <double *> v_data, count)
    free(work)


cdef void subtract_row(floating *a, const floating *b, Py_ssize_t columns) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(columns):
        a[k] -= b[k]


cdef void subtract_rows(
    floating *a, Py_ssize_t step, const floating *b, Py_ssize_t b_step, Py_ssize_t first, Py_ssize_t end,
    Py_ssize_t columns
) noexcept nogil:
    cdef Py_ssize_t row
    for row in range(first, end):
        subtract_row(a + row * step, b + row * b_step, columns)


cdef void subtract_blocks(
    floating *a, Py_ssize_t step, const floating *b, Py_ssize_t b_step, Py_ssize_t rows, Py_ssize_t columns
) noexcept nogil:
    cdef Py_ssize_t block, block_rows = rows_per_block(columns, 1)
    for block in prange(
        block_count(rows, block_rows), schedule="static", use_threads_if=rows * columns >= PARALLEL_FROM
    ):
        subtract_rows(a, step, b, b_step, block * block_rows, last_row(block, block_rows, rows), columns)


def subtract(cnp.ndarray a not None, cnp.ndarray b not None):
    """Compute ``a -= b``.

    Args:
        a: (rows, columns).
        b: likewise; it must not share memory with `a`.

    >>> a = np.ones((2, 2))
    >>> subtract(a[:, :1], np.ones((2, 1))); a
    array([[0., 1.],
           [0., 1.]])
    """
    cdef int number = real_type("subtract", "a", a)
    cdef Matrix m, other
    read_matrix(&m, "subtract", "a", a, number, True)
    read_matrix(&other, "subtract", "b", b, number, False)
    if m.rows != other.rows or m.columns != other.columns:
        raise ValueError(
            f"For 'subtract', 'a' and 'b' must have one shape, but got {(<object> a).shape} and {(<object> b).shape}."
        )
    with nogil:
        if number == cnp.NPY_FLOAT32:
            subtract_blocks(<float *> m.data, m.step, <const float *> other.data, other.step, m.rows, m.columns)
        else:
            subtract_blocks(<double *> m.data, m.step, <const double *> other.data, other.step, m.rows, m.columns)


cdef void gather_rows(
    const floating *a, Py_ssize_t step, const int64_t *places, floating *out, Py_ssize_t first, Py_ssize_t end,
    Py_ssize_t columns
) noexcept nogil:
    cdef Py_ssize_t row, k
    for row in range(first, end):
        for k in range(columns):
            out[row * columns + k] = a[row * step + places[k]]


cdef void gather_blocks(
    const floating *a, Py_ssize_t step, const int64_t *places, floating *out, Py_ssize_t rows, Py_ssize_t columns
) noexcept nogil:
    cdef Py_ssize_t block, block_rows = rows_per_block(columns, 1)
    for block in prange(
        block_count(rows, block_rows), schedule="static", use_threads_if=rows * columns >= PARALLEL_FROM
    ):
        gather_rows(a, step, places, out, block * block_rows, last_row(block, block_rows, rows), columns)


def take_columns(cnp.ndarray a not None, cnp.ndarray places not None, cnp.ndarray out not None):
    """Compute ``out[:, k] = a[:, places[k]]``.

    Args:
        a: (rows, n).
        places: int64 (columns,), contiguous.
        out: (rows, columns), C-contiguous; written.

    Raises:
        ValueError: if a place is no column.

    >>> out = np.empty((1, 2))
    >>> take_columns(np.array([[1.0, 2.0, 3.0]]), np.array([2, 0]), out); out
    array([[3., 1.]])
    """
    cdef int number = real_type("take_columns", "a", a)
    cdef Matrix m
    cdef Py_ssize_t i, columns = cnp.PyArray_SIZE(places)
    read_matrix(&m, "take_columns", "a", a, number, False)
    check_vector("take_columns", "places", places, cnp.NPY_INT64, columns, False)
    check("take_columns", "out", out, number, 2, True)
    if (<object> out).shape != (m.rows, columns):
        raise ValueError(
            f"For 'take_columns', 'out' must have the shape {(m.rows, columns)}, but got {(<object> out).shape}."
        )
    cdef const int64_t *of = <const int64_t *> cnp.PyArray_DATA(places)
    for i in range(columns):
        if not 0 <= of[i] < m.columns:
            raise ValueError(
                f"For 'take_columns', 'places' must be columns of 'a', below {m.columns}, but got {of[i]}."
            )
    cdef void *to = cnp.PyArray_DATA(out)
    with nogil:
        if number == cnp.NPY_FLOAT32:
            gather_blocks(<const float *> m.data, m.step, of, <float *> to, m.rows, columns)
        else:
            gather_blocks(<const double *> m.data, m.step, of, <double *> to, m.rows, columns)
