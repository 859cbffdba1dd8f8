"""The geometric distribution."""

from __future__ import annotations

from typing import Any

from dist_ms import ops
from dist_ms.common.dtype import int32
from dist_ms.common.tensor import Tensor
from dist_ms.nn.probability.distribution.hooks import (
    ANY_NUMBER,
    TINY,
    Family,
    draws,
    of_parameters,
    of_two,
    of_value,
    standard_uniform,
)

__all__ = ["Geometric"]


class Geometric(Family):
    """How many trials fail before the first one that succeeds.

    Args:
        probs: the probability of success, numbers or a Tensor; None: given with each call.
        seed: from which it draws; None for 0.
        dtype: the type of its values, an int or float type.
        name: what it is called.

    Raises:
        TypeError: if an argument has another type.
        ValueError: if `probs` is not between 0 and 1.

    Examples:
        >>> import dist_ms as ms
        >>> failures = ms.nn.probability.distribution.Geometric(0.5)
        >>> print(failures.prob(ms.Tensor([0.0, 1.0])), failures.mean())
        [0.5  0.25] 1.0
    """

    probabilities = ("probs",)
    probs = Family.given("probs", "The probability of success.")

    def __init__(self, probs: Any = None, seed: int | None = None, dtype: Any = int32, name: str = "Geometric") -> None:
        super().__init__(seed, dtype, name, {"probs": probs}, ANY_NUMBER)
        self.parameter_names = ["probs1"]

    @of_parameters
    def _mean(self, probs: Tensor) -> Tensor:
        return (1.0 - probs) / probs

    @of_parameters
    def _mode(self, probs: Tensor) -> Tensor:
        return ops.zeros_like(probs).astype(self.dtype)

    @of_parameters
    def _var(self, probs: Tensor) -> Tensor:
        return (1.0 - probs) / ops.square(probs)

    @of_parameters
    def _entropy(self, probs: Tensor) -> Tensor:
        return (-(1.0 - probs) * ops.log1p(-probs) - probs * ops.log(probs)) / probs

    @of_value
    def _prob(self, value: Tensor, probs: Tensor) -> Tensor:
        found = ops.exp(ops.log1p(-probs) * ops.floor(value) + ops.log(probs))
        return ops.where(value < 0.0, ops.zeros_like(found), found)

    @of_value
    def _cdf(self, value: Tensor, probs: Tensor) -> Tensor:
        found = 1.0 - ops.pow(1.0 - probs, ops.floor(value) + 1.0)
        return ops.where(value < 0.0, ops.zeros_like(found), found)

    @of_two
    def _kl_loss(self, probs_b: Tensor, probs: Tensor) -> Tensor:
        rest = (1.0 - probs) / probs * (ops.log1p(-probs) - ops.log1p(-probs_b))
        return ops.log(probs) - ops.log(probs_b) + rest

    @draws
    def _sample(self, shape: tuple[int, ...], probs: Tensor) -> Tensor:
        return ops.floor(ops.log(standard_uniform(self, shape, TINY)) / ops.log1p(-probs))
