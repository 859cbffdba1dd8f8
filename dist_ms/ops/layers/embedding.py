"""Embedding: rows of a table by index, and the sum of row gradients back into it."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.autograd.places import taken
from dist_ms.autograd.tape import recording
from dist_ms.common.checks import complaint
from dist_ms.common.dtype import from_numpy
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.common.tensor.sparse_tensor import RowTensor, row_tensor
from dist_ms.ops import arguments
from dist_ms.ops.kernels import embedding as kernel
from dist_ms.ops.layout import contiguous, converted, working_type
from dist_ms.ops.picking.indexing import add_rows
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
        if table.ndim != 2:
            return table[row_ids(self.name, ids, table.shape[0])]
        flat = contiguous(check_ids(ids, self.name).reshape(-1))
        out = np.empty((flat.size, table.shape[1]), table.dtype)
        table = contiguous(table)
        try:
            kernel.gather(table, flat, out)
        except IndexError:
            kernel.gather(table, row_ids(self.name, flat, table.shape[0]), out)
        return out.reshape(*ids.shape, table.shape[1])

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        table, ids = inputs
        if sparse_now(False):
            return looked_up(dout, known_rows(self.name, ids.array(), table.shape[0]), table.shape, True), None
        there = taken(table, dout.array().dtype)
        if there is not None:
            return wrap(AddRows(self.name).forward(dout.array(), ids.array(), table.shape, there)), None
        return AddRows(self.name)(dout, ids.array(), table.shape), None


class AddRows(Primitive):
    """The transpose of `TakeRows`: a table of zeros with rows added at ids, in their order."""

    keeps = ()

    def __init__(self, owner: str = "embedding") -> None:
        self.name = owner

    def forward(self, rows: np.ndarray, ids: np.ndarray, shape: tuple, out: np.ndarray | None = None) -> np.ndarray:
        flat = contiguous(ids.reshape(-1))
        if out is not None:
            out[...] = 0
        if len(shape) != 2 or rows.dtype not in _KERNEL_TYPES:
            wide = working_type(rows.dtype) if rows.dtype.itemsize == 2 else rows.dtype
            table = np.zeros(shape, wide) if out is None else out
            add_rows(table, flat, converted(rows.reshape(flat.size, *shape[1:]), wide))
            return converted(table, rows.dtype)
        table = np.zeros(shape, rows.dtype) if out is None else out
        rows = contiguous(rows).reshape(flat.size, shape[1])
        try:
            kernel.scatter_add(rows, flat, table)
        except IndexError:
            kernel.scatter_add(rows, row_ids(self.name, flat, shape[0]), table)
        return table

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        return TakeRows(self.name)(dout, wrap(inputs[1])), None, None


class TakeKnownRows(Primitive):
    """Rows of a table, zeros for indices outside of it.

    Args:
        owner: the name in errors.
        sparse: the gradient of the table is a RowTensor.

    Call:
        table: (rows, ...).
        ids: int32 or int64, any shape.
        offset: the index of the table's first row.
    """

    keeps = (1,)

    def __init__(self, owner: str, sparse: bool = False) -> None:
        self.name, self.sparse = owner, sparse

    def forward(self, table: Any, ids: Any, offset: int = 0) -> np.ndarray:
        rows, inside = shifted(ids, offset, len(table))
        if inside is None:
            return TakeRows.forward(self, table, rows)
        out = TakeRows.forward(self, table, np.where(inside, rows, 0))
        out[~inside] = 0
        return out

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        table, ids = inputs[:2]
        rest = (None,) * (len(inputs) - 1)
        offset = inputs[2] if len(inputs) > 2 else 0
        if not sparse_now(self.sparse):
            return AddKnownRows(self.name, table.shape, offset)(dout, ids), *rest
        rows, inside = shifted(ids.array(), offset, table.shape[0])
        if inside is not None:
            rows, dout = rows[inside], wrap(dout.array().reshape(*ids.shape, *table.shape[1:])[inside])
        return looked_up(dout, rows.reshape(-1), table.shape, not self.sparse), *rest


class AddKnownRows(Primitive):
    """Rows added up by index into zeros, those outside left out: the transpose of `TakeKnownRows`."""

    keeps = (1,)

    def __init__(self, owner: str, shape: tuple, offset: int) -> None:
        self.name, self.shape, self.offset = owner, shape, offset

    def forward(self, rows: np.ndarray, ids: np.ndarray) -> np.ndarray:
        places, inside = shifted(ids, self.offset, self.shape[0])
        if inside is not None:
            places, rows = places[inside], rows[inside]
        return AddRows.forward(self, rows, places, self.shape)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        return TakeKnownRows(self.name)(dout, inputs[1], self.offset), None


def shifted(ids: np.ndarray, offset: int, rows: int) -> tuple[np.ndarray, np.ndarray | None]:
    """Indices less the offset, and which of them are rows of the table; None if all are."""
    ids = index_type(ids)
    places = ids - ids.dtype.type(offset) if offset else ids
    inside = (places >= 0) & (places < rows)
    return places, None if inside.all() else inside


def index_type(ids: np.ndarray) -> np.ndarray:
    """Integers as int32 or int64."""
    return ids if ids.dtype in (np.int32, np.int64) else ids.astype(np.int64)


# ---- gradients by rows
def sparse_now(wanted: bool) -> bool:
    """Whether a gradient is given by rows: if it is no part of a larger gradient."""
    return (wanted or recording.rows) and recording.tape is None


def known_rows(owner: str, ids: np.ndarray, rows: int) -> np.ndarray:
    """Flat indices counted from the front."""
    flat = index_type(ids).reshape(-1)
    return row_ids(owner, flat, rows) if flat.size and flat.min() < 0 else flat


def looked_up(dout: Tensor, rows: np.ndarray, shape: tuple, whole: bool) -> RowTensor:
    """The gradient of a table of which these rows were looked up."""
    return row_tensor(rows, dout.array().reshape(rows.size, *shape[1:]), shape, whole)


def to_dense(self: RowTensor) -> Tensor:
    """Return the dense tensor: zeros, and the rows added at their places in their order.

    Examples:
        >>> import dist_ms as ms
        >>> rows = ms.RowTensor(ms.Tensor([1, 1]), ms.Tensor([[1.0], [2.0]]), (3, 1))
        >>> print(rows.to_dense())
        [[0.]
         [3.]
         [0.]]
    """
    return wrap(AddRows("RowTensor").forward(self.values.array(), self.indices.array(), self.dense_shape))


def added_to(self: RowTensor, dense: Tensor, own: bool) -> Tensor:
    """The sum with a dense tensor, in its memory if that is `own`."""
    to = dense.array()
    if not own:
        to = to.copy(order="K")
    add_rows(to, self.indices.array(), self.values.array())
    return dense if own else wrap(to)


def dense_array(self: RowTensor) -> np.ndarray:
    """The array of the dense tensor: so whoever asks a gradient for its values needs not know of rows."""
    return self.to_dense().array()


def summed(self: RowTensor) -> RowTensor:
    """Return the same tensor with every row once, in increasing order; rows that repeat are added in their order."""
    indices, values = self.indices.array(), self.values.array()
    if indices.size < 2 or (indices[1:] > indices[:-1]).all():
        return self
    rows, places = np.unique(indices, return_inverse=True)
    once = AddRows("RowTensor").forward(values, places.reshape(-1), (rows.size, *values.shape[1:]))
    return row_tensor(rows, once, self.dense_shape, self.whole)


RowTensor.to_dense, RowTensor.added_to = to_dense, added_to
RowTensor.array, RowTensor.asnumpy, RowTensor.summed = dense_array, dense_array, summed


def check_ids(ids: Any, owner: str) -> np.ndarray:
    """Require int32 or int64 indices."""
    arguments.array(ids, "ids", owner)
    if ids.dtype not in (np.int32, np.int64):
        raise TypeError(
            f"For '{owner}', the indices must be Int32 or Int64, but got {from_numpy(ids.dtype)}; cast them first."
        )
    return ids


def row_ids(owner: str, ids: Any, rows: int) -> np.ndarray:
    """Indices counted from the front, after checking their range."""
    outside = (check_ids(ids, owner) < -rows) | (ids >= rows)
    if outside.any():
        raise RuntimeError(f"For '{owner}', the indices must be in [{-rows}, {rows}), but got {ids[outside][0]}.")
    return np.where(ids < 0, ids + rows, ids)


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
    if arguments.tensor(weight, "weight", "embedding").ndim != 2:
        raise ValueError(f"For 'embedding', 'weight' must be a matrix, but got shape {weight.shape}.")
    arguments.tensor(input, "input", "embedding")
    arguments.boolean(scale_grad_by_freq, "scale_grad_by_freq", "embedding")
    rows = weight.shape[0]
    if padding_idx is not None and not -rows <= arguments.integer(padding_idx, "padding_idx", "embedding") < rows:
        raise ValueError(complaint("padding_idx", "embedding", f"an int in [{-rows}, {rows})", padding_idx))
    if max_norm is not None:
        _clip_rows(weight, input, arguments.number(max_norm, "max_norm", "embedding"), norm_type)
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
