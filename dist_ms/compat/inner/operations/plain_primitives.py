"""Primitives of numbers and sequences: `_scalar_ops`, `_sequence_ops`, and what `_inner_ops` has of them.

In MindSpore a compiler needs an operation for each; here they are Python's own, called as primitives.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common import dtype as mstype
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor
from dist_ms.common.type_classes import Kind, TensorType, Type
from dist_ms.compat.inner import plain_values as plain
from dist_ms.ops.primitive import Primitive


def _primitive(name: str, function: Callable, what: str) -> type:
    """A primitive that calls a function."""

    def __call__(self: Any, *args: Any) -> Any:
        return function(*args)

    return type(name, (Primitive,), {"__call__": __call__, "__doc__": f"{what}, as a primitive."})


def list_append(elements: list, value: Any) -> list:
    """A list with one more element."""
    return [*elements, value]


def list_insert(elements: list, index: int, value: Any) -> list:
    """A list with an element inserted."""
    return [*elements[:index], value, *elements[index:]]


def sequence_index(elements: Sequence, value: Any, start: int = 0, stop: int | None = None) -> int:
    """The first place of a value, counted from `start`."""
    part = elements[start : len(elements) if stop is None else stop]
    return part.index(value)


def sequence_slice(elements: Sequence, start: int, stop: int, step: int) -> Sequence:
    """A part of a sequence."""
    return elements[start:stop:step]


def sequence_slice_setitem(elements: Sequence, values: Sequence, start: int, stop: int, step: int) -> Sequence:
    """A sequence with a part replaced."""
    changed = list(elements)
    changed[start:stop:step] = values
    return type(elements)(changed)  # type: ignore[call-arg]


def sequence_zeros_like(elements: Sequence) -> Sequence:
    """A sequence of zeros of the elements' types and shapes."""
    zeros = (ops.zeros_like(v) if isinstance(v, Tensor) else type(v)(0) for v in elements)
    return type(elements)(zeros)  # type: ignore[call-arg]


def sequence_to_tensor(elements: Sequence, dtype: Any = None) -> Tensor:
    """A tensor of numbers, of the first one's type if none is given."""
    return Tensor(elements, dtype or (mstype.int64 if isinstance(elements[0], int) else mstype.float32))


def tensor_to_tuple(x: Tensor) -> tuple:
    """A tensor's elements along its first axis, as numbers in tuples."""
    return tuple(x.asnumpy().tolist())


_SCALARS = {
    "Add": operator.add,
    "Sub": operator.sub,
    "Mul": operator.mul,
    "Div": operator.truediv,
    "FloorDiv": operator.floordiv,
    "Mod": operator.mod,
    "Pow": operator.pow,
    "Log": math.log,
    "Eq": operator.eq,
    "Lt": operator.lt,
    "Le": operator.le,
    "Gt": operator.gt,
    "Ge": operator.ge,
    "Max": max,
    "Min": min,
    "Bool": bool,
    "Uadd": operator.pos,
    "Usub": operator.neg,
}
_SEQUENCES: dict[str, Callable] = {
    "InSequence": lambda value, elements: value in elements,
    "ListAppend": list_append,
    "ListInsert": list_insert,
    "ListToTensor": sequence_to_tensor,
    "TupleToTensor": sequence_to_tensor,
    "SequenceAdd": operator.add,
    "SequenceAddN": ops.addn,
    "SequenceCount": lambda elements, value: elements.count(value),
    "SequenceIndex": sequence_index,
    "SequenceMax": max,
    "SequenceMin": min,
    "SequenceMul": operator.mul,
    "SequenceSlice": sequence_slice,
    "SequenceSliceSetItem": sequence_slice_setitem,
    "SequenceZerosLike": sequence_zeros_like,
    "TensorToList": lambda x: list(tensor_to_tuple(x)),
    "TensorToScalar": lambda x: x.item(),
    "TensorToTuple": tensor_to_tuple,
}
globals().update({f"Scalar{n}": _primitive(f"Scalar{n}", f, f"Python's {f.__name__}") for n, f in _SCALARS.items()})
globals().update({n: _primitive(n, f, "A function of sequences") for n, f in _SEQUENCES.items()})

