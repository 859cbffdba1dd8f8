# cython: cdivision=True, boundscheck=False, wraparound=False
"""Dropout with a counter-based generator, so that every element's fate can be computed alone.

Philox's key is the seed; its counter is element index // 4, and the offset. Each counter gives the
four words of four neighbouring elements.
"""

cimport numpy as cnp
from cython cimport floating
from cython.parallel cimport prange
from libc.stdint cimport uint8_t, uint32_t, uint64_t

from arrays cimport check, check_same_shape, real_type
from blocks cimport BLOCK, PARALLEL_FROM, block_count, block_length
from philox cimport COUNTERS, WORDS, last_kept_of, philox

cnp.import_array()

cdef enum:
    GENERATOR_COST = 8


cdef void dropout_block(
    const floating *x,
    floating *out,
    uint8_t *mask,
    Py_ssize_t first,
    Py_ssize_t size,
    uint32_t last_kept,
    floating scale,
    uint64_t seed,
    uint64_t offset,
) noexcept nogil:
    """Drop elements `first` to `first + size`, whose pointers start at `first` already."""
    cdef uint32_t words[WORDS * COUNTERS]
    cdef floating scaled
    cdef Py_ssize_t index, start, i, length
    for index in range(block_count(size, WORDS * COUNTERS)):
        start = index * WORDS * COUNTERS
        philox(<uint64_t> (first + start) // WORDS, offset, seed, COUNTERS, words)
        length = block_length(index, size, WORDS * COUNTERS)
        for i in range(length):
            mask[start + i] = words[i] <= last_kept
        for i in range(length):
            scaled = x[start + i] * scale
            out[start + i] = scaled if words[i] <= last_kept else 0


cdef void dropout_blocks(
    const floating *x,
    floating *out,
    uint8_t *mask,
    Py_ssize_t size,
    uint32_t last_kept,
    floating scale,
    uint64_t seed,
    uint64_t offset,
) noexcept nogil:
    cdef Py_ssize_t block
    for block in prange(
        block_count(size, BLOCK),
        schedule="static",
        use_threads_if=size * GENERATOR_COST >= PARALLEL_FROM,
    ):
        dropout_block(
            x + block * BLOCK,
            out + block * BLOCK,
            mask + block * BLOCK,
            block * BLOCK,
            block_length(block, size, BLOCK),
            last_kept,
            scale,
            seed,
            offset,
        )


cdef uint64_t unsigned(str name, object value) except? 0:
    """Return a Python int as 64 bits, or raise."""
    if not isinstance(value, int):
        raise TypeError(f"For 'dropout', '{name}' must be an int, but got {type(value).__name__}.")
    if not 0 <= value < 1 << 64:
        raise ValueError(f"For 'dropout', '{name}' must be in [0, 2**64), but got {value}.")
    return value


def dropout(
    cnp.ndarray x not None,
    cnp.ndarray out not None,
    cnp.ndarray mask not None,
    double keep_prob,
    seed,
    offset,
):
    """Keep each element with probability `keep_prob` and divide it by that, else write 0.

    All arrays are C-contiguous and of one shape; `mask` is uint8 and becomes 1 where the element
    is kept. Element i depends on (seed, offset, i) only: give each call of a run another offset.

    >>> out, mask = np.empty(8), np.empty(8, np.uint8)
    >>> dropout(np.ones(8), out, mask, 0.5, 3, 0)
    >>> mask
    array([0, 1, 0, 0, 1, 0, 1, 0], dtype=uint8)
    >>> out
    array([0., 2., 0., 0., 2., 0., 2., 0.])
    """
    cdef int number = real_type("dropout", "x", x)
    check("dropout", "x", x, number, -1, False)
    check("dropout", "out", out, number, -1, True)
    check_same_shape("dropout", "out", out, "x", x)
    check("dropout", "mask", mask, cnp.NPY_UINT8, -1, True)
    check_same_shape("dropout", "mask", mask, "x", x)
    if not 0 < keep_prob <= 1:
        raise ValueError(f"For 'dropout', 'keep_prob' must be in (0, 1], but got {keep_prob}.")
    cdef uint64_t seed_bits = unsigned("seed", seed)
    cdef uint64_t offset_bits = unsigned("offset", offset)
    cdef uint32_t last_kept = last_kept_of(keep_prob)
    cdef Py_ssize_t size = cnp.PyArray_SIZE(x)
    cdef void *from_x = cnp.PyArray_DATA(x)
    cdef void *to = cnp.PyArray_DATA(out)
    cdef uint8_t *mask_data = <uint8_t *> cnp.PyArray_DATA(mask)
    with nogil:
        if number == cnp.NPY_FLOAT32:
            dropout_blocks(
                <const float *> from_x, <float *> to, mask_data, size, last_kept,
                <float> (1 / keep_prob), seed_bits, offset_bits,
            )
        else:
            dropout_blocks(
                <const double *> from_x, <double *> to, mask_data, size, last_kept,
                1 / keep_prob, seed_bits, offset_bits,
            )
