"""Tensor's methods that change shapes and layouts: those whose arguments differ from the functions'."""

from __future__ import annotations

from types import EllipsisType
from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.checks import complaint
from dist_ms.common.dtype import Number, int64
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops.arguments import integers, one_axis
from dist_ms.ops.shaping.splitting import split as split_tensor
from dist_ms.ops.tensor.tensor_reduction_methods import either, one_given


def _one_sequence(name: str, numbers: tuple, argument: str = "shape", alone: bool = False) -> Any:
    """Numbers given one by one, or in one tuple or list, behind which MindSpore reads no further but where `alone`.

    Raises:
        TypeError: if there are none.
    """
    if not numbers:
        raise TypeError(f"For 'Tensor.{name}', '{argument}' must be given.")
    one = len(numbers) == 1
    if (isinstance(numbers[0], (tuple, list)) and (one or not alone)) or (one and isinstance(numbers[0], Tensor)):
        return numbers[0]
    return integers(numbers, argument, f"Tensor.{name}")


def reshape(self: Tensor, *shape: Any) -> Tensor:
    """Return the same elements under another shape; see `dist_ms.ops.reshape`.

    Examples:
        >>> import dist_ms as ms
        >>> ms.Tensor([1, 2, 3, 4]).reshape(2, -1).shape
        (2, 2)
    """
    return ops.reshape(self, _one_sequence("reshape", shape))


def view(self: Tensor, *shape: Any) -> Tensor:
    """Return the same elements under another shape, or the same bytes as another dtype.

    Examples:
        >>> import dist_ms as ms
        >>> ms.Tensor([1, 2, 3, 4]).view(2, 2).shape
        (2, 2)
    """
    if len(shape) == 1 and isinstance(shape[0], Number):
        array = self.array()
        if not array.ndim and array.itemsize != shape[0].np.itemsize:
            raise ValueError(complaint("dtype", "Tensor.view", f"as wide as the scalar's {self.dtype}", shape[0]))
        return wrap((array if not array.ndim else np.ascontiguousarray(array)).view(shape[0].np))
    return ops.reshape(self, _one_sequence("view", shape))


def reshape_as(self: Tensor, other: Tensor) -> Tensor:
    """Return the same elements under the shape of another tensor.

    Examples:
        >>> import dist_ms as ms
        >>> ms.Tensor([1, 2]).reshape_as(ms.Tensor([[3], [4]])).shape
        (2, 1)
    """
    return ops.reshape(self, other.shape)


def transpose(self: Tensor, *axes: Any, dim0: Any = None, dim1: Any = None) -> Tensor:
    """Return the tensor with its dimensions in another order: all given, two to exchange, or none to reverse.

    Two numbers are always two dimensions to exchange, of a matrix, too; a tuple is always an order.

    Args:
        self: the tensor.
        axes: the order, or the dimensions to exchange.
        dim0: the first of two dimensions to exchange.
        dim1: the second one.

    Raises:
        TypeError: if there is anything but ints.
        ValueError: if a dimension is out of range, or an order does not name each once.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.zeros((2, 3, 4)).transpose(2, 0, 1).shape
        (4, 2, 3)
        >>> ms.ops.zeros((2, 3)).transpose(0, 1).shape
        (3, 2)
    """
    if dim0 is not None or dim1 is not None:
        axes = (*axes, *[d for d in (dim0, dim1) if d is not None])
        if len(axes) != 2:
            raise TypeError(complaint("dim0", "Tensor.transpose", "given together with 'dim1' alone", axes))
    if not axes or axes == (None,):
        return ops.transpose(self, tuple(reversed(range(self.ndim))))
    if len(axes) == 2 and not isinstance(axes[0], (tuple, list)):
        a, b = [one_axis(a, "axes", "Tensor.transpose", self.ndim) for a in axes]
        return ops.transpose(self, (1, 0)) if a != b and self.ndim == 2 else ops.swapaxes(self, a, b)
    if len(axes) > 1 and isinstance(axes[0], (tuple, list)):
        kind = ValueError if len(axes) != self.ndim else TypeError
        raise kind(complaint("axes", "Tensor.transpose", "one tuple, or ints", axes))
    return ops.transpose(self, _one_sequence("transpose", axes, "axes"))


