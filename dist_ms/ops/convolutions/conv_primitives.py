"""MindSpore's convolution primitives: Conv2D, Conv3D, their transposes and weight gradients."""

from __future__ import annotations

from typing import Any

from dist_ms.common.checks import check_positive_int, complaint
from dist_ms.ops.arguments import integers
from dist_ms.ops.convolutions.conv import Convolution, TransposedConvolution, WeightGradient
from dist_ms.ops.convolutions.geometry import check_data_format, mode_padding, per_dimension, strides_of
from dist_ms.ops.convolutions.windows import same_padding
from dist_ms.ops.primitive import Primitive

__all__ = ["Conv2D", "Conv2DBackpropFilter", "Conv2DBackpropInput", "Conv2DTranspose", "Conv3D", "Conv3DTranspose"]


def _read(
    op: Any,
    rank: int,
    out_channel: int,
    kernel_size: Any,
    mode: int,
    pad_mode: str,
    pad: Any,
    stride: Any,
    dilation: Any,
    group: int,
    data_format: str,
) -> None:
    """Check the attributes all of them share and set MindSpore's names for them."""
    owner = type(op).__name__
    op.out_channel = check_positive_int(out_channel, "out_channel", owner)
    op._kernel = per_dimension(kernel_size, rank, "kernel_size", owner)
    op.kernel_size = kernel_size
    if mode != 1:
        raise ValueError(complaint("mode", owner, "1, a plain convolution", mode))
    op.mode = mode
    op._stride = strides_of(stride, rank, "stride", owner)
    op._dilation = strides_of(dilation, rank, "dilation", owner)
    op._padding = mode_padding(pad_mode, pad, rank, "pad", owner)
    op.pad_mode = pad_mode
    op.pad = tuple(n for pair in op._padding or ((0, 0),) * rank for n in pair)
    op.stride, op.dilation = (1, 1, *op._stride), (1, 1, *op._dilation)
    op.group = op._group = check_positive_int(group, "group", owner)
    op.data_format = check_data_format(data_format, owner, "NCHW" if rank == 2 else "NCDHW")


def _check_weight(op: Any, weight: Any) -> None:
    """Require the weight the attributes promise."""
    shape = getattr(weight, "shape", ())
    if len(shape) == 2 + len(op._kernel):
        if shape[0] != op.out_channel:
            raise RuntimeError(
                f"For '{op.name}', 'weight' must have 'out_channel' {op.out_channel} as its first "
                f"length, but got shape {shape}."
            )
        if shape[2:] != op._kernel:
            raise RuntimeError(
                f"For '{op.name}', 'weight' must have the 'kernel_size' {op._kernel} as its last "
                f"lengths, but got shape {shape}."
            )


class Conv2D(Convolution):
    """A 2-D convolution, without flipping the kernel.

    Args:
        out_channel: number of output channels.
        kernel_size: an int or a tuple (height, width).
        mode: 1, a plain convolution.
        pad_mode: "valid" without padding, "same" for an output of ceil(size / stride),
            "pad" for the zeros `pad` says.
        pad: an int, or a tuple (top, bottom, left, right).
        stride: an int, (height, width) or (1, 1, height, width).
        dilation: step between kernel elements, in the forms of `stride`.
        group: number of groups the channels fall into.
        data_format: "NCHW".

    Call:
        x (Tensor): (N, C, H, W).
        weight (Tensor): (out_channel, C / group, *kernel_size).
        bias (Tensor, optional): (out_channel,).

    Raises:
        TypeError: if a number is no int, or `x` and `weight` differ in dtype.
        ValueError: if a number is out of range, or `x` is smaller than the kernel.
        RuntimeError: if the channels do not agree.

    Examples:
        >>> import dist_ms as ms
        >>> conv = ms.ops.Conv2D(out_channel=8, kernel_size=3, pad_mode="same")
        >>> conv(ms.ops.ones((1, 4, 5, 5)), ms.ops.ones((8, 4, 3, 3))).shape
        (1, 8, 5, 5)
    """

    _rank = 2
    waits = True

    def __init__(
        self,
        out_channel: int,
        kernel_size: Any,
        mode: int = 1,
        pad_mode: str = "valid",
        pad: Any = 0,
        stride: Any = 1,
        dilation: Any = 1,
        group: int = 1,
        data_format: str = "NCHW",
    ) -> None:
        _read(self, self._rank, out_channel, kernel_size, mode, pad_mode, pad, stride, dilation, group, data_format)

    def checked_sizes(self, x: Any, weight: Any, bias: Any) -> tuple:
        """Check the kernel's size too."""
        _check_weight(self, weight)
        return super().checked_sizes(x, weight, bias)


