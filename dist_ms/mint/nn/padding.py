"""Padding layers in PyTorch's form."""

from __future__ import annotations

from typing import Any

from dist_ms.common.checks import check_int, check_non_negative_int, check_positive_int, complaint
from dist_ms.common.tensor import Tensor
from dist_ms.mint.nn import functional
from dist_ms.nn.cell import Cell

__all__ = [
    "ConstantPad1d",
    "ConstantPad2d",
    "ConstantPad3d",
    "ReflectionPad1d",
    "ReflectionPad2d",
    "ReflectionPad3d",
    "ReplicationPad1d",
    "ReplicationPad2d",
    "ReplicationPad3d",
    "ZeroPad1d",
    "ZeroPad2d",
    "ZeroPad3d",
]


class _Padding(Cell):
    """What the layers share that pad the last dimensions: a border as (left, right, top, ...)."""

    _rank, _mode = 0, "constant"
    value: float | None = None

    def __init__(self, padding: Any) -> None:
        super().__init__()
        count, grows = 2 * self._rank, self._mode != "constant"
        if isinstance(padding, int):
            number = (check_positive_int if grows else check_int)(padding, "padding", self.cls_name)
            self.padding = (number,) * count
            return
        if not isinstance(padding, (tuple, list)) or len(padding) != count:
            raise ValueError(
                complaint("padding", self.cls_name, f"an int or a tuple or list of {count} ints", repr(padding))
            )
        check = check_non_negative_int if grows else check_int
        self.padding = tuple(check(n, f"padding[{i}]", self.cls_name) for i, n in enumerate(padding))

    def construct(self, input: Tensor) -> Tensor:
        return functional.pad(input, self.padding, self._mode, self.value)


class _ConstantPad(_Padding):
    """A border of one value; negative numbers cut off."""

    def __init__(self, padding: Any, value: float) -> None:
        super().__init__(padding)
        self.value = value


class ConstantPad1d(_ConstantPad):
    """Pads the last dimension with a value.

    Args:
        padding: an int for both sides, or (left, right); negative numbers cut off.
        value: the value.

    Raises:
        TypeError: if a number in `padding` is no int.
        ValueError: if `padding` has another length.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nn.ConstantPad1d([1, 0], 0.5)(ms.Tensor([[1.0]])))
        [[0.5 1. ]]
    """

    _rank = 1


class ConstantPad2d(_ConstantPad):
    """`ConstantPad1d` of the last two dimensions: an int, or (left, right, top, bottom)."""

    _rank = 2


class ConstantPad3d(_ConstantPad):
    """`ConstantPad1d` of the last three dimensions: an int, or (left, right, top, bottom, front, back)."""

    _rank = 3


class _ZeroPad(_ConstantPad):
    """A border of zeros; negative numbers cut off."""

    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0)


class ZeroPad1d(_ZeroPad):
    """`ConstantPad1d` with zeros: an int, or (left, right)."""

    _rank = 1


class ZeroPad2d(_ZeroPad):
    """`ConstantPad2d` with zeros: an int, or (left, right, top, bottom)."""

    _rank = 2


class ZeroPad3d(_ZeroPad):
    """`ConstantPad3d` with zeros: an int, or (left, right, top, bottom, front, back)."""

    _rank = 3


class ReflectionPad1d(_Padding):
    """Pads the last dimension with its mirror image, without the edge.

    Args:
        padding: a positive int for both sides, or (left, right), 0 or more.

    Raises:
        TypeError: if a number in `padding` is no int.
        ValueError: if `padding` has another length, or a number is too small.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nn.ReflectionPad1d(1)(ms.Tensor([[1.0, 2.0, 3.0]])))
        [[2. 1. 2. 3. 2.]]
    """

    _rank, _mode = 1, "reflect"


class ReflectionPad2d(_Padding):
    """`ReflectionPad1d` of the last two dimensions: an int, or (left, right, top, bottom)."""

    _rank, _mode = 2, "reflect"


class ReflectionPad3d(_Padding):
    """`ReflectionPad1d` of the last three dimensions: an int, or (left, right, top, bottom, front, back)."""

    _rank, _mode = 3, "reflect"


class ReplicationPad1d(_Padding):
    """Pads the last dimension with its edge.

    Args:
        padding: a positive int for both sides, or (left, right), 0 or more.

    Raises:
        TypeError: if a number in `padding` is no int.
        ValueError: if `padding` has another length, or a number is too small.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nn.ReplicationPad1d(1)(ms.Tensor([[1.0, 2.0]])))
        [[1. 1. 2. 2.]]
    """

    _rank, _mode = 1, "replicate"


class ReplicationPad2d(_Padding):
    """`ReplicationPad1d` of the last two dimensions: an int, or (left, right, top, bottom)."""

    _rank, _mode = 2, "replicate"


class ReplicationPad3d(_Padding):
    """`ReplicationPad1d` of the last three dimensions: an int, or (left, right, top, bottom, front, back)."""

    _rank, _mode = 3, "replicate"
