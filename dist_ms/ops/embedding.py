"""Embedding: rows of a table by index, and the sum of row gradients back into it."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.checks import complaint
from dist_ms.common.dtype import from_numpy
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops import arguments
from dist_ms.ops.layout import contiguous
from dist_ms.ops.primitive import Primitive

__all__ = ["embedding"]

_KERNEL_TYPES = (np.dtype(np.float32), np.dtype(np.float64))


class TakeRows(Primitive):
    """Rows of a table: out[...] = table[ids[...]]; negative ids count from the end.

    Call:
        table: (rows, ...).
        ids: int32 or int64, any shape.
    """

    keeps = (1,)

    def __init__(self, owner: str = "embedding") -> None:
        self.name = owner

    def forward(self, table: Any, ids: Any) -> np.ndarray:
        if table.ndim != 2 or table.dtype not in _KERNEL_TYPES:
            return table[row_ids(self.name, ids, table.shape[0])]
        from dist_ms._ext import embedding as kernel

        flat = contiguous(check_ids(self.name, ids).reshape(-1))
        out = np.empty((flat.size, table.shape[1]), table.dtype)
        table = contiguous(table)
        try:
            kernel.gather(table, flat, out)
        except IndexError:
            kernel.gather(table, row_ids(self.name, flat, table.shape[0]), out)
        return out.reshape(*ids.shape, table.shape[1])

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        return AddRows(self.name)(dout, inputs[1].array(), inputs[0].shape), None


class AddRows(Primitive):
    """The transpose of `TakeRows`: a table of zeros with rows added at ids, in their order."""

    keeps = ()

    def __init__(self, owner: str = "embedding") -> None:
        self.name = owner

    def forward(self, rows: np.ndarray, ids: np.ndarray, shape: tuple) -> np.ndarray:
        flat = contiguous(ids.reshape(-1))
        if len(shape) != 2 or rows.dtype not in _KERNEL_TYPES:
            wide = np.float32 if rows.dtype.itemsize == 2 else rows.dtype
            table = np.zeros(shape, wide)
            np.add.at(table, flat, rows.reshape(flat.size, *shape[1:]).astype(wide))
            return table.astype(rows.dtype, copy=False)
        from dist_ms._ext import embedding as kernel

        table, rows = np.zeros(shape, rows.dtype), contiguous(rows).reshape(flat.size, shape[1])
        try:
            kernel.scatter_add(rows, flat, table)
        except IndexError:
            kernel.scatter_add(rows, row_ids(self.name, flat, shape[0]), table)
        return table

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        return TakeRows(self.name)(dout, wrap(inputs[1])), None, None


def check_ids(owner: str, ids: Any) -> np.ndarray:
    """Require int32 or int64 indices."""
    arguments.array(owner, ids, "ids")
    if ids.dtype not in (np.int32, np.int64):
        raise TypeError(
            f"For '{owner}', the indices must be Int32 or Int64, but got {from_numpy(ids.dtype)}; cast them first."
        )
    return ids


def row_ids(owner: str, ids: Any, rows: int) -> np.ndarray:
    """Indices counted from the front, after checking their range."""
    outside = (check_ids(owner, ids) < -rows) | (ids >= rows)
    if outside.any():
        raise RuntimeError(f"For '{owner}', the indices must be in [{-rows}, {rows}), but got {ids[outside][0]}.")
    return np.where(ids < 0, ids + rows, ids)


def take_rows_or_zeros(owner: str, table: Tensor, indices: Tensor) -> Tensor:
    """Rows of a table, zeros for indices outside of it."""
    ids = check_ids(owner, arguments.tensor(owner, indices, "indices").array())
    outside = (ids < 0) | (ids >= table.shape[0])
    if not outside.any():
        return TakeRows(owner)(table, indices)
    rows = TakeRows(owner)(table, wrap(np.where(outside, 0, ids).astype(ids.dtype)))
    return rows * wrap((~outside)[..., None].astype(table.array().dtype))


_take_rows = TakeRows()


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
) -> Tensor:
    """Return the rows of a table at the given indices.

    Args:
        input: int32 or int64 indices, any shape; negative ones count from the end.
        weight: (rows, columns).
        padding_idx: the index of a row that gets no gradient.
        max_norm: rows looked up are first scaled down, in `weight` itself, to this norm.
        norm_type: p of that norm.
        scale_grad_by_freq: divide each row's gradient by how often it is looked up.

    Returns:
        Tensor of the shape of `input`, with `columns` appended.

    Raises:
        TypeError: if `input` holds no int32 or int64, or an argument has the wrong type.
        ValueError: if `padding_idx` is out of range, or `weight` is no matrix.
        RuntimeError: if an index is out of range.

    Examples:
        >>> import dist_ms as ms
        >>> table = ms.Tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> print(ms.ops.embedding(ms.Tensor([1, 0]), table))
        [[3. 4.]
         [1. 2.]]
    """
    if arguments.tensor("embedding", weight, "weight").ndim != 2:
        raise ValueError(f"For 'embedding', 'weight' must be a matrix, but got shape {weight.shape}.")
    arguments.tensor("embedding", input)
    arguments.boolean("embedding", scale_grad_by_freq, "scale_grad_by_freq")
    rows = weight.shape[0]
    if padding_idx is not None and not -rows <= arguments.integer("embedding", padding_idx, "padding_idx") < rows:
        raise ValueError(complaint("padding_idx", "embedding", f"an int in [{-rows}, {rows})", padding_idx))
    if max_norm is not None:
        _clip_rows(weight, input, arguments.number("embedding", max_norm, "max_norm"), norm_type)
    out = _take_rows(weight, input)
    if padding_idx is None and not scale_grad_by_freq:
        return out
    ids = row_ids("embedding", input.array(), rows)
    factor = np.ones(ids.shape)
    if scale_grad_by_freq:
        factor = 1.0 / np.bincount(ids.reshape(-1), minlength=rows)[ids]
    if padding_idx is not None:
        factor = np.where(ids == padding_idx % rows, 0.0, factor)
    return _ScaleGradient()(out, factor[..., None].astype(out.array().dtype))


class _ScaleGradient(Primitive):
    """The identity, whose gradient is multiplied by a factor."""

    keeps = ()

    def forward(self, x: np.ndarray, factor: np.ndarray) -> np.ndarray:
        return x

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        return dout * wrap(inputs[1]), None


def _clip_rows(weight: Tensor, ids: Tensor, max_norm: float, norm_type: float) -> None:
    """Scale the rows looked up down to a norm, in place."""
    table = weight.array()
    rows = np.unique(row_ids("embedding", ids.array(), table.shape[0]))
    norm = np.linalg.norm(table[rows].astype(np.float64), ord=norm_type, axis=1)
    long = norm > max_norm
    if long.any():
        new = table.copy()
        new[rows[long]] *= (max_norm / norm[long])[:, None].astype(table.dtype)
        if isinstance(weight, Parameter):
            weight.overwrite(new)
        else:
            table[...] = new
