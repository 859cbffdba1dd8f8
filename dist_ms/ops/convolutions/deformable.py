"""Deformable convolution: every element of a window is read at a place, and with a weight, of its own.

Dai et al., "Deformable Convolutional Networks", 2017; Zhu et al., "Deformable ConvNets v2", 2018.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common import dtype as mstype
from dist_ms.common.checks import check_dimensions, check_elements, complaint
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops import arguments
from dist_ms.ops.images.grid_sampling import sample_at
from dist_ms.ops.primitive import Primitive

__all__ = ["DeformableOffsets", "deformable_conv2d"]


class DeformableOffsets(Primitive):
    """Reads the elements of all windows of an image, each moved by an offset and times a weight.

    Args:
        strides: (1, 1, height, width), how far windows are apart.
        pads: (top, bottom, left, right), zeros around the image.
        ksize: (height, width) of the windows.
        dilations: (1, 1, height, width), how far elements of a window are apart.
        data_format: "NCHW".
        deformable_groups: into how many groups the channels are divided, each with offsets of its own.
        modulated: True.

    Call:
        x (Tensor): (N, C, H, W) of floats.
        offsets (Tensor): (N, 3 * deformable_groups * height * width, H', W'), of the type of x: for every
            element of every window the offset along the width, all of them, then along the height, then the weights.

    Returns:
        Tensor (N, C, H' * height, W' * width): the windows side by side. Between pixels the value is interpolated;
        outside of the image it is 0.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if numbers or shapes do not fit.
        RuntimeError: if the windows of `weight` are not of `kernel_size`.

    Examples:
        >>> import dist_ms as ms
        >>> offsets = ms.ops.zeros((1, 3, 2, 2), ms.float32)
        >>> offsets[:, 0], offsets[:, 2] = 0.5, 1.0
        >>> read = ms.ops.DeformableOffsets((1, 1, 1, 1), (0, 0, 0, 0), (1, 1))
        >>> print(read(ms.Tensor([[[[1.0, 2.0], [3.0, 4.0]]]]), offsets))
        [[[[1.5 1. ]
           [3.5 2. ]]]]
    """

    def __init__(
        self,
        strides: tuple,
        pads: tuple,
        ksize: tuple,
        dilations: tuple = (1, 1, 1, 1),
        data_format: str = "NCHW",
        deformable_groups: int = 1,
        modulated: bool = True,
    ) -> None:
        if data_format != "NCHW":
            raise ValueError(complaint("data_format", self.name, "'NCHW'", repr(data_format)))
        if modulated is not True:
            kind = ValueError if isinstance(modulated, bool) else TypeError
            raise kind(complaint("modulated", self.name, "True", modulated))
        self.strides = self._numbers(strides, "strides", 4, 1)
        self.pads = self._numbers(pads, "pads", 4, 0)
        self.ksize = self._numbers(ksize, "ksize", 2, 1)
        self.dilations = self._numbers(dilations, "dilations", 4, 1)
        for name, value in (("strides", self.strides), ("dilations", self.dilations)):
            if value[:2] != (1, 1):
                raise ValueError(complaint(name, self.name, "(1, 1, height, width)", value))
        self.deformable_groups = arguments.integer(deformable_groups, "deformable_groups", self.name)
        if self.deformable_groups < 1:
            raise ValueError(complaint("deformable_groups", self.name, "positive", deformable_groups))

    def _numbers(self, value: Any, name: str, count: int, low: int) -> tuple[int, ...]:
        if len(check_elements(value, name, self.name, int, tuple)) != count or min(value) < low:
            raise ValueError(complaint(name, self.name, f"{count} ints of at least {low}", value))
        return value

    def __call__(self, x: Tensor, offsets: Tensor) -> Tensor:
        for name, value in (("x", x), ("offsets", offsets)):
            data = arguments.floating(
                arguments.tensor(value, name, self.name).array(), name, self.name, complex_too=False
            )
            check_dimensions(data, name, self.name, 4)
        batch, channels, *lengths = x.shape
        groups, size = self.deformable_groups, self.ksize
        if channels % groups:
            raise ValueError(complaint("deformable_groups", self.name, f"a divisor of {channels} channels", groups))
        counts = tuple(
            (length + sum(self.pads[2 * i : 2 * i + 2]) - self.dilations[2 + i] * (size[i] - 1) - 1)
            // self.strides[2 + i]
            + 1
            for i, length in enumerate(lengths)
        )
        wanted = (batch, 3 * groups * size[0] * size[1], *counts)
        if offsets.shape != wanted:
            raise ValueError(complaint("offsets", self.name, f"of shape {wanted}", f"shape {offsets.shape}"))
        arguments.one_dtype(self.name, x=x, offsets=offsets)
        dtype = x.dtype
        if 0 in x.shape:
            return ops.zeros((batch, channels, counts[0] * size[0], counts[1] * size[1]), dtype)
        if x.array().dtype.itemsize == 2:
            x, offsets = ops.cast(x, mstype.float32), ops.cast(offsets, mstype.float32)
        # (part, N groups, window height, window width, H', W') -> (part, N groups, H', height, W', width)
        parts = offsets.reshape((batch, 3, groups, *size, *counts)).permute(1, 0, 2, 5, 3, 6, 4)
        parts = parts.reshape((3, batch * groups, counts[0] * size[0], counts[1] * size[1]))
        points = [ops.cast(self._places(i, counts[i]), x.dtype) + part for i, part in ((0, parts[1]), (1, parts[0]))]
        grouped = x.reshape((batch * groups, channels // groups, *lengths))
        found = sample_at(grouped, points) * ops.expand_dims(parts[2], 1)
        return ops.cast(found.reshape((batch, channels, *found.shape[2:])), dtype)

    def _places(self, i: int, count: int) -> Tensor:
        """Where elements lie along dimension i without offsets, in a shape that fits the points."""
        start = np.arange(count) * self.strides[2 + i] - self.pads[2 * i]
        place = (start[:, None] + np.arange(self.ksize[i]) * self.dilations[2 + i]).reshape(-1).astype(np.float32)
        return wrap(place.reshape((-1, 1) if i == 0 else (1, -1)))


def deformable_conv2d(
    x: Tensor,
    weight: Tensor,
    offsets: Tensor,
    kernel_size: tuple,
    strides: tuple,
    padding: tuple,
    bias: Tensor | None = None,
    dilations: tuple = (1, 1, 1, 1),
    groups: int = 1,
    deformable_groups: int = 1,
    modulated: bool = True,
) -> Tensor:
    """Convolve an image whose windows are bent by offsets.

    Args:
        x: (N, C, H, W) of floats.
        weight: (C', C / groups, height, width).
        offsets: (N, 3 * deformable_groups * height * width, H', W'): offsets along the width, offsets along the
            height, weights, for every element of every window.
        kernel_size: (height, width).
        strides, dilations: (1, 1, height, width).
        padding: (top, bottom, left, right).
        bias: (C',), or None.
        groups: groups of the convolution's channels.
        deformable_groups: groups of channels with offsets of their own.
        modulated: True.

    Returns:
        Tensor (N, C', H', W').

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if numbers or shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> offsets = ms.ops.zeros((1, 27, 3, 3), ms.float32)
        >>> offsets[:, 18:] = 1.0
        >>> x, weight = ms.ops.ones((1, 1, 5, 5)), ms.ops.ones((2, 1, 3, 3))
        >>> ms.ops.deformable_conv2d(x, weight, offsets, (3, 3), (1, 1, 1, 1), (0, 0, 0, 0)).shape
        (1, 2, 3, 3)
    """
    read = DeformableOffsets(strides, padding, kernel_size, dilations, "NCHW", deformable_groups, modulated)
    if arguments.tensor(weight, "weight", "deformable_conv2d").ndim == 4 and weight.shape[2:] != tuple(kernel_size):
        raise RuntimeError(
            complaint("weight", "deformable_conv2d", f"of windows of 'kernel_size' {kernel_size}", weight.shape)
        )
    return ops.conv2d(read(x, offsets), weight, bias, stride=kernel_size, pad_mode="valid", groups=groups)
