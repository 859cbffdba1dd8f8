# cython: cdivision=True, boundscheck=False, wraparound=False
"""The negative log likelihood of labels, taken from rows of log probabilities, and its gradient.

Numbers are moved and change their signs: those of 16 bits, bfloat16 or float16, as words.
"""

cimport numpy as cnp
from cython.parallel cimport prange
from libc.stdint cimport int32_t, int64_t, uint16_t
from libc.string cimport memset

from arrays cimport check, check_indices, check_vector, index_at
from blocks cimport PARALLEL_FROM, block_count, last_row, rows_per_block

from rows cimport BFLOAT16, FLOAT16, FLOAT32, Number, number_of

cnp.import_array()

cdef enum:
    SIGN = 0x8000  # Of 16 bits.

ctypedef fused stored:
    float
    double
    uint16_t


ctypedef fused whole:
    int32_t
    int64_t


cdef inline stored negative(stored x) noexcept nogil:
    if stored is uint16_t:
        return x ^ SIGN
    else:
        return -x


cdef bint are_right(const whole *labels, Py_ssize_t rows, Py_ssize_t columns, int64_t ignored) noexcept nogil:
    """Tell whether each label is a column or ignored: without a branch in the loop, which then is one of vectors."""
    cdef Py_ssize_t row
    cdef int wrong = 0
    for row in range(rows):
        wrong |= ((labels[row] < 0) | (labels[row] >= columns)) & (labels[row] != ignored)
    return not wrong


cdef Py_ssize_t first_outside(
    const void *labels, int item, Py_ssize_t rows, Py_ssize_t columns, int64_t ignored
) noexcept nogil:
    """Return the first row whose label is no column and not ignored, -1 if there is none."""
    cdef Py_ssize_t row
    cdef int64_t label
    if item == sizeof(int32_t):
        if are_right(<const int32_t *> labels, rows, columns, ignored):
            return -1
    elif are_right(<const int64_t *> labels, rows, columns, ignored):
        return -1
    for row in range(rows):
        label = index_at(labels, item, row)
        if (label < 0 or label >= columns) and label != ignored:
            return row
    return -1


cdef Py_ssize_t take(
    const stored *x, const void *labels, int item, Py_ssize_t rows, Py_ssize_t columns, int64_t ignored, stored *out
) noexcept nogil:
    """Write each row's loss, and return how many are not ignored."""
    cdef Py_ssize_t row, counted = 0
    cdef int64_t label
    for row in range(rows):
        label = index_at(labels, item, row)
        out[row] = 0
        if label != ignored:
            out[row] = negative(x[row * columns + label])
            counted += 1
    return counted


cdef void spread(
    const stored *dy, const void *labels, int item, Py_ssize_t rows, Py_ssize_t columns, int64_t ignored, stored *dx
) noexcept nogil:
    """Write -dy in each row's column, zeros elsewhere."""
    cdef Py_ssize_t at_once = rows_per_block(columns, 1)
    cdef Py_ssize_t block, row
    cdef int64_t label
    for block in prange(
        block_count(rows, at_once), schedule="static", use_threads_if=rows * columns >= PARALLEL_FROM
    ):
        for row in range(block * at_once, last_row(block, at_once, rows)):
            memset(dx + row * columns, 0, columns * sizeof(stored))
            label = index_at(labels, item, row)
            if label != ignored:
                dx[row * columns + label] = negative(dy[row])


cdef int check_labels(str kernel, cnp.ndarray labels, cnp.ndarray x, int64_t ignored) except -1:
    """Require a label per row of x that is a column of it or ignored; return the bytes of one."""
    cdef Py_ssize_t rows = cnp.PyArray_DIM(x, 0), columns = cnp.PyArray_DIM(x, 1)
    cdef int item = check_indices(kernel, "labels", labels, rows)
    cdef Py_ssize_t wrong = first_outside(cnp.PyArray_DATA(labels), item, rows, columns, ignored)
    if wrong >= 0:
        raise ValueError(
            f"For '{kernel}', 'labels' must be in [0, {columns}) or {ignored}, which is ignored, but got "
            f"{index_at(cnp.PyArray_DATA(labels), item, wrong)} in row {wrong}."
        )
    return item


def forward(cnp.ndarray x not None, cnp.ndarray labels not None, int64_t ignored, cnp.ndarray out not None):
    """Write -x[row, label] into `out`, 0 where the label is `ignored`; return how many are not.

    Args:
        x: C-contiguous (rows, columns), float32, float64, bfloat16 or float16.
        labels: (rows,), int32 or int64.
        ignored: a label.
        out: (rows,), of the type of x.

    Raises:
        TypeError: for another type.
        ValueError: for another shape, or a label out of range.

    >>> out = np.empty(2)
    >>> forward(np.array([[-1.0, -2.0], [-3.0, -4.0]]), np.array([1, -100]), -100, out), out
    (1, array([2., 0.]))
    """
    cdef Number kind = number_of("label_likelihood.forward", "x", x)
    cdef int number = cnp.PyArray_TYPE(x), item
    cdef Py_ssize_t counted
    check("label_likelihood.forward", "x", x, number, 2, False)
    check_vector("label_likelihood.forward", "out", out, number, cnp.PyArray_DIM(x, 0), True)
    item = check_labels("label_likelihood.forward", labels, x, ignored)
    cdef Py_ssize_t rows = cnp.PyArray_DIM(x, 0), columns = cnp.PyArray_DIM(x, 1)
    cdef const void *source = cnp.PyArray_DATA(x)
    cdef const void *indices = cnp.PyArray_DATA(labels)
    cdef void *to = cnp.PyArray_DATA(out)
    with nogil:
        if kind == BFLOAT16 or kind == FLOAT16:
            counted = take(<const uint16_t *> source, indices, item, rows, columns, ignored, <uint16_t *> to)
        elif kind == FLOAT32:
            counted = take(<const float *> source, indices, item, rows, columns, ignored, <float *> to)
        else:
            counted = take(<const double *> source, indices, item, rows, columns, ignored, <double *> to)
    return counted


def backward(cnp.ndarray dy not None, cnp.ndarray labels not None, int64_t ignored, cnp.ndarray dx not None):
    """Write the gradient of `forward` into dx (rows, columns): -dy in the labels' columns, zeros elsewhere.

    >>> dx = np.empty((2, 2))
    >>> backward(np.array([1.0, 5.0]), np.array([1, -100]), -100, dx)
    >>> dx
    array([[ 0., -1.],
           [ 0.,  0.]])
    """
    cdef Number kind = number_of("label_likelihood.backward", "dx", dx)
    cdef int number = cnp.PyArray_TYPE(dx), item
    check("label_likelihood.backward", "dx", dx, number, 2, True)
    check_vector("label_likelihood.backward", "dy", dy, number, cnp.PyArray_DIM(dx, 0), False)
    item = check_labels("label_likelihood.backward", labels, dx, ignored)
    cdef Py_ssize_t rows = cnp.PyArray_DIM(dx, 0), columns = cnp.PyArray_DIM(dx, 1)
    cdef const void *given = cnp.PyArray_DATA(dy)
    cdef const void *indices = cnp.PyArray_DATA(labels)
    cdef void *to = cnp.PyArray_DATA(dx)
    with nogil:
        if kind == BFLOAT16 or kind == FLOAT16:
            spread(<const uint16_t *> given, indices, item, rows, columns, ignored, <uint16_t *> to)
        elif kind == FLOAT32:
            spread(<const float *> given, indices, item, rows, columns, ignored, <float *> to)
        else:
            spread(<const double *> given, indices, item, rows, columns, ignored, <double *> to)
