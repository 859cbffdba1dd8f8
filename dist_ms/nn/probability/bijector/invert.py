"""A bijector the other way round."""

from __future__ import annotations

from typing import Any

from dist_ms.common.checks import check_type
from dist_ms.common.tensor import Tensor
from dist_ms.nn.probability.bijector.bijector import Bijector

__all__ = ["Invert"]


class Invert(Bijector):
    """The way back of a bijector as one of its own.

    Args:
        bijector: a Bijector.
        name: what it is called; "" for "Invert" and the bijector's name.

    Raises:
        TypeError: if an argument has another type.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.nn.probability import bijector
        >>> print(bijector.Invert(bijector.Exp()).forward(ms.Tensor([1.0])))
        [0.]
    """

    def __init__(self, bijector: Bijector, name: str = "") -> None:
        check_type(bijector, "bijector", "Invert", Bijector)
        name = name or f"Invert{bijector.name}"
        param = {"bijector": bijector, "name": name}
        super().__init__(bijector.is_constant_jacobian, bijector.is_injective, name, bijector.dtype, param)
        self._bijector = bijector
        self._batch_shape, self._is_scalar_batch = bijector.batch_shape, bijector.is_scalar_batch

    @property
    def bijector(self) -> Bijector:
        """The bijector."""
        return self._bijector

    def forward(self, x: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """Turn the bijector back."""
        return self.bijector.inverse(x, *args, **kwargs)

    def inverse(self, y: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """Apply the bijector."""
        return self.bijector.forward(y, *args, **kwargs)

    def forward_log_jacobian(self, x: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """The logarithm of the slope of the bijector's way back."""
        return self.bijector.inverse_log_jacobian(x, *args, **kwargs)

    def inverse_log_jacobian(self, y: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """The logarithm of the bijector's slope."""
        return self.bijector.forward_log_jacobian(y, *args, **kwargs)
