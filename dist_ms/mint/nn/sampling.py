"""Padding, unfolding and interpolating layers in PyTorch's form."""

from __future__ import annotations

from typing import Any

from dist_ms.common.tensor import Tensor
from dist_ms.mint.nn import functional
from dist_ms.nn.cell import Cell
from dist_ms.nn.layer.image import PixelShuffle, Upsample
from dist_ms.nn.layer.padding import (
    ConstantPad1d,
    ConstantPad2d,
    ConstantPad3d,
    ReflectionPad1d,
    ReflectionPad2d,
    ReflectionPad3d,
    ReplicationPad1d,
    ReplicationPad2d,
    ReplicationPad3d,
    ZeroPad2d,
)

__all__ = [
    "ConstantPad1d",
    "ConstantPad2d",
    "ConstantPad3d",
    "Fold",
    "PixelShuffle",
    "ReflectionPad1d",
    "ReflectionPad2d",
    "ReflectionPad3d",
    "ReplicationPad1d",
    "ReplicationPad2d",
    "ReplicationPad3d",
    "Unfold",
    "Upsample",
    "UpsamplingBilinear2d",
    "UpsamplingNearest2d",
    "ZeroPad1d",
    "ZeroPad2d",
    "ZeroPad3d",
]


class ZeroPad1d(ConstantPad1d):
    """Pads the last dimension with zeros: an int, or (left, right).

    Examples:
        >>> import dist_ms as ms
        >>> ms.mint.nn.ZeroPad1d(1)(ms.ops.ones((1, 2, 3))).shape
        (1, 2, 5)
    """

    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0)


class ZeroPad3d(ConstantPad3d):
    """Pads the last three dimensions with zeros: an int, or (left, right, top, bottom, front, back).

    Examples:
        >>> import dist_ms as ms
        >>> ms.mint.nn.ZeroPad3d(1)(ms.ops.ones((1, 1, 2, 2, 2))).shape
        (1, 1, 4, 4, 4)
    """

    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0)


class Fold(Cell):
    """Applies `functional.fold`: adds up the windows that `Unfold` took.

    Examples:
        >>> import dist_ms as ms
        >>> ms.mint.nn.Fold((4, 4), 2)(ms.ops.ones((1, 8, 9))).shape
        (1, 2, 4, 4)
    """

    def __init__(
        self, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
    ) -> None:
        super().__init__()
        self.window = output_size, kernel_size, dilation, padding, stride

    def construct(self, input: Tensor) -> Tensor:
        return functional.fold(input, *self.window)


class Unfold(Cell):
    """Applies `functional.unfold`: one column for each window.

    Examples:
        >>> import dist_ms as ms
        >>> ms.mint.nn.Unfold(2)(ms.ops.ones((1, 2, 4, 4))).shape
        (1, 8, 9)
    """

    def __init__(self, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> None:
        super().__init__()
        self.window = kernel_size, dilation, padding, stride

    def construct(self, input: Tensor) -> Tensor:
        return functional.unfold(input, *self.window)


class UpsamplingNearest2d(Cell):
    """(N, C, H, W) at another size, each element from the nearest one.

    Args:
        size: the new height and width, or None.
        scale_factor: new size over old, or None.

    Examples:
        >>> import dist_ms as ms
        >>> ms.mint.nn.UpsamplingNearest2d((4, 4))(ms.ops.ones((1, 1, 2, 2))).shape
        (1, 1, 4, 4)
    """

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__()
        self.size, self.scale_factor = size, scale_factor

    def construct(self, input: Tensor) -> Tensor:
        return functional.interpolate(input, self.size, self.scale_factor, "nearest")


class UpsamplingBilinear2d(UpsamplingNearest2d):
    """(N, C, H, W) at another size, linear in both directions; the corners coincide.

    Examples:
        >>> import dist_ms as ms
        >>> ms.mint.nn.UpsamplingBilinear2d((4, 4))(ms.ops.ones((1, 1, 2, 2))).shape
        (1, 1, 4, 4)
    """

    def construct(self, input: Tensor) -> Tensor:
        return functional.interpolate(input, self.size, self.scale_factor, "bilinear", True)
