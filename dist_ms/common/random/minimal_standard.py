"""The generator of Park and Miller, "Random number generators: good ones are hard to find", 1988, as C++ has it."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

_MULTIPLIER, _MODULUS = 16807, 2**31 - 1
_RANGE = float(_MODULUS - 1)
# Numbers up to which the powers they follow from are kept: those of the channels of a layer.
_MOST_KEPT = 1 << 14


def uniform(start: int, count: int) -> np.ndarray:
    """Numbers in [0, 1) of the stream that begins at 1; each takes two states, the higher digits last.

    Args:
        start: numbers of the stream that come before.
        count: numbers to return.

    Examples:
        >>> print(uniform(0, 2).round(4), uniform(1, 1).round(4))
        [0.1315 0.4587] [0.4587]
    """
    # Both factors are below 2^31, so no product overflows.
    first, modulus = np.uint64(pow(_MULTIPLIER, 2 * start + 1, _MODULUS)), np.uint64(_MODULUS)
    states = first * (_kept_powers if count <= _MOST_KEPT else _powers)(2 * count) % modulus
    low, high = (states.astype(np.float64) - 1).reshape(-1, 2).T
    return np.minimum((low + high * _RANGE) / (_RANGE * _RANGE), np.nextafter(1.0, 0.0))


def _powers(count: int) -> np.ndarray:
    """The first powers of the multiplier, modulo the modulus."""
    powers, there = np.ones(count, np.uint64), 1
    while there < count:
        more = min(there, count - there)
        powers[there : there + more] = (
            powers[:more] * np.uint64(pow(_MULTIPLIER, there, _MODULUS)) % np.uint64(_MODULUS)
        )
        there += more
    return powers


_kept_powers = lru_cache(16)(_powers)
