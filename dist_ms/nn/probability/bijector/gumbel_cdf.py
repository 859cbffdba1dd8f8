"""The cumulative Gumbel distribution."""

from __future__ import annotations

from typing import Any

from dist_ms import ops
from dist_ms.common.tensor import Tensor
from dist_ms.nn.probability.bijector.bijector import Bijector
from dist_ms.nn.probability.parameters import check_positive

__all__ = ["GumbelCDF"]


class GumbelCDF(Bijector):
    """y = exp(-exp(-(x - loc) / scale)), between 0 and 1.

    Args:
        loc: where it is steepest, numbers or a Tensor.
        scale: its width, above 0, likewise.
        name: what it is called.

    Raises:
        TypeError: if an argument has another type.
        ValueError: if `scale` is not above 0.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.probability.bijector.GumbelCDF().forward(ms.Tensor([0.0])))
        [0.36787945]
    """

    def __init__(self, loc: Any = 0.0, scale: Any = 1.0, name: str = "GumbelCDF") -> None:
        given = {"loc": loc, "scale": scale}
        super().__init__(name=name, param={"name": name, **given, "param_dict": given})
        self._loc, self._scale = self._add_parameter(loc, "loc"), self._add_parameter(scale, "scale")
        check_positive(self._scale, "scale", name)

    @property
    def loc(self) -> Tensor:
        """Where it is steepest."""
        return self._loc

    @property
    def scale(self) -> Tensor:
        """Its width."""
        return self._scale

    def _both(self, value: Tensor) -> tuple[Tensor, Tensor]:
        return self.cast_param_by_value(value, self.loc), self.cast_param_by_value(value, self.scale)

    def _forward(self, x: Tensor) -> Tensor:
        loc, scale = self._both(x)
        return ops.exp(-ops.exp(-(x - loc) / scale))

    def _inverse(self, y: Tensor) -> Tensor:
        loc, scale = self._both(y)
        return loc - scale * ops.log(-ops.log(y))

    def _forward_log_jacobian(self, x: Tensor) -> Tensor:
        loc, scale = self._both(x)
        z = (x - loc) / scale
        return -z - ops.exp(-z) - ops.log(scale)

    def _inverse_log_jacobian(self, y: Tensor) -> Tensor:
        _, scale = self._both(y)
        return ops.log(scale / (-y * ops.log(y)))
