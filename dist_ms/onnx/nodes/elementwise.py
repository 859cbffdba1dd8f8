"""Arithmetic, comparisons and functions of each element."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.exporting.graph import Unsupported
from dist_ms.exporting.settings import common_type
from dist_ms.onnx.nodes.table import maps

_BINARY = {
    "Add": "Add",
    "Sub": "Sub",
    "Mul": "Mul",
    "Div": "Div",
    "RealDiv": "Div",
    "Maximum": "Max",
    "Minimum": "Min",
    "Pow": "Pow",
}
_COMPARING = {
    "Equal": "Equal",
    "Less": "Less",
    "LessEqual": "LessOrEqual",
    "Greater": "Greater",
    "GreaterEqual": "GreaterOrEqual",
}
_LOGIC = {"LogicalAnd": "And", "LogicalOr": "Or", "LogicalXor": "Xor"}
_UNARY = {
    "Neg": "Neg",
    "Abs": "Abs",
    "Sign": "Sign",
    "Exp": "Exp",
    "Log": "Log",
    "Sqrt": "Sqrt",
    "Reciprocal": "Reciprocal",
    "Inv": "Reciprocal",
    "Floor": "Floor",
    "Ceil": "Ceil",
    "Rint": "Round",
    "Erf": "Erf",
    "IsNan": "IsNaN",
    "IsInf": "IsInf",
    "LogicalNot": "Not",
    "Sin": "Sin",
    "Cos": "Cos",
    "Tan": "Tan",
    "Asin": "Asin",
    "ACos": "Acos",
    "Atan": "Atan",
    "Sinh": "Sinh",
    "Cosh": "Cosh",
    "Asinh": "Asinh",
    "Acosh": "Acosh",
    "Atanh": "Atanh",
    "Identity": "Identity",
    "RowMajor": "Identity",
}


def operands(g: Any, step: Any) -> tuple[str, str, np.dtype]:
    """Both inputs of a binary operation in one type, and the type."""
    a, b = step.inputs[:2]
    dtype = common_type(a, b)
    return g.operand(a, dtype), g.operand(b, dtype), dtype


def to_result(g: Any, name: str, dtype: np.dtype, step: Any) -> str:
    """A result in the type the operation gave."""
    wanted = step.outputs[0].dtype
    return name if dtype == wanted else g.cast(name, wanted)


@maps(*_BINARY)
def _binary(g: Any, step: Any) -> str:
    kind = _BINARY[step.kind]
    wanted = step.outputs[0].dtype
    dtype = common_type(*step.inputs[:2])
    if kind == "Div" or dtype.kind == "b" or wanted.kind in "fV":
        dtype = wanted
    a, b = (g.operand(x, dtype) for x in step.inputs[:2])
    return to_result(g, g.node(kind, a, b), dtype, step)


@maps(*_COMPARING)
def _comparison(g: Any, step: Any) -> str:
    a, b, _ = operands(g, step)
    return g.node(_COMPARING[step.kind], a, b)


@maps("NotEqual")
def _not_equal(g: Any, step: Any) -> str:
    a, b, _ = operands(g, step)
    return g.node("Not", g.node("Equal", a, b))


@maps(*_LOGIC)
def _logic(g: Any, step: Any) -> str:
    a, b = (g.operand(x, np.dtype(bool)) for x in step.inputs)
    return g.node(_LOGIC[step.kind], a, b)


@maps(*_UNARY)
def _unary(g: Any, step: Any) -> str:
    x, kind = step.inputs[0], _UNARY[step.kind]
    boolean = step.outputs[0].dtype.kind == "b"
    dtype = np.dtype(bool) if kind == "Not" else x.dtype if boolean else step.outputs[0].dtype
    if kind in ("Floor", "Ceil", "Round") and dtype.kind in "iu":
        return g.operand(x, dtype)
    return g.node(kind, g.operand(x, dtype))


@maps("Round")
def _round(g: Any, step: Any) -> str:
    if len(step.inputs) > 1 and step.inputs[1] != 0:
        raise Unsupported("rounds to decimal places, which ONNX does not")
    return g.node("Round", g.name(step.inputs[0]))


@maps("Trunc")
def _trunc(g: Any, step: Any) -> str:
    x = g.name(step.inputs[0])
    return g.node("Mul", g.node("Sign", x), g.node("Floor", g.node("Abs", x)))


@maps("Square")
def _square(g: Any, step: Any) -> str:
    x = g.name(step.inputs[0])
    return g.node("Mul", x, x)


@maps("SquaredDifference")
def _squared_difference(g: Any, step: Any) -> str:
    a, b, _ = operands(g, step)
    d = g.node("Sub", a, b)
    return g.node("Mul", d, d)


@maps("Rsqrt")
def _rsqrt(g: Any, step: Any) -> str:
    return g.node("Reciprocal", g.node("Sqrt", g.name(step.inputs[0])))


@maps("Expm1")
def _expm1(g: Any, step: Any) -> str:
    x = step.inputs[0]
    return g.node("Sub", g.node("Exp", g.name(x)), g.constant(1, x.dtype))


@maps("Log1p")
def _log1p(g: Any, step: Any) -> str:
    x = step.inputs[0]
    return g.node("Log", g.node("Add", g.name(x), g.constant(1, x.dtype)))


@maps("Log2", "Log10")
def _log_base(g: Any, step: Any) -> str:
    x = step.inputs[0]
    factor = 1 / np.log(2 if step.kind == "Log2" else 10)
    return g.node("Mul", g.node("Log", g.name(x)), g.constant(factor, x.dtype))


@maps("AddN")
def _sum(g: Any, step: Any) -> str:
    given = step.inputs[0] if isinstance(step.inputs[0], (tuple, list)) else step.inputs
    return g.node("Sum", *[g.name(x) for x in given])


@maps("FloorDiv")
def _floor_divide(g: Any, step: Any) -> str:
    a, b, dtype = operands(g, step)
    if dtype.kind in "fV":
        return g.node("Floor", g.node("Div", a, b))
    # Integers are cut toward zero in ONNX: what is left over and has another sign than b makes one less.
    rest = g.node("Mod", a, b, fmod=0)
    return to_result(g, g.node("Div", g.node("Sub", a, rest), b), dtype, step)


@maps("FloorMod")
def _floor_mod(g: Any, step: Any) -> str:
    a, b, dtype = operands(g, step)
    if dtype.kind in "fV":
        return g.node("Sub", a, g.node("Mul", b, g.node("Floor", g.node("Div", a, b))))
    return to_result(g, g.node("Mod", a, b, fmod=0), dtype, step)


@maps("TruncateDiv", "TruncateMod", "Mod")
def _cut_toward_zero(g: Any, step: Any) -> str:
    a, b, dtype = operands(g, step)
    if step.kind != "TruncateDiv":
        return to_result(g, g.node("Mod", a, b, fmod=1), dtype, step)
    out = g.node("Div", a, b)
    if dtype.kind in "fV":
        out = g.node("Mul", g.node("Sign", out), g.node("Floor", g.node("Abs", out)))
    return to_result(g, out, dtype, step)


@maps("DivNoNan")
def _divide_or_zero(g: Any, step: Any) -> str:
    dtype = step.outputs[0].dtype
    a, b = (g.operand(x, dtype) for x in step.inputs)
    zero = g.constant(0, dtype)
    return g.node("Where", g.node("Equal", b, zero), zero, g.node("Div", a, b))


@maps("Xlogy")
def _times_logarithm(g: Any, step: Any) -> str:
    dtype = step.outputs[0].dtype
    a, b = (g.operand(x, dtype) for x in step.inputs)
    zero = g.constant(0, dtype)
    return g.node("Where", g.node("Equal", a, zero), zero, g.node("Mul", a, g.node("Log", b)))


@maps("LogAddExp")
def _log_sum(g: Any, step: Any) -> str:
    dtype = step.outputs[0].dtype
    a, b = (g.operand(x, dtype) for x in step.inputs)
    distance = g.node("Neg", g.node("Abs", g.node("Sub", a, b)))
    return g.node("Add", g.node("Max", a, b), g.node("Softplus", distance))


@maps("Erfc")
def _erfc(g: Any, step: Any) -> str:
    x = step.inputs[0]
    return g.node("Sub", g.constant(1, x.dtype), g.node("Erf", g.name(x)))


@maps("IsFinite")
def _finite(g: Any, step: Any) -> str:
    x = g.name(step.inputs[0])
    return g.node("Not", g.node("Or", g.node("IsNaN", x), g.node("IsInf", x)))


@maps("NanToNum")
def _no_nan(g: Any, step: Any) -> str:
    x, dtype = step.inputs[0], step.outputs[0].dtype
    if dtype.name not in ("float16", "float32", "float64"):
        return g.node("Identity", g.name(x))
    largest, out = np.finfo(dtype).max, g.name(x)
    out = g.node("Where", g.node("IsNaN", out), g.constant(step["nan"] or 0, dtype), out)
    for signs, value, other in (((0, 1), "posinf", largest), ((1, 0), "neginf", -largest)):
        infinite = g.node("IsInf", out, detect_negative=signs[0], detect_positive=signs[1])
        given = step[value]
        out = g.node("Where", infinite, g.constant(other if given is None else given, dtype), out)
    return out


@maps("Clamp")
def _clamp(g: Any, step: Any) -> str:
    x = step.inputs[0]
    out = g.operand(x, step.outputs[0].dtype)
    for kind, bound in (("Max", step["low"]), ("Min", step["high"])):
        if bound is not None:
            out = g.node(kind, out, g.operand(bound, step.outputs[0].dtype))
    return out


@maps("Interpolation")
def _lerp(g: Any, step: Any) -> str:
    start, end, weight = step.inputs
    dtype = start.dtype
    a, b, w = (g.operand(v, dtype) for v in (start, end, weight))
    return g.node("Add", a, g.node("Mul", w, g.node("Sub", b, a)))


@maps("MultiplyAdd")
def _multiply_add(g: Any, step: Any) -> str:
    x, a, b = (g.operand(v, step.outputs[0].dtype) for v in step.inputs)
    return g.node("Add", x, g.node("Mul", a, b))


@maps("DivideAdd")
def _divide_add(g: Any, step: Any) -> str:
    x, a, b = (g.operand(v, step.outputs[0].dtype) for v in step.inputs)
    return g.node("Add", x, g.node("Div", a, b))


@maps("Cast")
def _cast(g: Any, step: Any) -> str:
    x = step.inputs[0]
    return g.operand(x, step.outputs[0].dtype) if x.dtype != step.outputs[0].dtype else g.node("Identity", g.name(x))


@maps("Select")
def _select(g: Any, step: Any) -> str:
    condition, a, b = step.inputs
    dtype = step.outputs[0].dtype
    return g.node("Where", g.operand(condition, np.dtype(bool)), g.operand(a, dtype), g.operand(b, dtype))


@maps("MaskedFill")
def _masked_fill(g: Any, step: Any) -> str:
    x, mask, value = step.inputs
    return g.node("Where", g.operand(mask, np.dtype(bool)), g.operand(value, x.dtype), g.name(x))


@maps("ZerosLike", "OnesLike")
def _like(g: Any, step: Any) -> str:
    x = step.inputs[0]
    value = g.constant(0 if step.kind == "ZerosLike" else 1, step.outputs[0].dtype)
    return g.node("Expand", value, g.node("Shape", g.name(x)))
