"""Convolution and its two transposes on arrays, by the algorithm that `plan` names for the shapes and the CPU.

float16 is computed in float32 where the CPU cannot do better. Results lie in channels-last memory, gradients of weights
in row-major memory.
"""

from __future__ import annotations

import math

import numpy as np

from dist_ms.ops.capabilities import capabilities
from dist_ms.ops.convolutions import conv_columns, conv_depthwise, conv_float32, conv_groups, plan, winograd
from dist_ms.ops.convolutions.conv_geometry import Geometry
from dist_ms.ops.convolutions.plan import Algorithm
from dist_ms.ops.convolutions.windows import add_windows, windows
from dist_ms.ops.kernels import dnnl
from dist_ms.ops.layout import channels_last, contiguous, converted, dense, onednn_type

_F32, _F64 = np.dtype(np.float32), np.dtype(np.float64)
# Gradients of the weight beside which that of the bias is a sum of its own.
_WITHOUT_BIAS = (Algorithm.WINOGRAD, Algorithm.COLUMNS, Algorithm.OUTPUT_COLUMNS, Algorithm.OWN_KERNELS)


def convolve(
    x: np.ndarray,
    w: np.ndarray,
    bias: np.ndarray | None,
    at: Geometry,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """The convolution (N, O, *output) of x (N, C, *spatial) with w (O, C / group, *kernel).

    Args:
        x, w: of one type.
        bias: (O,), of that type, or float32 for an `out` of float32.
        at: the geometry.
        out: channels-last, of that type or float32; gets the result.
    """
    given, work = x.dtype, onednn_type(x.dtype) or _F64
    covered = x.shape[1:] == w.shape[1:] and (out is None or out.dtype == work)
    in_rows = False
    if work != _F64:
        x, w = dense(x, work), dense(w, work)
        in_rows = x.flags.c_contiguous and w.flags.c_contiguous
    chosen = plan.forward(at, work, capabilities(), covered, in_rows)
    if chosen.algorithm is Algorithm.WINDOWS:
        return _by_windows(x, w, bias, at)
    result = channels_last(at.y, work) if out is None else out
    if bias is not None:
        bias = contiguous(bias, work if out is None else None)
    if chosen.algorithm is Algorithm.SIGNALS:
        convolve(_of_image(x), _of_image(w), bias, at.of_images(), _of_image(result))
    elif chosen.algorithm is Algorithm.REPEATED:
        convolve(conv_depthwise.repeated(x, at.outputs_of_channel), w, bias, at.of_repeated_channels(), result)
    elif chosen.algorithm is Algorithm.WINOGRAD:
        winograd.convolve(x, w, bias, at.padding, result)
    elif chosen.algorithm is Algorithm.OWN_KERNELS:
        conv_depthwise.convolve(x, w, bias, at, result)
    elif chosen.algorithm is Algorithm.WHOLE:
        conv_columns.convolve_whole(x, w, bias, result)
    elif chosen.algorithm is Algorithm.COLUMNS:
        conv_columns.convolve(x, w, bias, at, result)
    elif chosen.algorithm is Algorithm.ROWS:
        conv_columns.convolve_rows(x, w, bias, at, result)
    elif chosen.algorithm is Algorithm.IN_FLOAT32:
        conv_float32.convolve(x, w, bias, at, result)
    else:
        if chosen.algorithm is Algorithm.DIRECT_LAST:
            x = conv_depthwise.in_channels_last_memory(x)
        if chosen.merged > 1:
            w = conv_groups.spread(w, at.group, chosen.merged)
        dnnl.conv_forward(x, w, bias, result, *_windows(at, chosen.merged))
    return converted(result, given) if out is None else out


def convolve_transposed(dy: np.ndarray, w: np.ndarray, at: Geometry, out: np.ndarray | None = None) -> np.ndarray:
    """The gradient (N, C, *spatial) of a convolution's input, given that of its output.

    Args:
        dy, w: of one type.
        at: the convolution's geometry.
        out: channels-last, of that type or float32; gets the result.
    """
    given, work = dy.dtype, onednn_type(dy.dtype) or _F64
    chosen = plan.input_gradient(at, work, capabilities())
    if chosen.algorithm is Algorithm.WINDOWS:
        return _transposed_by_windows(dy, w, at)
    dy, w = dense(dy, work), dense(w, work)
    dx = channels_last(at.x, work) if out is None else out
    if chosen.algorithm is Algorithm.SIGNALS:
        convolve_transposed(_of_image(dy), _of_image(w), at.of_images(), _of_image(dx))
    elif chosen.algorithm is Algorithm.REPEATED:
        wide = at.of_repeated_channels()
        conv_depthwise.add_repeated(
            convolve_transposed(dy, w, wide, channels_last(wide.x, _F32)), at.outputs_of_channel, dx
        )
    elif chosen.algorithm is Algorithm.WINOGRAD:
        winograd.convolve_transposed(dy, w, at.padding, dx)
    elif chosen.algorithm is Algorithm.WHOLE:
        conv_columns.convolve_whole_transposed(dy, w, dx)
    elif chosen.algorithm is Algorithm.COLUMNS:
        conv_columns.convolve_transposed(dy, w, at, dx)
    elif chosen.algorithm is Algorithm.OWN_KERNELS:
        conv_depthwise.convolve_transposed(dy, w, at, dx)
    elif chosen.algorithm is Algorithm.IN_FLOAT32:
        conv_float32.convolve_transposed(dy, w, at, dx)
    else:
        if chosen.merged > 1:
            w = conv_groups.spread(w, at.group, chosen.merged)
        dnnl.conv_backward_data(dy, w, dx, *_windows(at, chosen.merged))
    return converted(dx, given) if out is None else out


def convolution_weights(
    x: np.ndarray,
    dy: np.ndarray,
    at: Geometry,
    with_bias: bool,
    out: np.ndarray | None = None,
    bias_out: np.ndarray | None = None,
) -> tuple:
    """The gradients (dw, db or None) of a convolution's weight and bias.

    Args:
        x, dy: of one type.
        at: the convolution's geometry.
        with_bias: whether db is asked for.
        out, bias_out: row-major, of that type or float32; get them.
    """
    given, work = x.dtype, onednn_type(x.dtype) or _F64
    chosen = plan.weight_gradient(at, work, capabilities())
    dw = np.empty(at.w, work) if out is None else out
    if chosen.algorithm is Algorithm.WINDOWS:
        _weights_by_windows(x, dy, at, dw)
        return dw, dy.sum(axis=(0, *range(2, dy.ndim)), out=bias_out) if with_bias else None
    x, dy = dense(x, work), dense(dy, work)
    db = (np.empty(at.w[0], work) if bias_out is None else bias_out) if with_bias else None
    if chosen.algorithm is Algorithm.SIGNALS:
        convolution_weights(_of_image(x), _of_image(dy), at.of_images(), with_bias, _of_image(dw), db)
    elif chosen.algorithm is Algorithm.REPEATED:
        wide = conv_depthwise.repeated(x, at.outputs_of_channel)
        convolution_weights(wide, dy, at.of_repeated_channels(), with_bias, dw, db)
    elif chosen.algorithm in _WITHOUT_BIAS:
        if db is not None:
            db[...] = dy.sum(axis=(0, *range(2, dy.ndim)), dtype=_F32)
        if chosen.algorithm is Algorithm.WINOGRAD:
            winograd.convolution_weights(x, dy, dw, at.padding)
        elif chosen.algorithm is Algorithm.OUTPUT_COLUMNS:
            conv_columns.weights_by_output_windows(x, dy, dw, at)
        elif chosen.algorithm is Algorithm.OWN_KERNELS:
            conv_depthwise.convolution_weights(x, dy, dw, at)
        else:
            conv_columns.convolution_weights(x, dy, dw, at)
    elif chosen.merged > 1:
        outputs, channels, *kernel = at.w
        wide = np.empty((outputs, chosen.merged * channels, *kernel), dw.dtype)
        dnnl.conv_backward_weights(x, dy, wide, db, *_windows(at, chosen.merged))
        conv_groups.gathered(wide, at.group, chosen.merged, dw)
    else:
        dnnl.conv_backward_weights(x, dy, dw, db, *_windows(at))
    if out is None:
        dw = converted(dw, given)
    return dw, converted(db, given) if db is not None and bias_out is None else db


def _windows(at: Geometry, merged: int = 1) -> tuple:
    """A geometry's last arguments of oneDNN's functions."""
    return at.stride, at.padding, at.dilation, at.group // merged


def _of_image(x: np.ndarray) -> np.ndarray:
    """Signals, or kernels for them, as images of one row."""
    return x[:, :, None]


def _by_windows(x: np.ndarray, w: np.ndarray, bias: np.ndarray | None, at: Geometry) -> np.ndarray:
    view = windows(x, w.shape[2:], at.stride, at.padding, at.dilation)
    parts = [rows @ matrix.T for rows, matrix in zip(_rows(view, at.group), _matrices(w, at.group))]
    out = np.concatenate(parts, axis=1)
    if bias is not None:
        out += bias
    batch, outputs, *sizes = at.y
    return np.moveaxis(out.reshape(batch, *sizes, outputs), -1, 1)


def _transposed_by_windows(dy: np.ndarray, w: np.ndarray, at: Geometry) -> np.ndarray:
    kernel, sizes = w.shape[2:], dy.shape[2:]
    parts = [rows @ matrix for rows, matrix in zip(_channel_rows(dy, at.group), _matrices(w, at.group))]
    parts = [p.reshape(at.x[0], *sizes, at.x[1] // at.group, *kernel) for p in parts]
    view = np.moveaxis(np.concatenate(parts, axis=1 + len(sizes)), 1 + len(sizes), 1)
    return add_windows(view, at.x, kernel, at.stride, at.padding, at.dilation)


def _weights_by_windows(x: np.ndarray, dy: np.ndarray, at: Geometry, dw: np.ndarray) -> None:
    view = windows(x, at.w[2:], at.stride, at.padding, at.dilation)
    parts = [d.T @ rows for d, rows in zip(_channel_rows(dy, at.group), _rows(view, at.group))]
    np.concatenate(parts, axis=0, out=dw.reshape(at.w[0], -1))


def _matrices(w: np.ndarray, group: int) -> np.ndarray:
    """The weight as a matrix (O / group, C / group * kernel) per group."""
    return w.reshape(group, w.shape[0] // group, -1)


def _rows(view: np.ndarray, group: int) -> list[np.ndarray]:
    """Windows (N, C, *output, *kernel) as a matrix (N * output, C / group * kernel) per group."""
    rank = (view.ndim - 2) // 2
    rows, channels = view.shape[0] * math.prod(view.shape[2 : 2 + rank]), view.shape[1] // group
    columns = channels * math.prod(view.shape[2 + rank :])
    moved = np.moveaxis(view, 1, 1 + rank)
    before = (slice(None),) * (1 + rank)
    return [moved[(*before, slice(g * channels, (g + 1) * channels))].reshape(rows, columns) for g in range(group)]


def _channel_rows(dy: np.ndarray, group: int) -> list[np.ndarray]:
    """(N, O, *output) as a matrix (N * output, O / group) per group."""
    rows = dy.shape[0] * math.prod(dy.shape[2:])
    matrix = np.moveaxis(dy, 1, -1).reshape(rows, dy.shape[1])
    channels = dy.shape[1] // group
    return [matrix[:, g * channels : (g + 1) * channels] for g in range(group)]
