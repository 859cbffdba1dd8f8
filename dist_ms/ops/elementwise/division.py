"""Div, FloorDiv, FloorMod and their kin: elementwise quotients and remainders."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms._ext.tape import wanted
from dist_ms.common.dtype import from_numpy
from dist_ms.common.error_classes import raises
from dist_ms.common.tensor import Tensor
from dist_ms.ops import pointwise
from dist_ms.ops.arguments import one_of
from dist_ms.ops.broadcasting import Binary, NamedBinary, promote, reduce_to
from dist_ms.ops.elementwise.arithmetic import conjugate, mul, neg
from dist_ms.ops.elementwise.comparison import not_equal
from dist_ms.ops.pointwise import apply, select
from dist_ms.ops.primitive import quiet

__all__ = [
    "Div",
    "DivNoNan",
    "FloorDiv",
    "FloorMod",
    "Mod",
    "RealDiv",
    "TruncateDiv",
    "TruncateMod",
    "Xdivy",
    "div",
    "div_no_nan",
    "divide",
    "floor_div",
    "floor_divide",
    "floor_mod",
    "floordiv",
    "floormod",
    "fmod",
    "remainder",
    "tensor_div",
    "tensor_floordiv",
    "tensor_mod",
    "true_divide",
    "truncate_div",
    "truncate_mod",
    "xdivy",
]

_FLOAT32 = np.dtype(np.float32)


class Div(Binary):
    """`div` as a primitive, without rounding: `Div()(input, other)`."""

    def forward(self, input: Any, other: Any) -> np.ndarray:
        input, other = promote(input, other)
        if input.dtype.kind in "biu":
            input, other = input.astype(_FLOAT32), other.astype(_FLOAT32)
        return apply(np.divide, input, other)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        x, y = inputs
        dx = true_divide(dout, conjugate(y))
        return (reduce_to(dx, x), reduce_to(neg(mul(dx, conjugate(true_divide(x, y)))), y) if wanted(y) else None)


class RealDiv(Div):
    """input / other, element by element; integers give integers, cut toward zero.

    Call:
        input (Tensor or number): the dividend.
        other (Tensor or number): the divisor.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.RealDiv()(ms.Tensor([1.0, 2.0]), ms.Tensor([4.0, 5.0])))
        [0.25 0.4 ]
    """

    @quiet
    def forward(self, x: Any, y: Any) -> np.ndarray:
        x, y = promote(x, y)
        return _truncated(x, y) if x.dtype.kind in "biu" else apply(np.divide, x, y)


class DivNoNan(Div):
    """input / other, and 0 where `other` is 0.

    Call:
        input (Tensor or number): the dividend.
        other (Tensor or number): the divisor.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.DivNoNan()(ms.Tensor([1.0, 2.0]), ms.Tensor([0.0, 4.0])))
        [0.  0.5]
    """

    @quiet
    def forward(self, x1: Any, x2: Any) -> np.ndarray:
        x1, x2 = promote(x1, x2)
        zero = apply(np.equal, x2, np.zeros((), x2.dtype))
        if x1.dtype.kind in "biu":
            return np.where(zero, np.zeros((), x1.dtype), _truncated(x1, np.where(zero, np.ones((), x2.dtype), x2)))
        return select(zero, np.zeros((), x1.dtype), apply(np.divide, x1, x2))

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        x, y = inputs
        dx = div_no_nan(dout, y)
        return (reduce_to(dx, x), reduce_to(neg(mul(dx, div_no_nan(x, y))), y) if wanted(y) else None)


class Xdivy(Div):
    """x / y, and 0 where x is 0, whatever y is there.

    Call:
        x (Tensor or number): the dividend.
        y (Tensor or number): the divisor.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.xdivy(ms.Tensor([0.0, 2.0]), ms.Tensor([0.0, 4.0])))
        [0.  0.5]
    """

    def __call__(self, x: Any, y: Any) -> Tensor:
        return super().__call__(x, y)

    @quiet
    def forward(self, x: Any, y: Any) -> np.ndarray:
        x, y = promote(x, y)
        if x.dtype.kind in "biu":
            x, y = x.astype(_FLOAT32), y.astype(_FLOAT32)
        zero = np.zeros((), x.dtype)
        return select(apply(np.equal, x, zero), zero, apply(np.divide, x, y))

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        x, y = inputs
        dx = mul(div_no_nan(dout, y), not_equal(x, 0))
        return (reduce_to(dx, x), reduce_to(neg(mul(dx, div_no_nan(x, y))), y) if wanted(y) else None)


class FloorDiv(Binary):
    """The quotient rounded down; the gradient is zero.

    Call:
        input (Tensor or number): the dividend.
        other (Tensor or number): the divisor.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.FloorDiv()(ms.Tensor([-7, 7]), 2))
        [-4  3]
    """

    keeps = ()

    def forward(self, input: Any, other: Any) -> np.ndarray:
        input, other = promote(input, other)
        if input.dtype.kind in "biu":
            return apply(np.floor_divide, input, other).astype(input.dtype, copy=False)
        quotient = apply(np.divide, input, other)
        return quotient if quotient.dtype.kind == "c" else apply(np.floor, quotient)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        dx = mul(dout, 0)
        return reduce_to(dx, inputs[0]), reduce_to(dx, inputs[1])


class TruncateDiv(NamedBinary, FloorDiv):
    """The quotient cut toward zero; the gradient is zero.

    Call:
        x (Tensor or number): the dividend.
        y (Tensor or number): the divisor.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.truncate_div(ms.Tensor([-7, 7]), 2))
        [-3  3]
    """

    takes = "x y"

    @quiet
    def forward(self, x: Any, y: Any) -> np.ndarray:
        x, y = promote(x, y)
        return _truncated(x, y) if x.dtype.kind in "biu" else apply(np.trunc, apply(np.divide, x, y))


class FloorMod(NamedBinary):
    """The remainder of the division rounded down; it has the sign of the divisor.

    Call:
        x (Tensor or number): the dividend.
        y (Tensor or number): the divisor.

    Raises:
        TypeError: if both operands are bools, or one is complex.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.floor_mod(ms.Tensor([-7, 7]), 3))
        [2 1]
    """

    takes = "x y"

    def forward(self, x: Any, y: Any) -> np.ndarray:
        return pointwise.floor_mod(*self._numbers(x, y))

    def _numbers(self, x: Any, y: Any) -> tuple:
        x, y = promote(x, y)
        if x.dtype.kind in "bc":
            raise TypeError(
                f"For '{self.name}', the common dtype of the operands must be an integer or float type, "
                f"but got {from_numpy(x.dtype)}."
            )
        return x, y

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        x, y = inputs
        return (reduce_to(dout, x), reduce_to(neg(mul(dout, self.quotient(x, y))), y) if wanted(y) else None)

    @staticmethod
    def quotient(x: Any, y: Any) -> Tensor:
        """The whole part of the quotient."""
        return floor_divide(x, y)


class TruncateMod(FloorMod):
    """The remainder of the division cut toward zero; it has the sign of the dividend.

    Call:
        x (Tensor or number): the dividend.
        y (Tensor or number): the divisor.

    Raises:
        TypeError: if both operands are bools, or one is complex.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.truncate_mod(ms.Tensor([-7, 7]), 3))
        [-1  1]
    """

    def forward(self, x: Any, y: Any) -> np.ndarray:
        return pointwise.truncate_mod(*self._numbers(x, y))

    @staticmethod
    def quotient(x: Any, y: Any) -> Tensor:
        """The whole part of the quotient."""
        return truncate_div(x, y)


class Mod(TruncateMod):
    """The remainder of the division cut toward zero: `TruncateMod` under its other name.

    Call:
        x (Tensor or number): the dividend.
        y (Tensor or number): the divisor.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.Mod()(ms.Tensor([-7.0, 7.0]), 3))
        [-1.  1.]
    """


def _truncated(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The quotient of integers, cut toward zero; 0 where the divisor is 0."""
    quotient = np.floor_divide(x, y)
    return (quotient + ((np.remainder(x, y) != 0) & ((x < 0) != (y < 0)))).astype(x.dtype, copy=False)


