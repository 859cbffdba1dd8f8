"""Convolution layers over 1 to 3 spatial dimensions."""

from __future__ import annotations

import math
from typing import Any

from dist_ms.common import dtype as mstype
from dist_ms.common.checks import check_bool, check_dimensions, check_positive_int, check_string, check_type
from dist_ms.common.error_classes import scalars
from dist_ms.common.initializer import HeUniform, Initializer, Uniform, initializer
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor
from dist_ms.nn.cell import Cell
from dist_ms.ops.arguments import tensor
from dist_ms.ops.convolutions.conv_primitives import Conv2D, Conv3D
from dist_ms.ops.convolutions.geometry import check_data_format, mode_padding, per_dimension
from dist_ms.ops.shaping.reshaping import expand_dims, squeeze

__all__ = ["Conv1d", "Conv2d", "Conv3d"]


class _Conv(Cell):
    """What convolution layers share: attributes, weight (first, second / group, *kernel), bias."""

    def _read(
        self,
        rank: int,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any,
        pad_mode: str,
        padding: Any,
        dilation: Any,
        group: int,
        has_bias: bool,
        data_format: str,
    ) -> None:
        """Check the arguments and set MindSpore's attributes."""
        owner = self.cls_name
        self.in_channels = check_positive_int(in_channels, "in_channels", owner)
        self.out_channels = check_positive_int(out_channels, "out_channels", owner)
        self.kernel_size = per_dimension(kernel_size, rank, "kernel_size", owner)
        self.stride = per_dimension(stride, rank, "stride", owner)
        self.dilation = per_dimension(dilation, rank, "dilation", owner)
        if not isinstance(pad_mode, str):
            check_type(pad_mode, "pad_mode", owner, str)
        self.pad_mode = check_string(pad_mode, "pad_mode", owner, ["valid", "same", "pad"])
        mode_padding(pad_mode, check_type(padding, "padding", owner, (int, tuple)), rank, "padding", owner)
        self.padding = padding
        self.group = check_positive_int(group, "group", owner)
        if in_channels % group or out_channels % group:
            raise ValueError(
                f"For '{owner}', 'group' must divide 'in_channels' and 'out_channels', but got {group}, "
                f"{in_channels} and {out_channels}."
            )
        self.has_bias = check_bool(has_bias, "has_bias", owner)
        self.data_format = check_data_format(data_format, owner, "NCDHW" if rank == 3 else "NCHW")

    def _make(self, channels: tuple[int, int], weight_init: Any, bias_init: Any, dtype: Any) -> None:
        """Create the parameters; uniform in +-1 / sqrt(fan in) unless given otherwise."""
        shape = (*channels, *self.kernel_size)
        self.weight_init = HeUniform(math.sqrt(5)) if weight_init is None else weight_init
        self.weight = Parameter(initializer(self.weight_init, shape, dtype), name="weight")
        self.bias_init = bias_init
        self.bias = None
        if self.has_bias:
            if bias_init is None:
                self.bias_init = Uniform(1 / math.sqrt(math.prod(shape[1:])))
            self.bias = Parameter(initializer(self.bias_init, (self.out_channels,), dtype), name="bias")

    def _convolved(self, op: Conv2D, x: Tensor) -> Tensor:
        weight = self.weight
        return op(x, weight, self.bias) if self.has_bias else op(x, weight)

    def extend_repr(self) -> str:
        return (
            f"input_channels={self.in_channels}, output_channels={self.out_channels}, "
            f"kernel_size={self.kernel_size}, stride={self.stride}, pad_mode={self.pad_mode}, "
            f"padding={self.padding}, dilation={self.dilation}, group={self.group}, has_bias={self.has_bias}, "
            f"weight_init={_named(self.weight_init)}, bias_init={_named(self.bias_init)}, format={self.data_format}"
        )


def _named(init: Any) -> Any:
    """What a network prints of an initializer: like MindSpore's, which class it is."""
    return object.__repr__(init) if isinstance(init, Initializer) else init


