"""Stretching and moving."""

from __future__ import annotations

from typing import Any

from dist_ms import ops
from dist_ms.common.tensor import Tensor
from dist_ms.nn.probability.bijector.bijector import Bijector

__all__ = ["ScalarAffine"]


class ScalarAffine(Bijector):
    """y = scale x + shift.

    Args:
        scale: the slope, numbers or a Tensor.
        shift: what is added, likewise.
        name: what it is called.

    Raises:
        TypeError: if an argument has another type.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.probability.bijector.ScalarAffine(2.0, 1.0).forward(ms.Tensor([3.0])))
        [7.]
    """

    def __init__(self, scale: Any = 1.0, shift: Any = 0.0, name: str = "ScalarAffine") -> None:
        given = {"scale": scale, "shift": shift}
        super().__init__(True, name=name, param={"name": name, **given, "param_dict": given})
        self._scale, self._shift = self._add_parameter(scale, "scale"), self._add_parameter(shift, "shift")

    @property
    def scale(self) -> Tensor:
        """The slope."""
        return self._scale

    @property
    def shift(self) -> Tensor:
        """What is added."""
        return self._shift

    def _forward(self, x: Tensor) -> Tensor:
        return self.cast_param_by_value(x, self.scale) * x + self.cast_param_by_value(x, self.shift)

    def _inverse(self, y: Tensor) -> Tensor:
        return (y - self.cast_param_by_value(y, self.shift)) / self.cast_param_by_value(y, self.scale)

    def _forward_log_jacobian(self, x: Tensor) -> Tensor:
        return ops.log(ops.abs(self.cast_param_by_value(x, self.scale)))

    def _inverse_log_jacobian(self, y: Tensor) -> Tensor:
        return -self._forward_log_jacobian(y)
