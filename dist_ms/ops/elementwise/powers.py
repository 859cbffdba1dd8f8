"""Pow, Sqrt, Rsqrt, Reciprocal and their kin: elementwise powers and roots."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms._ext.tape import wanted
from dist_ms.common.dtype import complex128, float64
from dist_ms.common.tensor import Tensor
from dist_ms.ops import pointwise
from dist_ms.ops.arguments import array, floating, not_of
from dist_ms.ops.broadcasting import Binary, promote, reduce_to
from dist_ms.ops.elementwise.arithmetic import conjugate, mul, neg, square
from dist_ms.ops.elementwise.division import true_divide
from dist_ms.ops.primitive import Primitive, as_tensor, quiet

__all__ = [
    "Hypot",
    "Inv",
    "Pow",
    "Reciprocal",
    "Rsqrt",
    "Sqrt",
    "float_power",
    "hypot",
    "inv",
    "pow",
    "pows",
    "reciprocal",
    "rsqrt",
    "sqrt",
    "tensor_pow",
]

_FLOAT32 = np.dtype(np.float32)


class Pow(Binary):
    """input to the power of exponent, element by element, with broadcasting.

    Call:
        input (Tensor or number): the base.
        exponent (Tensor or number): the exponent.

    Raises:
        TypeError: if an operand is neither a Tensor nor a number.
        ValueError: if the shapes do not broadcast.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.pow(ms.Tensor([1.0, 2.0, 3.0]), 2))
        [1. 4. 9.]
    """

    def __call__(self, input: Any, exponent: Any) -> Tensor:
        return super().__call__(input, exponent)

    def forward(self, input: Any, exponent: Any) -> np.ndarray:
        x, y = promote(input, exponent)
        if x.dtype.kind in "fV" and not isinstance(exponent, np.ndarray):
            out = pointwise.power_of_number(x, exponent)
            if out is not None:
                return out
        if x.dtype.kind in "iu":
            return _integer_power(x, y)
        if x.dtype.kind == "b":
            return np.logical_or(x, np.logical_not(y))
        return pointwise.power(x, y)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        x, y = inputs
        dx = dy = None
        if wanted(x):
            dx = reduce_to(mul(dout, conjugate(mul(_power_below(x, y), y))), x)
        if wanted(y):
            # Where the base is 0 the power does not depend on the exponent (as long as that is positive).
            log = (
                ops.log(ops.where(ops.equal(x, 0), ops.ones_like(as_tensor(x)), x))
                if isinstance(x, Tensor)
                else float(np.log(x))
                if x > 0
                else 0.0
            )
            dy = reduce_to(mul(dout, conjugate(mul(pow(x, y), log))), y)
        return dx, dy


def _power_below(x: Any, y: Any) -> Tensor:
    """x to the power of y - 1, of which some are sooner had than a power."""
    if not isinstance(y, Tensor):
        if y == 2:
            return x
        if y == 0.5 and x._element.kind in "fV":
            return rsqrt(x)
    return pow(x, y - 1)


@quiet
def _integer_power(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Integer powers; a negative exponent gives the quotient cut toward zero."""
    below = y < 0
    if not below.any():
        return np.power(x, y)
    powers = np.power(x, np.where(below, np.zeros((), y.dtype), y))
    odd = np.where(y % 2 == 0, np.ones((), x.dtype), x)
    return np.where(below, np.where(np.abs(x) == 1, odd, np.zeros((), x.dtype)), powers).astype(x.dtype, copy=False)


class Sqrt(Primitive):
    """The square root of each element; integers and bools give float32.

    Call:
        x (Tensor): numbers; NaN comes of negative ones.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.sqrt(ms.Tensor([1.0, 4.0, 9.0])))
        [1. 2. 3.]
    """

    keeps = ()
    keeps_output = True

    def forward(self, x: np.ndarray) -> np.ndarray:
        return pointwise.sqrt(as_float(self.name, x))

    def gradient(self, inputs: tuple, output: Tensor, dout: Tensor) -> Tensor:
        return reduce_to(true_divide(dout, mul(conjugate(output), 2)), inputs[0])


