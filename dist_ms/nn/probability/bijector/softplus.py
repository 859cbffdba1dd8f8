"""The smooth ramp."""

from __future__ import annotations

from typing import Any

from dist_ms import ops
from dist_ms.common.tensor import Tensor
from dist_ms.nn.probability.bijector.bijector import Bijector

__all__ = ["Softplus"]


class Softplus(Bijector):
    """y = log(1 + exp(k x)) / k, which is above 0 for every x.

    Args:
        sharpness: k, numbers or a Tensor.
        name: what it is called.

    Raises:
        TypeError: if an argument has another type.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.probability.bijector.Softplus().forward(ms.Tensor([0.0])))
        [0.6931472]
    """

    def __init__(self, sharpness: Any = 1.0, name: str = "Softplus") -> None:
        given = {"sharpness": sharpness}
        super().__init__(name=name, param={"name": name, **given, "param_dict": given})
        self._sharpness = self._add_parameter(sharpness, "sharpness")

    @property
    def sharpness(self) -> Tensor:
        """k."""
        return self._sharpness

    def _forward(self, x: Tensor) -> Tensor:
        k = self.cast_param_by_value(x, self.sharpness)
        return ops.softplus(k * x) / k

    def _inverse(self, y: Tensor) -> Tensor:
        k = self.cast_param_by_value(y, self.sharpness)
        return y + ops.log(-ops.expm1(-k * y)) / k

    def _forward_log_jacobian(self, x: Tensor) -> Tensor:
        return -ops.softplus(-self.cast_param_by_value(x, self.sharpness) * x)

    def _inverse_log_jacobian(self, y: Tensor) -> Tensor:
        return -ops.log(-ops.expm1(-self.cast_param_by_value(y, self.sharpness) * y))
