"""The half-normal distribution."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

from dist_ms import ops
from dist_ms.common.dtype import float32
from dist_ms.common.tensor import Tensor
from dist_ms.nn.probability.distribution.hooks import Family, of_value

__all__ = ["HalfNormal"]


class HalfNormal(Family):
    """The density of a normal distribution twice, from 0 on.

    Args:
        mean: the mean of the normal one, numbers or a Tensor; None: given with each call.
        sd: the standard deviation of the whole one, likewise.
        seed: from which it draws; None for 0.
        dtype: the type of its values, a float type.
        name: what it is called.

    Raises:
        TypeError: if an argument has another type.
        ValueError: if `sd` is not above 0.

    Examples:
        >>> import dist_ms as ms
        >>> half = ms.nn.probability.distribution.HalfNormal(0.0, 1.0)
        >>> print(half.prob(ms.Tensor([-1.0, 0.0])))
        [0.        0.7978846]
    """

    _shown: ClassVar[Mapping[str, str]] = {"sd": "standard deviation"}
    positive = ("sd",)

    def __init__(
        self, mean: Any = None, sd: Any = None, seed: int | None = None, dtype: Any = float32, name: str = "HalfNormal"
    ) -> None:
        super().__init__(seed, dtype, name, {"mean": mean, "sd": sd})

    @of_value
    def _prob(self, value: Tensor, mean: Tensor, sd: Tensor) -> Tensor:
        found = math.sqrt(2 / math.pi) / sd * ops.exp(-0.5 * ops.square((value - mean) / sd))
        return ops.where(value < 0.0, ops.zeros_like(found), found)
