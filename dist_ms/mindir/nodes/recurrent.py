"""LSTM, GRU and Elman layers: one step after the other, as MindSpore's own files have them."""

from __future__ import annotations

from typing import Any

from dist_ms.mindir.nodes.table import maps
from dist_ms.onnx.comparing import Varying
from dist_ms.onnx.graph import Unsupported


@maps("Recurrence")
def _recurrence(g: Any, step: Any) -> tuple:
    gates, weight, bias, *states = step.inputs[:5]
    if step.inputs[5] is not None:
        raise Unsupported("has sequences whose lengths are given ('seq_length'), which is not mapped")
    count, kind = gates.shape[0], step["_kind"]
    if isinstance(count, Varying):
        raise Unsupported("has sequences of open length, and MINDIR takes a fixed one: fix it")
    parts = g.primitive("Unstack", gates, axis=0, num=count)
    inner = _Inner(g, weight, bias)
    names = [g.operand(s, gates.dtype) for s in states if s is not None]
    rows = [""] * count
    for i in reversed(range(count)) if step["_backwards"] else range(count):
        names = _STEPS[kind](g, g.item(parts, i), names, inner)
        rows[i] = names[0]
    return g.primitive("Stack", g.primitive("MakeTuple", *rows), axis=0), *names


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
