# cython: boundscheck=False, wraparound=False
"""Sums, differences and products of small arrays, sooner than NumPy has found its loop; short vectors' dot product.

The sum of a short diagonal, too.

Two float32 or two float64 arrays of one shape in row-major memory, or one with a Python number. The
functions return None for anything else and for more than `MOST` elements, where NumPy is as fast.
No element warns. Compiled once: a shorter vector would gain nothing here.
"""

cimport numpy as cnp
from cpython.float cimport PyFloat_AS_DOUBLE
from cpython.ref cimport Py_INCREF
from libc.stdint cimport uint16_t

from bfloat16 cimport bf16_load, bf16_store
from rows cimport is_bfloat16

cnp.import_array()

cdef extern from "numpy/arrayobject.h":
    object PyArray_NewFromDescr(
        cnp.PyTypeObject *subtype, cnp.PyArray_Descr *descr, int nd, cnp.npy_intp *dims, cnp.npy_intp *strides,
        void *data, int flags, object obj)

cdef extern from "Python.h":
    long PyLong_AsLongAndOverflow(object number, int *overflow) except? -1

cdef enum:
    MOST = 1024
    MOST_MULTIPLIED = 8192
    LANES = 16
    ADD, SUBTRACT, MULTIPLY

ctypedef fused real:
    float
    double

cdef long LARGEST = 1 << 53  # up to here float64 has every int


cdef inline bint plain(object x):
    """Whether x is a small array of a real type in row-major memory."""
    if type(x) is not cnp.ndarray:
        return False
    cdef cnp.ndarray array = <cnp.ndarray> x
    cdef int kind = cnp.PyArray_TYPE(array)
    return (kind == cnp.NPY_FLOAT or kind == cnp.NPY_DOUBLE) and cnp.PyArray_ISCARRAY_RO(array) \
        and cnp.PyArray_SIZE(array) <= MOST


cdef inline bint number(object x, double *value) except -1:
    """Whether x is a Python number that float64 has; its value."""
    cdef int overflow = 0
    cdef long whole
    if type(x) is float:
        value[0] = PyFloat_AS_DOUBLE(x)
        return True
    if type(x) is int:
        whole = PyLong_AsLongAndOverflow(x, &overflow)
        if overflow or whole > LARGEST or whole < -LARGEST:
            return False
        value[0] = <double> whole
        return True
    return False


