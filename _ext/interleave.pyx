# cython: cdivision=True, boundscheck=False, wraparound=False
"""Planes to interleaved numbers: the transpose of a matrix with few rows."""

cimport numpy as cnp
from cython.parallel cimport prange
from libc.stdint cimport uint16_t, uint32_t

from arrays cimport check_memory
from blocks cimport BLOCK, PARALLEL_FROM, block_count, block_length

cnp.import_array()

ctypedef fused word:
    uint16_t
    uint32_t


cdef void interleave_block(
    const word *planes, Py_ssize_t count, Py_ssize_t size, Py_ssize_t first, Py_ssize_t length,
    word *out
) noexcept nogil:
    cdef Py_ssize_t i, plane
    for plane in range(count):
        for i in range(first, first + length):
            out[i * count + plane] = planes[plane * size + i]


cdef void interleave_all(
    const word *planes, Py_ssize_t count, Py_ssize_t size, word *out
) noexcept nogil:
    cdef Py_ssize_t length = max(BLOCK // count, 1)
    cdef Py_ssize_t blocks = block_count(size, length)
    cdef Py_ssize_t block
    for block in prange(blocks, schedule="static", use_threads_if=size * count >= PARALLEL_FROM):
        interleave_block(
            planes, count, size, block * length, block_length(block, size, length), out
        )


def interleave(cnp.ndarray planes not None, cnp.ndarray out not None):
    """Write ``out[..., k] = planes[k, ...]``: contiguous arrays of one type of 2 or 4 bytes.

    >>> import numpy as np
    >>> out = np.empty((3, 2), np.float32)
    >>> interleave(np.arange(6, dtype=np.float32).reshape(2, 3), out)
    >>> out
    array([[0., 3.],
           [1., 4.],
           [2., 5.]], dtype=float32)
    """
    cdef str kernel = "interleave"
    cdef Py_ssize_t count
    if planes.dtype != out.dtype or cnp.PyArray_ITEMSIZE(planes) not in (2, 4):
        raise TypeError(
            f"For '{kernel}', 'planes' and 'out' must have one type of 2 or 4 bytes, but got "
            f"{planes.dtype} and {out.dtype}."
        )
    shape = (<object> planes).shape
    if cnp.PyArray_NDIM(planes) < 1 or (<object> out).shape != (*shape[1:], shape[0]):
        raise ValueError(
            f"For '{kernel}', 'out' must have the shape of 'planes' {shape} with its first "
            f"dimension last, but got {(<object> out).shape}."
        )
    if not (cnp.PyArray_IS_C_CONTIGUOUS(planes) and cnp.PyArray_IS_C_CONTIGUOUS(out)):
        raise ValueError(f"For '{kernel}', 'planes' and 'out' must be C-contiguous; copy them.")
    check_memory(kernel, "planes", planes, False)
    check_memory(kernel, "out", out, True)
    count = cnp.PyArray_DIM(planes, 0)
    if cnp.PyArray_SIZE(planes) == 0:
        return
    cdef Py_ssize_t size = cnp.PyArray_SIZE(planes) // count
    cdef const void *source = cnp.PyArray_DATA(planes)
    cdef void *target = cnp.PyArray_DATA(out)
    cdef bint is_short = cnp.PyArray_ITEMSIZE(planes) == 2
    with nogil:
        if is_short:
            interleave_all(<const uint16_t *> source, count, size, <uint16_t *> target)
        else:
            interleave_all(<const uint32_t *> source, count, size, <uint32_t *> target)
