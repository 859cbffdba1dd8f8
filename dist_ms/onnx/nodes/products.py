"""Matrix products, dense layers, attention."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.exporting.comparing import Varying
from dist_ms.exporting.graph import Unsupported
from dist_ms.exporting.settings import check_scores
from dist_ms.onnx.nodes.table import maps


def _turned(g: Any, x: Any, turn: bool) -> str:
    """A matrix, or many, perhaps with rows and columns exchanged."""
    name = g.name(x)
    if not turn:
        return name
    order = list(range(x.ndim))
    order[-1], order[-2] = order[-2], order[-1]
    return g.node("Transpose", name, perm=order)


@maps("MatMul", "MatrixTimesVector", "BatchMatMul")
def _product(g: Any, step: Any) -> str:
    a, b = step.inputs[:2]
    return g.node("MatMul", _turned(g, a, step["transpose_a"]), _turned(g, b, step["transpose_b"]))


@maps("Dense")
def _dense(g: Any, step: Any) -> str:
    x, weight, *bias = step.inputs
    given = [b for b in bias if b is not None]
    if x.ndim == 2 and weight.ndim == 2:
        return g.node("Gemm", g.name(x), g.name(weight), *[g.name(b) for b in given], transB=1)
    out = g.node("MatMul", g.name(x), _turned(g, weight, weight.ndim == 2))
    return g.node("Add", out, g.name(given[0])) if given else out


@maps("BiasAdd")
def _bias(g: Any, step: Any) -> str:
    x, bias = step.inputs
    name = g.name(bias)
    if x.ndim > 2 and step["data_format"] != "NHWC":
        name = g.node("Reshape", name, g.constant([-1, *[1] * (x.ndim - 2)], np.int64))
    return g.node("Add", g.name(x), name)


@maps("Contraction")
def _einsum(g: Any, step: Any) -> str:
    given = step.inputs[0] if isinstance(step.inputs[0], (tuple, list)) else step.inputs
    return g.node("Einsum", *[g.name(x) for x in given], equation=",".join(step["terms"]) + "->" + step["result"])


@maps("BlockAttention", "LayerAttention")
def _attention(g: Any, step: Any) -> str:
    q, k, v, bias = step.inputs[:4]
    scores, dtype = step["_scores"], q.dtype
    check_scores(scores)
    heads, groups = q.shape[1], k.shape[1]
    names = [g.name(x) for x in (k, v)]
    if heads != groups:
        if isinstance(heads, Varying) or isinstance(groups, Varying):
            raise Unsupported("has an open number of heads")
        names = [_repeated(g, n, x, groups, heads // groups) for n, x in zip(names, (k, v))]
    keys = g.node("Transpose", names[0], perm=[0, 1, 3, 2])
    product = g.node("MatMul", g.name(q), keys)
    product = g.node("Mul", product, g.constant(scores["scale"], dtype))
    if bias is not None:
        product = g.node("Add", product, g.operand(bias, dtype))
    unseen = _unseen(g, scores, q, k)
    for mask in unseen:
        product = g.node("Where", mask, g.constant(-np.inf, dtype), product)
    weights = g.node("Softmax", product, axis=-1)
    if unseen and scores["empty"] == 0:
        weights = g.node("Where", g.node("IsNaN", weights), g.constant(0, dtype), weights)
    return g.node("MatMul", weights, names[1])


def _repeated(g: Any, name: str, x: Any, groups: int, times: int) -> str:
    """Every group of keys or values as often as heads share it."""
    index = np.repeat(np.arange(groups), times)
    return g.node("Gather", name, g.constant(index, np.int64), axis=1)


def _unseen(g: Any, scores: dict, q: Any, k: Any) -> list[str]:
    """Masks of the keys that do not count."""
    masks = []
    if scores["hidden"] is not None:
        masks.append(g.constant(scores["hidden"] != 0))
    for bound, kind in ((scores["high"], "Greater"), (scores["low"], "Less")):
        if bound is not None:
            queries, keys = (_places(g, x) for x in (q, k))
            column = g.node("Unsqueeze", queries, g.constant([1], np.int64))
            distance = g.node("Sub", keys, column)
            masks.append(g.node(kind, distance, g.operand(bound, np.dtype(np.int64))))
    return masks


def _places(g: Any, x: Any) -> str:
    """0, 1, 2, ... along the last but one dimension."""
    length = g.node("Shape", g.name(x), start=2, end=3)
    count = g.node("Squeeze", length, g.constant([0], np.int64))
    return g.node("Range", g.constant(0, np.int64), count, g.constant(1, np.int64))
