"""The functions that PyTorch keeps under `special`."""

from __future__ import annotations

from dist_ms import ops
from dist_ms.common.tensor import Tensor
from dist_ms.ops.extended.activation import log_softmax

__all__ = ["erfc", "exp2", "expm1", "log1p", "log_softmax", "round", "sinc"]

erfc, exp2, expm1, log1p = ops.erfc, ops.exp2, ops.expm1, ops.log1p
sinc = ops.sinc


def round(input: Tensor) -> Tensor:
    """Return the nearest integers, of two the even one.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.special.round(ms.Tensor([1.5, -0.4])))
        [ 2. -0.]
    """
    return ops.round(input)
