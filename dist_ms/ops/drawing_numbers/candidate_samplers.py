"""Cauchy, TruncatedNormal, the candidate samplers: more numbers drawn at random."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from dist_ms.common.dtype import Number, float32
from dist_ms.common.error_classes import plain
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops.arguments import boolean, floating, integer, integral, not_of, number, tensor
from dist_ms.ops.creating.creation import shape_of
from dist_ms.ops.drawing_numbers.drawing import generator_of
from dist_ms.ops.drawing_numbers.random_engines import MinimalStandard, PhiloxSequence, mixed_seed
from dist_ms.ops.drawing_numbers.random_primitives import SeededPrimitive, start_of
from dist_ms.ops.drawing_numbers.random_sources import FreeSource
from dist_ms.ops.primitive import Primitive

__all__ = [
    "Cauchy",
    "ComputeAccidentalHits",
    "LogNormalReverse",
    "LogUniformCandidateSampler",
    "ParameterizedTruncatedNormal",
    "TruncatedNormal",
    "UniformCandidateSampler",
    "log_uniform_candidate_sampler",
    "uniform_candidate_sampler",
]


class Cauchy(Primitive):
    """Numbers of the Cauchy distribution, float32.

    Args:
        size: the shape, ints.
        median: the middle of the distribution.
        sigma: half the width at half its height, above 0.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if `sigma` is not positive.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.Cauchy([2, 3])().shape
        (2, 3)
    """

    def __init__(self, size: Any, median: float = 0.0, sigma: float = 1.0) -> None:
        self.size, self.median = shape_of(size, "size", self.name), number(median, "median", self.name)
        self.sigma = number(sigma, "sigma", self.name)
        if sigma <= 0:
            raise ValueError(f"For '{self.name}', 'sigma' must be positive, but got {sigma}.")

    def __call__(self) -> Tensor:
        draws = generator_of(self.name, None).standard_cauchy(self.size)
        return wrap(np.asarray(draws * self.sigma + self.median, np.float32))


def _truncated(rng: np.random.Generator, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Standard normal numbers from [low, high], by Robert's methods (Simulation of truncated normal variables, 1995).

    Proposals come from the normal distribution where much of it is inside, else from a uniform
    one, or far outside from an exponential one.
    """
    flip = low + high < 0
    a, b = np.where(flip, -high, low), np.where(flip, -low, high)
    out, todo = np.empty(a.shape), np.arange(a.size)
    rate = (a + np.sqrt(a * a + 4)) / 2
    normal = (a < 0.5) & (b - a > 2)
    uniform = ~normal & (b - a < 2)
    while todo.size:
        i = todo
        level = np.log(1 - rng.random(i.size))
        exponential = a[i] - np.log(1 - rng.random(i.size)) / rate[i]
        even = a[i] + (np.minimum(b[i], a[i] + 2) - a[i]) * rng.random(i.size)
        x = np.where(normal[i], rng.standard_normal(i.size), np.where(uniform[i], even, exponential))
        peak = np.maximum(a[i], 0)
        weight = np.where(normal[i], 0, np.where(uniform[i], (peak**2 - x**2) / 2, -((x - rate[i]) ** 2) / 2))
        good = (x >= a[i]) & (x <= b[i]) & (level <= weight)
        out[i[good]] = x[good]
        todo = i[~good]
    return np.where(flip, -out, out)