def permute(self: Tensor, *axis: Any) -> Tensor:
    """Return the tensor with its dimensions in another order.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.zeros((2, 3, 4)).permute(2, 0, 1).shape
        (4, 2, 3)
    """
    if axis in ((), (None,)):
        return ops.transpose(self, tuple(reversed(range(self.ndim))))
    return ops.transpose(self, _one_sequence("permute", axis, "axis"))


def flatten(
    self: Tensor, first: Any = "C", /, end_dim: int = -1, *, order: str | None = None, start_dim: int = 0
) -> Tensor:
    """Make dimensions one: all by default; see `dist_ms.ops.flatten`. The first argument is `order` or `start_dim`.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.zeros((2, 3, 4)).flatten(1).shape
        (2, 12)
    """
    if isinstance(first, int):
        first, start_dim = "C", first
    return ops.flatten(self, first if order is None else order, start_dim=start_dim, end_dim=end_dim)


def squeeze(self: Tensor, *axes: Any, axis: Any = None, dim: Any = None) -> Tensor:
    """Drop dimensions of length 1; see `dist_ms.ops.squeeze`.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.zeros((1, 3, 1)).squeeze(0).shape
        (3, 1)
    """
    named = either("squeeze", ("axis", axis), ("dim", dim), None)
    axes = axes if named is None else (named,)
    return ops.squeeze(self, None if not axes or axes == (None,) else _one_sequence("squeeze", axes, "axis", True))


def broadcast_to(self: Tensor, *shape: Any) -> Tensor:
    """Repeat the tensor to a larger shape; see `dist_ms.ops.broadcast_to`.

    Examples:
        >>> import dist_ms as ms
        >>> ms.Tensor([1, 2]).broadcast_to((3, 2)).shape
        (3, 2)
    """
    return ops.broadcast_to(self, _one_sequence("broadcast_to", shape))


def expand(self: Tensor, *size: Any) -> Tensor:
    """Repeat the tensor to a larger shape; see `dist_ms.ops.expand`.

    Examples:
        >>> import dist_ms as ms
        >>> ms.Tensor([1, 2]).expand(3, -1).shape
        (3, 2)
    """
    return ops.expand(self, _one_sequence("expand", size, "size"))


def sum_to_size(self: Tensor, *size: Any) -> Tensor:
    """Add up over dimensions until the tensor has a shape that broadcasts to its own.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.Tensor([[1.0, 2.0], [3.0, 4.0]]).sum_to_size(1, 2))
        [[4. 6.]]
    """
    shape = size[0] if len(size) == 1 and isinstance(size[0], (tuple, list)) else size
    extra = self.ndim - len(shape)
    wrong = extra < 0 or any(getattr(n, "ndim", 0) for n in shape)
    if wrong or any(n not in (1, m) for n, m in zip(shape, self.shape[extra:])):
        raise ValueError(f"For 'Tensor.sum_to_size', 'size' must broadcast to {self.shape}, but got {shape}.")
    shape = integers(shape, "size", "Tensor.sum_to_size")
    x = ops.cast(self, int64) if shape != self.shape and self.array().dtype.kind in "bui" else self
    return ops.broadcasting.reduce_to(x, ops.zeros(shape, x.dtype))


def tile(self: Tensor, *numbers: Any, dims: Any = None, reps: Any = None) -> Tensor:
    """Repeat the tensor along its dimensions, given as `dims` (also `reps`) or one by one; see `dist_ms.ops.tile`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.Tensor([1, 2]).tile((2,)), ms.Tensor([1, 2]).tile(2))
        [1 2 1 2] [1 2 1 2]
    """
    named = either("tile", ("dims", dims), ("reps", reps), None)
    return ops.tile(self, _one_sequence("tile", numbers, "dims") if named is None else named)


def repeat(self: Tensor, *repeats: Any, axis: int | EllipsisType | None = ...) -> Tensor:
    """Repeat the tensor along its dimensions: one number for each, more put dimensions in front.

    Args:
        self: the tensor.
        repeats: how often, along each dimension.
        axis: as before MindSpore 2.5: each slice along this dimension is repeated, as by `repeat_interleave`; with None
            each element of the flat tensor.

    Raises:
        RuntimeError: if there are fewer numbers than dimensions, or negative ones.
        TypeError: if there is an `axis`, and not one value of `repeats`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.Tensor([1, 2]).repeat(2))
        [1 2 1 2]
        >>> print(ms.Tensor([1, 2]).repeat(2, axis=0))
        [1 1 2 2]
    """
    if axis is not ...:
        if len(repeats) != 1:
            raise TypeError(complaint("repeats", "Tensor.repeat", "one value beside 'axis'", repeats))
        return ops.repeat_interleave(self, repeats[0], axis)
    times = integers(_one_sequence("repeat", repeats, "repeats"), "repeats", "Tensor.repeat")
    if len(times) < self.ndim or any(n < 0 for n in times):
        raise RuntimeError(
            f"For 'Tensor.repeat', 'repeats' must hold at least {self.ndim} numbers, none negative, but got {times}."
        )
    return ops.tile(self, times)


