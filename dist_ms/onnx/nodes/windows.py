"""Convolutions, pooling, padding, resizing: what moves a window over an image."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.exporting.comparing import Varying
from dist_ms.exporting.graph import Unsupported
from dist_ms.exporting.settings import fixed, weights_of_sizes
from dist_ms.onnx.nodes.table import maps


def _pads(padding: Any) -> list[int]:
    """ONNX's form of pairs: all befores, then all afters."""
    return [int(p[0]) for p in padding] + [int(p[1]) for p in padding]


def _same(wire: Any, kernel: Any, stride: Any, dilation: Any) -> list[int]:
    """The padding with which the output has ceil(size / stride) elements."""
    sizes = list(wire.shape[2:])
    before, after = [], []
    for n, k, s, d in zip(sizes, kernel, stride, dilation):
        if isinstance(n, Varying) and s != 1:
            raise Unsupported("pads as 'same' with a stride for a length that is open, and the padding depends on it")
        reach = d * (k - 1) + 1
        missing = reach - 1 if s == 1 else max((-(-n // s) - 1) * s + reach - n, 0)
        before.append(missing // 2)
        after.append(missing - missing // 2)
    return before + after


@maps("Conv2D", "Conv3D", "Convolution")
def _convolution(g: Any, step: Any) -> str:
    x, weight = step.inputs[:2]
    if getattr(step.primitive, "data_format", "NCHW") not in ("NCHW", "NCDHW"):
        raise Unsupported("has channels last; ONNX has them first")
    kernel = weight.arrays[0].shape[2:]
    stride, dilation = fixed(step["_stride"], "stride"), fixed(step["_dilation"], "dilation")
    padding = step["_padding"]
    pads = _same(x, kernel, stride, dilation) if padding is None else _pads(fixed(padding, "pad"))
    bias = [g.name(b) for b in step.inputs[2:3] if b is not None]
    return g.node(
        "Conv",
        g.name(x),
        g.name(weight),
        *bias,
        kernel_shape=list(kernel),
        strides=list(stride),
        dilations=list(dilation),
        pads=pads,
        group=int(step["_group"]),
    )


@maps("TransposedConvolution")
def _transposed_convolution(g: Any, step: Any) -> str:
    x, weight, size = step.inputs[:3]
    kernel = weight.arrays[0].shape[2:]
    stride, dilation, padding = step["_stride"], step["_dilation"], fixed(step["_padding"], "pad")
    extra = []
    for n, m, k, s, d, p in zip(x.shape[2:], size[2:], kernel, stride, dilation, padding):
        lengths = (n.values, m.values) if isinstance(n, Varying) and isinstance(m, Varying) else ([n], [m])
        more = {b - ((a - 1) * s - sum(p) + d * (k - 1) + 1) for a, b in zip(*lengths)}
        if len(more) != 1:
            raise Unsupported("has an output size that does not follow from its input's by adding a fixed number")
        extra.append(more.pop())
    return g.node(
        "ConvTranspose",
        g.name(x),
        g.name(weight),
        kernel_shape=list(kernel),
        strides=list(stride),
        dilations=list(dilation),
        pads=_pads(padding),
        output_padding=extra,
        group=int(step["_group"]),
    )


@maps("MaxPoolingWithIndices")
def _maxima(g: Any, step: Any) -> tuple:
    return _pooling(g, step), ""  # the places are counted otherwise in ONNX


@maps("MaxPooling", "AvgPooling")
def _pooling(g: Any, step: Any) -> str:
    x, pool = step.inputs[0], step["_pool"]
    mean = step.kind == "AvgPooling"
    if isinstance(pool, dict) and any(isinstance(k, Varying) for k in pool["kernel"]):
        return _whole(g, step, x, pool, mean)
    kernel, stride, dilation = pool["kernel"], pool["stride"], pool["dilation"]
    if mean and step["_divisor"]:
        raise Unsupported("divides by a number of its own, 'divisor_override', which ONNX does not")
    pads = _same(x, kernel, stride, dilation) if pool["padding"] is None else _pads(fixed(pool["padding"], "pad"))
    rank = len(kernel)
    widths = pads if any(pads) else None
    options = {
        "kernel_shape": list(kernel),
        "strides": list(stride),
        "pads": pads,
        "ceil_mode": int(pool["ceil_mode"]),
    }
    if not mean:
        return g.node("MaxPool", g.name(x), dilations=list(dilation), **options)
    if any(d != 1 for d in dilation):
        raise Unsupported("takes means of dilated windows, which ONNX has from opset 19 on")
    if widths is not None and step["_count_padding"] and not pool["ceil_mode"]:
        # The zeros are written out: what runs the file need not agree on how they are counted.
        amounts = g.constant([0, 0, *pads[:rank], 0, 0, *pads[rank:]], np.int64)
        return g.node("AveragePool", g.node("Pad", g.name(x), amounts), **(options | {"pads": [0] * (2 * rank)}))
    return g.node("AveragePool", g.name(x), count_include_pad=int(bool(step["_count_padding"])), **options)


def _whole(g: Any, step: Any, x: Any, pool: dict, mean: bool) -> str:
    """One window that is the whole image, whose size is open."""
    for n, k in zip(x.shape[2:], pool["kernel"]):
        if (n.values if isinstance(n, Varying) else n) != (k.values if isinstance(k, Varying) else k):
            raise Unsupported("has windows whose size depends on that of the images without being it")
    return g.node("GlobalAveragePool" if mean else "GlobalMaxPool", g.name(x))


@maps("Border")
def _border(g: Any, step: Any) -> str:
    return _padded(g, step, "constant", g.constant(step["value"], step.inputs[0].dtype))


@maps("Mirrored")
def _mirrored(g: Any, step: Any) -> str:
    modes = {"reflect": "reflect", "replicate": "edge"}
    if step["mode"] not in modes:
        raise Unsupported(f"pads in the mode {step['mode']!r}, which ONNX's opset 17 has not")
    return _padded(g, step, modes[step["mode"]])


def _padded(g: Any, step: Any, mode: str, *value: str) -> str:
    widths = fixed(step["widths"], "paddings")
    for pair in widths:
        fixed(pair, "paddings")
    x = step.inputs[0]
    cut = [min(n, 0) for pair in widths for n in pair]
    name = g.name(x)
    if any(cut):  # negative widths take away
        raise Unsupported("has negative paddings, which cut elements off: slice instead")
    return g.node("Pad", name, g.constant(_pads(widths), np.int64), *value, mode=mode)


@maps("Resample")
def _resample(g: Any, step: Any) -> str:
    x, matrices = step.inputs[0], weights_of_sizes(step["_matrices"])
    name, rank = g.name(x), len(matrices)
    for axis, matrix in enumerate(matrices):
        if matrix.shape[0] == matrix.shape[1] and np.array_equal(matrix, np.eye(len(matrix))):
            continue
        picked = matrix.argmax(1)
        if np.array_equal(matrix, np.eye(matrix.shape[1])[picked]):
            name = g.node("Gather", name, g.constant(picked, np.int64), axis=axis + 2)
        elif axis == rank - 1:
            name = g.node("MatMul", name, g.constant(matrix.T, x.dtype))
        elif axis == rank - 2:
            name = g.node("MatMul", g.constant(matrix, x.dtype), name)
        else:
            order = list(range(rank + 2))
            order[axis + 2], order[-1] = order[-1], order[axis + 2]
            product = g.node("MatMul", g.node("Transpose", name, perm=order), g.constant(matrix.T, x.dtype))
            name = g.node("Transpose", product, perm=order)
    return name if name != g.name(x) else g.node("Identity", name)


@maps("Unfold")
def _unfold(g: Any, step: Any) -> str:
    kernel, stride, padding, dilation = fixed(step["_geometry"], "kernel_size")
    x = step.inputs[0]
    channels = x.shape[1]
    if isinstance(channels, Varying):
        raise Unsupported("has an open number of channels")
    # A depthwise convolution whose outputs are the elements of each window.
    size = int(np.prod(kernel))
    weight = np.tile(np.eye(size).reshape(size, 1, *kernel), (channels, *[1] * (1 + len(kernel))))
    columns = g.node(
        "Conv",
        g.name(x),
        g.constant(weight, x.dtype),
        kernel_shape=list(kernel),
        strides=list(stride),
        dilations=list(dilation),
        pads=_pads(padding),
        group=int(channels),
    )
    return g.node("Reshape", columns, g.constant([0, channels * size, -1], np.int64))


@maps("Sampled")
def _sampled(g: Any, step: Any) -> str:
    x, grid = step.inputs
    padding = step["padding"]
    return g.node(
        "GridSample",
        g.name(x),
        g.name(grid),
        mode="nearest" if step["nearest"] else "bilinear",
        padding_mode=padding,
        align_corners=int(step["align"]),
    )
