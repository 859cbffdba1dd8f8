"""The Poisson distribution."""

from __future__ import annotations

import math
from typing import Any

from dist_ms import ops
from dist_ms.common.dtype import float32
from dist_ms.common.tensor import Tensor
from dist_ms.nn.probability.distribution.hooks import ANY_NUMBER, Family, draws, of_parameters, of_value
from dist_ms.nn.probability.parameters import broadcast

__all__ = ["Poisson"]


class Poisson(Family):
    """How many events there are, that come independently.

    Args:
        rate: how many are expected, numbers or a Tensor; None: given with each call.
        seed: from which it draws; None for 0.
        dtype: the type of its values, an int or float type.
        name: what it is called.

    Raises:
        TypeError: if an argument has another type.
        ValueError: if `rate` is not above 0.

    Examples:
        >>> import dist_ms as ms
        >>> events = ms.nn.probability.distribution.Poisson([2.5])
        >>> print(events.mean(), events.mode())
        [2.5] [2.]
    """

    positive = ("rate",)
    rate = Family.given("rate", "How many are expected.")

    def __init__(self, rate: Any = None, seed: int | None = None, dtype: Any = float32, name: str = "Poisson") -> None:
        super().__init__(seed, dtype, name, {"rate": rate}, ANY_NUMBER)

    @of_parameters
    def _mean(self, rate: Tensor) -> Tensor:
        return rate

    @of_parameters
    def _mode(self, rate: Tensor) -> Tensor:
        return ops.floor(rate)

    @of_parameters
    def _var(self, rate: Tensor) -> Tensor:
        return rate

    @of_value
    def _log_prob(self, value: Tensor, rate: Tensor) -> Tensor:
        found = ops.log(rate) * value - ops.lgamma(value + 1.0) - rate
        return ops.where(value < 0.0, ops.full_like(found, -math.inf), found)

    @of_value
    def _cdf(self, value: Tensor, rate: Tensor) -> Tensor:
        count, rate = broadcast(ops.relu(ops.floor(value)) + 1.0, rate)
        found = ops.igammac(count, rate)
        return ops.where(value < 0.0, ops.zeros_like(found), found)

    @draws
    def _sample(self, shape: tuple[int, ...], rate: Tensor) -> Tensor:
        return ops.poisson(shape, rate, self.seed)
