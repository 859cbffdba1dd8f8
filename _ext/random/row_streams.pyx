# cython: cdivision=True, boundscheck=False, wraparound=False
"""Random numbers of one row of a pipeline: each follows from the row's key and from how many were drawn before.

The numbers of a key are SplitMix64's (Steele, Lea and Flood, 2014): the key plus multiples of an odd constant, mixed.
"""

import threading

import numpy as np

cimport numpy as cnp
from libc.stdint cimport int64_t, uint64_t

cnp.import_array()

cdef uint64_t STEP = 0x9E3779B97F4A7C15ULL
current = threading.local()  # `stream`: that of the row which this thread makes


cdef inline uint64_t mixed(uint64_t x) noexcept nogil:
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL
    return x ^ (x >> 31)


cdef extern from *:
    """
    static inline uint64_t high_product(uint64_t a, uint64_t b) { return (uint64_t)(((unsigned __int128)a * b) >> 64); }
    """
    uint64_t high_product(uint64_t a, uint64_t b) noexcept nogil


cdef inline double unit(uint64_t word) noexcept nogil:
    """Return a number from [0, 1) with 53 bits."""
    return <double> (word >> 11) * 1.1102230246251565e-16


def row_key(seed, tuple key, depth):
    """Return 64 bits that follow from a seed, the epoch and place of a row, and the depth of a stage."""
    cdef uint64_t x = mixed(<uint64_t> (<object> seed & 0xFFFFFFFFFFFFFFFF) + STEP)
    x = mixed(x + <uint64_t> (<object> key[0] & 0xFFFFFFFFFFFFFFFF) + STEP)
    x = mixed(x + <uint64_t> (<object> key[1] & 0xFFFFFFFFFFFFFFFF) + STEP)
    return mixed(x + <uint64_t> depth + STEP)


def row_keys(seed, cnp.ndarray epochs not None, cnp.ndarray places not None, depth):
    """Return `row_key` of each epoch and place, int64 arrays, as a uint64 array.

    >>> keys = row_keys(7, np.zeros(2, np.int64), np.arange(2), 1)
    >>> keys.tolist() == [row_key(7, (0, 0), 1), row_key(7, (0, 1), 1)]
    True
    """
    cdef Py_ssize_t i, n = places.shape[0]
    cdef const int64_t[::1] at = places
    cdef const int64_t[::1] of = epochs
    cdef uint64_t[::1] out
    cdef uint64_t first = mixed(<uint64_t> (<object> seed & 0xFFFFFFFFFFFFFFFF) + STEP)
    cdef uint64_t x, last = <uint64_t> depth + STEP
    if epochs.shape[0] != n:
        raise ValueError(f"For 'row_keys', 'epochs' must have {n} numbers, as 'places', but got {epochs.shape[0]}.")
    result = np.empty(n, np.uint64)
    out = result
    for i in range(n):
        x = mixed(first + <uint64_t> of[i] + STEP)
        x = mixed(x + <uint64_t> at[i] + STEP)
        out[i] = mixed(x + last)
    return result


def whole_numbers(cnp.ndarray keys not None, uint64_t place, uint64_t span):
    """Return what `integers(span)` gives for each key of a uint64 array after `place` others, as int64.

    >>> keys = np.array([3, 4], np.uint64)
    >>> whole_numbers(keys, 0, 10).tolist() == [RowStream(3).integers(10), RowStream(4).integers(10)]
    True
    """
    cdef Py_ssize_t i, n = keys.shape[0]
    cdef const uint64_t[::1] words = keys
    cdef int64_t[::1] out
    result = np.empty(n, np.int64)
    out = result
    for i in range(n):
        out[i] = <int64_t> high_product(mixed(words[i] + (place + 1) * STEP), span)
    return result


def units(cnp.ndarray keys not None, uint64_t place):
    """Return the number that `random()` gives for each key of a uint64 array after `place` others, as float64."""
    cdef Py_ssize_t i, n = keys.shape[0]
    cdef const uint64_t[::1] words = keys
    cdef double[::1] out
    result = np.empty(n)
    out = result
    for i in range(n):
        out[i] = unit(mixed(words[i] + (place + 1) * STEP))
    return result


cdef class RowStream:
    """Random numbers of one row, with the names of NumPy's Generator; in a `with` they are this thread's.

    Args:
        key: 64 bits.
    """

    cdef uint64_t key
    cdef uint64_t drawn
    cdef object before
    cdef object other

    def __init__(self, uint64_t key):
        self.key = key
        self.drawn = 0

    def __enter__(self):
        self.before = getattr(current, "stream", None)
        current.stream = self
        return self

    def __exit__(self, *error):
        current.stream = self.before
        self.before = None

    cdef inline uint64_t word(self) noexcept:
        self.drawn += 1
        return mixed(self.key + self.drawn * STEP)

    cdef object arrays(self):
        """NumPy's generator of the same row, for arrays and for rarer distributions."""
        if self.other is None:
            self.other = np.random.Generator(np.random.Philox(key=self.key))
        return self.other

    def random(self, size=None):
        """Return a number from [0, 1), or an array of them."""
        return unit(self.word()) if size is None else self.arrays().random(size)

    def uniform(self, low=0.0, high=1.0, size=None):
        """Return a number from [low, high), or an array of them."""
        if size is None:
            return low + (high - low) * unit(self.word())
        return self.arrays().uniform(low, high, size)

    def integers(self, low, high=None, size=None):
        """Return an int from [low, high), or from [0, low), or an array of them."""
        cdef uint64_t span, word
        if size is not None:
            return self.arrays().integers(low, high, size)
        if high is None:
            low, high = 0, low
        if high <= low:
            raise ValueError(f"For 'integers', 'high' must be above {low}, but got {high}.")
        span = <uint64_t> (high - low)
        word = self.word()
        return low + high_product(word, span)

    def normal(self, loc=0.0, scale=1.0, size=None):
        """Return a number of a normal distribution, or an array of them."""
        return self.arrays().normal(loc, scale, size)

    def permutation(self, x):
        """Return the ints below x, or an array's rows, in random order."""
        return self.arrays().permutation(x)

    def shuffle(self, x):
        """Put an array's rows in random order."""
        self.arrays().shuffle(x)

    def choice(self, a, size=None, replace=True, p=None):
        """Return some of an array, or of the ints below a."""
        return self.arrays().choice(a, size, replace, p)

    def beta(self, a, b, size=None):
        """Return a number of a beta distribution, or an array of them."""
        return self.arrays().beta(a, b, size)

    def exponential(self, scale=1.0, size=None):
        """Return a number of an exponential distribution, or an array of them."""
        return self.arrays().exponential(scale, size)
