"""Functions of two tensors, element by element: sums, products, quotients, powers, extremes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.tensor import Tensor
from dist_ms.numpy.arguments import FLOAT32, alike, cast, floats, is_float, kind_type, strict, tensor_of, typed

__all__ = [
    *("add", "arctan2", "clip", "copysign", "divide", "divmod", "float_power", "floor_divide", "fmod", "gcd"),
    *("heaviside", "hypot", "lcm", "logaddexp", "logaddexp2", "maximum", "minimum", "mod", "multiply", "power"),
    *("remainder", "subtract", "true_divide"),
]


def binary(name: str, function: Callable, summary: str, accept: Callable = tensor_of) -> Callable:
    """Make a public function of two tensors that broadcast, and the wanted data type of its result."""

    def of_two(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
        return typed(function(accept(x1, "x1", name), accept(x2, "x2", name)), dtype)

    of_two.__name__ = of_two.__qualname__ = name
    of_two.__module__ = function.__module__ if function.__module__.startswith("dist_ms.numpy") else __name__
    what = "a Tensor" if accept is strict else "a Tensor, a number or nested lists of numbers"
    of_two.__doc__ = (
        f"{summary}\n\nArgs:\n    x1: {what}.\n    x2: likewise; the shapes must broadcast.\n"
        "    dtype: the data type of the result.\n\nReturns:\n    Tensor of the broadcast shape."
    )
    return of_two


def _no_bools(name: str, function: Callable) -> Callable:
    """A function that refuses two tensors of bools."""

    def checked(x1: Tensor, x2: Tensor) -> Tensor:
        if kind_type(x1).kind == kind_type(x2).kind == "b":
            raise TypeError(f"For '{name}', 'x1' and 'x2' must not both be bools, but got {x1.dtype}.")
        return function(x1, x2)

    return checked


def _promoted(function: Callable) -> Callable:
    """A function of two tensors of one type."""
    return lambda x1, x2: function(*alike([x1, x2]))


def _as_floats(function: Callable) -> Callable:
    """A function of two tensors of floats."""
    return lambda x1, x2: function(*[floats(x) for x in alike([x1, x2])])


def _through_floats(function: Callable) -> Callable:
    """A function whose kernel takes floats only; the result has the promoted type of the tensors."""

    def computed(x1: Tensor, x2: Tensor) -> Tensor:
        x1, x2 = alike([x1, x2])
        return function(x1, x2) if is_float(x1) else cast(function(floats(x1), floats(x2)), kind_type(x1))

    return computed


def _through_integers(function: Callable) -> Callable:
    """A function whose kernel takes integers only; the result has the promoted type of the tensors."""

    def computed(x1: Tensor, x2: Tensor) -> Tensor:
        x1, x2 = alike([x1, x2])
        wide = np.dtype(np.int64)
        return cast(function(cast(x1, wide), cast(x2, wide)), kind_type(x1))

    return computed


def _remainder(x1: Tensor, x2: Tensor) -> Tensor:
    """x1 - x2 floor(x1 / x2), in the promoted type."""
    x1, x2 = alike([x1, x2])
    return ops.floor_mod(x1, x2) if kind_type(x1).kind != "b" else cast(ops.zeros_like(ops.add(x1, x2)), kind_type(x1))


def _copysign(x1: Tensor, x2: Tensor) -> Tensor:
    """|x1| with the sign of x2, in the type of x1."""
    if "b" in (kind_type(x1).kind, kind_type(x2).kind):
        raise TypeError(f"For 'copysign', 'x1' and 'x2' must hold numbers, but got {x1.dtype} and {x2.dtype}.")
    signs = cast(ops.sub(1, ops.mul(2, cast(ops.less(x2, 0), FLOAT32))), kind_type(x1))
    return ops.mul(ops.abs(x1), signs)


def _power(x1: Tensor, x2: Tensor) -> Tensor:
    """x1 to the power of x2; integers to a negative power are cut to integers."""
    x1, x2 = alike([x1, x2])
    if is_float(x1) or bool((x2.asnumpy() >= 0).all()):
        return ops.pow(x1, x2)
    return cast(ops.trunc(ops.pow(floats(x1), floats(x2))), kind_type(x1))


def _logaddexp(name: str, function: Callable) -> Callable:
    """A logarithm of a sum of powers, which refuses integers."""

    def computed(x1: Tensor, x2: Tensor) -> Tensor:
        if not (is_float(x1) and is_float(x2)):
            raise TypeError(f"For '{name}', 'x1' and 'x2' must hold floats, but got {x1.dtype} and {x2.dtype}.")
        return function(*alike([x1, x2]))

    return computed


def _angle(x1: Tensor, x2: Tensor) -> Tensor:
    """The angle of a point; integers up to 16 bits become float16 as in MindSpore."""
    x1, x2 = alike([x1, x2])
    if not is_float(x1):
        d = np.dtype(np.float16) if kind_type(x1).itemsize < 4 else FLOAT32
        x1, x2 = cast(x1, d), cast(x2, d)
    return ops.atan2(x1, x2)


def _float_power(x1: Tensor, x2: Tensor) -> Tensor:
    return ops.pow(cast(x1, FLOAT32), cast(x2, FLOAT32))


def _hypot(x1: Tensor, x2: Tensor) -> Tensor:
    if "b" in (kind_type(x1).kind, kind_type(x2).kind):
        raise TypeError(f"For 'hypot', 'x1' and 'x2' must hold numbers, but got {x1.dtype} and {x2.dtype}.")
    return ops.sqrt(ops.add(ops.square(floats(x1)), ops.square(floats(x2))))


add = binary("add", _no_bools("add", ops.add), "Return x1 + x2.")
subtract = binary("subtract", _no_bools("subtract", ops.sub), "Return x1 - x2.")
multiply = binary("multiply", _promoted(ops.mul), "Return x1 * x2.", strict)
divide = binary("divide", _as_floats(ops.div), "Return x1 / x2, as floats.")
true_divide = binary("true_divide", _as_floats(ops.div), "Return x1 / x2, as floats.")
floor_divide = binary("floor_divide", _promoted(ops.floor_div), "Return x1 / x2 rounded down.")
mod = binary("mod", _remainder, "Return what remains after a division rounded down; its sign is that of x2.")
remainder = binary("remainder", _remainder, "Return what remains after a division rounded down, as `mod`.")
fmod = binary("fmod", _through_floats(ops.fmod), "Return what remains after a division cut to 0, with the sign of x1.")
power = binary("power", _no_bools("power", _power), "Return x1 to the power of x2.")
float_power = binary("float_power", _float_power, "Return x1 to the power of x2, in float32.", strict)
arctan2 = binary("arctan2", _angle, "Return the angle of the point (x2, x1), in [-pi, pi].", strict)
hypot = binary("hypot", _hypot, "Return sqrt(x1^2 + x2^2).")
copysign = binary("copysign", _copysign, "Return |x1| with the sign of x2.")
gcd = binary("gcd", _through_integers(ops.gcd), "Return the greatest common divisor of |x1| and |x2|.")
lcm = binary("lcm", _through_integers(ops.lcm), "Return the least common multiple of |x1| and |x2|.")
heaviside = binary(
    "heaviside", _through_floats(ops.heaviside), "Return 0 where x1 is negative, 1 where positive, x2 where it is 0."
)
logaddexp = binary("logaddexp", _logaddexp("logaddexp", ops.logaddexp), "Return log(exp(x1) + exp(x2)).")
logaddexp2 = binary("logaddexp2", _logaddexp("logaddexp2", ops.logaddexp2), "Return log2(2^x1 + 2^x2).", strict)


def _extreme(name: str, function: Callable) -> Callable:
    """The larger or smaller element; a number beside a tensor takes the tensor's type."""

    def computed(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
        a, b = tensor_of(x1, "x1", name), tensor_of(x2, "x2", name)
        if isinstance(x1, Tensor) and isinstance(x2, (int, float)):
            b = cast(b, kind_type(a))
        elif isinstance(x2, Tensor) and isinstance(x1, (int, float)):
            a = cast(a, kind_type(b))
        return typed(function(*alike([a, b])), dtype)

    computed.__name__ = computed.__qualname__ = name
    return computed


maximum = _extreme("maximum", ops.maximum)
maximum.__doc__ = "Return the larger of x1 and x2 at each place, NaN where one is."
minimum = _extreme("minimum", ops.minimum)
minimum.__doc__ = "Return the smaller of x1 and x2 at each place, NaN where one is."


def divmod(x1: Any, x2: Any, dtype: Any = None) -> tuple[Tensor, Tensor]:
    """Return the quotient rounded down, and what remains.

    Args:
        x1: a Tensor or numbers.
        x2: likewise; the shapes must broadcast.
        dtype: the data type of both results.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> quotient, rest = mnp.divmod(mnp.array([7, -7]), 2)
        >>> print(quotient, rest)
        [ 3 -4] [1 1]
    """
    return floor_divide(x1, x2, dtype), remainder(x1, x2, dtype)


def clip(x: Any, xmin: Any, xmax: Any, dtype: Any = None) -> Tensor:
    """Bring each element between two bounds; the upper one wins if they cross.

    Args:
        x: a Tensor, or numbers.
        xmin: the lower bound, a number or Tensor, or None.
        xmax: the upper bound, a number or Tensor, or None.
        dtype: the data type of the result.

    Raises:
        ValueError: if both bounds are None.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.clip(mnp.array([1, 5, 9]), 2, 6))
        [2 5 6]
    """
    if xmin is None and xmax is None:
        raise ValueError("For 'clip', one of 'xmin' and 'xmax' must be given, but both are None.")
    x = tensor_of(x, "x", "clip")
    if xmin is not None:
        x = maximum(x, xmin)
    if xmax is not None:
        x = minimum(x, xmax)
    return typed(x, dtype)
