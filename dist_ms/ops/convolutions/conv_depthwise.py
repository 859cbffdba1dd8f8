"""Convolutions whose channels have kernels of their own, where oneDNN has plain loops.

It has them over volumes, for the gradients of dilated convolutions and those of long kernels, and where a channel has
several outputs. Over images its float32 code is good where the memory is channels-last, and slow at bringing it there.
"""

from __future__ import annotations

import numpy as np

from dist_ms.ops.convolutions.conv_geometry import Geometry
from dist_ms.ops.kernels import depthwise
from dist_ms.ops.layout import contiguous, converted, copied

_F32 = np.dtype(np.float32)


def convolve(x: np.ndarray, w: np.ndarray, bias: np.ndarray | None, at: Geometry, out: np.ndarray) -> None:
    """Write the convolution of x (N, C, *sizes) with w (C, 1, *kernel) into `out`, channels-last."""
    images = _images(out)
    sums = images if out.dtype == _F32 and images.flags.c_contiguous else np.empty(images.shape, _F32)
    shift = None if bias is None else contiguous(bias, _F32)
    before = tuple([pair[0] for pair in at.padding])
    kernels = contiguous(np.moveaxis(w[:, 0], 0, -1), _F32)
    depthwise.forward(contiguous(_images(x), _F32), kernels, shift, sums, at.stride, before, at.dilation)
    if sums is not images:
        images[...] = converted(sums, out.dtype)


def convolve_transposed(dy: np.ndarray, w: np.ndarray, at: Geometry, dx: np.ndarray) -> None:
    """Write the gradient of the input of a convolution without strides into `dx`, channels-last.

    It is the convolution of dy with the kernels turned around.
    """
    turned = w[(slice(None), slice(None), *(slice(None, None, -1),) * (w.ndim - 2))]
    convolve(dy, turned, None, at.turned_around(), dx)


def convolution_weights(x: np.ndarray, dy: np.ndarray, dw: np.ndarray, at: Geometry) -> None:
    """Write the gradient of the weight into `dw` (C, 1, *kernel)."""
    found = np.empty((*at.w[2:], at.x[1]), _F32)
    before = tuple([pair[0] for pair in at.padding])
    numbers = contiguous(_images(x), _F32), contiguous(_images(dy), _F32)
    depthwise.backward_weights(*numbers, found, at.stride, before, at.dilation)
    dw[:, 0] = converted(np.moveaxis(found, -1, 0), dw.dtype)


def repeated(x: np.ndarray, times: int) -> np.ndarray:
    """`x` (N, C, *sizes) with each channel so many times, side by side, in channels-last memory."""
    images = _images(x)
    wide = np.empty((*images.shape, times), x.dtype)
    for number in range(times):
        wide[..., number] = images
    return np.moveaxis(wide.reshape(*images.shape[:-1], -1), -1, 1)


def add_repeated(wide: np.ndarray, times: int, out: np.ndarray) -> None:
    """Add up neighbouring channels, so many each."""
    images = _images(wide).reshape(*_images(out).shape, times)
    sums = images[..., 0] + images[..., 1]
    for number in range(2, times):
        sums += images[..., number]
    _images(out)[...] = converted(sums, out.dtype)


def in_channels_last_memory(x: np.ndarray) -> np.ndarray:
    """`x` (N, C, *sizes), copied if its channels are not neighbours."""
    return np.moveaxis(copied(_images(x)), -1, 1) if x.strides[1] != x.itemsize else x


def _images(x: np.ndarray) -> np.ndarray:
    """A view (N, *sizes, C) of (N, C, *sizes)."""
    return np.moveaxis(x, 1, -1)
