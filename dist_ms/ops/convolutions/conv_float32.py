"""Convolutions of bfloat16 made in float32, a few images at a time: wider numbers, but they stay in the cache."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from dist_ms._ext.threads import get_num_threads
from dist_ms.ops.convolutions import conv_depthwise
from dist_ms.ops.convolutions.conv_geometry import Geometry
from dist_ms.ops.kernels import cast, dnnl
from dist_ms.ops.layout import contiguous, converted
from dist_ms.ops.scratch import scratch

_F32 = np.dtype(np.float32)
# Numbers of a thread's images and results that its cache has room for.
_IN_CACHE = 1 << 18


def convolve(x: np.ndarray, w: np.ndarray, bias: np.ndarray | None, at: Geometry, out: np.ndarray) -> None:
    """Write the convolution of x (N, C, *spatial) with w (O, C / group, *kernel) into `out`, channels-last."""
    kernels, shift = converted(w, _F32), None if bias is None else converted(bias, _F32)
    for images, sums in _parts(x, out):
        if at.group > 1:
            images = conv_depthwise.in_channels_last_memory(images)
        dnnl.conv_forward(images, kernels, shift, sums, at.stride, at.padding, at.dilation, at.group)


def convolve_transposed(dy: np.ndarray, w: np.ndarray, at: Geometry, dx: np.ndarray) -> None:
    """Write the gradient of the input into `dx`, channels-last."""
    kernels = converted(w, _F32)
    for gradients, sums in _parts(dy, dx):
        dnnl.conv_backward_data(gradients, kernels, sums, at.stride, at.padding, at.dilation, at.group)


def _parts(x: np.ndarray, out: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield some images of `x` in float32 and where their results go, which are rounded into `out` afterwards."""
    of_image = (math.prod(x.shape[1:]) + math.prod(out.shape[1:])) or 1
    parts = -(-len(x) // max(1, get_num_threads() * _IN_CACHE // of_image))
    order = (0, *sorted(range(1, x.ndim), key=lambda axis: -x.strides[axis]))
    images, results = contiguous(x.transpose(order)), out.transpose(0, *range(2, out.ndim), 1)
    axes, last = tuple(map(order.index, range(x.ndim))), (0, out.ndim - 1, *range(1, out.ndim - 1))
    for index in range(parts):
        where = slice(len(x) * index // parts, len(x) * (index + 1) // parts)
        part = images[where]
        wide = scratch.array("inputs", _F32, *part.shape)
        cast.from_bfloat16(part, wide)
        if out.dtype == _F32:
            yield wide.transpose(axes), out[where]
            continue
        sums = scratch.array("products", _F32, *results[where].shape)
        yield wide.transpose(axes), sums.transpose(last)
        cast.to_bfloat16(sums, results[where])
