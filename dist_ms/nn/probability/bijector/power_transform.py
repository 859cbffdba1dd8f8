"""The power transform."""

from __future__ import annotations

from typing import Any

from dist_ms import ops
from dist_ms.common.checks import complaint
from dist_ms.common.tensor import Tensor
from dist_ms.nn.probability.bijector.bijector import Bijector

__all__ = ["PowerTransform"]


class PowerTransform(Bijector):
    """y = (1 + c x)^(1 / c), which is exp(x) where the power c is 0.

    Args:
        power: c, not negative, numbers or a Tensor.
        name: what it is called.

    Raises:
        TypeError: if an argument has another type.
        ValueError: if `power` is negative.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.probability.bijector.PowerTransform(0.5).forward(ms.Tensor([2.0])))
        [4.]
    """

    def __init__(self, power: Any = 0.0, name: str = "PowerTransform") -> None:
        given = {"power": power}
        super().__init__(name=name, param={"name": name, **given, "param_dict": given})
        self._power = self._add_parameter(power, "power")
        if (self._power.asnumpy() < 0).any():
            raise ValueError(complaint("power", self.name, "0 or more", power))

    @property
    def power(self) -> Tensor:
        """c."""
        return self._power

    def _of(self, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Whether the power is 0, it, and one that can be divided by."""
        power = ops.broadcast_to(self.cast_param_by_value(value, self.power), (value + self.power).shape)
        none = power == 0.0
        return none, power, ops.select(none, ops.ones_like(power), power)

    def _forward(self, x: Tensor) -> Tensor:
        none, power, divisor = self._of(x)
        return ops.select(none, ops.exp(x + 0.0 * power), ops.exp(ops.log1p(x * power) / divisor))

    def _inverse(self, y: Tensor) -> Tensor:
        none, power, divisor = self._of(y)
        found = ops.log(y + 0.0 * power)
        return ops.select(none, found, ops.expm1(found * power) / divisor)

    def _forward_log_jacobian(self, x: Tensor) -> Tensor:
        none, power, divisor = self._of(x)
        return ops.select(none, x + 0.0 * power, (1.0 / divisor - 1.0) * ops.log1p(x * power))

    def _inverse_log_jacobian(self, y: Tensor) -> Tensor:
        return (self._of(y)[1] - 1.0) * ops.log(y)
