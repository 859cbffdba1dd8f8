# cython: cdivision=True, boundscheck=False, wraparound=False
"""Sums, differences and products of arrays.

Arrays are dense and of one layout. bfloat16 comes as ml_dtypes' type or as uint16 of the same
bits; it and float16 are computed with in float32 and rounded once.
"""

cimport numpy as cnp
from cython cimport floating
from cython.parallel cimport prange
from libc.stdint cimport uint16_t

from arrays cimport check_memory, check_same_layout, is_dense, type_name
from bfloat16 cimport bf16_load, bf16_store
from blocks cimport BLOCK, PARALLEL_FROM, block_count, block_length
from narrow cimport narrow_float16, widen_float16

cnp.import_array()

cdef enum Operation:
    ADD, SUBTRACT, MULTIPLY

cdef enum Number:
    FLOAT32, FLOAT64, BFLOAT16, FLOAT16

cdef enum:
    # Numbers of float16 in float32 at a time: they stay in the L1 cache.
    WIDE = 512


cdef void combine(
    Operation operation, const floating *x, const floating *y, floating *out, Py_ssize_t size
) noexcept nogil:
    cdef Py_ssize_t i
    if operation == ADD:
        for i in range(size):
            out[i] = x[i] + y[i]
    elif operation == SUBTRACT:
        for i in range(size):
            out[i] = x[i] - y[i]
    else:
        for i in range(size):
            out[i] = x[i] * y[i]


cdef void combine_with_number(
    Operation operation, const floating *x, floating y, floating *out, Py_ssize_t size
) noexcept nogil:
    cdef Py_ssize_t i
    if operation == ADD:
        for i in range(size):
            out[i] = x[i] + y
    elif operation == SUBTRACT:
        for i in range(size):
            out[i] = x[i] - y
    else:
        for i in range(size):
            out[i] = x[i] * y


cdef void combine_bfloat16(
    Operation operation, const uint16_t *x, const uint16_t *y, uint16_t *out, Py_ssize_t size
) noexcept nogil:
    cdef Py_ssize_t i
    if operation == ADD:
        for i in range(size):
            out[i] = bf16_store(bf16_load(x[i]) + bf16_load(y[i]))
    elif operation == SUBTRACT:
        for i in range(size):
            out[i] = bf16_store(bf16_load(x[i]) - bf16_load(y[i]))
    else:
        for i in range(size):
            out[i] = bf16_store(bf16_load(x[i]) * bf16_load(y[i]))


cdef void combine_bfloat16_with_number(
    Operation operation, const uint16_t *x, float y, uint16_t *out, Py_ssize_t size
) noexcept nogil:
    cdef Py_ssize_t i
    if operation == ADD:
        for i in range(size):
            out[i] = bf16_store(bf16_load(x[i]) + y)
    elif operation == SUBTRACT:
        for i in range(size):
            out[i] = bf16_store(bf16_load(x[i]) - y)
    else:
        for i in range(size):
            out[i] = bf16_store(bf16_load(x[i]) * y)


cdef void combine_float16(
    Operation operation, const uint16_t *x, const uint16_t *y, uint16_t *out, Py_ssize_t size
) noexcept nogil:
    cdef float wide_x[WIDE]
    cdef float wide_y[WIDE]
    cdef Py_ssize_t start = 0, length
    while start < size:
        length = min(WIDE, size - start)
        widen_float16(x + start, wide_x, length)
        widen_float16(y + start, wide_y, length)
        combine(operation, <const float *> wide_x, <const float *> wide_y, <float *> wide_x, length)
        narrow_float16(wide_x, out + start, length)
        start += length


cdef void combine_float16_with_number(
    Operation operation, const uint16_t *x, const uint16_t *y, uint16_t *out, Py_ssize_t size
) noexcept nogil:
    cdef float wide[WIDE]
    cdef float number
    cdef Py_ssize_t start = 0, length
    widen_float16(y, &number, 1)
    while start < size:
        length = min(WIDE, size - start)
        widen_float16(x + start, wide, length)
        combine_with_number(operation, <const float *> wide, number, <float *> wide, length)
        narrow_float16(wide, out + start, length)
        start += length


cdef void combine_piece(
    Operation operation, Number number, const void *x, Py_ssize_t from_x, const void *y,
    Py_ssize_t from_y, void *out, Py_ssize_t size
) noexcept nogil:
    """Combine `size` elements of x and y from these positions on; out's are those of x."""
    if number == FLOAT32:
        combine(
            operation, <const float *> x + from_x, <const float *> y + from_y,
            <float *> out + from_x, size,
        )
    elif number == FLOAT64:
        combine(
            operation, <const double *> x + from_x, <const double *> y + from_y,
            <double *> out + from_x, size,
        )
    elif number == FLOAT16:
        combine_float16(
            operation, <const uint16_t *> x + from_x, <const uint16_t *> y + from_y,
            <uint16_t *> out + from_x, size,
        )
    else:
        combine_bfloat16(
            operation, <const uint16_t *> x + from_x, <const uint16_t *> y + from_y,
            <uint16_t *> out + from_x, size,
        )


cdef void combine_piece_with_number(
    Operation operation, Number number, const void *x, Py_ssize_t first, const void *y, void *out,
    Py_ssize_t size
) noexcept nogil:
    """Combine `size` elements of x with the one number at `y`."""
    if number == FLOAT32:
        combine_with_number(
            operation, <const float *> x + first, (<const float *> y)[0], <float *> out + first,
            size,
        )
    elif number == FLOAT64:
        combine_with_number(
            operation, <const double *> x + first, (<const double *> y)[0],
            <double *> out + first, size,
        )
    elif number == FLOAT16:
        combine_float16_with_number(
            operation, <const uint16_t *> x + first, <const uint16_t *> y, <uint16_t *> out + first,
            size,
        )
    else:
        combine_bfloat16_with_number(
            operation, <const uint16_t *> x + first, bf16_load((<const uint16_t *> y)[0]),
            <uint16_t *> out + first, size,
        )


