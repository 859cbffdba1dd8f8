"""Sparse gradients over the ranks: rows gathered and added, or the dense sum where that is smaller."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dist_ms._ext import embedding
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.common.tensor.sparse_tensor import RowTensor
from dist_ms.communication import Comm

INDEX_BYTES = 8
# A table's dense gradient is summed while backward goes on; rows are gathered and sorted after it.
_MARGIN = 2


@dataclass
class Rows:
    """Rows of a gradient, each index once, ascending.

    Attributes:
        indices: int64 (N,).
        values: (N, columns), float32 for narrower types.
        shape: the dense gradient's shape.
        dtype: the type it came in.
        whole: it stands for a dense gradient.
    """

    indices: np.ndarray
    values: np.ndarray
    shape: tuple[int, ...]
    dtype: np.dtype
    whole: bool = False

    def dense(self) -> np.ndarray:
        """Return the dense gradient, (rows, columns)."""
        out = np.zeros((self.shape[0], self.values.shape[1]), self.values.dtype)
        out[self.indices] = self.values
        return out

    def tensor(self, scale: float) -> RowTensor:
        """Return it times a factor as a RowTensor of its own type."""
        values = self.values if scale == 1 else self.values * self.values.dtype.type(scale)
        values = values.reshape(-1, *self.shape[1:]).astype(self.dtype, copy=False)
        out = RowTensor(wrap(self.indices), wrap(values), tuple(self.shape))
        out.whole = self.whole
        return out


def rows_of(grad: Tensor | RowTensor | None, shape: tuple[int, ...], dtype: np.dtype, factor: float = 1.0) -> Rows:
    """Return a gradient by rows.

    Args:
        grad: rows in any order, some perhaps several times; a dense gradient: all its rows; None: none.
        shape: the weight's shape.
        dtype: the weight's type.
        factor: what the gradient is multiplied with.
    """
    columns = int(np.prod(shape[1:], dtype=np.int64))
    if grad is None:
        kind = _sum_type(np.dtype(dtype))
        return Rows(np.empty(0, np.int64), np.empty((0, columns), kind), shape, np.dtype(dtype))
    if isinstance(grad, RowTensor):
        indices, values = grad.indices.array().astype(np.int64, copy=False), grad.values.array()
        whole = grad.whole
    else:
        indices, values, whole = np.arange(shape[0], dtype=np.int64), grad.array(), True
    wide = values.reshape(len(indices), columns).astype(_sum_type(values.dtype), copy=False)
    indices, wide = add_duplicates(indices, wide)
    if factor != 1:
        wide = wide * wide.dtype.type(factor)
    return Rows(indices, wide, shape, values.dtype, whole)


def add_duplicates(indices: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return each index once, ascending, and the sum of its rows, added in the order in which they stand.

    Args:
        indices: int64 (N,).
        values: (N, columns).

    Examples:
        >>> import numpy as np
        >>> from dist_ms.parallel.reduction.row_gradients import add_duplicates
        >>> add_duplicates(np.array([3, 1, 3]), np.array([[1.0], [2.0], [4.0]]))
        (array([1, 3]), array([[2.],
               [5.]]))
    """
    if (indices[1:] > indices[:-1]).all():
        return indices, values
    once, places = np.unique(indices, return_inverse=True)
    out = np.zeros((len(once), values.shape[1]), values.dtype)
    add_at(out, places.reshape(-1), values)
    return once, out


def add_at(table: np.ndarray, indices: np.ndarray, values: np.ndarray) -> None:
    """Add rows to those of a table, in the order in which they stand.

    Args:
        table: (rows, ...), changed.
        indices: integers (N,); negative ones count from the end.
        values: (N, ...), of the table's type.

    Raises:
        IndexError: if an index is no row of the table.
    """
    fast = table.dtype in (np.float32, np.float64) and table.flags.c_contiguous and values.dtype == table.dtype
    if not fast or indices.dtype not in (np.int32, np.int64) or not table.size or (indices < 0).any():
        np.add.at(table, indices, values)
        return
    embedding.scatter_add(
        np.ascontiguousarray(values).reshape(len(indices), -1),
        np.ascontiguousarray(indices),
        table.reshape(len(table), -1),
    )


def pays(grad: RowTensor, ranks: int) -> bool:
    """Return whether a gradient by rows is to be sent as such: if it is no dense one's, or much smaller than that.

    Args:
        grad: the gradient.
        ranks: how many have as many rows.
    """
    if not grad.whole:
        return True
    values, rows = grad.values.array(), grad.dense_shape[0]
    count = len(values)
    each = values.nbytes // max(count, 1) + INDEX_BYTES
    return _MARGIN * ranks * count * each < rows * (each - INDEX_BYTES)


def joined(a: Rows, b: Rows) -> Rows:
    """Return the sum of two gradients of one weight."""
    kind = np.result_type(a.values, b.values)
    indices, values = add_duplicates(
        np.concatenate([a.indices, b.indices]), np.concatenate([a.values, b.values]).astype(kind, copy=False)
    )
    return Rows(indices, values, a.shape, b.dtype, a.whole or b.whole)


def reduce_rows(gradients: Sequence[Rows], comm: Comm, scale: float = 1.0) -> list[Tensor | RowTensor]:
    """Add gradients over the ranks, in rank order.

    Every rank's rows are gathered; where all of them together are larger than the dense gradient,
    that is summed instead and comes back as a Tensor.

    Args:
        gradients: one per weight, the same weights on every rank.
        comm: the ranks.
        scale: what the sums are multiplied with.
    """
    if not gradients:
        return []
    facts = np.array([[len(g.indices), g.whole] for g in gradients], np.int64)
    facts = comm.all_gather(facts)
    out: list[Tensor | RowTensor] = []
    for i, mine in enumerate(gradients):
        counts, whole = facts[:, i, 0], bool(facts[:, i, 1].any())
        dense_bytes = mine.shape[0] * mine.values.shape[1] * mine.values.itemsize
        row_bytes = mine.values.shape[1] * mine.values.itemsize + INDEX_BYTES
        if counts.sum() * row_bytes >= dense_bytes:
            total = comm.all_reduce(mine.dense())
            if scale != 1:
                total *= total.dtype.type(scale)
            out.append(wrap(total.reshape(mine.shape).astype(mine.dtype, copy=False)))
            continue
        found = _gathered(mine, counts, comm)
        found.whole = whole
        out.append(found.tensor(scale))
    return out


def _gathered(mine: Rows, counts: np.ndarray, comm: Comm) -> Rows:
    """Gather the rows of all ranks and add those that several have."""
    longest = int(counts.max())
    indices = np.zeros(longest, np.int64)
    values = np.zeros((longest, mine.values.shape[1]), mine.values.dtype)
    indices[: len(mine.indices)], values[: len(mine.indices)] = mine.indices, mine.values
    every_index, every_value = comm.all_gather(indices), comm.all_gather(values)
    taken = [slice(0, n) for n in counts]
    joined_indices = np.concatenate([every_index[r, part] for r, part in enumerate(taken)])
    joined_values = np.concatenate([every_value[r, part] for r, part in enumerate(taken)])
    once, total = add_duplicates(joined_indices, joined_values)
    return Rows(once, total, mine.shape, mine.dtype)


def _sum_type(dtype: np.dtype) -> np.dtype:
    """Return the type in which gradients are added."""
    return np.dtype(np.float32) if dtype.name in ("float16", "bfloat16") else dtype
