"""Sums, means, extremes, sorting."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dist_ms.exporting.graph import Unsupported
from dist_ms.exporting.settings import axes_of, fixed
from dist_ms.onnx.nodes.elementwise import to_result
from dist_ms.onnx.nodes.table import maps

_KINDS = {
    "ReduceSum": "ReduceSum",
    "ReduceMean": "ReduceMean",
    "ReduceMax": "ReduceMax",
    "ReduceMin": "ReduceMin",
    "ReduceProd": "ReduceProd",
    "LogSumExp": "ReduceLogSumExp",
}


def reduced(g: Any, kind: str, name: str, axes: list[int], keep: bool) -> str:
    """A reduction; in opset 17 only sums take their axes as an input."""
    if kind == "ReduceSum":
        return g.node(kind, name, g.constant(axes, np.int64), keepdims=int(keep))
    return g.node(kind, name, axes=axes, keepdims=int(keep))


def _axes(step: Any) -> list[int]:
    axis = step.inputs[1] if len(step.inputs) > 1 else ()
    return axes_of(axis, step.inputs[0].ndim)


@maps(*_KINDS)
def _reduction(g: Any, step: Any) -> str:
    x, dtype = step.inputs[0], step.outputs[0].dtype
    if not x.ndim or (step.kind == "ReduceSum" and step["skip_mode"] and step.inputs[1:] and step.inputs[1] == ()):
        return g.node("Identity", g.operand(x, dtype))
    return reduced(g, _KINDS[step.kind], g.operand(x, dtype), _axes(step), step["keep_dims"])


@maps("ReduceAll", "ReduceAny")
def _truth(g: Any, step: Any) -> str:
    x = g.cast(g.operand(step.inputs[0], np.dtype(bool)), np.int32)
    kind = "ReduceMin" if step.kind == "ReduceAll" else "ReduceMax"
    return g.cast(reduced(g, kind, x, _axes(step), step["keep_dims"]), bool)


@maps("VectorNorm")
def _norm(g: Any, step: Any) -> str:
    x, p = g.operand(step.inputs[0], step.outputs[0].dtype), step["p"]
    axes, keep, dtype = _axes(step), step["keep_dims"], step.outputs[0].dtype
    if p in (1, 2):
        return reduced(g, f"ReduceL{int(p)}", x, axes, keep)
    size = g.node("Abs", x)
    if math.isinf(p):
        return reduced(g, "ReduceMax" if p > 0 else "ReduceMin", size, axes, keep)
    total = reduced(g, "ReduceSum", g.node("Pow", size, g.constant(p, dtype)), axes, keep)
    return g.node("Pow", total, g.constant(1 / p, dtype))


@maps("Argmax", "Argmin")
def _place(g: Any, step: Any) -> str:
    kind = "ArgMax" if step.kind == "Argmax" else "ArgMin"
    out = g.node(kind, g.name(step.inputs[0]), axis=int(step["axis"]), keepdims=0)
    return to_result(g, out, np.dtype(np.int64), step)


@maps("ArgMaxWithValue", "ArgMinWithValue")
def _place_and_value(g: Any, step: Any) -> tuple:
    x, axis, keep = step.inputs[0], int(step["axis"]), step["keep_dims"]
    name, largest = g.name(x), step.kind == "ArgMaxWithValue"
    place = g.node("ArgMax" if largest else "ArgMin", name, axis=axis, keepdims=int(keep))
    value = reduced(g, "ReduceMax" if largest else "ReduceMin", name, [axis % x.ndim], keep)
    return to_result(g, place, np.dtype(np.int64), step), value


@maps("CumSum")
def _running_sum(g: Any, step: Any) -> str:
    x, axis = step.inputs[:2]
    name = g.operand(x, step.outputs[0].dtype)
    options = {"exclusive": int(step["exclusive"]), "reverse": int(step["reverse"])}
    return g.node("CumSum", name, g.constant(fixed(axis, "axis"), np.int64), **options)


def _best(g: Any, step: Any, count: str, largest: bool) -> tuple:
    x = step.inputs[0]
    values, places = g.node("TopK", g.name(x), count, outputs=2, axis=int(step["axis"]), largest=int(largest), sorted=1)
    wanted = step.outputs[1].dtype
    return values, places if wanted == np.int64 else g.cast(places, wanted)


@maps("TopK", "_TopAlong")
def _top(g: Any, step: Any) -> tuple:
    return _best(g, step, g.lengths([step.inputs[1]]), step["largest"])


@maps("Sort")
def _sorted(g: Any, step: Any) -> tuple:
    axis = int(step["axis"]) % step.inputs[0].ndim
    return _best(g, step, g.node("Shape", g.name(step.inputs[0]), start=axis, end=axis + 1), step["descending"])


@maps("NonZero", "MaskedSelect", "Unique")
def _by_values(g: Any, step: Any) -> str:
    raise Unsupported("gives a result whose size depends on the values, which the steps after it would have fixed")
