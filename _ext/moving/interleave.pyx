# cython: cdivision=True, boundscheck=False, wraparound=False
"""Planes to interleaved numbers and back: transposes of matrices with few rows or columns."""

cimport numpy as cnp
from cython.parallel cimport prange
from libc.stdint cimport uint16_t, uint32_t

from arrays cimport check
from blocks cimport BLOCK, PARALLEL_FROM, block_count, block_length

cnp.import_array()

ctypedef fused word:
    uint16_t
    uint32_t


cdef void interleave_block(
    const word *planes, Py_ssize_t count, Py_ssize_t size, Py_ssize_t first, Py_ssize_t length,
    word *out
) noexcept nogil:
    """Interleave the numbers from `first` of all planes; the longer side is the inner loop."""
    cdef Py_ssize_t i, plane
    if count <= length:
        for plane in range(count):
            for i in range(first, first + length):
                out[i * count + plane] = planes[plane * size + i]
    else:
        for i in range(first, first + length):
            for plane in range(count):
                out[i * count + plane] = planes[plane * size + i]


cdef void interleave_all(
    const word *planes, Py_ssize_t groups, Py_ssize_t count, Py_ssize_t size, word *out
) noexcept nogil:
    cdef Py_ssize_t length = max(BLOCK // count, 1)
    cdef Py_ssize_t blocks = block_count(size, length)
    cdef Py_ssize_t block, group
    for block in prange(
        groups * blocks, schedule="static", use_threads_if=groups * size * count >= PARALLEL_FROM
    ):
        group = block // blocks * count * size
        interleave_block(
            planes + group, count, size, block % blocks * length,
            block_length(block % blocks, size, length), out + group
        )


def interleave(cnp.ndarray planes not None, cnp.ndarray out not None):
    """Write ``out[g, i, k] = planes[g, k, i]``: contiguous arrays of one type of 2 or 4 bytes.

    >>> import numpy as np
    >>> out = np.empty((1, 3, 2), np.float32)
    >>> interleave(np.arange(6, dtype=np.float32).reshape(1, 2, 3), out)
    >>> out[0]
    array([[0., 3.],
           [1., 4.],
           [2., 5.]], dtype=float32)
    """
    cdef str kernel = "interleave"
    cdef Py_ssize_t groups, count, size
    if planes.dtype != out.dtype or cnp.PyArray_ITEMSIZE(planes) not in (2, 4):
        raise TypeError(
            f"For '{kernel}', 'planes' and 'out' must have one type of 2 or 4 bytes, but got "
            f"{planes.dtype} and {out.dtype}."
        )
    check(kernel, "planes", planes, cnp.PyArray_TYPE(planes), 3, False)
    check(kernel, "out", out, cnp.PyArray_TYPE(out), 3, True)
    groups, count, size = (<object> planes).shape
    if (<object> out).shape != (groups, size, count):
        raise ValueError(
            f"For '{kernel}', 'out' must have shape {(groups, size, count)}, the last two of "
            f"'planes' {(<object> planes).shape} turned, but got {(<object> out).shape}."
        )
    if cnp.PyArray_SIZE(planes) == 0:
        return
    cdef const void *source = cnp.PyArray_DATA(planes)
    cdef void *target = cnp.PyArray_DATA(out)
    cdef bint is_short = cnp.PyArray_ITEMSIZE(planes) == 2
    with nogil:
        if is_short:
            interleave_all(
                <const uint16_t *> source, groups, count, size, <uint16_t *> target
            )
        else:
            interleave_all(
                <const uint32_t *> source, groups, count, size, <uint32_t *> target
            )
