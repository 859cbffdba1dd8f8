"""Erf, Lgamma and other special functions, which NumPy lacks.

Most are SciPy's, whose float32 values are right to the last bit or so; erf has a kernel of its own, right to 1.5 units
in the last place.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.error_classes import plain
from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import array, floating, integer, integral, not_of, one_dtype, tensor
from dist_ms.ops.broadcasting import Binary, NamedBinary, promote, reduce_to
from dist_ms.ops.elementwise.arithmetic import add, mul, neg, square, sub
from dist_ms.ops.elementwise.exponentials import exp
from dist_ms.ops.kernels import pointwise, special
from dist_ms.ops.pointwise import apply
from dist_ms.ops.primitive import Primitive, quiet
from dist_ms.ops.special_functions.gamma_functions import digamma_array, lgamma_array, polygamma_array

__all__ = [
    "Digamma",
    "Erf",
    "Erfc",
    "Erfinv",
    "Gcd",
    "Heaviside",
    "Lcm",
    "Lgamma",
    "NextAfter",
    "Polygamma",
    "copysign",
    "digamma",
    "erf",
    "erfc",
    "erfinv",
    "gcd",
    "heaviside",
    "i0",
    "lcm",
    "lgamma",
    "mvlgamma",
    "nextafter",
    "polygamma",
]


class Erf(Primitive):
    """The Gauss error function 2/sqrt(pi) * integral of exp(-t²) from 0 to x.

    Call:
        input (Tensor): floats.

    Raises:
        TypeError: if `input` is no Tensor of floats.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.erf(ms.Tensor([0.0, 1.0])).asnumpy().round(4))
        [0.     0.8427]
    """

    def forward(self, input: np.ndarray) -> np.ndarray:
        return apply(pointwise.erf, floating(input, "input", self.name, complex_too=False))

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        return mul(dout, mul(exp(neg(square(inputs[0]))), 2 / math.sqrt(math.pi)))


class Erfc(Primitive):
    """1 - erf(x), precise where erf(x) is close to 1.

    Call:
        input (Tensor): floats.

    Raises:
        TypeError: if `input` is no Tensor of floats.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.erfc(ms.Tensor([0.0, 1.0])).asnumpy().round(4))
        [1.     0.1573]
    """

    def forward(self, input: np.ndarray) -> np.ndarray:
        return apply(pointwise.erfc, floating(input, "input", self.name, complex_too=False))

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        return mul(dout, mul(exp(neg(square(inputs[0]))), -2 / math.sqrt(math.pi)))


class Erfinv(Primitive):
    """The number whose `erf` each element is; NaN outside [-1, 1].

    Call:
        input (Tensor): floats.

    Raises:
        TypeError: if `input` is no Tensor of floats.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.erfinv(ms.Tensor([0.0, 0.5])).asnumpy().round(4))
        [0.     0.4769]
    """

    keeps = ()
    keeps_output = True

    def forward(self, input: np.ndarray) -> np.ndarray:
        input = floating(input, "input", self.name, complex_too=False)
        if input.dtype.itemsize <= 4:
            return apply(pointwise.erfinv, input)
        out = apply(special.erfinv, input)
        return np.copysign(out, input, out=out)  # that of -0 too

    def gradient(self, inputs: tuple, output: Tensor, dout: Tensor) -> Tensor:
        return mul(dout, mul(exp(square(output)), math.sqrt(math.pi) / 2))


class Lgamma(Primitive):
    """The log of the absolute value of the gamma function.

    Call:
        input (Tensor): floats, or int32, which gives float32.

    Raises:
        TypeError: if `input` is no Tensor of floats or int32.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.lgamma(ms.Tensor([1.0, 5.0])).asnumpy().round(4))
        [0.     3.1781]
    """

    @quiet
    def forward(self, input: np.ndarray) -> np.ndarray:
        if array(input, "input", self.name).dtype == np.int32:
            input = input.astype(np.float32)
        return lgamma_array(floating(input, "input", self.name, complex_too=False))

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        return mul(dout, _LgammaDerivative()(inputs[0]))


class _LgammaDerivative(Primitive):
    """The derivative of `lgamma`, of nothing too."""

    name = "Digamma"

    @quiet
    def forward(self, input: np.ndarray) -> np.ndarray:
        return digamma_array(floating(input, "input", self.name, complex_too=False))

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        return mul(dout, _PolygammaOf(1)(inputs[0]))


_LgammaDerivative.name = "Digamma"


class Digamma(_LgammaDerivative):
    """The derivative of `lgamma`; NaN at 0, -1, -2 ...

    Call:
        input (Tensor): floats.

    Raises:
        TypeError: if `input` is no Tensor of floats.
        ValueError: if it is empty.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.digamma(ms.Tensor([1.0])).asnumpy().round(4))
        [-0.5772]
    """

    @quiet
    def forward(self, input: np.ndarray) -> np.ndarray:
        if not floating(input, "input", self.name, complex_too=False).size:
            raise ValueError(f"For '{self.name}', 'input' must not be empty, but got the shape {input.shape}.")
        return digamma_array(input)


class _PolygammaOf(Primitive):
    """The n-th derivative of `digamma`, n at least 1."""

    name = "Polygamma"

    def __init__(self, n: int) -> None:
        self.n = n

    @quiet
    def forward(self, input: np.ndarray) -> np.ndarray:
        return polygamma_array(
            self.n, floating(input, "input", self.name, complex_too=False).astype(np.float64)
        ).astype(input.dtype)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        return mul(dout, _PolygammaOf(self.n + 1)(inputs[0]))


_PolygammaOf.name = "Polygamma"


def polygamma(n: Any, input: Tensor) -> Tensor:
    """Return the n-th derivative of `digamma`.

    Args:
        n: a Tensor of one integer, not negative.
        input: a Tensor of floats.

    Returns:
        Tensor of the shape and dtype of `input`.

    Raises:
        TypeError: if `n` is no Tensor of an integer, or `input` holds no floats.
        ValueError: if `n` is negative.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.polygamma(ms.Tensor(1), ms.Tensor([1.0])).asnumpy().round(4))
        [1.6449]
    """
    if tensor(n, "n", "polygamma").ndim:
        raise ValueError(f"For 'polygamma', 'n' must have no dimensions, but got shape {n.shape}.")
    not_of(n, "BHIL", "n", "polygamma")
    n = integer(n, "n", "polygamma")
    if n < 0:
        raise ValueError(f"For 'polygamma', 'n' must not be negative, but got {n}.")
    return _PolygammaOf(n)(input) if n else digamma(input)


class Polygamma(Primitive):
    """`polygamma` as a primitive: `Polygamma()(a, x)`."""

    def __call__(self, a: Any, x: Tensor) -> Tensor:
        return polygamma(a, x)


class I0(Primitive):
    """The modified Bessel function of the first kind, order 0.

    Call:
        input (Tensor): floats.

    Raises:
        TypeError: if `input` is no Tensor of floats.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.i0(ms.Tensor([0.0, 1.0])).asnumpy().round(4))
        [1.     1.2661]
    """

    differentiable = False

    @quiet
    def forward(self, input: np.ndarray) -> np.ndarray:
        return apply(special.i0, floating(input, "input", self.name, complex_too=False))


class Heaviside(NamedBinary):
    """0 below 0, `values` at 0, 1 above 0; without a gradient.

    Call:
        input (Tensor): real numbers.
        values (Tensor): of the same dtype.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.heaviside(ms.Tensor([-1.0, 0.0, 1.0]), ms.Tensor(0.5)))
        [0.  0.5 1. ]
    """

    differentiable = False
    takes = "input values"

    def forward(self, input: Any, values: Any) -> np.ndarray:
        one_dtype(self.name, "iufV", input=input, values=values)
        x, v = input, values
        return np.where(x == 0, v, (x > 0).astype(x.dtype))


class NextAfter(Binary):
    """The next number a float can be after `input` on the way to `other`; without a gradient.

    Call:
        input (Tensor): float32 or float64.
        other (Tensor): of the same dtype.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.nextafter(ms.Tensor([1.0]), ms.Tensor([2.0])) - 1)
        [1.1920929e-07]
    """

    differentiable = False

    def forward(self, input: Any, other: Any) -> np.ndarray:
        one_dtype(self.name, "f", input=input, other=other)
        return np.nextafter(input, other)


class Gcd(Binary):
    """The greatest common divisor.

    Call:
        input (Tensor): integers.
        other (Tensor): integers.

    Raises:
        TypeError: if an operand holds anything else.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.gcd(ms.Tensor([4]), ms.Tensor([6])))
        [2]
    """

    differentiable = False
    combine = staticmethod(np.gcd)
    takes_numbers = False

    def forward(self, input: Any, other: Any) -> np.ndarray:
        if not self.takes_numbers:
            array(input, "input", self.name), array(other, "other", self.name)
        x, y = promote(input, other)
        return self.combine(integral(x, "input", self.name), y)


class Lcm(Gcd):
    """`Gcd` for the least common multiple.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.lcm(ms.Tensor([4]), ms.Tensor([6])))
        [12]
    """

    takes_numbers = True
    combine = staticmethod(np.lcm)


class _CopySign(NamedBinary):
    """The absolute value of the first operand with the sign of the second."""

    takes = "x other"

    def operands(self, input: Any, other: Any) -> tuple:
        return super().operands(tensor(input, "input", self.name), other)

    @quiet
    def forward(self, x: Any, other: Any) -> np.ndarray:
        not_of(other, "FD", "other", self.name)
        not_of(x, "?", "x", self.name)
        first = array(x, "input", self.name).dtype
        x, y = promote(x, other)
        # The type is the first operand's, or float32 for one that has no sign of zero.
        kind = first
        if kind.kind in "biu":
            kind = np.dtype(np.float32)
        return np.copysign(x.astype(kind, copy=False), y.astype(kind, copy=False))

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        x, y = inputs
        if not isinstance(x, Tensor):
            return None, None
        return reduce_to(mul(dout, mul(ops.sign(x), copysign(ops.ones_like(x), y))), x), None


_CopySign.name = "copysign"


erf, erfc, erfinv, lgamma, digamma, i0 = Erf(), Erfc(), Erfinv(), Lgamma(), Digamma(), I0()
heaviside, nextafter, gcd, lcm, copysign = Heaviside(), NextAfter(), Gcd(), Lcm(), _CopySign()


@plain("p")
def mvlgamma(input: Tensor, p: int) -> Tensor:
    """Return the log of the multivariate gamma function of dimension `p`.

    p (p - 1) / 4 * log(pi) + sum over i = 1 ... p of lgamma(input + (1 - i) / 2)

    Args:
        input: a Tensor of floats larger than (p - 1) / 2.
        p: the dimension, at least 1.

    Returns:
        Tensor of the shape and dtype of `input`.

    Raises:
        TypeError: if `p` is no int.
        ValueError: if `p` is below 1 or an element too small.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.mvlgamma(ms.Tensor([3.0]), 2).asnumpy().round(4))
        [1.5502]
    """
    not_of(input, "?bBhHiIlLqQe", "input", "mvlgamma")
    if integer(p, "p", "mvlgamma") < 1 or (tensor(input, "input", "mvlgamma").array() <= (p - 1) / 2).any():
        raise ValueError(f"For 'mvlgamma', 'p' must be positive and 'input' larger than (p - 1) / 2, but got {p}.")
    total = lgamma(input)
    for i in range(2, p + 1):
        total = add(total, lgamma(sub(input, (i - 1) / 2)))
    return add(total, p * (p - 1) / 4 * math.log(math.pi))
