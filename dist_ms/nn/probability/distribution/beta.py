"""The beta distribution."""

from __future__ import annotations

import math
from typing import Any

from dist_ms import ops
from dist_ms.common.dtype import float32
from dist_ms.common.tensor import Tensor
from dist_ms.nn.probability.distribution.hooks import Family, draws, of_parameters, of_two, of_value

__all__ = ["Beta"]


class Beta(Family):
    """Numbers x from 0 to 1, with a density that grows as x^(concentration1 - 1) (1 - x)^(concentration0 - 1).

    Args:
        concentration1: the power of x, plus 1, numbers or a Tensor; None: given with each call.
        concentration0: the power of 1 - x, plus 1, likewise.
        seed: from which it draws; None for 0.
        dtype: the type of its values, a float type.
        name: what it is called.

    Raises:
        TypeError: if an argument has another type.
        ValueError: if `concentration1` is not above 0.
        ValueError: if `concentration0` is not above 0.

    Examples:
        >>> import dist_ms as ms
        >>> beta = ms.nn.probability.distribution.Beta([2.0], [2.0])
        >>> print(beta.mean(), beta.var())
        [0.5] [0.05]
    """

    positive = ("concentration1", "concentration0")
    concentration1 = Family.given("concentration1", "The power of x, plus 1.")
    concentration0 = Family.given("concentration0", "The power of 1 - x, plus 1.")

    def __init__(
        self,
        concentration1: Any = None,
        concentration0: Any = None,
        seed: int | None = None,
        dtype: Any = float32,
        name: str = "Beta",
    ) -> None:
        super().__init__(seed, dtype, name, {"concentration1": concentration1, "concentration0": concentration0})

    @of_parameters
    def _mean(self, a: Tensor, b: Tensor) -> Tensor:
        return a / (a + b)

    @of_parameters
    def _var(self, a: Tensor, b: Tensor) -> Tensor:
        return a * b / (ops.square(a + b) * (a + b + 1.0))

    @of_parameters
    def _mode(self, a: Tensor, b: Tensor) -> Tensor:
        found = (a - 1.0) / (a + b - 2.0)
        inside = ops.logical_and(a > 1.0, b > 1.0)
        return ops.select(inside, found, ops.full_like(found, math.nan))

    @of_parameters
    def _entropy(self, a: Tensor, b: Tensor) -> Tensor:
        found = _log_beta(a, b) - (a - 1.0) * ops.digamma(a) - (b - 1.0) * ops.digamma(b)
        return found + (a + b - 2.0) * ops.digamma(a + b)

    @of_value
    def _log_prob(self, value: Tensor, a: Tensor, b: Tensor) -> Tensor:
        return (a - 1.0) * ops.log(value) + (b - 1.0) * ops.log1p(-value) - _log_beta(a, b)

    @of_two
    def _kl_loss(self, a_b: Tensor, b_b: Tensor, a: Tensor, b: Tensor) -> Tensor:
        found = _log_beta(a_b, b_b) - _log_beta(a, b)
        found = found + (a - a_b) * ops.digamma(a) + (b - b_b) * ops.digamma(b)
        return found + (a_b + b_b - a - b) * ops.digamma(a + b)

    @draws
    def _sample(self, shape: tuple[int, ...], a: Tensor, b: Tensor) -> Tensor:
        free = shape[: len(shape) - a.ndim]
        one, rest = (ops.gamma(free, c, ops.ones_like(c), self.seed + i) for i, c in enumerate((a, b)))
        return one / (one + rest)


def _log_beta(a: Tensor, b: Tensor) -> Tensor:
    return ops.lgamma(a) + ops.lgamma(b) - ops.lgamma(a + b)
