"""LSTM, GRU and Elman layers: one step after the other, as MindSpore's own files have them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dist_ms.exporting.comparing import Varying
from dist_ms.exporting.graph import Unsupported
from dist_ms.exporting.settings import fixed, lengths_of
from dist_ms.mindir.nodes.table import maps


@maps("Recurrence")
def _recurrence(g: Any, step: Any) -> tuple:
    gates, weight, bias, *states, live = step.inputs[:6]
    count, kind = gates.shape[0], step["_kind"]
    if isinstance(count, Varying):
        raise Unsupported("has sequences of open length, and MINDIR takes a fixed one: fix it")
    parts = g.primitive("Unstack", gates, axis=0, num=count)
    inner, going = _Inner(g, weight, bias), _going(g, live, gates, int(weight.shape[-1]))
    names = [g.operand(s, gates.dtype) for s in states if s is not None]
    rows = [""] * count
    for i in reversed(range(count)) if step["_backwards"] else range(count):
        new = _STEPS[kind](g, g.item(parts, i), names, inner)
        rows[i] = new[0]
        if going is not None:
            now = going(i)
            rows[i] = g.function("Select", now, new[0], g.function("ZerosLike", new[0]))
            new = [g.function("Select", now, a, b) for a, b in zip(new, names)]
        names = new
    return g.primitive("Stack", g.primitive("MakeTuple", *rows), axis=0), *names


def _going(g: Any, live: Any, gates: Any, width: int) -> Callable[[int], str] | None:
    """What tells of a step which sequences have it, spread over the state; None if all have all steps.

    Raises:
        Unsupported: if the lengths are no tensor of the network.
    """
    if live is None:
        return None
    if isinstance(live, np.ndarray):
        return lambda i: g.constant(np.repeat(live[i][:, None], width, 1))
    lengths = lengths_of(g, live)
    spread = g.function("BroadcastTo", g.function("ExpandDims", lengths, 1), (fixed(gates.shape, "shape")[1], width))
    return lambda i: g.function("Less", g.operand(i, lengths.dtype), spread)


class _Inner:
    """The product of the hidden state with the layer's weight."""

    def __init__(self, g: Any, weight: Any, bias: Any) -> None:
        self._g, self._weight, self._bias = g, weight, bias

    def __call__(self, hidden: str) -> str:
        out = self._g.function("MatMul", hidden, self._weight, False, True)
        return out if self._bias is None else self._g.function("BiasAdd", out, self._bias, 0)


def _cut(g: Any, name: str, count: int) -> list[str]:
    parts = g.function("Split", name, 1, count)
    return [g.item(parts, i) for i in range(count)]


def _lstm(g: Any, x: str, states: list[str], inner: _Inner) -> list[str]:
    hidden, cell = states
    gates = _cut(g, g.function("Add", x, inner(hidden)), 4)
    enter, forget, leave = (g.function("Sigmoid", gates[i]) for i in (0, 1, 3))
    fresh = g.function("Mul", enter, g.function("Tanh", gates[2]))
    cell = g.function("Add", g.function("Mul", forget, cell), fresh)
    return [g.function("Mul", leave, g.function("Tanh", cell)), cell]


def _gru(g: Any, x: str, states: list[str], inner: _Inner) -> list[str]:
    (hidden,) = states
    given, own = _cut(g, x, 3), _cut(g, inner(hidden), 3)
    reset, keep = (g.function("Sigmoid", g.function("Add", given[i], own[i])) for i in (0, 1))
    fresh = g.function("Tanh", g.function("Add", given[2], g.function("Mul", reset, own[2])))
    return [g.function("Add", fresh, g.function("Mul", keep, g.function("Sub", hidden, fresh)))]


def _elman(kind: str) -> Any:
    def compute(g: Any, x: str, states: list[str], inner: _Inner) -> list[str]:
        return [g.function(kind, g.function("Add", x, inner(states[0])))]

    return compute


_STEPS = {"lstm": _lstm, "gru": _gru, "tanh": _elman("Tanh"), "relu": _elman("ReLU")}
