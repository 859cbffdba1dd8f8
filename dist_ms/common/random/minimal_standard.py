"""The generator of Park and Miller, "Random number generators: good ones are hard to find", 1988, as C++ has it."""

from __future__ import annotations

import numpy as np

_MULTIPLIER, _MODULUS = 16807, 2**31 - 1
_RANGE = float(_MODULUS - 1)


def uniform(start: int, count: int) -> np.ndarray:
    """Numbers in [0, 1) of the stream that begins at 1; each takes two states, the higher digits last.

    Args:
        start: numbers of the stream that come before.
        count: numbers to return.

    Examples:
        >>> print(uniform(0, 2).round(4), uniform(1, 1).round(4))
        [0.1315 0.4587] [0.4587]
    """
    states, modulus, there = np.empty(2 * count, np.uint64), np.uint64(_MODULUS), 1
    states[:1] = pow(_MULTIPLIER, 2 * start + 1, _MODULUS)
    while there < len(states):  # both factors are below 2^31, so no product overflows
        more = min(there, len(states) - there)
        states[there : there + more] = states[:more] * np.uint64(pow(_MULTIPLIER, there, _MODULUS)) % modulus
        there += more
    low, high = (states.astype(np.float64) - 1).reshape(-1, 2).T
    return np.minimum((low + high * _RANGE) / (_RANGE * _RANGE), np.nextafter(1.0, 0.0))
