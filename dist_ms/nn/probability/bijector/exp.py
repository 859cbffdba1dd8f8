"""The exponential function."""

from __future__ import annotations

from dist_ms.nn.probability.bijector.power_transform import PowerTransform

__all__ = ["Exp"]


class Exp(PowerTransform):
    """y = exp(x).

    Args:
        name: what it is called.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.probability.bijector.Exp().inverse(ms.Tensor([1.0])))
        [0.]
    """

    def __init__(self, name: str = "Exp") -> None:
        super().__init__(name=name)

    def extend_repr(self) -> str:
        """What it is."""
        return "exp"
