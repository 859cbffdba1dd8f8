"""all_finite: whether gradients overflowed."""

from __future__ import annotations

from typing import Any

from dist_ms.autograd.tree import tensors
from dist_ms.common.tensor import Tensor
from dist_ms.nn.wrap.loss_scale import finite


def all_finite(inputs: Any) -> Tensor:
    """Return whether all elements of some tensors are finite.

    This rank's tensors alone are looked at; gradients that were all-reduced are equal on all ranks.

    Args:
        inputs: a Tensor, or a tuple or list of them, nested or not.

    Returns:
        A bool Tensor of shape ().

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.amp.all_finite((ms.Tensor([1.0, 2.0]), ms.Tensor([float("inf")]))))
        False
    """
    return Tensor(finite(tensors(inputs)))