cdef inline void loop(int operation, const real *x, Py_ssize_t x_step, const real *y, Py_ssize_t y_step, real *out,
                      Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    if operation == ADD:
        for i in range(n):
            out[i] = x[i * x_step] + y[i * y_step]
    elif operation == SUBTRACT:
        for i in range(n):
            out[i] = x[i * x_step] - y[i * y_step]
    else:
        for i in range(n):
            out[i] = x[i * x_step] * y[i * y_step]


cdef inline void combine_real(real kind, int operation, cnp.ndarray like, object x, object y, double value,
                              cnp.ndarray out) noexcept:
    """Combine two arrays, or an array and the number `value`, which is x if `y` is the array."""
    cdef real one = <real> value
    cdef const real *a = &one
    cdef const real *b = &one
    cdef real *o = <real *> cnp.PyArray_DATA(out)
    cdef Py_ssize_t n = cnp.PyArray_SIZE(out)
    if x is not None and y is not None:
        a, b = <const real *> cnp.PyArray_DATA(<cnp.ndarray> x), <const real *> cnp.PyArray_DATA(<cnp.ndarray> y)
        loop(operation, a, 1, b, 1, o, n)
    elif x is not None:
        loop(operation, <const real *> cnp.PyArray_DATA(<cnp.ndarray> x), 1, b, 0, o, n)
    else:
        loop(operation, a, 0, <const real *> cnp.PyArray_DATA(<cnp.ndarray> y), 1, o, n)


cdef object combine(int operation, object x, object y):
    cdef double value = 0
    cdef cnp.ndarray like, out
    if plain(x):
        like = <cnp.ndarray> x
        if type(y) is cnp.ndarray:
            if not plain(y) or cnp.PyArray_TYPE(<cnp.ndarray> y) != cnp.PyArray_TYPE(like) \
                    or not cnp.PyArray_SAMESHAPE(like, <cnp.ndarray> y):
                return None
        elif number(y, &value):
            y = None
        else:
            return None
    elif plain(y) and number(x, &value):
        like, x = <cnp.ndarray> y, None
    else:
        return None
    out = cnp.PyArray_EMPTY(cnp.PyArray_NDIM(like), cnp.PyArray_DIMS(like), cnp.PyArray_TYPE(like), 0)
    if cnp.PyArray_TYPE(like) == cnp.NPY_FLOAT:
        combine_real(<float> 0, operation, like, x, y, value, out)
    else:
        combine_real(<double> 0, operation, like, x, y, value, out)
    return out


def add(x, y):
    """x + y, or None if NumPy has to do it.

    >>> add(np.ones(2), 1)
    array([2., 2.])
    """
    return combine(ADD, x, y)


def subtract(x, y):
    """x - y, or None if NumPy has to do it.

    >>> subtract(1, np.ones(2))
    array([0., 0.])
    """
    return combine(SUBTRACT, x, y)


def multiply(x, y):
    """x y, or None if NumPy has to do it.

    >>> multiply(np.ones(2), np.ones(1)) is None
    True
    """
    return combine(MULTIPLY, x, y)


def dot(x, y):
    """The sum of the products of two bfloat16 vectors, added up in float32, or None if NumPy has to do it.

    >>> import ml_dtypes
    >>> x = np.array([1, 2, 3], ml_dtypes.bfloat16)
    >>> dot(x, x)
    array(14, dtype=bfloat16)
    """
    cdef cnp.ndarray a, b
    cdef float[LANES] sums
    cdef float rest = 0
    cdef const uint16_t *left
    cdef const uint16_t *right
    cdef Py_ssize_t i, block, size
    cdef int lane, half
    if type(x) is not cnp.ndarray or type(y) is not cnp.ndarray:
        return None
    a, b = <cnp.ndarray> x, <cnp.ndarray> y
    size = cnp.PyArray_SIZE(a)
    if (
        cnp.PyArray_NDIM(a) != 1 or not cnp.PyArray_SAMESHAPE(a, b) or size > MOST_MULTIPLIED
        or not is_bfloat16(a) or not is_bfloat16(b)
        or not cnp.PyArray_ISCARRAY_RO(a) or not cnp.PyArray_ISCARRAY_RO(b)
    ):
        return None
    left, right = <const uint16_t *> cnp.PyArray_DATA(a), <const uint16_t *> cnp.PyArray_DATA(b)
    for lane in range(LANES):
        sums[lane] = 0
    for block in range(size // LANES):
        i = block * LANES
        for lane in range(LANES):
            sums[lane] += bf16_load(left[i + lane]) * bf16_load(right[i + lane])
    for i in range(size // LANES * LANES, size):
        rest += bf16_load(left[i]) * bf16_load(right[i])
    half = LANES // 2
    while half:
        for lane in range(half):
            sums[lane] += sums[lane + half]
        half //= 2
    descr = (<object> a).dtype
    Py_INCREF(descr)
    out = PyArray_NewFromDescr(
        <cnp.PyTypeObject *> cnp.ndarray, <cnp.PyArray_Descr *> descr, 0, NULL, NULL, NULL, 0, None
    )
    (<uint16_t *> cnp.PyArray_DATA(<cnp.ndarray> out))[0] = bf16_store(sums[0] + rest)
    return out


cdef real pairwise(const char *x, Py_ssize_t step, Py_ssize_t size, real zero) noexcept:
    """Return the sum of numbers `step` bytes apart, added in NumPy's order."""
    cdef real[8] sums
    cdef real total = zero
    cdef Py_ssize_t i = 8, half
    cdef int lane
    if size < 8:
        for i in range(size):
            total += (<const real *> (x + i * step))[0]
        return total
    if size > 128:
        half = size // 2
        half -= half % 8
        return pairwise(x, step, half, zero) + pairwise(x + half * step, step, size - half, zero)
    for lane in range(8):
        sums[lane] = (<const real *> (x + lane * step))[0]
    while i + 8 <= size:
        for lane in range(8):
            sums[lane] += (<const real *> (x + (i + lane) * step))[0]
        i += 8
    total = ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]))
    while i < size:
        total += (<const real *> (x + i * step))[0]
        i += 1
    return total


def trace(x):
    """The sum of a matrix's diagonal, or None if NumPy has to do it; of bfloat16 added up in float32.

    Matrices are float32, float64 or bfloat16, in any strides, with up to `MOST_MULTIPLIED` numbers on the diagonal.

    >>> trace(np.array([[1.0, 2.0], [3.0, 4.0]]))
    array(5.)
    """
    cdef cnp.ndarray a, out
    cdef Py_ssize_t size, step, i
    cdef int kind
    cdef float total = 0
    cdef const char *data
    if type(x) is not cnp.ndarray:
        return None
    a = <cnp.ndarray> x
    kind = cnp.PyArray_TYPE(a)
    if cnp.PyArray_NDIM(a) != 2 or not cnp.PyArray_ISBEHAVED_RO(a):
        return None
    if kind != cnp.NPY_FLOAT and kind != cnp.NPY_DOUBLE and not is_bfloat16(a):
        return None
    size = min(cnp.PyArray_DIM(a, 0), cnp.PyArray_DIM(a, 1))
    if size > MOST_MULTIPLIED:
        return None
    step = cnp.PyArray_STRIDE(a, 0) + cnp.PyArray_STRIDE(a, 1)
    data = <const char *> cnp.PyArray_DATA(a)
    descr = (<object> a).dtype
    Py_INCREF(descr)
    out = PyArray_NewFromDescr(
        <cnp.PyTypeObject *> cnp.ndarray, <cnp.PyArray_Descr *> descr, 0, NULL, NULL, NULL, 0, None
    )
    if kind == cnp.NPY_FLOAT:
        (<float *> cnp.PyArray_DATA(out))[0] = pairwise(data, step, size, <float> 0)
    elif kind == cnp.NPY_DOUBLE:
        (<double *> cnp.PyArray_DATA(out))[0] = pairwise(data, step, size, <double> 0)
    else:
        for i in range(size):
            total += bf16_load((<const uint16_t *> (data + i * step))[0])
        (<uint16_t *> cnp.PyArray_DATA(out))[0] = bf16_store(total)
    return out