def repeat_interleave(
    self: Tensor, repeats: Any, dim: int | None = None, *, axis: int | None = None, output_size: int | None = None
) -> Tensor:
    """Repeat each slice along a dimension; see `dist_ms.ops.repeat_interleave`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.Tensor([1, 2]).repeat_interleave(2))
        [1 1 2 2]
    """
    return ops.repeat_interleave(self, repeats, either("repeat_interleave", ("dim", dim), ("axis", axis), None))


def flip(self: Tensor, *numbers: Any, dims: Any = None) -> Tensor:
    """Reverse the order along dimensions, given as `dims` or one by one; see `dist_ms.ops.flip`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.Tensor([1, 2, 3]).flip((0,)))
        [3 2 1]
    """
    return ops.flip(self, _one_sequence("flip", numbers, "dims", True) if dims is None else dims)


def diagonal(self: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    """Return the diagonals of matrices; see `dist_ms.ops.diagonal`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.Tensor([[1, 2], [3, 4]]).diagonal())
        [1 4]
    """
    return ops.diagonal(self, offset, axis1, axis2)


def split(
    self: Tensor,
    split_size_or_sections: Any = None,
    axis: int = 0,
    *,
    split_size: Any = None,
    dim: int = 0,
) -> tuple:
    """Cut into parts along a dimension; see `dist_ms.ops.split`.

    Examples:
        >>> import dist_ms as ms
        >>> len(ms.Tensor([1, 2, 3]).split(2))
        2
    """
    size = split_size_or_sections if split_size is None else split_size
    return split_tensor(self, size, one_given("split", axis, dim, 0))


def chunk(self: Tensor, chunks: int, axis: int = 0, *, dim: int = 0) -> tuple:
    """Cut into at most so many parts along a dimension; see `dist_ms.ops.chunk`.

    Examples:
        >>> import dist_ms as ms
        >>> len(ms.Tensor([1, 2, 3]).chunk(2))
        2
    """
    return ops.chunk(self, chunks, one_given("chunk", axis, dim, 0))


def unbind(self: Tensor, dim: int = 0) -> tuple:
    """Return the slices along a dimension; see `dist_ms.ops.unbind`.

    Examples:
        >>> import dist_ms as ms
        >>> len(ms.Tensor([1, 2, 3]).unbind())
        3
    """
    return ops.unbind(self, dim)


def narrow(self: Tensor, dim: int, start: int, length: int) -> Tensor:
    """Take `length` slices from `start` along a dimension; see `dist_ms.ops.narrow`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.Tensor([1, 2, 3]).narrow(0, 1, 2))
        [2 3]
    """
    return ops.narrow(self, dim, start, length)


for _method in (
    reshape,
    view,
    reshape_as,
    transpose,
    permute,
    flatten,
    squeeze,
    broadcast_to,
    expand,
    sum_to_size,
    tile,
    repeat,
    repeat_interleave,
    flip,
    diagonal,
    split,
    chunk,
    unbind,
    narrow,
):
    setattr(Tensor, _method.__name__, _method)

Tensor.T = property(lambda self: transpose(self), doc="The tensor with its dimensions in reverse order.")
Tensor.mT = property(lambda self: ops.swapaxes(self, -1, -2), doc="The tensor with its last two dimensions exchanged.")


def _conjugate_transpose(self: Tensor) -> Tensor:
    """A matrix transposed and conjugated."""
    if self.ndim != 2:
        raise ValueError(f"For 'Tensor.H', the tensor must have 2 dimensions, but got {self.ndim}.")
    return ops.adjoint(self)


Tensor.H = property(_conjugate_transpose, doc=_conjugate_transpose.__doc__)
Tensor.mH = property(lambda self: ops.adjoint(self), doc="The tensor's matrices transposed and conjugated.")
