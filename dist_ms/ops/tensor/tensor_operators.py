"""Attach Python's operators to Tensor (the ops floor reaches down; Tensor imports nothing above it)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.tensor import Tensor
from dist_ms.ops.broadcasting import sequence_operand

_OPERANDS = (Tensor, bool, int, float, complex, np.generic)
_SEQUENCES = (np.ndarray, list, tuple)


def _binary(operation: Callable) -> tuple[Callable, Callable]:
    """A binary operator's method, and the one for the tensor on the right."""

    def method(self: Tensor, other: Any) -> Any:
        if isinstance(other, _SEQUENCES):
            other = sequence_operand(other, self)
        return operation(self, other) if isinstance(other, _OPERANDS) else NotImplemented

    def reflected(self: Tensor, other: Any) -> Any:
        if isinstance(other, _SEQUENCES):
            other = sequence_operand(other, self)
        return operation(other, self) if isinstance(other, _OPERANDS) else NotImplemented

    return method, reflected


def _equal(self: Tensor, other: Any) -> Any:
    if isinstance(other, (list, tuple)):
        return False
    if isinstance(other, np.ndarray):
        other = Tensor(other)
    return ops.equal(self, other) if isinstance(other, _OPERANDS) else NotImplemented


def _not_equal(self: Tensor, other: Any) -> Any:
    if isinstance(other, (list, tuple)):
        return True
    if isinstance(other, np.ndarray):
        other = Tensor(other)
    return ops.not_equal(self, other) if isinstance(other, _OPERANDS) else NotImplemented


def _matmul(self: Tensor, other: Any) -> Any:
    return ops.matmul(self, other) if isinstance(other, Tensor) else NotImplemented


def _rmatmul(self: Tensor, other: Any) -> Any:
    return ops.matmul(Tensor(other), self) if isinstance(other, np.ndarray) else NotImplemented


def _one_value(self: Tensor, wanted: str) -> Any:
    """The only element as a Python number."""
    array = self.array()
    if array.size != 1:
        raise ValueError(
            f"Only a tensor with one element can become a {wanted}, but got the shape {array.shape}; "
            "use any(), all() or item access first."
        )
    return array.reshape(()).item()


def _index(self: Tensor) -> int:
    value = _one_value(self, "index")
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"Only an integer tensor can be an index, but got dtype {self.dtype}.")
    return value


def _len(self: Tensor) -> int:
    if not self.shape:
        raise TypeError("The length of a 0-dimensional tensor is not defined.")
    return self.shape[0]


def _iter(self: Tensor) -> Iterator[Tensor]:
    if not self.shape:
        raise TypeError("A 0-dimensional tensor cannot be iterated over.")
    return (self[i] for i in range(self.shape[0]))


def _contains(self: Tensor, value: Any) -> bool:
    return bool(np.any(self.array() == (value.array() if isinstance(value, Tensor) else value)))


Tensor.__add__, Tensor.__radd__ = _binary(ops.add)
Tensor.__sub__, Tensor.__rsub__ = _binary(ops.sub)
Tensor.__mul__, Tensor.__rmul__ = _binary(ops.mul)
Tensor.__truediv__, Tensor.__rtruediv__ = _binary(ops.true_divide)
Tensor.__floordiv__, Tensor.__rfloordiv__ = _binary(ops.floor_divide)
Tensor.__mod__, Tensor.__rmod__ = _binary(ops.floor_mod)
Tensor.__pow__, Tensor.__rpow__ = _binary(ops.pow)
Tensor.__and__, Tensor.__rand__ = _binary(ops.bitwise_and)
Tensor.__or__, Tensor.__ror__ = _binary(ops.bitwise_or)
Tensor.__xor__, Tensor.__rxor__ = _binary(ops.bitwise_xor)
Tensor.__lshift__, Tensor.__rlshift__ = _binary(ops.bitwise_left_shift)
Tensor.__rshift__, Tensor.__rrshift__ = _binary(ops.bitwise_right_shift)
Tensor.__lt__, Tensor.__le__ = _binary(ops.less)[0], _binary(ops.less_equal)[0]
Tensor.__gt__, Tensor.__ge__ = _binary(ops.greater)[0], _binary(ops.greater_equal)[0]
Tensor.__eq__, Tensor.__ne__ = _equal, _not_equal
Tensor.__matmul__, Tensor.__rmatmul__ = _matmul, _rmatmul

Tensor.__neg__ = lambda self: ops.neg(self)
Tensor.__pos__ = lambda self: self
Tensor.__abs__ = lambda self: ops.abs(self)
Tensor.__invert__ = lambda self: ops.logical_not(self)
Tensor.__round__ = lambda self: ops.round(self)

Tensor.__bool__ = lambda self: bool(_one_value(self, "bool"))
Tensor.__int__ = lambda self: int(_one_value(self, "int"))
Tensor.__float__ = lambda self: float(_one_value(self, "float"))
Tensor.__complex__ = lambda self: complex(_one_value(self, "complex number"))
Tensor.__index__ = _index
Tensor.__len__ = _len
Tensor.__iter__ = _iter
Tensor.__contains__ = _contains
