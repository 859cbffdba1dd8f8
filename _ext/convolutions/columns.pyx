# cython: cdivision=True, boundscheck=False, wraparound=False
"""Windows over channels-last images as rows of a matrix, and back: what makes a convolution a product.

Images are (N, *sizes, C) of 1 to 3 sizes, windows (N, *counts, *kernel, C), both C-contiguous. Element
(n, p, .., i, ..) of the windows is the pixel (n, p * stride - before + i * dilation, ..), or zeros
where that lies outside. What is contiguous on both sides, a row of a window or a pixel, moves as one.

Planes are (N, C, *sizes), and their windows (N, C, *kernel, *counts): a row of neighbouring windows' elements
for a place of the kernel.
"""

cimport numpy as cnp
from cython.parallel cimport prange
from libc.string cimport memcpy, memset

from arrays cimport check, check_memory, check_type
from blocks cimport PARALLEL_FROM
from sizes cimport AXES, read_numbers

cnp.import_array()

cdef struct Windows:
    Py_ssize_t count, channels
    Py_ssize_t sizes[AXES]
    Py_ssize_t counts[AXES]
    Py_ssize_t kernel[AXES]
    Py_ssize_t stride[AXES]
    Py_ssize_t before[AXES]
    Py_ssize_t dilation[AXES]
    Py_ssize_t runs  # A row of a window is so many runs of neighbouring pixels,
    Py_ssize_t run  # so many pixels each.


cdef void copy_windows(
    const Windows *at, Py_ssize_t row, const char *x, Py_ssize_t pixel, char *windows
) noexcept nogil:
    """Copy one row of windows; a pixel has so many bytes."""
    cdef Py_ssize_t top = row % at.counts[1] * at.stride[1] - at.before[1]
    cdef Py_ssize_t front = row // at.counts[1] % at.counts[0] * at.stride[0] - at.before[0]
    cdef Py_ssize_t image = row // at.counts[1] // at.counts[0] * at.sizes[0]
    cdef Py_ssize_t column, left, i, j, k, y, z, low, high
    cdef const char *source
    cdef char *to = windows + row * at.counts[2] * at.kernel[0] * at.kernel[1] * at.kernel[2] * pixel
    for column in range(at.counts[2]):
        left = column * at.stride[2] - at.before[2]
        for k in range(at.kernel[0]):
            z = front + k * at.dilation[0]
            for i in range(at.kernel[1]):
                y = top + i * at.dilation[1]
                if z < 0 or z >= at.sizes[0] or y < 0 or y >= at.sizes[1]:
                    memset(to, 0, at.kernel[2] * pixel)
                    to += at.kernel[2] * pixel
                    continue
                source = x + ((image + z) * at.sizes[1] + y) * at.sizes[2] * pixel
                for j in range(at.runs):
                    find_inside(at, left + j * at.dilation[2], &low, &high)
                    memset(to, 0, low * pixel)
                    memcpy(
                        to + low * pixel, source + (left + j * at.dilation[2] + low) * pixel, (high - low) * pixel
                    )
                    memset(to + high * pixel, 0, (at.run - high) * pixel)
                    to += at.run * pixel


cdef inline void find_inside(
    const Windows *at, Py_ssize_t first, Py_ssize_t *low, Py_ssize_t *high
) noexcept nogil:
    """Find which pixels of a run that starts at `first` lie in the row: from `low` to before `high`."""
    low[0] = min(max(-first, 0), at.run)
    high[0] = max(min(at.sizes[2] - first, at.run), low[0])


cdef inline Py_ssize_t window_of(
    const Windows *at, int axis, Py_ssize_t pixel, Py_ssize_t place
) noexcept nogil:
    """Return which window meets this pixel with this place of its kernel, or -1."""
    cdef Py_ssize_t start = pixel + at.before[axis] - place * at.dilation[axis]
    if start < 0 or start % at.stride[axis] or start // at.stride[axis] >= at.counts[axis]:
        return -1
    return start // at.stride[axis]


ctypedef void (*AddRow)(const Windows *, const char *, const Py_ssize_t *, float *) noexcept nogil


cdef inline void add_met(
    const Windows *at, Py_ssize_t row, AddRow add, const char *windows, const Py_ssize_t *steps, float *to
) noexcept nogil:
    """Write a row of an image: the sums of its elements of all windows, whose bytes along the kernel's axes and along
    the counts' are `steps`; `add` adds what one row of the kernel has of one row of windows.
    """
    cdef Py_ssize_t y = row % at.sizes[1], z = row // at.sizes[1]
    cdef Py_ssize_t i, k, p, o
    memset(to, 0, at.sizes[2] * at.channels * sizeof(float))
    for k in range(at.kernel[0]):
        o = window_of(at, 0, z, k)
        if o < 0:
            continue
        for i in range(at.kernel[1]):
            p = window_of(at, 1, y, i)
            if p >= 0:
                add(at, windows + k * steps[0] + i * steps[1] + o * steps[AXES] + p * steps[AXES + 1], steps, to)


