"""StandardNormal, UniformReal, RandomShuffle and their kin: random operations with two seeds.

With a seed, an object goes on with its sequence from call to call, one sequence for each shape.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dist_ms.common.dtype import Number, int32, int64
from dist_ms.common.error_classes import plain
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops.arguments import floating, integer, not_of, tensor
from dist_ms.ops.creating.creation import shape_of
from dist_ms.ops.drawing_numbers import distribution_functions
from dist_ms.ops.drawing_numbers.distributions import places
from dist_ms.ops.drawing_numbers.drawing import generator_of, shape_of_draws
from dist_ms.ops.drawing_numbers.random_engines import PhiloxSequence
from dist_ms.ops.drawing_numbers.random_sources import FreeSource, SeededSource, philox_gamma, seeds_of
from dist_ms.ops.primitive import Primitive

__all__ = [
    "Gamma",
    "Multinomial",
    "Poisson",
    "RandomGamma",
    "RandomPoisson",
    "RandomShuffle",
    "StandardLaplace",
    "StandardNormal",
    "UniformInt",
    "UniformReal",
    "random_gamma",
]


class SeededPrimitive(Primitive):
    """A random operation.

    Args:
        seed, seed2: start of its sequences; draws are free if both are 0.
    """

    def __init__(self, seed: int = 0, seed2: int = 0) -> None:
        self.seed, self.seed2 = integer(seed, "seed", self.name), integer(seed2, "seed2", self.name)
        if self.seed < 0 or self.seed2 < 0:
            raise ValueError(f"For '{self.name}', 'seed' and 'seed2' must not be negative, but got {seed} and {seed2}.")
        self._sources: dict[tuple, SeededSource] = {}

    def source(self, *shape: Any) -> FreeSource | SeededSource:
        """The source of a call with a shape."""
        if not self.seed and not self.seed2:
            return FreeSource()
        if shape not in self._sources:
            self._sources[shape] = SeededSource(self.seed, self.seed2)
        return self._sources[shape]


class StandardNormal(SeededPrimitive):
    """Normal numbers with mean 0 and standard deviation 1: `standard_normal` as a primitive.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.StandardNormal(seed=2)((2, 3)).shape
        (2, 3)
    """

    def __call__(self, shape: Any) -> Tensor:
        size = shape_of(shape, "shape", self.name)
        return wrap(self.source(size).normal(size))


class StandardLaplace(SeededPrimitive):
    """Numbers of the Laplace distribution with mean 0 and scale 1: `standard_laplace` as a primitive.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.StandardLaplace()((2, 3)).shape
        (2, 3)
    """

    def __call__(self, shape: Any) -> Tensor:
        size = shape_of(shape, "shape", self.name)
        return wrap(self.source(size).laplace(size))


class UniformReal(SeededPrimitive):
    """Numbers from [0, 1), float32.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.UniformReal(seed=2)((2,)))
        [0.35814556 0.75921625]
    """

    def __call__(self, shape: Any) -> Tensor:
        size = shape_of(shape, "shape", self.name)
        return wrap(self.source(size).uniform(size))


class UniformInt(SeededPrimitive):
    """Integers from [minval, maxval), int32.

    Raises:
        ValueError: if `minval` is not below `maxval`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.UniformInt()((2,), ms.Tensor(3), ms.Tensor(4)))
        [3 3]
    """

    def __call__(self, shape: Any, minval: Any, maxval: Any) -> Tensor:
        size = shape_of(shape, "shape", self.name)
        low, high = integer(minval, "minval", self.name), integer(maxval, "maxval", self.name)
        if low >= high:
            raise ValueError(f"For '{self.name}', 'minval' must be below 'maxval', but got {low} and {high}.")
        return wrap(self.source(size).integers(low, high, size).astype(np.int32))


class Multinomial(SeededPrimitive):
    """`multinomial` with replacement as a primitive: `Multinomial(seed, seed2, dtype)(x, num_samples)`.

    Args:
        seed, seed2: start of its sequences; draws are free if both are 0.
        dtype: int32 or int64.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.Multinomial(seed=10)(ms.Tensor([[0.0, 9.0, 4.0, 0.0]]), 2))
        [[2 2]]
    """

    def __init__(self, seed: int = 0, seed2: int = 0, dtype: Number = int32) -> None:
        super().__init__(seed, seed2)
        self.dtype = dtype

    def __call__(self, x: Tensor, num_samples: int) -> Tensor:
        weights = tensor(x, "x", self.name).array().astype(np.float64)
        count = integer(num_samples, "num_samples", self.name)
        good = weights.ndim in (1, 2) and count > 0 and np.isfinite(weights).all() and (weights >= 0).all()
        if not good or not (weights.sum(-1) > 0).all():
            raise ValueError(
                f"For '{self.name}', 'x' must have 1 or 2 dimensions, no negative weights and not only zeros in a "
                f"row, and 'num_samples' must be positive, but got {x} and {num_samples}."
            )
        rows = np.atleast_2d(weights)
        out = places(rows, self.source(weights.shape, count).marks((len(rows), count)))
        return wrap(out.astype(self.dtype.np).reshape((*weights.shape[:-1], count)))


class RandomGamma(SeededPrimitive):
    """`random_gamma` as a primitive: `RandomGamma(seed, seed2)(shape, alpha)`.

    Args:
        seed, seed2: start of its sequence; draws are free if both are 0.

    Raises:
        ValueError: if an element of it is not above 0.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.RandomGamma(seed=3)(ms.Tensor([3]), ms.Tensor([1.0, 2.0])).shape
        (3, 2)
    """

    def __init__(self, seed: int = 0, seed2: int = 0) -> None:
        super().__init__(seed, seed2)
        self._sequence = PhiloxSequence(self.seed, self.seed2)

    def __call__(self, shape: Any, alpha: Tensor) -> Tensor:
        a = floating(tensor(alpha, "alpha", self.name).array(), "alpha", self.name, complex_too=False)
        if not (a > 0).all():
            raise ValueError(f"For '{self.name}', 'alpha' must be above 0, but got {alpha}.")
        size = shape_of_draws(shape, self.name, 1)
        if not self.seed and not self.seed2:
            return wrap(generator_of(self.name, None).gamma(np.broadcast_to(a, size + a.shape)).astype(a.dtype))
        each = math.prod(size)
        sequence = self._sequence.skip(4 * 256 * each * a.size)
        out = np.empty((each, a.size))
        for column, value in enumerate(a.reshape(-1).tolist()):
            out[:, column] = [philox_gamma(sequence, column * each + row, value) for row in range(each)]
        return wrap(out.reshape(size + a.shape).astype(a.dtype))


class RandomPoisson(SeededPrimitive):
    """`random_poisson` as a primitive: `RandomPoisson(seed, seed2, dtype)(shape, rate)`.

    Args:
        seed, seed2: start of its sequences; draws are free if both are 0.
        dtype: of the result.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.RandomPoisson(seed=1)(ms.Tensor([6]), ms.Tensor(5.0)))
        [ 5  3  2  1 10  9]
    """

    def __init__(self, seed: int = 0, seed2: int = 0, dtype: Number = int64) -> None:
        super().__init__(seed, seed2)
        self.dtype = dtype

    def __call__(self, shape: Any, rate: Tensor) -> Tensor:
        mean = tensor(rate, "rate", self.name).array().astype(np.float64)
        size = shape_of(shape, "shape", self.name)
        return wrap(self.source(size, mean.shape).poisson(mean, size).astype(self.dtype.np))


class RandomShuffle(SeededPrimitive):
    """The slices along the first dimension in random order: `shuffle` as a primitive.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.RandomShuffle(seed=1)(ms.Tensor([0, 1, 2, 3, 4])))
        [2 4 3 1 0]
    """

    def __call__(self, x: Tensor) -> Tensor:
        if not tensor(x, "x", self.name).ndim:
            return x
        return x[wrap(self.source(x.shape).permutation(x.shape[0]))]


class Gamma(SeededPrimitive):
    """Numbers of gamma distributions: `gamma` as a primitive.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.Gamma()((2,), ms.Tensor([1.0]), ms.Tensor([1.0])).shape
        (2, 1)
    """

    def __call__(self, shape: Any, alpha: Tensor, beta: Tensor) -> Tensor:
        return distribution_functions.gamma(shape, alpha, beta, start_of(self))


class Poisson(SeededPrimitive):
    """Counts of Poisson distributions: `poisson` as a primitive.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.Poisson()((2,), ms.Tensor([1.0])).shape
        (2,)
    """

    def __call__(self, shape: Any, mean: Tensor) -> Tensor:
        return distribution_functions.poisson(shape, mean, start_of(self))


def start_of(primitive: SeededPrimitive) -> int | None:
    """One start of a call's two seeds; None for a free one."""
    both = primitive.seed, primitive.seed2
    return both[0] * 2**31 + both[1] if any(both) else None


@plain("seed")
def random_gamma(shape: Any, alpha: Tensor, seed: int | None = None) -> Tensor:
    """Draw numbers from gamma distributions with rate 1.

    Args:
        shape: the shape of the draws, before that of `alpha`.
        alpha: the shape parameter, a Tensor.
        seed: start of this call alone.

    Returns:
        Tensor of shape shape + alpha.shape and the dtype of `alpha`.

    Raises:
        TypeError: if `alpha` is no Tensor.
        ValueError: if there is nothing to draw: a length is 0.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.random_gamma((4,), ms.Tensor([1.0, 2.0])).shape
        (4, 2)
    """
    not_of(shape, "BHIL", "shape", "random_gamma")
    a = tensor(alpha, "alpha", "random_gamma").array()
    floating(a, "alpha", "random_gamma", complex_too=False)
    return RandomGamma(*seeds_of("random_gamma", seed))(shape, alpha)