true_divide, div_no_nan, xdivy = Div(), DivNoNan(), Xdivy()
floor_divide, floor_mod = FloorDiv(), FloorMod()
truncate_div, truncate_mod = TruncateDiv(), TruncateMod()
floor_div = floordiv = tensor_floordiv = floor_divide
floormod = tensor_mod = floor_mod
remainder, fmod = FloorMod(), TruncateMod()
remainder.takes = fmod.takes = "input other"
tensor_div = RealDiv()


@raises(rounding_mode=ValueError)
def div(input: Any, other: Any, *, rounding_mode: str | None = None) -> Tensor:
    """Return input / other, element by element, with broadcasting.

    Args:
        input: the dividend, a Tensor or a number.
        other: the divisor, a Tensor or a number.
        rounding_mode: None for the quotient (integers give float32), "floor" to round it
            down, "trunc" to cut it toward zero; the latter two keep integers integers.

    Returns:
        Tensor of the broadcast shape.

    Raises:
        TypeError: if an operand is neither a Tensor nor a number.
        ValueError: if `rounding_mode` is anything else, or the shapes do not broadcast.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.Tensor([-7, 7])
        >>> print(ms.ops.div(x, 2), ms.ops.div(x, 2, rounding_mode="trunc"))
        [-3.5  3.5] [-3  3]
    """
    if rounding_mode is None:
        return true_divide(input, other)
    one_of(rounding_mode, "rounding_mode", "div", (None, "floor", "trunc"))
    return (floor_divide if rounding_mode == "floor" else truncate_div)(input, other)


divide = div
