"""The uniform distribution."""

from __future__ import annotations

import math
from typing import Any

from dist_ms import ops
from dist_ms.common.checks import complaint
from dist_ms.common.dtype import float32
from dist_ms.common.tensor import Tensor
from dist_ms.nn.probability.distribution.hooks import Family, draws, of_parameters, of_two, of_value, standard_uniform

__all__ = ["Uniform"]


class Uniform(Family):
    """All numbers from one to another, equally likely.

    Args:
        low: the smallest, numbers or a Tensor; None: given with each call.
        high: the largest, likewise.
        seed: from which it draws; None for 0.
        dtype: the type of its values, a float type.
        name: what it is called.

    Raises:
        TypeError: if an argument has another type.
        ValueError: if `low` is not below `high`.

    Examples:
        >>> import dist_ms as ms
        >>> uniform = ms.nn.probability.distribution.Uniform(0.0, 4.0)
        >>> print(uniform.prob(ms.Tensor([1.0, 5.0])), uniform.mean())
        [0.25 0.  ] 2.0
    """

    low = Family.given("low", "The smallest value.")
    high = Family.given("high", "The largest one.")

    def __init__(
        self, low: Any = None, high: Any = None, seed: int | None = None, dtype: Any = float32, name: str = "Uniform"
    ) -> None:
        super().__init__(seed, dtype, name, {"low": low, "high": high})
        if self.low is not None and self.high is not None and not (self.low.asnumpy() < self.high.asnumpy()).all():
            raise ValueError(complaint("low", name, "less than 'high'", f"{low} and {high}"))

    @of_parameters
    def _mean(self, low: Tensor, high: Tensor) -> Tensor:
        return (low + high) / 2.0

    @of_parameters
    def _var(self, low: Tensor, high: Tensor) -> Tensor:
        return ops.square(high - low) / 12.0

    @of_parameters
    def _entropy(self, low: Tensor, high: Tensor) -> Tensor:
        return ops.log(high - low)

    @of_value
    def _prob(self, value: Tensor, low: Tensor, high: Tensor) -> Tensor:
        inside = ops.logical_and(value >= low, value <= high)
        return ops.select(inside, 1.0 / (high - low) + ops.zeros_like(value), ops.zeros_like(value + low))

    @of_value
    def _cdf(self, value: Tensor, low: Tensor, high: Tensor) -> Tensor:
        return ops.clamp((value - low) / (high - low), 0.0, 1.0)

    @of_two
    def _kl_loss(self, low_b: Tensor, high_b: Tensor, low: Tensor, high: Tensor) -> Tensor:
        found = ops.log(high_b - low_b) - ops.log(high - low)
        inside = ops.logical_and(low_b <= low, high <= high_b)
        return ops.select(inside, found, ops.full_like(found, math.inf))

    @draws
    def _sample(self, shape: tuple[int, ...], low: Tensor, high: Tensor) -> Tensor:
        return low + standard_uniform(self, shape) * (high - low)
