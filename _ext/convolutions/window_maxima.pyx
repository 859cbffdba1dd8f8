# cython: cdivision=True, boundscheck=False, wraparound=False
"""The maximum of each sliding window and its place, for windows of any dilation, and the gradient's way back.

Arrays are C-contiguous (planes, *sizes), float32 or float64, of 1 to 3 sizes; a place is the flat index of an
element within its plane. A plane is the work of one thread.
"""

cimport numpy as cnp
from cython cimport floating
from cython.parallel cimport prange, threadid
from libc.math cimport INFINITY
from libc.stdint cimport int64_t

import numpy as np

cimport openmp

from arrays cimport check, real_type
from blocks cimport PARALLEL_FROM
from sizes cimport AXES, read_numbers

cnp.import_array()

cdef struct Windows:
    Py_ssize_t sizes[AXES]
    Py_ssize_t counts[AXES]
    Py_ssize_t kernel[AXES]
    Py_ssize_t stride[AXES]
    Py_ssize_t before[AXES]
    Py_ssize_t dilation[AXES]


cdef inline Py_ssize_t volume(const Py_ssize_t *lengths) noexcept nogil:
    return lengths[0] * lengths[1] * lengths[2]


cdef void meet_row(
    const floating *x, Py_ssize_t step, Py_ssize_t place, floating *best, int64_t *places, Py_ssize_t count
) noexcept nogil:
    """Take the elements that are larger, or the first NaN, into a row of maxima; they are `step` apart."""
    cdef Py_ssize_t i
    cdef floating value
    cdef bint better
    for i in range(count):
        value = x[i * step]
        better = (value > best[i]) | ((value != value) & (best[i] == best[i]))
        places[i] = place + i * step if better else places[i]
        best[i] = value if better else best[i]


cdef void meet_segment(
    const floating *x, Py_ssize_t step, Py_ssize_t place, Py_ssize_t size, floating *best, int64_t *found
) noexcept nogil:
    """Do so for one maximum, which seldom changes, and elements that are `step` apart."""
    cdef Py_ssize_t i, where = -1
    cdef floating value, largest = best[0]
    for i in range(size):
        value = x[i * step]
        if value > largest or (value != value and largest == largest):
            largest = value
            where = i
    if where >= 0:
        best[0], found[0] = largest, place + where * step


