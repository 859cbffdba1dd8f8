"""Where random operations get their numbers: MindSpore's sequences with a seed, else Philox's.

With an operation's seed, or after `set_seed`, the numbers are those of MindSpore's CPU operations.
Without any seed they come from Philox with a key from the global generator, which is faster.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from dist_ms.common.random import seed as seeds
from dist_ms.ops.arguments import integer
from dist_ms.ops.drawing_numbers.random_engines import MersenneTwister, MinimalStandard, PhiloxSequence, mixed_seed
from dist_ms.ops.kernels import counted_numbers

FLOAT, _WIDE = np.dtype(np.float32), np.dtype(np.float64)
_LEAST = np.nextafter(np.float32(-1), np.float32(0))


class FreeSource:
    """Numbers that no MindSpore seed fixes.

    Args:
        key: 62 bits that decide over them; None for a key from the global generator.
        offset: 64 bits, another start for each.
    """

    def __init__(self, key: int | None = None, offset: int = 0) -> None:
        self._key = seeds.next_key() if key is None else key % 2**64
        self._offset = offset

    @cached_property
    def _rng(self) -> np.random.Generator:
        return np.random.Generator(np.random.Philox(key=self._key, counter=[0, 0, 0, self._offset]))

    def _next(self) -> int:
        """The offset of a draw: each has its own."""
        self._offset += 1
        return (self._offset - 1) % 2**64

    def uniform(self, shape: tuple, d: np.dtype = FLOAT, low: float = 0.0, span: float = 1.0) -> np.ndarray:
        """Numbers low + span u, u from [0, 1)."""
        out = np.empty(shape, np.float32 if d.itemsize <= 4 else np.float64)
        counted_numbers.uniform(out, self._key, self._next(), low, span)
        return out.astype(d, copy=False)

    def normal(self, shape: tuple, d: np.dtype = FLOAT, mean: float = 0.0, deviation: float = 1.0) -> np.ndarray:
        """Normal numbers."""
        out = np.empty(shape, np.float32 if d.itemsize <= 4 else np.float64)
        counted_numbers.normal(out, self._key, self._next(), mean, deviation)
        return out.astype(d, copy=False)

    def laplace(self, shape: tuple) -> np.ndarray:
        """Numbers of the Laplace distribution with mean 0 and scale 1, float32."""
        return laplace_of(self.uniform(shape, low=float(_LEAST), span=float(1 - _LEAST)))

    def integers(self, low: Any, high: Any, shape: tuple) -> np.ndarray:
        """Equally likely integers from [low, high), int64."""
        if isinstance(low, int) and isinstance(high, int) and 0 < high - low < 2**32 and low >= -(2**63):
            out = np.empty(shape, np.int64)
            counted_numbers.integers(out, low, high - low, self._key, self._next())
            return out
        return self._rng.integers(low, high, shape)

    def permutation(self, count: int) -> np.ndarray:
        """The integers from 0 to count - 1 in random order."""
        return self._rng.permutation(count)

    def marks(self, shape: tuple, fine: bool = False) -> np.ndarray:
        """Numbers from [0, 1) that choose among weights, float64."""
        return self.uniform(shape, _WIDE)

    def poisson(self, rates: np.ndarray, shape: tuple) -> np.ndarray:
        """Counts (*shape, *rates.shape) of Poisson distributions, float64."""
        return self._rng.poisson(rates, (*shape, *rates.shape)).astype(np.float64)


def laplace_of(part: np.ndarray) -> np.ndarray:
    """Numbers of the Laplace distribution from ones that are equally likely in (-1, 1)."""
    return np.copysign(np.log1p(-np.abs(part)), part)


class SeededSource:
    """The sequence that MindSpore's operations draw with these two seeds.

    Args:
        seed, seed2: not both 0.
    """

    def __init__(self, seed: int, seed2: int) -> None:
        self._start = mixed_seed(seed, seed2)

    @cached_property
    def _mersenne(self) -> MersenneTwister:
        return MersenneTwister(self._start)

    @cached_property
    def _minimal(self) -> MinimalStandard:
        return MinimalStandard(self._start)

    @cached_property
    def _congruent(self) -> MersenneTwister:
        # One step of a 64-bit linear congruential generator lies between the start and this engine.
        return MersenneTwister((self._start * 6364136223846793005 + 0xDA3E39CB94B95BDB) % 2**64)

    def uniform(self, shape: tuple, d: np.dtype = FLOAT, low: float = 0.0, span: float = 1.0) -> np.ndarray:
        """Numbers low + span u, u from [0, 1)."""
        return _spread(self._mersenne.rounded(math.prod(shape)), span, low).reshape(shape).astype(d, copy=False)

    def normal(self, shape: tuple, d: np.dtype = FLOAT, mean: float = 0.0, deviation: float = 1.0) -> np.ndarray:
        """Normal numbers."""
        out = self._minimal.normals(math.prod(shape))
        return _spread(out, deviation, mean).reshape(shape).astype(d, copy=False)

    def laplace(self, shape: tuple) -> np.ndarray:
        """Numbers of the Laplace distribution with mean 0 and scale 1, float32."""
        return laplace_of(_spread(self._minimal.floats(math.prod(shape)), 1 - _LEAST, _LEAST)).reshape(shape)

    def integers(self, low: Any, high: Any, shape: tuple) -> np.ndarray:
        """Equally likely integers from [low, high), int64."""
        low, span = np.asarray(low, np.int64), np.asarray(high, np.int64) - np.asarray(low, np.int64)
        count = math.prod(shape)
        if span.ndim == 0 and 0 < span < 2**32:
            drawn = self._mersenne.integers(int(span), count).reshape(shape)
            drawn += low
            return drawn
        return low + np.floor(self._mersenne.doubles(count).reshape(shape) * span).astype(np.int64)

    def wide_normals(self) -> Iterator[float]:
        """Standard normal numbers, one by one."""
        return self._minimal.wide_normals()

    def permutation(self, count: int) -> np.ndarray:
        """The integers from 0 to count - 1 in random order."""
        return self._minimal.permutation(count)

    def marks(self, shape: tuple, fine: bool = False) -> np.ndarray:
        """Numbers from [0, 1) that choose among weights, float64; `fine` ones have 53 bits."""
        draw = self._minimal.doubles if fine else self._minimal.floats
        return draw(math.prod(shape)).astype(np.float64).reshape(shape)

    def poisson(self, rates: np.ndarray, shape: tuple) -> np.ndarray:
        """Counts (*shape, *rates.shape) of Poisson distributions, float64; all of the first rate come first."""
        return self._congruent.poisson(np.asarray(rates), math.prod(shape)).reshape(*shape, *np.shape(rates))


def _spread(values: np.ndarray, factor: float, start: float) -> np.ndarray:
    """Multiply float32 numbers and add to them, in place."""
    if factor != 1:
        values *= np.float32(factor)
    if start != 0:
        values += np.float32(start)
    return values


def philox_gamma(sequence: PhiloxSequence, index: int, shape: float) -> float:
    """Number `index` of a sequence of gamma numbers with scale 1.

    Marsaglia and Tsang, "A simple method for generating gamma variables", 2000. 256 blocks are kept for each.
    """
    part = sequence.at(256 * index)
    uniform: list[float] = []
    normal: list[float] = []

    def draw() -> float:
        if not uniform:
            uniform.extend(part.pair())
        return uniform.pop()

    if shape == 1:
        return -math.log(1 - draw())
    scale = shape + (2 / 3 if shape < 1 else -1 / 3)
    cut = 1 / 3 / math.sqrt(scale)
    while True:
        if not normal:
            first, second = part.pair()
            radius = math.sqrt(-2 * math.log(max(first, 1e-7)))
            normal = [radius * math.sin(2 * math.pi * second), radius * math.cos(2 * math.pi * second)]
        x = normal.pop()
        v = (1 + cut * x) ** 3
        if v <= 0:
            continue
        u = draw()
        if u < 1 - 0.0331 * x**4 or math.log(u) < 0.5 * x * x + scale * (1 - v + math.log(v)):
            return scale * v * (draw() ** (1 / shape) if shape < 1 else 1.0)


def source_of(name: str, seed: Any) -> FreeSource | SeededSource:
    """The source of one call of a function: by its `seed`, the global seed, or free; a source given stays.

    Raises:
        TypeError: if `seed` is no int.
        ValueError: if it is negative.
    """
    if isinstance(seed, SeededSource):
        return seed
    both = seeds_of(name, seed)
    return SeededSource(*both) if any(both) else FreeSource()


def seeds_of(name: str, seed: Any) -> tuple[int, int]:
    """The two seeds of one call of a function, (0, 0) for free draws.

    Raises:
        TypeError: if `seed` is no int.
        ValueError: if it is negative.
    """
    if seed is not None:
        seed = integer(seed, "seed", name)
        if seed < 0:
            raise ValueError(f"For '{name}', 'seed' must not be negative, but got {seed}.")
    return seeds.operation_seeds(name, seed)
