"""Shapes: reshaping, transposing, joining, splitting, repeating."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.exporting.comparing import Varying
from dist_ms.exporting.graph import Unsupported
from dist_ms.exporting.settings import axes_of, fixed
from dist_ms.onnx.nodes.table import maps


@maps("Reshape", "Flatten")
def _reshape(g: Any, step: Any) -> str:
    """To the shape of the result: lengths that are open are -1, if it is one, or computed."""
    return g.node("Reshape", g.name(step.inputs[0]), target(g, step.outputs[0].shape, step.inputs[0]))


def target(g: Any, shape: tuple, source: Any = None) -> str:
    """The shape as a tensor."""
    open_ones = [i for i, n in enumerate(shape) if isinstance(n, Varying)]
    if len(open_ones) == 1 and 0 not in shape:
        return g.constant([-1 if isinstance(n, Varying) else n for n in shape], np.int64)
    return g.lengths(shape)


@maps("ExpandDims")
def _expand(g: Any, step: Any) -> str:
    return g.node("Unsqueeze", g.name(step.inputs[0]), g.constant([step.inputs[1]], np.int64))


@maps("Squeeze")
def _squeeze(g: Any, step: Any) -> str:
    x, axis = step.inputs[0], step["axis"]
    if axis is None or axis == ():
        axes = [i for i, n in enumerate(x.shape) if not isinstance(n, Varying) and n == 1]
    else:
        axes = axes_of(axis, x.ndim)
        axes = [a for a in axes if not isinstance(x.shape[a], Varying) and x.shape[a] == 1]
    return g.node("Squeeze", g.name(x), g.constant(axes, np.int64)) if axes else g.node("Identity", g.name(x))


@maps("Transpose")
def _transpose(g: Any, step: Any) -> str:
    x, order = step.inputs[:2]
    return g.node("Transpose", g.name(x), perm=axes_of(order, x.ndim))


@maps("Concat")
def _concat(g: Any, step: Any) -> str:
    parts = _parts(step)
    dtype = step.outputs[0].dtype
    return g.node("Concat", *[g.operand(x, dtype) for x in parts], axis=int(step["axis"]))


def _parts(step: Any) -> Any:
    return step.inputs[0] if isinstance(step.inputs[0], (tuple, list)) else step.inputs


@maps("Stack", "Pack")
def _stack(g: Any, step: Any) -> str:
    axis = int(step["axis"]) % step.outputs[0].ndim
    where, dtype = g.constant([axis], np.int64), step.outputs[0].dtype
    return g.node("Concat", *[g.node("Unsqueeze", g.operand(x, dtype), where) for x in _parts(step)], axis=axis)


@maps("Cut")
def _cut(g: Any, step: Any) -> tuple:
    lengths = step["lengths"]
    if isinstance(lengths, Varying):
        raise Unsupported("cuts into parts whose number depends on the inputs")
    names = g.node("Split", g.name(step.inputs[0]), g.lengths(lengths), outputs=len(lengths), axis=int(step["axis"]))
    return names if isinstance(names, tuple) else (names,)


@maps("Split", "SplitV")
def _split(g: Any, step: Any) -> tuple:
    axis = int(step["axis"]) % step.inputs[0].ndim
    lengths = [w.shape[axis] for w in step.outputs]
    names = g.node("Split", g.name(step.inputs[0]), g.lengths(lengths), outputs=len(lengths), axis=axis)
    return names if isinstance(names, tuple) else (names,)


@maps("Unstack", "Unpack")
def _unstack(g: Any, step: Any) -> tuple:
    x, axis = g.name(step.inputs[0]), int(step["axis"]) % step.inputs[0].ndim
    return tuple([g.node("Gather", x, g.constant(i, np.int64), axis=axis) for i in range(len(step.outputs))])


@maps("BroadcastTo")
def _broadcast(g: Any, step: Any) -> str:
    return g.node("Expand", g.name(step.inputs[0]), g.lengths(step.outputs[0].shape))


@maps("Tile")
def _tile(g: Any, step: Any) -> str:
    x, times = step.inputs[:2]
    times = times if isinstance(times, (tuple, list)) else (times,)
    name, rank = g.name(x), max(x.ndim, len(times))
    if x.ndim < rank:
        name = g.node("Unsqueeze", name, g.constant(list(range(rank - x.ndim)), np.int64))
    return g.node("Tile", name, g.lengths([*[1] * (rank - len(times)), *times]))


@maps("RepeatEach")
def _repeat(g: Any, step: Any) -> str:
    x, counts, axis = step.inputs[0], fixed(step["counts"], "repeats"), int(step["axis"])
    length = x.shape[axis]
    if not isinstance(length, Varying):
        index = np.repeat(np.arange(length), counts)
        return g.node("Gather", g.name(x), g.constant(index, np.int64), axis=axis)
    if not isinstance(counts, int):
        raise Unsupported("repeats the slices of an open dimension differently")
    axis %= x.ndim
    times = [1] * (x.ndim + 1)
    times[axis + 1] = counts
    runs = g.node("Tile", g.node("Unsqueeze", g.name(x), g.constant([axis + 1], np.int64)), g.constant(times, np.int64))
    return g.node("Reshape", runs, target(g, step.outputs[0].shape))


@maps("Roll")
def _roll(g: Any, step: Any) -> str:
    x, name = step.inputs[0], g.name(step.inputs[0])
    for shift, axis in zip(fixed(step["shifts"], "shifts"), fixed(step["dims"], "dims")):
        length = x.shape[axis]
        if isinstance(length, Varying):
            raise Unsupported("rolls an open dimension")
        if shift % length == 0:
            continue
        lengths = g.constant([length - shift % length, shift % length], np.int64)
        first, last = g.node("Split", name, lengths, outputs=2, axis=int(axis))
        name = g.node("Concat", last, first, axis=int(axis))
    return name if name != g.name(x) else g.node("Identity", name)


@maps("ReverseV2")
def _reverse(g: Any, step: Any) -> str:
    axes = axes_of(step["axis"], step.inputs[0].ndim)
    last = np.iinfo(np.int64)
    return g.node(
        "Slice",
        g.name(step.inputs[0]),
        g.constant([-1] * len(axes), np.int64),
        g.constant([last.min] * len(axes), np.int64),
        g.constant(axes, np.int64),
        g.constant([-1] * len(axes), np.int64),
    )


@maps("ReverseSequence")
def _reverse_parts(g: Any, step: Any) -> str:
    x, lengths = step.inputs[:2]
    along, over = (int(step[a]) % x.ndim for a in ("seq_dim", "batch_dim"))
    # ONNX has these for the first two dimensions only.
    order = [along, over, *[i for i in range(x.ndim) if i not in (along, over)]]
    turned = g.node("Transpose", g.name(x), perm=order)
    out = g.node("ReverseSequence", turned, g.operand(lengths, np.dtype(np.int64)), time_axis=0, batch_axis=1)
    return g.node("Transpose", out, perm=[order.index(i) for i in range(x.ndim)])


@maps("Tril", "Triu")
def _triangle(g: Any, step: Any) -> str:
    x = step.inputs[0]
    diagonal = step["diagonal"] if "diagonal" in step.attributes else 0
    # onnxruntime has the operator for few types: a mask of ones goes with them all.
    ones = g.node("Expand", g.constant(1, np.int64), g.node("Shape", g.name(x)))
    inside = g.node("Trilu", ones, g.lengths([diagonal]), upper=int(step.kind == "Triu"))
    return g.node("Where", g.cast(inside, bool), g.name(x), g.constant(0, x.dtype))
