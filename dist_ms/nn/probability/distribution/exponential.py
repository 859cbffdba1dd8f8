"""The exponential distribution."""

from __future__ import annotations

import math
from typing import Any

from dist_ms import ops
from dist_ms.common.dtype import float32
from dist_ms.common.tensor import Tensor
from dist_ms.nn.probability.distribution.hooks import (
    TINY,
    Family,
    draws,
    of_parameters,
    of_two,
    of_value,
    standard_uniform,
)

__all__ = ["Exponential"]


class Exponential(Family):
    """The exponential distribution, with the density rate exp(-rate x) from 0 on.

    Args:
        rate: one over the mean, numbers or a Tensor; None: given with each call.
        seed: from which it draws; None for 0.
        dtype: the type of its values, a float type.
        name: what it is called.

    Raises:
        TypeError: if an argument has another type.
        ValueError: if `rate` is not above 0.

    Examples:
        >>> import dist_ms as ms
        >>> waiting = ms.nn.probability.distribution.Exponential(0.5)
        >>> print(waiting.mean(), waiting.survival_function(ms.Tensor(0.0)))
        2.0 1.0
    """

    positive = ("rate",)
    rate = Family.given("rate", "One over the mean.")

    def __init__(
        self, rate: Any = None, seed: int | None = None, dtype: Any = float32, name: str = "Exponential"
    ) -> None:
        super().__init__(seed, dtype, name, {"rate": rate})

    @of_parameters
    def _mean(self, rate: Tensor) -> Tensor:
        return 1.0 / rate

    @of_parameters
    def _mode(self, rate: Tensor) -> Tensor:
        return ops.zeros_like(rate)

    @of_parameters
    def _sd(self, rate: Tensor) -> Tensor:
        return 1.0 / rate

    @of_parameters
    def _entropy(self, rate: Tensor) -> Tensor:
        return 1.0 - ops.log(rate)

    @of_value
    def _log_prob(self, value: Tensor, rate: Tensor) -> Tensor:
        found = ops.log(rate) - rate * value
        return ops.where(value < 0.0, ops.full_like(found, -math.inf), found)

    @of_value
    def _cdf(self, value: Tensor, rate: Tensor) -> Tensor:
        return -ops.expm1(-rate * ops.relu(value))

    @of_value
    def _log_survival(self, value: Tensor, rate: Tensor) -> Tensor:
        return -rate * ops.relu(value)

    @of_two
    def _kl_loss(self, rate_b: Tensor, rate: Tensor) -> Tensor:
        return ops.log(rate) - ops.log(rate_b) + rate_b / rate - 1.0

    @draws
    def _sample(self, shape: tuple[int, ...], rate: Tensor) -> Tensor:
        return -ops.log(standard_uniform(self, shape, TINY)) / rate
