"""Pooling layers in PyTorch's form: the stride is the kernel's size unless given."""

from __future__ import annotations

from typing import Any

from dist_ms.common.tensor import Tensor
from dist_ms.mint.nn import functional
from dist_ms.mint.nn.function_layer import FunctionLayer
from dist_ms.nn.cell import Cell
from dist_ms.nn.layer.pooling_windows.adaptive_pooling import (
    AdaptiveAvgPool1d,
    AdaptiveAvgPool2d,
    AdaptiveAvgPool3d,
    AdaptiveMaxPool2d,
)

__all__ = [
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "MaxPool2d",
    "MaxUnpool2d",
]


class AdaptiveMaxPool1d(FunctionLayer, of="adaptive_max_pool1d"):
    """`functional.adaptive_max_pool1d` as a layer: `AdaptiveMaxPool1d(output_size, return_indices)(input)`."""

    def __init__(self, output_size: int, return_indices: bool = False) -> None:
        super().__init__(output_size=output_size, return_indices=return_indices)


class AvgPool1d(Cell):
    """`functional.avg_pool1d` as a layer: `AvgPool1d(kernel_size, stride, ...)(input)`."""

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__()
        self.window = kernel_size, stride, padding, ceil_mode, count_include_pad

    def construct(self, input: Tensor) -> Tensor:
        return functional.avg_pool1d(input, *self.window)


class AvgPool2d(Cell):
    """`functional.avg_pool2d` as a layer: `AvgPool2d(kernel_size, stride, ...)(input)`."""

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self.window = kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override

    def construct(self, input: Tensor) -> Tensor:
        return functional.avg_pool2d(input, *self.window)


class AvgPool3d(AvgPool2d):
    """`functional.avg_pool3d` as a layer: `AvgPool3d(kernel_size, stride, ...)(input)`."""

    def construct(self, input: Tensor) -> Tensor:
        return functional.avg_pool3d(input, *self.window)


class MaxPool2d(Cell):
    """`functional.max_pool2d` as a layer: `MaxPool2d(kernel_size, stride, ...)(input)`."""

    def __init__(
        self,
        kernel_size: Any = 1,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.window = kernel_size, stride, padding, dilation, ceil_mode, return_indices

    def construct(self, input: Tensor) -> Any:
        return functional.max_pool2d(input, *self.window)


class MaxUnpool2d(Cell):
    """`functional.max_unpool2d` as a layer.

    `MaxUnpool2d(kernel_size, stride, padding)(input, indices, output_size=None)`.
    """

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        self.window = kernel_size, stride, padding

    def construct(self, input: Tensor, indices: Tensor, output_size: Any = None) -> Tensor:
        return functional.max_unpool2d(input, indices, *self.window, output_size)
