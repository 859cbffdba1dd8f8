"""The generators that MindSpore's CPU operations draw from, bit for bit.

Matsumoto and Nishimura's mt19937 and Park and Miller's minimal standard generator, with the ways
in which the C++ standard library turns their words into numbers: so a seed gives the same numbers
here and there. The two seeds of an operation are mixed by one block of Philox 4x32 (Salmon et al.,
"Parallel Random Numbers: As Easy as 1, 2, 3", 2011).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from copy import copy

import numpy as np

_WORD = 0xFFFFFFFF
_MIX_KEY = (0x3EC8F720, 0x02461E29)


def philox_block(counter: tuple, key: tuple) -> tuple[int, int, int, int]:
    """The four words that ten rounds of Philox 4x32 make of a counter of four words and a key of two."""
    a, b, c, d = counter
    k, n = key
    for _ in range(10):
        left, right = a * 0xD2511F53, c * 0xCD9E8D57
        a, b, c, d = (right >> 32) ^ b ^ k, right & _WORD, (left >> 32) ^ d ^ n, left & _WORD
        k, n = (k + 0x9E3779B9) & _WORD, (n + 0xBB67AE85) & _WORD
    return a, b, c, d


def mixed_seed(seed: int, seed2: int) -> int:
    """The 64-bit start that an operation's two seeds give together."""
    a, b, _, _ = philox_block((seed & _WORD, seed >> 32 & _WORD, seed2 & _WORD, seed2 >> 32 & _WORD), _MIX_KEY)
    return b << 32 | a


class Engine:
    """A sequence of words from 0 to `top`.

    Attributes:
        top: the largest word.
    """

    top = 0

    def words(self, count: int) -> np.ndarray:
        """The next words (count,), as uint64."""
        raise NotImplementedError

    def doubles(self, count: int) -> np.ndarray:
        """Numbers from [0, 1) with 53 bits, each of two words of which the second weighs more."""
        span = np.float64(self.top + 1)
        first, second = self.words(2 * count).reshape(count, 2).T
        out = (first.astype(np.float64) + second.astype(np.float64) * span) / (span * span)
        return np.minimum(out, np.nextafter(1.0, 0.0))

    def floats(self, count: int) -> np.ndarray:
        """Numbers from [0, 1) in float32, each of one word."""
        out = self.words(count).astype(np.float32) / np.float32(self.top + 1)
        return np.minimum(out, np.nextafter(np.float32(1), np.float32(0)))

    def integers(self, span: int, count: int) -> np.ndarray:
        """Equally likely integers (count,) from [0, span); words of the incomplete last bucket are left out."""
        bucket = self.top // span
        kept = self._accepted(count, 1, lambda w: w[:, 0] < bucket * span)
        return kept[:, 0] // np.uint64(bucket)

    def normals(self, count: int) -> np.ndarray:
        """Standard normal numbers in float32 by Marsaglia's polar method, the second of each point first."""
        points = self._accepted((count + 1) // 2, 2, lambda w: _inside(self._points(w)))
        points = self._points(points)
        square = points[:, 0] * points[:, 0] + points[:, 1] * points[:, 1]
        scale = np.sqrt(np.float32(-2) * np.log(square) / square)
        return (points * scale[:, None])[:, ::-1].reshape(-1)[:count]

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
        """The integers from 0 to count - 1 in random order: swaps from the front, two from one draw."""
        out = np.arange(count)
        place = 1
        if count > 1 and count % 2 == 0:
            self._swap(out, 1, int(self.integers(2, 1)[0]))
            place = 2
        while place < count:
            if self.top // count < count:  # one draw is too short for two swaps
                self._swap(out, place, int(self.integers(place + 1, 1)[0]))
                place += 1
                continue
            both = int(self.integers((place + 1) * (place + 2), 1)[0])
            self._swap(out, place, both // (place + 2))
            self._swap(out, place + 1, both % (place + 2))
            place += 2
        return out

    @staticmethod
    def _swap(values: np.ndarray, i: int, j: int) -> None:
        values[i], values[j] = values[j], values[i]

    def _points(self, words: np.ndarray) -> np.ndarray:
        """Points of the square [-1, 1) of pairs of words."""
        part = words.astype(np.float32) / np.float32(self.top + 1)
        return np.float32(2) * np.minimum(part, np.nextafter(np.float32(1), np.float32(0))) - np.float32(1)

    def _accepted(self, count: int, width: int, accept: Callable) -> np.ndarray:
        """The first `count` rows of `width` words that are accepted; no word after them is used up."""
        found: list[np.ndarray] = []
        missing = count
        while missing:
            rows = self.words(missing * width).reshape(missing, width)
            rows = rows[accept(rows)]
            found.append(rows)
            missing -= len(rows)
        return np.concatenate(found) if found else np.zeros((0, width), np.uint64)


def _inside(points: np.ndarray) -> np.ndarray:
    """Which points lie in the unit circle, its center left out."""
    square = points[:, 0] * points[:, 0] + points[:, 1] * points[:, 1]
    return (square <= 1) & (square != 0)


class MersenneTwister(Engine):
    """mt19937.

    Args:
        seed: its lower 32 bits count.
    """

    top = 2**32 - 1

    def __init__(self, seed: int) -> None:
        self._state = np.random.RandomState(seed & _WORD)

    def words(self, count: int) -> np.ndarray:
        return np.frombuffer(self._state.bytes(4 * count), "<u4").astype(np.uint64)


class MinimalStandard(Engine):
    """x -> 16807 x modulo 2**31 - 1; the words are x - 1.

    Args:
        seed: any; a multiple of the modulus counts as 1.
    """

    modulus = 2**31 - 1
    top = modulus - 2

    def __init__(self, seed: int) -> None:
        self._x = seed % self.modulus or 1

    def words(self, count: int) -> np.ndarray:
        out = np.empty(count, np.uint64)
        if not count:
            return out
        out[0] = self._x * 16807 % self.modulus
        done, factor = 1, 16807
        while done < count:  # each round doubles what there is, with 16807 to the power of how much there is
            part = min(done, count - done)
            out[done : done + part] = out[:part] * np.uint64(factor) % np.uint64(self.modulus)
            factor = factor * factor % self.modulus
            done += part
        self._x = int(out[-1])
        return out - np.uint64(1)


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
