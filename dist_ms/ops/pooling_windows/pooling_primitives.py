"""MindSpore's pooling primitives: MaxPool, AvgPool, MaxPoolWithArgmax and the 3-D ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dist_ms.common.checks import check_bool, check_non_negative_int, check_string
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops.arguments import tensor
from dist_ms.ops.convolutions.geometry import check_data_format, mode_padding, per_dimension, strides_of
from dist_ms.ops.pooling_windows.pooling import AvgPooling, MaxPooling, MaxPoolingWithIndices, Pool
from dist_ms.ops.primitive import Primitive

__all__ = ["AvgPool", "AvgPool3D", "MaxPool", "MaxPool3D", "MaxPoolWithArgmax"]


def _window(value: Any, rank: int, name: str, owner: str) -> tuple[int, ...]:
    """A kernel size or stride."""
    return strides_of(value, rank, name, owner, ValueError)


class _Pooling(Primitive):
    """A pooling primitive: holds the internal operation that does the work."""

    _op: Callable[[Tensor], Any]

    def __call__(self, x: Tensor) -> Any:
        return self._op(tensor(x, "x", self.name))


class MaxPool(_Pooling):
    """The maximum over sliding windows of a (N, C, H, W) tensor.

    Args:
        kernel_size: an int or a tuple (height, width).
        strides: an int or a tuple (height, width).
        pad_mode: "valid" without padding or "same" for an output of ceil(size / stride).
        data_format: "NCHW".

    Call:
        x (Tensor): (N, C, H, W) floats.

    Raises:
        TypeError: if a number is no int, or `x` holds no floats.
        ValueError: if a number is out of range, or `x` is smaller than the kernel.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.MaxPool(2, 2)(ms.Tensor([[[[1.0, 2.0], [3.0, 4.0]]]])))
        [[[[4.]]]]
    """

    def __init__(
        self, kernel_size: Any = 1, strides: Any = 1, pad_mode: str = "valid", data_format: str = "NCHW"
    ) -> None:
        self._op = MaxPooling(_read(self, kernel_size, strides, pad_mode, data_format))


class AvgPool(_Pooling):
    """The mean over sliding windows of a (N, C, H, W) tensor; padding does not count.

    Args:
        kernel_size: an int or a tuple (height, width).
        strides: an int or a tuple (height, width).
        pad_mode: "valid" without padding or "same" for an output of ceil(size / stride).
        data_format: "NCHW".

    Call:
        x (Tensor): (N, C, H, W) floats.

    Raises:
        TypeError: if a number is no int, or `x` holds no floats.
        ValueError: if a number is out of range, or `x` is smaller than the kernel.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.AvgPool(2, 2)(ms.Tensor([[[[1.0, 2.0], [3.0, 4.0]]]])))
        [[[[2.5]]]]
    """

    def __init__(
        self, kernel_size: Any = 1, strides: Any = 1, pad_mode: str = "VALID", data_format: str = "NCHW"
    ) -> None:
        pool = _read(self, kernel_size, strides, pad_mode, data_format, RuntimeError)
        self._op = AvgPooling(pool, count_padding=False)


class MaxPoolWithArgmax(_Pooling):
    """The maximum over sliding windows, and its flat index in the (C, H, W) sample as int32.

    Args:
        kernel_size: an int or a tuple (height, width).
        strides: an int or a tuple (height, width).
        pad_mode: "valid" or "same".
        data_format: "NCHW".

    Call:
        x (Tensor): (N, C, H, W) floats.

    Returns:
        A tuple (maxima, indices).

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.MaxPoolWithArgmax(2, 2)(ms.Tensor([[[[1.0, 2.0], [3.0, 4.0]]]]))[1])
        [[[[3]]]]
    """

    def __init__(
        self, kernel_size: Any = 1, strides: Any = 1, pad_mode: str = "valid", data_format: str = "NCHW"
    ) -> None:
        self._op = MaxPoolingWithIndices(_read(self, kernel_size, strides, pad_mode, data_format))

    def __call__(self, x: Tensor) -> tuple:
        out, index = super().__call__(x)
        first = np.arange(x.shape[1])[:, None, None] * (x.shape[2] * x.shape[3])
        return out, wrap((index.array() + first).astype(np.int32))


def _read(
    op: Primitive, kernel_size: Any, strides: Any, pad_mode: str, data_format: str, size_error: type = ValueError
) -> Pool:
    """Check and name the attributes of a 2-D pooling."""
    owner = type(op).__name__
    kernel, stride = _window(kernel_size, 2, "kernel_size", owner), _window(strides, 2, "strides", owner)
    op.kernel_size, op.strides = (1, 1, *kernel), (1, 1, *stride)
    op.pad_mode = check_string(
        pad_mode.upper() if isinstance(pad_mode, str) else pad_mode, "pad_mode", owner, ["VALID", "SAME"]
    )
    op.data_format = check_data_format(data_format, owner, "NCHW")
    padding = None if op.pad_mode == "SAME" else ((0, 0), (0, 0))
    return Pool(kernel, stride, padding, (1, 1), owner=owner, size_error=size_error)


def _read_3d(
    op: Primitive, kernel_size: Any, strides: Any, pad_mode: str, pad: Any, ceil_mode: Any, data_format: str
) -> Pool:
    """Check and name the attributes of a 3-D pooling."""
    owner = type(op).__name__
    op.kernel_size, op.strides = (_window(kernel_size, 3, "kernel_size", owner), _window(strides, 3, "strides", owner))
    op.pad_mode = check_string(
        pad_mode.upper() if isinstance(pad_mode, str) else pad_mode, "pad_mode", owner, ["VALID", "SAME", "PAD"]
    )
    padding = mode_padding(op.pad_mode.lower(), pad, 3, "pad", owner)
    op.data_format = check_data_format(data_format, owner, "NCDHW")
    return Pool(op.kernel_size, op.strides, padding, (1, 1, 1), bool(ceil_mode), owner).check_padding()


class MaxPool3D(_Pooling):
    """The maximum over sliding windows of a (N, C, D, H, W) tensor.

    Args:
        kernel_size: an int or a tuple of 3.
        strides: an int or a tuple of 3.
        pad_mode: "valid", "same" or "pad".
        pad_list: padding for "pad": an int or a tuple of 6, two per dimension.
        ceil_mode: whether a partly filled last window counts.
        data_format: "NCDHW".

    Call:
        x (Tensor): (N, C, D, H, W) floats.

    Raises:
        TypeError: if a number is no int, or `x` holds no floats.
        ValueError: if a number is out of range, or `x` is smaller than the kernel.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.MaxPool3D(2, 2)(ms.ops.ones((1, 1, 4, 4, 4))).shape
        (1, 1, 2, 2, 2)
    """

    def __init__(
        self,
        kernel_size: Any = 1,
        strides: Any = 1,
        pad_mode: str = "VALID",
        pad_list: Any = 0,
        ceil_mode: bool | None = None,
        data_format: str = "NCDHW",
    ) -> None:
        self._op = MaxPooling(_read_3d(self, kernel_size, strides, pad_mode, pad_list, ceil_mode, data_format))


class AvgPool3D(_Pooling):
    """The mean over sliding windows of a (N, C, D, H, W) tensor.

    Args:
        kernel_size: an int or a tuple of 3.
        strides: an int or a tuple of 3.
        pad_mode: "valid", "same" or "pad".
        pad: padding for "pad": an int or a tuple of 6, two per dimension.
        ceil_mode: whether a partly filled last window counts.
        count_include_pad: whether padding counts in the mean.
        divisor_override: divide by this instead of the number of elements; 0 not to.
        data_format: "NCDHW".

    Call:
        x (Tensor): (N, C, D, H, W) floats.

    Raises:
        TypeError: if a number is no int, or `x` holds no floats.
        ValueError: if a number is out of range, or `x` is smaller than the kernel.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.AvgPool3D(2, 2)(ms.ops.ones((1, 1, 2, 2, 2))))
        [[[[[1.]]]]]
    """

    def __init__(
        self,
        kernel_size: Any = 1,
        strides: Any = 1,
        pad_mode: str = "valid",
        pad: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int = 0,
        data_format: str = "NCDHW",
    ) -> None:
        check_bool(ceil_mode, "ceil_mode", "AvgPool3D")
        check_bool(count_include_pad, "count_include_pad", "AvgPool3D")
        check_non_negative_int(divisor_override, "divisor_override", "AvgPool3D")
        self._op = AvgPooling(
            _read_3d(self, kernel_size, strides, pad_mode, pad, ceil_mode, data_format),
            count_include_pad,
            divisor_override,
        )


def pool_of(owner: str, rank: int, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool) -> Pool:
    """The windows of a functional pooling: symmetric padding, an int or tuple for each number."""
    check_bool(ceil_mode, "ceil_mode", owner)
    kernel = per_dimension(kernel_size, rank, "kernel_size", owner, ValueError)
    stride = kernel if stride is None else per_dimension(stride, rank, "stride", owner, ValueError)
    symmetric = not (isinstance(padding, (tuple, list)) and len(padding) == 2 * rank)
    pairs = mode_padding("pad", padding, rank, "padding", owner, symmetric)
    return Pool(
        kernel, stride, pairs, per_dimension(dilation, rank, "dilation", owner, ValueError), ceil_mode, owner
    ).check_padding()
