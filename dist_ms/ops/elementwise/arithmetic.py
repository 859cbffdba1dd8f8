"""Add, Sub, Mul, Neg and their kin: elementwise arithmetic with broadcasting."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from dist_ms._ext import small
from dist_ms._ext.tape import wanted
from dist_ms.common.dtype import from_numpy
from dist_ms.common.error_classes import scalars
from dist_ms.common.tensor import Tensor
from dist_ms.ops import pointwise
from dist_ms.ops.arguments import array, number, scalar
from dist_ms.ops.broadcasting import Binary, promote, reduce_to
from dist_ms.ops.kernels import pointwise as kernels
from dist_ms.ops.pointwise import apply, select
from dist_ms.ops.primitive import Primitive, quiet

__all__ = [
    "Abs",
    "AccumulateNV2",
    "Add",
    "AddN",
    "MulNoNan",
    "Mul",
    "Neg",
    "Sign",
    "Square",
    "SquaredDifference",
    "Sub",
    "TensorAdd",
    "abs",
    "absolute",
    "accumulate_n",
    "add",
    "addn",
    "mul",
    "multiply",
    "neg",
    "negative",
    "positive",
    "sgn",
    "sign",
    "square",
    "squared_difference",
    "sub",
    "subtract",
    "tensor_add",
    "tensor_mul",
    "tensor_sub",
]
# bfloat16's bits: of the sign, and all others.
_BF16, _SIGN, _SIZE = np.dtype(ml_dtypes.bfloat16), np.asarray(0x8000, np.uint16), np.asarray(0x7FFF, np.uint16)


def _sum(x: Any, y: Any) -> np.ndarray:
    return apply(np.add, *promote(x, y))


def _difference(x: Any, y: Any) -> np.ndarray:
    x, y = promote(x, y)
    return apply(np.subtract, x, y) if x.dtype.kind != "b" else apply(np.logical_xor, x, y)


def _product(x: Any, y: Any) -> np.ndarray:
    return apply(np.multiply, *promote(x, y))


class Add(Binary):
    """input + other, element by element, with broadcasting; the logical or of two bools.

    Call:
        input (Tensor or number): the first summand.
        other (Tensor or number): the second summand.

    Raises:
        TypeError: if an operand is neither a Tensor nor a number.
        ValueError: if the shapes do not broadcast.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.add(ms.Tensor([1.0, 2.0]), ms.Tensor([3, 4])))
        [4. 6.]
    """

    joins = "sum"
    keeps = ()

    def forward(self, input: Any, other: Any) -> np.ndarray:
        out = small.add(input, other)
        return _sum(input, other) if out is None else out

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        return tuple([reduce_to(dout, x) if wanted(x) else None for x in inputs])


class Sub(Binary):
    """input - other, element by element, with broadcasting; the exclusive or of two bools.

    Call:
        input (Tensor or number): what to subtract from.
        other (Tensor or number): what to subtract.

    Raises:
        TypeError: if an operand is neither a Tensor nor a number.
        ValueError: if the shapes do not broadcast.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.sub(ms.Tensor([1, 2]), 3))
        [-2 -1]
    """

    keeps = ()

    def forward(self, input: Any, other: Any) -> np.ndarray:
        out = small.subtract(input, other)
        return _difference(input, other) if out is None else out

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        other = inputs[1]
        return reduce_to(dout, inputs[0]), reduce_to(neg(dout), other) if wanted(other) else None


class Mul(Binary):
    """input * other, element by element, with broadcasting; the logical and of two bools.

    Call:
        input (Tensor or number): the first factor.
        other (Tensor or number): the second factor.

    Raises:
        TypeError: if an operand is neither a Tensor nor a number.
        ValueError: if the shapes do not broadcast.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.mul(ms.Tensor([1.0, 2.0]), ms.Tensor([3.0, 4.0])))
        [3. 8.]
    """

    def forward(self, input: Any, other: Any) -> np.ndarray:
        out = small.multiply(input, other)
        return _product(input, other) if out is None else out

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        x, y = inputs
        return (
            reduce_to(mul(dout, conjugate(y)), x) if wanted(x) else None,
            reduce_to(mul(dout, conjugate(x)), y) if wanted(y) else None,
        )


class Neg(Primitive):
    """The negative of each element.

    Call:
        input (Tensor): numbers.

    Raises:
        TypeError: if `input` is no Tensor, or a Tensor of bools.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.neg(ms.Tensor([1.0, -2.0])))
        [-1.  2.]
    """

    keeps = ()

    def forward(self, input: np.ndarray) -> np.ndarray:
        if array(input, "input", self.name).dtype.kind == "b":
            raise TypeError("For 'Neg', the dtype of 'input' must be a number type, but got Bool.")
        if input.dtype == _BF16:
            return _bits(np.bitwise_xor, input, _SIGN)
        return apply(np.negative, input)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        return neg(dout)


def _bits(function: np.ufunc, x: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """A bfloat16 array with a mask applied to its bits: ml_dtypes goes by float32, number by number."""
    return apply(function, x.view(np.uint16), mask).view(_BF16)


class Abs(Primitive):
    """The absolute value of each element; complex numbers give their modulus as a complex number.

    Call:
        input (Tensor): numbers or bools.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.abs(ms.Tensor([-1.5, 2.0])))
        [1.5 2. ]
    """

    def forward(self, input: np.ndarray) -> np.ndarray:
        if array(input, "input", self.name).dtype == _BF16:
            return _bits(np.bitwise_and, input, _SIZE)
        return apply(np.absolute, input).astype(input.dtype, copy=False)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        return mul(dout, sgn(inputs[0]))


class Sign(Primitive):
    """-1, 0 or 1 for each element; x / |x| for complex numbers.

    Call:
        input (Tensor): numbers.

    Raises:
        TypeError: if `input` is no Tensor, or a Tensor of bools.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.sign(ms.Tensor([-1.5, 0.0, 2.0])))
        [-1.  0.  1.]
    """

    keeps = ()

    def forward(self, input: np.ndarray) -> np.ndarray:
        kind = array(input, "input", self.name).dtype.kind
        if kind == "b":
            raise TypeError("For 'Sign', the dtype of 'input' must be a number type, but got Bool.")
        if kind == "c":
            size = np.absolute(input)
            out, there = np.zeros_like(input), size != 0
            np.divide(input.real, size, out=out.real, where=there)
            np.divide(input.imag, size, out=out.imag, where=there)
            return out
        return pointwise.sign(input)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        return mul(dout, 0)


class Square(Primitive):
    """The square of each element.

    Call:
        input (Tensor): numbers.

    Raises:
        TypeError: if `input` is no Tensor, or a Tensor of bools.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.square(ms.Tensor([3.0, -4.0])))
        [ 9. 16.]
    """

    def forward(self, input: np.ndarray) -> np.ndarray:
        if array(input, "input", self.name).dtype.kind == "b":
            raise TypeError("For 'Square', the dtype of 'input' must be a number type, but got Bool.")
        return pointwise.square(input)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        return mul(mul(dout, conjugate(inputs[0])), 2)


class SquaredDifference(Binary):
    """(input - other)², element by element, with broadcasting.

    Call:
        input (Tensor or number): one operand.
        other (Tensor or number): the other.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.SquaredDifference()(ms.Tensor([1.0, 5.0]), ms.Tensor([3.0, 4.0])))
        [4. 1.]
    """

    def forward(self, input: Any, other: Any) -> np.ndarray:
        input, other = promote(input, other)
        if input.dtype.kind in "fV":
            return apply(kernels.squared_difference, input, other)
        return apply(np.square, apply(np.subtract, input, other))

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        x, y = inputs
        if dout._element.kind == "c":
            dx = mul(mul(dout, conjugate(sub(x, y))), 2)
        else:
            dx = _squared_difference_grad(x, y, dout)
        return reduce_to(dx, x), reduce_to(neg(dx), y) if wanted(y) else None


class SquaredDifferenceGrad(Primitive):
    """2 (x - y) dout."""

    def forward(self, x: Any, y: Any, dout: np.ndarray) -> np.ndarray:
        x, y = promote(x, y)
        if x.dtype.kind in "fV":
            return apply(kernels.squared_difference_gradient, x, y, dout)
        return apply(np.multiply, apply(np.multiply, apply(np.subtract, x, y), dout), np.asarray(2, dout.dtype))

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        x, y, given = inputs
        dx = mul(mul(given, dout), 2)
        return reduce_to(dx, x), reduce_to(neg(dx), y), reduce_to(self(x, y, dout), given)


class MulNoNan(Binary):
    """input * other, and 0 where `other` is 0, even if `input` is infinite or NaN there.

    Call:
        input (Tensor or number): the first factor.
        other (Tensor or number): the second factor.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.MulNoNan()(ms.Tensor([1.0, float("inf")]), ms.Tensor([2.0, 0.0])))
        [2. 0.]
    """

    def forward(self, input: Any, other: Any) -> np.ndarray:
        input, other = promote(input, other)
        zero = np.zeros((), input.dtype)
        return select(apply(np.equal, other, zero), zero, apply(np.multiply, input, other))

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        x, y = inputs
        return (
            reduce_to(MulNoNan()(dout, y), x) if wanted(x) else None,
            reduce_to(MulNoNan()(x, dout), y) if wanted(y) else None,
        )


class AddN(Primitive):
    """The sum of several tensors of one shape.

    Call:
        x (tuple or list of Tensors): the summands.

    Raises:
        TypeError: if `x` is no tuple or list of Tensors of one dtype.
        ValueError: if it is empty or the shapes differ.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.Tensor([1.0, 2.0])
        >>> print(ms.ops.AddN()((x, x, x)))
        [3. 6.]
    """

    keeps = ()

    def __call__(self, x: Any) -> Tensor:
        if not isinstance(x, (tuple, list)) or not all(isinstance(t, Tensor) for t in x):
            raise TypeError(f"For '{self.name}', 'x' must be a tuple or list of Tensors, but got {type(x).__name__}.")
        if not x or any(t.shape != x[0].shape for t in x):
            raise ValueError(
                f"For '{self.name}', 'x' must hold Tensors of one shape, but got the shapes {[t.shape for t in x]}."
            )
        return super().__call__(*x)

    @quiet
    def forward(self, first: np.ndarray, *rest: np.ndarray) -> np.ndarray:
        if any(x.dtype != first.dtype for x in rest):  # asked here, as autocast has made them one dtype by now
            raise TypeError(
                f"For '{self.name}', 'x' must hold Tensors of one dtype, but got "
                f"{[str(from_numpy(x.dtype)) for x in (first, *rest)]}."
            )
        total = np.add(first, rest[0]) if rest else first
        for x in rest[1:]:
            own = total if isinstance(total, np.ndarray) else None  # the sum of arrays without axes is a scalar
            total = np.add(total, x, out=own)
        return np.asarray(total)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        return tuple([reduce_to(dout, x) for x in inputs])


def conjugate(x: Any) -> Any:
    """The factor that stands for `x` in a gradient: itself, or its conjugate if it is complex."""
    if isinstance(x, Tensor):
        if x.array().dtype.kind != "c":
            return x
        from dist_ms.ops.elementwise.complex_numbers import conj

        return conj(x)
    return x.conjugate() if isinstance(x, complex) else x


add, sub, mul, neg = Add(), Sub(), Mul(), Neg()
abs, sign, square, squared_difference = Abs(), Sign(), Square(), SquaredDifference()
_squared_difference_grad = SquaredDifferenceGrad()
addn = AddN()
absolute, accumulate_n, multiply, negative, sgn = abs, addn, mul, neg, sign
tensor_add, tensor_mul, tensor_sub = add, mul, sub


@scalars("alpha")
def subtract(input: Any, other: Any, *, alpha: Any = 1) -> Tensor:
    """Return input - alpha * other.

    Args:
        input: a Tensor or a number.
        other: a Tensor or a number.
        alpha: a number.

    Returns:
        Tensor of the broadcast shape and the common type.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.subtract(ms.Tensor([5.0, 6.0]), ms.Tensor([1.0, 2.0]), alpha=2))
        [3. 2.]
    """
    alpha = scalar(alpha)
    number(alpha, "alpha", "subtract", True)
    kinds = {x._element.kind for x in (input, other) if isinstance(x, Tensor)}
    if kinds and (kinds != {"b"} if isinstance(alpha, bool) else isinstance(alpha, float) and not kinds & set("fVc")):
        raise TypeError(f"For 'subtract', 'alpha' must be a number of the kind of the operands, but got {alpha!r}.")
    return sub(input, other if alpha == 1 else mul(other, alpha))


def positive(input: Tensor) -> Tensor:
    """Return the tensor itself: the counterpart of `neg`.

    Args:
        input: a Tensor.

    Returns:
        `input`.

    Raises:
        TypeError: if `input` is no Tensor.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.positive(ms.Tensor([-1.0])))
        [-1.]
    """
    if not isinstance(input, Tensor):
        raise TypeError(f"For 'positive', 'input' must be a Tensor, but got {type(input).__name__}.")
    return input


class AccumulateNV2(Primitive):
    """The sum of several tensors: `accumulate_n` as a primitive.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.AccumulateNV2()((ms.Tensor([1.0]), ms.Tensor([2.0]))))
        [3.]
    """

    def __call__(self, x: tuple | list) -> Tensor:
        return accumulate_n(x)


TensorAdd = Add