class Conv3D(Conv2D):
    """A 3-D convolution; see `Conv2D`, with three numbers instead of two.

    Examples:
        >>> import dist_ms as ms
        >>> conv = ms.ops.Conv3D(out_channel=8, kernel_size=3)
        >>> conv(ms.ops.ones((1, 4, 5, 5, 5)), ms.ops.ones((8, 4, 3, 3, 3))).shape
        (1, 8, 3, 3, 3)
    """

    _rank = 3

    def __init__(
        self,
        out_channel: int,
        kernel_size: Any,
        mode: int = 1,
        pad_mode: str = "valid",
        pad: Any = 0,
        stride: Any = 1,
        dilation: Any = 1,
        group: int = 1,
        data_format: str = "NCDHW",
    ) -> None:
        super().__init__(out_channel, kernel_size, mode, pad_mode, pad, stride, dilation, group, data_format)


class _GradientOfConv2D(Primitive):
    """What the two gradients of a `Conv2D` are made with."""

    def __init__(
        self,
        out_channel: int,
        kernel_size: Any,
        pad_mode: str = "valid",
        pad: Any = 0,
        pad_list: Any = None,
        mode: int = 1,
        stride: Any = 1,
        dilation: Any = 1,
        group: int = 1,
        data_format: str = "NCHW",
    ) -> None:
        _read(
            self,
            2,
            out_channel,
            kernel_size,
            mode,
            pad_mode,
            pad if pad_list is None else pad_list,
            stride,
            dilation,
            group,
            data_format,
        )
        self.pad_list = pad_list


class Conv2DBackpropInput(_GradientOfConv2D, TransposedConvolution):
    """The gradient of the input of a `Conv2D`: a transposed convolution.

    Args:
        out_channel: number of channels of `out_backprop`.
        kernel_size, pad_mode, pad, mode, stride, dilation, group, data_format: as in `Conv2D`.
        pad_list: the same as a tuple `pad`, for pad_mode "pad"; None to use `pad`.

    Call:
        out_backprop (Tensor): (N, out_channel, *output), the gradient of the convolution's output.
        filter (Tensor): (out_channel, C / group, *kernel_size).
        input_size (tuple): the shape (N, C, H, W) of the convolution's input.

    Raises:
        TypeError: if a number is no int, or the tensors differ in dtype.
        ValueError: if `input_size` does not lead to the shape of `out_backprop`.
        RuntimeError: if the channels do not agree.

    Examples:
        >>> import dist_ms as ms
        >>> up = ms.ops.Conv2DBackpropInput(out_channel=2, kernel_size=3)
        >>> up(ms.ops.ones((1, 2, 8, 8)), ms.ops.ones((2, 4, 3, 3)), (1, 4, 10, 10)).shape
        (1, 4, 10, 10)
    """

    _kernel: tuple[int, ...]

    def __call__(self, out_backprop: Any, filter: Any, input_size: Any) -> Any:
        size = integers(input_size, "input_size", self.name)
        _check_weight(self, filter)
        padding = self._padding or same_padding(size[2:], self._kernel, self._stride, self._dilation)
        op = TransposedConvolution(self._stride, padding, self._dilation, self._group, self.name)
        return op(out_backprop, filter, size)


class Conv2DTranspose(Conv2DBackpropInput):
    """A 2-D transposed convolution; the same as `Conv2DBackpropInput`.

    Examples:
        >>> import dist_ms as ms
        >>> up = ms.ops.Conv2DTranspose(out_channel=2, kernel_size=2, stride=2)
        >>> up(ms.ops.ones((1, 2, 4, 4)), ms.ops.ones((2, 3, 2, 2)), (1, 3, 8, 8)).shape
        (1, 3, 8, 8)
    """


