# cython: boundscheck=False, wraparound=False
"""Where the elements of an array lie, and new arrays, without NumPy's reading of arguments."""


cimport numpy as cnp
from cpython.object cimport PyTypeObject

import numpy as np

cnp.import_array()

cdef extern from "numpy/arrayobject.h":
    object PyArray_NewLikeArray(cnp.ndarray prototype, cnp.NPY_ORDER order, cnp.dtype descr, int subok)
    object PyArray_NewFromDescr(
        PyTypeObject *subtype, cnp.dtype descr, int nd, const cnp.npy_intp *dims, const cnp.npy_intp *strides,
        void *data, int flags, void *owner,
    )
    int PyArray_SetBaseObject(cnp.ndarray array, object base) except -1
    object PyArray_Empty(int nd, const cnp.npy_intp *dims, cnp.dtype descr, int is_f_order)

cdef extern from "Python.h":
    void Py_INCREF(object)

cdef enum:
    DIMENSIONS = 64


cdef bint fills(cnp.ndarray x, const int *axes, int count) noexcept:
    """Whether the elements follow each other in memory, the first axis moving fastest."""
    cdef cnp.npy_intp step = cnp.PyArray_ITEMSIZE(x)
    cdef int i, axis
    for i in range(count):
        axis = axes[i]
        if cnp.PyArray_DIM(x, axis) != 1:
            if cnp.PyArray_STRIDE(x, axis) != step:
                return False
            step *= cnp.PyArray_DIM(x, axis)
    return True


def is_channels_last(cnp.ndarray x not None) -> bool:
    """Whether (N, C, *spatial) lies in channels-last memory without gaps.

    >>> is_channels_last(np.zeros((2, 5, 3)).transpose(0, 2, 1)), is_channels_last(np.zeros((2, 5, 3)))
    (True, False)
    """
    cdef int axes[DIMENSIONS]
    cdef int i, n = cnp.PyArray_NDIM(x)
    if cnp.PyArray_SIZE(x) == 0 or n < 2:
        return cnp.PyArray_IS_C_CONTIGUOUS(x)
    axes[0] = 1
    for i in range(2, n):
        axes[n - i] = i
    axes[n - 1] = 0
    return fills(x, axes, n)


def is_dense(cnp.ndarray x not None) -> bool:
    """Whether the elements fill one piece of memory, in any order of the axes.

    >>> is_dense(np.zeros((2, 3, 4)).transpose(1, 2, 0)), is_dense(np.zeros((2, 3))[:, :2])
    (True, False)
    """
    cdef int axes[DIMENSIONS]
    cdef int i, k, n = cnp.PyArray_NDIM(x)
    if cnp.PyArray_IS_C_CONTIGUOUS(x):
        return True
    for i in range(n):
        k = i
        while k > 0 and cnp.PyArray_STRIDE(x, axes[k - 1]) > cnp.PyArray_STRIDE(x, i):
            axes[k] = axes[k - 1]
            k -= 1
        axes[k] = i
    return fills(x, axes, n)


def is_row_major(x, dtype=None) -> bool:
    """Whether `x` is an array of at least one dimension in row-major memory and, when given, of this type.

    >>> is_row_major(np.zeros(2), np.dtype(float)), is_row_major(np.zeros((2, 2)).T), is_row_major(np.float64(1))
    (True, False, False)
    """
    if type(x) is not cnp.ndarray or cnp.PyArray_NDIM(<cnp.ndarray> x) == 0:
        return False
    if not cnp.PyArray_IS_C_CONTIGUOUS(<cnp.ndarray> x):
        return False
    return dtype is None or <object> cnp.PyArray_DESCR(<cnp.ndarray> x) is dtype or (<cnp.ndarray> x).descr == dtype


cdef inline bint is_float32(object x, int least, int most):
    """Whether x is an array of float32 with so many dimensions."""
    return type(x) is cnp.ndarray and cnp.PyArray_TYPE(<cnp.ndarray> x) == cnp.NPY_FLOAT32 \
        and cnp.PyArray_ISNOTSWAPPED(<cnp.ndarray> x) and least <= cnp.PyArray_NDIM(<cnp.ndarray> x) <= most


def are_layer(x, weight, bias) -> bool:
    """Whether these are float32 rows (..., n) that are not empty, a matrix (m, n), and a vector (m,) or None.

    >>> x, weight = np.zeros((4, 3), np.float32), np.zeros((2, 3), np.float32)
    >>> are_layer(x, weight, None), are_layer(x, weight, weight[0]), are_layer(x, weight, weight[:, 0])
    (True, False, True)
    """
    if not is_float32(x, 1, DIMENSIONS) or not is_float32(weight, 2, 2) or cnp.PyArray_SIZE(<cnp.ndarray> x) == 0:
        return False
    cdef int last = cnp.PyArray_NDIM(<cnp.ndarray> x) - 1
    if cnp.PyArray_DIM(<cnp.ndarray> x, last) != cnp.PyArray_DIM(<cnp.ndarray> weight, 1):
        return False
    if bias is None:
        return True
    return is_float32(bias, 1, 1) and cnp.PyArray_DIM(<cnp.ndarray> bias, 0) == cnp.PyArray_DIM(<cnp.ndarray> weight, 0)


