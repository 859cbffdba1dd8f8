# cython: cdivision=True, boundscheck=False, wraparound=False
"""The numbers that MindSpore starts weights with: uniform and normal ones, each of which follows from its place alone.

Words are Philox's, as in `counted_numbers`, with the seed for the key and for the counter's upper half. A word makes
a uniform number by its division by 2^32, rounded; two words make two normal numbers by Box and Muller's method, of
their lower 23 bits each. MindSpore 2.10's differ by their last bits only.
"""

cimport numpy as cnp
from cython.parallel cimport prange
from libc cimport math
from libc.stdint cimport int32_t, uint32_t, uint64_t
from libc.string cimport memcpy

from arrays cimport check
from blocks cimport BLOCK, PARALLEL_FROM, block_count, block_length
from logarithm cimport normal_logarithm
from philox cimport COUNTERS, WORDS, philox
from turns cimport cosine, sine

cnp.import_array()

cdef enum:
    GROUP = WORDS * COUNTERS
    HALF = GROUP // 2
    GENERATOR_COST = 8
    FRACTION = 0x7FFFFF


cdef inline float part_of_turn(uint32_t word) noexcept nogil:
    """Return a turn from [-1/2, 1/2) that ends where the word's from [0, 1) does."""
    cdef float turn = <float> <int32_t> (word & FRACTION) * <float> 1.1920928955078125e-07
    return turn - <float> 1 if turn >= <float> 0.5 else turn


cdef inline float radius_of(uint32_t word) noexcept nogil:
    """Return sqrt(-2 ln u) of the word's u from [1e-7, 1)."""
    cdef float u = <float> <int32_t> (word & FRACTION) * <float> 1.1920928955078125e-07
    u = <float> 1e-7 if u < <float> 1e-7 else u
    return math.sqrtf(<float> -2.0 * normal_logarithm(u))


cdef void draw_group(
    Py_ssize_t place, bint normal, float scale, float origin, uint64_t seed, float *out
) noexcept nogil:
    """Draw the numbers of the group that starts at `place`."""
    cdef uint32_t words[GROUP]
    cdef float radius, turn, u
    cdef int i
    philox(<uint64_t> (place // GROUP) * COUNTERS, seed, seed, COUNTERS, words)
    if normal:
        for i in range(HALF):
            radius = radius_of(words[2 * i])
            turn = part_of_turn(words[2 * i + 1])
            out[2 * i] = radius * cosine(turn)
            out[2 * i + 1] = radius * sine(turn)
    else:
        for i in range(GROUP):
            u = <float> words[i] * <float> 2.3283064365386963e-10
            out[i] = u if u < <float> 1 else <float> 0.99999994
    for i in range(GROUP):
        out[i] = out[i] * scale + origin


cdef void draw_block(
    float *out, Py_ssize_t place, Py_ssize_t size, bint normal, float scale, float origin, uint64_t seed
) noexcept nogil:
    """Draw the numbers of places `place` to `place + size`; `out` is the first one's."""
    cdef float rest[GROUP]
    cdef Py_ssize_t index, start
    for index in range(block_count(size, GROUP)):
        start = index * GROUP
        if size - start >= GROUP:
            draw_group(place + start, normal, scale, origin, seed, out + start)
        else:
            draw_group(place + start, normal, scale, origin, seed, rest)
            memcpy(out + start, rest, (size - start) * sizeof(float))


cdef int draw_into(
    str kernel, cnp.ndarray out, bint normal, double scale, double origin, object seed, Py_ssize_t first
) except -1:
    """Check the arguments that both laws have, and draw."""
    cdef Py_ssize_t size = cnp.PyArray_SIZE(out)
    cdef Py_ssize_t block
    cdef float *to = <float *> cnp.PyArray_DATA(out)
    cdef uint64_t bits
    check(kernel, "out", out, cnp.NPY_FLOAT32, -1, True)
    if first < 0 or first % GROUP:
        raise ValueError(f"For '{kernel}', 'first' must be a multiple of {<int> GROUP}, but got {first}.")
    if not isinstance(seed, int):
        raise TypeError(f"For '{kernel}', 'seed' must be an int, but got {type(seed).__name__}.")
    if not 0 <= seed < 1 << 64:
        raise ValueError(f"For '{kernel}', 'seed' must be in [0, 2**64), but got {seed}.")
    bits = seed
    with nogil:
        for block in prange(
            block_count(size, BLOCK),
            schedule="static",
            use_threads_if=size * GENERATOR_COST >= PARALLEL_FROM,
        ):
            draw_block(
                to + block * BLOCK, first + block * BLOCK, block_length(block, size, BLOCK), normal, scale, origin, bits
            )
    return 0


def uniform(cnp.ndarray out not None, seed, double low=0, double high=1, Py_ssize_t first=0):
    """Fill `out` evenly from [low, high); a sum may be rounded to `high`.

    Args:
        out: float32, C-contiguous.
        seed: 64 bits.
        low, high: the limits.
        first: the place of the first element in a longer array, a multiple of 256.

    >>> out = np.empty(2, np.float32)
    >>> uniform(out, 1)
    >>> out
    array([0.02745223, 0.25980213], dtype=float32)
    """
    draw_into("uniform", out, False, high - low, low, seed, first)


def normal(cnp.ndarray out not None, seed, double mean=0, double deviation=1, Py_ssize_t first=0):
    """Fill `out` with normal numbers.

    Args:
        out, seed, first: as for `uniform`.
        mean, deviation: of the distribution.

    >>> out = np.empty(2, np.float32)
    >>> normal(out, 1)
    >>> out.round(4)
    array([2.3878, 0.2818], dtype=float32)
    """
    draw_into("normal", out, True, deviation, mean, seed, first)
