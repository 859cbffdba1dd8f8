"""Pooling layers in PyTorch's form: the stride is the kernel's size unless given."""

from __future__ import annotations

from typing import Any

from dist_ms.common.tensor import Tensor
from dist_ms.mint.nn import functional
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


class AdaptiveMaxPool1d(Cell):
    """Applies `functional.adaptive_max_pool1d`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nn.AdaptiveMaxPool1d(2)(ms.Tensor([[[1.0, 3.0, 2.0, 0.0]]])))
        [[[3. 2.]]]
    """

    def __init__(self, output_size: int, return_indices: bool = False) -> None:
        super().__init__()
        self.output_size, self.return_indices = output_size, return_indices

    def construct(self, input: Tensor) -> Any:
        return functional.adaptive_max_pool1d(input, self.output_size, self.return_indices)


class AvgPool1d(Cell):
    """Applies `functional.avg_pool1d`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nn.AvgPool1d(2)(ms.Tensor([[[1.0, 3.0, 2.0, 0.0]]])))
        [[[2. 1.]]]
    """

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
    """Applies `functional.avg_pool2d`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nn.AvgPool2d(2)(ms.Tensor([[[[1.0, 3.0], [2.0, 0.0]]]])))
        [[[[1.5]]]]
    """

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
    """Applies `functional.avg_pool3d`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nn.AvgPool3d(2)(ms.ops.ones((1, 1, 2, 2, 2))))
        [[[[[1.]]]]]
    """

    def construct(self, input: Tensor) -> Tensor:
        return functional.avg_pool3d(input, *self.window)


class MaxPool2d(Cell):
    """Applies `functional.max_pool2d`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nn.MaxPool2d(2)(ms.Tensor([[[[1.0, 3.0], [2.0, 0.0]]]])))
        [[[[3.]]]]
    """

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
    """Applies `functional.max_unpool2d`.

    Examples:
        >>> import dist_ms as ms
        >>> pooled = ms.mint.nn.MaxPool2d(2, return_indices=True)(ms.Tensor([[[[1.0, 3.0], [2.0, 0.0]]]]))
        >>> print(ms.mint.nn.MaxUnpool2d(2)(*pooled))
        [[[[0. 3.]
           [0. 0.]]]]
    """

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        self.window = kernel_size, stride, padding

    def construct(self, input: Tensor, indices: Tensor, output_size: Any = None) -> Tensor:
        return functional.max_unpool2d(input, indices, *self.window, output_size)