cdef void add_windows(const Windows *at, const char *windows, const Py_ssize_t *steps, float *to) noexcept nogil:
    """Add windows of contiguous pixels, window by window."""
    cdef Py_ssize_t j, q, c, first, low, high
    cdef const float *source = <const float *> windows
    cdef const float *piece
    cdef float *target
    for q in range(at.counts[2]):
        for j in range(at.runs):
            first = q * at.stride[2] - at.before[2] + j * at.dilation[2]
            find_inside(at, first, &low, &high)
            piece = source + (j + low) * at.channels
            target = to + (first + low) * at.channels
            for c in range((high - low) * at.channels):
                target[c] += piece[c]
        source += steps[2 * AXES - 1] // <Py_ssize_t> sizeof(float)


cdef void add_rows(const Windows *at, const char *windows, const Py_ssize_t *steps, float *x) noexcept nogil:
    """Add rows of neighbouring windows' elements, place by place of the kernel."""
    cdef Py_ssize_t j, q, first, low, high
    cdef const float *source
    for j in range(at.kernel[2]):
        source = <const float *> (windows + j * steps[2])
        first = j * at.dilation[2] - at.before[2]
        low = 0 if first >= 0 else (-first + at.stride[2] - 1) // at.stride[2]
        high = 0 if first >= at.sizes[2] else (at.sizes[2] - first - 1) // at.stride[2] + 1
        high = min(high, at.counts[2])
        if at.stride[2] == 1:
            for q in range(low, high):
                x[first + q] += source[q]
        else:
            for q in range(low, high):
                x[first + q * at.stride[2]] += source[q]


cdef void find_steps(tuple kernel, tuple counts, Py_ssize_t *steps) except *:
    """Write the bytes along the kernel's and the counts' axes, 0 where there is none."""
    cdef int axis, rank = len(kernel)
    for axis in range(AXES):
        steps[axis] = steps[AXES + axis] = 0
    for axis in range(rank):
        steps[AXES - rank + axis], steps[2 * AXES - rank + axis] = kernel[axis], counts[axis]


cdef Windows find_windows(
    str kernel, cnp.ndarray x, cnp.ndarray windows, object stride, object before, object dilation
) except *:
    """Check the arrays' shapes and memory and return the geometry."""
    cdef Windows at
    cdef int rank = cnp.PyArray_NDIM(x) - 2
    if rank < 1 or rank > AXES:
        raise ValueError(
            f"For '{kernel}', 'x' must have 3 to {AXES + 2} dimensions, but got shape {(<object> x).shape}."
        )
    check(kernel, "x", x, cnp.PyArray_TYPE(x), -1, False)
    check(kernel, "windows", windows, cnp.PyArray_TYPE(x), 2 * rank + 2, False)
    at.count, at.channels = cnp.PyArray_DIM(x, 0), cnp.PyArray_DIM(x, rank + 1)
    if cnp.PyArray_DIM(windows, 0) != at.count or cnp.PyArray_DIM(windows, 2 * rank + 1) != at.channels:
        raise ValueError(
            f"For '{kernel}', 'windows' must have the images and channels of 'x' "
            f"{(<object> x).shape} first and last, but got shape {(<object> windows).shape}."
        )
    shape = (<object> windows).shape
    read_numbers(kernel, "x", (<object> x).shape[1:rank + 1], 0, rank, 1, at.sizes)
    read_numbers(kernel, "windows", shape[1:rank + 1], 0, rank, 1, at.counts)
    read_numbers(kernel, "windows", shape[rank + 1:2 * rank + 1], 0, rank, 1, at.kernel)
    read_numbers(kernel, "stride", stride, 1, rank, 1, at.stride)
    read_numbers(kernel, "before", before, 0, rank, 0, at.before)
    read_numbers(kernel, "dilation", dilation, 1, rank, 1, at.dilation)
    at.runs = 1 if at.dilation[2] == 1 else at.kernel[2]
    at.run = at.kernel[2] // max(at.runs, 1)
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
            at.count * at.counts[0] * at.counts[1], schedule="static", use_threads_if=size >= PARALLEL_FROM
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
    check("columns.fold", "x", x, cnp.NPY_FLOAT32, -1, True)
    cdef int rank = cnp.PyArray_NDIM(x) - 2
    cdef Py_ssize_t steps[2 * AXES]
    strides = (<object> windows).strides
    find_steps(strides[rank + 1:2 * rank + 1], strides[1:rank + 1], steps)
    cdef Py_ssize_t row, rows = at.sizes[0] * at.sizes[1], of_image = strides[0]
    cdef const char *source = <const char *> cnp.PyArray_DATA(windows)
    cdef float *to = <float *> cnp.PyArray_DATA(x)
    cdef Py_ssize_t size = cnp.PyArray_SIZE(windows)
    with nogil:
        for row in prange(at.count * rows, schedule="static", use_threads_if=size >= PARALLEL_FROM):
            add_met(
                &at, row % rows, add_windows, source + row // rows * of_image, steps,
                to + row * at.sizes[2] * at.channels
            )


