"""Unfolding and interpolating layers in PyTorch's form."""

from __future__ import annotations

from typing import Any

from dist_ms.common.tensor import Tensor
from dist_ms.mint.nn import functional
from dist_ms.mint.nn.function_layer import FunctionLayer
from dist_ms.nn.cell import Cell
from dist_ms.nn.layer.image import PixelShuffle
from dist_ms.nn.layer.image import Upsample as PlainUpsample

__all__ = [
    "Fold",
    "PixelShuffle",
    "Unfold",
    "Upsample",
    "UpsamplingBilinear2d",
    "UpsamplingNearest2d",
]


class Fold(FunctionLayer):
    """`functional.fold` as a layer: `Fold(output_size, kernel_size, dilation, padding, stride)(input)`."""

    def __init__(
        self, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
    ) -> None:
        super().__init__(
            output_size=output_size, kernel_size=kernel_size, dilation=dilation, padding=padding, stride=stride
        )


class Unfold(FunctionLayer):
    """`functional.unfold` as a layer: `Unfold(kernel_size, dilation, padding, stride)(input)`."""

    def __init__(self, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> None:
        super().__init__(kernel_size=kernel_size, dilation=dilation, padding=padding, stride=stride)


class Upsample(PlainUpsample):
    """`functional.interpolate` as a layer.

    `Upsample(size, scale_factor, mode, align_corners, recompute_scale_factor)(input)`
    """

    def construct(self, input: Tensor) -> Tensor:
        return functional.interpolate(
            input, self.size, self.scale_factor, self.mode, self.align_corners, self.recompute_scale_factor
        )


class UpsamplingNearest2d(Cell):
    """`functional.interpolate` of (N, C, H, W) as a layer, in the mode "nearest"."""

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__()
        self.size, self.scale_factor = size, scale_factor

    def construct(self, input: Tensor) -> Tensor:
        return functional.interpolate(input, self.size, self.scale_factor, "nearest")


class UpsamplingBilinear2d(UpsamplingNearest2d):
    """`functional.interpolate` of (N, C, H, W) as a layer, in the mode "bilinear", where the corners coincide."""

    def construct(self, input: Tensor) -> Tensor:
        return functional.interpolate(input, self.size, self.scale_factor, "bilinear", True)