class Conv3DTranspose(TransposedConvolution):
    """A 3-D transposed convolution, whose output size follows from its numbers.

    With "pad" and "valid" a length n becomes
    (n - 1) stride - padding + dilation (kernel - 1) + output_padding + 1; with "same", n stride.

    Args:
        in_channel: number of channels of `dout`.
        out_channel: number of channels of the result.
        kernel_size, mode, pad_mode, pad, stride, dilation, group, data_format: as in `Conv3D`.
        output_padding: an int or a tuple of 3 added to the size of the result.

    Call:
        dout (Tensor): (N, in_channel, D, H, W).
        weight (Tensor): (in_channel, out_channel / group, *kernel_size).

    Raises:
        TypeError: if a number is no int.
        ValueError: if a number is out of range.

    Examples:
        >>> import dist_ms as ms
        >>> up = ms.ops.Conv3DTranspose(in_channel=2, out_channel=3, kernel_size=2, stride=2)
        >>> up(ms.ops.ones((1, 2, 4, 4, 4)), ms.ops.ones((2, 3, 2, 2, 2))).shape
        (1, 3, 8, 8, 8)
    """

    def __init__(
        self,
        in_channel: int,
        out_channel: int,
        kernel_size: Any,
        mode: int = 1,
        pad_mode: str = "valid",
        pad: Any = 0,
        stride: Any = 1,
        dilation: Any = 1,
        group: int = 1,
        output_padding: Any = 0,
        data_format: str = "NCDHW",
    ) -> None:
        self.in_channel = check_positive_int(in_channel, "in_channel", "Conv3DTranspose")
        _read(self, 3, out_channel, kernel_size, mode, pad_mode, pad, stride, dilation, group, data_format)
        self.output_padding = output_padding_of(output_padding, self._stride, self._dilation, "Conv3DTranspose")

    def __call__(self, dout: Any, weight: Any) -> Any:
        shape = getattr(dout, "shape", ())
        sizes = transposed_sizes(
            shape[2:], self._kernel, self._stride, self._padding, self._dilation, self.output_padding
        )
        padding = self._padding or same_padding(sizes, self._kernel, self._stride, self._dilation)
        op = TransposedConvolution(self._stride, padding, self._dilation, self._group, self.name)
        return op(dout, weight, (*shape[:1], self.out_channel, *sizes))


class Conv2DBackpropFilter(_GradientOfConv2D, WeightGradient):
    """The gradient of the weight of a `Conv2D`.

    Args:
        out_channel, kernel_size, pad_mode, pad, mode, stride, dilation, group, data_format: as in `Conv2D`.
        pad_list: the same as a tuple `pad`, for pad_mode "pad"; None to use `pad`.

    Call:
        out_backprop (Tensor): (N, out_channel, *output), the gradient of the convolution's output.
        input (Tensor): (N, C, H, W), the convolution's input.
        filter_size (tuple): the shape of the weight.

    Examples:
        >>> import dist_ms as ms
        >>> gradient = ms.ops.operations.Conv2DBackpropFilter(out_channel=2, kernel_size=3)
        >>> gradient(ms.ops.ones((1, 2, 2, 2)), ms.ops.ones((1, 4, 4, 4)), (2, 4, 3, 3)).shape
        (2, 4, 3, 3)
    """

    def __call__(self, out_backprop: Any, input: Any, filter_size: Any) -> Any:
        padding = self._padding or same_padding(input.shape[2:], self._kernel, self._stride, self._dilation)
        op = WeightGradient(self._stride, padding, self._dilation, self._group, self.name)
        return op(input, out_backprop, integers(filter_size, "filter_size", self.name), False)


def output_padding_of(value: Any, stride: tuple, dilation: tuple, owner: str) -> tuple[int, ...]:
    """The output padding as a tuple; each entry below the stride or the dilation.

    Raises:
        TypeError: if it is no int or tuple of ints.
        ValueError: if it is out of range.
    """
    given = integers(value, "output_padding", owner)
    given = given * len(stride) if len(given) == 1 else given
    if len(given) != len(stride) or any(not 0 <= n < max(s, d) for n, s, d in zip(given, stride, dilation)):
        raise ValueError(
            complaint(
                "output_padding", owner, f"0 or more and below the stride {stride} or the dilation {dilation}", value
            )
        )
    return given


def transposed_sizes(
    sizes: tuple, kernel: tuple, stride: tuple, padding: tuple | None, dilation: tuple, output_padding: tuple
) -> tuple[int, ...]:
    """The spatial sizes a transposed convolution makes; `padding` None means "same"."""
    if padding is None:
        return tuple([n * s for n, s in zip(sizes, stride)])
    return tuple(
        [
            (n - 1) * s - p[0] - p[1] + d * (k - 1) + extra + 1
            for n, k, s, p, d, extra in zip(sizes, kernel, stride, padding, dilation, output_padding)
        ]
    )
