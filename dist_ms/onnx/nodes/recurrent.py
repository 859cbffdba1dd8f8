"""LSTM, GRU and Elman layers: all steps of one direction."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.onnx.comparing import Varying
from dist_ms.onnx.graph import Unsupported
from dist_ms.onnx.nodes.table import maps

# Where ONNX's gates (i o f c; z r h) stand among ours (i f g o; r z n).
_ORDER = {"lstm": (0, 3, 1, 2), "gru": (1, 0, 2), "tanh": (0,), "relu": (0,)}
_KIND = {"lstm": "LSTM", "gru": "GRU", "tanh": "RNN", "relu": "RNN"}


@maps("Recurrence")
def _recurrence(g: Any, step: Any) -> tuple:
    """ONNX multiplies by W itself, ours were multiplied before: its W takes each gate as it is."""
    gates, weight, bias, hidden, cell, live = step.inputs[:6]
    if live is not None:
        raise Unsupported("has sequences of several lengths ('seq_length'), which were read outside of operations")
    kind, dtype = step["_kind"], gates.dtype
    order = _ORDER[kind]
    width = weight.shape[-1]
    if isinstance(width, Varying):
        raise Unsupported("has an open width")
    rows = np.concatenate([np.arange(n * width, (n + 1) * width) for n in order])
    count = len(rows)
    front = g.constant([0], np.int64)
    identity = g.constant(np.eye(count)[rows][None], dtype)
    recurrent = g.node("Unsqueeze", g.node("Gather", g.name(weight), g.constant(rows, np.int64), axis=0), front)
    own = g.constant(np.zeros(count), dtype)
    other = own if bias is None else g.node("Gather", g.operand(bias, dtype), g.constant(rows, np.int64), axis=0)
    biases = g.node("Unsqueeze", g.node("Concat", own, other, axis=0), front)
    states = [g.node("Unsqueeze", g.operand(s, dtype), front) for s in (hidden, cell) if s is not None]
    options: dict[str, Any] = {"hidden_size": int(width), "direction": "reverse" if step["_backwards"] else "forward"}
    if kind == "gru":
        options["linear_before_reset"] = 1
    elif kind == "relu":
        options["activations"] = ["Relu"]
    outputs = 3 if kind == "lstm" else 2
    out, *last = g.node(
        _KIND[kind], g.name(gates), identity, recurrent, biases, "", *states, outputs=outputs, **options
    )
    one = g.constant([1], np.int64)
    return g.node("Squeeze", out, one), *[g.node("Squeeze", s, front) for s in last]
