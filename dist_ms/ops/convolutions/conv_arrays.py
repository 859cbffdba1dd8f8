"""Convolution and its two transposes on arrays: oneDNN in float32 and 16-bit types, NumPy in float64.

float16 is computed in float32 where the CPU cannot do better. Results lie in channels-last memory.
"""

from __future__ import annotations

import math

import numpy as np

from dist_ms.ops.convolutions import conv_columns, conv_kernels, winograd
from dist_ms.ops.convolutions.windows import Pairs, add_windows, output_sizes, windows
from dist_ms.ops.layout import channels_last, contiguous, converted, dense, onednn_type

_F32 = np.dtype(np.float32)


def takes_relu(x: tuple, w: tuple, y: tuple, stride: tuple, padding: Pairs, dilation: tuple, group: int) -> bool:
    """Whether ReLU can be the last step of a float32 convolution of these shapes."""
    if winograd.suits(x, w, stride, padding, dilation, group):
        return True
    return conv_columns.suits(_F32, y, w, group) and conv_columns.is_tiled(y, w)


def convolve(
    x: np.ndarray,
    w: np.ndarray,
    bias: np.ndarray | None,
    stride: tuple,
    padding: Pairs,
    dilation: tuple,
    group: int,
    relu: bool = False,
) -> np.ndarray:
    """The convolution (N, O, *output) of x (N, C, *spatial) with w (O, C / group, *kernel).

    `relu` gives ReLU of it, where `takes_relu` says so.
    """
    work = onednn_type(x.dtype)
    sizes = output_sizes(x.shape[2:], w.shape[2:], stride, padding, dilation)
    shape = (x.shape[0], w.shape[0], *sizes)
    if work is not None:
        if work == _F32 and winograd.suits(x.shape, w.shape, stride, padding, dilation, group):
            out = winograd.convolve(
                dense(x, work), dense(w, work), None if bias is None else contiguous(bias, work), padding, sizes, relu
            )
            return converted(out, x.dtype)
        out = channels_last(shape, work)
        bias = None if bias is None else converted(bias, work)
        numbers = (stride, padding, dilation)
        if relu:
            conv_columns.convolve(dense(x), dense(w), None if bias is None else contiguous(bias), *numbers, out, relu)
        else:
            conv_kernels.forward(converted(x, work), converted(w, work), bias, out, *numbers, group)
        return converted(out, x.dtype)
    view = windows(x, w.shape[2:], stride, padding, dilation)
    parts = [rows @ matrix.T for rows, matrix in zip(_rows(view, group), _matrices(w, group))]
    out = np.concatenate(parts, axis=1)
    if bias is not None:
        out += bias
    return np.moveaxis(out.reshape(shape[0], *sizes, shape[1]), -1, 1)


def convolve_transposed(
    dy: np.ndarray, w: np.ndarray, shape: tuple, stride: tuple, padding: Pairs, dilation: tuple, group: int
) -> np.ndarray:
    """The gradient (of shape `shape`) of a convolution's input, given that of its output."""
    work = onednn_type(dy.dtype)
    if work is not None:
        if work == _F32 and winograd.suits(shape, w.shape, stride, padding, dilation, group):
            dx = winograd.convolve_transposed(dense(dy, work), dense(w, work), shape, padding)
            return converted(dx, dy.dtype)
        dx = channels_last(shape, work)
        conv_kernels.backward_data(converted(dy, work), converted(w, work), dx, stride, padding, dilation, group)
        return converted(dx, dy.dtype)
    kernel, sizes = w.shape[2:], dy.shape[2:]
    parts = [rows @ matrix for rows, matrix in zip(_channel_rows(dy, group), _matrices(w, group))]
    parts = [p.reshape(shape[0], *sizes, shape[1] // group, *kernel) for p in parts]
    view = np.moveaxis(np.concatenate(parts, axis=1 + len(sizes)), 1 + len(sizes), 1)
    return add_windows(view, shape, kernel, stride, padding, dilation)


def convolution_weights(
    x: np.ndarray,
    dy: np.ndarray,
    shape: tuple,
    with_bias: bool,
    stride: tuple,
    padding: Pairs,
    dilation: tuple,
    group: int,
    out: np.ndarray | None = None,
    bias_out: np.ndarray | None = None,
) -> tuple:
    """The gradients (dw of shape `shape`, db or None) of a convolution's weight and bias.

    `out` and `bias_out`, contiguous float32 or float64 as x is, get them where given.
    """
    work = onednn_type(x.dtype)
    if work is not None:
        if (
            work == _F32
            and winograd.suits(x.shape, shape, stride, padding, dilation, group)
            and winograd.gradient_suits(x.shape, dy.shape)
        ):
            dw = winograd.convolution_weights(dense(x, work), dense(dy, work), shape, padding, out)
            db = dy.sum(axis=(0, 2, 3), dtype=work, out=bias_out) if with_bias else None
            return converted(dw, x.dtype), db if db is None else converted(db, x.dtype)
        dw = np.empty(shape, work) if out is None else out
        db = (np.empty(shape[0], work) if bias_out is None else bias_out) if with_bias else None
        conv_kernels.backward_weights(converted(x, work), converted(dy, work), dw, db, stride, padding, dilation, group)
        return converted(dw, x.dtype), db if db is None else converted(db, x.dtype)
    view = windows(x, shape[2:], stride, padding, dilation)
    parts = [d.T @ rows for d, rows in zip(_channel_rows(dy, group), _rows(view, group))]
    dw = np.empty(shape, x.dtype) if out is None else out
    np.concatenate(parts, axis=0, out=dw.reshape(shape[0], -1))
    return dw, dy.sum(axis=(0, *range(2, dy.ndim)), out=bias_out) if with_bias else None


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
