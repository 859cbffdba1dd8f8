"""LogicalAnd, BitwiseAnd, LeftShift and their kin: elementwise logic on bools and on bits."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.dtype import from_numpy
from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import array, integral
from dist_ms.ops.broadcasting import Binary, promote
from dist_ms.ops.kernels import pointwise
from dist_ms.ops.pointwise import apply
from dist_ms.ops.primitive import Undifferentiable

__all__ = [
    "BitwiseAnd",
    "BitwiseOr",
    "BitwiseXor",
    "Invert",
    "LeftShift",
    "LogicalAnd",
    "LogicalNot",
    "LogicalOr",
    "LogicalXor",
    "PopulationCount",
    "RightShift",
    "bitwise_and",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "invert",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "population_count",
]


class _Logic(Binary):
    """Logic on truth values: anything but 0 is true."""

    combine: np.ufunc
    differentiable = False

    def forward(self, input: Any, other: Any) -> np.ndarray:
        for argument, value in (("input", input), ("other", other)):
            if not isinstance(value, bool):
                array(value, argument, self.name)
        return apply(self.combine, input, other)


class LogicalAnd(_Logic):
    """Whether both elements are true (not 0), with broadcasting.

    Call:
        input (Tensor or bool): one operand.
        other (Tensor or bool): the other.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.logical_and(ms.Tensor([True, True]), ms.Tensor([True, False])))
        [ True False]
    """

    combine = staticmethod(np.logical_and)


class LogicalOr(_Logic):
    """Whether one element or both are true (not 0), with broadcasting.

    Call:
        input (Tensor or bool): one operand.
        other (Tensor or bool): the other.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.logical_or(ms.Tensor([True, False]), ms.Tensor([False, False])))
        [ True False]
    """

    combine = staticmethod(np.logical_or)


class LogicalXor(_Logic):
    """Whether just one of the elements is true (not 0), with broadcasting.

    Call:
        input (Tensor or bool): one operand.
        other (Tensor or bool): the other.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.logical_xor(ms.Tensor([True, False]), ms.Tensor([True, True])))
        [False  True]
    """

    combine = staticmethod(np.logical_xor)


class LogicalNot(Undifferentiable):
    """Whether each element is false (0).

    Call:
        input (Tensor): bools or numbers.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.logical_not(ms.Tensor([True, False])))
        [False  True]
    """

    def forward(self, input: np.ndarray) -> np.ndarray:
        return apply(
            pointwise.logical_not if array(input, "input", self.name).dtype.kind == "b" else np.logical_not, input
        )


class _Bits(Binary):
    """An operation on the bits of integers, or on bools."""

    combine: np.ufunc
    differentiable = False
    kinds = "biu"

    def forward(self, input: Any, other: Any) -> np.ndarray:
        x, y = promote(input, other)
        if x.dtype.kind not in self.kinds:
            raise TypeError(
                f"For '{self.name}', the operands must be "
                f"integers{' or bools' if 'b' in self.kinds else ''}, "
                f"but their common dtype is {from_numpy(x.dtype)}."
            )
        return apply(self.combine, x, y)


class BitwiseAnd(_Bits):
    """The bits that are set in both integers; the logical and of bools.

    Call:
        input (Tensor or int): one operand.
        other (Tensor or int): the other.

    Raises:
        TypeError: if an operand holds floats.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.bitwise_and(ms.Tensor([6]), ms.Tensor([3])))
        [2]
    """

    combine = staticmethod(np.bitwise_and)


class BitwiseOr(_Bits):
    """The bits that are set in one integer or both; the logical or of bools.

    Call:
        input (Tensor or int): one operand.
        other (Tensor or int): the other.

    Raises:
        TypeError: if an operand holds floats.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.bitwise_or(ms.Tensor([6]), ms.Tensor([3])))
        [7]
    """

    combine = staticmethod(np.bitwise_or)


class BitwiseXor(_Bits):
    """The bits that are set in just one of the integers; the exclusive or of bools.

    Call:
        input (Tensor or int): one operand.
        other (Tensor or int): the other.

    Raises:
        TypeError: if an operand holds floats.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.bitwise_xor(ms.Tensor([6]), ms.Tensor([3])))
        [5]
    """

    combine = staticmethod(np.bitwise_xor)


class _Shift(_Bits):
    """Integers with their bits moved."""

    kinds = "iu"

    def __call__(self, input: Any, other: Any) -> Tensor:
        types = {x._element for x in (input, other) if isinstance(x, Tensor)}
        if len(types) != 1 or np.dtype(bool) in types:
            found = [str(getattr(x, "dtype", type(x).__name__)) for x in (input, other)]
            raise TypeError(
                f"For '{self.name}', 'input' and 'other' must be Tensors of one integer dtype, or one of them an int, "
                f"but got {found}."
            )
        return super().__call__(input, other)


class LeftShift(_Shift):
    """Integers with their bits moved left: input * 2**other.

    Call:
        input (Tensor or int): the integers.
        other (Tensor or int): how far to move them; a Tensor of the same dtype.

    Raises:
        TypeError: if an operand is no integer, the dtypes differ, or there is no Tensor.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.bitwise_left_shift(ms.Tensor([1, 3]), 2))
        [ 4 12]
    """

    combine = staticmethod(np.left_shift)


class RightShift(_Shift):
    """Integers with their bits moved right: input / 2**other, rounded down.

    Call:
        input (Tensor or int): the integers.
        other (Tensor or int): how far to move them; a Tensor of the same dtype.

    Raises:
        TypeError: if an operand is no integer, the dtypes differ, or there is no Tensor.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.bitwise_right_shift(ms.Tensor([8, -8]), 2))
        [ 2 -2]
    """

    combine = staticmethod(np.right_shift)


class Invert(Undifferentiable):
    """Integers with every bit flipped; the logical not of bools.

    Call:
        x (Tensor): integers or bools.

    Raises:
        TypeError: if `x` holds anything else.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.invert(ms.Tensor([2, -3])))
        [-3  2]
    """

    def forward(self, x: np.ndarray) -> np.ndarray:
        return apply(np.invert, integral(x, "x", self.name, bool_too=True))


class PopulationCount(Undifferentiable):
    """The number of bits that are set in each integer, as uint8.

    Call:
        input_x (Tensor): integers.

    Raises:
        TypeError: if `input_x` holds anything else.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.population_count(ms.Tensor([0, 7, 8], ms.int16)))
        [0 3 1]
    """

    def forward(self, input_x: np.ndarray) -> np.ndarray:
        x = integral(input_x, "input_x", self.name)
        unsigned = np.ascontiguousarray(x).view(f"u{x.dtype.itemsize}")
        bits = np.unpackbits(unsigned.view(np.uint8).reshape(*x.shape, x.dtype.itemsize), axis=-1)
        return bits.sum(axis=-1, dtype=np.uint8)


logical_and, logical_or, logical_xor, logical_not = LogicalAnd(), LogicalOr(), LogicalXor(), LogicalNot()
bitwise_and, bitwise_or, bitwise_xor = BitwiseAnd(), BitwiseOr(), BitwiseXor()
bitwise_left_shift, bitwise_right_shift = LeftShift(), RightShift()
invert = bitwise_not = Invert()
population_count = PopulationCount()
