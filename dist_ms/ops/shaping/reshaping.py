"""Reshape, ExpandDims, Squeeze, Flatten: the same elements under another shape."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dist_ms._ext.tape import apply
from dist_ms.common.checks import check_string
from dist_ms.common.error_classes import plain
from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import array, integer, integers, many_axes, one_axis, one_of, tensor
from dist_ms.ops.layout import reshaped
from dist_ms.ops.primitive import Primitive
from dist_ms.ops.shaping import transposing

__all__ = [
    "ExpandDims",
    "Flatten",
    "Reshape",
    "Squeeze",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "expand_dims",
    "flatten",
    "ravel",
    "reshape",
    "squeeze",
    "unsqueeze",
    "view_as",
]


class Reshape(Primitive):
    """`reshape` as a primitive: `Reshape()(input, shape)`."""

    keeps = ()

    def __call__(self, input: Tensor, shape: Any) -> Tensor:
        if type(shape) is not tuple:
            if isinstance(shape, int):
                raise TypeError(f"For '{self.name}', 'shape' must be a tuple or list, but got {shape}.")
            shape = integers(shape, "shape", self.name)
        return apply(self, input, shape)

    def forward(self, input: np.ndarray, shape: tuple) -> np.ndarray:
        try:
            if not shape or min(shape) >= -1:
                return reshaped(input, shape)
        except (ValueError, TypeError, AttributeError):
            pass
        return self._explain(input, shape)

    def _explain(self, input: Any, shape: tuple) -> np.ndarray:
        """Find out what is wrong with a shape NumPy refused."""
        array(input, "input", self.name)
        shape = integers(shape, "shape", self.name)
        holes = [i for i, n in enumerate(shape) if n == -1]
        rest = math.prod(n for n in shape if n != -1)
        if any(n < -1 for n in shape) or len(holes) > 1:
            raise ValueError(
                f"For '{self.name}', 'shape' must hold at most one -1 and nothing below it, but got {shape}."
            )
        if holes and rest == 0 and input.size == 0:
            return input.reshape([0 if n == -1 else n for n in shape])
        raise ValueError(
            f"For '{self.name}', 'shape' must hold the {input.size} elements of 'input', whose shape is "
            f"{input.shape}, but got {shape}."
        )

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        return reshape(dout, inputs[0].shape), None


_reshape = Reshape()


def reshape(input: Tensor, shape: Any) -> Tensor:
    """Return the same elements in the same order under another shape, sharing memory where possible.

    Args:
        input: a Tensor.
        shape: the new shape, a tuple, list or Tensor of ints; one entry may be -1, to be
            inferred from the rest.

    Returns:
        Tensor of that shape.

    Raises:
        TypeError: if `shape` holds anything but ints.
        ValueError: if the number of elements differs, or there is more than one -1.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.reshape(ms.Tensor([1, 2, 3, 4]), (2, -1)))
        [[1 2]
         [3 4]]
    """
    return _reshape(input, shape)


class ExpandDims(Primitive):
    """`expand_dims` as a primitive: `ExpandDims()(input, axis)`."""

    keeps = ()

    def forward(self, input_x: np.ndarray, axis: Any) -> np.ndarray:
        shape = array(input_x, "input_x", self.name).shape
        axis = one_axis(axis, "axis", self.name, len(shape) + 1)
        return input_x.reshape(shape[:axis] + (1,) + shape[axis:])

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        return reshape(dout, inputs[0].shape), None


_expand_dims = ExpandDims()


@plain("axis")
def expand_dims(input_x: Tensor, axis: int) -> Tensor:
    """Put in a dimension of length 1.

    Args:
        input_x: a Tensor.
        axis: where, from -ndim-1 to ndim.

    Returns:
        Tensor with one dimension more.

    Raises:
        ValueError: if `axis` is out of range.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.expand_dims(ms.Tensor([[1, 2]]), -1).shape
        (1, 2, 1)
    """
    return _expand_dims(input_x, axis)


def unsqueeze(input: Tensor, dim: int) -> Tensor:
    """Put in a dimension of length 1: `expand_dims` under its other name.

    Args:
        input: a Tensor.
        dim: where, from -ndim-1 to ndim.

    Returns:
        Tensor with one dimension more.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.unsqueeze(ms.Tensor([1, 2]), 1).shape
        (2, 1)
    """
    return _expand_dims(input, dim)


class Squeeze(Primitive):
    """`squeeze` as a primitive: `Squeeze(axis)(input)`."""

    keeps = ()

    def __init__(self, axis: int | tuple | list = ()) -> None:
        self.axis = axis if isinstance(axis, int) else integers(axis, "axis", self.name)

    def forward(self, input: np.ndarray) -> np.ndarray:
        shape = array(input, "input", self.name).shape
        axes = many_axes(self.axis, "axis", self.name, len(shape))
        return input.reshape([n for i, n in enumerate(shape) if n != 1 or i not in axes])

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        return (reshape(dout, inputs[0].shape),)


_squeeze = Squeeze()


def squeeze(input: Tensor, axis: int | tuple | list | None = None) -> Tensor:
    """Drop dimensions of length 1.

    Args:
        input: a Tensor.
        axis: the dimension or dimensions to drop; longer ones stay. None: all of length 1.

    Returns:
        Tensor that shares the memory of `input`.

    Raises:
        ValueError: if `axis` is out of range.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.Tensor([[[1], [2]]])
        >>> ms.ops.squeeze(x).shape, ms.ops.squeeze(x, 0).shape
        ((2,), (2, 1))
    """
    tensor(input, "input", "Squeeze")
    return _squeeze(input) if axis is None else Squeeze(axis)(input)


@plain("end_dim")
class Flatten(Primitive):
    """`flatten` as a primitive: `Flatten()(input_x)`."""

    keeps = ()

    def forward(self, input_x: np.ndarray) -> np.ndarray:
        shape = array(input_x, "input_x", self.name).shape
        if not shape:
            raise ValueError("For 'Flatten', 'input_x' must have at least one dimension, but got a scalar.")
        return input_x.reshape(shape[0], math.prod(shape[1:]))

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        return (reshape(dout, inputs[0].shape),)


@plain("start_dim", "end_dim")
def flatten(input: Tensor, order: str = "C", *, start_dim: int = 1, end_dim: int = -1) -> Tensor:
    """Make the dimensions from `start_dim` to `end_dim` one.

    Args:
        input: a Tensor.
        order: "C" takes the elements row by row, "F" column by column (the last dimension first).
        start_dim: the first dimension of the run; 1 keeps the batch dimension.
        end_dim: the last dimension of the run.

    Returns:
        Tensor; one-dimensional if `input` is a scalar or has one dimension.

    Raises:
        TypeError: if `order` is no string.
        ValueError: if `order` is neither "C" nor "F", or a dimension is out of range, or they cross.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.flatten(ms.ops.zeros((2, 3, 4))).shape
        (2, 12)
    """
    tensor(input, "input", "flatten")
    check_string(order, "order", "flatten")
    if one_of(order, "order", "flatten", ("C", "F")) == "F":
        input = transposing.transpose(input, tuple(reversed(range(input.ndim))))
    integer(start_dim, "start_dim", "flatten")
    if input.ndim < 2:  # where the first dimension is not kept, either
        one_axis(end_dim, "end_dim", "flatten", 1)
        return reshape(input, (-1,))
    start = one_axis(start_dim, "start_dim", "flatten", input.ndim)
    end = one_axis(end_dim, "end_dim", "flatten", input.ndim)
    if start > end:
        raise ValueError(
            f"For 'flatten', 'start_dim' must not come after 'end_dim', but got {start_dim} and {end_dim}."
        )
    shape = input.shape
    return reshape(input, shape[:start] + (math.prod(shape[start : end + 1]),) + shape[end + 1 :])


def ravel(input: Tensor) -> Tensor:
    """Return all elements in one dimension, row by row.

    Args:
        input: a Tensor.

    Returns:
        Tensor with one dimension.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.ravel(ms.Tensor([[1, 2], [3, 4]])))
        [1 2 3 4]
    """
    return reshape(input, (-1,))


def view_as(input: Tensor, other: Tensor) -> Tensor:
    """Return the elements of `input` under the shape of `other`.

    Args:
        input: a Tensor.
        other: the Tensor whose shape is wanted.

    Returns:
        Tensor of the shape of `other`.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.view_as(ms.Tensor([1, 2]), ms.Tensor([[1], [2]])).shape
        (2, 1)
    """
    tensor(other, "other", "view_as")
    return reshape(input, other.shape)


def atleast_1d(inputs: Any) -> Any:
    """Give tensors without dimensions one.

    Args:
        inputs: a Tensor, or a tuple or list of them.

    Returns:
        Tensor, or tuple of Tensors.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.atleast_1d(ms.Tensor(3)).shape
        (1,)
    """
    return _at_least(inputs, lambda x: reshape(x, (1,)) if x.ndim == 0 else x, "atleast_1d")


def atleast_2d(inputs: Any) -> Any:
    """Give tensors with fewer than two dimensions leading ones.

    Args:
        inputs: a Tensor, or a tuple or list of them.

    Returns:
        Tensor, or tuple of Tensors.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.atleast_2d(ms.Tensor([1, 2])).shape
        (1, 2)
    """
    return _at_least(inputs, lambda x: reshape(x, (1, x.size)) if x.ndim < 2 else x, "atleast_2d")


def atleast_3d(inputs: Any) -> Any:
    """Give tensors three dimensions: (n,) becomes (1, n, 1), (m, n) becomes (m, n, 1).

    Args:
        inputs: a Tensor, or a tuple or list of them.

    Returns:
        Tensor, or tuple of Tensors.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.atleast_3d(ms.Tensor([1, 2])).shape
        (1, 2, 1)
    """

    def widen(x: Tensor) -> Tensor:
        if x.ndim >= 3:
            return x
        return reshape(x, (1, x.size, 1) if x.ndim < 2 else (*x.shape, 1))

    return _at_least(inputs, widen, "atleast_3d")


def _at_least(inputs: Any, widen: Any, name: str) -> Any:
    """Apply `widen` to one tensor or to each of several."""
    if isinstance(inputs, (tuple, list)):
        return tuple([widen(tensor(x, "inputs", name)) for x in inputs])
    return widen(tensor(inputs, "inputs", name))
