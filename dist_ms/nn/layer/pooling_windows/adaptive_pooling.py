"""Adaptive and power-mean pooling layers."""

from __future__ import annotations

from typing import Any

from dist_ms import ops
from dist_ms.common.checks import check_bool, check_positive_int
from dist_ms.common.tensor import Tensor
from dist_ms.nn.cell import Cell
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
    """Means over the last dimension of (N, C, L) such that the output has a given length.

    Args:
        output_size: the length wanted, a divisor of L.

    Raises:
        TypeError: if `output_size` is no int.
        ValueError: if it is not positive, or does not divide L.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.AdaptiveAvgPool1d(2)(ms.Tensor([[[1.0, 2.0, 3.0, 5.0]]])))
        [[[1.5 4. ]]]
    """

    def __init__(self, output_size: int) -> None:
        super().__init__()
        self.output_size = check_positive_int(output_size, "output_size", self.cls_name)

    def construct(self, input: Tensor) -> Tensor:
        return ops.adaptive_avg_pool1d(input, self.output_size)


class AdaptiveMaxPool1d(AdaptiveAvgPool1d):
    """Maxima over the last dimension of (N, C, L) such that the output has a given length.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.AdaptiveMaxPool1d(2)(ms.Tensor([[[1.0, 2.0, 3.0, 5.0]]])))
        [[[2. 5.]]]
    """

    def construct(self, input: Tensor) -> Tensor:
        return ops.adaptive_max_pool1d(input, self.output_size)


class AdaptiveAvgPool2d(Cell):
    """Means over windows of (N, C, H, W) or (C, H, W) such that the output has a given size.

    Args:
        output_size: an int, or a tuple (height, width); None keeps the input's length.

    Raises:
        TypeError: if `output_size` is no int, None or tuple of them.
        ValueError: if it is negative or a tuple of another length.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.AdaptiveAvgPool2d(1)(ms.Tensor([[[[1.0, 2.0], [3.0, 4.0]]]])))
        [[[[2.5]]]]
    """

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        output_size_of(output_size, 2, self.cls_name)
        self.output_size = output_size

    def construct(self, input: Tensor) -> Tensor:
        return ops.adaptive_avg_pool2d(input, self.output_size)


class AdaptiveAvgPool3d(Cell):
    """Means over windows of (N, C, D, H, W) such that the output has a given size.

    Args:
        output_size: an int, or a tuple (depth, height, width); None keeps the input's length.

    Raises:
        TypeError: if `output_size` is no int, None or tuple of them.
        ValueError: if it is negative or a tuple of another length.

    Examples:
        >>> import dist_ms as ms
        >>> ms.nn.AdaptiveAvgPool3d(2)(ms.ops.ones((1, 1, 4, 4, 4))).shape
        (1, 1, 2, 2, 2)
    """

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        output_size_of(output_size, 3, self.cls_name)
        self.output_size = output_size

    def construct(self, input: Tensor) -> Tensor:
        return ops.adaptive_avg_pool3d(input, self.output_size)


class AdaptiveMaxPool2d(Cell):
    """Maxima over windows of (N, C, H, W) or (C, H, W) such that the output has a given size.

    Args:
        output_size: an int, or a tuple (height, width); None keeps the input's length.
        return_indices: return the flat indices (int64) in the (H, W) plane as well.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if `output_size` is negative or a tuple of another length.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.AdaptiveMaxPool2d(1)(ms.Tensor([[[[1.0, 2.0], [3.0, 4.0]]]])))
        [[[[4.]]]]
    """

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__()
        output_size_of(output_size, 2, self.cls_name)
        self.output_size = output_size
        self.return_indices = check_bool(return_indices, "return_indices", self.cls_name)

    def construct(self, input: Tensor) -> Any:
        return ops.adaptive_max_pool2d(input, self.output_size, self.return_indices)


class AdaptiveMaxPool3d(Cell):
    """Maxima over windows of (N, C, D, H, W) such that the output has a given size.

    Args:
        output_size: an int, or a tuple (depth, height, width); None keeps the input's length.
        return_indices: return the flat indices (int32) in the (D, H, W) block as well.

    Examples:
        >>> import dist_ms as ms
        >>> ms.nn.AdaptiveMaxPool3d(2)(ms.ops.ones((1, 1, 4, 4, 4))).shape
        (1, 1, 2, 2, 2)
    """

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__()
        output_size_of(output_size, 3, self.cls_name)
        self.output_size = output_size
        self.return_indices = check_bool(return_indices, "return_indices", self.cls_name)

    def construct(self, input: Tensor) -> Any:
        return ops.adaptive_max_pool3d(input, self.output_size, self.return_indices)


class LPPool1d(Cell):
    """(sum of x^p)^(1/p) over sliding windows of (N, C, L) or (C, L).

    Args:
        norm_type: p, not 0.
        kernel_size: length of a window.
        stride: step of the window; None for `kernel_size`.
        ceil_mode: whether a partly filled last window counts.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.LPPool1d(2, 2)(ms.Tensor([[[3.0, 4.0]]])))
        [[[5.]]]
    """

    def __init__(self, norm_type: float, kernel_size: int, stride: int | None = None, ceil_mode: bool = False) -> None:
        super().__init__()
        self.norm_type, self.kernel_size = norm_type, kernel_size
        self.stride, self.ceil_mode = stride, ceil_mode

    def construct(self, x: Tensor) -> Tensor:
        return ops.lp_pool1d(x, self.norm_type, self.kernel_size, self.stride, self.ceil_mode)


class LPPool2d(LPPool1d):
    """(sum of x^p)^(1/p) over sliding windows of (N, C, H, W) or (C, H, W); see `LPPool1d`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.LPPool2d(2, (2, 1))(ms.Tensor([[[[3.0], [4.0]]]])))
        [[[[5.]]]]
    """

    def construct(self, x: Tensor) -> Tensor:
        return ops.lp_pool2d(x, self.norm_type, self.kernel_size, self.stride, self.ceil_mode)
