"""Sin, Cos, Sinh and their kin: elementwise trigonometric and hyperbolic functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms._ext.tape import wanted
from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import floating
from dist_ms.ops.broadcasting import Binary, promote, reduce_to
from dist_ms.ops.elementwise.arithmetic import add, conjugate, mul, neg, square, sub
from dist_ms.ops.elementwise.division import div_no_nan, true_divide
from dist_ms.ops.elementwise.powers import as_float, rsqrt
from dist_ms.ops.pointwise import apply, of_numpy
from dist_ms.ops.primitive import Primitive, quiet

__all__ = [
    "ACos",
    "Acosh",
    "Asin",
    "Asinh",
    "Atan",
    "Atan2",
    "Atanh",
    "Cos",
    "Cosh",
    "Sin",
    "Sinc",
    "Sinh",
    "Tan",
    "acos",
    "acosh",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cos",
    "cosh",
    "deg2rad",
    "rad2deg",
    "sin",
    "sinc",
    "sinh",
    "tan",
]


class Sin(Primitive):
    """The sine of each element, an angle in radians.

    Call:
        input (Tensor): floats or complex numbers.

    Raises:
        TypeError: if `input` is no Tensor, or holds integers or bools.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.sin(ms.Tensor([0.0, 1.0])).asnumpy().round(4))
        [0.     0.8415]
    """

    def forward(self, input: np.ndarray) -> np.ndarray:
        return of_numpy(np.sin, floating(input, "input", self.name))

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        return mul(dout, cos(conjugate(inputs[0])))


class Cos(Primitive):
    """The cosine of each element, an angle in radians.

    Call:
        input (Tensor): floats or complex numbers.

    Raises:
        TypeError: if `input` is no Tensor, or holds integers or bools.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.cos(ms.Tensor([0.0, 1.0])).asnumpy().round(4))
        [1.     0.5403]
    """

    def forward(self, input: np.ndarray) -> np.ndarray:
        return of_numpy(np.cos, floating(input, "input", self.name))

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        return neg(mul(dout, sin(conjugate(inputs[0]))))


class Tan(Primitive):
    """The tangent of each element, an angle in radians.

    Call:
        input (Tensor): floats or complex numbers.

    Raises:
        TypeError: if `input` is no Tensor, or holds integers or bools.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.tan(ms.Tensor([0.0, 1.0])).asnumpy().round(4))
        [0.     1.5574]
    """

    keeps = ()
    keeps_output = True

    def forward(self, input: np.ndarray) -> np.ndarray:
        return of_numpy(np.tan, floating(input, "input", self.name))

    def gradient(self, inputs: tuple, output: Tensor, dout: Tensor) -> Tensor:
        return mul(dout, add(square(conjugate(output)), 1))


class Asin(Primitive):
    """The angle in radians, from -pi/2 to pi/2, whose sine each element is; NaN outside [-1, 1].

    Call:
        input (Tensor): floats or complex numbers.

    Raises:
        TypeError: if `input` is no Tensor, or holds integers or bools.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.asin(ms.Tensor([0.0, 1.0])).asnumpy().round(4))
        [0.     1.5708]
    """

    def forward(self, input: np.ndarray) -> np.ndarray:
        return of_numpy(np.arcsin, floating(input, "input", self.name))

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        return mul(dout, rsqrt(sub(1, square(conjugate(inputs[0])))))


class ACos(Primitive):
    """The angle in radians, from 0 to pi, whose cosine each element is; NaN outside [-1, 1].

    Call:
        input (Tensor): floats or complex numbers.

    Raises:
        TypeError: if `input` is no Tensor, or holds integers or bools.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.acos(ms.Tensor([0.0, 1.0])).asnumpy().round(4))
        [1.5708 0.    ]
    """

    def forward(self, input: np.ndarray) -> np.ndarray:
        return of_numpy(np.arccos, floating(input, "input", self.name))

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        return neg(mul(dout, rsqrt(sub(1, square(conjugate(inputs[0]))))))


class Atan(Primitive):
    """The angle in radians, from -pi/2 to pi/2, whose tangent each element is.

    Call:
        input (Tensor): floats or complex numbers.

    Raises:
        TypeError: if `input` is no Tensor, or holds integers or bools.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.atan(ms.Tensor([0.0, 1.0])).asnumpy().round(4))
        [0.     0.7854]
    """

    def forward(self, input: np.ndarray) -> np.ndarray:
        return of_numpy(np.arctan, floating(input, "input", self.name))

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        return true_divide(dout, add(square(conjugate(inputs[0])), 1))


class Sinh(Primitive):
    """The hyperbolic sine of each element.

    Call:
        input (Tensor): floats or complex numbers.

    Raises:
        TypeError: if `input` is no Tensor, or holds integers or bools.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.sinh(ms.Tensor([0.0, 1.0])).asnumpy().round(4))
        [0.     1.1752]
    """

    def forward(self, input: np.ndarray) -> np.ndarray:
        return of_numpy(np.sinh, floating(input, "input", self.name))

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        return mul(dout, cosh(conjugate(inputs[0])))


class Cosh(Primitive):
    """The hyperbolic cosine of each element.

    Call:
        input (Tensor): floats or complex numbers.

    Raises:
        TypeError: if `input` is no Tensor, or holds integers or bools.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.cosh(ms.Tensor([0.0, 1.0])).asnumpy().round(4))
        [1.     1.5431]
    """

    def forward(self, input: np.ndarray) -> np.ndarray:
        return of_numpy(np.cosh, floating(input, "input", self.name))

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        return mul(dout, sinh(conjugate(inputs[0])))


class Asinh(Primitive):
    """The inverse hyperbolic sine of each element.

    Call:
        input (Tensor): floats or complex numbers.

    Raises:
        TypeError: if `input` is no Tensor, or holds integers or bools.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.asinh(ms.Tensor([0.0, 1.0])).asnumpy().round(4))
        [0.     0.8814]
    """

    def forward(self, input: np.ndarray) -> np.ndarray:
        return apply(np.arcsinh, floating(input, "input", self.name))

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        return mul(dout, rsqrt(add(square(conjugate(inputs[0])), 1)))


class Acosh(Primitive):
    """The inverse hyperbolic cosine of each element; NaN below 1.

    Call:
        input (Tensor): floats or complex numbers.

    Raises:
        TypeError: if `input` is no Tensor, or holds integers or bools.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.acosh(ms.Tensor([1.0, 2.0])).asnumpy().round(4))
        [0.    1.317]
    """

    def forward(self, input: np.ndarray) -> np.ndarray:
        return apply(np.arccosh, floating(input, "input", self.name))

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        return mul(dout, mul(rsqrt(sub(conjugate(inputs[0]), 1)), rsqrt(add(conjugate(inputs[0]), 1))))


class Atanh(Primitive):
    """The inverse hyperbolic tangent of each element; NaN outside [-1, 1].

    Call:
        input (Tensor): floats or complex numbers.

    Raises:
        TypeError: if `input` is no Tensor, or holds integers or bools.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.atanh(ms.Tensor([0.0, 0.5])).asnumpy().round(4))
        [0.     0.5493]
    """

    def forward(self, input: np.ndarray) -> np.ndarray:
        return of_numpy(np.arctanh, floating(input, "input", self.name))

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        return true_divide(dout, sub(1, square(conjugate(inputs[0]))))


class Atan2(Binary):
    """The angle in radians, from -pi to pi, of the point (other, input); integers give float32.

    Call:
        input (Tensor or number): the ordinate, the sine's side.
        other (Tensor or number): the abscissa, the cosine's side.

    Raises:
        TypeError: if an operand is neither a Tensor nor a number.
        ValueError: if the shapes do not broadcast.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.atan2(ms.Tensor([0.0, 1.0]), ms.Tensor([1.0, 1.0])).asnumpy().round(4))
        [0.     0.7854]
    """

    @quiet
    def forward(self, input: Any, other: Any) -> np.ndarray:
        x, y = promote(input, other)
        return of_numpy(np.arctan2, as_float(self.name, x), as_float(self.name, y))

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        x, y = inputs
        scaled = true_divide(
            dout, add(square(x) if isinstance(x, Tensor) else x * x, square(y) if isinstance(y, Tensor) else y * y)
        )
        return (
            reduce_to(mul(scaled, y), x) if wanted(x) else None,
            reduce_to(neg(mul(scaled, x)), y) if wanted(y) else None,
        )


class Sinc(Primitive):
    """sin(pi x) / (pi x), and 1 at 0; integers and bools give float32.

    Call:
        input (Tensor): numbers.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.sinc(ms.Tensor([0.0, 0.5])).asnumpy().round(4))
        [1.     0.6366]
    """

    keeps_output = True

    @quiet
    def forward(self, input: np.ndarray) -> np.ndarray:
        x = as_float(self.name, input) * np.pi
        x = x.astype(input.dtype, copy=False) if input.dtype.kind in "fcV" else x.astype(np.float32, copy=False)
        return np.where(x == 0, np.ones((), x.dtype), of_numpy(np.sin, x) / np.where(x == 0, np.ones((), x.dtype), x))

    def gradient(self, inputs: tuple, output: Tensor, dout: Tensor) -> Tensor:
        x = inputs[0]
        return reduce_to(mul(dout, div_no_nan(sub(cos(mul(as_floats(x), np.pi)), output), as_floats(x))), x)


def as_floats(x: Tensor) -> Tensor:
    """A tensor of floats or complex numbers; integers and bools become float32."""
    return mul(x, 1.0)


sin, cos, tan, asin, acos, atan = Sin(), Cos(), Tan(), Asin(), ACos(), Atan()
sinh, cosh, asinh, acosh, atanh = Sinh(), Cosh(), Asinh(), Acosh(), Atanh()
arccos, arctan, arcsinh, arccosh, arctanh = acos, atan, asinh, acosh, atanh
arcsin = Asin()
arcsin.takes = "x"
atan2 = arctan2 = Atan2()
sinc = Sinc()


def rad2deg(x: Tensor) -> Tensor:
    """Convert angles from radians to degrees.

    Args:
        x: a Tensor of floats.

    Returns:
        Tensor of the shape and dtype of `x`.

    Raises:
        TypeError: if `x` is no Tensor of floats.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.rad2deg(ms.Tensor([3.1415927])))
        [180.]
    """
    return mul(_angles("rad2deg", x), 180 / np.pi)


def deg2rad(x: Tensor) -> Tensor:
    """Convert angles from degrees to radians.

    Args:
        x: a Tensor of floats.

    Returns:
        Tensor of the shape and dtype of `x`.

    Raises:
        TypeError: if `x` is no Tensor of floats.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.deg2rad(ms.Tensor([180.0])).asnumpy().round(4))
        [3.1416]
    """
    return mul(_angles("deg2rad", x), np.pi / 180)


def _angles(name: str, x: Tensor) -> Tensor:
    """Check that `x` is a tensor of real floats."""
    floating(x.array() if isinstance(x, Tensor) else x, "x", name, complex_too=False)
    return x