sequence_len = len
tuple_lt, tuple_le, tuple_greater_than, tuple_greater_equal = operator.lt, operator.le, operator.gt, operator.ge
list_lt, list_le, list_greater_than, list_greater_equal = operator.lt, operator.le, operator.gt, operator.ge
bit_and, bit_or, bit_xor = operator.and_, operator.or_, operator.xor
bit_left_shift, bit_right_shift = operator.lshift, operator.rshift
string_lt, string_le, string_gt, string_ge = operator.lt, operator.le, operator.gt, operator.ge
string_mul, string_getitem, string_not = operator.mul, operator.getitem, operator.not_


def string_in(part: str, text: str) -> bool:
    """Whether a text is part of another."""
    return part in text


class SequenceStack(Primitive):
    """The tensors of a sequence in one, along a new axis.

    Args:
        axis: the new axis.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.compat.inner.operations.plain_primitives import SequenceStack
        >>> print(SequenceStack(0)((ms.Tensor([1]), ms.Tensor([2]))))
        [[1]
         [2]]
    """

    def __init__(self, axis: int = 0) -> None:
        self.axis = axis

    def __call__(self, elements: Sequence) -> Tensor:
        return ops.stack(tuple(elements), self.axis)


class SequenceUnstack(Primitive):
    """The parts of a tensor along an axis.

    Args:
        axis: the axis.
    """

    def __init__(self, axis: int = 0) -> None:
        self.axis = axis

    def __call__(self, x: Tensor) -> tuple:
        return ops.unbind(x, self.axis)


def issubclass_(type_: Type, family: Type) -> bool:
    """Whether a data type is of a family, such as `number`.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.compat.inner.operations.plain_primitives import issubclass_
        >>> issubclass_(ms.int32, ms.number)
        True
    """
    if isinstance(family, TensorType):
        return isinstance(type_, TensorType) and family.element_type() in (None, type_.element_type())
    return type_ is family or (isinstance(family, Kind) and isinstance(type_, family.family))


def same_type_shape_(x: Tensor, y: Tensor) -> Tensor:
    """The first of two tensors, which must have one type and shape.

    Raises:
        TypeError: if their types differ.
        ValueError: if their shapes differ.
    """
    if x.dtype != y.dtype:
        raise TypeError(f"For 'SameTypeShape', 'y' must be of the type {x.dtype} of 'x', but got {y.dtype}.")
    if x.shape != y.shape:
        raise ValueError(f"For 'SameTypeShape', 'y' must be of the shape {x.shape} of 'x', but got {y.shape}.")
    return x


def _is_instance(value: Any, type_: Type) -> bool:
    own = TensorType(value.dtype) if isinstance(value, Tensor) else mstype.get_py_obj_dtype(value)
    return issubclass_(own, type_)


SameTypeShape = _primitive("SameTypeShape", same_type_shape_, "The first of two tensors of one type and shape")
IsSubClass = _primitive("IsSubClass", issubclass_, "Whether a data type is of a family")
IsInstance = _primitive("IsInstance", _is_instance, "Whether a value's type is of a family")
IsConstant = _primitive("IsConstant", plain.isconstant, "Whether a value is known, which it is")
IsParameter = _primitive("IsParameter", lambda x: isinstance(x, Parameter), "Whether a value is a Parameter")
MixedPrecisionCast = _primitive("MixedPrecisionCast", plain.mixed_precision_cast, "Tensors in another float type")
DynamicBroadcastTo = _primitive("DynamicBroadcastTo", ops.broadcast_to, "A tensor in a broadcast shape")
SliceGetItem = _primitive("SliceGetItem", getattr, "One of a slice's numbers")
SequenceMask = _primitive("SequenceMask", ops.sequence_mask, "Where places are below lengths")
TileSize = _primitive("TileSize", lambda shape, out, rank: (1,) * rank, "The repetitions of a shape that keep it")


