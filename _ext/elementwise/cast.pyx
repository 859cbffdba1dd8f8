# cython: cdivision=True, boundscheck=False, wraparound=False
"""float32 to bfloat16 or float16 and back, as vectors: NumPy casts these one number at a time.

Both arrays are dense, in any order of the axes, and of the same layout; `copy_rows` takes views.
bfloat16 arrays are of uint16 or of ml_dtypes' type of the same bits.
"""

cimport numpy as cnp
from cython.parallel cimport prange
from libc.stdint cimport uint16_t
from libc.string cimport memcpy

from arrays cimport check_dense, check_memory, check_same_shape, is_dense, type_name
from blocks cimport BLOCK, PARALLEL_FROM, block_count, block_length
from narrow cimport narrow_bfloat16, narrow_float16, widen_bfloat16, widen_float16

cnp.import_array()

cdef enum:
    MOST_AXES = 16

cdef enum Copy:
    WIDE_COPY, HALF_COPY, TO_BFLOAT16, FROM_BFLOAT16, TO_FLOAT16, FROM_FLOAT16


cdef struct Rows:
    int axes
    Py_ssize_t count
    Py_ssize_t length
    Py_ssize_t sizes[MOST_AXES]
    Py_ssize_t steps[MOST_AXES]
    Py_ssize_t out_steps[MOST_AXES]


cdef int check_pair(
    str kernel, str wide_name, cnp.ndarray wide, str narrow_name, cnp.ndarray half, bint to_half,
    bint float16
) except -1:
    """Raise unless one array is float32 and the other bfloat16 or float16, dense and alike."""
    check_dense(kernel, wide_name, wide, cnp.NPY_FLOAT32, not to_half)
    if cnp.PyArray_ITEMSIZE(half) != 2 or (cnp.PyArray_TYPE(half) == cnp.NPY_FLOAT16) != float16:
        raise TypeError(
            f"For '{kernel}', '{narrow_name}' must be {'float16' if float16 else 'bfloat16'}, "
            f"but got {type_name(half)}."
        )
    check_memory(kernel, narrow_name, half, to_half)
    if not is_dense(half):
        raise ValueError(
            f"For '{kernel}', '{narrow_name}' must fill one piece of memory, but got shape "
            f"{(<object> half).shape} with strides {(<object> half).strides}; copy it."
        )
    return 0


cdef int check_order(str kernel, cnp.ndarray x, cnp.ndarray out) except -1:
    """Raise unless the elements of both arrays come in the same order."""
    cdef int axis
    if not cnp.PyArray_SAMESHAPE(x, out):
        raise ValueError(
            f"For '{kernel}', 'out' must have the shape {(<object> x).shape} of 'x', but got "
            f"{(<object> out).shape}."
        )
    for axis in range(cnp.PyArray_NDIM(x)):
        if cnp.PyArray_DIM(x, axis) > 1 and cnp.PyArray_SIZE(x) and (
            cnp.PyArray_STRIDE(x, axis) // cnp.PyArray_ITEMSIZE(x)
            != cnp.PyArray_STRIDE(out, axis) // cnp.PyArray_ITEMSIZE(out)
        ):
            raise ValueError(
                f"For '{kernel}', 'out' must have the order of axes of 'x', strides "
                f"{(<object> x).strides}, but got {(<object> out).strides}."
            )
    return 0


cdef void copy_numbers(Copy copy, const void *x, void *out, Py_ssize_t size) noexcept nogil:
    """Copy contiguous numbers, as they are or into another type."""
    if copy == WIDE_COPY:
        memcpy(out, x, size * sizeof(float))
    elif copy == HALF_COPY:
        memcpy(out, x, size * sizeof(uint16_t))
    elif copy == TO_BFLOAT16:
        narrow_bfloat16(<const float *> x, <uint16_t *> out, size)
    elif copy == FROM_BFLOAT16:
        widen_bfloat16(<const uint16_t *> x, <float *> out, size)
    elif copy == TO_FLOAT16:
        narrow_float16(<const float *> x, <uint16_t *> out, size)
    else:
        widen_float16(<const uint16_t *> x, <float *> out, size)


cdef int cast(str kernel, Copy copy, cnp.ndarray x, cnp.ndarray out) except -1:
    """Check the arrays and write x into `out`."""
    cdef bint float16 = copy == TO_FLOAT16 or copy == FROM_FLOAT16
    if copy == TO_BFLOAT16 or copy == TO_FLOAT16:
        check_pair(kernel, "x", x, "out", out, True, float16)
    else:
        check_pair(kernel, "out", out, "x", x, False, float16)
    check_order(kernel, x, out)
    cdef Py_ssize_t size = cnp.PyArray_SIZE(x), block, start
    cdef Py_ssize_t item = cnp.PyArray_ITEMSIZE(x), out_item = cnp.PyArray_ITEMSIZE(out)
    cdef const char *source = <const char *> cnp.PyArray_DATA(x)
    cdef char *to = <char *> cnp.PyArray_DATA(out)
    with nogil:
        for block in prange(
            block_count(size, BLOCK), schedule="static", use_threads_if=size >= PARALLEL_FROM
        ):
            start = block * BLOCK
            copy_numbers(copy, source + start * item, to + start * out_item, block_length(block, size, BLOCK))
    return 0


def to_bfloat16(cnp.ndarray x not None, cnp.ndarray out not None):
    """Round float32 to the nearest bfloat16, ties to even; NaN stays NaN.

    >>> out = np.empty(3, np.uint16)
    >>> to_bfloat16(np.array([1.0, -2.0, 1.00390625], np.float32), out)
    >>> [hex(bits) for bits in out]
    ['0x3f80', '0xc000', '0x3f80']
    """
    cast("to_bfloat16", TO_BFLOAT16, x, out)