def _truncated_rows(primitive: SeededPrimitive, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Standard normal numbers from limits (rows, columns); MindSpore's if there are seeds and the limits are wide."""
    wide = ((low < -1.3) & (high >= 0)) | ((high > 1.3) & (low <= 0))
    if not (primitive.seed or primitive.seed2) or not wide.all():
        rng = generator_of(primitive.name, start_of(primitive))
        return _truncated(rng, low.reshape(-1), high.reshape(-1)).reshape(low.shape)
    source, out = primitive.source(low.shape), np.empty(low.shape)
    for row, least, most in zip(out, low, high):
        numbers = source.wide_normals()
        for place in range(len(row)):
            row[place] = next(x for x in numbers if least[place] <= x <= most[place])
    return out


class LogNormalReverse(Primitive):
    """Numbers whose logs are normal, in the shape and dtype of a tensor.

    Args:
        mean: of the logs.
        std: the standard deviation of the logs, not negative.

    Call:
        x (Tensor): floats.

    Raises:
        TypeError: if `x` holds no floats.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.LogNormalReverse()(ms.Tensor([1.0, 2.0])).shape
        (2,)
    """

    def __init__(self, mean: float = 1.0, std: float = 2.0) -> None:
        self.mean, self.std = number(mean, "mean", self.name), number(std, "std", self.name)

    def __call__(self, x: Tensor) -> Tensor:
        a = floating(tensor(x, "x", self.name).array(), "x", self.name, False)
        return wrap(generator_of(self.name, None).lognormal(self.mean, self.std, a.shape).astype(a.dtype))


class TruncatedNormal(SeededPrimitive):
    """Normal numbers with mean 0 and standard deviation 1, those beyond ±2 drawn again.

    Args:
        dtype: a float type.
        seed, seed2: start of every call; 0 for the global one.

    Call:
        shape (Tensor): the shape.

    Raises:
        TypeError: if `dtype` is no float type.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.TruncatedNormal()(ms.Tensor([2, 2])).shape
        (2, 2)
    """

    def __init__(self, dtype: Number = float32, seed: int = 0, seed2: int = 0) -> None:
        super().__init__(seed, seed2)
        if not isinstance(dtype, Number) or dtype.np.kind not in "fV":
            raise TypeError(f"For '{self.name}', 'dtype' must be a float type, but got {dtype!r}.")
        self.dtype = dtype

    def __call__(self, shape: Any) -> Tensor:
        size = shape_of(shape, "shape", self.name)
        limit = np.full((1, math.prod(size)), 2.0)
        draws = _truncated_rows(self, -limit, limit)
        return wrap(draws.reshape(size).astype(self.dtype.np))


class ParameterizedTruncatedNormal(SeededPrimitive):
    """Normal numbers, those outside given limits drawn again.

    Args:
        seed, seed2: start of every call; 0 for the global one.

    Call:
        shape (Tensor): the shape; its first number counts the batches.
        mean (Tensor): floats, one or one a batch.
        stdevs (Tensor): the standard deviations, of the same dtype, above 0.
        min (Tensor): the lower limits.
        max (Tensor): the upper limits, above `min`.

    Raises:
        ValueError: if a standard deviation is not positive, or a limit not below the other.

    Examples:
        >>> import dist_ms as ms
        >>> mean, one = ms.Tensor([0.0]), ms.Tensor([1.0])
        >>> ms.ops.ParameterizedTruncatedNormal()(ms.Tensor([2, 3]), mean, one, mean, one).shape
        (2, 3)
    """

    def __call__(self, shape: Any, mean: Tensor, stdevs: Tensor, min: Tensor, max: Tensor) -> Tensor:
        size = shape_of(shape, "shape", self.name)
        full = []
        for argument, value in (("mean", mean), ("stdevs", stdevs), ("min", min), ("max", max)):
            part = tensor(value, argument, self.name).array().astype(np.float64).reshape(-1)
            full.append(np.broadcast_to(part.reshape(-1, *[1] * (len(size) - 1)), size).reshape(size[:1] + (-1,)))
        middle, width, low, high = full
        if not (width > 0).all() or not (low < high).all():
            raise ValueError(
                f"For '{self.name}', 'stdevs' must be positive and 'min' below 'max', "
                f"but got {stdevs}, {min} and {max}."
            )
        draws = _truncated_rows(self, (low - middle) / width, (high - middle) / width)
        return wrap((draws * width + middle).reshape(size).astype(mean.array().dtype))


def _uniform_candidates(seed: int, size: int) -> Iterator[int]:
    """Classes that are all equally likely."""
    if not seed:
        rng = FreeSource()
        while True:
            yield from rng.integers(0, size, (64,)).tolist()
    engine = MinimalStandard(mixed_seed(seed, 0))
    while True:
        yield int(engine.integers(size, 1)[0])


def _log_candidates(sequence: PhiloxSequence, size: int) -> Iterator[int]:
    """Classes c with probability log((c + 2) / (c + 1)) / log(size + 1)."""
    top = math.log1p(size)
    for u in sequence.doubles():
        yield (int(math.exp(u * top)) - 1) % size


def _checked(name: str, classes: Any, num_true: Any, count: Any, unique: Any, size: Any, seed: Any) -> tuple:
    """The arguments of a sampler, checked: the true classes, how many are drawn, whether once, of how many."""
    true = tensor(classes, "true_classes", name).array()
    num_true, count = integer(num_true, "num_true", name), integer(count, "num_sampled", name)
    size, unique = integer(size, "range_max", name), boolean(unique, "unique", name)
    for argument, value in (("num_true", num_true), ("num_sampled", count), ("range_max", size)):
        if value < 1:
            raise ValueError(f"For '{name}', '{argument}' must be at least 1, but got {value}.")
    if true.ndim != 2 or true.shape[1] != num_true:
        raise ValueError(f"For '{name}', 'true_classes' must have the shape (batch, {num_true}), but got {true.shape}.")
    if unique and count > size:
        raise ValueError(
            f"For '{name}', 'num_sampled' must not be above 'range_max' with 'unique', but got {count} and {size}."
        )
    if integer(seed, "seed", name) < 0:
        raise ValueError(f"For '{name}', 'seed' must not be negative, but got {seed}.")
    return true, count, unique, size


def _sample(true: np.ndarray, count: int, unique: bool, candidates: Iterator[int], hits: set, chance: Any) -> tuple:
    """Classes drawn, none of `hits`, and how often the true ones and those drawn are to be expected."""
    drawn, tries, seen = [], 0, set()
    for c in candidates:
        if len(drawn) == count:
            break
        tries += 1
        if c not in hits and not (unique and c in seen):
            drawn.append(c)
            seen.add(c)

    def expected(c: np.ndarray) -> Tensor:
        p = chance(c)
        return wrap((p * count if tries == count else -np.expm1(tries * np.log1p(-p))).astype(np.float32))

    found = np.array(drawn, true.dtype)
    return wrap(found), expected(true), expected(found)


def log_uniform_candidate_sampler(
    true_classes: Tensor,
    num_true: int = 1,
    num_sampled: int = 5,
    unique: bool = True,
    range_max: int = 5,
    seed: int = 0,
) -> tuple:
    """Draw classes, class c with probability log((c + 2) / (c + 1)) / log(range_max + 1).

    Args:
        true_classes: the classes of the samples, a Tensor of int64 (batch, num_true).
        num_true: classes of a sample.
        num_sampled: how many are drawn.
        unique: draw none twice.
        range_max: number of classes.
        seed: start of the call.

    Returns:
        tuple of the classes drawn (num_sampled,), and how often the true ones (batch, num_true) and these are expected.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes do not fit, or there are too few classes.

    Examples:
        >>> import dist_ms as ms
        >>> drawn, true, expected = ms.ops.log_uniform_candidate_sampler(ms.Tensor([[1], [0]]))
        >>> print(ms.ops.sort(drawn)[0])
        [0 1 2 3 4]
    """
    not_of(true_classes, "?ibhBHILefdFD", "true_classes", "log_uniform_candidate_sampler")
    return LogUniformCandidateSampler(num_true, num_sampled, unique, range_max, seed)(true_classes)


@plain("num_true")
def uniform_candidate_sampler(
    true_classes: Tensor,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int = 0,
    remove_accidental_hits: bool = False,
) -> tuple:
    """Draw classes that are all equally likely.

    Args:
        true_classes: the classes of the samples, a Tensor of int32 or int64 (batch, num_true).
        num_true: classes of a sample.
        num_sampled: how many are drawn.
        unique: draw none twice.
        range_max: number of classes.
        seed: start of the call; 0 for the global one.
        remove_accidental_hits: draw no true class.

    Returns:
        tuple of the classes drawn (num_sampled,), and how often the true ones (batch, num_true) and these are expected.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes do not fit, or there are too few classes.

    Examples:
        >>> import dist_ms as ms
        >>> drawn, true, expected = ms.ops.uniform_candidate_sampler(ms.Tensor([[1], [0]]), 1, 3, False, 4)
        >>> print(expected)
        [0.75 0.75 0.75]
    """
    name = "uniform_candidate_sampler"
    true, count, unique, size = _checked(name, true_classes, num_true, num_sampled, unique, range_max, seed)
    hits = set(true.reshape(-1).tolist()) if boolean(remove_accidental_hits, "remove_accidental_hits", name) else set()
    left = size - len([c for c in hits if 0 <= c < size])
    if left < (count if unique else 1):
        raise ValueError(f"For '{name}', 'num_sampled' must not be above the {left} classes left, but got {count}.")
    candidates = _uniform_candidates(seed, size)
    return _sample(true, count, unique, candidates, hits, lambda c: np.full(c.shape, 1 / size))


@plain("num_true", "num_sampled", "range_max", "seed")
class LogUniformCandidateSampler(Primitive):
    """Classes drawn: `log_uniform_candidate_sampler` as a primitive, with its arguments as attributes.

    An object goes on with its sequence from call to call.

    Examples:
        >>> import dist_ms as ms
        >>> drawn, true, expected = ms.ops.LogUniformCandidateSampler(1, 2)(ms.Tensor([[1], [0]]))
        >>> drawn.shape, true.shape, expected.shape
        ((2,), (2, 1), (2,))
    """

    def __init__(
        self, num_true: int = 1, num_sampled: int = 5, unique: bool = True, range_max: int = 5, seed: int = 0
    ) -> None:
        self.num_true, self.num_sampled, self.unique = num_true, num_sampled, unique
        self.range_max, self.seed = range_max, seed
        self._sequence = PhiloxSequence(87654321, integer(seed, "seed", self.name))

    def __call__(self, true_classes: Tensor) -> tuple:
        true, count, unique, size = _checked(
            self.name, true_classes, self.num_true, self.num_sampled, self.unique, self.range_max, self.seed
        )
        candidates = _log_candidates(self._sequence.skip(2048 * count), size)
        return _sample(
            true, count, unique, candidates, set(), lambda c: np.log((c + 2.0) / (c + 1.0)) / math.log1p(size)
        )


@plain("num_true", "num_sampled", "range_max", "seed")
class UniformCandidateSampler(Primitive):
    """Classes drawn: `uniform_candidate_sampler` as a primitive, with its arguments as attributes.

    Examples:
        >>> import dist_ms as ms
        >>> drawn, true, expected = ms.ops.UniformCandidateSampler(1, 3, False, 4)(ms.Tensor([[1], [0]]))
        >>> print(true.shape, expected)
        (2, 1) [0.75 0.75 0.75]
    """

    def __init__(
        self,
        num_true: int,
        num_sampled: int,
        unique: bool,
        range_max: int,
        seed: int = 0,
        remove_accidental_hits: bool = False,
    ) -> None:
        self.num_true, self.num_sampled, self.unique = num_true, num_sampled, unique
        self.range_max, self.seed, self.remove_accidental_hits = range_max, seed, remove_accidental_hits

    def __call__(self, true_classes: Tensor) -> tuple:
        return uniform_candidate_sampler(
            true_classes,
            self.num_true,
            self.num_sampled,
            self.unique,
            self.range_max,
            self.seed,
            self.remove_accidental_hits,
        )


class ComputeAccidentalHits(Primitive):
    """Where sampled classes are true ones.

    Args:
        num_true: how many true classes each row has.

    Call:
        true_classes (Tensor): (N, num_true), integers.
        sampled_candidates (Tensor): (S,), integers.

    Returns:
        tuple: the rows of the hits (int32), their places among the samples (the samples' type), and for each the
        smallest float32, to be added to the sample's score.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> hits = ms.ops.ComputeAccidentalHits()(ms.Tensor([[1], [0], [3]]), ms.Tensor([3, 1, 5]))
        >>> print(hits[0], hits[1])
        [0 2] [1 0]
    """

    def __init__(self, num_true: int = 1) -> None:
        self.num_true = integer(num_true, "num_true", self.name)
        if num_true < 1:
            raise ValueError(f"For '{self.name}', 'num_true' must be positive, but got {num_true}.")

    def __call__(self, true_classes: Tensor, sampled_candidates: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        given = (("true_classes", true_classes), ("sampled_candidates", sampled_candidates))
        true, sampled = (integral(tensor(value, name, self.name).array(), name, self.name) for name, value in given)
        if true.ndim != 2 or true.shape[1] != self.num_true or sampled.ndim != 1:
            raise ValueError(
                f"For '{self.name}', 'true_classes' must be (N, {self.num_true}) and 'sampled_candidates' (S,), but "
                f"got {true.shape} and {sampled.shape}."
            )
        rows, _, places = np.nonzero(true[:, :, None] == sampled)
        weights = np.full(len(rows), np.finfo(np.float32).min, np.float32)
        return wrap(rows.astype(np.int32)), wrap(places.astype(sampled.dtype)), wrap(weights)
