# cython: cdivision=True, boundscheck=False, wraparound=False
"""Uniform and normal numbers and integers by Philox, each of which follows from its place alone.

Philox's key is the seed; its counter is the number of a group of four words, and the offset. The words of a block of
256 make the numbers of a block of 256 in float32 and of 128 in float64 and of integers. So the numbers are the same
for any number of threads, and a part of an array gets what it would get within the whole.
"""

cimport numpy as cnp
from cython cimport floating
from cython.parallel cimport prange
from libc cimport math
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memcpy

from arrays cimport check, real_type
from blocks cimport BLOCK, PARALLEL_FROM, block_count, block_length
from logarithm cimport normal_logarithm
from philox cimport COUNTERS, WORDS, philox
from turns cimport cosine, sine

cnp.import_array()

cdef enum:
    GROUP = WORDS * COUNTERS
    HALF = GROUP // 2
    GENERATOR_COST = 8

cdef double TWO_PI = 6.283185307179586


ctypedef enum Kind:
    UNIFORM
    NORMAL


ctypedef struct Law:
    # What is drawn: uniform from [0, 1) or standard normal, times `scale`, plus `origin`.
    Kind kind
    double scale
    double origin
    uint64_t seed
    uint64_t offset


cdef inline float unit_float(uint32_t word) noexcept nogil:
    """Return a number from [0, 1)."""
    return <float> <int32_t> (word >> 8) * <float> 5.9604644775390625e-08


cdef inline double unit_double(uint32_t high, uint32_t low) noexcept nogil:
    """Return a number from [0, 1) with 53 bits."""
    return (<double> (high >> 5) * 67108864.0 + <double> (low >> 6)) * 1.1102230246251565e-16


cdef inline float radius_of(uint32_t word) noexcept nogil:
    """Return sqrt(-2 ln u) of a u from (0, 1] that the word makes."""
    cdef float u = <float> <int32_t> (word >> 1) * <float> 4.656612873077393e-10 + <float> 2.3283064365386963e-10
    return math.sqrtf(<float> -2.0 * normal_logarithm(u))


cdef inline float turn_of(uint32_t word) noexcept nogil:
    """Return a number from [-1/2, 1/2]."""
    return <float> <int32_t> word * <float> 2.3283064365386963e-10


cdef inline int group_of(floating *unused) noexcept nogil:
    """Return how many numbers of a type a group of words makes."""
    return GROUP if floating is float else HALF