def from_bfloat16(cnp.ndarray x not None, cnp.ndarray out not None):
    """Write bfloat16 as float32, which is exact.

    >>> out = np.empty(2, np.float32)
    >>> from_bfloat16(np.array([0x3F80, 0xC000], np.uint16), out)
    >>> out
    array([ 1., -2.], dtype=float32)
    """
    cast("from_bfloat16", FROM_BFLOAT16, x, out)


def to_float16(cnp.ndarray x not None, cnp.ndarray out not None):
    """Round float32 to the nearest float16, ties to even; NaN stays NaN, too large is infinite.

    >>> out = np.empty(3, np.float16)
    >>> to_float16(np.array([1.0, 65520.0, 1.00048828125], np.float32), out)
    >>> out
    array([ 1., inf,  1.], dtype=float16)
    """
    cast("to_float16", TO_FLOAT16, x, out)


def from_float16(cnp.ndarray x not None, cnp.ndarray out not None):
    """Write float16 as float32, which is exact.

    >>> out = np.empty(2, np.float32)
    >>> from_float16(np.array([1.0, -2.0], np.float16), out)
    >>> out
    array([ 1., -2.], dtype=float32)
    """
    cast("from_float16", FROM_FLOAT16, x, out)


cdef int row_item(str kernel, str name, cnp.ndarray array, bint written) except -1:
    """Return the bytes per number of float32 or bfloat16 whose rows are contiguous, or raise."""
    cdef int last = cnp.PyArray_NDIM(array) - 1
    cdef int size = cnp.PyArray_ITEMSIZE(array)
    check_memory(kernel, name, array, written)
    if cnp.PyArray_TYPE(array) != cnp.NPY_FLOAT32 and (
        size != 2 or cnp.PyArray_TYPE(array) == cnp.NPY_FLOAT16
    ):
        raise TypeError(
            f"For '{kernel}', '{name}' must be float32 or bfloat16, but got {type_name(array)}."
        )
    if not 0 <= last < MOST_AXES:
        raise ValueError(
            f"For '{kernel}', '{name}' must have 1 to {MOST_AXES} dimensions, but got {last + 1}."
        )
    if cnp.PyArray_SIZE(array) and cnp.PyArray_DIM(array, last) > 1 and (
        cnp.PyArray_STRIDE(array, last) != size
    ):
        raise ValueError(
            f"For '{kernel}', the rows of '{name}' must be contiguous, but got strides "
            f"{(<object> array).strides}; copy it."
        )
    return size


cdef void copy_block(
    const Rows *rows, Copy copy, Py_ssize_t first, Py_ssize_t last, const char *x, char *out
) noexcept nogil:
    """Copy the rows from number `first` to before `last`, counted in C order."""
    cdef Py_ssize_t at[MOST_AXES]
    cdef Py_ssize_t _row, rest = first
    cdef int axis
    for axis in range(rows.axes - 1, -1, -1):
        at[axis] = rest % rows.sizes[axis]
        rest //= rows.sizes[axis]
        x += at[axis] * rows.steps[axis]
        out += at[axis] * rows.out_steps[axis]
    for _row in range(first, last):
        copy_numbers(copy, x, out, rows.length)
        axis = rows.axes - 1
        while axis >= 0:
            x += rows.steps[axis]
            out += rows.out_steps[axis]
            at[axis] += 1
            if at[axis] < rows.sizes[axis]:
                break
            x -= at[axis] * rows.steps[axis]
            out -= at[axis] * rows.out_steps[axis]
            at[axis] = 0
            axis -= 1


def copy_rows(cnp.ndarray x not None, cnp.ndarray out not None):
    """Copy x into `out`, either of them float32 or bfloat16, views whose last axis is contiguous.

    The two must not overlap.

    >>> out = np.zeros((2, 3), np.float32)
    >>> copy_rows(np.arange(4, dtype=np.float32).reshape(2, 2), out[:, 1:])
    >>> out
    array([[0., 0., 1.],
           [0., 2., 3.]], dtype=float32)
    """
    cdef int from_size = row_item("copy_rows", "x", x, False)
    cdef int to_size = row_item("copy_rows", "out", out, True)
    check_same_shape("copy_rows", "out", out, "x", x)
    cdef Rows rows
    cdef Copy copy
    cdef Py_ssize_t size = cnp.PyArray_SIZE(x), block, per_block
    cdef const char *source = <const char *> cnp.PyArray_DATA(x)
    cdef char *to = <char *> cnp.PyArray_DATA(out)
    cdef int axis
    if not size:
        return
    rows.axes = cnp.PyArray_NDIM(x) - 1
    rows.length = cnp.PyArray_DIM(x, rows.axes)
    rows.count = size // rows.length
    for axis in range(rows.axes):
        rows.sizes[axis] = cnp.PyArray_DIM(x, axis)
        rows.steps[axis] = cnp.PyArray_STRIDE(x, axis)
        rows.out_steps[axis] = cnp.PyArray_STRIDE(out, axis)
    if from_size == to_size:
        copy = WIDE_COPY if from_size == sizeof(float) else HALF_COPY
    else:
        copy = TO_BFLOAT16 if from_size == sizeof(float) else FROM_BFLOAT16
    per_block = max(1, BLOCK // rows.length)
    with nogil:
        for block in prange(
            block_count(rows.count, per_block),
            schedule="static",
            use_threads_if=size >= PARALLEL_FROM,
        ):
            copy_block(
                &rows, copy, block * per_block, min(rows.count, (block + 1) * per_block), source, to
            )
