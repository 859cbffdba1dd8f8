"""Slice, StridedSlice, narrow: parts of a tensor by numbers. They share its memory."""

from __future__ import annotations

from typing import Any

from dist_ms.common.checks import check_non_negative_int
from dist_ms.common.error_classes import bools, plain, scalars
from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import integer, integers, one_axis, tensor
from dist_ms.ops.picking.indexing import GetItem
from dist_ms.ops.primitive import Primitive

__all__ = ["Slice", "StridedSlice", "narrow", "slice", "strided_slice", "tensor_slice"]

_slice = slice


class Slice(Primitive):
    """`slice` as a primitive: `Slice()(input, begin, size)`."""

    def __call__(self, input: Tensor, begin: Any, size: Any) -> Tensor:
        shape = tensor(input, "input", self.name).shape
        for name, value in (("begin", begin), ("size", size)):
            if isinstance(value, int):
                raise TypeError(f"For '{self.name}', '{name}' must be a tuple or list of ints, but got {value}.")
        starts, counts = integers(begin, "begin", self.name), integers(size, "size", self.name)
        if not len(starts) == len(counts) == len(shape):
            raise ValueError(
                f"For '{self.name}', 'begin' and 'size' must have one number per dimension of 'input', "
                f"but got {begin} and {size} for the shape {shape}."
            )
        if min(counts, default=0) < -1:
            raise RuntimeError(f"For '{self.name}', 'size' must hold lengths of 0 or more, or -1, but got {size}.")
        counts = tuple([n - a if c == -1 else c for n, a, c in zip(shape, starts, counts)])
        if any(a < 0 or c < 0 or a + c > n for n, a, c in zip(shape, starts, counts)):
            raise ValueError(
                f"For '{self.name}', 'begin' and 'size' must name a part of the shape {shape}, "
                f"but got {begin} and {size}."
            )
        return GetItem(tuple([_slice(a, a + c) for a, c in zip(starts, counts)]))(input)


@scalars("begin", "end", "strides", "begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")
class StridedSlice(Primitive):
    """`strided_slice` as a primitive: `StridedSlice(begin_mask, end_mask, ellipsis_mask, new_axis_mask,
    shrink_axis_mask)(input_x, begin, end, strides)`.
    """

    def __init__(
        self,
        begin_mask: int = 0,
        end_mask: int = 0,
        ellipsis_mask: int = 0,
        new_axis_mask: int = 0,
        shrink_axis_mask: int = 0,
    ) -> None:
        self.begin_mask = integer(begin_mask, "begin_mask", self.name)
        self.end_mask = integer(end_mask, "end_mask", self.name)
        self.ellipsis_mask = integer(ellipsis_mask, "ellipsis_mask", self.name)
        self.new_axis_mask = integer(new_axis_mask, "new_axis_mask", self.name)
        self.shrink_axis_mask = integer(shrink_axis_mask, "shrink_axis_mask", self.name)
        for name, mask in vars(self).items():
            check_non_negative_int(mask, name, self.name)

    def __call__(self, input_x: Tensor, begin: Any, end: Any, strides: Any) -> Tensor:
        tensor(input_x, "input_x", self.name)
        starts, stops, steps = (
            integers(v, a, self.name) for v, a in ((begin, "begin"), (end, "end"), (strides, "strides"))
        )
        if not len(starts) == len(stops) == len(steps) or 0 in steps:
            raise ValueError(
                f"For '{self.name}', 'begin', 'end' and 'strides' must have one length, and no stride may "
                f"be 0, but got {begin}, {end} and {strides}."
            )
        if len(starts) > input_x.ndim and not self.new_axis_mask:
            raise ValueError(
                f"For '{self.name}', 'begin' must have at most one number per dimension of the shape {input_x.shape}, "
                f"but got {begin}."
            )
        parts: list = []
        for i, (a, b, s) in enumerate(zip(starts, stops, steps)):
            bit = 1 << i
            if self.ellipsis_mask & bit:
                parts.append(...)
            elif self.new_axis_mask & bit:
                parts.append(None)
            elif self.shrink_axis_mask & bit:
                parts.append(a)
            else:
                parts.append(_slice(None if self.begin_mask & bit else a, None if self.end_mask & bit else b, s))
        return GetItem(tuple(parts))(input_x)


_slice_op = Slice()


def slice(input_x: Tensor, begin: Any, size: Any) -> Tensor:
    """Take the part of a tensor that starts at `begin` and has `size` elements along each dimension.

    Args:
        input_x: a Tensor.
        begin: where to start, for each dimension.
        size: how many elements; -1 for all that are left.

    Returns:
        Tensor that shares the memory of `input_x`.

    Raises:
        TypeError: if `begin` or `size` holds anything but ints.
        ValueError: if the part does not lie in the tensor.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.slice(ms.Tensor([1, 2, 3]), (1,), (2,)))
        [2 3]
    """
    return _slice_op(input_x, begin, size)


def tensor_slice(input: Tensor, begin: Any, size: Any) -> Tensor:
    """A part of a tensor: `slice`, with another name for its argument.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.tensor_slice(ms.Tensor([1, 2, 3]), (1,), (2,)))
        [2 3]
    """
    return slice(input, begin, size)


def strided_slice(
    input_x: Tensor,
    begin: Any,
    end: Any,
    strides: Any,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
) -> Tensor:
    """Take the part of a tensor from `begin` to `end` in steps, along each dimension.

    Args:
        input_x: a Tensor.
        begin: where to start, for the first dimensions.
        end: where to stop.
        strides: the steps, not 0.
        begin_mask: bit i: start at the very beginning.
        end_mask: bit i: go to the very end.
        ellipsis_mask: bit i: the entry stands for as many whole dimensions as are not named.
        new_axis_mask: bit i: put in a dimension of length 1.
        shrink_axis_mask: bit i: take the one element at `begin` and drop the dimension.

    Returns:
        Tensor that shares the memory of `input_x`.

    Raises:
        TypeError: if an argument holds anything but ints.
        ValueError: if the lengths differ, or a step is 0.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.strided_slice(ms.Tensor([1, 2, 3, 4]), (3,), (0,), (-1,)))
        [4 3 2]
    """
    return StridedSlice(begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)(
        input_x, begin, end, strides
    )


@bools("axis")
@plain("axis", "start", "length")
def narrow(input: Tensor, axis: int, start: int, length: int) -> Tensor:
    """Take `length` slices from `start` along one dimension.

    Args:
        input: a Tensor.
        axis: the dimension.
        start: the first slice.
        length: how many.

    Returns:
        Tensor that shares the memory of `input`.

    Raises:
        TypeError: if an argument is no int.
        ValueError: if the part does not lie in the tensor.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.narrow(ms.Tensor([1, 2, 3]), 0, 1, 2))
        [2 3]
    """
    axis = one_axis(axis, "axis", "narrow", tensor(input, "input", "narrow").ndim)
    n = input.shape[axis] if input.ndim else -1
    start, length = integer(start, "start", "narrow"), integer(length, "length", "narrow")
    begin = start + n if start < 0 else start
    if not 0 <= begin <= n or length < 0 or begin + length > n:
        raise ValueError(
            f"For 'narrow', 'start' and 'length' must name a part of a dimension of length {n}, "
            f"but got {start} and {length}."
        )
    return GetItem((_slice(None),) * axis + (_slice(begin, begin + length),))(input)