cdef int lengths_of(object shape, cnp.npy_intp *lengths) except -1:
    """Read a shape; returns how many lengths it has."""
    cdef int i, n
    if type(shape) is not tuple:
        lengths[0] = <Py_ssize_t> shape
        n = 1
    else:
        n = <int> len(<tuple> shape)
        if n > DIMENSIONS:
            raise ValueError(f"For 'layout', 'shape' must have at most {DIMENSIONS} lengths, but got {n}.")
        for i in range(n):
            lengths[i] = <Py_ssize_t> (<tuple> shape)[i]
    for i in range(n):
        if lengths[i] < 0:
            raise ValueError(f"For 'layout', 'shape' must have no negative length, but got {shape}.")
    return n


def empty(shape, cnp.dtype dtype not None):
    """An uninitialised array in row-major memory.

    Args:
        shape: an int or a tuple of ints.
        dtype: a NumPy dtype.

    >>> empty((2, 3), np.dtype("f4")).shape, empty(2, np.dtype("f4")).dtype
    ((2, 3), dtype('float32'))
    """
    cdef cnp.npy_intp lengths[DIMENSIONS]
    cdef int n = lengths_of(shape, lengths)
    Py_INCREF(dtype)  # which the next call takes over
    return PyArray_Empty(n, lengths, dtype, 0)


def empty_like(cnp.ndarray x not None, cnp.dtype dtype=None):
    """An uninitialised array of the shape of `x`, its axes in the same order in memory and, unless given, its type.

    >>> empty_like(np.zeros((2, 3)).T).strides
    (8, 24)
    """
    if dtype is None:
        dtype = <cnp.dtype> (<object> cnp.PyArray_DESCR(x))
    Py_INCREF(dtype)  # which the next call takes over
    return PyArray_NewLikeArray(x, cnp.NPY_KEEPORDER, dtype, 0)


def channels_last(tuple shape not None, cnp.dtype dtype not None):
    """An uninitialised array of this shape (N, C, *spatial) over channels-last memory.

    >>> channels_last((2, 3, 5, 7), np.dtype("f4")).strides
    (420, 4, 84, 12)
    """
    cdef cnp.npy_intp lengths[DIMENSIONS]
    cdef cnp.npy_intp strides[DIMENSIONS]
    cdef int i, n = lengths_of(shape, lengths)
    cdef cnp.npy_intp step = dtype.itemsize
    if n < 2:
        return empty(shape, dtype)
    strides[1] = step
    step *= max(lengths[1], 1)
    for i in range(n - 1, 1, -1):
        strides[i] = step
        step *= max(lengths[i], 1)
    strides[0] = step
    Py_INCREF(dtype)  # which the next call takes over
    return PyArray_NewFromDescr(<PyTypeObject *> cnp.ndarray, dtype, n, lengths, strides, NULL, 0, NULL)


def broadcast(value, tuple shape not None):
    """A view of an array, or of a number's, with this shape, not to be written: `numpy.broadcast_to` of a plain array.

    Raises:
        ValueError: if a length is neither 1 nor that of `shape`.

    >>> broadcast(np.array([[1], [2]]), (2, 2, 3))[1]
    array([[1, 1, 1],
           [2, 2, 2]])
    """
    cdef cnp.ndarray x = np.asarray(value) if type(value) is not cnp.ndarray else value
    cdef cnp.npy_intp lengths[DIMENSIONS]
    cdef cnp.npy_intp strides[DIMENSIONS]
    cdef int i, n = lengths_of(shape, lengths)
    cdef int lead = n - cnp.PyArray_NDIM(x)
    cdef bint fits = lead >= 0
    for i in range(lead if fits else n):
        strides[i] = 0
    for i in range(lead, n if fits else lead):
        strides[i] = cnp.PyArray_STRIDE(x, i - lead) if cnp.PyArray_DIM(x, i - lead) != 1 else 0
        fits = fits and cnp.PyArray_DIM(x, i - lead) in (1, lengths[i])
    if not fits:
        raise ValueError(f"For 'broadcast', 'value' must broadcast to {shape}, but got shape {(<object> x).shape}.")
    cdef cnp.dtype dtype = <cnp.dtype> (<object> cnp.PyArray_DESCR(x))
    Py_INCREF(dtype)  # which the next call takes over
    view = PyArray_NewFromDescr(
        <PyTypeObject *> cnp.ndarray, dtype, n, lengths, strides, cnp.PyArray_DATA(x),
        cnp.PyArray_FLAGS(x) & cnp.NPY_ARRAY_ALIGNED, NULL
    )
    Py_INCREF(x)  # which the next call takes over
    PyArray_SetBaseObject(view, x)
    return view