@scalars("in_channels", "out_channels")
class Conv2d(_Conv):
    """A 2-D convolution of (N, C, H, W) with a learned kernel, which is not flipped.

    Parameters are `weight` (out_channels, in_channels / group, *kernel_size) and `bias`
    (out_channels,). The result lies in channels-last memory.

    Args:
        in_channels: C.
        out_channels: channels of the result.
        kernel_size: an int or a tuple (height, width).
        stride: step of the window, an int or a tuple.
        pad_mode: "same" for an output of ceil(size / stride), "valid" without padding, "pad" for
            the zeros `padding` says.
        padding: an int for all sides or a tuple (top, bottom, left, right); 0 unless `pad_mode` is
            "pad".
        dilation: step between kernel elements, an int or a tuple.
        group: number of groups the channels fall into; divides both channel numbers.
        has_bias: whether there is a bias.
        weight_init: Tensor, name, Initializer or number; None for HeUniform(sqrt(5)), that is
            uniform in +-1 / sqrt(fan in).
        bias_init: likewise; None for uniform in +-1 / sqrt(fan in).
        data_format: "NCHW".
        dtype: element type of the parameters.

    Inputs:
        x (Tensor): (N, C, H, W), in the dtype of the parameters.

    Outputs:
        Tensor (N, out_channels, H', W').

    Raises:
        TypeError: if an argument has the wrong type, or `x` another dtype.
        ValueError: if a number is out of range, or `x` is smaller than the kernel.
        RuntimeError: if `x` has another number of channels.

    Examples:
        >>> import dist_ms as ms
        >>> layer = ms.nn.Conv2d(3, 8, 3, stride=2, pad_mode="pad", padding=1)
        >>> layer(ms.ops.ones((2, 3, 32, 32))).shape
        (2, 8, 16, 16)
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        pad_mode: str = "same",
        padding: Any = 0,
        dilation: Any = 1,
        group: int = 1,
        has_bias: bool = False,
        weight_init: Any = None,
        bias_init: Any = None,
        data_format: str = "NCHW",
        dtype: Any = mstype.float32,
    ) -> None:
        super().__init__()
        self._read(
            2, in_channels, out_channels, kernel_size, stride, pad_mode, padding, dilation, group, has_bias, data_format
        )
        self.conv2d = Conv2D(out_channels, self.kernel_size, 1, pad_mode, padding, self.stride, self.dilation, group)
        self._make((out_channels, in_channels // group), weight_init, bias_init, dtype)

    def construct(self, x: Tensor) -> Tensor:
        return self._convolved(self.conv2d, x)


class Conv3d(_Conv):
    """`Conv2d` of (N, C, D, H, W), with three numbers instead of two.

    Args:
        padding: an int, or a tuple of 6 (head, tail, top, bottom, left, right).
        data_format: "NCDHW".

    Examples:
        >>> import dist_ms as ms
        >>> ms.nn.Conv3d(3, 8, 3, pad_mode="valid")(ms.ops.ones((1, 3, 5, 5, 5))).shape
        (1, 8, 3, 3, 3)
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        pad_mode: str = "same",
        padding: Any = 0,
        dilation: Any = 1,
        group: int = 1,
        has_bias: bool = False,
        weight_init: Any = None,
        bias_init: Any = None,
        data_format: str = "NCDHW",
        dtype: Any = mstype.float32,
    ) -> None:
        super().__init__()
        self._read(
            3, in_channels, out_channels, kernel_size, stride, pad_mode, padding, dilation, group, has_bias, data_format
        )
        self.conv3d = Conv3D(out_channels, self.kernel_size, 1, pad_mode, padding, self.stride, self.dilation, group)
        self._make((out_channels, in_channels // group), weight_init, bias_init, dtype)

    def construct(self, x: Tensor) -> Tensor:
        return self._convolved(self.conv3d, x)


def read_row(
    layer: _Conv,
    in_channels: int,
    out_channels: int,
    kernel_size: int,
    stride: int,
    pad_mode: str,
    padding: int,
    dilation: int,
    group: int,
    has_bias: bool,
) -> tuple:
    """Read a 1-D layer's numbers as those of a 2-D one of height 1; returns its padding."""
    for value, name in ((kernel_size, "kernel_size"), (stride, "stride"), (dilation, "dilation")):
        check_positive_int(value, name, layer.cls_name)
    check_type(padding, "padding", layer.cls_name, int)
    layer._read(
        2,
        in_channels,
        out_channels,
        (1, kernel_size),
        (1, stride),
        pad_mode,
        padding,
        (1, dilation),
        group,
        has_bias,
        "NCHW",
    )
    layer.padding = (0, 0, padding, padding)
    return layer.padding


def check_row(layer: Cell, x: Any) -> Tensor:
    """Require (N, C, L) and return it as (N, C, 1, L)."""
    check_dimensions(tensor(x, "x", layer.cls_name), "x", layer.cls_name, 3)
    return expand_dims(x, 2)


class Conv1d(_Conv):
    """`Conv2d` of (N, C, L), with ints; `padding` is that of both sides.

    The weight has the shape (out_channels, in_channels / group, 1, kernel_size), as in MindSpore.

    Examples:
        >>> import dist_ms as ms
        >>> ms.nn.Conv1d(3, 8, 4, has_bias=True)(ms.ops.ones((1, 3, 10))).shape
        (1, 8, 10)
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int,
        stride: int = 1,
        pad_mode: str = "same",
        padding: int = 0,
        dilation: int = 1,
        group: int = 1,
        has_bias: bool = False,
        weight_init: Any = None,
        bias_init: Any = None,
        dtype: Any = mstype.float32,
    ) -> None:
        super().__init__()
        pairs = read_row(
            self, in_channels, out_channels, kernel_size, stride, pad_mode, padding, dilation, group, has_bias
        )
        self.conv2d = Conv2D(out_channels, self.kernel_size, 1, pad_mode, pairs, self.stride, self.dilation, group)
        self._make((out_channels, in_channels // group), weight_init, bias_init, dtype)

    def construct(self, x: Tensor) -> Tensor:
        x = check_row(self, x)
        out = self._convolved(self.conv2d, x)
        return squeeze(out, 2)
