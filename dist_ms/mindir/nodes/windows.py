"""Convolutions, pooling, padding, resizing: what slides over images."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.exporting.comparing import Varying
from dist_ms.exporting.graph import Unsupported
from dist_ms.exporting.settings import fixed, weights_of_sizes
from dist_ms.mindir.nodes.table import maps, reshaped


def _flat(pairs: Any) -> tuple:
    return tuple([int(n) for pair in pairs for n in pair])


@maps("Conv2D", "Conv3D", "Convolution")
def _convolution(g: Any, step: Any) -> str:
    x, weight, *bias = step.inputs
    stride, dilation, padding = (step[name] for name in ("_stride", "_dilation", "_padding"))
    rank = len(stride)
    if rank == 1:
        name, kernel = g.function("ExpandDims", x, 2), g.function("ExpandDims", weight, 2)
        stride, dilation = (1, *stride), (1, *dilation)
        padding = None if padding is None else ((0, 0), *padding)
    else:
        name, kernel = g.name(x), g.name(weight)
    sizes = (1, *weight.shape[2:]) if rank == 1 else weight.shape[2:]
    attributes = _geometry(sizes, weight.shape[0], stride, dilation, int(step["_group"]))
    mode = "same" if padding is None else "pad" if any(_flat(padding)) else "valid"
    attributes |= {"pad_mode": mode, "pad": _flat(padding) if mode == "pad" else (0,) * (2 * len(sizes))}
    attributes["pad_list"] = _flat(_resolved(step, x, weight, rank, padding))
    out = g.primitive(f"Conv{len(sizes)}D", name, kernel, **attributes)
    given = [b for b in bias if b is not None]
    if given:
        out = g.function("BiasAdd", out, given[0], 0 if len(sizes) == 2 else 14)
    return g.function("Squeeze", out, (2,)) if rank == 1 else out


def _resolved(step: Any, x: Any, weight: Any, rank: int, padding: Any) -> Any:
    """How many zeros there are; those of "same" follow from the size of the example's images."""
    if padding is not None:
        return padding
    found = step.primitive.resolved_padding(x.arrays[0].shape[2:], weight.arrays[0].shape[2:])
    return ((0, 0), *found) if rank == 1 else found


def _geometry(sizes: tuple, channels: int, stride: Any, dilation: Any, group: int) -> dict[str, Any]:
    """What MindSpore's convolutions have as attributes, by their names there."""
    if len(sizes) == 2:
        lengths = {"stride": (1, 1, *stride), "dilation": (1, 1, *dilation), "format": "NCHW"}
    else:
        lengths = {"stride": tuple(stride), "dilation": tuple(dilation), "format": "NCDHW", "offset_x": 0}
        lengths |= {"strides": (1, 1, *stride), "dilations": (1, 1, *dilation)}
    names = {"kernel_size": tuple(sizes), "out_channel": channels, "mode": 1, "group": group, "groups": group}
    return names | lengths


@maps("TransposedConvolution")
def _transposed(g: Any, step: Any) -> str:
    x, weight, shape = step.inputs[:3]
    stride, padding = step["_stride"], step["_padding"]
    if len(stride) != 2 or padding is None:
        raise Unsupported(f"is a transposed convolution over {len(stride)} dimensions, and only two are mapped")
    if isinstance(shape, Varying) or any(isinstance(n, Varying) for n in shape):
        raise Unsupported("has an output whose size is open, and MINDIR takes a fixed one")
    attributes = _geometry(weight.shape[2:], weight.shape[0], stride, step["_dilation"], int(step["_group"]))
    widths = _flat(padding)
    attributes |= {"pad_mode": "PAD", "pad": widths, "pad_list": widths}
    return g.primitive("Conv2DTranspose", x, weight, tuple(shape), **attributes)


@maps("MaxPooling", "MaxPoolingWithIndices")
def _maxima(g: Any, step: Any) -> Any:
    x, pool, name, wide, undo = _pooled(g, step)
    kernel, stride, dilation, padding = wide
    several = step.kind == "MaxPoolingWithIndices"
    flat = len(kernel) == 2
    if padding is not None and any(a != b or not (flat or a == b == 0) for a, b in padding):
        lowest = g.operand(np.finfo(x.dtype).min, x.dtype)
        name, padding = _bordered(g, name, padding, lowest), ((0, 0),) * len(kernel)
    plain = padding is None or not (any(_flat(padding)) or pool["ceil_mode"] or any(d != 1 for d in dilation))
    if plain and not several:
        mode = "SAME" if padding is None else "VALID"
        lengths = {"kernel_size": (1, 1, *kernel), "strides": (1, 1, *stride), "pad_mode": mode}
        if flat:
            return undo(g.primitive("MaxPool", name, format="NCHW", **lengths))
        return g.primitive("MaxPool3D", name, format="NCDHW", pad_list=(0,) * 6, ceil_mode=0, **lengths)
    if not flat:
        raise Unsupported("takes maxima over three dimensions, dilated, rounded up or with places: not mapped")
    if padding is None:
        raise Unsupported("gives the places of maxima in padded windows, which is not mapped")
    lengths = {"kernel_size": kernel, "strides": stride, "pads": [p[0] for p in padding], "dilation": dilation}
    attributes = {k: (1, 1, *[int(n) for n in v]) for k, v in lengths.items()}
    both = g.primitive("MaxPoolWithArgmaxV2", name, argmax_type=4, ceil_mode=bool(pool["ceil_mode"]), **attributes)
    return (undo(g.item(both, 0)), undo(g.item(both, 1))) if several else undo(g.item(both, 0))


