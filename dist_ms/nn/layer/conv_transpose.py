"""Transposed convolution layers over 1 to 3 spatial dimensions."""

from __future__ import annotations

from typing import Any

from dist_ms.common import dtype as mstype
from dist_ms.common.checks import check_dimensions, check_type, complaint
from dist_ms.common.error_classes import raises
from dist_ms.common.tensor import Tensor
from dist_ms.nn.layer.conv import _Conv, check_row, read_row
from dist_ms.ops.arguments import tensor
from dist_ms.ops.convolutions.conv import TransposedConvolution
from dist_ms.ops.convolutions.conv_primitives import output_padding_of
from dist_ms.ops.convolutions.geometry import mode_padding
from dist_ms.ops.convolutions.windows import same_padding, span
from dist_ms.ops.layers.bias_add import bias_add
from dist_ms.ops.shaping.padding import pad
from dist_ms.ops.shaping.reshaping import squeeze

__all__ = ["Conv1dTranspose", "Conv2dTranspose", "Conv3dTranspose"]


class _ConvTranspose(_Conv):
    """What transposed convolution layers share: the size of the result and its computation."""

    def _set_output(self, output_padding: Any) -> None:
        rank, owner = len(self.kernel_size), self.cls_name
        self._pairs = mode_padding(self.pad_mode, self.padding, rank, "padding", owner)
        self.output_padding = output_padding
        given = output_padding if isinstance(output_padding, tuple) else (output_padding,) * rank
        if any(given) and self.pad_mode != "pad":
            raise ValueError(complaint("output_padding", owner, "0 unless 'pad_mode' is 'pad'", output_padding))
        self._extra = output_padding_of(output_padding, self.stride, self.dilation, owner)

    def _sizes(self, sizes: tuple) -> tuple:
        """The spatial sizes of the result; "valid" leaves room for the whole of the last step."""
        reach = [span(k, d) for k, d in zip(self.kernel_size, self.dilation)]
        if self.pad_mode == "same":
            return tuple([n * s for n, s in zip(sizes, self.stride)])
        if self.pad_mode == "valid":
            return tuple([n * s + max(r - s, 0) for n, s, r in zip(sizes, self.stride, reach)])
        return tuple([(n - 1) * s + r - p[0] - p[1] for n, s, r, p in zip(sizes, self.stride, reach, self._pairs)])

    def _transposed(self, x: Tensor, extra: tuple = ()) -> Tensor:
        """The transposed convolution; `extra` is added to its sizes and computed like the rest."""
        rank = len(self.kernel_size)
        check_dimensions(tensor(x, "x", self.cls_name), "x", self.cls_name, rank + 2)
        sizes = self._sizes(x.shape[2:])
        if extra:
            sizes = tuple([n + e for n, e in zip(sizes, extra)])
        if min(sizes) <= 0:
            raise ValueError(
                f"For '{self.cls_name}', 'padding' must leave a positive output size, but got "
                f"{self.padding} and sizes {sizes}."
            )
        padding = self._pairs or same_padding(sizes, self.kernel_size, self.stride, self.dilation)
        op = TransposedConvolution(self.stride, padding, self.dilation, self.group, self.cls_name)
        out = op(x, self.weight, (x.shape[0], self.out_channels, *sizes))
        return bias_add(out, self.bias) if self.has_bias else out


@raises(pad_mode=ValueError)
class Conv2dTranspose(_ConvTranspose):
    """The transpose of a 2-D convolution: (N, C, H, W) to larger images.

    A length n becomes n stride with "same"; n stride + max(dilation (kernel - 1) + 1 - stride, 0)
    with "valid"; (n - 1) stride + dilation (kernel - 1) + 1 - padding + output_padding with "pad".
    Parameters are `weight` (in_channels, out_channels / group, *kernel_size) and `bias`.

    Args:
        in_channels: C.
        out_channels: channels of the result.
        kernel_size, stride, dilation: an int or a tuple (height, width).
        pad_mode: "same", "valid" or "pad".
        padding: an int or a tuple (top, bottom, left, right): what is cut off.
        output_padding: an int or a tuple of zeros put below and right of the result, only with "pad";
            below stride or dilation.
        group, has_bias, weight_init, bias_init, dtype: as in `Conv2d`.

    Inputs:
        x (Tensor): (N, C, H, W).

    Outputs:
        Tensor (N, out_channels, H', W').

    Raises:
        TypeError: if an argument has the wrong type, or `x` another dtype.
        ValueError: if a number is out of range, or `x` has other dimensions.
        RuntimeError: if `x` has another number of channels.

    Examples:
        >>> import dist_ms as ms
        >>> ms.nn.Conv2dTranspose(3, 8, 4, stride=2)(ms.ops.ones((1, 3, 16, 16))).shape
        (1, 8, 32, 32)
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        pad_mode: str = "same",
        padding: Any = 0,
        output_padding: Any = 0,
        dilation: Any = 1,
        group: int = 1,
        has_bias: bool = False,
        weight_init: Any = None,
        bias_init: Any = None,
        dtype: Any = mstype.float32,
    ) -> None:
        super().__init__()
        self._read(
            2, in_channels, out_channels, kernel_size, stride, pad_mode, padding, dilation, group, has_bias, "NCHW"
        )
        self._set_output(check_type(output_padding, "output_padding", self.cls_name, (int, tuple)))
        self._make((in_channels, out_channels // group), weight_init, bias_init, dtype)

    def construct(self, x: Tensor) -> Tensor:
        out = self._transposed(x)
        # MindSpore pads the 2-D result with zeros, while its 3-D kernel computes the further elements.
        below, right = self._extra
        return pad(out, (0, right, 0, below)) if below or right else out


@raises(pad_mode=ValueError)
class Conv3dTranspose(_ConvTranspose):
    """`Conv2dTranspose` of (N, C, D, H, W), with three numbers instead of two.

    Args:
        padding: an int, or a tuple of 6 (head, tail, top, bottom, left, right).
        output_padding: an int or a tuple of 3 added to the size, only with "pad".
        data_format: "NCDHW".

    Examples:
        >>> import dist_ms as ms
        >>> ms.nn.Conv3dTranspose(3, 8, 2, stride=2)(ms.ops.ones((1, 3, 4, 4, 4))).shape
        (1, 8, 8, 8, 8)
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
        output_padding: Any = 0,
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
        self._set_output(check_type(output_padding, "output_padding", self.cls_name, (int, tuple)))
        self._make((in_channels, out_channels // group), weight_init, bias_init, dtype)

    def construct(self, x: Tensor) -> Tensor:
        return self._transposed(x, self._extra)


@raises(pad_mode=ValueError)
class Conv1dTranspose(_ConvTranspose):
    """`Conv2dTranspose` of (N, C, L), with ints and without `output_padding`; `padding` is cut off both sides.

    The weight has the shape (in_channels, out_channels / group, 1, kernel_size), as in MindSpore.

    Examples:
        >>> import dist_ms as ms
        >>> ms.nn.Conv1dTranspose(3, 8, 4, pad_mode="pad")(ms.ops.ones((1, 3, 50))).shape
        (1, 8, 53)
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
        read_row(self, in_channels, out_channels, kernel_size, stride, pad_mode, padding, dilation, group, has_bias)
        self._set_output(0)
        self._make((in_channels, out_channels // group), weight_init, bias_init, dtype)

    def construct(self, x: Tensor) -> Tensor:
        return squeeze(self._transposed(check_row(self, x)), 2)