cdef void meet_segments(
    const Windows *at, const floating *x, Py_ssize_t start, floating *best, int64_t *places
) noexcept nogil:
    """Take a row of pixels into the maxima of the few long windows over it."""
    cdef Py_ssize_t i, left, low, high, step = at.dilation[2]
    for i in range(at.counts[2]):
        left = i * at.stride[2] - at.before[2]
        low = (-left + step - 1) // step if left < 0 else 0
        high = min((at.sizes[2] - 1 - left) // step + 1, at.kernel[2]) if left < at.sizes[2] else 0
        left += start + low * step
        meet_segment(x + left, step, left, high - low, best + i, places + i)


cdef void pool_row(
    const Windows *at, const floating *x, Py_ssize_t front, Py_ssize_t top, floating *out, int64_t *places
) noexcept nogil:
    """Write one row of maxima, whose windows begin at these rows of the plane."""
    cdef Py_ssize_t i, j, k, z, y, left, low, high, start
    cdef Py_ssize_t step = at.stride[2]
    for i in range(at.counts[2]):
        out[i] = -INFINITY
        places[i] = -1
    for k in range(at.kernel[0]):
        z = front + k * at.dilation[0]
        if z < 0 or z >= at.sizes[0]:
            continue
        for i in range(at.kernel[1]):
            y = top + i * at.dilation[1]
            if y < 0 or y >= at.sizes[1]:
                continue
            start = (z * at.sizes[1] + y) * at.sizes[2]
            if at.counts[2] < at.kernel[2]:
                meet_segments(at, x, start, out, places)
                continue
            for j in range(at.kernel[2]):
                left = j * at.dilation[2] - at.before[2]
                low = (-left + step - 1) // step if left < 0 else 0
                high = min((at.sizes[2] - 1 - left) // step + 1, at.counts[2]) if left < at.sizes[2] else 0
                if low < high:
                    left += low * step
                    meet_row(x + start + left, step, start + left, out + low, places + low, high - low)
    for i in range(at.counts[2]):
        if places[i] < 0:
            places[i] = place_of_least(at, front, top, i * step - at.before[2])


cdef int64_t place_of_least(const Windows *at, Py_ssize_t front, Py_ssize_t top, Py_ssize_t left) noexcept nogil:
    """Return the place in a window of nothing but -inf: its first one, but its last element where that is padding."""
    cdef Py_ssize_t starts[AXES]
    cdef Py_ssize_t place = 0, first = 0, last, index
    cdef bint is_inside = True
    cdef int axis
    starts[0], starts[1], starts[2] = front, top, left
    for axis in range(AXES):
        is_inside = is_inside and 0 <= starts[axis] < at.sizes[axis]
        first = first * at.sizes[axis] + starts[axis]
        last = -1
        for index in range(at.kernel[axis]):
            if 0 <= starts[axis] + index * at.dilation[axis] < at.sizes[axis]:
                last = starts[axis] + index * at.dilation[axis]
        if last < 0:
            return -1
        place = place * at.sizes[axis] + last
    return first if is_inside else place


cdef void pool_planes(
    const Windows *at, const floating *x, floating *out, int64_t *places, Py_ssize_t planes
) noexcept nogil:
    cdef Py_ssize_t rows = at.counts[0] * at.counts[1], size = volume(at.sizes), row, plane, index
    for row in prange(
        planes * rows, schedule="static",
        use_threads_if=planes * rows * at.counts[2] * volume(at.kernel) >= PARALLEL_FROM,
    ):
        plane = row // rows
        index = row % rows
        pool_row(
            at,
            x + plane * size,
            index // at.counts[1] * at.stride[0] - at.before[0],
            index % at.counts[1] * at.stride[1] - at.before[1],
            out + row * at.counts[2],
            places + row * at.counts[2],
        )


def forward(
    cnp.ndarray x not None, cnp.ndarray out not None, cnp.ndarray places not None, tuple kernel, tuple stride,
    tuple before, tuple dilation
):
    """Write each window's maximum and its place; the first of equal ones and the first NaN win.

    Args:
        x: float32 or float64 (planes, *sizes).
        out: (planes, *counts) of that type, written.
        places: int64 (planes, *counts), written; -1 for a window that has no element.
        kernel, stride, dilation: an int of 1 or more per size.
        before: how many elements of padding, which is -inf, come before the first.

    >>> out, places = np.empty((1, 2)), np.empty((1, 2), np.int64)
    >>> forward(np.array([[1.0, 4.0, 3.0, 2.0]]), out, places, (2,), (1,), (0,), (2,)); out, places
    (array([[3., 4.]]), array([[2, 1]]))
    """
    cdef str name = "window_maxima.forward"
    cdef int number = real_type(name, "x", x)
    cdef int rank = cnp.PyArray_NDIM(x) - 1, axis
    cdef Windows at
    check(name, "x", x, number, -1, False)
    if not 1 <= rank <= AXES:
        raise ValueError(f"For '{name}', 'x' must have 2 to 4 dimensions, but got shape {(<object> x).shape}.")
    check(name, "out", out, number, rank + 1, True)
    check(name, "places", places, cnp.NPY_INT64, rank + 1, True)
    if (<object> out).shape != (<object> places).shape or cnp.PyArray_DIM(out, 0) != cnp.PyArray_DIM(x, 0):
        raise ValueError(
            f"For '{name}', 'out' and 'places' must have one shape and the planes of 'x', but got "
            f"{(<object> out).shape}, {(<object> places).shape} and {(<object> x).shape}."
        )
    read_numbers(name, "kernel", kernel, 1, rank, 1, at.kernel)
    read_numbers(name, "stride", stride, 1, rank, 1, at.stride)
    read_numbers(name, "before", before, 0, rank, 0, at.before)
    read_numbers(name, "dilation", dilation, 1, rank, 1, at.dilation)
    for axis in range(AXES):
        at.sizes[axis] = cnp.PyArray_DIM(x, axis - AXES + rank + 1) if axis >= AXES - rank else 1
        at.counts[axis] = cnp.PyArray_DIM(out, axis - AXES + rank + 1) if axis >= AXES - rank else 1
    cdef Py_ssize_t planes = cnp.PyArray_DIM(x, 0)
    cdef void *source = cnp.PyArray_DATA(x)
    cdef void *to = cnp.PyArray_DATA(out)
    cdef int64_t *index = <int64_t *> cnp.PyArray_DATA(places)
    with nogil:
        if number == cnp.NPY_FLOAT32:
            pool_planes(&at, <const float *> source, <float *> to, index, planes)
        else:
            pool_planes(&at, <const double *> source, <double *> to, index, planes)


cdef void spread_plane(
    const floating *dy, const int64_t *places, floating *dx, double *sums, Py_ssize_t count, Py_ssize_t size
) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(size):
        sums[i] = 0
    for i in range(count):
        if 0 <= places[i] < size:
            sums[places[i]] += dy[i]
    for i in range(size):
        dx[i] = <floating> sums[i]


cdef void spread_planes(
    const floating *dy, const int64_t *places, floating *dx, double *sums, Py_ssize_t planes, Py_ssize_t count,
    Py_ssize_t size
) noexcept nogil:
    cdef Py_ssize_t plane
    for plane in prange(planes, schedule="static", use_threads_if=planes * (count + size) >= PARALLEL_FROM):
        spread_plane(
            dy + plane * count, places + plane * count, dx + plane * size, sums + threadid() * size, count, size
        )


def spread(cnp.ndarray dy not None, cnp.ndarray places not None, cnp.ndarray dx not None):
    """Write zeros with `dy` added at places; sums are float64, and places outside of a plane get nothing.

    Args:
        dy: float32 or float64 (planes, count).
        places: int64 (planes, count).
        dx: (planes, size) of the type of `dy`, written.

    >>> dx = np.empty((1, 3))
    >>> spread(np.array([[1.0, 2.0]]), np.array([[2, 2]]), dx); dx
    array([[0., 0., 3.]])
    """
    cdef str name = "window_maxima.spread"
    cdef int number = real_type(name, "dy", dy)
    check(name, "dy", dy, number, 2, False)
    check(name, "places", places, cnp.NPY_INT64, 2, False)
    check(name, "dx", dx, number, 2, True)
    cdef Py_ssize_t planes = cnp.PyArray_DIM(dy, 0), count = cnp.PyArray_DIM(dy, 1), size = cnp.PyArray_DIM(dx, 1)
    if (<object> dy).shape != (<object> places).shape or cnp.PyArray_DIM(dx, 0) != planes:
        raise ValueError(
            f"For '{name}', 'dy' and 'places' must have one shape and 'dx' their planes, but got "
            f"{(<object> dy).shape}, {(<object> places).shape} and {(<object> dx).shape}."
        )
    cdef cnp.ndarray scratch = np.empty(openmp.omp_get_max_threads() * size)
    cdef double *sums = <double *> cnp.PyArray_DATA(scratch)
    cdef void *given = cnp.PyArray_DATA(dy)
    cdef int64_t *index = <int64_t *> cnp.PyArray_DATA(places)
    cdef void *to = cnp.PyArray_DATA(dx)
    with nogil:
        if number == cnp.NPY_FLOAT32:
            spread_planes(<const float *> given, index, <float *> to, sums, planes, count, size)
        else:
            spread_planes(<const double *> given, index, <double *> to, sums, planes, count, size)
