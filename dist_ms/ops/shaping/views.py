"""Transposed, chosen and reshaped tensors under further names, and blocks of pixels put into the batch."""

from __future__ import annotations

from typing import Any

from dist_ms import ops
from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import integer, tensor
from dist_ms.ops.primitive import Primitive

__all__ = ["BatchToSpace", "SelectView", "SpaceToBatch", "TransposeExtView", "TransposeView", "reshape_"]


class TransposeView(Primitive):
    """`transpose` under the name that MindSpore gives it for views.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.TransposeView()(ms.ops.ones((2, 3)), (1, 0)).shape
        (3, 2)
    """

    def __call__(self, input: Tensor, input_perm: tuple) -> Tensor:
        return ops.transpose(input, input_perm)


class TransposeExtView(Primitive):
    """A tensor with two axes exchanged.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.TransposeExtView()(ms.ops.ones((2, 3)), 0, 1).shape
        (3, 2)
    """

    def __call__(self, input: Tensor, dim0: int, dim1: int) -> Tensor:
        return ops.swapaxes(input, dim0, dim1)


class SelectView(Primitive):
    """The elements at one index of an axis, without that axis.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.SelectView()(ms.Tensor([[1, 2], [3, 4]]), 1, 0))
        [3 4]
    """

    def __call__(self, input: Tensor, index: int, axis: int) -> Tensor:
        axis, index = integer(axis, "axis", self.name), integer(index, "index", self.name)
        if not -input.ndim <= axis < input.ndim:
            raise ValueError(f"For '{self.name}', 'axis' must be in [-{input.ndim}, {input.ndim}), but got {axis}.")
        if not -input.shape[axis] <= index < input.shape[axis]:
            raise ValueError(f"For '{self.name}', 'index' must be within {input.shape[axis]}, but got {index}.")
        return input[(slice(None),) * (axis % input.ndim) + (index,)]


class SpaceToBatch(Primitive):
    """Blocks of pixels put into the batch: (N, C, H, W) to (N b^2, C, H / b, W / b).

    Args:
        block_size: b, 2 or more.
        paddings: [[above, below], [left, right]] zeros put around first.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.SpaceToBatch(2, [[0, 0], [0, 0]])(ms.ops.ones((1, 1, 2, 4))).shape
        (4, 1, 1, 2)
    """

    def __init__(self, block_size: int, paddings: Any) -> None:
        if integer(block_size, "block_size", self.name) < 2:
            raise ValueError(f"For '{self.name}', 'block_size' must be 2 or more, but got {block_size}.")
        self.block_size, self.paddings = [block_size] * 2, paddings

    def __call__(self, input_x: Tensor) -> Tensor:
        if tensor(input_x, "input_x", self.name).ndim != 4:
            raise ValueError(f"For '{self.name}', 'input_x' must be (N, C, H, W), but got shape {input_x.shape}.")
        return ops.SpaceToBatchND(self.block_size, self.paddings)(input_x)


class BatchToSpace(Primitive):
    """The inverse of `SpaceToBatch`: (N b^2, C, H, W) to (N, C, H b, W b), less what is cropped.

    Args:
        block_size: b, 2 or more.
        crops: [[above, below], [left, right]] pixels taken off.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.BatchToSpace(2, [[0, 0], [0, 0]])(ms.ops.ones((4, 1, 1, 2))).shape
        (1, 1, 2, 4)
    """

    def __init__(self, block_size: int, crops: Any) -> None:
        if integer(block_size, "block_size", self.name) < 2:
            raise ValueError(f"For '{self.name}', 'block_size' must be 2 or more, but got {block_size}.")
        self.block_size, self.crops = [block_size] * 2, crops

    def __call__(self, input_x: Tensor) -> Tensor:
        if tensor(input_x, "input_x", self.name).ndim != 4:
            raise ValueError(f"For '{self.name}', 'input_x' must be (N, C, H, W), but got shape {input_x.shape}.")
        return ops.BatchToSpaceND(self.block_size, self.crops)(input_x)


def reshape_(input: Tensor, shape: tuple) -> Tensor:
    """A tensor in another shape, as `reshape`.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.reshape_(ms.ops.ones((2, 3)), (3, 2)).shape
        (3, 2)
    """
    return ops.reshape(input, shape)
