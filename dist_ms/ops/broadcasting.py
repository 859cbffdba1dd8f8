"""Type promotion and broadcasting of binary operations, and their undoing in gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms._ext.tape import BinaryGate
from dist_ms.common.dtype import bfloat16
from dist_ms.common.tensor import Tensor, to_array, wrap
from dist_ms.ops.primitive import Primitive

_BF16 = bfloat16.np
_F16, _F32, _F64 = np.dtype(np.float16), np.dtype(np.float32), np.dtype(np.float64)
_I64 = np.dtype(np.int64)
_C64, _C128 = np.dtype(np.complex64), np.dtype(np.complex128)
_BOOL, _INT, _FLOAT, _COMPLEX = range(4)
_RANKS = {"b": _BOOL, "i": _INT, "u": _INT, "f": _FLOAT, "V": _FLOAT, "c": _COMPLEX}
_ndarray = np.ndarray


def promote_types(a: np.dtype, b: np.dtype) -> np.dtype:
    """The result type of two tensors, MindSpore's rule: the wider of the higher kind.

    A float and an integer give the float's type whatever the integer's width.
    """
    if a == b:
        return a
    rank_a, rank_b = _RANKS[a.kind], _RANKS[b.kind]
    if rank_a != rank_b:
        if _COMPLEX in (rank_a, rank_b) and _F64 in (a, b):
            return _C128
        return a if rank_a > rank_b else b
    if _BF16 in (a, b):
        other = b if a == _BF16 else a
        return _F32 if other == _F16 else other
    wide = np.promote_types(a, b)
    return _I64 if rank_a == _INT and wide.kind == "f" else wide


def scalar_type(a: np.dtype, scalar: Any) -> np.dtype:
    """The result type of a tensor and a Python number: the tensor's, unless the number's kind is higher."""
    kind = (
        _BOOL
        if isinstance(scalar, bool)
        else _INT
        if isinstance(scalar, int)
        else _COMPLEX
        if isinstance(scalar, complex)
        else _FLOAT
    )
    if _RANKS[a.kind] >= kind:
        return a
    if kind == _COMPLEX:
        return _C128 if a == _F64 else _C64
    return _I64 if kind == _INT else _F32


def promote(x: Any, y: Any) -> tuple:
    """Bring two arrays, or an array and a number, to their common type."""
    if isinstance(x, _ndarray):
        if isinstance(y, _ndarray):
            if x.dtype is y.dtype:
                return x, y
            d = promote_types(x.dtype, y.dtype)
            return x.astype(d, copy=False), y.astype(d, copy=False)
        d = scalar_type(x.dtype, y)
        return x.astype(d, copy=False), number_array(y, d)
    d = scalar_type(y.dtype, x)
    return number_array(x, d), y.astype(d, copy=False)


def number_array(value: Any, d: np.dtype) -> np.ndarray:
    """A Python number as a 0-dimensional array; integers that do not fit wrap around."""
    if d.kind in "iu" and isinstance(value, int):
        bits = 8 * d.itemsize
        if value.bit_length() >= bits or (value < 0 and d.kind == "u"):
            return np.asarray(value % 2**bits, f"u{d.itemsize}").astype(d)
    return np.asarray(value, d)


class Binary(BinaryGate, Primitive):
    """An elementwise operation on two tensors, or a tensor and a number."""

    takes = "input other"

    def operands(self, input: Any, other: Any) -> tuple:
        """Bring operands into form of which one is neither a Tensor nor a plain number, or none is a Tensor."""
        if not isinstance(input, Tensor):
            input = operand(input, "input", self.name)
        if not isinstance(other, Tensor):
            other = operand(other, "other", self.name)
            if not isinstance(input, Tensor) and not isinstance(other, Tensor):
                input = Tensor(input)
        return input, other

    def mismatch(self, input: Any, other: Any, error: ValueError) -> ValueError:
        """The error to raise for a ValueError of `forward`."""
        return mismatch(self.name, input, other, error)


class NamedBinary(Binary):
    """A Binary whose operands have names of their own, in `takes`."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return super().__call__(*(self.arguments(args, kwargs) if kwargs else args))


def operand(value: Any, name: str, owner: str) -> Any:
    """Bring a binary operation's operand that is no Tensor into form: a Python number.

    Raises:
        TypeError: if it is no number.
    """
    if isinstance(value, (bool, int, float, complex)) and not isinstance(value, np.generic):
        return value
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"For '{owner}', '{name}' must be a Tensor or a number, but got {type(value).__name__}.")


def sequence_operand(value: Any, other: Any) -> Any:
    """The Tensor of a list, tuple or array beside a Python operator's tensor; anything else as it is."""
    if isinstance(value, _ndarray):
        return Tensor(value)
    if isinstance(value, (list, tuple)):
        array = to_array(value)
        if isinstance(other, Tensor) and array.size:
            d = other.array().dtype
            array = array.astype(scalar_type(d, array.flat[0].item()), copy=False)
        return wrap(array)
    return value


def mismatch(name: str, input: Any, other: Any, error: ValueError) -> ValueError:
    """The error to raise when two operands do not broadcast (or `error` if that is not the trouble)."""
    try:
        np.broadcast_shapes(getattr(input, "shape", ()), getattr(other, "shape", ()))
    except ValueError:
        return ValueError(
            f"For '{name}', the shapes of 'input' and 'other' must broadcast: each pair of dimensions "
            f"must be equal or hold a 1, but got {input.shape} and {other.shape}."
        )
    return error


def broadcast_axes(shape: tuple, target: tuple) -> tuple:
    """The axes of `shape` to sum over, with kept dims, so that it fits `target` (after leading ones)."""
    lead = len(shape) - len(target)
    return tuple(range(lead)) + tuple(i + lead for i, n in enumerate(target) if n == 1 and shape[i + lead] != 1)


def reduce_to(dx: Tensor, x: Any) -> Tensor | None:
    """Bring the gradient of a broadcast, promoted operand back to the operand's shape and type.

    Returns None when `x` is no tensor.
    """
    if not isinstance(x, Tensor):
        return None
    shape = x.shape
    if dx.shape != shape:
        axes = broadcast_axes(dx.shape, shape)
        if axes:
            dx = _sum(dx, axes)
        if dx.shape != shape:
            dx = ops.reshape(dx, shape)
    d = x._element
    if dx._element != d:
        dx = ops.creating.casting.cast_array(dx, d)
    return dx


def _sum(dx: Tensor, axes: tuple) -> Tensor:
    """The sum over some axes, which stay as dimensions of length 1."""
    return ops.ReduceSum(keep_dims=True)(dx, axes)
