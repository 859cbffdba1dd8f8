"""Gradients of convolutions as operations, with respect to their input and their weight."""

from __future__ import annotations

from typing import Any, ClassVar

from dist_ms import ops
from dist_ms.common.tensor import Tensor
from dist_ms.ops.backward.backward import REQUIRED, Backward
from dist_ms.ops.backward.pooling import lengths

__all__ = [
    "Col2ImGrad",
    "Conv3DBackpropFilter",
    "Conv3DBackpropInput",
    "ConvolutionGrad",
    "ConvolutionStrGrad",
    "DeformableOffsetsGrad",
    "DepthwiseConv2dNativeBackpropFilter",
    "DepthwiseConv2dNativeBackpropInput",
]


class _VolumeGrad(Backward):
    """What the gradients of Conv3D share."""

    options: ClassVar[dict[str, Any]] = {
        "out_channel": REQUIRED,
        "kernel_size": REQUIRED,
        "mode": 1,
        "pad_mode": "valid",
        "pad": 0,
        "stride": 1,
        "dilation": 1,
        "group": 1,
        "data_format": "NCDHW",
    }

    def _convolution(self) -> Any:
        numbers = {n: v[-3:] if isinstance(v, (tuple, list)) and len(v) == 5 else v for n, v in self.made().items()}
        return ops.Conv3D(**numbers)


class Conv3DBackpropInput(_VolumeGrad):
    """The gradient of Conv3D with respect to its input.

    Args:
        out_channel, kernel_size, mode, pad_mode, pad, stride, dilation, group, data_format: as in `Conv3D`.

    Call:
        weight (Tensor): the weight.
        out_backprop (Tensor): the gradient of the output.
        input_size (tuple): the shape of the input.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.ops.backward import Conv3DBackpropInput
        >>> weight, dy = ms.ops.ones((1, 2, 2, 2, 2)), ms.ops.ones((1, 1, 1, 1, 1))
        >>> Conv3DBackpropInput(1, 2)(weight, dy, (1, 2, 2, 2, 2)).shape
        (1, 2, 2, 2, 2)
    """

    def compute(self, weight: Tensor, out_backprop: Tensor, input_size: Any) -> Tensor:
        conv, zeros = self._convolution(), ops.zeros(lengths(input_size), out_backprop.dtype)
        return self.through(lambda x: conv(x, weight), [zeros], out_backprop)[0]


class Conv3DBackpropFilter(_VolumeGrad):
    """The gradient of Conv3D with respect to its weight, from the weight's shape."""

    def compute(self, x: Tensor, out_backprop: Tensor, filter_size: Any) -> Tensor:
        conv, zeros = self._convolution(), ops.zeros(lengths(filter_size), out_backprop.dtype)
        return self.through(lambda w: conv(x, w), [zeros], out_backprop)[0]


class _DepthwiseGrad(Backward):
    """What the gradients of a convolution of each channel share: its weight is (multiplier, C, height, width)."""

    options: ClassVar[dict[str, Any]] = {
        "channel_multiplier": REQUIRED,
        "kernel_size": REQUIRED,
        "pad_mode": "valid",
        "pad": 0,
        "pad_list": (0, 0, 0, 0),
        "mode": 3,
        "stride": 1,
        "dilation": 1,
        "group": 1,
    }

    def _convolved(self, x: Tensor, weight: Tensor) -> Tensor:
        times, channels, *size = weight.shape
        each = ops.reshape(ops.transpose(weight, (1, 0, 2, 3)), (channels * times, 1, *size))
        pad = self.pad_list if self.pad_mode == "pad" and any(self.pad_list) else self.pad
        conv = ops.Conv2D(
            channels * times,
            tuple(size),
            pad_mode=self.pad_mode,
            pad=pad,
            stride=self.stride,
            dilation=self.dilation,
            group=channels,
        )
        return conv(x, each)


class DepthwiseConv2dNativeBackpropInput(_DepthwiseGrad):
    """The gradient of a convolution of each channel with respect to its input, from the input's shape."""

    def compute(self, input_size: Any, filter: Tensor, dout: Tensor) -> Tensor:
        zeros = ops.zeros(lengths(input_size), dout.dtype)
        return self.through(lambda x: self._convolved(x, filter), [zeros], dout)[0]


class DepthwiseConv2dNativeBackpropFilter(_DepthwiseGrad):
    """The gradient of a convolution of each channel with respect to its weight, from the weight's shape."""

    def compute(self, input: Tensor, filter_size: Any, dout: Tensor) -> Tensor:
        zeros = ops.zeros(lengths(filter_size), dout.dtype)
        return self.through(lambda w: self._convolved(input, w), [zeros], dout)[0]


class ConvolutionGrad(Backward):
    """The gradients of a convolution in PyTorch's form with respect to input, weight and bias."""

    def compute(
        self,
        dout: Tensor,
        input: Tensor,
        weight: Tensor,
        bias: Any = None,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        transposed: bool = False,
        output_padding: Any = 0,
        groups: int = 1,
        output_mask: Any = (1, 1, 1),
    ) -> tuple[Tensor | None, ...]:
        from dist_ms.ops.extended import convolution

        function = getattr(convolution, f"conv{'_transpose' if transposed else ''}{input.ndim - 2}d")

        def convolved(x: Tensor, w: Tensor) -> Tensor:
            if transposed:
                return function(x, w, None, stride, padding, output_padding, groups, dilation)
            return function(x, w, None, stride, padding, dilation, groups)

        dx, dw = self.through(convolved, [input, weight], dout)
        db = dout.sum(axis=(0, *range(2, dout.ndim)))
        wanted = (*output_mask, *(1 for _ in range(3 - len(output_mask))))
        return tuple(g if w else None for g, w in zip((dx, dw, db), wanted))


class ConvolutionStrGrad(ConvolutionGrad):
    """The gradients of a convolution whose padding is "valid" or "same"."""


class Col2ImGrad(Backward):
    """The gradient of Col2Im: the windows of an image, (N, C, window, places)."""

    def compute(self, input: Tensor, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Tensor:
        windows = ops.unfold(input, kernel_size, dilation, padding, stride)
        return ops.reshape(windows, (*input.shape[:2], -1, windows.shape[-1]))


class DeformableOffsetsGrad(Backward):
    """The gradients of DeformableOffsets with respect to the image and the offsets."""

    options: ClassVar[dict[str, Any]] = {
        "strides": REQUIRED,
        "pads": REQUIRED,
        "kernel_size": REQUIRED,
        "dilations": (1, 1, 1, 1),
        "data_format": "NCHW",
        "deformable_groups": 1,
        "modulated": True,
    }

    def compute(self, out_backprop: Tensor, input: Tensor, offsets: Tensor) -> tuple[Tensor, ...]:
        return tuple(self.through(ops.DeformableOffsets(*self.made().values()), [input, offsets], out_backprop))
