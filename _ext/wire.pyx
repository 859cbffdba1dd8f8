# cython: cdivision=True, boundscheck=False, wraparound=False
"""Gradients in 16 bits: rounded, added in float32, and widened again.

Arrays are flat and C-contiguous. 16-bit floats come as uint16; `half` says whether they are float16
(True) or bfloat16 (False).
"""

cimport numpy as cnp
from cython.parallel cimport prange
from libc.stdint cimport uint16_t

from arrays cimport check
from bfloat16 cimport bf16_load, bf16_store
from blocks cimport BLOCK, PARALLEL_FROM, block_count, block_length

cnp.import_array()

cdef extern from *:
    """
    static inline unsigned short half_store(float x) {
        _Float16 half = (_Float16) x;
        unsigned short bits;
        __builtin_memcpy(&bits, &half, 2);
        return bits;
    }
    static inline float half_load(unsigned short bits) {
        _Float16 half;
        __builtin_memcpy(&half, &bits, 2);
        return (float) half;
    }
    """
    uint16_t half_store(float x) noexcept nogil
    float half_load(uint16_t bits) noexcept nogil


cdef void narrow_block(const float *x, uint16_t *out, Py_ssize_t size, bint half) noexcept nogil:
    """Round one block to the nearest 16-bit float, ties to even."""
    cdef Py_ssize_t i
    if half:
        for i in range(size):
            out[i] = half_store(x[i])
    else:
        for i in range(size):
            out[i] = bf16_store(x[i])


cdef void add_block(
    const uint16_t *parts, Py_ssize_t stride, Py_ssize_t number, float *out, Py_ssize_t size, bint half
) noexcept nogil:
    """Write the sum of several arrays' blocks, added in their order."""
    cdef Py_ssize_t i, part
    for part in range(number):
        if half:
            for i in range(size):
                out[i] = half_load(parts[part * stride + i]) + (out[i] if part else 0)
        else:
            for i in range(size):
                out[i] = bf16_load(parts[part * stride + i]) + (out[i] if part else 0)


def narrow(cnp.ndarray x, cnp.ndarray out, bint half):
    """Round float32 `x` to 16 bits in `out`, of the same length: float16 if `half`, else bfloat16.

    >>> out = np.empty(2, np.uint16)
    >>> narrow(np.array([1.0, -2.0], np.float32), out, True)
    >>> out.view(np.float16)
    array([ 1., -2.], dtype=float16)
    """
    cdef Py_ssize_t size = cnp.PyArray_SIZE(x), block
    check("narrow", "x", x, cnp.NPY_FLOAT32, 1, False)
    check("narrow", "out", out, cnp.NPY_UINT16, 1, True)
    if cnp.PyArray_SIZE(out) != size:
        raise ValueError(f"For 'narrow', 'out' must have {size} elements, but got {cnp.PyArray_SIZE(out)}.")
    cdef const float *source = <const float *> cnp.PyArray_DATA(x)
    cdef uint16_t *to = <uint16_t *> cnp.PyArray_DATA(out)
    with nogil:
        for block in prange(block_count(size, BLOCK), schedule="static", use_threads_if=size >= PARALLEL_FROM):
            narrow_block(source + block * BLOCK, to + block * BLOCK, block_length(block, size, BLOCK), half)


def add(cnp.ndarray parts, cnp.ndarray out, bint half):
    """Write the sum over the rows of `parts`, (number, size) of 16-bit floats, to float32 `out`, (size,).

    Row after row is added in float32; one row is merely widened.

    >>> parts = np.array([[1.0, 2.0], [3.0, 4.0]], np.float16)
    >>> out = np.empty(2, np.float32)
    >>> add(parts.view(np.uint16), out, True)
    >>> out
    array([4., 6.], dtype=float32)
    """
    cdef Py_ssize_t size = cnp.PyArray_SIZE(out), block, number
    check("add", "parts", parts, cnp.NPY_UINT16, 2, False)
    check("add", "out", out, cnp.NPY_FLOAT32, 1, True)
    number = cnp.PyArray_DIM(parts, 0)
    if cnp.PyArray_DIM(parts, 1) != size or number == 0:
        raise ValueError(
            f"For 'add', 'parts' must have 1 or more rows of {size} elements, but got shape {(<object> parts).shape}."
        )
    cdef const uint16_t *source = <const uint16_t *> cnp.PyArray_DATA(parts)
    cdef float *to = <float *> cnp.PyArray_DATA(out)
    with nogil:
        for block in prange(block_count(size, BLOCK), schedule="static", use_threads_if=size >= PARALLEL_FROM):
            add_block(
                source + block * BLOCK, size, number, to + block * BLOCK, block_length(block, size, BLOCK), half
            )
