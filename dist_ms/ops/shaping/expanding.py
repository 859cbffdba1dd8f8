"""BroadcastTo and its kin: a tensor repeated by strides, without copying."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import array, integers, tensor
from dist_ms.ops.broadcasting import reduce_to
from dist_ms.ops.layout import broadcast
from dist_ms.ops.primitive import Primitive

__all__ = ["BroadcastTo", "broadcast_to", "expand", "expand_as"]


class BroadcastTo(Primitive):
    """`broadcast_to` as a primitive: `BroadcastTo(shape)(input)`."""

    keeps = ()

    def __init__(self, shape: Any) -> None:
        if isinstance(shape, int):
            raise TypeError(f"For '{self.name}', 'shape' must be a tuple or list, but got {shape}.")
        self.shape = integers(shape, "shape", self.name)

    def forward(self, input: np.ndarray) -> np.ndarray:
        shape = self.shape
        given = array(input, "input", self.name).shape
        if given == shape:
            return input
        lead = len(shape) - len(given)
        if lead < 0:
            raise ValueError(
                f"For '{self.name}', 'shape' must have at least the {len(given)} dimensions of 'input', "
                f"but got {shape}."
            )
        if -1 in shape:
            if -1 in shape[:lead]:
                raise ValueError(
                    f"For '{self.name}', -1 in 'shape' must stand for a dimension 'input' has, "
                    f"but got {shape} for an input of shape {given}."
                )
            shape = tuple([given[i - lead] if n == -1 else n for i, n in enumerate(shape)])
        try:
            return broadcast(input, shape)
        except ValueError:
            kind = RuntimeError if min(self.shape[:lead], default=0) < -1 else ValueError
            raise kind(
                f"For '{self.name}', each dimension of 'input' must be 1 or equal that of 'shape', "
                f"but got {given} and {self.shape}."
            ) from None

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        return (reduce_to(dout, inputs[0]),)


def broadcast_to(input: Tensor, shape: Any) -> Tensor:
    """Repeat a tensor to a larger shape; the memory is shared.

    Args:
        input: a Tensor.
        shape: the shape wanted; -1 keeps the input's length.

    Returns:
        Tensor of that shape.

    Raises:
        TypeError: if `shape` holds anything but ints.
        ValueError: if a dimension is neither 1 nor the length wanted.
        RuntimeError: if the length of a new dimension is below -1.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.broadcast_to(ms.Tensor([1, 2]), (2, 2)))
        [[1 2]
         [1 2]]
    """
    return BroadcastTo(shape)(input)


def expand(input_x: Tensor, size: Any) -> Tensor:
    """Repeat a tensor to a larger shape: `broadcast_to` under its other name.

    Args:
        input_x: a Tensor.
        size: the shape wanted, ints or a Tensor of ints; -1 keeps the input's length.

    Returns:
        Tensor of that shape.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.expand(ms.Tensor([[1], [2]]), (2, 3)).shape
        (2, 3)
    """
    return BroadcastTo(size)(input_x)


def expand_as(input: Tensor, other: Tensor) -> Tensor:
    """Repeat a tensor to the shape of another.

    Args:
        input: a Tensor.
        other: the Tensor whose shape is wanted.

    Returns:
        Tensor of the shape of `other`.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.expand_as(ms.Tensor([[1], [2]]), ms.ops.zeros((2, 3))).shape
        (2, 3)
    """
    tensor(other, "other", "expand_as")
    return BroadcastTo(other.shape)(input)
