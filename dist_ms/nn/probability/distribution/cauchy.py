"""The Cauchy distribution."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

from dist_ms import ops
from dist_ms.common.dtype import float32
from dist_ms.common.tensor import Tensor
from dist_ms.nn.probability.distribution.hooks import Family, draws, of_parameters, of_two, of_value, standard_uniform

__all__ = ["Cauchy"]


class Cauchy(Family):
    """The Cauchy distribution, which has no mean and no variance.

    Args:
        loc: its middle, numbers or a Tensor; None: given with each call.
        scale: how far the quartiles are from it, likewise.
        seed: from which it draws; None for 0.
        dtype: the type of its values, a float type.
        name: what it is called.

    Raises:
        TypeError: if an argument has another type.
        ValueError: if `scale` is not above 0.

    Examples:
        >>> import dist_ms as ms
        >>> cauchy = ms.nn.probability.distribution.Cauchy(0.0, 1.0)
        >>> print(cauchy.cdf(ms.Tensor([0.0, 1.0])))
        [0.5  0.75]
    """

    _shown: ClassVar[Mapping[str, str]] = {"loc": "location"}
    positive = ("scale",)
    loc = Family.given("loc", "Its middle.")
    scale = Family.given("scale", "How far the quartiles are from it.")

    def __init__(
        self, loc: Any = None, scale: Any = None, seed: int | None = None, dtype: Any = float32, name: str = "Cauchy"
    ) -> None:
        super().__init__(seed, dtype, name, {"loc": loc, "scale": scale})

    @of_parameters
    def _mode(self, loc: Tensor, scale: Tensor) -> Tensor:
        return loc

    def _mean(self, *args: Any, **kwargs: Any) -> Tensor:
        raise ValueError(f"For '{self.name}', 'mean' is not defined.")

    def _sd(self, *args: Any, **kwargs: Any) -> Tensor:
        raise ValueError(f"For '{self.name}', 'sd' is not defined.")

    def _var(self, *args: Any, **kwargs: Any) -> Tensor:
        raise ValueError(f"For '{self.name}', 'var' is not defined.")

    @of_parameters
    def _entropy(self, loc: Tensor, scale: Tensor) -> Tensor:
        return ops.log(scale) + math.log(4 * math.pi)

    @of_value
    def _log_prob(self, value: Tensor, loc: Tensor, scale: Tensor) -> Tensor:
        return -ops.log1p(ops.square((value - loc) / scale)) - ops.log(scale) - math.log(math.pi)

    @of_value
    def _cdf(self, value: Tensor, loc: Tensor, scale: Tensor) -> Tensor:
        return ops.atan((value - loc) / scale) / math.pi + 0.5

    @of_value
    def _log_cdf(self, value: Tensor, loc: Tensor, scale: Tensor) -> Tensor:
        return ops.log1p(2.0 / math.pi * ops.atan((value - loc) / scale)) - math.log(2)

    @of_value
    def _quantile(self, p: Tensor, loc: Tensor, scale: Tensor) -> Tensor:
        return loc + scale * ops.tan(math.pi * (p - 0.5))

    @of_two
    def _kl_loss(self, loc_b: Tensor, scale_b: Tensor, loc: Tensor, scale: Tensor) -> Tensor:
        found = ops.log(ops.square(scale + scale_b) + ops.square(loc - loc_b))
        return found - math.log(4) - ops.log(scale) - ops.log(scale_b)

    @draws
    def _sample(self, shape: tuple[int, ...], loc: Tensor, scale: Tensor) -> Tensor:
        return loc + scale * ops.tan(math.pi * (standard_uniform(self, shape) - 0.5))
