"""Products, dense layers, attention, normalisations."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.exporting.comparing import Varying
from dist_ms.exporting.graph import Unsupported
from dist_ms.exporting.settings import check_scores
from dist_ms.mindir.nodes.table import maps, reshaped


@maps("MatMul", "MatrixTimesVector", "BatchMatMul")
def _product(g: Any, step: Any) -> str:
    return multiplied(g, *step.inputs[:2], bool(step["transpose_a"]), bool(step["transpose_b"]))


def multiplied(g: Any, a: Any, b: Any, turn_a: bool = False, turn_b: bool = False) -> str:
    """The product of two tensors' last two dimensions."""
    if a.ndim == b.ndim == 2:
        return g.function("MatMul", a, b, turn_a, turn_b)
    if a.ndim == b.ndim and a.arrays[0].shape[:-2] == b.arrays[0].shape[:-2]:
        return g.function("BatchMatMul", a, b, turn_a, turn_b)
    return g.function("MatMulExt", *[_turned(g, x, turn) for x, turn in ((a, turn_a), (b, turn_b))])


def _turned(g: Any, x: Any, turn: bool) -> str:
    order = (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2)
    return g.function("Transpose", x, order) if turn else g.name(x)


@maps("Dense")
def _dense(g: Any, step: Any) -> str:
    x, weight, *bias = step.inputs
    given = [b for b in bias if b is not None]
    if weight.ndim != 2 or isinstance(x.shape[-1], Varying):
        raise Unsupported("has a weight that is no matrix, or an open number of channels")
    name = g.name(x) if x.ndim == 2 else g.function("Reshape", x, (-1, int(x.shape[-1])))
    name = g.function("MatMul", name, weight, False, True)
    if given:
        name = g.function("BiasAdd", name, given[0], 0)
    return name if x.ndim == 2 else reshaped(g, name, step.outputs[0].shape)


@maps("BiasAdd")
def _bias(g: Any, step: Any) -> str:
    formats = {"NCHW": 0, "NHWC": 1, "NCDHW": 14}
    return g.function("BiasAdd", *step.inputs[:2], formats[step["data_format"]])


@maps("BlockAttention", "LayerAttention")
def _attention(g: Any, step: Any) -> str:
    q, k, v, bias = step.inputs[:4]
    scores, dtype = step["_scores"], q.dtype
    check_scores(scores)
    if q.shape[1] != k.shape[1]:
        raise Unsupported("has heads that share keys, which is not mapped")
    turned = g.function("Transpose", k, (0, 1, 3, 2))
    product = g.function("BatchMatMul", q, turned, False, False)
    product = g.function("Mul", product, g.operand(scores["scale"], dtype))
    if bias is not None:
        product = g.function("Add", product, g.operand(bias, dtype))
    unseen = _unseen(scores, q, k)
    if unseen is not None:
        if scores["empty"] == 0 and unseen.all(-1).any():
            raise Unsupported("has queries that see no key, which is not mapped")
        product = g.function("MaskedFill", product, g.constant(unseen), g.operand(-np.inf, dtype))
    return g.function("BatchMatMul", g.function("Softmax", product, (-1,)), v, False, False)


def _unseen(scores: dict, q: Any, k: Any) -> np.ndarray | None:
    """A mask of the keys that do not count, or None."""
    masks = []
    if scores["hidden"] is not None:
        masks.append(np.asarray(scores["hidden"]) != 0)
    bounds = scores["low"], scores["high"]
    if bounds != (None, None):
        if any(isinstance(n, Varying) for n in (*bounds, q.shape[2], k.shape[2])):
            raise Unsupported("hides keys by their place in sequences of open length: fix the length")
        distance = np.arange(k.shape[2]) - np.arange(q.shape[2])[:, None]
        masks += [distance < bounds[0]] if bounds[0] is not None else []
        masks += [distance > bounds[1]] if bounds[1] is not None else []
    if not masks:
        return None
    hidden = masks[0]
    for mask in masks[1:]:
        hidden = hidden | mask
    return hidden


@maps("BatchNormInfer")
def _batch_norm(g: Any, step: Any) -> str:
    x, *rest = step.inputs[:5]
    shape = x.shape
    name = g.name(x)
    if x.ndim != 4:
        # MindSpore's kernel takes images: all lengths behind the channels are one.
        if any(isinstance(n, Varying) for n in shape[2:]):
            raise Unsupported("has an open length behind the channels, and MINDIR takes a fixed one: fix it")
        name = reshaped(g, name, (*shape[:2], int(np.prod(shape[2:])), 1))
    out = g.item(g.function("BatchNorm", name, *rest, False, float(step["_eps"]), 0.1, 0), 0)
    return out if x.ndim == 4 else reshaped(g, out, shape)


@maps("RowNorm")
def _layer_norm(g: Any, step: Any) -> str:
    x, gamma, beta = step.inputs[:3]
    axis = x.ndim - gamma.ndim
    return g.item(g.function("LayerNorm", x, gamma, beta, axis, axis, float(step["_eps"])), 0)


@maps("_GroupNormalisation")
def _group_norm(g: Any, step: Any) -> str:
    x, gamma, beta = step.inputs[:3]
    return g.item(g.function("GroupNorm", x, int(step["_groups"]), gamma, beta, float(step["_eps"])), 0)
