"""all_finite: whether gradients overflowed."""

from __future__ import annotations

from typing import Any

from dist_ms.common.tensor import Tensor
from dist_ms.common.tensor.sparse_tensor import RowTensor
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
    return Tensor(finite(gradients_in(inputs)))


def gradients_in(value: Any) -> list[Tensor | RowTensor]:
    """All tensors and row tensors in a nested value."""
    if isinstance(value, (Tensor, RowTensor)):
        return [value]
    if isinstance(value, dict):
        value = value.values()
    return [x for v in value for x in gradients_in(v)] if isinstance(value, (tuple, list, type({}.values()))) else []
