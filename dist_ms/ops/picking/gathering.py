"""Gather, GatherD and their kin: elements picked by index."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from dist_ms.common.error_classes import plain
from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import array, integer, integral, not_of, one_axis, one_of, tensor
from dist_ms.ops.layers.embedding import TakeKnownRows, index_type, known_rows, looked_up, sparse_now
from dist_ms.ops.picking.along import add_along, add_rows, add_slices, take_along, take_slices
from dist_ms.ops.primitive import Primitive
from dist_ms.ops.shaping.reshaping import reshape

__all__ = [
    "EmbeddingLookup",
    "Gather",
    "GatherD",
    "GatherV2",
    "SparseGatherV2",
    "gather",
    "gather_d",
    "gather_elements",
    "index_select",
    "take",
]


class Gather(Primitive):
    """`gather` as a primitive: `Gather(batch_dims)(input_params, input_indices, axis)`."""

    keeps = (1,)

    def __init__(self, batch_dims: int = 0) -> None:
        self.batch_dims = integer(batch_dims, "batch_dims", self.name)

    def forward(self, input_params: np.ndarray, input_indices: np.ndarray, axis: Any) -> np.ndarray:
        x, i = array(input_params, "input_params", self.name), integral(input_indices, "input_indices", self.name)
        axis = one_axis(axis, "axis", self.name, x.ndim)
        batch = self._batch(x.ndim, i.ndim, axis)
        if not batch and x.ndim:
            with bounds_checked(i, "index", self.name, x.shape[axis]):
                return take_slices(x, i, axis)
        check_bounds(i, "index", self.name, x.shape[axis] if x.ndim else 1)
        if x.shape[:batch] != i.shape[:batch]:
            raise RuntimeError(
                f"For '{self.name}', the first {batch} dimensions of 'input_params' and 'input_indices' must be equal, "
                f"but got the shapes {x.shape} and {i.shape}."
            )
        if not batch:
            return x.reshape(1)[i]
        out = np.empty(x.shape[:axis] + i.shape[batch:] + x.shape[axis + 1 :], x.dtype)
        for place in np.ndindex(*x.shape[:batch]):
            out[place] = np.take(x[place], i[place], axis - batch)
        return out

    def _batch(self, x_ndim: int, i_ndim: int, axis: int) -> int:
        batch = self.batch_dims + i_ndim if self.batch_dims < 0 else self.batch_dims
        if not 0 <= batch <= min(i_ndim, axis) or batch > x_ndim:
            raise ValueError(
                f"For '{self.name}', 'batch_dims' must not exceed 'axis' {axis} or the {i_ndim} "
                f"dimensions "
                f"of 'input_indices', but got {self.batch_dims}."
            )
        return batch

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        x, i, axis = inputs
        axis = one_axis(axis, "axis", self.name, len(x.shape))
        return AddSlices(x.shape, axis, self._batch(len(x.shape), i.ndim, axis))(dout, i), None, None


class AddSlices(Primitive):
    """Slices added up by index into zeros: the gradient of `Gather`.

    Args:
        shape: shape of the result.
        axis: the dimension the indices are for.
        batch: number of leading dimensions the indices share.
    """

    keeps = (1,)

    def __init__(self, shape: tuple, axis: int, batch: int) -> None:
        self.shape, self.axis, self.batch = shape, axis, batch

    def forward(self, slices: np.ndarray, indices: np.ndarray) -> np.ndarray:
        axis, batch = self.axis, self.batch
        if axis == 0:
            out = np.zeros(self.shape, slices.dtype)
            add_rows(out, indices, slices)
            return out
        if not batch:
            out = np.zeros(self.shape, slices.dtype)
            shape = (*self.shape[:axis], indices.size, *self.shape[axis + 1 :])
            add_slices(out, indices.reshape(-1), slices.reshape(shape), axis)
            return out
        moved = np.zeros(
            (*self.shape[:batch], self.shape[axis], *self.shape[batch:axis], *self.shape[axis + 1 :]), slices.dtype
        )
        width = indices.ndim - batch
        slices = np.moveaxis(slices, range(axis, axis + width), range(batch, batch + width))
        for place in np.ndindex(*self.shape[:batch]):
            add_rows(moved[place], indices[place], slices[place])
        return np.moveaxis(moved, batch, axis)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        return Gather(self.batch)(dout, inputs[1], self.axis), None


class GatherV2(Gather):
    """Slices of a tensor along one dimension, picked by index: `Gather` under its old name.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.GatherV2()(ms.Tensor([1, 2, 3]), ms.Tensor([2, 0]), 0))
        [3 1]
    """


class SparseGatherV2(Gather):
    """Slices of a tensor along one dimension, picked by index; rows of a Parameter have a RowTensor as gradient.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.SparseGatherV2()(ms.Tensor([1, 2, 3]), ms.Tensor([2, 0]), 0))
        [3 1]
    """

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        x, i, axis = inputs
        if one_axis(axis, "axis", self.name, len(x.shape)) or not sparse_now(True):
            return super().gradient(inputs, output, dout)
        return looked_up(dout, known_rows(self.name, i.array(), x.shape[0]), x.shape, whole=False), None, None


class EmbeddingLookup(TakeKnownRows):
    """Rows of a table picked by index, zeros for indices outside; a Parameter's gradient is a RowTensor.

    Call:
        input_params (Tensor): the table.
        input_indices (Tensor): integers.
        offset (int): number of the table's first row.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.EmbeddingLookup()(ms.Tensor([[1.0], [2.0]]), ms.Tensor([4, 7]), 3))
        [[2.]
         [0.]]
    """

    def __init__(self) -> None:
        super().__init__("EmbeddingLookup", sparse=True)

    def forward(self, input_params: np.ndarray, input_indices: np.ndarray, offset: int) -> np.ndarray:
        table, ids = array(input_params, "input_params", self.name), integral(input_indices, "input_indices", self.name)
        return super().forward(table, index_type(ids), integer(offset, "offset", self.name))


class GatherD(Primitive):
    """`gather_d` as a primitive: `GatherD()(x, dim, index)`."""

    keeps = (2,)

    def forward(self, x: np.ndarray, dim: Any, index: np.ndarray) -> np.ndarray:
        not_of(index, "B", "index", self.name)
        axis = one_axis(dim, "dim", self.name, array(x, "x", self.name).ndim)
        integral(index, "index", self.name)
        if index.ndim != x.ndim or any(n > m for i, (n, m) in enumerate(zip(index.shape, x.shape)) if i != axis):
            raise ValueError(
                f"For '{self.name}', 'index' must have as many dimensions as 'x', none longer but {axis}, "
                f"but got the shapes {index.shape} and {x.shape}."
            )
        if not x.ndim:
            return x.copy()
        with bounds_checked(index, "index", self.name, x.shape[axis]):
            return take_along(x, index, axis)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        x, dim, index = inputs
        if not x.shape:
            return dout, None, None
        return PutAlong(one_axis(dim, "axis", self.name, len(x.shape)), x.shape)(index, dout), None, None


class PutAlong(Primitive):
    """Values added up along one dimension by an index for each, into zeros: the gradient of `GatherD`.

    Args:
        axis: the dimension.
        shape: shape of the result.
    """

    keeps = (0,)

    def __init__(self, axis: int, shape: tuple) -> None:
        self.axis, self.shape = axis, shape

    def forward(self, index: np.ndarray, values: np.ndarray) -> np.ndarray:
        out = np.zeros(self.shape, values.dtype)
        add_along(out, index, values, self.axis)
        return out

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        return None, GatherD()(dout, self.axis, inputs[0])


def check_bounds(index: np.ndarray, name: str, owner: str, length: int) -> None:
    """Raise RuntimeError if an index is outside [-length, length)."""
    if index.size and (index.min() < -length or index.max() >= length):
        wrong = index[(index < -length) | (index >= length)].flat[0]
        raise RuntimeError(f"For '{owner}', each '{name}' must be in the range [{-length}, {length}), but got {wrong}.")


@contextmanager
def bounds_checked(index: np.ndarray, name: str, owner: str, length: int) -> Iterator[None]:
    """Raise what `check_bounds` does if the block finds an index out of range itself."""
    try:
        yield
    except IndexError:
        check_bounds(index, name, owner, length)
        raise


_gather, _gather_d = Gather(), GatherD()


def gather(input_params: Tensor, input_indices: Tensor, axis: int, batch_dims: int = 0) -> Tensor:
    """Pick slices along one dimension by index.

    Args:
        input_params: a Tensor.
        input_indices: a Tensor of integers of any shape; negative ones count from the end.
        axis: the dimension to pick along.
        batch_dims: number of leading dimensions that the two share.

    Returns:
        Tensor of shape params.shape[:axis] + indices.shape[batch_dims:] + params.shape[axis + 1:].

    Raises:
        TypeError: if the indices are no integers, or `axis` is no int.
        ValueError: if `axis` or `batch_dims` is out of range.
        RuntimeError: if an index is out of range.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.gather(ms.Tensor([1.0, 2.0, 3.0]), ms.Tensor([2, 0]), 0))
        [3. 1.]
    """
    not_of(input_indices, "BHIL", "input_indices", "gather")
    primitive = _gather if batch_dims == 0 else Gather(batch_dims)
    return primitive(input_params, tensor(input_indices, "input_indices", "gather"), axis)


def gather_d(x: Tensor, dim: int, index: Tensor) -> Tensor:
    """Pick elements along one dimension by an index for each.

    Args:
        x: a Tensor.
        dim: the dimension.
        index: a Tensor of integers with as many dimensions as `x`, none longer but `dim`.

    Returns:
        Tensor of the shape of `index`.

    Raises:
        TypeError: if `index` holds no integers.
        ValueError: if `dim` is out of range, or the shapes do not fit.
        RuntimeError: if an index is out of range.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.gather_d(ms.Tensor([[1, 2], [3, 4]]), 1, ms.Tensor([[0], [1]])))
        [[1]
         [4]]
    """
    return _gather_d(x, dim, tensor(index, "index", "gather_d"))


def gather_elements(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """Pick elements along one dimension by an index for each: `gather_d` under its other name.

    Args:
        input: a Tensor.
        dim: the dimension.
        index: a Tensor of integers with as many dimensions as `input`, none longer but `dim`.

    Returns:
        Tensor of the shape of `index`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.gather_elements(ms.Tensor([[1, 2], [3, 4]]), 1, ms.Tensor([[0], [1]])))
        [[1]
         [4]]
    """
    return _gather_d(input, dim, tensor(index, "index", "gather_elements"))


@plain("axis")
def index_select(input: Tensor, axis: int, index: Tensor) -> Tensor:
    """Pick slices along one dimension by index.

    Args:
        input: a Tensor.
        axis: the dimension.
        index: a Tensor of integers with at most one dimension.

    Returns:
        Tensor of the shape of `input`, with the length of `index` at `axis`.

    Raises:
        TypeError: if `index` holds no integers, or `axis` is no int.
        ValueError: if `index` has more than one dimension, or `axis` is out of range.
        RuntimeError: if an index is out of range.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.index_select(ms.Tensor([[1, 2], [3, 4]]), 1, ms.Tensor([1])))
        [[2]
         [4]]
    """
    if isinstance(index, Tensor) and index.ndim != 1:
        raise ValueError(f"For 'index_select', 'index' must have 1 dimension, but got {index.ndim}.")
    not_of(index, "BHIL", "index", "index_select")
    if tensor(index, "index", "index_select").ndim > 1:
        raise ValueError(f"For 'index_select', 'index' must have at most 1 dimension, but got {index.ndim}.")
    return _gather(input, reshape(index, (index.size,)), integer(axis, "axis", "index_select"))


def take(input: Tensor, index: Tensor, axis: int | None = None, mode: str = "raise") -> Tensor:
    """Pick elements by index, of the whole tensor or along one dimension.

    Args:
        input: a Tensor.
        index: a Tensor of integers.
        axis: the dimension; None numbers all elements row by row.
        mode: what to do with indices out of range: "raise", "clip" or "wrap".

    Returns:
        Tensor of the shape of `index`, or with it in place of dimension `axis`.

    Raises:
        ValueError: if `axis` is out of range, or `mode` is unknown.
        RuntimeError: if an index is out of range and `mode` is "raise".

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.take(ms.Tensor([[1, 2], [3, 4]]), ms.Tensor([0, 3])))
        [1 4]
    """
    one_of(mode, "mode", "take", ("raise", "clip", "wrap"))
    if axis is None:
        input, axis = reshape(tensor(input, "input", "take"), (-1,)), 0
    index = index if isinstance(index, Tensor) else Tensor(index)
    axis = one_axis(axis, "axis", "take", input.ndim)
    length = input.shape[axis]
    if mode != "raise" and math.prod(index.shape):
        i = integral(index.array(), "index", "take")
        index = Tensor(np.clip(i, 0, length - 1) if mode == "clip" else i % length)
    return _gather(input, index, axis)