cdef void normal_group(const uint32_t *words, floating *out) noexcept nogil:
    """Make standard normal numbers of a group of words, by Box and Muller's method."""
    cdef int i
    cdef double radius, angle
    if floating is float:
        for i in range(HALF):
            out[i] = radius_of(words[i])
        for i in range(HALF):
            out[i + HALF] = out[i] * sine(turn_of(words[i + HALF]))
            out[i] = out[i] * cosine(turn_of(words[i + HALF]))
    else:
        for i in range(HALF // 2):
            radius = math.sqrt(-2 * math.log(1 - unit_double(words[4 * i], words[4 * i + 1])))
            angle = TWO_PI * unit_double(words[4 * i + 2], words[4 * i + 3])
            out[2 * i] = radius * math.cos(angle)
            out[2 * i + 1] = radius * math.sin(angle)


cdef void draw_group(Py_ssize_t place, const Law *law, floating *out) noexcept nogil:
    """Draw the numbers of the group that starts at `place`."""
    cdef uint32_t words[GROUP]
    cdef int i, count = group_of(out)
    cdef floating scale = <floating> law.scale
    cdef floating origin = <floating> law.origin
    philox(<uint64_t> (place // count) * COUNTERS, law.offset, law.seed, COUNTERS, words)
    if law.kind == UNIFORM:
        for i in range(count):
            if floating is float:
                out[i] = unit_float(words[i])
            else:
                out[i] = unit_double(words[2 * i], words[2 * i + 1])
    else:
        normal_group(words, out)
    for i in range(count):
        out[i] = out[i] * scale + origin


cdef void draw_block(floating *out, Py_ssize_t place, Py_ssize_t size, const Law *law) noexcept nogil:
    """Draw the numbers of places `place` to `place + size`; `out` is the first one's."""
    cdef floating rest[GROUP]
    cdef Py_ssize_t index, start
    cdef int count = group_of(out)
    for index in range(block_count(size, count)):
        start = index * count
        if size - start >= count:
            draw_group(place + start, law, out + start)
        else:
            draw_group(place + start, law, <floating *> rest)
            memcpy(out + start, rest, (size - start) * sizeof(floating))


cdef void draw(floating *out, Py_ssize_t first, Py_ssize_t size, const Law *law) noexcept nogil:
    cdef Py_ssize_t block
    for block in prange(
        block_count(size, BLOCK),
        schedule="static",
        use_threads_if=size * GENERATOR_COST >= PARALLEL_FROM,
    ):
        draw_block(out + block * BLOCK, first + block * BLOCK, block_length(block, size, BLOCK), law)


cdef uint64_t unsigned(str kernel, str name, object value) except? 0:
    """Return a Python int as 64 bits, or raise."""
    if not isinstance(value, int):
        raise TypeError(f"For '{kernel}', '{name}' must be an int, but got {type(value).__name__}.")
    if not 0 <= value < 1 << 64:
        raise ValueError(f"For '{kernel}', '{name}' must be in [0, 2**64), but got {value}.")
    return value


cdef int draw_into(str kernel, cnp.ndarray out, Law *law, object seed, object offset, Py_ssize_t first) except -1:
    """Check the arguments that all laws have, and draw."""
    cdef int number = real_type(kernel, "out", out)
    cdef Py_ssize_t size = cnp.PyArray_SIZE(out)
    cdef void *to = cnp.PyArray_DATA(out)
    check(kernel, "out", out, number, -1, True)
    if first < 0 or first % GROUP:
        raise ValueError(f"For '{kernel}', 'first' must be a multiple of {<int> GROUP}, but got {first}.")
    law.seed = unsigned(kernel, "seed", seed)
    law.offset = unsigned(kernel, "offset", offset)
    with nogil:
        if number == cnp.NPY_FLOAT32:
            draw(<float *> to, first, size, law)
        else:
            draw(<double *> to, first, size, law)
    return 0


def uniform(cnp.ndarray out not None, seed, offset=0, double low=0, double span=1, Py_ssize_t first=0):
    """Fill `out` with numbers low + span u, u evenly from [0, 1).

    Args:
        out: float32 or float64, C-contiguous.
        seed, offset: 64 bits each; every pair has numbers of its own.
        low, span: where the numbers start and how far they spread; a sum may be rounded to `low + span`.
        first: the place of the first element in a longer array, a multiple of 256.

    >>> out = np.empty(1000, np.float32)
    >>> uniform(out, 7, low=2, span=3)
    >>> bool(out.min() >= 2), bool(out.max() <= 5), bool(abs(out.mean() - 3.5) < 0.1)
    (True, True, True)
    """
    cdef Law law = Law(UNIFORM, span, low, 0, 0)
    draw_into("uniform", out, &law, seed, offset, first)


def normal(cnp.ndarray out not None, seed, offset=0, double mean=0, double deviation=1, Py_ssize_t first=0):
    """Fill `out` with normal numbers.

    Args:
        out: float32 or float64, C-contiguous.
        seed, offset, first: as for `uniform`.
        mean, deviation: of the distribution.

    >>> out = np.empty(10000)
    >>> normal(out, 7, mean=2, deviation=3)
    >>> round(float(out.mean()), 0), round(float(out.std()), 0)
    (2.0, 3.0)
    """
    cdef Law law = Law(NORMAL, deviation, mean, 0, 0)
    draw_into("normal", out, &law, seed, offset, first)


ctypedef fused integer:
    int32_t
    int64_t


cdef void draw_integers_of(
    integer *out, Py_ssize_t size, int64_t low, uint64_t span, uint64_t seed, uint64_t offset
) noexcept nogil:
    cdef Py_ssize_t block
    for block in prange(
        block_count(size, BLOCK),
        schedule="static",
        use_threads_if=size * GENERATOR_COST >= PARALLEL_FROM,
    ):
        draw_integers(
            out + block * BLOCK, block * BLOCK, block_length(block, size, BLOCK), low, span, seed, offset
        )


cdef void draw_integers(
    integer *out, Py_ssize_t place, Py_ssize_t size, int64_t low, uint64_t span, uint64_t seed, uint64_t offset
) noexcept nogil:
    """Draw a block: the upper words of the products of 64 random bits and `span`."""
    cdef uint32_t words[GROUP]
    cdef Py_ssize_t index, start, i
    cdef uint64_t lower, upper
    for index in range(block_count(size, HALF)):
        start = index * HALF
        philox(<uint64_t> ((place + start) // HALF) * COUNTERS, offset, seed, COUNTERS, words)
        for i in range(block_length(index, size, HALF)):
            lower = <uint64_t> words[2 * i] * span
            upper = <uint64_t> words[2 * i + 1] * span
            out[start + i] = <integer> (low + <int64_t> ((upper + (lower >> 32)) >> 32))


def integers(cnp.ndarray out not None, int64_t low, span, seed, offset=0):
    """Fill `out` with integers from low to low + span - 1, all equally likely (to 2^-32 of their chance).

    Args:
        out: int32 or int64, C-contiguous; its type must hold all of them.
        low: the smallest integer.
        span: how many integers there are, 1 to 2**32 - 1.
        seed, offset: as for `uniform`.

    >>> out = np.empty(1000, np.int64)
    >>> integers(out, 3, 4, 7)
    >>> np.unique(out)
    array([3, 4, 5, 6])
    """
    cdef int number = cnp.NPY_INT32 if cnp.PyArray_TYPE(out) == cnp.NPY_INT32 else cnp.NPY_INT64
    cdef Py_ssize_t size = cnp.PyArray_SIZE(out)
    cdef void *to = cnp.PyArray_DATA(out)
    cdef uint64_t count = unsigned("integers", "span", span)
    cdef uint64_t seed_bits = unsigned("integers", "seed", seed)
    cdef uint64_t offset_bits = unsigned("integers", "offset", offset)
    check("integers", "out", out, number, -1, True)
    if not 1 <= span < 1 << 32:
        raise ValueError(f"For 'integers', 'span' must be in [1, 2**32 - 1], but got {span}.")
    with nogil:
        if number == cnp.NPY_INT32:
            draw_integers_of(<int32_t *> to, size, low, count, seed_bits, offset_bits)
        else:
            draw_integers_of(<int64_t *> to, size, low, count, seed_bits, offset_bits)


def permutation(cnp.ndarray out not None, seed, offset=0):
    """Fill `out` with the integers from 0 on in random order, all orders equally likely as far as `integers` are.

    Args:
        out: int64, C-contiguous, of at most 2**32 - 1 elements.
        seed, offset: as for `uniform`.

    >>> out = np.empty(8, np.int64)
    >>> permutation(out, 7)
    >>> np.sort(out)
    array([0, 1, 2, 3, 4, 5, 6, 7])
    """
    cdef uint32_t words[GROUP]
    cdef Py_ssize_t size = cnp.PyArray_SIZE(out), index, start, i, place
    cdef int64_t *to = <int64_t *> cnp.PyArray_DATA(out)
    cdef uint64_t seed_bits = unsigned("permutation", "seed", seed)
    cdef uint64_t offset_bits = unsigned("permutation", "offset", offset)
    cdef uint64_t lower, upper
    check("permutation", "out", out, cnp.NPY_INT64, 1, True)
    if size >= <int64_t> 1 << 32:
        raise ValueError(f"For 'permutation', 'out' must have at most 2**32 - 1 elements, but got {size}.")
    with nogil:
        for index in range(block_count(size, HALF)):
            start = index * HALF
            philox(<uint64_t> index * COUNTERS, offset_bits, seed_bits, COUNTERS, words)
            for i in range(block_length(index, size, HALF)):
                # The newcomer takes one of the places so far, its own among them; who was there moves to its own.
                lower = <uint64_t> words[2 * i] * <uint64_t> (start + i + 1)
                upper = <uint64_t> words[2 * i + 1] * <uint64_t> (start + i + 1)
                place = <Py_ssize_t> ((upper + (lower >> 32)) >> 32)
                to[start + i] = to[place]
                to[place] = start + i
