"""LSTM, GRU and Elman layers: all steps of one direction."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.exporting.comparing import Varying
from dist_ms.exporting.graph import Unsupported
from dist_ms.exporting.settings import lengths_of
from dist_ms.onnx.nodes.table import maps

# Where ONNX's gates (i o f c; z r h) stand among ours (i f g o; r z n).
_ORDER = {"lstm": (0, 3, 1, 2), "gru": (1, 0, 2), "tanh": (0,), "relu": (0,)}
_KIND = {"lstm": "LSTM", "gru": "GRU", "tanh": "RNN", "relu": "RNN"}


@maps("Recurrence")
def _recurrence(g: Any, step: Any) -> tuple:
    gates, weight, bias, hidden, cell, live = step.inputs[:6]
    lengths = "" if live is None else _lengths(g, live)
    kind, dtype = step["_kind"], gates.dtype
    order = _ORDER[kind]
    width = weight.shape[-1]
    if isinstance(width, Varying):
        raise Unsupported("has an open width")
    rows = np.concatenate([np.arange(n * width, (n + 1) * width) for n in order])
    front = g.constant([0], np.int64)
    x, inner, own = _before(g, gates, rows, dtype)
    recurrent = g.node("Unsqueeze", _ordered(g, weight, rows), front)
    other = g.constant(np.zeros(len(rows)), dtype) if bias is None else _ordered(g, bias, rows)
    biases = g.node("Unsqueeze", g.node("Concat", own, other, axis=0), front)
    states = [g.node("Unsqueeze", g.operand(s, dtype), front) for s in (hidden, cell) if s is not None]
    options: dict[str, Any] = {"hidden_size": int(width), "direction": "reverse" if step["_backwards"] else "forward"}
    if kind == "gru":
        options["linear_before_reset"] = 1
    elif kind == "relu":
        options["activations"] = ["Relu"]
    outputs = 3 if kind == "lstm" else 2
    out, *last = g.node(
        _KIND[kind],
        x,
        g.node("Unsqueeze", inner, front),
        recurrent,
        biases,
        lengths,
        *states,
        outputs=outputs,
        **options,
    )
    one = g.constant([1], np.int64)
    return g.node("Squeeze", out, one), *[g.node("Squeeze", s, front) for s in last]


def _ordered(g: Any, x: Any, rows: np.ndarray) -> str:
    """The rows of a weight or a bias in the order of ONNX's gates."""
    return g.node("Gather", g.name(x), g.constant(rows, np.int64), axis=0)


def _before(g: Any, gates: Any, rows: np.ndarray, dtype: np.dtype) -> tuple[str, str, str]:
    """The input, weight and bias of the product with the inputs, which ONNX has in the layer and ours before it."""
    maker = g.makers.get(gates.reference)
    if maker is not None and maker.kind == "Dense" and maker.inputs[1].ndim == 2 and maker.inputs[0].dtype == dtype:
        x, weight, *bias = maker.inputs
        given = [b for b in bias if b is not None]
        own = _ordered(g, given[0], rows) if given else g.constant(np.zeros(len(rows)), dtype)
        return g.name(x), _ordered(g, weight, rows), own
    # Another product: W takes each gate as it is.
    return g.name(gates), g.constant(np.eye(len(rows))[rows], dtype), g.constant(np.zeros(len(rows)), dtype)


def _lengths(g: Any, live: Any) -> str:
    """The lengths of the sequences, all the same in every run or a tensor."""
    if isinstance(live, np.ndarray):
        return g.constant(live.sum(0), np.int32)
    return g.operand(lengths_of(g, live), np.dtype(np.int32))
