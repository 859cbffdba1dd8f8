"""Convolutions in which each channel has a kernel of its own: over volumes, for which oneDNN has plain loops.

Over images oneDNN's float32 code is good where the memory is channels-last, and slow at bringing it there.
"""

from __future__ import annotations

import numpy as np

from dist_ms.ops.convolutions.plan import Geometry
from dist_ms.ops.kernels import depthwise, dnnl
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


def convolution_weights(x: np.ndarray, dy: np.ndarray, dw: np.ndarray, db: np.ndarray | None, at: Geometry) -> None:
    """Write the gradients of the weight and the bias of 16-bit arrays: those of float32, rounded."""
    wide = np.empty(dw.shape, _F32)
    wide_bias = None if db is None else np.empty(db.shape, _F32)
    windows = at.stride, at.padding, at.dilation, at.group
    dnnl.conv_backward_weights(converted(x, _F32), converted(dy, _F32), wide, wide_bias, *windows)
    dw[...] = converted(wide, dw.dtype)
    if db is not None:
        db[...] = converted(wide_bias, db.dtype)


def in_channels_last_memory(x: np.ndarray) -> np.ndarray:
    """`x` (N, C, *sizes), copied if its channels are not neighbours."""
    return np.moveaxis(copied(_images(x)), -1, 1) if x.strides[1] != x.itemsize else x


def _images(x: np.ndarray) -> np.ndarray:
    """A view (N, *sizes, C) of (N, C, *sizes)."""
    return np.moveaxis(x, 1, -1)
