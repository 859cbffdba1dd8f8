"""Windows of images that are added to a filter, or put side by side: Dilation2D, ExtractImagePatches and their kin."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.checks import check_dimensions, check_positive_int, complaint
from dist_ms.common.tensor import Tensor
from dist_ms.ops import arguments
from dist_ms.ops.convolutions.conv_primitives import Conv2D, Conv3DTranspose
from dist_ms.ops.convolutions.windows import same_padding, span
from dist_ms.ops.primitive import Primitive

__all__ = ["DepthwiseConv2dNative", "Dilation2D", "ExtractImagePatches", "conv3d_transpose"]


def _pair(value: Any, name: str, owner: str) -> tuple[int, ...]:
    """(1, 1, rows, columns) of an int, or of 2 or 4 of them."""
    given = (value, value) if isinstance(value, int) and not isinstance(value, bool) else value
    if not isinstance(given, (tuple, list)):
        raise TypeError(complaint(name, owner, "an int or a tuple of ints", value))
    given = (1, 1, *given) if len(given) == 2 else tuple(given)
    plain = all(isinstance(v, int) and not isinstance(v, bool) and v > 0 for v in given)
    if len(given) != 4 or not plain or given[:2] != (1, 1):
        raise ValueError(complaint(name, owner, "a positive int, or (1, 1, rows, columns) of them", value))
    return given


def _mode(value: Any, name: str, owner: str) -> str:
    if not isinstance(value, str) or value.upper() not in ("VALID", "SAME"):
        raise ValueError(complaint(name, owner, "'VALID' or 'SAME'", repr(value)))
    return value.upper()


def _parts(x: Tensor, kernel: tuple, stride: tuple, rate: tuple, mode: str, fill: Any, owner: str) -> list[Tensor]:
    """For each place in a window, row by row, the pixels that lie there in all windows, (N, C, H', W')."""
    if mode == "SAME":
        sides = [side for pair in reversed(same_padding(x.shape[2:], kernel, stride, rate)) for side in pair]
        x = ops.pad(x, sides, "constant", fill) if any(sides) else x
    counts = [(n - span(k, r)) // s + 1 for n, k, s, r in zip(x.shape[2:], kernel, stride, rate)]
    if min(counts) < 1:
        raise ValueError(complaint("x", owner, f"at least as large as a window of {kernel} pixels", x.shape))
    found = []
    for place in itertools.product(*map(range, kernel)):
        cuts = [slice(p * r, p * r + (c - 1) * s + 1, s) for p, c, s, r in zip(place, counts, stride, rate)]
        found.append(x[(slice(None), slice(None), *cuts)])
    return found


class Dilation2D(Primitive):
    """Grayscale dilation: the largest sum of a pixel in a window and the filter at its place.

    Args:
        stride: how far windows are apart, an int, or a tuple of 2, or (1, 1, rows, columns).
        dilation: how far the pixels of a window are apart, likewise.
        pad_mode: "SAME" (pixels beyond the edge never are the largest), or "VALID".
        data_format: "NCHW".

    Call:
        x (Tensor): (N, C, H, W), real numbers.
        filter (Tensor): (C, rows, columns), of the same type.

    Returns:
        Tensor (N, C, H', W').

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if a number is not positive, or shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> x, hat = ms.Tensor([[[[1.0, 5.0, 2.0]]]]), ms.Tensor([[[0.0, 1.0]]])
        >>> print(ms.ops.Dilation2D(stride=1, dilation=1, pad_mode="VALID")(x, hat))
        [[[[6. 5.]]]]
    """

    def __init__(self, stride: Any, dilation: Any, pad_mode: str = "SAME", data_format: str = "NCHW") -> None:
        self.stride, self.dilation = (_pair(v, n, self.name) for v, n in ((stride, "stride"), (dilation, "dilation")))
        self.pad_mode = _mode(pad_mode, "pad_mode", self.name)
        if data_format != "NCHW":
            raise ValueError(complaint("data_format", self.name, "'NCHW'", repr(data_format)))
        self.data_format = data_format

    def __call__(self, x: Tensor, filter: Tensor) -> Tensor:
        data = arguments.real(arguments.tensor(x, "x", self.name).array(), "x", self.name)
        hat = arguments.tensor(filter, "filter", self.name)
        if x.ndim != 4 or hat.ndim != 3 or hat.shape[0] != x.shape[1]:
            raise ValueError(
                complaint("filter", self.name, f"(C, rows, columns) for 'x' of {data.shape}", f"shape {hat.shape}")
            )
        if hat.dtype != x.dtype:
            raise TypeError(complaint("filter", self.name, f"of type {x.dtype}", hat.dtype))
        integral = data.dtype.kind in "iu"
        lowest = int(np.iinfo(data.dtype).min) // 2 if data.dtype.kind == "i" else 0 if integral else -float("inf")
        kernel = hat.shape[1:]
        parts = _parts(x, kernel, self.stride[2:], self.dilation[2:], self.pad_mode, lowest, self.name)
        places = itertools.product(*map(range, kernel))
        sums = [part + ops.reshape(hat[:, i, j], (-1, 1, 1)) for part, (i, j) in zip(parts, places)]
        return ops.ArgMaxWithValue(0)(ops.stack(sums))[1]


class ExtractImagePatches(Primitive):
    """Windows of images, with their pixels as channels; pixel (i, j) of channel c is at (i columns + j) C + c.

    Args:
        ksizes: the size of a window, (rows, columns) or (1, 1, rows, columns).
        strides: how far windows are apart, likewise.
        rates: how far the pixels of a window are apart, likewise.
        padding: "VALID", or "SAME" for zeros around, so that there is a window for every stride.

    Call:
        input_x (Tensor): (N, C, H, W).

    Returns:
        Tensor (N, rows * columns * C, H', W').

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if a number is not positive, or a window is larger than the input.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.ops.arange(4.0).reshape(1, 1, 2, 2)
        >>> print(ms.ops.ExtractImagePatches((1, 2), (1, 1), (1, 1))(x).reshape(2, 2))
        [[0. 2.]
         [1. 3.]]
    """

    def __init__(self, ksizes: Any, strides: Any, rates: Any, padding: str = "VALID") -> None:
        given = (("ksizes", ksizes), ("strides", strides), ("rates", rates))
        self.ksizes, self.strides, self.rates = (_pair(value, name, self.name) for name, value in given)
        self.padding = _mode(padding, "padding", self.name)

    def __call__(self, input_x: Tensor) -> Tensor:
        check_dimensions(arguments.tensor(input_x, "input_x", self.name), "input_x", self.name, 4)
        cut = (self.ksizes[2:], self.strides[2:], self.rates[2:], self.padding, 0, self.name)
        return ops.concat(_parts(input_x, *cut), 1)


class DepthwiseConv2dNative(Primitive):
    """A convolution of each channel with filters of its own.

    Args:
        channel_multiplier: how many filters a channel has, M.
        kernel_size: an int or a tuple (rows, columns).
        mode: accepted: 3, as in MindSpore.
        pad_mode, pad, stride, dilation: as in `Conv2D`.
        group: 1; the groups are the channels.

    Call:
        x (Tensor): (N, C, H, W).
        w (Tensor): (M, C, rows, columns).

    Returns:
        Tensor (N, C M, H', W').

    Raises:
        TypeError: if a number is no int.
        ValueError: if a number is out of range, or shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> op = ms.ops.DepthwiseConv2dNative(channel_multiplier=1, kernel_size=1)
        >>> op(ms.ops.ones((1, 2, 4, 4)), ms.ops.ones((1, 2, 1, 1))).shape
        (1, 2, 4, 4)
    """

    def __init__(
        self,
        channel_multiplier: int,
        kernel_size: Any,
        mode: int = 3,
        pad_mode: str = "valid",
        pad: Any = 0,
        stride: Any = 1,
        dilation: Any = 1,
        group: int = 1,
    ) -> None:
        self.channel_multiplier = check_positive_int(channel_multiplier, "channel_multiplier", self.name)
        for name, value, built in (("mode", mode, 3), ("group", group, 1)):
            if value != built:
                raise ValueError(complaint(name, self.name, built, value))
        self._options = {"pad_mode": pad_mode, "pad": pad, "stride": stride, "dilation": dilation}
        self.kernel_size = kernel_size
        Conv2D(self.channel_multiplier, kernel_size, **self._options)  # which checks them

    def __call__(self, x: Tensor, w: Tensor) -> Tensor:
        channels = arguments.tensor(x, "x", self.name).shape[1]
        shape = arguments.tensor(w, "w", self.name).shape
        if shape[:2] != (self.channel_multiplier, channels):
            wanted = f"({self.channel_multiplier}, {channels}, rows, columns)"
            raise ValueError(complaint("w", self.name, wanted, f"shape {shape}"))
        out = channels * self.channel_multiplier
        weight = ops.reshape(ops.swapaxes(w, 0, 1), (out, 1, *shape[2:]))
        return Conv2D(out, self.kernel_size, group=channels, **self._options)(x, weight)


def conv3d_transpose(
    inputs: Tensor,
    weight: Tensor,
    pad_mode: str = "valid",
    padding: Any = 0,
    stride: Any = 1,
    dilation: Any = 1,
    group: int = 1,
    output_padding: Any = 0,
) -> Tensor:
    """A 3-D transposed convolution; see `Conv3DTranspose`.

    Args:
        inputs: (N, C, D, H, W).
        weight: (C, O / group, depth, rows, columns).
        pad_mode, padding, stride, dilation, group: as in `Conv3DTranspose`.
        output_padding: added to the size of the result; 0 unless `pad_mode` is "pad".

    Returns:
        Tensor (N, O, D', H', W').

    Raises:
        TypeError: if a number is no int.
        ValueError: if a number is out of range, or shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.conv3d_transpose(ms.ops.ones((1, 1, 2, 2, 2)), ms.ops.ones((1, 3, 2, 2, 2))).shape
        (1, 3, 3, 3, 3)
    """
    for name, value in (("inputs", inputs), ("weight", weight)):
        check_dimensions(arguments.tensor(value, name, "conv3d_transpose"), name, "conv3d_transpose", 5)
    if pad_mode != "pad" and np.any(np.asarray(output_padding) != 0):
        raise ValueError(
            complaint("output_padding", "conv3d_transpose", "0 unless 'pad_mode' is 'pad'", output_padding)
        )
    op = Conv3DTranspose(
        weight.shape[0],
        weight.shape[1] * group,
        weight.shape[2:],
        pad_mode=pad_mode,
        pad=padding,
        stride=stride,
        dilation=dilation,
        group=group,
        output_padding=output_padding,
    )
    return op(inputs, weight)
