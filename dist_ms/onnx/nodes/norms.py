"""Normalisations."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.onnx.nodes.table import maps


@maps("BatchNormInfer")
def _batch_norm(g: Any, step: Any) -> str:
    return g.node("BatchNormalization", *[g.name(p) for p in step.inputs[:5]], epsilon=float(step["_eps"]))


@maps("RowNorm")
def _layer_norm(g: Any, step: Any) -> str:
    x, gamma, beta = step.inputs[:3]
    axis = x.ndim - gamma.ndim
    return g.node("LayerNormalization", g.name(x), g.name(gamma), g.name(beta), axis=axis, epsilon=float(step["_eps"]))


@maps("_GroupNormalisation")
def _group_norm(g: Any, step: Any) -> str:
    x, gamma, beta = step.inputs[:3]
    groups = int(step["_groups"])
    # Each group is an "instance"; channels have their factors afterwards.
    rows = g.node("Reshape", g.name(x), g.constant([0, groups, -1], np.int64))
    ones, zeros = g.constant(np.ones(groups), x.dtype), g.constant(np.zeros(groups), x.dtype)
    normal = g.node("InstanceNormalization", rows, ones, zeros, epsilon=float(step["_eps"]))
    out = g.node("Reshape", normal, g.node("Shape", g.name(x)))
    column = g.constant([-1, *[1] * (x.ndim - 2)], np.int64)
    factor, offset = (g.node("Reshape", g.operand(p, x.dtype), column) for p in (gamma, beta))
    return g.node("Add", g.node("Mul", out, factor), offset)
