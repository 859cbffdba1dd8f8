"""Shapes, picking, reductions: what moves elements or brings many together."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from dist_ms.exporting.comparing import Varying, Wire
from dist_ms.exporting.graph import Unsupported
from dist_ms.exporting.settings import axes_of, fixed, index_parts
from dist_ms.mindir.nodes.table import maps, reshaped
from dist_ms.mindir.values import type_number


@maps("Reshape", "Flatten")
def _reshape(g: Any, step: Any) -> str:
    return reshaped(g, g.name(step.inputs[0]), step.outputs[0].shape)


@maps("ExpandDims")
def _expand(g: Any, step: Any) -> str:
    return g.function("ExpandDims", step.inputs[0], int(fixed(step.inputs[1], "axis")))


@maps("Squeeze")
def _squeeze(g: Any, step: Any) -> str:
    x, axis = step.inputs[0], step["axis"]
    axes = range(x.ndim) if axis is None or axis == () else axes_of(axis, x.ndim)
    ones = tuple([a for a in axes if not isinstance(x.shape[a], Varying) and x.shape[a] == 1])
    return g.function("Squeeze", x, ones) if ones else g.name(x)


@maps("Transpose")
def _transpose(g: Any, step: Any) -> str:
    x, order = step.inputs[:2]
    return g.function("Transpose", x, tuple(axes_of(order, x.ndim)))


def _parts(g: Any, step: Any) -> str:
    """The inputs as one, all in the type of the result."""
    given = step.inputs[0] if isinstance(step.inputs[0], (tuple, list)) else step.inputs
    return g.tuple([g.operand(x, step.outputs[0].dtype) for x in given])


@maps("Concat")
def _concat(g: Any, step: Any) -> str:
    return g.function("Concat", _parts(g, step), int(step["axis"]))


@maps("Stack", "Pack")
def _stack(g: Any, step: Any) -> str:
    return g.primitive("Stack", _parts(g, step), axis=int(step["axis"]))


@maps("Cut", "Split", "SplitV")
def _split(g: Any, step: Any) -> tuple:
    x, axis = step.inputs[0], int(step["axis"]) % step.inputs[0].ndim
    lengths = [w.shape[axis] for w in step.outputs]
    if any(isinstance(n, Varying) for n in lengths):
        raise Unsupported("cuts an open dimension, and MINDIR takes a fixed one")
    if len(set(lengths)) == 1:
        parts = g.function("Split", x, axis, len(lengths))
        return tuple([g.item(parts, i) for i in range(len(lengths))])
    ends = np.cumsum([0, *lengths])
    return tuple([_slice(g, g.name(x), x.ndim, axis, int(a), int(b)) for a, b in itertools.pairwise(ends)])


def _slice(g: Any, name: str, ndim: int, axis: int, start: int, end: int) -> str:
    """A part of one dimension: all others are whole."""
    others = ((1 << ndim) - 1) & ~(1 << axis)
    begins, ends = ([0] * ndim for _ in range(2))
    begins[axis], ends[axis] = start, end
    return g.function("StridedSlice", name, begins, ends, [1] * ndim, others, others, 0, 0, 0)


@maps("Unstack", "Unpack")
def _unstack(g: Any, step: Any) -> tuple:
    parts = g.primitive("Unstack", step.inputs[0], axis=int(step["axis"]), num=len(step.outputs))
    return tuple([g.item(parts, i) for i in range(len(step.outputs))])


@maps("BroadcastTo")
def _broadcast(g: Any, step: Any) -> str:
    return g.function("BroadcastTo", step.inputs[0], tuple([int(n) for n in fixed(step.outputs[0].shape, "shape")]))


@maps("Tile")
def _tile(g: Any, step: Any) -> str:
    x, times = step.inputs[:2]
    times = times if isinstance(times, (tuple, list)) else (times,)
    return g.function("Tile", x, (*[1] * (x.ndim - len(times)), *[int(n) for n in fixed(tuple(times), "multiples")]))


@maps("RepeatEach")
def _repeat(g: Any, step: Any) -> str:
    x, counts, axis = step.inputs[0], fixed(step["counts"], "repeats"), int(step["axis"])
    length = fixed(x.shape[axis], "length")
    return g.function("Gather", x, np.repeat(np.arange(length), counts), axis % x.ndim, 0)


@maps("Roll")
def _roll(g: Any, step: Any) -> str:
    x, name = step.inputs[0], g.name(step.inputs[0])
    for shift, axis in zip(fixed(step["shifts"], "shifts"), fixed(step["dims"], "dims")):
        order = np.roll(np.arange(fixed(x.shape[axis], "length")), shift)
        name = g.function("Gather", name, order, int(axis) % x.ndim, 0)
    return name


@maps("ReverseV2")
def _reverse(g: Any, step: Any) -> str:
    return g.function("ReverseV2", step.inputs[0], tuple(axes_of(step["axis"], step.inputs[0].ndim)))


@maps("Tril", "Triu")
def _triangle(g: Any, step: Any) -> str:
    diagonal = step["diagonal"] if "diagonal" in step.attributes else 0
    if step.kind == "Tril":
        return g.primitive("Tril", step.inputs[0], diagonal=int(diagonal))
    return g.function("Triu", step.inputs[0], int(diagonal))


@maps("GetItem")
def _get(g: Any, step: Any) -> str:
    """Slices and ints in one node, then an array of indices or new dimensions; else elements by their places."""
    x = step.inputs[0]
    parts = index_parts(step["index"], x.ndim)
    arrays = [p for p in parts if isinstance(p, np.ndarray) and p.ndim]
    if arrays and (len(arrays) > 1 or any(p is None or _single(p) for p in parts)):
        return g.function("Gather", g.function("Reshape", x, (-1,)), _places(x, parts), 0, 0)
    taken = [p for p in parts if p is not None]
    bounds, masks = [], {"begin": 0, "end": 0, "shrink": 0}
    for axis, p in enumerate(taken):
        bit, where = 1 << axis, (0, 0, 1)
        if _single(p):
            masks["shrink"] |= bit
            where = (int(p), int(p) + 1, 1)  # the end counts for nothing, but MindSpore wants one behind the start
        elif isinstance(p, np.ndarray):
            masks["begin"], masks["end"] = masks["begin"] | bit, masks["end"] | bit
        elif any(isinstance(v, Varying) for v in (p.start, p.stop, p.step)):
            raise Unsupported(f"is cut at a length that depends on the inputs, {p!r}: fix the length")
        else:
            masks["begin"] |= bit * (p.start is None)
            masks["end"] |= bit * (p.stop is None)
            where = tuple([int(default if v is None else v) for v, default in zip((p.start, p.stop, p.step), where)])
        bounds.append(where)
    name = g.name(x)
    if masks["shrink"] or any(isinstance(p, slice) and p != slice(None) for p in taken):
        ends = [tuple(v) for v in zip(*bounds)]
        name = g.function("StridedSlice", name, *ends, masks["begin"], masks["end"], 0, 0, masks["shrink"])
    for p in arrays:
        name = g.function("Gather", name, p.astype(np.int64), _at(parts), 0)
    left = [p for p in parts if not _single(p)]
    for axis, p in enumerate(left):
        if p is None:
            name = g.function("ExpandDims", name, axis)
    return name


def _places(x: Any, parts: Any) -> np.ndarray:
    """Where the elements of a part of a tensor lie in all of it."""
    shape = fixed(x.shape, "shape")
    ends = [v for p in parts for v in ((p.start, p.stop, p.step) if isinstance(p, slice) else (p,))]
    if any(isinstance(v, Varying) for v in ends):
        raise Unsupported(f"has the index {parts!r}, which depends on the inputs: fix it")
    return np.arange(math.prod(shape)).reshape(shape)[tuple(parts)]


@maps("SetItem")
def _set(g: Any, step: Any) -> str:
    x, value = step.inputs[:2]
    places = _places(x, index_parts(step["index"], x.ndim))
    written = g.operand(value, x.dtype)
    if isinstance(value, Wire) and value.ndim > places.ndim:
        written = reshaped(g, written, value.shape[value.ndim - places.ndim :])
    spread = g.function("BroadcastTo", written, places.shape or (1,))
    spread = g.function("Reshape", spread, (-1,))
    row = g.function("Reshape", x, (-1,))
    return reshaped(g, g.primitive("TensorScatterUpdate", row, places.reshape(-1, 1), spread), x.shape)


def _single(p: Any) -> bool:
    return isinstance(p, (int, np.integer)) or (isinstance(p, np.ndarray) and not p.ndim)


def _at(parts: list) -> int:
    return next(i for i, p in enumerate(parts) if isinstance(p, np.ndarray))


@maps("Gather", "GatherV2", "SparseGatherV2")
def _gather(g: Any, step: Any) -> str:
    x, index, axis = step.inputs[:3]
    axis = int(axis.arrays[0]) if isinstance(axis, Wire) else int(fixed(axis, "axis"))
    return g.function("Gather", x, index, axis, int(step["batch_dims"]))


@maps("TakeRows")
def _rows(g: Any, step: Any) -> str:
    return g.function("Gather", *step.inputs[:2], 0, 0)


@maps("EmbeddingLookup", "TakeKnownRows")
def _known_rows(g: Any, step: Any) -> str:
    table, ids, *offset = step.inputs
    return g.primitive("EmbeddingLookup", table, ids, int(fixed(offset[0], "offset")) if offset else 0)


@maps("GatherD")
def _gather_along(g: Any, step: Any) -> str:
    x, axis, index = step.inputs[:3]
    return g.function("GatherD", x, int(fixed(axis, "dim")), index)


@maps("GatherNd")
def _gather_nd(g: Any, step: Any) -> str:
    return g.function("GatherNd", *step.inputs[:2])


@maps("TensorScatterUpdate", "TensorScatterAdd", "TensorScatterMul")
def _scatter(g: Any, step: Any) -> str:
    x, index, updates = step.inputs[:3]
    add = g.function if step.kind == "TensorScatterAdd" else g.primitive
    return add(step.kind, x, index, g.operand(updates, x.dtype))


@maps("TensorScatterElements")
def _scatter_along(g: Any, step: Any) -> str:
    ways = {"none": 0, "add": 1}
    return g.function("TensorScatterElements", *step.inputs[:3], int(step["axis"]), ways[step["reduction"]])


@maps("ReverseSequence")
def _reversed(g: Any, step: Any) -> str:
    x, lengths = step.inputs[:2]
    along, over = (int(step[name]) % x.ndim for name in ("seq_dim", "batch_dim"))
    return g.primitive("ReverseSequence", x, g.operand(lengths, np.dtype(np.int64)), seq_dim=along, batch_dim=over)


@maps("OneHot")
def _one_hot(g: Any, step: Any) -> str:
    index, depth, on, off = step.inputs[:4]
    dtype = step.outputs[0].dtype
    depth = int(fixed(depth, "depth"))
    return g.function("OneHot", index, depth, g.operand(on, dtype), g.operand(off, dtype), int(step["axis"]))


_REDUCTIONS = ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd")


def _axes(step: Any) -> tuple:
    return tuple(axes_of(step.inputs[1] if len(step.inputs) > 1 else (), step.inputs[0].ndim))


@maps(*_REDUCTIONS)
def _reduction(g: Any, step: Any) -> str:
    x, dtype = step.inputs[0], step.outputs[0].dtype
    name = g.operand(x, dtype)
    if not x.ndim or (step.kind == "ReduceSum" and step["skip_mode"] and step.inputs[1:] and step.inputs[1] == ()):
        return name
    return reduced(g, step.kind, name, _axes(step), bool(step["keep_dims"]))


def reduced(g: Any, kind: str, name: str, axes: tuple, keep: bool) -> str:
    """A reduction over these dimensions."""
    return g.function(kind, name, axes, keep, *((False,) if kind == "ReduceSum" else ()))


@maps("ReduceAll", "ReduceAny")
def _truth(g: Any, step: Any) -> str:
    return g.function(step.kind, g.operand(step.inputs[0], np.dtype(bool)), _axes(step), bool(step["keep_dims"]))


@maps("LogSumExp")
def _log_sum(g: Any, step: Any) -> str:
    x, axes, dtype = step.inputs[0], _axes(step), step.outputs[0].dtype
    largest = reduced(g, "ReduceMax", g.operand(x, dtype), axes, True)
    powers = g.function("Exp", g.function("Sub", g.operand(x, dtype), largest))
    out = g.function("Add", g.function("Log", reduced(g, "ReduceSum", powers, axes, True)), largest)
    return out if step["keep_dims"] else g.function("Squeeze", out, axes)


@maps("VectorNorm")
def _norm(g: Any, step: Any) -> str:
    x, p = g.operand(step.inputs[0], step.outputs[0].dtype), step["p"]
    axes, keep = _axes(step), bool(step["keep_dims"])
    if p == 2:
        return g.function("Sqrt", reduced(g, "ReduceSum", g.function("Square", x), axes, keep))
    size = g.function("Abs", x)
    if p == 1:
        return reduced(g, "ReduceSum", size, axes, keep)
    if math.isinf(p):
        return reduced(g, "ReduceMax" if p > 0 else "ReduceMin", size, axes, keep)
    raise Unsupported(f"takes a norm of order {p}, which is not mapped")


@maps("Argmax", "Argmin")
def _place(g: Any, step: Any) -> str:
    return g.function(step.kind, step.inputs[0], int(step["axis"]), type_number(step.outputs[0].dtype))


@maps("ArgMaxWithValue", "ArgMinWithValue")
def _place_and_value(g: Any, step: Any) -> tuple:
    both = g.function(step.kind, step.inputs[0], int(step["axis"]), bool(step["keep_dims"]))
    wanted = step.outputs[0].dtype
    place = g.item(both, 0)
    return g.cast(place, wanted) if wanted != np.int64 else place, g.item(both, 1)


@maps("CumSum")
def _running_sum(g: Any, step: Any) -> str:
    x, axis = step.inputs[:2]
    name = g.operand(x, step.outputs[0].dtype)
    return g.function("CumSum", name, int(fixed(axis, "axis")), bool(step["exclusive"]), bool(step["reverse"]))


@maps("TopK", "_TopAlong")
def _top(g: Any, step: Any) -> tuple:
    x, count = step.inputs[:2]
    if not step["largest"] or int(step["axis"]) % x.ndim != x.ndim - 1:
        raise Unsupported("takes the smallest elements, or those along another dimension than the last: not mapped")
    both = g.primitive("TopK", x, int(fixed(count, "k")), sorted=True)
    wanted = step.outputs[1].dtype
    return g.item(both, 0), g.cast(g.item(both, 1), wanted)


@maps("Sort")
def _sorted(g: Any, step: Any) -> tuple:
    both = g.primitive("Sort", step.inputs[0], axis=int(step["axis"]), descending=bool(step["descending"]))
    wanted = step.outputs[1].dtype
    return g.item(both, 0), g.cast(g.item(both, 1), wanted)


@maps("NonZero", "MaskedSelect", "Unique")
def _by_values(g: Any, step: Any) -> str:
    raise Unsupported("gives a result whose size depends on the values, which the steps after it would have fixed")