class ConvertToDynamic(Primitive):
    """Its input: shapes are always those of the arrays here.

    Args:
        is_dynamic_rank: how a compiler is to see it.
    """

    def __init__(self, is_dynamic_rank: bool = False) -> None:
        self.is_dynamic_rank = is_dynamic_rank

    def __call__(self, x: Tensor) -> Tensor:
        return x


class ClipByNorm(Primitive):
    """A tensor scaled down to a norm, over all axes or some.

    Args:
        axis: the axes of the norm; None for all.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.compat.inner.operations.plain_primitives import ClipByNorm
        >>> print(ClipByNorm()(ms.Tensor([3.0, 4.0]), ms.Tensor(1.0)))
        [0.6 0.8]
    """

    def __init__(self, axis: Any = None) -> None:
        self.axis = axis

    def __call__(self, x: Tensor, clip_norm: Tensor) -> Tensor:
        norm = ops.sqrt((x * x).sum(axis=self.axis, keepdims=True))
        return x * clip_norm / ops.maximum(norm, clip_norm)


class Centralization(Primitive):
    """A tensor less its mean over axes."""

    def __call__(self, x: Tensor, axes: Any) -> Tensor:
        return x - x.mean(axes, keep_dims=True)


class DynamicStitch(Primitive):
    """Rows of several tensors at the places that belong to each; a place named twice gets the last.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.compat.inner.operations.plain_primitives import DynamicStitch
        >>> places, rows = (ms.Tensor([0, 2]), ms.Tensor([1])), (ms.Tensor([1.0, 2.0]), ms.Tensor([3.0]))
        >>> print(DynamicStitch()(places, rows))
        [1. 3. 2.]
    """

    def __call__(self, indices: Sequence[Tensor], data: Sequence[Tensor]) -> Tensor:
        places = np.concatenate([i.asnumpy().reshape(-1) for i in indices])
        rows = [ops.reshape(d, (-1, *d.shape[i.ndim :])) for i, d in zip(indices, data)]
        last = {int(place): k for k, place in enumerate(places)}
        order = [last[place] for place in range(int(places.max()) + 1)]
        return ops.gather(ops.concat(rows), Tensor(order), 0)


class MatrixDiag(Primitive):
    """Diagonals as matrices of the shape of `assist`, whose diagonals are 1."""

    def __call__(self, x: Tensor, assist: Tensor) -> Tensor:
        return ops.expand_dims(x, -1 if assist.shape[-1] > assist.shape[-2] else -2) * assist


class MatrixDiagPart(Primitive):
    """The diagonals of matrices; `assist` has ones there."""

    def __call__(self, x: Tensor, assist: Tensor) -> Tensor:
        return (x * assist).sum(axis=-2 if x.shape[-2] > x.shape[-1] else -1)


class MatrixSetDiag(Primitive):
    """Matrices with their diagonals replaced; `assist` has ones there."""

    def __call__(self, x: Tensor, diagonal: Tensor, assist: Tensor) -> Tensor:
        return x * (1 - assist) + MatrixDiag()(diagonal, assist)


class DynamicResizeNearestNeighbor(Primitive):
    """An image in another size, each pixel that of the nearest.

    Args:
        align_corners: as in `ResizeNearestNeighbor`.
    """

    def __init__(self, align_corners: bool = False) -> None:
        self.align_corners = align_corners

    def __call__(self, x: Tensor, size: Any) -> Tensor:
        lengths = tuple(size.asnumpy().tolist()) if isinstance(size, Tensor) else tuple(size)
        return ops.ResizeNearestNeighbor(lengths, self.align_corners)(x)
