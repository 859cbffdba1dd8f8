"""Concat, Stack and their kin: one tensor from several."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms._ext.remember import remembered
from dist_ms._ext.tape import wanted
from dist_ms.common.dtype import from_numpy
from dist_ms.common.error_classes import of_value, plain, raises, scalars
from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import integer, one_axis, tensor
from dist_ms.ops.broadcasting import promote_types, reduce_to
from dist_ms.ops.layout import copy_into
from dist_ms.ops.picking.indexing import GetItem
from dist_ms.ops.primitive import Primitive
from dist_ms.ops.shaping.reshaping import atleast_1d, atleast_2d, atleast_3d, expand_dims, reshape

__all__ = [
    "Concat",
    "Pack",
    "ParallelConcat",
    "Stack",
    "block_diag",
    "cat",
    "column_stack",
    "concat",
    "dstack",
    "hstack",
    "row_stack",
    "stack",
    "vstack",
]

# Bytes from which on a second thread pays.
_LARGE = 131072


class _OfSequence(Primitive):
    keeps = ()

    def __init__(self, axis: int = 0) -> None:
        self.axis = integer(axis, "axis", self.name)

    def __call__(self, tensors: Any) -> Tensor:
        return super().__call__(*sequence(tensors, "tensors", self.name))


@scalars("axis")
class Concat(_OfSequence):
    """`concat` as a primitive: `Concat(axis)(tensors)`."""

    def forward(self, *tensors: np.ndarray) -> np.ndarray:
        first = tensors[0]
        axis = one_axis(self.axis, "axis", self.name, first.ndim)
        try:
            return _joined(_same_type(tensors), axis)
        except ValueError:
            raise ValueError(
                f"For '{self.name}', 'tensors' must have equal shapes but for dimension {axis}, "
                f"but got {[t.shape for t in tensors]}."
            ) from None

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        axis = one_axis(self.axis, "axis", self.name, len(inputs[0].shape))
        grads, start = [], 0
        for x in inputs:
            stop = start + x.shape[axis]
            if wanted(x):
                piece = GetItem((slice(None),) * axis + (slice(start, stop),))(dout)
                grads.append(reduce_to(piece, x))
            else:
                grads.append(None)
            start = stop
        return tuple(grads)


@plain("axis")
@raises(**{"elements of tensors": ValueError})
class Stack(_OfSequence):
    """`stack` as a primitive: `Stack(axis)(tensors)`."""

    def forward(self, *tensors: np.ndarray) -> np.ndarray:
        if any(t.shape != tensors[0].shape for t in tensors):
            raise ValueError(f"For '{self.name}', 'tensors' must have one shape, but got {[t.shape for t in tensors]}.")
        if any(t.dtype != tensors[0].dtype for t in tensors):
            found = [str(from_numpy(t.dtype)) for t in tensors]
            raise TypeError(f"For '{self.name}', 'tensors' must have one dtype, but got {found}; cast them first.")
        axis = one_axis(self.axis, "axis", self.name, tensors[0].ndim + 1)
        return _stacked(list(tensors), axis)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        axis = one_axis(self.axis, "axis", self.name, len(inputs[0].shape) + 1)
        return tuple(
            [
                reduce_to(GetItem((slice(None),) * axis + (i,))(dout), x) if wanted(x) else None
                for i, x in enumerate(inputs)
            ]
        )


class Pack(Stack):
    """Tensors of one shape along a new dimension: `Stack` under its old name.

    Args:
        axis: where the new dimension goes.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.Pack()((ms.Tensor([1, 2]), ms.Tensor([3, 4]))).shape
        (2, 2)
    """


class ParallelConcat(Concat):
    """Tensors one after the other along the first dimension, which must be 1 in each.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.ParallelConcat()((ms.Tensor([[1, 2]]), ms.Tensor([[3, 4]]))).shape
        (2, 2)
    """

    def __init__(self) -> None:
        super().__init__(0)


def sequence(tensors: Any, name: str, owner: str) -> Any:
    """Check that an argument is a tuple or list of Tensors, at least one.

    Raises:
        TypeError: if it is not.
        ValueError: if it is empty.
    """
    if not isinstance(tensors, (tuple, list)):
        raise TypeError(
            f"For '{owner}', '{name}' must be a tuple or list of Tensors, but got {type(tensors).__name__}."
        )
    if not tensors:
        raise of_value(name, owner)(f"For '{owner}', '{name}' must hold at least one Tensor, but got none.")
    for t in tensors:
        if not isinstance(t, Tensor):
            tensor(t, f"elements of {name}", owner)
    return tensors


def _same_type(arrays: tuple) -> list:
    """Arrays in their common type."""
    d = arrays[0].dtype
    for a in arrays[1:]:
        d = promote_types(d, a.dtype)
    return [a.astype(d, copy=False) for a in arrays]


def _joined(arrays: list, axis: int) -> np.ndarray:
    """The arrays one after the other; large ones by a kernel with all threads."""
    first = arrays[0]
    if sum([a.nbytes for a in arrays]) < _LARGE:
        return np.concatenate(arrays, axis)
    lengths = [a.shape[:axis] + a.shape[axis + 1 :] for a in arrays]
    if any(found != lengths[0] for found in lengths):
        raise ValueError("the shapes differ")
    out = np.empty((*first.shape[:axis], sum([a.shape[axis] for a in arrays]), *first.shape[axis + 1 :]), first.dtype)
    start = 0
    for a in arrays:
        stop = start + a.shape[axis]
        copy_into(a, out[(slice(None),) * axis + (slice(start, stop),)])
        start = stop
    return out


def _stacked(arrays: list, axis: int) -> np.ndarray:
    """The arrays side by side in a new dimension; large ones by a kernel with all threads."""
    first = arrays[0]
    if first.nbytes * len(arrays) < _LARGE:
        return np.stack(arrays, axis)
    out = np.empty((*first.shape[:axis], len(arrays), *first.shape[axis:]), first.dtype)
    for i, a in enumerate(arrays):
        copy_into(a, out[(slice(None),) * axis + (i,)])
    return out


def concat(tensors: Any, axis: int = 0) -> Tensor:
    """Put tensors one after the other along a dimension they have.

    Args:
        tensors: a tuple or list of Tensors of equal shape but for that dimension.
        axis: the dimension.

    Returns:
        Tensor of the common type.

    Raises:
        TypeError: if `tensors` is no tuple or list of Tensors.
        ValueError: if it is empty, the shapes do not fit, or `axis` is out of range.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.cat((ms.Tensor([1, 2]), ms.Tensor([3]))))
        [1 2 3]
    """
    return _concat(axis)(tensors)


@remembered
def _concat(axis: Any) -> Concat:
    return Concat(axis)


cat = concat


def stack(tensors: Any, axis: int = 0) -> Tensor:
    """Put tensors of one shape along a new dimension.

    Args:
        tensors: a tuple or list of Tensors of equal shape.
        axis: where the new dimension goes.

    Returns:
        Tensor of the common type, with one dimension more.

    Raises:
        TypeError: if `tensors` is no tuple or list of Tensors.
        ValueError: if it is empty, the shapes differ, or `axis` is out of range.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.stack((ms.Tensor([1, 2]), ms.Tensor([3, 4]))))
        [[1 2]
         [3 4]]
    """
    return Stack(axis)(tensors)


def hstack(tensors: Any) -> Tensor:
    """Put tensors side by side: along the second dimension, vectors along the first.

    Args:
        tensors: a tuple or list of Tensors.

    Returns:
        Tensor.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.hstack((ms.Tensor([1, 2]), ms.Tensor([3]))))
        [1 2 3]
    """
    tensors = atleast_1d(sequence(tensors, "tensors", "hstack"))
    return concat(tensors, 0 if tensors[0].ndim == 1 else 1)


@raises(inputs=TypeError)
def vstack(inputs: Any) -> Tensor:
    """Put tensors one under the other: along the first dimension, vectors as rows.

    Args:
        inputs: a tuple or list of Tensors.

    Returns:
        Tensor with at least two dimensions.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.vstack((ms.Tensor([1, 2]), ms.Tensor([3, 4]))))
        [[1 2]
         [3 4]]
    """
    return concat(atleast_2d(sequence(inputs, "inputs", "vstack")), 0)


def row_stack(tensors: Any) -> Tensor:
    """Put tensors one under the other: `vstack` under its other name.

    Args:
        tensors: a tuple or list of Tensors.

    Returns:
        Tensor with at least two dimensions.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.row_stack((ms.Tensor([1, 2]), ms.Tensor([3, 4]))).shape
        (2, 2)
    """
    return vstack(tensors)


@raises(tensors=TypeError)
def dstack(tensors: Any) -> Tensor:
    """Put tensors one behind the other: along the third dimension.

    Args:
        tensors: a tuple or list of Tensors.

    Returns:
        Tensor with at least three dimensions.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.dstack((ms.Tensor([1, 2]), ms.Tensor([3, 4]))).shape
        (1, 2, 2)
    """
    return concat(atleast_3d(sequence(tensors, "tensors", "dstack")), 2)


def column_stack(tensors: Any) -> Tensor:
    """Put tensors side by side, vectors as columns.

    Args:
        tensors: a tuple or list of Tensors.

    Returns:
        Tensor with at least two dimensions.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.column_stack((ms.Tensor([1, 2]), ms.Tensor([3, 4]))))
        [[1 3]
         [2 4]]
    """
    columns = [
        expand_dims(t, 1) if t.ndim == 1 else reshape(t, (1, 1)) if t.ndim == 0 else t
        for t in sequence(tensors, "tensors", "column_stack")
    ]
    return concat(columns, 1)


def block_diag(*inputs: Tensor) -> Tensor:
    """Put matrices along the diagonal of one matrix, with zeros elsewhere.

    Args:
        inputs: Tensors with at most two dimensions; vectors count as rows.

    Returns:
        Tensor with two dimensions.

    Raises:
        ValueError: if an input has more than two dimensions.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.block_diag(ms.Tensor([[1]]), ms.Tensor([[2, 3]])))
        [[1 0 0]
         [0 2 3]]
    """
    blocks = atleast_2d(sequence(inputs, "inputs", "block_diag"))
    if any(b.ndim > 2 for b in blocks):
        raise ValueError(
            f"For 'block_diag', 'inputs' must have at most 2 dimensions, but got {[b.ndim for b in blocks]}."
        )
    width, rows, left = sum(b.shape[1] for b in blocks), [], 0
    for b in blocks:
        right = width - left - b.shape[1]
        rows.append(concat([ops.zeros((b.shape[0], left), b.dtype), b, ops.zeros((b.shape[0], right), b.dtype)], 1))
        left += b.shape[1]
    return concat(rows, 0)
