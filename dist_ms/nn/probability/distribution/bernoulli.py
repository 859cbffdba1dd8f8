"""The Bernoulli distribution."""

from __future__ import annotations

from typing import Any

from dist_ms import ops
from dist_ms.common.dtype import int32
from dist_ms.common.tensor import Tensor
from dist_ms.nn.probability.distribution.hooks import (
    ANY_NUMBER,
    Family,
    draws,
    of_parameters,
    of_two,
    of_value,
    standard_uniform,
)

__all__ = ["Bernoulli"]


class Bernoulli(Family):
    """One with a probability, else zero.

    Args:
        probs: the probability of a one, numbers or a Tensor; None: given with each call.
        seed: from which it draws; None for 0.
        dtype: the type of its values, an int or float type.
        name: what it is called.

    Raises:
        TypeError: if an argument has another type.
        ValueError: if `probs` is not between 0 and 1.

    Examples:
        >>> import dist_ms as ms
        >>> coin = ms.nn.probability.distribution.Bernoulli(0.25)
        >>> print(coin.prob(ms.Tensor([0.0, 1.0])), coin.var())
        [0.75 0.25] 0.1875
    """

    probabilities = ("probs",)
    probs = Family.given("probs", "The probability of a one.")

    def __init__(self, probs: Any = None, seed: int | None = None, dtype: Any = int32, name: str = "Bernoulli") -> None:
        super().__init__(seed, dtype, name, {"probs": probs}, ANY_NUMBER)
        self.parameter_names = ["probs1"]

    @of_parameters
    def _mean(self, probs: Tensor) -> Tensor:
        return probs

    @of_parameters
    def _mode(self, probs: Tensor) -> Tensor:
        return (probs > 0.5).astype(self.dtype)

    @of_parameters
    def _var(self, probs: Tensor) -> Tensor:
        return probs * (1.0 - probs)

    @of_parameters
    def _entropy(self, probs: Tensor) -> Tensor:
        return -(1.0 - probs) * ops.log1p(-probs) - probs * ops.log(probs)

    @of_value
    def _log_prob(self, value: Tensor, probs: Tensor) -> Tensor:
        return ops.log(probs) * value + ops.log1p(-probs) * (1.0 - value)

    @of_value
    def _cdf(self, value: Tensor, probs: Tensor) -> Tensor:
        value, below = ops.floor(value), 1.0 - probs
        return ops.where(value < 0.0, 0.0 * below, ops.where(value < 1.0, below, 1.0 + 0.0 * below))

    @of_two
    def _kl_loss(self, probs_b: Tensor, probs: Tensor) -> Tensor:
        one = probs * (ops.log(probs) - ops.log(probs_b))
        return one + (1.0 - probs) * (ops.log1p(-probs) - ops.log1p(-probs_b))

    @draws
    def _sample(self, shape: tuple[int, ...], probs: Tensor) -> Tensor:
        return standard_uniform(self, shape) < probs
