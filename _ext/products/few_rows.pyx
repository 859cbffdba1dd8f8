# cython: cdivision=True
"""The product of a matrix of few rows and a large one, float32: see few_rows.h."""

cimport numpy as cnp
from cython.parallel cimport prange

from arrays cimport check, check_memory, check_type, check_vector
from blocks cimport PARALLEL_FROM, block_count

cnp.import_array()

cdef extern from "few_rows.h" nogil:
    const int FEW_ROWS
    const int FEW_COLUMNS
    Py_ssize_t few_columns(Py_ssize_t rows, bint along_rows) noexcept
    void few_product(
        Py_ssize_t rows, bint along_rows, Py_ssize_t column, Py_ssize_t depth, const float *a, Py_ssize_t a_row,
        const float *b, Py_ssize_t b_step, const float *bias, float *c, Py_ssize_t c_row) noexcept

LEAST_COLUMNS = FEW_COLUMNS


cdef struct Factor:
    const float *data
    Py_ssize_t step
    bint along_rows


cdef Factor factor_of(str name, cnp.ndarray array) except *:
    """Return where a matrix lies, whose rows or columns are contiguous."""
    cdef Factor factor
    check_type("multiply", name, array, cnp.NPY_FLOAT32)
    check_memory("multiply", name, array, False)
    if cnp.PyArray_NDIM(array) != 2:
        raise ValueError(f"For 'multiply', '{name}' must have 2 dimensions, but got shape {(<object> array).shape}.")
    cdef Py_ssize_t rows = cnp.PyArray_DIM(array, 0), columns = cnp.PyArray_DIM(array, 1)
    cdef Py_ssize_t row_step = cnp.PyArray_STRIDE(array, 0), column_step = cnp.PyArray_STRIDE(array, 1)
    # The step of a dimension without a second element is whatever NumPy left there.
    if columns < 2 or not rows:
        column_step = 4
    if rows < 2 or not columns:
        row_step = 4 * columns if column_step == 4 else 4
    factor.data = <const float *> cnp.PyArray_DATA(array)
    factor.along_rows = column_step == 4 and row_step >= 4 * columns
    factor.step = (row_step if factor.along_rows else column_step) // 4
    if row_step % 4 or column_step % 4 or not (factor.along_rows or (row_step == 4 and column_step >= 4 * rows)):
        raise ValueError(
            f"For 'multiply', rows or columns of '{name}' must be contiguous and not overlap, but got shape "
            f"{(<object> array).shape} with strides {(<object> array).strides}; copy it."
        )
    return factor


cdef void multiply_rows(
    Factor a, Factor b, const float *bias, float *out, Py_ssize_t rows, Py_ssize_t columns, Py_ssize_t depth
) noexcept nogil:
    """Write the product of at most FEW_ROWS rows; the last block covers some columns of the one before once more."""
    cdef Py_ssize_t block, size = few_columns(rows, b.along_rows)
    for block in prange(block_count(columns, size), schedule="static", use_threads_if=depth * columns >= PARALLEL_FROM):
        few_product(
            rows, b.along_rows, min(block * size, columns - size), depth, a.data, a.step, b.data, b.step, bias, out,
            columns,
        )


def multiply(
    cnp.ndarray a not None, cnp.ndarray b not None, cnp.ndarray out not None, cnp.ndarray bias = None
):
    """Compute ``out = a @ b + bias``, reading `b` once for every eight rows.

    Args:
        a: float32 (m, k), its rows contiguous.
        b: float32 (k, n), its rows or its columns contiguous; n is at least LEAST_COLUMNS.
        out: float32 (m, n), C-contiguous; written.
        bias: float32 (n,), contiguous, or None.

    >>> out = np.empty((1, 128), np.float32)
    >>> multiply(np.ones((1, 3), np.float32), np.ones((3, 128), np.float32), out); print(out[0, 0])
    3.0
    """
    cdef Factor first = factor_of("a", a), second = factor_of("b", b)
    cdef Py_ssize_t rows = cnp.PyArray_DIM(a, 0), depth = cnp.PyArray_DIM(a, 1), columns = cnp.PyArray_DIM(b, 1)
    cdef Py_ssize_t row = 0, some
    cdef const float *added = NULL
    cdef float *to = <float *> cnp.PyArray_DATA(out)
    if not first.along_rows:
        raise ValueError(
            f"For 'multiply', the rows of 'a' must be contiguous, but got strides {(<object> a).strides}; copy it."
        )
    if cnp.PyArray_DIM(b, 0) != depth or columns < FEW_COLUMNS:
        raise ValueError(
            f"For 'multiply', 'b' must have {depth} rows and at least {LEAST_COLUMNS} columns, but got shape "
            f"{(<object> b).shape}."
        )
    check("multiply", "out", out, cnp.NPY_FLOAT32, 2, True)
    if cnp.PyArray_DIM(out, 0) != rows or cnp.PyArray_DIM(out, 1) != columns:
        raise ValueError(
            f"For 'multiply', 'out' must have the shape ({rows}, {columns}), but got {(<object> out).shape}."
        )
    if bias is not None:
        check_vector("multiply", "bias", bias, cnp.NPY_FLOAT32, columns, False)
        added = <const float *> cnp.PyArray_DATA(bias)
    if not rows:
        return
    some = block_count(rows, block_count(rows, FEW_ROWS))  # in each of as few parts as there must be
    with nogil:
        while row < rows:
            multiply_rows(first, second, added, to + row * columns, min(some, rows - row), columns, depth)
            first.data += some * first.step
            row += some
