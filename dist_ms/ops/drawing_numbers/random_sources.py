"""Where random operations get their numbers: MindSpore's sequences with a seed, else NumPy's.

With an operation's seed, or after `set_seed`, the numbers are those of MindSpore's CPU operations.
Without any seed they come from NumPy's Philox with a start from the global generator, which is
faster.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from dist_ms.common import seed as seeds
from dist_ms.ops.arguments import integer
from dist_ms.ops.drawing_numbers.random_engines import MersenneTwister, MinimalStandard, PhiloxSequence, mixed_seed

FLOAT = np.dtype(np.float32)


class FreeSource:
    """Numbers that no seed fixes."""

    def __init__(self) -> None:
        self._rng = seeds.generator()

    def uniform(self, shape: tuple, d: np.dtype = FLOAT) -> np.ndarray:
        """Numbers from [0, 1)."""
        return self._rng.random(shape, np.float32 if d.itemsize <= 4 else np.float64).astype(d, copy=False)

    def normal(self, shape: tuple, d: np.dtype = FLOAT) -> np.ndarray:
        """Standard normal numbers."""
        return self._rng.standard_normal(shape, np.float32 if d.itemsize <= 4 else np.float64).astype(d, copy=False)

    def laplace(self, shape: tuple) -> np.ndarray:
        """Numbers of the Laplace distribution with mean 0 and scale 1, float32."""
        return self._rng.laplace(size=shape).astype(np.float32)

    def integers(self, low: Any, high: Any, shape: tuple) -> np.ndarray:
        """Equally likely integers from [low, high), int64."""
        return self._rng.integers(low, high, shape)

    def permutation(self, count: int) -> np.ndarray:
        """The integers from 0 to count - 1 in random order."""
        return self._rng.permutation(count)

    def marks(self, shape: tuple, fine: bool = False) -> np.ndarray:
        """Numbers from [0, 1) that choose among weights, float64."""
        return self._rng.random(shape)

    def poisson(self, rates: np.ndarray, shape: tuple) -> np.ndarray:
        """Counts (*shape, *rates.shape) of Poisson distributions, float64."""
        return self._rng.poisson(rates, (*shape, *rates.shape)).astype(np.float64)


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

    def uniform(self, shape: tuple, d: np.dtype = FLOAT) -> np.ndarray:
        """Numbers from [0, 1)."""
        part = self._mersenne.doubles(math.prod(shape)).astype(np.float32)
        return np.minimum(part, np.nextafter(np.float32(1), np.float32(0))).reshape(shape).astype(d, copy=False)

    def normal(self, shape: tuple, d: np.dtype = FLOAT) -> np.ndarray:
        """Standard normal numbers."""
        return self._minimal.normals(math.prod(shape)).reshape(shape).astype(d, copy=False)

    def laplace(self, shape: tuple) -> np.ndarray:
        """Numbers of the Laplace distribution with mean 0 and scale 1, float32."""
        low = np.nextafter(np.float32(-1), np.float32(0))
        part = self._minimal.floats(math.prod(shape)) * (np.float32(1) - low) + low
        return np.copysign(np.log1p(-np.abs(part)), part).reshape(shape)

    def integers(self, low: Any, high: Any, shape: tuple) -> np.ndarray:
        """Equally likely integers from [low, high), int64."""
        low, span = np.asarray(low, np.int64), np.asarray(high, np.int64) - np.asarray(low, np.int64)
        count = math.prod(shape)
        if span.ndim == 0 and 0 < span < 2**32:
            drawn = self._mersenne.integers(int(span), count).astype(np.int64).reshape(shape)
        else:
            drawn = np.floor(self._mersenne.doubles(count).reshape(shape) * span).astype(np.int64)
        return low + drawn

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
        flat = np.asarray(rates, np.float64).reshape(-1)
        out = np.empty((math.prod(shape), flat.size))
        for column, rate in enumerate(flat.tolist()):
            for row in range(len(out)):
                out[row, column] = _poisson(self._congruent, rate)
        return out.reshape(*shape, *np.shape(rates))


def _poisson(engine: MersenneTwister, rate: float) -> float:
    """One count: by products of uniform numbers for rates below 10, else by transformed rejection.

    Hörmann, "The transformed rejection method for generating Poisson random variables", 1993.
    """
    if not rate >= 0:
        return math.nan
    if rate == math.inf:
        return math.inf
    if rate < 10:
        product, count, end = 1.0, 0, math.exp(-rate)
        while True:
            product *= float(engine.doubles(1)[0])
            if product <= end:
                return float(count)
            count += 1
    b = 0.931 + 2.53 * math.sqrt(rate)
    a = -0.059 + 0.02483 * b
    inverse, limit = 1.1239 + 1.1328 / (b - 3.4), 0.9277 - 3.6224 / (b - 2)
    while True:
        u, v = engine.doubles(2).tolist()
        u -= 0.5
        edge = 0.5 - abs(u)
        k = math.floor((2 * a / edge + b) * u + rate + 0.43)
        if edge >= 0.07 and v <= limit:
            return float(k)
        if k < 0 or (edge < 0.013 and v > edge):
            continue
        level = v * inverse / (a / (edge * edge) + b)
        if level <= 0 or math.log(level) <= k * math.log(rate) - rate - math.lgamma(k + 1):
            return float(k)


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
        seed = integer(name, seed, "seed")
        if seed < 0:
            raise ValueError(f"For '{name}', 'seed' must not be negative, but got {seed}.")
    return seeds.operation_seeds(name, seed)
