"""Equal, Less, IsNan and their kin: elementwise questions. The answers are bools, without gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.checks import check_float
from dist_ms.common.dtype import from_numpy
from dist_ms.common.error_classes import bools
from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import array, boolean, not_of, number, tensor
from dist_ms.ops.broadcasting import Binary, promote
from dist_ms.ops.pointwise import apply
from dist_ms.ops.primitive import Undifferentiable, quiet

__all__ = [
    "ApproximateEqual",
    "Equal",
    "EqualCount",
    "Greater",
    "GreaterEqual",
    "IsClose",
    "IsFinite",
    "IsInf",
    "IsNan",
    "Less",
    "LessEqual",
    "NotEqual",
    "allclose",
    "approximate_equal",
    "eq",
    "equal",
    "ge",
    "greater",
    "greater_equal",
    "gt",
    "isclose",
    "isfinite",
    "isinf",
    "isnan",
    "isneginf",
    "isposinf",
    "isreal",
    "le",
    "less",
    "less_equal",
    "lt",
    "ne",
    "not_equal",
    "signbit",
    "tensor_ge",
    "tensor_gt",
    "tensor_le",
    "tensor_lt",
]


class _Comparison(Binary):
    """A question about two operands."""

    differentiable = False
    compares_numbers = False  # whether both may be numbers, as in MindSpore
    tensor_first = False  # whether only the second may be one

    def __call__(self, input: Any, other: Any) -> Tensor:
        if self.tensor_first and not isinstance(input, Tensor):
            raise TypeError(f"For '{self.name}', 'input' must be a Tensor, but got {type(input).__name__}.")
        if not self.compares_numbers and not isinstance(input, Tensor) and not isinstance(other, Tensor):
            raise TypeError(
                f"For '{self.name}', 'input' or 'other' must be a Tensor, "
                f"but got {type(input).__name__} and {type(other).__name__}."
            )
        return super().__call__(input, other)


class _Order(_Comparison):
    """A question about the order of two operands."""

    compare: np.ufunc

    def forward(self, input: Any, other: Any) -> np.ndarray:
        x, y = promote(input, other)
        if x.dtype.kind == "c":
            raise TypeError(f"For '{self.name}', the operands must be real, but got {from_numpy(x.dtype)}.")
        return apply(self.compare, x, y)


class Equal(_Comparison):
    """Whether input == other, element by element, with broadcasting.

    Call:
        input (Tensor): one operand.
        other (Tensor or number): the other.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.equal(ms.Tensor([1, 2]), 2))
        [False  True]
    """

    tensor_first = True

    def forward(self, input: Any, other: Any) -> np.ndarray:
        return apply(np.equal, *promote(input, other))


class NotEqual(_Comparison):
    """Whether input != other, element by element, with broadcasting.

    Call:
        input (Tensor or number): one operand.
        other (Tensor or number): the other; one of the two must be a Tensor.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.not_equal(ms.Tensor([1, 2]), 2))
        [ True False]
    """

    compares_numbers = True

    def forward(self, input: Any, other: Any) -> np.ndarray:
        return apply(np.not_equal, *promote(input, other))


class Less(_Order):
    """Whether input < other, element by element, with broadcasting.

    Call:
        input (Tensor): one operand.
        other (Tensor or number): the other.

    Raises:
        TypeError: if an operand is complex.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.less(ms.Tensor([1, 2]), 2))
        [ True False]
    """

    tensor_first = True
    compare = staticmethod(np.less)


class LessEqual(_Order):
    """Whether input <= other, element by element, with broadcasting.

    Call:
        input (Tensor or number): one operand.
        other (Tensor or number): the other; one of the two must be a Tensor.

    Raises:
        TypeError: if an operand is complex.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.less_equal(ms.Tensor([1, 2]), 1))
        [ True False]
    """

    compares_numbers = True

    compare = staticmethod(np.less_equal)


class Greater(_Order):
    """Whether input > other, element by element, with broadcasting.

    Call:
        input (Tensor or number): one operand.
        other (Tensor or number): the other; one of the two must be a Tensor.

    Raises:
        TypeError: if an operand is complex.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.greater(ms.Tensor([1, 2]), 1))
        [False  True]
    """

    compares_numbers = True

    compare = staticmethod(np.greater)


class GreaterEqual(_Order):
    """Whether input >= other, element by element, with broadcasting.

    Call:
        input (Tensor or number): one operand.
        other (Tensor or number): the other; one of the two must be a Tensor.

    Raises:
        TypeError: if an operand is complex.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.greater_equal(ms.Tensor([1, 2]), 2))
        [False  True]
    """

    compares_numbers = True

    compare = staticmethod(np.greater_equal)


class IsNan(Undifferentiable):
    """Whether each element is NaN.

    Call:
        input (Tensor): numbers.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.isnan(ms.Tensor([1.0, float("nan")])))
        [False  True]
    """

    def forward(self, input: np.ndarray) -> np.ndarray:
        return apply(np.isnan, array(input, "input", self.name))


class IsInf(Undifferentiable):
    """Whether each element is infinite, of either sign.

    Call:
        input (Tensor): numbers.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.isinf(ms.Tensor([1.0, float("-inf")])))
        [False  True]
    """

    def forward(self, input: np.ndarray) -> np.ndarray:
        return apply(np.isinf, array(input, "input", self.name))


class IsFinite(Undifferentiable):
    """Whether each element is neither infinite nor NaN.

    Call:
        input (Tensor): numbers.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.isfinite(ms.Tensor([1.0, float("inf"), float("nan")])))
        [ True False False]
    """

    def forward(self, input: np.ndarray) -> np.ndarray:
        return apply(np.isfinite, array(input, "input", self.name))


class IsPosInf(Undifferentiable):
    """Whether each element is positive infinity.

    Call:
        input (Tensor): real numbers.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.isposinf(ms.Tensor([float("inf"), float("-inf")])))
        [ True False]
    """

    def forward(self, input: np.ndarray) -> np.ndarray:
        return apply(np.isinf, array(input, "input", self.name)) & (input > 0)


class IsNegInf(Undifferentiable):
    """Whether each element is negative infinity.

    Call:
        input (Tensor): real numbers.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.isneginf(ms.Tensor([float("inf"), float("-inf")])))
        [False  True]
    """

    def forward(self, input: np.ndarray) -> np.ndarray:
        return apply(np.isinf, array(input, "input", self.name)) & (input < 0)


class IsReal(Undifferentiable):
    """Whether each element has no imaginary part.

    Call:
        input (Tensor): numbers.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.isreal(ms.Tensor([1 + 0j, 1j])))
        [ True False]
    """

    def forward(self, input: np.ndarray) -> np.ndarray:
        return input.imag == 0 if array(input, "input", self.name).dtype.kind == "c" else np.ones(input.shape, bool)


class SignBit(Undifferentiable):
    """Whether each element is below zero.

    Call:
        input (Tensor): real numbers.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.signbit(ms.Tensor([-1.0, 2.0])))
        [ True False]
    """

    def forward(self, input: np.ndarray) -> np.ndarray:
        not_of(input, "FD", "input", self.name)
        return array(input, "input", self.name) < 0


@bools("rtol", "atol")
class IsClose(_Comparison):
    """`isclose` as a primitive: `IsClose(rtol, atol, equal_nan)(input, other)`."""

    def __init__(self, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> None:
        self.rtol, self.atol = number(rtol, "rtol", self.name), number(atol, "atol", self.name)
        self.equal_nan = boolean(equal_nan, "equal_nan", self.name)

    @quiet
    def forward(self, input: Any, other: Any) -> np.ndarray:
        if array(input, "input", self.name).dtype != array(other, "other", self.name).dtype:
            raise TypeError(
                f"For '{self.name}', 'input' and 'other' must have one dtype, "
                f"but got {from_numpy(input.dtype)} and {from_numpy(other.dtype)}."
            )
        return np.isclose(input, other, self.rtol, self.atol, self.equal_nan)


class ApproximateEqual(_Comparison):
    """`approximate_equal` as a primitive: `ApproximateEqual(tolerance)(x, y)`."""

    def __init__(self, tolerance: float = 1e-05) -> None:
        self.tolerance = check_float(tolerance, "tolerance", self.name)

    @quiet
    def forward(self, x: Any, y: Any) -> np.ndarray:
        if np.shape(x) != np.shape(y):
            raise RuntimeError(
                f"For '{self.name}', 'y' must have the shape {np.shape(x)} of 'x', but got {np.shape(y)}."
            )
        return np.abs(np.subtract(*promote(x, y))) < self.tolerance


class EqualCount(_Comparison):
    """The number of equal elements, as a one-element tensor of the operands' dtype.

    Call:
        x (Tensor): one operand.
        y (Tensor): the other, of the same shape.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.EqualCount()(ms.Tensor([1, 2, 3]), ms.Tensor([1, 2, 4])))
        [2]
    """

    def forward(self, x: Any, y: Any) -> np.ndarray:
        x, y = promote(x, y)
        return np.array([np.count_nonzero(x == y)], x.dtype)


equal, not_equal, less, less_equal = Equal(), NotEqual(), Less(), LessEqual()
greater, greater_equal = Greater(), GreaterEqual()
eq, ne, lt, le, gt, ge = equal, not_equal, less, less_equal, greater, greater_equal
tensor_lt, tensor_le, tensor_gt, tensor_ge = lt, le, gt, ge
isnan, isinf, isfinite = IsNan(), IsInf(), IsFinite()
isposinf, isneginf, isreal, signbit = IsPosInf(), IsNegInf(), IsReal(), SignBit()


def isclose(input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Tensor:
    """Tell whether |input - other| <= atol + rtol * |other|, element by element.

    Args:
        input: a Tensor.
        other: a Tensor of the same dtype.
        rtol: tolerance relative to `other`.
        atol: absolute tolerance.
        equal_nan: whether two NaNs are close.

    Returns:
        Tensor of bools of the broadcast shape.

    Raises:
        TypeError: if the operands are no Tensors or have different dtypes.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.isclose(ms.Tensor([1.0, 2.0]), ms.Tensor([1.0, 2.1])))
        [ True False]
    """
    return IsClose(rtol, atol, equal_nan)(input, other)


def allclose(input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    """Tell, as a bool, whether all elements are close, as `isclose` says of each, with the same arguments.

    Examples:
        >>> import dist_ms as ms
        >>> ms.Tensor([1.0, 2.0]).allclose(ms.Tensor([1.0, 2.1]))
        False
    """
    return bool(isclose(tensor(input, "input", "allclose"), other, rtol, atol, equal_nan).array().all())


def approximate_equal(x: Tensor, y: Tensor, tolerance: float = 1e-05) -> Tensor:
    """Tell whether |x - y| < tolerance, element by element.

    Args:
        x: a Tensor.
        y: a Tensor.
        tolerance: the largest difference.

    Returns:
        Tensor of bools of the broadcast shape.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.approximate_equal(ms.Tensor([1.0, 2.0]), ms.Tensor([1.2, 3.0]), 0.5))
        [ True False]
    """
    not_of(x, "FD", "x", "approximate_equal")
    not_of(y, "FD", "y", "approximate_equal")
    return ApproximateEqual(tolerance)(x, y)
