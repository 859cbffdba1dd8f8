"""MaxPoolWithArgmaxV2, MaxUnpool2D and their kin: maxima with their places, and back."""

from __future__ import annotations

from typing import Any

from dist_ms.common.checks import check_bool, check_dimensions
from dist_ms.common.dtype import Number, int32, int64
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops.arguments import integers, one_of, tensor
from dist_ms.ops.pooling_windows import unpooling
from dist_ms.ops.pooling_windows.adaptive_pooling import adaptive_max_pool3d
from dist_ms.ops.pooling_windows.pooling import MaxPoolingWithIndices
from dist_ms.ops.pooling_windows.pooling_primitives import pool_of
from dist_ms.ops.primitive import Primitive

__all__ = ["AdaptiveMaxPool3D", "MaxPool3DWithArgmax", "MaxPoolWithArgmaxV2", "MaxUnpool2D", "MaxUnpool3D"]


class AdaptiveMaxPool3D(Primitive):
    """Maxima over windows such that the output has a given size, and their flat places (int32).

    Call:
        x (Tensor): (C, D, H, W) or (N, C, D, H, W).
        output_size (Tensor): three positive integers.

    Raises:
        ValueError: if `output_size` has not three positive numbers, or `x` another number of dimensions.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.ops.arange(4.0).reshape(1, 1, 2, 2)
        >>> print(ms.ops.AdaptiveMaxPool3D()(x, ms.Tensor([1, 1, 1]))[1])
        [[[[3]]]]
    """

    def __call__(self, x: Tensor, output_size: Any) -> tuple:
        size = integers(output_size, "output_size", self.name)
        if len(size) != 3 or min(size) < 1:
            raise ValueError(f"For '{self.name}', 'output_size' must be three positive numbers, but got {size}.")
        out, places = adaptive_max_pool3d(tensor(x, "x", self.name), size, True)
        return out, wrap(places.array().astype(int32.np))


class _MaxPoolWithPlaces(Primitive):
    """What both ranks share."""

    _rank = 0

    def _set(self, kernel: Any, stride: Any, pads: Any, dilation: Any, ceil_mode: Any, argmax_type: Any) -> None:
        if argmax_type not in (int32, int64):
            raise TypeError(f"For '{self.name}', 'argmax_type' must be int32 or int64, but got {argmax_type!r}.")
        check_bool(ceil_mode, "ceil_mode", self.name)
        self.argmax_type, self.ceil_mode = argmax_type, ceil_mode
        self._pool = MaxPoolingWithIndices(pool_of(self.name, self._rank, kernel, stride, pads, dilation, ceil_mode))

    def __call__(self, x: Tensor) -> tuple:
        check_dimensions(tensor(x, "x", self.name), "x", self.name, self._rank + 2)
        out, places = self._pool(x)
        return out, wrap(places.array().astype(self.argmax_type.np))


class MaxPoolWithArgmaxV2(_MaxPoolWithPlaces):
    """Maxima over sliding windows, and their flat places in the (H, W) plane.

    Args:
        kernel_size: an int or a tuple (height, width).
        strides: an int or a tuple; None for `kernel_size`.
        pads: padding on both sides, an int or a tuple.
        dilation: step between a window's elements.
        ceil_mode: whether windows may reach over the end.
        argmax_type: int32 or int64.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if a number is out of range.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.MaxPoolWithArgmaxV2(2)(ms.Tensor([[[[1.0, 2.0], [3.0, 4.0]]]]))[1])
        [[[[3]]]]
    """

    _rank = 2

    def __init__(
        self,
        kernel_size: Any,
        strides: Any = None,
        pads: Any = 0,
        dilation: Any = (1, 1),
        ceil_mode: bool = False,
        argmax_type: Number = int64,
    ) -> None:
        self.kernel_size, self.strides, self.pads, self.dilation = kernel_size, strides, pads, dilation
        self._set(kernel_size, kernel_size if strides is None else strides, pads, dilation, ceil_mode, argmax_type)


class MaxPool3DWithArgmax(_MaxPoolWithPlaces):
    """Maxima over sliding windows, and their flat places in the (D, H, W) volume.

    Args:
        ksize, strides, pads, dilation: an int or a tuple of three.
        ceil_mode: whether windows may reach over the end.
        data_format: "NCDHW".
        argmax_type: int32 or int64.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.MaxPool3DWithArgmax(2, 2, 0)(ms.ops.arange(8.0).reshape(1, 1, 2, 2, 2))[1])
        [[[[[7]]]]]
    """

    _rank = 3

    def __init__(
        self,
        ksize: Any,
        strides: Any,
        pads: Any,
        dilation: Any = (1, 1, 1),
        ceil_mode: bool = False,
        data_format: str = "NCDHW",
        argmax_type: Number = int64,
    ) -> None:
        self.ksize, self.strides, self.pads, self.dilation = ksize, strides, pads, dilation
        self.data_format = one_of(data_format, "data_format", self.name, ("NCDHW",))
        self._set(ksize, strides, pads, dilation, ceil_mode, argmax_type)


class MaxUnpool2D(Primitive):
    """Maxima put back to where they were, with zeros elsewhere: `max_unpool2d` as a primitive.

    Args:
        ksize: an int or a tuple.
        strides: an int or a tuple; 0 for `ksize`.
        pads: an int or a tuple.
        output_shape: the shape of the result; () for the smallest.
        data_format: "NCHW".

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.MaxUnpool2D(1)(ms.Tensor([[[[5.0, 6.0]]]]), ms.Tensor([[[[1, 0]]]])))
        [[[[6. 5.]]]]
    """

    _rank, _format = 2, "NCHW"

    def __init__(
        self, ksize: Any, strides: Any = 0, pads: Any = 0, output_shape: Any = (), data_format: str = "NCHW"
    ) -> None:
        self.ksize, self.strides, self.pads, self.output_shape = ksize, strides, pads, output_shape
        self.data_format = one_of(data_format, "data_format", self.name, (self._format,))

    def __call__(self, x: Tensor, argmax: Tensor) -> Tensor:
        put = unpooling.max_unpool2d if self._rank == 2 else unpooling.max_unpool3d
        return put(x, argmax, self.ksize, self.strides, self.pads, self.output_shape or None)


class MaxUnpool3D(MaxUnpool2D):
    """Maxima put back to where they were, with zeros elsewhere: `max_unpool3d` as a primitive.

    Args:
        ksize, strides, pads, output_shape: as in `MaxUnpool2D`.
        data_format: "NCDHW".

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.MaxUnpool3D(1)(ms.Tensor([[[[[5.0, 6.0]]]]]), ms.Tensor([[[[[1, 0]]]]])))
        [[[[[6. 5.]]]]]
    """

    _rank, _format = 3, "NCDHW"

    def __init__(
        self, ksize: Any, strides: Any = 0, pads: Any = 0, output_shape: Any = (), data_format: str = "NCDHW"
    ) -> None:
        super().__init__(ksize, strides, pads, output_shape, data_format)
