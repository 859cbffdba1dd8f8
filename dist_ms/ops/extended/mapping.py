"""Linear maps, embeddings and dropout in PyTorch's form."""

from __future__ import annotations

from dist_ms import ops
from dist_ms.common.dtype import int64
from dist_ms.common.tensor import Tensor

__all__ = ["dropout", "dropout2d", "embedding", "linear", "one_hot"]

embedding = ops.embedding
linear = ops.dense


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """`ops.dropout`, with `inplace`."""
    out = ops.dropout(input, float(p) if type(p) is int else p, training)
    return input.copy_(out) if inplace else out


def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """`ops.dropout2d`, with `inplace`."""
    out = ops.dropout2d(input, p, training) if training else input
    return input.copy_(out) if inplace else out


def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """`ops.one_hot` of 1 and 0 in int64, in a new last dimension.

    Args:
        tensor: classes.
        num_classes: the new dimension's length; -1 for the greatest class + 1.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nn.functional.one_hot(ms.Tensor([0, 2])))
        [[1 0 0]
         [0 0 1]]
    """
    if num_classes == -1:
        num_classes = int(ops.amax(tensor).item()) + 1
    return ops.cast(ops.one_hot(tensor, num_classes), int64)
