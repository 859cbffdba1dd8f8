"""Orders of rows that follow from the seed and the epoch, as MindSpore's for the same seed.

They are those of C++'s standard generators: `mt19937` for samplers, `mt19937_64` for buffers (Nishimura, "Tables of
64-bit Mersenne twisters", 2000), `minstd_rand0` for MindRecord files.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dist_ms._ext import sequences

__all__ = ["WideMersenneTwister", "permutation", "places_with_replacement", "reshuffled"]

Engine = type[sequences.MersenneTwister] | type[sequences.MinimalStandard]

_SEEDS = 2**32
_KEPT = 4
_last: dict[tuple[int, int, int, Engine], tuple[int, np.ndarray]] = {}  # an epoch and its order


def permutation(seed: int, count: int, engine: Engine = sequences.MersenneTwister) -> np.ndarray:
    """The numbers from 0 to count - 1 in the order that a seed gives, int64."""
    order = np.empty(count, np.int64)
    engine(seed % _SEEDS).permutation(order)
    return order


def reshuffled(
    seed: int, epoch: int, count: int, step: int = 1, engine: Engine = sequences.MersenneTwister
) -> np.ndarray:
    """The order of an epoch, where each epoch shuffles the order of the one before; read-only.

    Args:
        seed: of epoch 0.
        epoch: which, from 0.
        count: how many numbers.
        step: what an epoch adds to the seed.
        engine: the generator.
    """
    key = seed, step, count, engine
    reached, order = _last.get(key, (-1, None))
    if order is None or reached > epoch:
        reached, order = 0, permutation(seed, count, engine)
    for later in range(reached + 1, epoch + 1):
        order = order[permutation(seed + step * later, count, engine)]
    order.setflags(write=False)
    _last.pop(key, None)
    _last[key] = epoch, order
    while len(_last) > _KEPT:
        _last.pop(next(iter(_last)), None)
    return order


def places_with_replacement(seed: int, rows: int, count: int) -> np.ndarray:
    """As many numbers below `rows` as are wanted, each drawn among all, int64."""
    places = np.empty(count, np.int64)
    sequences.MersenneTwister(seed % _SEEDS).integers(rows, places)
    return places


class WideMersenneTwister:
    """mt19937_64: an endless iterator of words of 64 bits.

    Args:
        seed: 64 bits.
    """

    _COUNT, _MIDDLE = 312, 156

    def __init__(self, seed: int) -> None:
        words = [seed % 2**64]
        for place in range(1, self._COUNT):
            last = words[-1]
            words.append((6364136223846793005 * (last ^ last >> 62) + place) % 2**64)
        self._state = np.array(words, np.uint64)
        self._words: list[int] = []
        self._place = 0

    def __iter__(self) -> Iterator[int]:
        return self

    def __next__(self) -> int:
        if self._place == len(self._words):
            self._turn()
            self._words, self._place = self._tempered().tolist(), 0
        self._place += 1
        return self._words[self._place - 1]

    def skip(self, count: int) -> None:
        """Leave words out.

        Args:
            count: how many.
        """
        ready = min(len(self._words) - self._place, count)
        self._place += ready
        turns, rest = divmod(count - ready, self._COUNT)
        for _ in range(turns):
            self._turn()
        for _ in range(rest):
            next(self)

    def _turn(self) -> None:
        """Make the next state."""
        old, middle = self._state, self._MIDDLE
        new = np.empty_like(old)
        twisted = self._twisted(old[:-1], old[1:])
        new[:middle] = old[middle:] ^ twisted[:middle]
        new[middle:-1] = new[: middle - 1] ^ twisted[middle:]
        new[-1:] = new[middle - 1 : middle] ^ self._twisted(old[-1:], new[:1])
        self._state = new

    @staticmethod
    def _twisted(upper: np.ndarray, lower: np.ndarray) -> np.ndarray:
        """The upper 33 bits of one word and the lower 31 of the next, times the recurrence's matrix."""
        both = upper & np.uint64(0xFFFFFFFF80000000) | lower & np.uint64(0x7FFFFFFF)
        return both >> np.uint64(1) ^ (both & np.uint64(1)) * np.uint64(0xB5026F5AA96619E9)

    def _tempered(self) -> np.ndarray:
        """The words that a state gives."""
        x = self._state ^ self._state >> np.uint64(29) & np.uint64(0x5555555555555555)
        x = x ^ x << np.uint64(17) & np.uint64(0x71D67FFFEDA60000)
        x = x ^ x << np.uint64(37) & np.uint64(0xFFF7EEE000000000)
        return x ^ x >> np.uint64(43)