@maps("_Maximum")
def _adaptive_maxima(g: Any, step: Any) -> tuple:
    counts = step["_counts"]
    if len(counts) != 2:
        raise Unsupported(f"takes maxima of uneven windows over {len(counts)} dimensions, and only two are mapped")
    both = g.function("AdaptiveMaxPool2D", step.inputs[0], tuple([int(n) for n in fixed(tuple(counts), "output_size")]))
    return g.item(both, 0), g.item(both, 1)


@maps("AvgPooling")
def _means(g: Any, step: Any) -> str:
    _, pool, name, wide, undo = _pooled(g, step)
    kernel, stride, dilation, padding = wide
    if any(d != 1 for d in dilation):
        raise Unsupported("takes means of dilated windows, which MindSpore does not")
    plain = padding is None or not (any(_flat(padding)) or pool["ceil_mode"] or step["_divisor"])
    if len(kernel) == 2 and plain:
        return undo(g.function("AvgPool", name, tuple(kernel), tuple(stride), 1 if padding is None else 2, 0))
    if padding is None:
        raise Unsupported("takes means over three dimensions with padding of the kind 'same', which is not mapped")
    flat = len(kernel) == 2
    if flat:
        name = g.function("ExpandDims", name, 2)
        kernel, stride, padding = (1, *kernel), (1, *stride), ((0, 0), *padding)
    widths = _flat(padding)
    attributes = {
        "kernel_size": (1, 1, *kernel),
        "strides": (1, 1, *stride),
        "pad": widths,
        "pad_list": widths,
        "pad_mode": "PAD",
        "ceil_mode": bool(pool["ceil_mode"]),
        "count_include_pad": bool(step["_count_padding"]),
        "divisor_override": int(step["_divisor"] or 0),
        "format": "NCDHW",
    }
    out = g.primitive("AvgPool3D", name, **attributes)
    return undo(g.function("Squeeze", out, (2,)) if flat else out)


def _pooled(g: Any, step: Any) -> tuple:
    """The input, the pooling, the input's name, its windows, and what takes a dimension away that was added."""
    x, pool = step.inputs[0], step["_pool"]
    kernel = pool["kernel"]
    if isinstance(kernel, Varying) or any(isinstance(k, Varying) for k in kernel):
        raise Unsupported("has windows whose size depends on that of the images: fix the images' size")
    wide = [pool[name] for name in ("kernel", "stride", "dilation", "padding")]
    if len(kernel) != 1:
        return x, pool, g.name(x), wide, lambda name: name
    wide = [(1, *w) for w in wide[:3]] + [None if wide[3] is None else ((0, 0), *wide[3])]
    return x, pool, g.function("ExpandDims", x, 2), wide, lambda name: g.function("Squeeze", name, (2,))


@maps("Unfold")
def _unfold(g: Any, step: Any) -> str:
    kernel, stride, padding, dilation = fixed(step["_geometry"], "kernel_size")
    name = g.name(step.inputs[0])
    if any(_flat(padding)):
        name = _bordered(g, name, padding, g.operand(0, step.inputs[0].dtype))
    lengths = {"ksizes": kernel, "strides": stride, "dilations": dilation, "pads": (0, 0)}
    settings = {k: tuple([int(n) for n in v]) for k, v in lengths.items()}
    columns = g.primitive("Im2Col", name, padding_mode="CALCULATED", **settings)
    return reshaped(g, columns, step.outputs[0].shape)


@maps("Border")
def _border(g: Any, step: Any) -> str:
    x, widths = step.inputs[0], step["widths"]
    return _bordered(g, g.name(x), widths, g.operand(step["value"], x.dtype))


def _bordered(g: Any, name: str, widths: Any, value: str) -> str:
    """A tensor with a border of one value: the last dimension's widths stand first."""
    if isinstance(widths, Varying) or any(isinstance(n, Varying) or n < 0 for pair in widths for n in pair):
        raise Unsupported("has negative or open paddings: slice, or fix the size")
    amounts = tuple([int(n) for pair in reversed(tuple(widths)) for n in pair])
    return g.primitive("PadV3", name, amounts, value, mode="constant", paddings_contiguous=True)


@maps("Mirrored")
def _mirrored(g: Any, step: Any) -> str:
    """Every dimension's elements in the order that the border asks for."""
    modes = {"reflect": "reflect", "replicate": "edge"}
    if step["mode"] not in modes:
        raise Unsupported(f"pads in the mode {step['mode']!r}, which is not mapped")
    x, name = step.inputs[0], g.name(step.inputs[0])
    for axis, pair in enumerate(fixed(step["widths"], "paddings")):
        if any(pair):
            order = np.pad(np.arange(fixed(x.shape[axis], "length")), pair, modes[step["mode"]])
            name = g.function("Gather", name, order, axis, 0)
    return name


@maps("Sampled")
def _sampled(g: Any, step: Any) -> str:
    x, grid = step.inputs
    paddings = {"zeros": 0, "border": 1, "reflection": 2}
    return g.function(
        f"GridSampler{x.ndim - 2}D", x, grid, int(step["nearest"]), paddings[step["padding"]], bool(step["align"])
    )


@maps("Resample")
def _resample(g: Any, step: Any) -> str:
    x, matrices = step.inputs[0], weights_of_sizes(step["_matrices"])
    if len(matrices) != 2:
        raise Unsupported("resizes what is no image, which is not mapped")
    rows, columns = (g.constant(np.asarray(m, x.dtype)) for m in matrices)
    return g.function("MatMulExt", rows, g.function("MatMulExt", x, g.function("Transpose", columns, (1, 0))))
