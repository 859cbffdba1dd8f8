"""The log-normal distribution."""

from __future__ import annotations

import math
from typing import Any

from dist_ms import ops
from dist_ms.common.checks import complaint
from dist_ms.common.dtype import float32
from dist_ms.common.tensor import Tensor
from dist_ms.nn.probability.bijector import Exp
from dist_ms.nn.probability.distribution.normal import Normal
from dist_ms.nn.probability.distribution.transformed_distribution import TransformedDistribution
from dist_ms.nn.probability.parameters import check_positive

__all__ = ["LogNormal"]


class LogNormal(TransformedDistribution):
    """Numbers whose logarithm has a normal distribution.

    Args:
        loc: the mean of the logarithm, numbers or a Tensor; None: given with each call.
        scale: its standard deviation, above 0, likewise.
        seed: from which it draws.
        dtype: the type of its values, a float type.
        name: what it is called.

    Raises:
        TypeError: if an argument has another type.
        ValueError: if `scale` is not above 0.

    Examples:
        >>> import dist_ms as ms
        >>> incomes = ms.nn.probability.distribution.LogNormal(0.0, 1.0)
        >>> print(incomes.cdf(ms.Tensor(1.0)), incomes.mean())
        0.5 1.6487212
    """

    def __init__(
        self, loc: Any = None, scale: Any = None, seed: int = 0, dtype: Any = float32, name: str = "LogNormal"
    ) -> None:
        normal = Normal(loc, scale, seed, dtype)
        normal.parameter_names = ["loc", "scale"]
        super().__init__(Exp(), normal, seed, name)
        self.parameter_names, self.default_parameters = normal.parameter_names, normal.default_parameters
        self.parameter_type = normal.parameter_type
        self._parameters["param_dict"] = {"loc": loc, "scale": scale}
        if self.scale is not None:
            check_positive(self.scale, "scale", name)

    @property
    def loc(self) -> Tensor | None:
        """The mean of the logarithm."""
        return self.default_parameters[0]

    @property
    def scale(self) -> Tensor | None:
        """The standard deviation of the logarithm."""
        return self.default_parameters[1]

    def _get_dist_type(self) -> str:
        return "LogNormal"

    def _get_dist_args(self, *args: Any, **kwargs: Any) -> tuple:
        return self.distribution.get_dist_args(*args, **kwargs)

    def _mean(self, loc: Tensor | None = None, scale: Tensor | None = None) -> Tensor:
        loc, scale = self._check_param_type(loc, scale)
        return ops.exp(loc + 0.5 * ops.square(scale))

    def _mode(self, loc: Tensor | None = None, scale: Tensor | None = None) -> Tensor:
        loc, scale = self._check_param_type(loc, scale)
        return ops.exp(loc - ops.square(scale))

    def _var(self, loc: Tensor | None = None, scale: Tensor | None = None) -> Tensor:
        loc, scale = self._check_param_type(loc, scale)
        return ops.expm1(ops.square(scale)) * ops.exp(2.0 * loc + ops.square(scale))

    def _entropy(self, loc: Tensor | None = None, scale: Tensor | None = None) -> Tensor:
        loc, scale = self._check_param_type(loc, scale)
        return loc + 0.5 + ops.log(scale) + 0.5 * math.log(2 * math.pi)

    def _kl_loss(
        self, dist: str, loc_b: Tensor, scale_b: Tensor, loc_a: Tensor | None = None, scale_a: Tensor | None = None
    ) -> Tensor:
        if dist != "LogNormal":
            raise ValueError(complaint("dist", self.name, "'LogNormal'", dist))
        return self.distribution.kl_loss("Normal", loc_b, scale_b, loc_a, scale_a)

    def _cross_entropy(
        self, dist: str, loc_b: Tensor, scale_b: Tensor, loc_a: Tensor | None = None, scale_a: Tensor | None = None
    ) -> Tensor:
        return self._kl_loss(dist, loc_b, scale_b, loc_a, scale_a) + self._entropy(loc_a, scale_a)
