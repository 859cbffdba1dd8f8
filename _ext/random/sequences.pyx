# cython: cdivision=True, boundscheck=False, wraparound=False
"""Sequences of the C++ standard library's generators, and the ways it makes numbers of their words.

Matsumoto and Nishimura's mt19937 and Park and Miller's minimal standard generator. Whatever is drawn, no word is used
up that one draw after the other would not have used. No multiplication and addition may be joined here: MindSpore's
numbers come from a build that does not, and whether a point is in the circle decides over all that follow.
"""

cimport numpy as cnp
from cython.parallel cimport prange
from libc cimport math
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc

from arrays cimport check
from blocks cimport PARALLEL_FROM, block_count, block_length
from logarithm cimport normal_logarithm

cnp.import_array()

cdef enum:
    LENGTH = 624  # words of the Mersenne twister's state
    SHIFT = 397
    MODULUS = 0x7FFFFFFF
    FACTOR = 16807
    ROWS = 1 << 15  # drawn at a time: their words stay in the L2 cache
    PARTS = 16  # of these rows; one thread looks through a part at a time
    PART = 1 << 11
    STREAMS = 16  # neighbouring words that are computed side by side


cdef class Engine:
    """A sequence of words from 0 to `top`."""

    cdef readonly uint64_t top

    cdef void take(self, uint32_t *words, Py_ssize_t count) noexcept nogil:
        """Write the next words."""

    cdef inline uint32_t word(self) noexcept nogil:
        cdef uint32_t one
        self.take(&one, 1)
        return one

    cdef inline double unit(self) noexcept nogil:
        """Return the next number from [0, 1) with 53 bits."""
        cdef uint32_t both[2]
        self.take(both, 2)
        return unit_of(both[0], both[1], <double> (self.top + 1))

    def words(self, cnp.ndarray out not None):
        """Write the next words into `out`, uint32 and C-contiguous.

        >>> out = np.empty(2, np.uint32)
        >>> MersenneTwister(5489).words(out); out
        array([3499211612,  581869302], dtype=uint32)
        """
        check("words", "out", out, cnp.NPY_UINT32, -1, True)
        cdef uint32_t *to = <uint32_t *> cnp.PyArray_DATA(out)
        cdef Py_ssize_t count = cnp.PyArray_SIZE(out)
        with nogil:
            self.take(to, count)

    def doubles(self, cnp.ndarray out not None):
        """Fill `out`, float64 and C-contiguous, with numbers from [0, 1) of 53 bits, each of two words.

        >>> out = np.empty(1)
        >>> MinimalStandard(1).doubles(out); out
        array([0.13153779])
        """
        check("doubles", "out", out, cnp.NPY_FLOAT64, -1, True)
        self.units(NULL, <double *> cnp.PyArray_DATA(out), cnp.PyArray_SIZE(out))

    def rounded(self, cnp.ndarray out not None):
        """Fill `out`, float32 and C-contiguous, with numbers from [0, 1) that are rounded from 53 bits.

        >>> out = np.empty(1, np.float32)
        >>> MinimalStandard(1).rounded(out); out
        array([0.1315378], dtype=float32)
        """
        check("rounded", "out", out, cnp.NPY_FLOAT32, -1, True)
        self.units(<float *> cnp.PyArray_DATA(out), NULL, cnp.PyArray_SIZE(out))

    cdef int units(self, float *narrow, double *wide, Py_ssize_t count) except -1:
        """Write numbers of two words each as float32 or float64."""
        cdef double span = <double> (self.top + 1)
        cdef uint32_t *words = <uint32_t *> malloc(2 * min(ROWS, count) * sizeof(uint32_t))
        cdef Py_ssize_t index, begin, part, parts, size
        if words == NULL and count:
            raise MemoryError
        with nogil:
            for index in range(block_count(count, ROWS)):
                begin = index * ROWS
                size = block_length(index, count, ROWS)
                self.take(words, 2 * size)
                parts = block_count(size, PART)
                for part in prange(parts, schedule="static", use_threads_if=size * 8 >= PARALLEL_FROM):
                    if narrow != NULL:
                        round_units(
                            words + 2 * part * PART, narrow + begin + part * PART, block_length(part, size, PART), span
                        )
                    else:
                        make_units(
                            words + 2 * part * PART, wide + begin + part * PART, block_length(part, size, PART), span
                        )
        free(words)
        return 0

    def floats(self, cnp.ndarray out not None):
        """Fill `out`, float32 and C-contiguous, with numbers from [0, 1), each of one word.

        >>> out = np.empty(1, np.float32)
        >>> MersenneTwister(1).floats(out); out
        array([0.417022], dtype=float32)
        """
        check("floats", "out", out, cnp.NPY_FLOAT32, -1, True)
        cdef float *to = <float *> cnp.PyArray_DATA(out)
        cdef Py_ssize_t i, index, begin, size, count = cnp.PyArray_SIZE(out)
        cdef float part = 1 / <float> (self.top + 1)  # a power of two
        cdef uint32_t words[PART]
        with nogil:
            for index in range(block_count(count, PART)):
                begin = index * PART
                size = block_length(index, count, PART)
                self.take(words, size)
                for i in range(size):
                    to[begin + i] = below_one(<float> words[i] * part)

    def integers(self, uint64_t span, cnp.ndarray out not None):
        """Fill `out`, int64 and C-contiguous, with equally likely integers from [0, span).

        Words of the incomplete last bucket are left out.

        >>> out = np.empty(5, np.int64)
        >>> MersenneTwister(1).integers(100, out); out
        array([41, 99, 72, 93,  0])
        """
        check("integers", "out", out, cnp.NPY_INT64, -1, True)
        self.check_span("integers", span)
        cdef int64_t *to = <int64_t *> cnp.PyArray_DATA(out)
        cdef Py_ssize_t i, size, found = 0, count = cnp.PyArray_SIZE(out)
        cdef uint32_t bucket = <uint32_t> (self.top // span)
        cdef uint32_t most = <uint32_t> (bucket * span - 1)
        cdef uint32_t words[PART]
        cdef double quotients[PART]
        with nogil:
            while found < count:
                size = min(PART, count - found)
                self.take(words, size)
                # No quotient is so near to the next integer that float64 would round it up to that.
                for i in range(size):
                    quotients[i] = <double> words[i] / <double> bucket
                if most == self.top:
                    for i in range(size):
                        to[found + i] = <int64_t> quotients[i]
                    found += size
                    continue
                for i in range(size):
                    to[found] = <int64_t> quotients[i]
                    found += words[i] <= most

    cdef int check_span(self, str kernel, uint64_t span) except -1:
        if not 1 <= span <= self.top:
            raise ValueError(f"For '{kernel}', 'span' must be in [1, {self.top}], but got {span}.")
        return 0

    cdef uint32_t below(self, uint32_t span) noexcept nogil:
        """Return an integer from [0, span)."""
        cdef uint32_t bucket = <uint32_t> self.top // span
        cdef uint32_t end = bucket * span
        cdef uint32_t one = self.word()
        while one >= end:
            one = self.word()
        return one // bucket

    def permutation(self, cnp.ndarray out not None):
        """Fill `out`, int64 and C-contiguous, with the integers from 0 on in random order.

        Swaps from the front, two from one draw as long as a word suffices for both.

        >>> out = np.empty(8, np.int64)
        >>> MersenneTwister(1).permutation(out); out
        array([1, 0, 2, 5, 7, 4, 6, 3])
        """
        check("permutation", "out", out, cnp.NPY_INT64, 1, True)
        cdef int64_t *to = <int64_t *> cnp.PyArray_DATA(out)
        cdef uint64_t place = 1, count = cnp.PyArray_SIZE(out)
        cdef uint32_t both, span
        if count > self.top:
            raise ValueError(f"For 'permutation', 'out' must have at most {self.top} elements, but got {count}.")
        with nogil:
            for place in range(count):
                to[place] = place
            place = 1
            if count > 1 and count % 2 == 0:
                swap(to, 1, self.below(2))
                place = 2
            if count and self.top // count >= count:
                while place < count:
                    span = <uint32_t> (place + 2)
                    both = self.below(<uint32_t> (place + 1) * span)
                    swap(to, place, both // span)
                    swap(to, place + 1, both % span)
                    place += 2
            while place < count:
                swap(to, place, self.below(<uint32_t> (place + 1)))
                place += 1

    def normals(self, cnp.ndarray out not None):
        """Fill `out`, float32 and C-contiguous, with standard normal numbers.

        Marsaglia's polar method: points of the square that lie in the circle, the second number of each first.

        >>> out = np.empty(2, np.float32)
        >>> MinimalStandard(1).normals(out); out
        array([-0.2590932,  1.6015921], dtype=float32)
        """
        check("normals", "out", out, cnp.NPY_FLOAT32, -1, True)
        cdef float *to = <float *> cnp.PyArray_DATA(out)
        cdef Py_ssize_t count = cnp.PyArray_SIZE(out)
        cdef Py_ssize_t missing = (count + 1) // 2, found = 0, rows, part, parts
        cdef Py_ssize_t ends[PARTS + 1]
        cdef float unit = 1 / <float> (self.top + 1)  # a power of two
        cdef Py_ssize_t most = min(ROWS, missing)
        cdef uint32_t *words = <uint32_t *> malloc(2 * most * sizeof(uint32_t))
        cdef float *points = <float *> malloc(2 * most * sizeof(float))
        if missing and (words == NULL or points == NULL):
            free(words)
            free(points)
            raise MemoryError
        with nogil:
            while missing:
                rows = min(ROWS, missing)
                parts = block_count(rows, PART)
                self.take(words, 2 * rows)
                for part in prange(parts, schedule="static", use_threads_if=rows * 8 >= PARALLEL_FROM):
                    ends[part + 1] = points_inside(
                        words + 2 * part * PART, points + 2 * part * PART, block_length(part, rows, PART), unit
                    )
                ends[0] = found
                for part in range(parts):
                    ends[part + 1] += ends[part]
                for part in prange(parts, schedule="static", use_threads_if=rows * 8 >= PARALLEL_FROM):
                    scale_points(
                        points + 2 * part * PART,
                        to + 2 * ends[part],
                        ends[part + 1] - ends[part],
                        count - 2 * ends[part],
                    )
                missing -= ends[parts] - found
                found = ends[parts]
        free(words)
        free(points)

    def poisson(self, cnp.ndarray rates not None, cnp.ndarray out not None):
        """Fill `out` (draws, rates) with counts of Poisson distributions; all draws of the first rate come first.

        By products of uniform numbers for rates below 10, else by transformed rejection: Hoermann, "The transformed
        rejection method for generating Poisson random variables", 1993.

        Args:
            rates: float64, (rates,).
            out: float64, (draws, rates), C-contiguous.

        >>> out = np.empty((3, 1))
        >>> MersenneTwister(1).poisson(np.array([4.0]), out); out[:, 0]
        array([5., 6., 6.])
        """
        check("poisson", "rates", rates, cnp.NPY_FLOAT64, 1, False)
        check("poisson", "out", out, cnp.NPY_FLOAT64, 2, True)
        if cnp.PyArray_DIM(out, 1) != cnp.PyArray_DIM(rates, 0):
            raise ValueError(
                f"For 'poisson', 'out' must have a column for each of {cnp.PyArray_DIM(rates, 0)} rates, "
                f"but got {cnp.PyArray_DIM(out, 1)}."
            )
        cdef double *to = <double *> cnp.PyArray_DATA(out)
        cdef const double *of = <const double *> cnp.PyArray_DATA(rates)
        cdef Py_ssize_t row, column, rows = cnp.PyArray_DIM(out, 0), columns = cnp.PyArray_DIM(out, 1)
        with nogil:
            for column in range(columns):
                for row in range(rows):
                    to[row * columns + column] = self.count(of[column])

    cdef double count(self, double rate) noexcept nogil:
        """Return one count of a Poisson distribution."""
        cdef double product = 1, count = 0, end, b, a, inverse, limit, u, v, edge, level
        if not rate >= 0:
            return math.NAN
        if rate == math.INFINITY:
            return rate
        if rate < 10:
            end = math.exp(-rate)
            while True:
                product *= self.unit()
                if product <= end:
                    return count
                count += 1
        b = 0.931 + 2.53 * math.sqrt(rate)
        a = -0.059 + 0.02483 * b
        inverse = 1.1239 + 1.1328 / (b - 3.4)
        limit = 0.9277 - 3.6224 / (b - 2)
        while True:
            u = self.unit()
            v = self.unit()
            u -= 0.5
            edge = 0.5 - math.fabs(u)
            count = math.floor((2 * a / edge + b) * u + rate + 0.43)
            if edge >= 0.07 and v <= limit:
                return count
            if count < 0 or (edge < 0.013 and v > edge):
                continue
            level = v * inverse / (a / (edge * edge) + b)
            if level <= 0 or math.log(level) <= count * math.log(rate) - rate - math.lgamma(count + 1):
                return count


cdef inline void swap(int64_t *values, uint64_t i, uint64_t j) noexcept nogil:
    cdef int64_t one = values[i]
    values[i] = values[j]
    values[j] = one


cdef inline float below_one(float x) noexcept nogil:
    """Return x, or the number before 1 for a 1 that comes from rounding."""
    return x if x < <float> 1.0 else <float> 0.99999994


cdef inline double unit_of(uint32_t first, uint32_t second, double span) noexcept nogil:
    """Return a number from [0, 1) of two words, of which the second weighs more."""
    cdef double one = (<double> first + <double> second * span) / (span * span)
    return one if one < 1.0 else 0.9999999999999999


cdef void make_units(const uint32_t *words, double *out, Py_ssize_t count, double span) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(count):
        out[i] = unit_of(words[2 * i], words[2 * i + 1], span)


cdef void round_units(const uint32_t *words, float *out, Py_ssize_t count, double span) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(count):
        out[i] = below_one(<float> unit_of(words[2 * i], words[2 * i + 1], span))


cdef Py_ssize_t points_inside(const uint32_t *words, float *points, Py_ssize_t rows, float unit) noexcept nogil:
    """Write the points of pairs of words that lie in the unit circle, its center left out; return how many."""
    cdef Py_ssize_t i, found = 0
    cdef float x, y, square
    for i in range(rows):
        x = <float> 2.0 * below_one(<float> words[2 * i] * unit) - <float> 1.0
        y = <float> 2.0 * below_one(<float> words[2 * i + 1] * unit) - <float> 1.0
        square = x * x + y * y
        points[2 * found] = x
        points[2 * found + 1] = y
        found += (square <= <float> 1.0) & (square != <float> 0.0)
    return found


cdef void scale_points(const float *points, float *out, Py_ssize_t count, Py_ssize_t size) noexcept nogil:
    """Make two normal numbers of each point; `out` has place for `size` numbers, maybe one less than there are."""
    cdef Py_ssize_t i, whole = min(count, size // 2)
    cdef float x, y, square, scale
    for i in range(whole):
        x = points[2 * i]
        y = points[2 * i + 1]
        square = x * x + y * y
        scale = math.sqrtf(<float> -2.0 * normal_logarithm(square) / square)
        out[2 * i] = y * scale
        out[2 * i + 1] = x * scale
    if whole < count:
        x = points[2 * whole]
        y = points[2 * whole + 1]
        square = x * x + y * y
        out[2 * whole] = y * math.sqrtf(<float> -2.0 * normal_logarithm(square) / square)


cdef class MersenneTwister(Engine):
    """mt19937.

    Args:
        seed: its lower 32 bits count.

    >>> out = np.empty(1, np.uint32)
    >>> MersenneTwister(5489).words(out); out
    array([3499211612], dtype=uint32)
    """

    cdef uint32_t state[LENGTH]
    cdef uint32_t tempered[LENGTH]
    cdef int place

    def __cinit__(self, seed):
        cdef uint32_t one = <uint32_t> (seed & 0xFFFFFFFF)
        cdef int i
        self.top = 0xFFFFFFFF
        self.place = LENGTH
        for i in range(LENGTH):
            self.state[i] = one
            one = <uint32_t> 1812433253 * (one ^ (one >> 30)) + <uint32_t> (i + 1)

    cdef void take(self, uint32_t *words, Py_ssize_t count) noexcept nogil:
        cdef Py_ssize_t i, part, done = 0
        while done < count:
            if self.place == LENGTH:
                self.renew()
            part = min(LENGTH - self.place, count - done)
            for i in range(part):
                words[done + i] = self.tempered[self.place + i]
            self.place += part
            done += part

    cdef void renew(self) noexcept nogil:
        """Make the next 624 words."""
        cdef uint32_t *state = self.state
        cdef uint32_t y
        cdef int i
        for i in range(LENGTH - SHIFT):
            state[i] = state[i + SHIFT] ^ twisted(state[i], state[i + 1])
        for i in range(LENGTH - SHIFT, LENGTH - 1):
            state[i] = state[i + SHIFT - LENGTH] ^ twisted(state[i], state[i + 1])
        state[LENGTH - 1] = state[SHIFT - 1] ^ twisted(state[LENGTH - 1], state[0])
        for i in range(LENGTH):
            y = state[i]
            y ^= y >> 11
            y ^= (y << 7) & <uint32_t> 0x9D2C5680
            y ^= (y << 15) & <uint32_t> 0xEFC60000
            self.tempered[i] = y ^ (y >> 18)
        self.place = 0


cdef inline uint32_t twisted(uint32_t one, uint32_t next) noexcept nogil:
    cdef uint32_t y = (one & <uint32_t> 0x80000000) | (next & <uint32_t> 0x7FFFFFFF)
    return (y >> 1) ^ ((0 - (y & 1)) & <uint32_t> 0x9908B0DF)


cdef inline uint64_t residue(uint64_t x) noexcept nogil:
    """Return x < 2^62 modulo 2^31 - 1."""
    x = (x & MODULUS) + (x >> 31)
    x = (x & MODULUS) + (x >> 31)
    return x - MODULUS if x >= MODULUS else x


cdef class MinimalStandard(Engine):
    """x -> 16807 x modulo 2**31 - 1; the words are x - 1.

    Args:
        seed: any; a multiple of the modulus counts as 1.

    >>> out = np.empty(1, np.uint32)
    >>> MinimalStandard(1).words(out); out
    array([16806], dtype=uint32)
    """

    cdef uint64_t x
    cdef uint64_t leap  # the factor that leads over `STREAMS` words

    def __cinit__(self, seed):
        cdef int _step
        self.top = MODULUS - 2
        self.x = seed % MODULUS or 1
        self.leap = 1
        for _step in range(STREAMS):
            self.leap = residue(self.leap * FACTOR)

    cdef void take(self, uint32_t *words, Py_ssize_t count) noexcept nogil:
        cdef uint64_t streams[STREAMS]
        cdef uint64_t leap = self.leap
        cdef Py_ssize_t i, j, whole = count // STREAMS
        if whole:
            for j in range(STREAMS):
                self.x = residue(self.x * FACTOR)
                streams[j] = self.x
            for i in range(whole):
                for j in range(STREAMS):
                    words[i * STREAMS + j] = <uint32_t> (streams[j] - 1)
                if i + 1 < whole:
                    for j in range(STREAMS):
                        streams[j] = residue(<uint64_t> <uint32_t> streams[j] * <uint64_t> <uint32_t> leap)
            self.x = streams[STREAMS - 1]
        for i in range(whole * STREAMS, count):
            self.x = residue(self.x * FACTOR)
            words[i] = <uint32_t> (self.x - 1)
