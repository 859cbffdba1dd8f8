"""Arithmetic, comparisons, activations: functions of each element."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dist_ms.exporting.graph import Unsupported
from dist_ms.exporting.settings import common_type
from dist_ms.mindir.nodes.table import maps
from dist_ms.mindir.values import type_number

_BINARY = ("Add", "Sub", "Mul", "Div", "RealDiv", "Maximum", "Minimum", "Pow", "FloorDiv", "FloorMod")
_COMPARING = ("Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual")
_LOGIC = ("LogicalAnd", "LogicalOr", "LogicalXor", "LogicalNot")
# Of one tensor, without settings; MindSpore's primitives of the second kind take no settings as inputs.
_FUNCTIONS = (
    *("ReLU", "ReLU6", "Sigmoid", "Tanh", "SiLU", "HSwish", "HSigmoid", "FastGeLU", "Neg", "Abs", "Sign", "Exp", "Log"),
    *("Sqrt", "Rsqrt", "Square", "Reciprocal", "Floor", "Ceil", "Trunc", "Erf", "Erfc", "Expm1", "Log1p"),
    *("Sin", "Cos", "Tan", "Asin", "ACos", "Atan", "Sinh", "Cosh", "Asinh", "Acosh", "Atanh", "IsFinite"),
    *("ZerosLike", "OnesLike"),
)
_PRIMITIVES = ("Mish", "SeLU", "Softsign", "Softplus", "Inv", "Rint", "IsNan", "IsInf")
_SETTINGS = {"Elu": "alpha", "CeLU": "alpha", "HShrink": "lambd", "SoftShrink": "lambd"}


@maps(*_BINARY)
def _binary(g: Any, step: Any) -> str:
    wanted = step.outputs[0].dtype
    dtype = common_type(*step.inputs[:2])
    if step.kind in ("Div", "RealDiv") or dtype.kind == "b" or wanted.kind in "fV":
        dtype = wanted
    out = g.function(step.kind, *[g.operand(x, dtype) for x in step.inputs[:2]])
    return out if dtype == wanted else g.cast(out, wanted)


@maps(*_COMPARING)
def _comparison(g: Any, step: Any) -> str:
    dtype = common_type(*step.inputs[:2])
    return g.function(step.kind, *[g.operand(x, dtype) for x in step.inputs[:2]])


@maps(*_LOGIC)
def _logic(g: Any, step: Any) -> str:
    return g.function(step.kind, *[g.operand(x, np.dtype(bool)) for x in step.inputs])


def _input(g: Any, step: Any) -> str:
    """The input, in the type of the result if that is another and no truth value."""
    x, wanted = step.inputs[0], step.outputs[0].dtype
    return g.name(x) if wanted.kind == "b" else g.operand(x, wanted)


@maps(*_FUNCTIONS)
def _function(g: Any, step: Any) -> str:
    return g.function(step.kind, _input(g, step))


@maps(*_PRIMITIVES)
def _primitive(g: Any, step: Any) -> str:
    return g.primitive(step.kind, _input(g, step))


@maps(*_SETTINGS)
def _with_number(g: Any, step: Any) -> str:
    return g.function(step.kind, g.name(step.inputs[0]), float(step[_SETTINGS[step.kind]]))


@maps("Identity", "RowMajor")
def _same(g: Any, step: Any) -> str:
    return g.name(step.inputs[0])


@maps("Hardtanh")
def _hardtanh(g: Any, step: Any) -> str:
    return between(g, step, step["min_val"], step["max_val"])


@maps("Clamp")
def _clamp(g: Any, step: Any) -> str:
    return between(g, step, step["low"], step["high"])


def between(g: Any, step: Any, low: Any, high: Any) -> str:
    """The input, no less and no more than these."""
    dtype = step.outputs[0].dtype
    name = g.operand(step.inputs[0], dtype)
    for kind, bound in (("Maximum", low), ("Minimum", high)):
        if bound is not None:
            name = g.function(kind, name, g.operand(bound, dtype))
    return name


@maps("GeLU")
def _gelu(g: Any, step: Any) -> str:
    x = step.inputs[0]
    if step["_tanh"]:
        return g.function("GeLU", g.name(x))
    scaled = g.function("Div", g.name(x), g.operand(math.sqrt(2), x.dtype))
    inner = g.function("Add", g.function("Erf", scaled), g.operand(1, x.dtype))
    return g.function("Mul", g.function("Mul", g.name(x), inner), g.operand(0.5, x.dtype))


@maps("LeakyReLU")
def _leaky(g: Any, step: Any) -> str:
    x, alpha = step.inputs[0], float(step["alpha"])
    scaled = g.function("Mul", g.operand(alpha, x.dtype), g.name(x))
    return g.function("Maximum" if alpha <= 1 else "Minimum", scaled, g.name(x))


@maps("LogSigmoid")
def _log_sigmoid(g: Any, step: Any) -> str:
    turned = g.function("Neg", g.name(step.inputs[0]))
    return g.function("Neg", g.primitive("Softplus", turned))


@maps("ParametricReLU")
def _prelu(g: Any, step: Any) -> str:
    x, slope = step.inputs
    shape = slope.arrays[0].shape
    channels = (1,) * (slope.ndim + 1 - x.ndim) + (math.prod(shape),) + (1,) * (x.ndim - 2)
    if slope.ndim != 1 and shape != channels and math.prod(shape) != 1:
        raise Unsupported(f"has slopes of the shape {shape}, and MINDIR takes one, or one for each channel")
    return g.function("PReLU", x, slope if slope.ndim == 1 else g.function("Reshape", slope, (-1,)))


@maps("Softmax")
def _softmax(g: Any, step: Any) -> str:
    axis = step["axis"]
    return g.function("Softmax", step.inputs[0], tuple(axis) if isinstance(axis, (tuple, list)) else (axis,))


@maps("LogSoftmax")
def _log_softmax(g: Any, step: Any) -> str:
    return g.function("LogSoftmax", step.inputs[0], int(step["axis"]))


@maps("SteepSoftplus")
def _steep_softplus(g: Any, step: Any) -> str:
    x, beta = step.inputs[0], float(step["beta"])
    scaled = g.function("Mul", x, g.operand(beta, x.dtype))
    soft = g.function("Div", g.primitive("Softplus", scaled), g.operand(beta, x.dtype))
    straight = g.function("Greater", scaled, g.operand(float(step["threshold"]), x.dtype))
    return g.function("Select", straight, x, soft)


@maps("Round")
def _round(g: Any, step: Any) -> str:
    if step.inputs[1:] and step.inputs[1] != 0:
        raise Unsupported("rounds to decimal places, which MindSpore's CPU does not: scale before and after")
    return g.function("Round", step.inputs[0], 0)


@maps("Mod", "TruncateMod", "TruncateDiv")
def _truncated(g: Any, step: Any) -> str:
    wanted = step.outputs[0].dtype
    dtype = wanted if wanted.kind == "f" else common_type(*step.inputs[:2])
    out = g.primitive(step.kind, *[g.operand(x, dtype) for x in step.inputs[:2]])
    return out if dtype == wanted else g.cast(out, wanted)


@maps("Log2", "Log10")
def _log(g: Any, step: Any) -> str:
    dtype = step.outputs[0].dtype
    base = g.operand(math.log(2 if step.kind == "Log2" else 10), dtype)
    return g.function("Div", g.function("Log", g.operand(step.inputs[0], dtype)), base)


@maps("NanToNum")
def _no_nan(g: Any, step: Any) -> str:
    x, dtype = step.inputs[0], step.outputs[0].dtype
    if dtype.name not in ("float16", "float32", "float64"):
        return g.name(x)
    largest = float(np.finfo(dtype).max)
    others = {"nan": 0.0, "posinf": largest, "neginf": -largest}
    return g.function("NanToNum", x, *[v if step[k] is None else float(step[k]) for k, v in others.items()])


@maps("Threshold")
def _threshold(g: Any, step: Any) -> str:
    x = step.inputs[0]
    limit, other = g.operand(step["thr"], x.dtype), g.operand(step["other"], x.dtype)
    return g.function("Select", g.function("Greater", x, limit), x, other)


@maps("LogAddExp")
def _log_sum(g: Any, step: Any) -> str:
    a, b = (g.operand(x, step.outputs[0].dtype) for x in step.inputs)
    distance = g.function("Neg", g.function("Abs", g.function("Sub", a, b)))
    return g.function("Add", g.function("Maximum", a, b), g.primitive("Softplus", distance))


@maps("Interpolation")
def _lerp(g: Any, step: Any) -> str:
    a, b, weight = (g.operand(x, step.inputs[0].dtype) for x in step.inputs)
    return g.function("Add", a, g.function("Mul", weight, g.function("Sub", b, a)))


@maps("DivNoNan")
def _divide_or_zero(g: Any, step: Any) -> str:
    return g.primitive("DivNoNan", *[g.operand(x, step.outputs[0].dtype) for x in step.inputs])


@maps("Xlogy")
def _times_logarithm(g: Any, step: Any) -> str:
    return g.function("Xlogy", *[g.operand(x, step.outputs[0].dtype) for x in step.inputs])


@maps("GLU")
def _glu(g: Any, step: Any) -> str:
    x, axis = step.inputs[0], int(step["axis"])
    halves = g.function("Split", x, axis % x.ndim, 2)
    return g.function("Mul", g.item(halves, 0), g.function("Sigmoid", g.item(halves, 1)))


@maps("_Gate")
def _gate(g: Any, step: Any) -> str:
    return g.function("Mul", step.inputs[0], g.function("Sigmoid", step.inputs[1]))


@maps("SquaredDifference")
def _squared_difference(g: Any, step: Any) -> str:
    dtype = step.outputs[0].dtype
    return g.function("Square", g.function("Sub", *[g.operand(x, dtype) for x in step.inputs[:2]]))


@maps("AddN")
def _sum(g: Any, step: Any) -> str:
    given = [x for v in step.inputs for x in (v if isinstance(v, (tuple, list)) else (v,))]
    return g.function("AddN", g.tuple(given))


@maps("MultiplyAdd", "DivideAdd")
def _with_product(g: Any, step: Any) -> str:
    dtype = step.outputs[0].dtype
    first, a, b = (g.operand(x, dtype) for x in step.inputs)
    return g.function("Add", first, g.function("Mul" if step.kind == "MultiplyAdd" else "Div", a, b))


@maps("Cast")
def _cast(g: Any, step: Any) -> str:
    return g.function("Cast", step.inputs[0], type_number(step.outputs[0].dtype))


@maps("Select")
def _select(g: Any, step: Any) -> str:
    condition, *both = step.inputs[:3]
    dtype = step.outputs[0].dtype
    return g.function("Select", g.operand(condition, np.dtype(bool)), *[g.operand(x, dtype) for x in both])


@maps("MaskedFill")
def _masked_fill(g: Any, step: Any) -> str:
    x, mask, value = step.inputs[:3]
    return g.function("MaskedFill", x, g.operand(mask, np.dtype(bool)), g.operand(value, x.dtype))
