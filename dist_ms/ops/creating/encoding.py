"""OneHot and sequence_mask: indices and lengths spread into a new dimension."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.checks import check_positive_int
from dist_ms.common.error_classes import plain, scalars
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops.arguments import integer, integral, not_of, one_axis, one_dtype, tensor
from dist_ms.ops.layout import copied
from dist_ms.ops.picking.along import put_along
from dist_ms.ops.primitive import Undifferentiable, as_tensor

__all__ = ["OneHot", "one_hot", "sequence_mask"]


@scalars("axis")
class OneHot(Undifferentiable):
    """`one_hot` as a primitive: `OneHot(axis)(indices, depth, on_value, off_value)`."""

    def __init__(self, axis: int = -1) -> None:
        self.axis = integer(axis, "axis", self.name)

    def __call__(self, indices: Tensor, depth: Any, on_value: Any, off_value: Any) -> Tensor:
        on, off = as_tensor(on_value), as_tensor(off_value)
        one_dtype(self.name, on_value=on, off_value=off)
        return super().__call__(tensor(indices, "indices", self.name), integer(depth, "depth", self.name), on, off)

    def forward(self, indices: np.ndarray, depth: int, on_value: np.ndarray, off_value: np.ndarray) -> np.ndarray:
        integral(indices, "indices", self.name)
        if depth < 0:
            raise ValueError(f"For '{self.name}', 'depth' must not be negative, but got {depth}.")
        axis = one_axis(self.axis, "axis", self.name, indices.ndim + 1)
        off_value = off_value.astype(on_value.dtype)
        if axis == indices.ndim and on_value.size == 1 == off_value.size and indices.size and depth:
            return _rows(indices, depth, on_value.reshape(()), off_value.reshape(()))
        places = np.expand_dims(indices, axis)
        out = copied(np.broadcast_to(off_value, (*indices.shape[:axis], depth, *indices.shape[axis:])))
        if depth:
            known = (places >= 0) & (places < depth)
            put_along(out, np.where(known, places, 0), np.where(known, on_value, off_value), axis)
        return out


def _rows(indices: np.ndarray, depth: int, on_value: np.ndarray, off_value: np.ndarray) -> np.ndarray:
    """One row per index, with `on_value` in its column if there is one."""
    out = np.empty(indices.size * depth, on_value.dtype)
    out.fill(off_value)
    columns = indices.reshape(-1).astype(np.int64, copy=False)
    starts = np.arange(0, out.size, depth)
    if columns.min() < 0 or columns.max() >= depth:
        known = (columns >= 0) & (columns < depth)
        columns, starts = columns[known], starts[known]
    out[starts + columns] = on_value
    return out.reshape(*indices.shape, depth)


def one_hot(indices: Tensor, depth: int, on_value: Any = 1, off_value: Any = 0, axis: int = -1) -> Tensor:
    """Put `on_value` at each index and `off_value` elsewhere in a new dimension.

    Args:
        indices: a Tensor of integers; those outside [0, depth) give `off_value` everywhere.
        depth: length of the new dimension.
        on_value: a number or a Tensor of one element; its type is the result's.
        off_value: likewise.
        axis: where the new dimension goes; -1 for the end.

    Returns:
        Tensor with one dimension more than `indices`.

    Raises:
        TypeError: if `indices` holds no integers, or `depth` or `axis` is no int.
        ValueError: if `axis` is out of range or `depth` negative.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.one_hot(ms.Tensor([0, 2]), 3))
        [[1 0 0]
         [0 0 1]]
    """
    not_of(indices, "BHIL", "indices", "one_hot")
    return OneHot(axis)(indices, depth, on_value, off_value)


@plain("maxlen")
def sequence_mask(lengths: Tensor, maxlen: int | None = None) -> Tensor:
    """Mark the first so many places of each row.

    Args:
        lengths: a Tensor of integers.
        maxlen: length of the rows, the largest of `lengths` by default.

    Returns:
        Tensor of bools of shape (*lengths.shape, maxlen).

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.sequence_mask(ms.Tensor([1, 3])))
        [[ True False False]
         [ True  True  True]]
    """
    not_of(lengths, "BHIL", "lengths", "sequence_mask")
    counts = integral(tensor(lengths, "lengths", "sequence_mask").array(), "lengths", "sequence_mask")
    maxlen = (
        int(counts.max())
        if maxlen is None
        else check_positive_int(integer(maxlen, "maxlen", "sequence_mask"), "maxlen", "sequence_mask")
    )
    return wrap(np.arange(maxlen) < counts[..., None])
