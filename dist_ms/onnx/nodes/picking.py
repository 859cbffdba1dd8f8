"""Reading and writing at indices: slices, gathers, embeddings."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.exporting.comparing import Varying, Wire
from dist_ms.exporting.graph import Unsupported
from dist_ms.exporting.settings import fixed, index_parts
from dist_ms.onnx.nodes.table import maps

_END = np.iinfo(np.int64).max


def _whole(index: Any) -> bool:
    return isinstance(index, slice) and index == slice(None)


@maps("GetItem")
def _get(g: Any, step: Any) -> str:
    x = step.inputs[0]
    parts = index_parts(step["index"], x.ndim)
    name = g.name(x)
    name = _sliced(g, name, [p for p in parts if p is not None])
    return _picked(g, name, parts)


def _sliced(g: Any, name: str, parts: list) -> str:
    """The slices of an index; ints and arrays are left for later."""
    at = [i for i, p in enumerate(parts) if isinstance(p, slice) and not _whole(p)]
    if not at:
        return name
    starts, ends, steps = [], [], []
    for i in at:
        stride = fixed(parts[i].step, "step")
        stride = 1 if stride is None else stride
        starts.append(parts[i].start if parts[i].start is not None else 0 if stride > 0 else _END)
        ends.append(parts[i].stop if parts[i].stop is not None else _END if stride > 0 else -_END)
        steps.append(stride)
    return g.node("Slice", name, g.lengths(starts), g.lengths(ends), g.constant(at, np.int64), g.lengths(steps))


def _picked(g: Any, name: str, parts: list) -> str:
    """Ints, arrays and new dimensions of an index, where all else is whole."""
    arrays = [i for i, p in enumerate(parts) if isinstance(p, np.ndarray) and p.ndim]
    if len(arrays) > 1 or (arrays and any(_integer(p) for p in parts)):
        return _several(g, name, parts)
    axis = 0
    fresh = []
    for p in parts:
        if p is None:
            fresh.append(axis)
            axis += 1
        elif isinstance(p, slice):
            axis += 1
        elif _integer(p):
            index = g.number(p, np.dtype(np.int64)) if isinstance(p, Varying) else g.constant(int(p), np.int64)
            name = g.node("Gather", name, index, axis=axis - len(fresh))
        else:
            name = g.node("Gather", name, g.constant(p, np.int64), axis=axis - len(fresh))
            if fresh and p.ndim != 1:
                raise Unsupported("is indexed by an array of several dimensions beside new ones")
            axis += p.ndim
    return g.node("Unsqueeze", name, g.constant(fresh, np.int64)) if fresh else g.node("Identity", name)


def _integer(p: Any) -> bool:
    return isinstance(p, (int, np.integer, Varying)) or (isinstance(p, np.ndarray) and p.ndim == 0)


def _several(g: Any, name: str, parts: list) -> str:
    """Several arrays that belong together, of the first dimensions."""
    count = sum(not _whole(p) and not isinstance(p, slice) for p in parts)
    if any(isinstance(p, slice) or p is None for p in parts[:count]) or None in [p if p is None else 0 for p in parts]:
        raise Unsupported("is indexed by several arrays that are not the first of its dimensions")
    if any(isinstance(p, Varying) for p in parts):
        raise Unsupported("is indexed by arrays and by a number that depends on the inputs")
    places = np.stack(np.broadcast_arrays(*parts[:count]), -1)
    return g.node("GatherND", name, g.constant(places, np.int64))


@maps("SetItem")
def _set(g: Any, step: Any) -> str:
    x, value = step.inputs[:2]
    sizes = x.shape
    parts = index_parts(step["index"], x.ndim)
    if any(p is None or isinstance(p, np.ndarray) for p in parts):
        raise Unsupported("writes at an index of arrays or new dimensions: use `ops.where` or `ops.concat`")
    # A mask of the elements that are written, and the value spread over them.
    mask, ndim = "", x.ndim
    for axis, p in enumerate(parts):
        if _whole(p):
            continue
        length = g.node("Shape", g.name(x), start=axis, end=axis + 1)
        count = g.node("Squeeze", length, g.constant([0], np.int64))
        places = g.node("Range", g.constant(0, np.int64), count, g.constant(1, np.int64))
        inside = _inside(g, places, p, sizes[axis])
        shape = [1] * ndim
        shape[axis] = -1
        inside = g.node("Reshape", inside, g.constant(shape, np.int64))
        mask = g.node("And", mask, inside) if mask else inside
    spread = _spread_value(g, value, x, parts)
    if not mask:
        return g.node("Expand", spread, g.node("Shape", g.name(x)))
    return g.node("Where", mask, spread, g.name(x))


def _inside(g: Any, places: str, p: Any, size: Any) -> str:
    """Which places of a dimension a part of an index means."""
    if isinstance(p, slice):
        ends = (p.start, p.stop, p.step)
        if any(isinstance(v, Varying) for v in ends) or isinstance(size, Varying):
            if ends[0] not in (None, 0) or ends[2] not in (None, 1) or not _positive(ends[1]):
                raise Unsupported("writes to a slice of an open dimension")
            return g.node("Less", places, g.operand(ends[1], np.dtype(np.int64)))
        chosen = np.zeros(size, bool)
        chosen[p] = True
        return g.constant(chosen)
    if isinstance(p, Varying):
        return g.node("Equal", places, g.number(p, np.dtype(np.int64)))
    if isinstance(size, Varying) and p < 0:
        raise Unsupported("writes at a negative index of an open dimension")
    return g.node("Equal", places, g.constant(int(p) if p >= 0 else int(p) + size, np.int64))


def _positive(p: Any) -> bool:
    return isinstance(p, Varying) or (isinstance(p, int) and p >= 0)


def _spread_value(g: Any, value: Any, x: Any, parts: list) -> str:
    """The value so that it broadcasts over the whole of x.

    Raises:
        Unsupported: if it has values of its own along a dimension of which only a part is written.
    """
    name = g.operand(value, x.dtype)
    if not isinstance(value, Wire) or all(n == 1 for n in value.arrays[0].shape):
        return g.node("Reshape", name, g.constant([], np.int64))
    kept = [i for i, p in enumerate(parts) if isinstance(p, slice)]
    lead = len(kept) - value.ndim
    for axis, n in zip(kept[max(lead, 0) :], value.shape):
        if not _whole(parts[axis]) and not (not isinstance(n, Varying) and n == 1):
            return _padded_value(g, name, value, x, parts, kept)
    fresh = [i for i, p in enumerate(parts) if not isinstance(p, slice)]
    if lead > 0:
        fresh = [i - 0 for i in fresh if i >= kept[lead - 1]]
        first = kept[lead - 1] + 1
        fresh = [i - first for i in fresh if i >= first]
    return g.node("Unsqueeze", name, g.constant(fresh, np.int64)) if fresh else name


def _padded_value(g: Any, name: str, value: Any, x: Any, parts: list, kept: list) -> str:
    """Zeros around a value, where whole slices with step 1 are written."""
    if value.ndim != len(kept):
        raise Unsupported("writes a value of fewer dimensions into a part of a tensor: use `ops.concat` or `ops.where`")
    before, after = [0] * x.ndim, [0] * x.ndim
    for axis, p in enumerate(parts):
        if _whole(p) or not isinstance(p, slice):
            continue
        size = x.shape[axis]
        if isinstance(size, Varying) or any(isinstance(v, Varying) for v in (p.start, p.stop)):
            raise Unsupported("writes a tensor to a slice of an open dimension: use `ops.concat`")
        start, stop, stride = p.indices(size)
        if stride != 1:
            raise Unsupported("writes a tensor to every second element or so: use `ops.where`")
        before[axis], after[axis] = start, size - stop
    fresh = [i for i, p in enumerate(parts) if not isinstance(p, slice)]
    if fresh:
        name = g.node("Unsqueeze", name, g.constant(fresh, np.int64))
    return g.node("Pad", name, g.constant(before + after, np.int64))


@maps("Gather", "GatherV2", "SparseGatherV2")
def _gather(g: Any, step: Any) -> str:
    x, index, axis = step.inputs[:3]
    if step["batch_dims"]:
        raise Unsupported("gathers with 'batch_dims', which is not mapped")
    axis = int(axis.arrays[0]) if isinstance(axis, Wire) else int(fixed(axis, "axis"))
    return g.node("Gather", g.name(x), g.name(index), axis=axis)


@maps("TakeRows", "TakeKnownRows")
def _rows(g: Any, step: Any) -> str:
    table, ids = step.inputs[:2]
    if step.kind == "TakeRows":
        return g.node("Gather", g.name(table), g.name(ids), axis=0)
    # Rows that the table does not have are zero.
    rows, zero = table.shape[0], g.constant(0, ids.dtype)
    name = g.name(ids)
    known = g.node("And", g.node("GreaterOrEqual", name, zero), g.node("Less", name, g.operand(rows, ids.dtype)))
    found = g.node("Gather", g.name(table), g.node("Where", known, name, zero), axis=0)
    factor = g.node("Unsqueeze", g.cast(known, table.dtype), g.constant([-1], np.int64))
    return g.node("Mul", found, factor)


@maps("GatherD")
def _gather_along(g: Any, step: Any) -> str:
    x, axis, index = step.inputs[:3]
    return g.node("GatherElements", g.name(x), g.name(index), axis=int(fixed(axis, "dim")))


@maps("GatherNd")
def _gather_nd(g: Any, step: Any) -> str:
    x, index = step.inputs[:2]
    return g.node("GatherND", g.name(x), g.operand(index, np.dtype(np.int64)))


@maps("OneHot")
def _one_hot(g: Any, step: Any) -> str:
    index, depth, on, off = step.inputs[:4]
    dtype = step.outputs[0].dtype
    # onnxruntime's own operator takes negative ids from the end; here they are no class.
    axis = int(step["axis"]) % (index.ndim + 1)
    count = g.number(depth, np.dtype(np.int64)) if isinstance(depth, Varying) else g.constant(depth, np.int64)
    classes = g.node("Range", g.constant(0, np.int64), count, g.constant(1, np.int64))
    shape = [1] * (index.ndim + 1)
    shape[axis] = -1
    classes = g.node("Reshape", classes, g.constant(shape, np.int64))
    ids = g.node("Unsqueeze", g.operand(index, np.dtype(np.int64)), g.constant([axis], np.int64))
    return g.node("Where", g.node("Equal", ids, classes), g.operand(on, dtype), g.operand(off, dtype))


@maps("TensorScatterUpdate", "TensorScatterAdd", "TensorScatterMul")
def _scatter(g: Any, step: Any) -> str:
    x, index, values = step.inputs[:3]
    ways = {"TensorScatterUpdate": None, "TensorScatterAdd": "add", "TensorScatterMul": "mul"}
    ids = g.operand(index, np.dtype(np.int64))
    return g.node("ScatterND", g.name(x), ids, g.operand(values, x.dtype), reduction=ways[step.kind])


@maps("TensorScatterElements")
def _scatter_along(g: Any, step: Any) -> str:
    x, index, values = step.inputs[:3]
    ways = {"none": None, "add": "add", "mul": "mul"}
    if step["reduction"] not in ways:
        raise Unsupported(f"scatters by {step['reduction']!r}, which ONNX's opset 17 has not")
    options = {"axis": int(step["axis"]), "reduction": ways[step["reduction"]]}
    return g.node("ScatterElements", g.name(x), g.name(index), g.name(values), **options)
