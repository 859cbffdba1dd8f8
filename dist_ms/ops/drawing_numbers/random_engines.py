"""The generators that MindSpore's CPU operations draw from, bit for bit.

Matsumoto and Nishimura's mt19937 and Park and Miller's minimal standard generator, with the ways
in which the C++ standard library turns their words into numbers: so a seed gives the same numbers
here and there. The two seeds of an operation are mixed by one block of Philox 4x32 (Salmon et al.,
"Parallel Random Numbers: As Easy as 1, 2, 3", 2011).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from copy import copy

import numpy as np

from dist_ms.ops.kernels import sequences

_WORD = 0xFFFFFFFF
_MIX_KEY = (0x3EC8F720, 0x02461E29)


def philox_block(counter: tuple, key: tuple) -> tuple:
    """The four words that ten rounds of Philox 4x32 make of a counter of four words and a key of two.

    The words are ints, or arrays of uint64.
    """
    a, b, c, d = counter
    k, n = key
    for _ in range(10):
        left, right = a * 0xD2511F53, c * 0xCD9E8D57
        a, b, c, d = (right >> 32) ^ b ^ k, right & _WORD, (left >> 32) ^ d ^ n, left & _WORD
        k, n = (k + 0x9E3779B9) & _WORD, (n + 0xBB67AE85) & _WORD
    return a, b, c, d


def philox_words(key: int, count: int) -> np.ndarray:
    """The first words (count,) of the sequence with a key of 64 bits, as uint64."""
    blocks = np.arange(-(-count // 4), dtype=np.uint64)
    counter = (blocks & _WORD, blocks >> 32, np.zeros_like(blocks), np.zeros_like(blocks))
    return np.stack(philox_block(counter, (key & _WORD, key >> 32 & _WORD)), -1).reshape(-1)[:count]


def mixed_seed(seed: int, seed2: int) -> int:
    """The 64-bit start that an operation's two seeds give together."""
    a, b, _, _ = philox_block((seed & _WORD, seed >> 32 & _WORD, seed2 & _WORD, seed2 >> 32 & _WORD), _MIX_KEY)
    return b << 32 | a


class Engine:
    """A sequence of words from 0 to `top`, made by a kernel.

    Args:
        seed: where it starts.

    Attributes:
        top: the largest word.
    """

    kernel = ""  # the kernel's name

    def __init__(self, seed: int) -> None:
        self._kernel = getattr(sequences, self.kernel)(seed)
        self.top: int = self._kernel.top

    def words(self, count: int) -> np.ndarray:
        """The next words (count,), as uint64."""
        out = np.empty(count, np.uint32)
        self._kernel.words(out)
        return out.astype(np.uint64)

    def doubles(self, count: int) -> np.ndarray:
        """Numbers from [0, 1) with 53 bits, each of two words of which the second weighs more."""
        out = np.empty(count)
        self._kernel.doubles(out)
        return out

    def rounded(self, count: int) -> np.ndarray:
        """These numbers in float32, below 1."""
        out = np.empty(count, np.float32)
        self._kernel.rounded(out)
        return out

    def floats(self, count: int) -> np.ndarray:
        """Numbers from [0, 1) in float32, each of one word."""
        out = np.empty(count, np.float32)
        self._kernel.floats(out)
        return out

    def integers(self, span: int, count: int) -> np.ndarray:
        """Equally likely integers (count,) from [0, span), int64; words of the incomplete last bucket are left out."""
        out = np.empty(count, np.int64)
        self._kernel.integers(span, out)
        return out

    def normals(self, count: int) -> np.ndarray:
        """Standard normal numbers in float32 by Marsaglia's polar method, the second of each point first."""
        out = np.empty(count, np.float32)
        self._kernel.normals(out)
        return out

    def wide_normals(self) -> Iterator[float]:
        """Standard normal numbers with 53 bits, one by one, by the same method."""
        while True:
            x, y = (2 * self.doubles(2) - 1).tolist()
            square = x * x + y * y
            if 0 < square <= 1:
                scale = math.sqrt(-2 * math.log(square) / square)
                yield y * scale
                yield x * scale

    def permutation(self, count: int) -> np.ndarray:
        """The integers from 0 to count - 1 in random order, int64."""
        out = np.empty(count, np.int64)
        self._kernel.permutation(out)
        return out

    def poisson(self, rates: np.ndarray, count: int) -> np.ndarray:
        """Counts (count, rates.size) of Poisson distributions, float64; all of the first rate come first."""
        out = np.empty((count, rates.size))
        self._kernel.poisson(np.ascontiguousarray(rates, np.float64).reshape(-1), out)
        return out


class MersenneTwister(Engine):
    """mt19937; the lower 32 bits of the seed count."""

    kernel = "MersenneTwister"


class MinimalStandard(Engine):
    """x -> 16807 x modulo 2**31 - 1; the words are x - 1. A seed that is a multiple of the modulus counts as 1."""

    kernel = "MinimalStandard"


class PhiloxSequence:
    """Numbers from consecutive blocks of Philox 4x32.

    Args:
        key: 64 bits.
        stream: the upper 64 bits of the counter.
    """

    def __init__(self, key: int, stream: int) -> None:
        self._key = key & _WORD, key >> 32 & _WORD
        self._stream = stream & _WORD, stream >> 32 & _WORD
        self._block = 0

    def skip(self, words: int) -> PhiloxSequence:
        """A sequence that starts here, while this one moves on by the blocks that hold `words` words."""
        part = self.at(0)
        self._block += -(-words // 4)
        return part

    def at(self, blocks: int) -> PhiloxSequence:
        """A sequence that starts `blocks` blocks from here."""
        part = copy(self)
        part._block += blocks
        return part

    def pair(self) -> tuple[float, float]:
        """The next two numbers from [0, 1), with 52 bits."""
        words = philox_block((self._block & _WORD, self._block >> 32 & _WORD, *self._stream), self._key)
        self._block += 1
        first, second = (((high & 0xFFFFF) << 32 | low) / 2**52 for high, low in (words[:2], words[2:]))
        return first, second

    def words(self) -> Iterator[int]:
        """Words of 32 bits, four of each block."""
        while True:
            at = (self._block & _WORD, self._block >> 32 & _WORD, *self._stream)
            self._block += 1
            yield from philox_block(at, self._key)

    def doubles(self) -> Iterator[float]:
        """Numbers from [0, 1) with 52 bits."""
        while True:
            yield from self.pair()
