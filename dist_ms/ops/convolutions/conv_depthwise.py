"""Convolutions in which each channel has a kernel of its own: over volumes, for which oneDNN has plain loops.

Over images oneDNN's float32 code is good where the memory is channels-last, and slow at bringing it there.
"""

from __future__ import annotations

import numpy as np

from dist_ms.ops.convolutions.windows import Pairs
from dist_ms.ops.kernels import depthwise, dnnl
from dist_ms.ops.layout import contiguous, converted, copied

_F32 = np.dtype(np.float32)
_NARROW = 3  # pixels of a window's side up to which oneDNN's 16-bit gradients of the weight are the quicker ones


def is_by_channel(w: np.ndarray, group: int, sizes: int) -> bool:
    """Whether each channel of inputs of so many sizes has a kernel of its own."""
    return w.ndim == 2 + sizes and 1 < group == w.shape[0] and w.shape[1] == 1


def forward(
    x: np.ndarray,
    w: np.ndarray,
    bias: np.ndarray | None,
    out: np.ndarray,
    stride: tuple,
    padding: Pairs,
    dilation: tuple,
) -> np.ndarray:
    """Write the convolution of x (N, C, *sizes) with w (C, 1, *kernel) into `out`, channels-last."""
    images = _images(out)
    sums = images if out.dtype == _F32 and images.flags.c_contiguous else np.empty(images.shape, _F32)
    shift = None if bias is None else contiguous(bias, _F32)
    before = tuple([pair[0] for pair in padding])
    kernels = contiguous(np.moveaxis(w[:, 0], 0, -1), _F32)
    depthwise.forward(contiguous(_images(x), _F32), kernels, shift, sums, tuple(stride), before, tuple(dilation))
    if sums is not images:
        images[...] = converted(sums, out.dtype)
    return out


def gains_in_float32(dw: np.ndarray, dtype: np.dtype, group: int) -> bool:
    """Whether the gradient of a weight, of arrays of a 16-bit type, is made quicker in float32 (1.5 to 4.6 x)."""
    if dtype == _F32:
        return False
    return is_by_channel(dw, group, 3) or (is_by_channel(dw, group, 2) and max(dw.shape[2:]) > _NARROW)


def backward_weights(x: np.ndarray, dy: np.ndarray, dw: np.ndarray, db: np.ndarray | None, *numbers: object) -> None:
    """Write the gradients of the weight and the bias of 16-bit arrays: those of float32, rounded."""
    wide = np.empty(dw.shape, _F32)
    wide_bias = None if db is None else np.empty(db.shape, _F32)
    dnnl.conv_backward_weights(converted(x, _F32), converted(dy, _F32), wide, wide_bias, *numbers)
    dw[...] = converted(wide, dw.dtype)
    if db is not None:
        db[...] = converted(wide_bias, db.dtype)


def in_channels_last_memory(x: np.ndarray) -> np.ndarray:
    """`x` (N, C, *sizes), copied if its channels are not neighbours."""
    return np.moveaxis(copied(_images(x)), -1, 1) if x.strides[1] != x.itemsize else x


def _images(x: np.ndarray) -> np.ndarray:
    """A view (N, *sizes, C) of (N, C, *sizes)."""
    return np.moveaxis(x, 1, -1)