cdef void combine_block(
    Operation operation, Number number, const void *x, const void *y, Py_ssize_t period,
    void *out, Py_ssize_t first, Py_ssize_t size
) noexcept nogil:
    """Combine one block; y starts again after `period` elements."""
    cdef Py_ssize_t stop = first + size
    cdef Py_ssize_t start, length
    if period == 1:
        combine_piece_with_number(operation, number, x, first, y, out, size)
        return
    while first < stop:
        start = first % period
        length = min(period - start, stop - first)
        combine_piece(operation, number, x, first, y, start, out, length)
        first += length


cdef void combine_blocks(
    Operation operation, Number number, const void *x, const void *y, Py_ssize_t period,
    void *out, Py_ssize_t size
) noexcept nogil:
    cdef Py_ssize_t block
    for block in prange(
        block_count(size, BLOCK), schedule="static", use_threads_if=size >= PARALLEL_FROM
    ):
        combine_block(
            operation, number, x, y, period, out, block * BLOCK, block_length(block, size, BLOCK)
        )


cdef Number number_of(str kernel, str name, cnp.ndarray array) except *:
    """Return which of the number types an array holds."""
    cdef int number = cnp.PyArray_TYPE(array)
    if number == cnp.NPY_FLOAT32:
        return FLOAT32
    if number == cnp.NPY_FLOAT64:
        return FLOAT64
    if number == cnp.NPY_UINT16 or type_name(array) == "bfloat16":
        return BFLOAT16
    if number == cnp.NPY_FLOAT16:
        return FLOAT16
    raise TypeError(
        f"For '{kernel}', '{name}' must be float32, float64, bfloat16 or float16, "
        f"but got {type_name(array)}."
    )


cdef int check_array(str kernel, str name, cnp.ndarray array, bint written) except -1:
    """Raise unless the array's elements fill one piece of usable memory."""
    check_memory(kernel, name, array, written)
    if not is_dense(array):
        raise ValueError(
            f"For '{kernel}', '{name}' must fill one piece of memory, but got shape "
            f"{(<object> array).shape} with strides {(<object> array).strides}; copy it."
        )
    return 0


cdef int run(
    str kernel, Operation operation, cnp.ndarray x, cnp.ndarray y, cnp.ndarray out
) except -1:
    """Check the arrays and combine x with y."""
    cdef Number number = number_of(kernel, "x", x)
    cdef Py_ssize_t size = cnp.PyArray_SIZE(x)
    cdef Py_ssize_t period = cnp.PyArray_SIZE(y)
    cdef int missing = cnp.PyArray_NDIM(x) - cnp.PyArray_NDIM(y)
    cdef int axis
    check_array(kernel, "x", x, False)
    check_array(kernel, "y", y, False)
    check_array(kernel, "out", out, True)
    if number_of(kernel, "y", y) != number or number_of(kernel, "out", out) != number:
        raise TypeError(
            f"For '{kernel}', 'y' and 'out' must be {type_name(x)} as 'x' is, but got "
            f"{type_name(y)} and {type_name(out)}."
        )
    check_same_layout(kernel, "out", out, "x", x)
    if missing == 0 and period == size:
        check_same_layout(kernel, "y", y, "x", x)
    elif period != 1:
        for axis in range(cnp.PyArray_NDIM(y)):
            if missing < 0 or cnp.PyArray_DIM(y, axis) != cnp.PyArray_DIM(x, axis + missing):
                raise ValueError(
                    f"For '{kernel}', 'y' must have one element or the last lengths of 'x' "
                    f"{(<object> x).shape}, but got shape {(<object> y).shape}."
                )
        if not cnp.PyArray_IS_C_CONTIGUOUS(x) or not cnp.PyArray_IS_C_CONTIGUOUS(y):
            raise ValueError(f"For '{kernel}', 'x' and 'y' must be C-contiguous if y is repeated.")
    cdef void *from_x = cnp.PyArray_DATA(x)
    cdef void *from_y = cnp.PyArray_DATA(y)
    cdef void *to = cnp.PyArray_DATA(out)
    if size:
        with nogil:
            combine_blocks(operation, number, from_x, from_y, period, to, size)
    return 0


def add(cnp.ndarray x not None, cnp.ndarray y not None, cnp.ndarray out not None):
    """Write x + y into `out`; y is of x's layout, or its last lengths, or one number.

    >>> out = np.empty((2, 2))
    >>> add(np.ones((2, 2)), np.array([1.0, 2.0]), out)
    >>> out
    array([[2., 3.],
           [2., 3.]])
    """
    run("elementwise.add", ADD, x, y, out)


def subtract(cnp.ndarray x not None, cnp.ndarray y not None, cnp.ndarray out not None):
    """Write x - y into `out`; y as in `add`.

    >>> out = np.empty(2)
    >>> subtract(np.ones(2), np.array([1.0, 2.0]), out)
    >>> out
    array([ 0., -1.])
    """
    run("elementwise.subtract", SUBTRACT, x, y, out)


def multiply(cnp.ndarray x not None, cnp.ndarray y not None, cnp.ndarray out not None):
    """Write x y into `out`; y as in `add`.

    >>> out = np.empty(2)
    >>> multiply(np.ones(2), np.array(3.0), out)
    >>> out
    array([3., 3.])
    """
    run("elementwise.multiply", MULTIPLY, x, y, out)
