# cython: cdivision=True
"""Arrays of one number and of numbers at equal distances, written on all threads."""

cimport numpy as cnp
from cython cimport floating
from cython.parallel cimport prange
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy, memset

from arrays cimport check_memory, is_dense, type_name
from blocks cimport BLOCK, PARALLEL_FROM, block_count, block_length

cnp.import_array()

cdef enum:
    # Bytes that a thread writes at a time, and from which on two do.
    BLOCK_BYTES = 65536
    PARALLEL_FROM_BYTES = 131072
    LARGEST_ITEM = 16


cdef void write_words(uint64_t *out, uint64_t first, uint64_t second, Py_ssize_t size) noexcept nogil:
    """Write a pattern of 16 bytes so many bytes long."""
    cdef Py_ssize_t i
    cdef uint64_t[2] last
    if first == second and first == (first >> 8 | first << 56):
        memset(out, <int> (first & 0xFF), size)
        return
    if first == second:
        for i in range(size // 8):
            out[i] = first
    else:
        for i in range(size // 16):
            out[2 * i] = first
            out[2 * i + 1] = second
    last[0], last[1] = first, second
    memcpy(<char *> out + size // 16 * 16, last, size % 16)


def fill(cnp.ndarray out not None, cnp.ndarray value not None):
    """Write one number to every element of `out`.

    Args:
        out: an array whose elements fill one piece of memory, up to 16 bytes each.
        value: an array of one element of the same type.

    Raises:
        TypeError: for another type.
        ValueError: for an array with gaps, a read-only one, or a value that is not one element.

    >>> out = np.empty((2, 2), np.int16)
    >>> fill(out, np.array(7, np.int16))
    >>> out
    array([[7, 7],
           [7, 7]], dtype=int16)
    """
    cdef char[LARGEST_ITEM] pattern
    cdef uint64_t[2] words
    cdef Py_ssize_t i, item = cnp.PyArray_ITEMSIZE(out), size = cnp.PyArray_NBYTES(out)
    cdef char *start = <char *> cnp.PyArray_DATA(out)
    check_memory("fill", "out", out, True)
    check_memory("fill", "value", value, False)
    if cnp.PyArray_DESCR(out) != cnp.PyArray_DESCR(value) and (<object> out).dtype != (<object> value).dtype:
        raise TypeError(f"For 'fill', 'value' must be {type_name(out)}, but got {type_name(value)}.")
    if cnp.PyArray_TYPE(out) == cnp.NPY_OBJECT or item == 0 or LARGEST_ITEM % item:
        raise TypeError(f"For 'fill', 'out' must hold numbers, but got {type_name(out)}.")
    if cnp.PyArray_SIZE(value) != 1:
        raise ValueError(f"For 'fill', 'value' must be one element, but got {cnp.PyArray_SIZE(value)}.")
    if not is_dense(out):
        raise ValueError("For 'fill', 'out' must fill one piece of memory, but got an array with gaps.")
    for i in range(LARGEST_ITEM // item):
        memcpy(pattern + i * item, cnp.PyArray_DATA(value), item)
    memcpy(words, pattern, LARGEST_ITEM)
    with nogil:
        for i in prange(
            block_count(size, BLOCK_BYTES), schedule="static", use_threads_if=size >= PARALLEL_FROM_BYTES
        ):
            write_words(
                <uint64_t *> (start + i * BLOCK_BYTES), words[0], words[1], block_length(i, size, BLOCK_BYTES)
            )


cdef void float_steps(floating *out, double start, double step, Py_ssize_t first, int count) noexcept nogil:
    """Write start + step i for i from `first` on, computed in float64."""
    cdef double base = <double> first
    cdef int i
    for i in range(count):
        out[i] = <floating> (start + step * (base + <double> i))


cdef void whole_steps(int64_t *out, int64_t start, int64_t step, Py_ssize_t first, int count) noexcept nogil:
    """Write start + step i for i from `first` on, wrapped around."""
    cdef uint64_t at = <uint64_t> start + <uint64_t> step * <uint64_t> first
    cdef int i
    for i in range(count):
        out[i] = <int64_t> (at + <uint64_t> step * <uint64_t> i)


def progression(cnp.ndarray out not None, start, step):
    """Write start + step i at place i: float32 and float64 computed in float64 and rounded once, or int64.

    Raises:
        TypeError: for another type.
        ValueError: for an array that is not C-contiguous, or read-only.

    >>> out = np.empty(3, np.float32)
    >>> progression(out, 0.5, 2)
    >>> out
    array([0.5, 2.5, 4.5], dtype=float32)
    """
    cdef int number = cnp.PyArray_TYPE(out)
    cdef Py_ssize_t block, size = cnp.PyArray_SIZE(out)
    cdef char *place = <char *> cnp.PyArray_DATA(out)
    cdef double real_start = 0, real_step = 0
    cdef int64_t whole_start = 0, whole_step = 0
    check_memory("progression", "out", out, True)
    if not cnp.PyArray_IS_C_CONTIGUOUS(out):
        raise ValueError("For 'progression', 'out' must be C-contiguous, but got an array with other strides.")
    if number == cnp.NPY_INT64:
        whole_start, whole_step = start, step
    elif number == cnp.NPY_FLOAT32 or number == cnp.NPY_FLOAT64:
        real_start, real_step = start, step
    else:
        raise TypeError(f"For 'progression', 'out' must be float32, float64 or int64, but got {type_name(out)}.")
    with nogil:
        for block in prange(block_count(size, BLOCK), schedule="static", use_threads_if=size >= PARALLEL_FROM):
            if number == cnp.NPY_INT64:
                whole_steps(
                    <int64_t *> place + block * BLOCK, whole_start, whole_step, block * BLOCK,
                    <int> block_length(block, size, BLOCK),
                )
            elif number == cnp.NPY_FLOAT32:
                float_steps(
                    <float *> place + block * BLOCK, real_start, real_step, block * BLOCK,
                    <int> block_length(block, size, BLOCK),
                )
            else:
                float_steps(
                    <double *> place + block * BLOCK, real_start, real_step, block * BLOCK,
                    <int> block_length(block, size, BLOCK),
                )
