"""The Gumbel distribution."""

from __future__ import annotations

import math
from typing import Any

from dist_ms import ops
from dist_ms.common.checks import check_type, complaint
from dist_ms.common.dtype import float32
from dist_ms.common.tensor import Tensor
from dist_ms.nn.probability.bijector import GumbelCDF, Invert
from dist_ms.nn.probability.distribution.hooks import FLOATS, TINY
from dist_ms.nn.probability.distribution.transformed_distribution import TransformedDistribution
from dist_ms.nn.probability.distribution.uniform import Uniform
from dist_ms.nn.probability.parameters import check_dtype, check_tensor, common_type

__all__ = ["Gumbel"]

_EULER = 0.5772156649015329


class Gumbel(TransformedDistribution):
    """The Gumbel distribution, whose cumulative one is exp(-exp(-(x - loc) / scale)).

    Args:
        loc: its mode, numbers or a Tensor.
        scale: its width, above 0, likewise.
        seed: from which it draws.
        dtype: the type of its values, a float type.
        name: what it is called.

    Raises:
        TypeError: if an argument has another type.
        ValueError: if `scale` is not above 0.

    Examples:
        >>> import dist_ms as ms
        >>> gumbel = ms.nn.probability.distribution.Gumbel(0.0, 1.0)
        >>> print(gumbel.mean(), gumbel.mode())
        0.5772157 0.0
    """

    def __init__(self, loc: Any, scale: Any, seed: int = 0, dtype: Any = float32, name: str = "Gumbel") -> None:
        check_dtype(dtype, FLOATS, type(self).__name__)
        given = {"loc": loc, "scale": scale}
        super().__init__(Invert(GumbelCDF(loc, scale)), Uniform(TINY, 1.0, seed, dtype), seed, name)
        self.parameter_type = common_type(given, dtype)
        self._parameters["param_dict"] = given
        self._loc, self._scale = self._add_parameter(loc, "loc"), self._add_parameter(scale, "scale")
        self._batch_shape = self._broadcast_shape

    @property
    def loc(self) -> Tensor:
        """Its mode."""
        return self._loc

    @property
    def scale(self) -> Tensor:
        """Its width."""
        return self._scale

    def _get_dist_type(self) -> str:
        return "Gumbel"

    def _get_dist_args(self, loc: Tensor | None = None, scale: Tensor | None = None) -> tuple:
        given = (self.loc if loc is None else loc, self.scale if scale is None else scale)
        return tuple(check_tensor(value, key, self.name) for key, value in zip(("loc", "scale"), given, strict=True))

    def _both(self) -> Any:
        return self._check_param_type(None, None)

    def _mean(self) -> Tensor:
        loc, scale = self._both()
        return loc + scale * _EULER

    def _mode(self) -> Tensor:
        return self._both()[0]

    def _sd(self) -> Tensor:
        return self._both()[1] * (math.pi / math.sqrt(6))

    def _entropy(self) -> Tensor:
        return ops.log(self._both()[1]) + 1.0 + _EULER

    def _z(self, value: Any) -> Tensor:
        return (self._check_value(value, "value").astype(self.dtype) - self.loc) / self.scale

    def _log_prob(self, value: Tensor) -> Tensor:
        z = self._z(value)
        return -(z + ops.exp(-z)) - ops.log(self.scale)

    def _prob(self, value: Tensor) -> Tensor:
        return ops.exp(self._log_prob(value))

    def _cdf(self, value: Tensor) -> Tensor:
        return ops.exp(-ops.exp(-self._z(value)))

    def _log_cdf(self, value: Tensor) -> Tensor:
        return -ops.exp(-self._z(value))

    def _survival_function(self, value: Tensor) -> Tensor:
        return -ops.expm1(-ops.exp(-self._z(value)))

    def _log_survival(self, value: Tensor) -> Tensor:
        return ops.log(self._survival_function(value))

    def _kl_loss(self, dist: str, loc_b: Tensor, scale_b: Tensor) -> Tensor:
        if dist != "Gumbel":
            raise ValueError(complaint("dist", self.name, "'Gumbel'", dist))
        loc, scale = self._both()
        loc_b, scale_b = check_tensor(loc_b, "loc_b", self.name), check_tensor(scale_b, "scale_b", self.name)
        ratio, away = scale / scale_b, (loc - loc_b) / scale_b
        return (
            ops.log(scale_b)
            - ops.log(scale)
            + _EULER * (ratio - 1.0)
            + ops.expm1(ops.lgamma(ratio + 1.0) - away)
            + away
        )

    def _cross_entropy(self, dist: str, loc_b: Tensor, scale_b: Tensor) -> Tensor:
        return self._kl_loss(dist, loc_b, scale_b) + self._entropy()

    def _sample(self, shape: tuple[int, ...] = ()) -> Tensor:
        check_type(shape, "shape", self.name, tuple)
        return self.bijector.forward(self.distribution.sample(shape + self._both()[0].shape))
