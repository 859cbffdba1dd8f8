# cython: cdivision=True, boundscheck=False, wraparound=False
"""Windows over channels-last images as rows of a matrix, and back: what makes a convolution a product.

Images are (N, H, W, C), windows (N, rows, columns, *kernel, C), both C-contiguous. Element
(n, p, q, i, j) of the windows is the pixel (n, p * stride - before + i * dilation, ...), or zeros
where that lies outside.
"""

cimport numpy as cnp
from cython.parallel cimport prange
from libc.string cimport memcpy, memset

from arrays cimport check, check_memory
from blocks cimport PARALLEL_FROM

cnp.import_array()

cdef struct Windows:
    Py_ssize_t count, height, width, channels
    Py_ssize_t rows, columns
    Py_ssize_t kernel[2]
    Py_ssize_t stride[2]
    Py_ssize_t before[2]
    Py_ssize_t dilation[2]


cdef void copy_windows(
    const Windows *at, Py_ssize_t row, const char *x, Py_ssize_t pixel, char *windows
) noexcept nogil:
    """Copy one row of windows; a pixel has so many bytes."""
    cdef Py_ssize_t top = row % at.rows * at.stride[0] - at.before[0]
    cdef Py_ssize_t image = row // at.rows * at.height
    cdef Py_ssize_t column, left, i, j, y, z
    cdef char *to = windows + row * at.columns * at.kernel[0] * at.kernel[1] * pixel
    for column in range(at.columns):
        left = column * at.stride[1] - at.before[1]
        for i in range(at.kernel[0]):
            y = top + i * at.dilation[0]
            if y < 0 or y >= at.height:
                memset(to, 0, at.kernel[1] * pixel)
                to += at.kernel[1] * pixel
                continue
            for j in range(at.kernel[1]):
                z = left + j * at.dilation[1]
                if z < 0 or z >= at.width:
                    memset(to, 0, pixel)
                else:
                    memcpy(to, x + ((image + y) * at.width + z) * pixel, pixel)
                to += pixel


cdef inline Py_ssize_t window_of(
    const Windows *at, int axis, Py_ssize_t pixel, Py_ssize_t place, Py_ssize_t count
) noexcept nogil:
    """Return which window meets this pixel with this place of its kernel, or -1."""
    cdef Py_ssize_t start = pixel + at.before[axis] - place * at.dilation[axis]
    if start < 0 or start % at.stride[axis] or start // at.stride[axis] >= count:
        return -1
    return start // at.stride[axis]


cdef void add_windows(
    const Windows *at, Py_ssize_t row, const float *windows, float *x
) noexcept nogil:
    """Write one row of pixels: the sums of their elements of all windows."""
    cdef Py_ssize_t y = row % at.height, image = row // at.height * at.rows
    cdef Py_ssize_t z, i, j, p, q, c
    cdef const float *source
    cdef float *to = x + row * at.width * at.channels
    for z in range(at.width):
        memset(to, 0, at.channels * sizeof(float))
        for i in range(at.kernel[0]):
            p = window_of(at, 0, y, i, at.rows)
            if p < 0:
                continue
            for j in range(at.kernel[1]):
                q = window_of(at, 1, z, j, at.columns)
                if q < 0:
                    continue
                source = windows + (
                    (((image + p) * at.columns + q) * at.kernel[0] + i) * at.kernel[1] + j
                ) * at.channels
                for c in range(at.channels):
                    to[c] += source[c]
        to += at.channels


cdef int read_pair(str kernel, str name, object pair, Py_ssize_t least, Py_ssize_t *out) except -1:
    if len(pair) != 2 or min(pair) < least:
        raise ValueError(
            f"For '{kernel}', '{name}' must be two ints of at least {least}, but got {pair}."
        )
    out[0], out[1] = pair
    return 0


cdef Windows find_windows(
    str kernel, cnp.ndarray x, cnp.ndarray windows, object stride, object before, object dilation
) except *:
    """Check the arrays' shapes and memory and return the geometry."""
    cdef Windows at
    cdef int axis
    check(kernel, "x", x, cnp.PyArray_TYPE(x), 4, False)
    check(kernel, "windows", windows, cnp.PyArray_TYPE(x), 6, False)
    at.count, at.height = cnp.PyArray_DIM(x, 0), cnp.PyArray_DIM(x, 1)
    at.width, at.channels = cnp.PyArray_DIM(x, 2), cnp.PyArray_DIM(x, 3)
    at.rows, at.columns = cnp.PyArray_DIM(windows, 1), cnp.PyArray_DIM(windows, 2)
    for axis in range(2):
        at.kernel[axis] = cnp.PyArray_DIM(windows, 3 + axis)
    if cnp.PyArray_DIM(windows, 0) != at.count or cnp.PyArray_DIM(windows, 5) != at.channels:
        raise ValueError(
            f"For '{kernel}', 'windows' must have the images and channels of 'x' "
            f"{(<object> x).shape} first and last, but got shape {(<object> windows).shape}."
        )
    read_pair(kernel, "stride", stride, 1, at.stride)
    read_pair(kernel, "before", before, 0, at.before)
    read_pair(kernel, "dilation", dilation, 1, at.dilation)
    return at


def unfold(
    cnp.ndarray x not None, cnp.ndarray windows not None, tuple stride, tuple before,
    tuple dilation
):
    """Write the windows of `x`, of any one type.

    >>> import numpy as np
    >>> windows = np.empty((1, 1, 3, 1, 2, 1))
    >>> unfold(np.array([3.0, 4, 5]).reshape(1, 1, 3, 1), windows, (1, 1), (0, 1), (1, 1))
    >>> windows[0, 0, :, 0, :, 0]
    array([[0., 3.],
           [3., 4.],
           [4., 5.]])
    """
    cdef Windows at = find_windows("columns.unfold", x, windows, stride, before, dilation)
    check_memory("columns.unfold", "windows", windows, True)
    cdef Py_ssize_t row, pixel = at.channels * cnp.PyArray_ITEMSIZE(x)
    cdef const char *source = <const char *> cnp.PyArray_DATA(x)
    cdef char *to = <char *> cnp.PyArray_DATA(windows)
    cdef Py_ssize_t size = cnp.PyArray_SIZE(windows)
    if not size:
        return
    with nogil:
        for row in prange(
            at.count * at.rows, schedule="static", use_threads_if=size >= PARALLEL_FROM
        ):
            copy_windows(&at, row, source, pixel, to)


def fold(
    cnp.ndarray windows not None, cnp.ndarray x not None, tuple stride, tuple before,
    tuple dilation
):
    """Write the sums over the windows into the pixels of `x` they are of, both float32.

    >>> import numpy as np
    >>> x = np.empty((1, 1, 3, 1), np.float32)
    >>> fold(np.ones((1, 1, 3, 1, 2, 1), np.float32), x, (1, 1), (0, 1), (1, 1))
    >>> x.ravel()
    array([2., 2., 1.], dtype=float32)
    """
    cdef Windows at = find_windows("columns.fold", x, windows, stride, before, dilation)
    check("columns.fold", "x", x, cnp.NPY_FLOAT32, 4, True)
    cdef Py_ssize_t row
    cdef const float *source = <const float *> cnp.PyArray_DATA(windows)
    cdef float *to = <float *> cnp.PyArray_DATA(x)
    cdef Py_ssize_t size = cnp.PyArray_SIZE(windows)
    with nogil:
        for row in prange(
            at.count * at.height, schedule="static", use_threads_if=size >= PARALLEL_FROM
        ):
            add_windows(&at, row, source, to)