def fold_planes(
    cnp.ndarray windows not None, cnp.ndarray x not None, tuple stride, tuple before,
    tuple dilation
):
    """Write the sums over the windows (N, C, *kernel, *counts) into the planes `x` (N, C, *sizes), both float32.

    Only the rows of the windows, their last axis, need be contiguous. A pixel's elements are added in the order of
    their places in the kernel.

    >>> import numpy as np
    >>> x = np.empty((1, 1, 3), np.float32)
    >>> fold_planes(np.array([[[[1, 2], [10, 20]]]], np.float32), x, (1,), (0,), (1,))
    >>> x.ravel()
    array([ 1., 12., 20.], dtype=float32)
    """
    cdef Windows at
    cdef int rank = cnp.PyArray_NDIM(x) - 2
    cdef Py_ssize_t steps[2 * AXES]
    if rank < 1 or rank > AXES or cnp.PyArray_NDIM(windows) != 2 * rank + 2:
        raise ValueError(
            f"For 'columns.fold_planes', 'x' must have 3 to {AXES + 2} dimensions, and 'windows' twice as many less 2, "
            f"but got shapes {(<object> x).shape} and {(<object> windows).shape}."
        )
    check("columns.fold_planes", "x", x, cnp.NPY_FLOAT32, -1, True)
    check_type("columns.fold_planes", "windows", windows, cnp.NPY_FLOAT32)
    check_memory("columns.fold_planes", "windows", windows, False)
    cdef bint apart = cnp.PyArray_DIM(windows, 2 * rank + 1) > 1 and cnp.PyArray_SIZE(windows)
    apart = apart and cnp.PyArray_STRIDE(windows, 2 * rank + 1) != sizeof(float)
    shape, strides = (<object> windows).shape, (<object> windows).strides
    cdef Py_ssize_t channels = cnp.PyArray_DIM(x, 1)
    at.count, at.channels = cnp.PyArray_DIM(x, 0), 1  # of a plane
    if shape[0] != at.count or shape[1] != channels or apart:
        raise ValueError(
            f"For 'columns.fold_planes', 'windows' must have the images and channels of 'x' {(<object> x).shape} first "
            f"and contiguous rows, but got shape {shape} with strides {strides}."
        )
    read_numbers("columns.fold_planes", "x", (<object> x).shape[2:], 0, rank, 1, at.sizes)
    read_numbers("columns.fold_planes", "windows", shape[2:rank + 2], 0, rank, 1, at.kernel)
    read_numbers("columns.fold_planes", "windows", shape[rank + 2:], 0, rank, 1, at.counts)
    read_numbers("columns.fold_planes", "stride", stride, 1, rank, 1, at.stride)
    read_numbers("columns.fold_planes", "before", before, 0, rank, 0, at.before)
    read_numbers("columns.fold_planes", "dilation", dilation, 1, rank, 1, at.dilation)
    find_steps(strides[2:rank + 2], strides[rank + 2:], steps)
    cdef Py_ssize_t row, plane, of_image = strides[0], of_channel = strides[1]
    cdef Py_ssize_t rows = at.sizes[0] * at.sizes[1]
    cdef const char *source = <const char *> cnp.PyArray_DATA(windows)
    cdef float *to = <float *> cnp.PyArray_DATA(x)
    cdef Py_ssize_t size = cnp.PyArray_SIZE(windows)
    with nogil:
        for plane in prange(
            at.count * channels, schedule="static", use_threads_if=size >= PARALLEL_FROM
        ):
            for row in range(rows):
                add_met(
                    &at,
                    row,
                    add_rows,
                    source + plane // channels * of_image + plane % channels * of_channel,
                    steps,
                    to + (plane * rows + row) * at.sizes[2],
                )
