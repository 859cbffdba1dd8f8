"""Adaptive and power-mean pooling layers."""

from __future__ import annotations

from typing import Any

from dist_ms import ops
from dist_ms.common.checks import check_bool, check_positive_int
from dist_ms.common.error_classes import raises, scalars, truths
from dist_ms.common.tensor import Tensor
from dist_ms.nn.cell import Cell
from dist_ms.ops.arguments import tensor
from dist_ms.ops.pooling_windows.adaptive_pooling import output_size_of

__all__ = [
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d",
    "LPPool1d",
    "LPPool2d",
]


class AdaptiveAvgPool1d(Cell):
    """`ops.adaptive_avg_pool1d` as a layer: `AdaptiveAvgPool1d(output_size)(input)`."""

    def __init__(self, output_size: int) -> None:
        super().__init__()
        self.output_size = check_positive_int(output_size, "output_size", self.cls_name)

    def construct(self, input: Tensor) -> Tensor:
        return ops.adaptive_avg_pool1d(tensor(input, "input", self.cls_name), self.output_size)


class AdaptiveMaxPool1d(AdaptiveAvgPool1d):
    """`ops.adaptive_max_pool1d` as a layer: `AdaptiveMaxPool1d(output_size)(x)`."""

    def construct(self, x: Tensor) -> Tensor:
        return ops.adaptive_max_pool1d(x, self.output_size)


class AdaptiveAvgPool2d(Cell):
    """`ops.adaptive_avg_pool2d` as a layer: `AdaptiveAvgPool2d(output_size)(input)`."""

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        output_size_of(output_size, 2, self.cls_name, (int, tuple))
        self.output_size = output_size

    def construct(self, input: Tensor) -> Tensor:
        return ops.adaptive_avg_pool2d(input, self.output_size)


class AdaptiveAvgPool3d(Cell):
    """`ops.adaptive_avg_pool3d` as a layer: `AdaptiveAvgPool3d(output_size)(input)`."""

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        output_size_of(output_size, 3, self.cls_name, (int, tuple))
        self.output_size = output_size

    def construct(self, input: Tensor) -> Tensor:
        return ops.adaptive_avg_pool3d(input, self.output_size)


@raises(output_size=(TypeError, RuntimeError))
@raises(output_size=(TypeError, RuntimeError))
class AdaptiveMaxPool2d(Cell):
    """`ops.adaptive_max_pool2d` as a layer: `AdaptiveMaxPool2d(output_size, return_indices)(input)`."""

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__()
        output_size_of(output_size, 2, self.cls_name)
        self.output_size = output_size
        self.return_indices = check_bool(return_indices, "return_indices", self.cls_name)

    def construct(self, input: Tensor) -> Any:
        return ops.adaptive_max_pool2d(input, self.output_size, self.return_indices)


@scalars("return_indices")
@truths("return_indices")
class AdaptiveMaxPool3d(Cell):
    """`ops.adaptive_max_pool3d` as a layer: `AdaptiveMaxPool3d(output_size, return_indices)(input)`."""

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__()
        output_size_of(output_size, 3, self.cls_name)
        self.output_size = output_size
        self.return_indices = check_bool(return_indices, "return_indices", self.cls_name)

    def construct(self, input: Tensor) -> Any:
        return ops.adaptive_max_pool3d(input, self.output_size, self.return_indices)


class LPPool1d(Cell):
    """`ops.lp_pool1d` as a layer: `LPPool1d(norm_type, kernel_size, stride, ceil_mode)(x)`."""

    def __init__(self, norm_type: float, kernel_size: int, stride: int | None = None, ceil_mode: bool = False) -> None:
        super().__init__()
        self.norm_type, self.kernel_size = norm_type, kernel_size
        self.stride, self.ceil_mode = stride, ceil_mode

    def construct(self, x: Tensor) -> Tensor:
        return ops.lp_pool1d(x, self.norm_type, self.kernel_size, self.stride, self.ceil_mode)


class LPPool2d(LPPool1d):
    """`ops.lp_pool2d` as a layer: `LPPool2d(norm_type, kernel_size, stride, ceil_mode)(x)`."""

    def construct(self, x: Tensor) -> Tensor:
        return ops.lp_pool2d(x, self.norm_type, self.kernel_size, self.stride, self.ceil_mode)
