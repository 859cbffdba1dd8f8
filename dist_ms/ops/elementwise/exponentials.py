"""Exp, Log and their kin: elementwise exponentials and logarithms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms._ext.tape import wanted
from dist_ms.common.checks import check_float
from dist_ms.common.error_classes import reads, scalars
from dist_ms.common.tensor import Tensor
from dist_ms.ops import pointwise
from dist_ms.ops.arguments import floating
from dist_ms.ops.broadcasting import Binary, promote, reduce_to
from dist_ms.ops.elementwise.arithmetic import add, conjugate, mul, neg, sub
from dist_ms.ops.elementwise.division import true_divide
from dist_ms.ops.elementwise.powers import as_float
from dist_ms.ops.pointwise import apply, of_numpy, select
from dist_ms.ops.primitive import Primitive, quiet

__all__ = [
    "Exp",
    "Expm1",
    "Log",
    "Log1p",
    "Logit",
    "Xlogy",
    "exp",
    "exp2",
    "expm1",
    "log",
    "log10",
    "log1p",
    "log2",
    "logaddexp",
    "logaddexp2",
    "logit",
    "tensor_exp",
    "tensor_expm1",
    "xlogy",
]


class Exp(Primitive):
    """e to the power of each element.

    Call:
        input (Tensor): floats or complex numbers.

    Raises:
        TypeError: if `input` is no Tensor, or holds integers or bools.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.exp(ms.Tensor([0.0, 1.0])).asnumpy().round(4))
        [1.     2.7183]
    """

    keeps = ()
    keeps_output = True

    def forward(self, input: np.ndarray) -> np.ndarray:
        return pointwise.exp(floating(input, "input", self.name))

    def gradient(self, inputs: tuple, output: Tensor, dout: Tensor) -> Tensor:
        return mul(dout, conjugate(output))


@reads("shape")
class Exp2(Primitive):
    """2 to the power of each element; integers and bools give float32.

    Call:
        input (Tensor): numbers.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.exp2(ms.Tensor([0.0, 3.0])))
        [1. 8.]
    """

    keeps = ()
    keeps_output = True

    def forward(self, input: np.ndarray) -> np.ndarray:
        return of_numpy(np.exp2, as_float(self.name, input))

    def gradient(self, inputs: tuple, output: Tensor, dout: Tensor) -> Tensor:
        return reduce_to(mul(mul(dout, conjugate(output)), math.log(2)), inputs[0])


class Expm1(Primitive):
    """e to the power of each element, minus 1, precise near 0.

    Call:
        input (Tensor): floats or complex numbers.

    Raises:
        TypeError: if `input` is no Tensor, or holds integers or bools.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.expm1(ms.Tensor([0.0, 1.0])).asnumpy().round(4))
        [0.     1.7183]
    """

    keeps = ()
    keeps_output = True

    def forward(self, input: np.ndarray) -> np.ndarray:
        return of_numpy(np.expm1, floating(input, "input", self.name))

    def gradient(self, inputs: tuple, output: Tensor, dout: Tensor) -> Tensor:
        return mul(dout, add(conjugate(output), 1))


class Log(Primitive):
    """The natural logarithm of each element; NaN comes of negative numbers, -inf of 0.

    Call:
        input (Tensor): floats or complex numbers.

    Raises:
        TypeError: if `input` is no Tensor, or holds integers or bools.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.log(ms.Tensor([1.0, 2.0])).asnumpy().round(4))
        [0.     0.6931]
    """

    def forward(self, input: np.ndarray) -> np.ndarray:
        return pointwise.log(floating(input, "input", self.name))

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        return true_divide(dout, conjugate(inputs[0]))


class Log1p(Primitive):
    """The natural logarithm of 1 plus each element, precise near 0.

    Call:
        input (Tensor): floats or complex numbers.

    Raises:
        TypeError: if `input` is no Tensor, or holds integers or bools.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.log1p(ms.Tensor([0.0, 1.0])).asnumpy().round(4))
        [0.     0.6931]
    """

    def forward(self, input: np.ndarray) -> np.ndarray:
        return of_numpy(np.log1p, floating(input, "input", self.name))

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        return true_divide(dout, add(conjugate(inputs[0]), 1))


class _LogBase(Primitive):
    """A logarithm to another base."""

    scale: float

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        return true_divide(dout, mul(conjugate(inputs[0]), self.scale))


class Log2(_LogBase):
    """The logarithm to base 2 of each element.

    Call:
        input (Tensor): floats or complex numbers.

    Raises:
        TypeError: if `input` is no Tensor, or holds integers or bools.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.log2(ms.Tensor([1.0, 8.0])))
        [0. 3.]
    """

    scale = math.log(2)

    def forward(self, input: np.ndarray) -> np.ndarray:
        return of_numpy(np.log2, floating(input, "input", self.name))


class Log10(_LogBase):
    """The logarithm to base 10 of each element.

    Call:
        input (Tensor): floats or complex numbers.

    Raises:
        TypeError: if `input` is no Tensor, or holds integers or bools.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.log10(ms.Tensor([1.0, 100.0])).asnumpy().round(4))
        [0. 2.]
    """

    scale = math.log(10)

    def forward(self, input: np.ndarray) -> np.ndarray:
        return of_numpy(np.log10, floating(input, "input", self.name))


class Xlogy(Binary):
    """x * log(y), and 0 where x is 0, unless y is NaN there.

    Call:
        input (Tensor or number): the factor x.
        other (Tensor or number): the argument y of the logarithm.

    Raises:
        TypeError: if the common type is an integer type or bool.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.xlogy(ms.Tensor([0.0, 2.0]), ms.Tensor([0.0, 1.0])))
        [0. 0.]
    """

    @quiet
    def forward(self, input: Any, other: Any) -> np.ndarray:
        x, y = promote(input, other)
        floating(x, "input", self.name)
        zero = np.zeros((), x.dtype)
        none = apply(np.logical_and, apply(np.equal, x, zero), apply(np.equal, y, y))
        return select(none, zero, apply(np.multiply, x, pointwise.log(y)))

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        x, y = inputs
        dx = mul(dout, ops.xlogy(ops.cast(ops.not_equal(x, 0), dout.dtype), y))
        return (reduce_to(dx, x), reduce_to(mul(dout, ops.xdivy(x, y)), y) if wanted(y) else None)


class Logit(Primitive):
    """`logit` as a primitive: `Logit(eps)(input)`."""

    def __init__(self, eps: float = -1.0) -> None:
        self.eps = eps

    @quiet
    def forward(self, input: np.ndarray) -> np.ndarray:
        x = floating(input, "input", self.name, complex_too=False)
        if self.eps >= 0:
            x = np.clip(x, x.dtype.type(self.eps), x.dtype.type(1 - self.eps))
        return pointwise.log(apply(np.divide, x, apply(np.subtract, np.ones((), x.dtype), x)))

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        x = inputs[0]
        dx = true_divide(dout, mul(x, sub(1, x)))
        if self.eps >= 0:
            inside = ops.logical_and(ops.greater_equal(x, self.eps), ops.less_equal(x, 1 - self.eps))
            dx = ops.where(inside, dx, ops.zeros_like(dx))
        return dx


class LogAddExp(Binary):
    """log(exp(input) + exp(other)) without overflow.

    Args:
        base: the base of the exponentials and the logarithm, e by default.

    Call:
        input (Tensor): floats.
        other (Tensor): floats.

    Raises:
        TypeError: if the common type is no float type.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.logaddexp(ms.Tensor([0.0]), ms.Tensor([0.0])).asnumpy().round(4))
        [0.6931]
    """

    def __init__(self, base: float = math.e) -> None:
        self.base = base

    @quiet
    def forward(self, input: Any, other: Any) -> np.ndarray:
        for argument, value in (("input", input), ("other", other)):
            floating(value, argument, self.name, complex_too=False)
        x, y = promote(input, other)
        return apply(np.logaddexp, x, y) if self.base == math.e else apply(np.logaddexp2, x, y)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        x, y = inputs
        gap = sub(x, y)
        share = true_divide(1, add(exp(neg(gap) if self.base == math.e else mul(gap, -math.log(self.base))), 1))
        return reduce_to(mul(dout, share), x), reduce_to(mul(dout, sub(1, share)), y)


exp, exp2, expm1 = Exp(), Exp2(), Expm1()
log, log1p, log2, log10 = Log(), Log1p(), Log2(), Log10()
xlogy, logaddexp, logaddexp2 = Xlogy(), LogAddExp(), LogAddExp(2.0)
tensor_exp, tensor_expm1 = exp, expm1


@scalars("eps")
def logit(input: Tensor, eps: float | None = None) -> Tensor:
    """Return log(x / (1 - x)) of each element.

    Args:
        input: a Tensor of floats.
        eps: inputs are first limited to [eps, 1 - eps]; None for no limit, so that inputs
            outside [0, 1] give NaN.

    Returns:
        Tensor of the shape and dtype of `input`.

    Raises:
        TypeError: if `input` is no Tensor of floats.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.logit(ms.Tensor([0.5, 1.0]), eps=0.5))
        [0. 0.]
    """
    return Logit(-1.0 if eps is None else check_float(eps, "eps", "logit"))(input)
