"""NumPy twins of `dist_ms._ext.sequences` and `counted_numbers`, straight from the definitions."""

from collections.abc import Callable

import numpy as np

from tests import reference


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
        self._state = np.random.RandomState(seed & 0xFFFFFFFF)

    def words(self, count: int) -> np.ndarray:
        data = self._state.bytes(4 * count) if count else b""  # NumPy uses up a word for no bytes
        return np.frombuffer(data, "<u4").astype(np.uint64)


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


def poisson(engine, rates, draws):
    """Counts (draws, rates) of Poisson distributions below 10, all draws of the first rate first."""
    out = np.empty((draws, len(rates)))
    for column, rate in enumerate(rates):
        for row in range(draws):
            product, count = engine.doubles(1)[0], 0
            while product > np.exp(-rate):
                product *= engine.doubles(1)[0]
                count += 1
            out[row, column] = count
    return out


def counted_words(blocks, seed, offset):
    """The words (blocks, 256) that the blocks of `counted_numbers` are made of."""
    counter = np.zeros((64 * blocks, 4), np.uint64)
    counter[:, 0] = np.arange(64 * blocks)
    counter[:, 2], counter[:, 3] = offset & 0xFFFFFFFF, offset >> 32
    return reference.philox_words(counter, (seed & 0xFFFFFFFF, seed >> 32)).reshape(blocks, 256)


def _units(words):
    """Numbers from [0, 1) with 53 bits, of pairs of words."""
    words = words.reshape(len(words), 128, 2).astype(np.uint64)
    return ((words[..., 0] >> np.uint64(5)) * 2.0**26 + (words[..., 1] >> np.uint64(6))) / 2.0**53


def counted_uniform(size, dtype, seed, offset):
    """`size` numbers from [0, 1) of `counted_numbers`."""
    if dtype == np.float32:
        return ((counted_words(-(-size // 256), seed, offset) >> 8) / 2.0**24).reshape(-1)[:size]
    return _units(counted_words(-(-size // 128), seed, offset)).reshape(-1)[:size]


def counted_normal(size, dtype, seed, offset):
    """`size` standard normal numbers of `counted_numbers`."""
    if dtype == np.float32:
        words = counted_words(-(-size // 256), seed, offset)
        radius = np.sqrt(-2 * np.log((words[:, :128] >> 1) * 2.0**-31 + 2.0**-32))
        angle = words[:, 128:].astype(np.uint32).view(np.int32) * 2.0**-32 * 2 * np.pi
        return np.concatenate([radius * np.cos(angle), radius * np.sin(angle)], 1).reshape(-1)[:size]
    units = _units(counted_words(-(-size // 128), seed, offset)).reshape(-1, 2)
    radius, angle = np.sqrt(-2 * np.log(1 - units[:, 0])), 2 * np.pi * units[:, 1]
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1).reshape(-1)[:size]


def counted_integers(size, low, span, seed, offset):
    """`size` integers from low to low + span - 1 of `counted_numbers`."""
    words = counted_words(-(-size // 128), seed, offset).reshape(-1, 2).tolist()
    return np.array([low + ((first + (second << 32)) * span >> 64) for first, second in words[:size]], np.int64)
