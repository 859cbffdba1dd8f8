"""Functions of one tensor, element by element: exponentials, angles, rounding, signs."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.tensor import Tensor
from dist_ms.numpy.arguments import FLOAT32, cast, floats, is_float, kind_type, strict, tensor_of, typed

__all__ = [
    *("abs", "absolute", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh", "around", "cbrt", "ceil"),
    *("cos", "cosh", "deg2rad", "exp", "exp2", "expm1", "fabs", "fix", "floor", "log", "log10", "log1p", "log2"),
    *("negative", "positive", "rad2deg", "radians", "reciprocal", "rint", "round", "sign", "sin", "sinh", "sqrt"),
    *("square", "tan", "tanh", "trunc"),
]

_FLOAT16 = np.dtype(np.float16)


def unary(name: str, function: Callable, summary: str, accept: Callable = tensor_of, argument: str = "x") -> Callable:
    """Make a public function of one tensor and the wanted data type of its result."""

    def of_one(x: Any, dtype: Any = None) -> Tensor:
        return typed(function(accept(x, argument, name)), dtype)

    if argument != "x":
        named = of_one

        def of_one(*args: Any, **kwargs: Any) -> Tensor:
            if argument in kwargs:
                kwargs["x"] = kwargs.pop(argument)
            return named(*args, **kwargs)

    of_one.__name__ = of_one.__qualname__ = name
    of_one.__module__ = __name__
    of_one.__doc__ = (
        f"{summary}\n\nArgs:\n    {argument}: a Tensor"
        + ("" if accept is strict else ", a number or nested lists of numbers")
        + f".\n    dtype: the data type of the result.\n\nReturns:\n    Tensor of the shape of `{argument}`."
    )
    return of_one


def _angles(x: Tensor) -> Tensor:
    """Integers as MindSpore turns them into floats here: float16 up to 16 bits, else float32."""
    if is_float(x):
        return x
    return cast(x, _FLOAT16 if kind_type(x).itemsize < 4 else FLOAT32)


def _of_floats(name: str, function: Callable) -> Callable:
    """A function that refuses integers."""

    def checked(x: Tensor) -> Tensor:
        if not is_float(x):
            raise TypeError(f"For '{name}', 'x' must be a Tensor of floats, but got {x.dtype}.")
        return function(x)

    return checked


def _of_numbers(name: str, function: Callable) -> Callable:
    """A function that refuses bools."""

    def checked(x: Tensor) -> Tensor:
        if kind_type(x).kind == "b":
            raise TypeError(f"For '{name}', 'x' must be a Tensor of numbers, but got {x.dtype}.")
        return function(x)

    return checked


def _angle(name: str, function: Callable, summary: str, argument: str = "x") -> Callable:
    return unary(name, lambda x: function(_angles(x)), summary, strict, argument)


def _smooth(name: str, function: Callable, summary: str, accept: Callable = tensor_of) -> Callable:
    return unary(name, _of_floats(name, function), summary, accept)


sin = _angle("sin", ops.sin, "Return the sine of angles in radians.")
cos = _angle("cos", ops.cos, "Return the cosine of angles in radians.")
tan = _angle("tan", ops.tan, "Return the tangent of angles in radians.")
arcsin = _angle("arcsin", ops.asin, "Return the angles, in [-pi/2, pi/2], whose sine is given.")
arccos = _angle("arccos", ops.acos, "Return the angles, in [0, pi], whose cosine is given.", "input")
arctan = _angle("arctan", ops.atan, "Return the angles, in [-pi/2, pi/2], whose tangent is given.")
sinh = _angle("sinh", ops.sinh, "Return the hyperbolic sine.")
cosh = _angle("cosh", ops.cosh, "Return the hyperbolic cosine.")
tanh = _angle("tanh", ops.tanh, "Return the hyperbolic tangent.")
arcsinh = _angle("arcsinh", ops.asinh, "Return the inverse hyperbolic sine.")
arccosh = _angle("arccosh", ops.acosh, "Return the inverse hyperbolic cosine.")
arctanh = _angle("arctanh", ops.atanh, "Return the inverse hyperbolic tangent.")


def _degrees(x: Tensor) -> Tensor:
    """Radians as degrees."""
    return ops.mul(floats(x), 180 / math.pi)


def _radians(x: Tensor) -> Tensor:
    """Degrees as radians."""
    return ops.mul(floats(x), math.pi / 180)


rad2deg = unary("rad2deg", _degrees, "Convert radians to degrees.", strict)
deg2rad = unary("deg2rad", _radians, "Convert degrees to radians.", strict)
radians = unary("radians", _radians, "Convert degrees to radians.", strict)

exp = _smooth("exp", ops.exp, "Return e to the power of each element.")
expm1 = _smooth("expm1", ops.expm1, "Return exp(x) - 1, exact for small x.")
log = _smooth("log", ops.log, "Return the natural logarithm.")
log1p = _smooth("log1p", ops.log1p, "Return log(1 + x), exact for small x.")
log2 = _smooth("log2", ops.log2, "Return the logarithm to base 2.", strict)
log10 = _smooth("log10", ops.log10, "Return the logarithm to base 10.", strict)
floor = _smooth("floor", ops.floor, "Return the largest whole number that is not larger.")
rint = _smooth("rint", ops.rint, "Round to the nearest whole number, halves to the even one.")


def _integers_back(function: Callable) -> Callable:
    """A function of floats whose result for integers is cut to their type."""
    return lambda x: function(x) if is_float(x) else cast(ops.trunc(function(floats(x))), kind_type(x))


def _cube_root(x: Tensor) -> Tensor:
    """sign(x) |x|^(1/3), in float32 unless `x` is wider."""
    x = x if kind_type(x).itemsize == 8 and is_float(x) else cast(x, FLOAT32)
    return ops.mul(ops.sign(x), ops.pow(ops.abs(x), 1 / 3))


def _to_float32(function: Callable) -> Callable:
    """A rounding whose result is float32 unless its argument is float16."""
    return lambda x: function(x if kind_type(x) == _FLOAT16 else cast(x, FLOAT32))


exp2 = unary("exp2", _integers_back(ops.exp2), "Return 2 to the power of each element; integers stay integers.")
reciprocal = unary("reciprocal", _integers_back(ops.reciprocal), "Return 1 / x; integers stay integers, cut to 0.")
cbrt = unary("cbrt", _cube_root, "Return the cube root.")
sqrt = unary("sqrt", lambda x: ops.sqrt(floats(x)), "Return the square root.")
square = unary("square", _of_numbers("square", ops.square), "Return the square.")
ceil = unary("ceil", lambda x: ops.ceil(cast(x, FLOAT32)), "Return, in float32, the least whole number not below.")
trunc = unary("trunc", _to_float32(ops.trunc), "Cut the part behind the point.")
abs = absolute = unary("absolute", ops.abs, "Return the absolute value.", strict)
fabs = unary("fabs", ops.abs, "Return the absolute value.", strict)
negative = unary("negative", _of_numbers("negative", ops.neg), "Return -a.", argument="a")
positive = unary("positive", _of_numbers("positive", lambda x: ops.mul(x, 1)), "Return +a.", strict, "a")
sign = unary(
    "sign", _of_numbers("sign", lambda x: ops.sign(floats(x))), "Return -1, 0 or 1 after the sign, as a float."
)


def fix(x: Tensor) -> Tensor:
    """Round towards zero, to floats.

    Args:
        x: a Tensor.

    Returns:
        Tensor of float32, of float16 if `x` is.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.fix(mnp.array([2.9, -2.9])))
        [ 2. -2.]
    """
    return trunc(strict(x, "x", "fix"))


def around(a: Tensor, decimals: int = 0) -> Tensor:
    """Round to a number of decimals, halves to the even neighbour.

    Args:
        a: a Tensor.
        decimals: how many digits stay behind the point; negative ones cut before it.

    Returns:
        Tensor of the shape and dtype of `a`.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.around(mnp.array([0.5, 1.24]), 1))
        [0.5 1.2]
    """
    a = strict(a, "a", "around")
    if not is_float(a):
        return a
    if decimals == 0:
        return ops.round(a)
    scale = 10.0**decimals
    return ops.div(ops.round(ops.mul(a, scale)), scale)


round = around