class Rsqrt(Primitive):
    """One over the square root of each element.

    Call:
        input (Tensor): floats or complex numbers.

    Raises:
        TypeError: if `input` is no Tensor, or holds integers or bools.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.rsqrt(ms.Tensor([1.0, 4.0])))
        [1.  0.5]
    """

    keeps = ()
    keeps_output = True

    def forward(self, input: np.ndarray) -> np.ndarray:
        return pointwise.rsqrt(floating(input, "input", self.name))

    def gradient(self, inputs: tuple, output: Tensor, dout: Tensor) -> Tensor:
        y = conjugate(output)
        return mul(dout, mul(mul(y, square(y)), -0.5))


class Reciprocal(Primitive):
    """One over each element; integers and bools give float32.

    Call:
        input (Tensor): numbers.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.reciprocal(ms.Tensor([1.0, 2.0, 4.0])))
        [1.   0.5  0.25]
    """

    keeps = ()
    keeps_output = True

    def forward(self, input: np.ndarray) -> np.ndarray:
        return pointwise.reciprocal(as_float(self.name, input))

    def gradient(self, inputs: tuple, output: Tensor, dout: Tensor) -> Tensor:
        return reduce_to(neg(mul(dout, square(conjugate(output)))), inputs[0])


class Inv(Reciprocal):
    """One over each element; integers give integers, cut toward zero.

    Call:
        x (Tensor): numbers.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.inv(ms.Tensor([0.5, 4.0])))
        [2.   0.25]
    """

    def forward(self, x: np.ndarray) -> np.ndarray:
        not_of(x, "BHIL", "x", self.name)
        if array(x, "x", self.name).dtype.kind in "iu":
            return np.where(np.abs(x) == 1, x, np.zeros((), x.dtype))
        return pointwise.reciprocal(floating(x, "x", self.name))


class Hypot(Binary):
    """sqrt(input² + other²), without overflow in between.

    Call:
        input (Tensor): one side.
        other (Tensor): the other side.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.hypot(ms.Tensor([3.0]), ms.Tensor([4.0])))
        [5.]
    """

    keeps_output = True

    def forward(self, input: Any, other: Any) -> np.ndarray:
        x, y = promote(input, other)
        return pointwise.hypot(floating(x, "input", self.name, complex_too=False), y)

    def gradient(self, inputs: tuple, output: Tensor, dout: Tensor) -> tuple:
        x, y = inputs
        return (
            reduce_to(mul(dout, true_divide(x, output)), x) if wanted(x) else None,
            reduce_to(mul(dout, true_divide(y, output)), y) if wanted(y) else None,
        )


def as_float(name: str, value: Any) -> np.ndarray:
    """An array of floats or complex numbers; integers and bools become float32."""
    return value.astype(_FLOAT32) if array(value, "input", name).dtype.kind in "biu" else value


pow, sqrt, rsqrt, reciprocal, inv, hypot = Pow(), Sqrt(), Rsqrt(), Reciprocal(), Inv(), Hypot()
pows = tensor_pow = pow


def float_power(input: Any, exponent: Any) -> Tensor:
    """Return input to the power of exponent, computed in float64.

    Args:
        input: the base, a Tensor or a number.
        exponent: the exponent, a Tensor or a number.

    Returns:
        Tensor of float64 (complex128 if an operand is complex).

    Raises:
        TypeError: if neither operand is a Tensor.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.float_power(ms.Tensor([1, 2]), 2).dtype)
        Float64
    """
    if not isinstance(input, Tensor) and not isinstance(exponent, Tensor):
        raise TypeError(
            "For 'float_power', 'input' or 'exponent' must be a Tensor, "
            f"but got {type(input).__name__} and {type(exponent).__name__}."
        )
    widened = [
        ops.cast(x, complex128 if x._element.kind == "c" else float64) if isinstance(x, Tensor) else x
        for x in (input, exponent)
    ]
    return pow(*widened)
