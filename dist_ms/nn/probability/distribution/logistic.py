"""The logistic distribution."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

from dist_ms import ops
from dist_ms.common.dtype import float32
from dist_ms.common.tensor import Tensor
from dist_ms.nn.probability.distribution.hooks import TINY, Family, draws, of_parameters, of_value, standard_uniform

__all__ = ["Logistic"]


class Logistic(Family):
    """The logistic distribution, whose cumulative one is the sigmoid of (x - loc) / scale.

    Args:
        loc: its middle, numbers or a Tensor; None: given with each call.
        scale: its width, likewise.
        seed: from which it draws; None for 0.
        dtype: the type of its values, a float type.
        name: what it is called.

    Raises:
        TypeError: if an argument has another type.
        ValueError: if `scale` is not above 0.

    Examples:
        >>> import dist_ms as ms
        >>> logistic = ms.nn.probability.distribution.Logistic(0.0, 1.0)
        >>> print(logistic.cdf(ms.Tensor(0.0)), logistic.entropy())
        0.5 2.0
    """

    _shown: ClassVar[Mapping[str, str]] = {"loc": "location"}
    positive = ("scale",)
    loc = Family.given("loc", "Its middle.")
    scale = Family.given("scale", "Its width.")

    def __init__(
        self, loc: Any = None, scale: Any = None, seed: int | None = None, dtype: Any = float32, name: str = "Logistic"
    ) -> None:
        super().__init__(seed, dtype, name, {"loc": loc, "scale": scale})

    @of_parameters
    def _mean(self, loc: Tensor, scale: Tensor) -> Tensor:
        return loc

    @of_parameters
    def _mode(self, loc: Tensor, scale: Tensor) -> Tensor:
        return loc

    @of_parameters
    def _sd(self, loc: Tensor, scale: Tensor) -> Tensor:
        return scale * (math.pi / math.sqrt(3))

    @of_parameters
    def _entropy(self, loc: Tensor, scale: Tensor) -> Tensor:
        return ops.log(scale) + 2.0

    @of_value
    def _log_prob(self, value: Tensor, loc: Tensor, scale: Tensor) -> Tensor:
        z = (value - loc) / scale
        return -z - 2.0 * ops.softplus(-z) - ops.log(scale)

    @of_value
    def _cdf(self, value: Tensor, loc: Tensor, scale: Tensor) -> Tensor:
        return ops.sigmoid((value - loc) / scale)

    @of_value
    def _log_cdf(self, value: Tensor, loc: Tensor, scale: Tensor) -> Tensor:
        return -ops.softplus((loc - value) / scale)

    @of_value
    def _survival_function(self, value: Tensor, loc: Tensor, scale: Tensor) -> Tensor:
        return ops.sigmoid((loc - value) / scale)

    @of_value
    def _log_survival(self, value: Tensor, loc: Tensor, scale: Tensor) -> Tensor:
        return -ops.softplus((value - loc) / scale)

    @draws
    def _sample(self, shape: tuple[int, ...], loc: Tensor, scale: Tensor) -> Tensor:
        u = standard_uniform(self, shape, TINY)
        return loc + scale * (ops.log(u) - ops.log1p(-u))
