"""Activations and softmax."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.exporting.graph import Unsupported
from dist_ms.exporting.settings import fixed
from dist_ms.onnx.nodes.table import maps

_PLAIN = {"ReLU": "Relu", "Sigmoid": "Sigmoid", "Tanh": "Tanh", "Softsign": "Softsign", "Softplus": "Softplus"}


@maps(*_PLAIN)
def _plain(g: Any, step: Any) -> str:
    return g.node(_PLAIN[step.kind], g.name(step.inputs[0]))


def _with(g: Any, step: Any, *numbers: float) -> tuple:
    """The input's name and those of numbers in its type."""
    x = step.inputs[0]
    return (g.name(x), *[g.constant(n, x.dtype) for n in numbers])


@maps("ReLU6")
def _relu6(g: Any, step: Any) -> str:
    return g.node("Clip", *_with(g, step, 0.0, 6.0))


@maps("Hardtanh")
def _hardtanh(g: Any, step: Any) -> str:
    return g.node("Clip", *_with(g, step, step["min_val"], step["max_val"]))


@maps("GeLU")
def _gelu(g: Any, step: Any) -> str:
    if step["_tanh"]:
        x, cubic, factor, one, half = _with(g, step, 0.044715, np.sqrt(2 / np.pi), 1.0, 0.5)
        cube = g.node("Mul", g.node("Mul", x, x), x)
        inner = g.node("Mul", g.node("Add", x, g.node("Mul", cube, cubic)), factor)
        return g.node("Mul", g.node("Mul", x, half), g.node("Add", g.node("Tanh", inner), one))
    x, factor, one, half = _with(g, step, np.sqrt(0.5), 1.0, 0.5)
    return g.node("Mul", g.node("Mul", x, half), g.node("Add", g.node("Erf", g.node("Mul", x, factor)), one))


@maps("FastGeLU")
def _fast_gelu(g: Any, step: Any) -> str:
    x, factor = _with(g, step, 1.702)
    return g.node("Mul", x, g.node("Sigmoid", g.node("Mul", x, factor)))


@maps("SiLU")
def _silu(g: Any, step: Any) -> str:
    x = g.name(step.inputs[0])
    return g.node("Mul", x, g.node("Sigmoid", x))


@maps("HSwish")
def _hswish(g: Any, step: Any) -> str:
    x = g.name(step.inputs[0])
    return g.node("Mul", x, g.node("HardSigmoid", x, alpha=1 / 6, beta=0.5))


@maps("HSigmoid")
def _hsigmoid(g: Any, step: Any) -> str:
    return g.node("HardSigmoid", g.name(step.inputs[0]), alpha=1 / 6, beta=0.5)


@maps("Mish")
def _mish(g: Any, step: Any) -> str:
    x = g.name(step.inputs[0])
    return g.node("Mul", x, g.node("Tanh", g.node("Softplus", x)))


@maps("LogSigmoid")
def _log_sigmoid(g: Any, step: Any) -> str:
    return g.node("Neg", g.node("Softplus", g.node("Neg", g.name(step.inputs[0]))))


@maps("SteepSoftplus")
def _softplus(g: Any, step: Any) -> str:
    x, beta, threshold = _with(g, step, step["beta"], step["threshold"])
    scaled = g.node("Mul", x, beta)
    return g.node("Where", g.node("Greater", scaled, threshold), x, g.node("Div", g.node("Softplus", scaled), beta))


@maps("Elu", "CeLU")
def _elu(g: Any, step: Any) -> str:
    return g.node("Elu" if step.kind == "Elu" else "Celu", g.name(step.inputs[0]), alpha=float(step["alpha"]))


@maps("SeLU")
def _selu(g: Any, step: Any) -> str:
    return g.node("Selu", g.name(step.inputs[0]))


@maps("LeakyReLU")
def _leaky(g: Any, step: Any) -> str:
    return g.node("LeakyRelu", g.name(step.inputs[0]), alpha=float(step["alpha"]))


@maps("HShrink")
def _hard_shrink(g: Any, step: Any) -> str:
    return g.node("Shrink", g.name(step.inputs[0]), lambd=float(step["lambd"]), bias=0.0)


@maps("SoftShrink")
def _soft_shrink(g: Any, step: Any) -> str:
    return g.node("Shrink", g.name(step.inputs[0]), lambd=float(step["lambd"]), bias=float(step["lambd"]))


@maps("Threshold")
def _threshold(g: Any, step: Any) -> str:
    x, limit, value = _with(g, step, step["thr"], step["other"])
    return g.node("Where", g.node("Greater", x, limit), x, value)


@maps("ParametricReLU")
def _prelu(g: Any, step: Any) -> str:
    x, slope = step.inputs
    name = g.name(slope)
    if slope.ndim == 1 and x.ndim > 1:
        name = g.node("Reshape", name, g.constant([-1, *[1] * (x.ndim - 2)], np.int64))
    return g.node("PRelu", g.name(x), name)


@maps("Softmax", "LogSoftmax")
def _softmax(g: Any, step: Any) -> str:
    axis = fixed(step["axis"], "axis")
    if isinstance(axis, (tuple, list)):
        if len(axis) != 1:
            raise Unsupported(f"normalises over several dimensions at once, {axis}, and ONNX over one")
        axis = axis[0]
    return g.node(step.kind, g.name(step.inputs[0]), axis=int(axis))


@maps("_Gate")
def _gate(g: Any, step: Any) -> str:
    a, b = (g.name(x) for x in step.inputs)
    return g.node("Mul", a, g.node("Sigmoid", b))


@maps("GLU")
def _glu(g: Any, step: Any) -> str:
    a, b = g.node("Split", g.name(step.inputs[0]), outputs=2, axis=int(step["axis"]))
    return g.node("Mul", a, g.node("Sigmoid", b))
