"""A convolution and its two gradients by the kernel that is fastest for the shapes: of float32 or of a 16-bit type.

Results may be wider than the factors. They lie in channels-last memory and are written in place.
"""

from __future__ import annotations

import numpy as np

from dist_ms.ops.convolutions import conv_columns, conv_depthwise, conv_groups
from dist_ms.ops.convolutions.windows import Pairs
from dist_ms.ops.kernels import dnnl
from dist_ms.ops.layout import contiguous, dense

_F32 = np.dtype(np.float32)


def forward(
    x: np.ndarray,
    w: np.ndarray,
    bias: np.ndarray | None,
    out: np.ndarray,
    stride: tuple,
    padding: Pairs,
    dilation: tuple,
    group: int,
) -> np.ndarray:
    """Write the convolution of x (N, C, *spatial) with w (O, C / group, *kernel) into `out`."""
    if conv_depthwise.is_by_channel(w, group, 1):
        forward(_plane(x), _plane(w), bias, _plane(out), *_of_plane(stride, padding, dilation), group)
        return out
    if conv_depthwise.is_by_channel(w, group, 3):
        return conv_depthwise.forward(x, w, bias, out, stride, padding, dilation)
    bias = None if bias is None else contiguous(bias)
    x, w = dense(x), dense(w)
    if x.dtype == _F32 and conv_depthwise.is_by_channel(w, group, 2):
        x = conv_depthwise.in_channels_last_memory(x)
    if conv_columns.is_whole(x, w, out, padding, group):
        return conv_columns.convolve_whole(x, w, bias, out)
    if conv_columns.suits(x.dtype, out.shape, w.shape, group) or conv_columns.is_wide(out.shape, w.shape, group):
        return conv_columns.convolve(x, w, bias, stride, padding, dilation, out)
    at_once = conv_groups.merged(x.dtype, w.shape, group)
    if at_once > 1:
        w = conv_groups.spread(w, group, at_once)
    dnnl.conv_forward(x, w, bias, out, stride, padding, dilation, group // at_once)
    return out


def backward_data(
    dy: np.ndarray, w: np.ndarray, dx: np.ndarray, stride: tuple, padding: Pairs, dilation: tuple, group: int
) -> np.ndarray:
    """Write the gradient of the input into `dx`."""
    if conv_depthwise.is_by_channel(w, group, 1):
        backward_data(_plane(dy), _plane(w), _plane(dx), *_of_plane(stride, padding, dilation), group)
        return dx
    dy, w = dense(dy), dense(w)
    if (
        conv_columns.suits(dy.dtype, dy.shape, w.shape, group)
        or conv_columns.has_few_channels(dy.shape, w.shape, group)
        or conv_columns.is_wide(dy.shape, w.shape, group)
    ):
        return conv_columns.convolve_transposed(dy, w, stride, padding, dilation, dx)
    at_once = conv_groups.merged(dy.dtype, w.shape, group)
    if at_once > 1:
        w = conv_groups.spread(w, group, at_once)
    dnnl.conv_backward_data(dy, w, dx, stride, padding, dilation, group // at_once)
    return dx


def backward_weights(
    x: np.ndarray,
    dy: np.ndarray,
    dw: np.ndarray,
    db: np.ndarray | None,
    stride: tuple,
    padding: Pairs,
    dilation: tuple,
    group: int,
) -> np.ndarray:
    """Write the gradient of the weight into `dw`, row-major, and that of a bias into `db` unless it is None."""
    if conv_depthwise.is_by_channel(dw, group, 1):
        backward_weights(_plane(x), _plane(dy), _plane(dw), db, *_of_plane(stride, padding, dilation), group)
        return dw
    x, dy = dense(x), dense(dy)
    if conv_depthwise.gains_in_float32(dw, x.dtype, group):
        conv_depthwise.backward_weights(x, dy, dw, db, stride, padding, dilation, group)
        return dw
    geometry = (dy.shape, dw.shape, group)
    if conv_columns.suits(x.dtype, *geometry, of_weight=True) or conv_columns.is_wide(*geometry):
        if db is not None:
            db[...] = dy.sum(axis=(0, *range(2, dy.ndim)), dtype=np.float32)
        return conv_columns.convolution_weights(x, dy, dw, stride, padding, dilation)
    at_once = conv_groups.merged(x.dtype, dw.shape, group)
    if at_once == 1:
        dnnl.conv_backward_weights(x, dy, dw, db, stride, padding, dilation, group)
        return dw
    outputs, channels, *kernel = dw.shape
    wide = np.empty((outputs, at_once * channels, *kernel), dw.dtype)
    dnnl.conv_backward_weights(x, dy, wide, db, stride, padding, dilation, group // at_once)
    conv_groups.gathered(wide, group, at_once, dw)
    return dw


def _plane(x: np.ndarray) -> np.ndarray:
    """Signals, or kernels for them, as images of one row."""
    return x[:, :, None]


def _of_plane(stride: tuple, padding: Pairs, dilation: tuple) -> tuple:
    """A geometry of signals as that of images of one row."""
    return (1, *stride), ((0, 0), *padding), (1, *dilation)
