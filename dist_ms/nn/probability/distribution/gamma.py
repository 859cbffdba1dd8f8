"""The gamma distribution."""

from __future__ import annotations

import math
from typing import Any

from dist_ms import ops
from dist_ms.common.dtype import float32
from dist_ms.common.tensor import Tensor
from dist_ms.nn.probability.distribution.hooks import Family, draws, of_parameters, of_two, of_value
from dist_ms.nn.probability.parameters import broadcast

__all__ = ["Gamma"]


class Gamma(Family):
    """The gamma distribution, with a density that grows as x^(concentration - 1) exp(-rate x) from 0 on.

    Args:
        concentration: its shape, numbers or a Tensor; None: given with each call.
        rate: one over its scale, likewise.
        seed: from which it draws; None for 0.
        dtype: the type of its values, a float type.
        name: what it is called.

    Raises:
        TypeError: if an argument has another type.
        ValueError: if `concentration` is not above 0.
        ValueError: if `rate` is not above 0.

    Examples:
        >>> import dist_ms as ms
        >>> gamma = ms.nn.probability.distribution.Gamma([2.0], [4.0])
        >>> print(gamma.mean(), gamma.mode())
        [0.5] [0.25]
    """

    positive = ("concentration", "rate")
    concentration = Family.given("concentration", "Its shape.")
    rate = Family.given("rate", "One over its scale.")

    def __init__(
        self,
        concentration: Any = None,
        rate: Any = None,
        seed: int | None = None,
        dtype: Any = float32,
        name: str = "Gamma",
    ) -> None:
        super().__init__(seed, dtype, name, {"concentration": concentration, "rate": rate})

    @of_parameters
    def _mean(self, concentration: Tensor, rate: Tensor) -> Tensor:
        return concentration / rate

    @of_parameters
    def _var(self, concentration: Tensor, rate: Tensor) -> Tensor:
        return concentration / ops.square(rate)

    @of_parameters
    def _sd(self, concentration: Tensor, rate: Tensor) -> Tensor:
        return ops.sqrt(concentration) / rate

    @of_parameters
    def _mode(self, concentration: Tensor, rate: Tensor) -> Tensor:
        found = (concentration - 1.0) / rate
        return ops.select(concentration > 1.0, found, ops.full_like(found, math.nan))

    @of_parameters
    def _entropy(self, concentration: Tensor, rate: Tensor) -> Tensor:
        found = concentration - ops.log(rate) + ops.lgamma(concentration)
        return found + (1.0 - concentration) * ops.digamma(concentration)

    @of_value
    def _log_prob(self, value: Tensor, concentration: Tensor, rate: Tensor) -> Tensor:
        scale = concentration * ops.log(rate) - ops.lgamma(concentration)
        return (concentration - 1.0) * ops.log(value) - rate * value + scale

    @of_value
    def _cdf(self, value: Tensor, concentration: Tensor, rate: Tensor) -> Tensor:
        concentration, value = broadcast(concentration, rate * value)
        return ops.igamma(concentration, value)

    @of_two
    def _kl_loss(self, concentration_b: Tensor, rate_b: Tensor, concentration: Tensor, rate: Tensor) -> Tensor:
        found = (concentration - concentration_b) * ops.digamma(concentration)
        found = found + ops.lgamma(concentration_b) - ops.lgamma(concentration)
        return found + concentration_b * (ops.log(rate) - ops.log(rate_b)) + concentration * (rate_b / rate - 1.0)

    @draws
    def _sample(self, shape: tuple[int, ...], concentration: Tensor, rate: Tensor) -> Tensor:
        return ops.gamma(shape[: len(shape) - rate.ndim], concentration, rate, self.seed)
