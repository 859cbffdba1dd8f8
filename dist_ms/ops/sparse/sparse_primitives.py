"""SparseToDense, SparseTensorDenseMatmul and others that take a sparse tensor's parts one by one."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.checks import check_bool, check_dimensions, complaint
from dist_ms.common.error_classes import raises
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops.arguments import integers, integral, not_of, tensor
from dist_ms.ops.primitive import Primitive
from dist_ms.ops.reducing.segments import unsorted_segment_sum

__all__ = ["SparseSlice", "SparseTensorDenseAdd", "SparseTensorDenseMatmul", "SparseToDense", "sparse_segment_mean"]


def checked_places(owner: str, indices: Any, shape: tuple[int, ...]) -> np.ndarray:
    """The coordinate rows of an indices argument, (N, ndim).

    Raises:
        TypeError: if it holds no integers.
        ValueError: if it does not fit the shape.
    """
    places = integral(tensor(indices, "indices", owner).array(), "indices", owner)
    places = places[:, None] if places.ndim == 1 and len(shape) == 1 else places
    if places.ndim != 2 or places.shape[1] != len(shape):
        raise ValueError(f"For '{owner}', 'indices' must be (N, {len(shape)}), but got shape {places.shape}.")
    if places.size and (places.min() < 0 or (places >= shape).any()):
        raise ValueError(f"For '{owner}', 'indices' must be inside the shape {shape}, but got some outside.")
    return places


class SparseToDense(Primitive):
    """The dense tensor of coordinates and values; values of the same place are added.

    Call:
        indices (Tensor): integers (N, ndim).
        values (Tensor): (N,).
        sparse_shape (tuple): shape of the dense tensor.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.SparseToDense()(ms.Tensor([[0, 1]]), ms.Tensor([5.0]), (1, 2)))
        [[0. 5.]]
    """

    def __call__(self, indices: Tensor, values: Tensor, sparse_shape: Any) -> Tensor:
        shape = integers(sparse_shape, "sparse_shape", self.name)
        places = checked_places(self.name, indices, shape)
        zeros = wrap(np.zeros(shape, tensor(values, "values", self.name).array().dtype))
        return ops.tensor_scatter_add(zeros, wrap(places), values)


class SparseTensorDenseAdd(Primitive):
    """The sum of a sparse tensor, given by its parts, and a dense one.

    Call:
        x1_indices (Tensor): integers (N, ndim).
        x1_values (Tensor): (N,).
        x1_shape (Tensor or tuple): shape of the dense tensor.
        x2 (Tensor): of this shape.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> op = ms.ops.SparseTensorDenseAdd()
        >>> print(op(ms.Tensor([[0, 1]]), ms.Tensor([5.0]), (1, 2), ms.Tensor([[1.0, 1.0]])))
        [[1. 6.]]
    """

    def __call__(self, x1_indices: Tensor, x1_values: Tensor, x1_shape: Any, x2: Tensor) -> Tensor:
        shape = integers(x1_shape, "x1_shape", self.name)
        places = checked_places(self.name, x1_indices, shape)
        if tensor(x2, "x2", self.name).shape != shape:
            raise ValueError(f"For '{self.name}', 'x2' must have shape {shape}, but got {x2.shape}.")
        return ops.tensor_scatter_add(x2, wrap(places), tensor(x1_values, "x1_values", self.name))


@raises(sparse_shape=RuntimeError)
class SparseTensorDenseMatmul(Primitive):
    """The product of a sparse matrix, given by its parts, and a dense one.

    Args:
        adjoint_st: whether the sparse matrix is transposed (and conjugated) first.
        adjoint_dt: whether the dense matrix is transposed (and conjugated) first.

    Call:
        indices (Tensor): integers (N, 2).
        values (Tensor): (N,).
        sparse_shape (tuple or Tensor): shape of the sparse matrix.
        dense (Tensor): the dense matrix.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> op = ms.ops.SparseTensorDenseMatmul()
        >>> print(op(ms.Tensor([[0, 1]]), ms.Tensor([5.0]), (1, 2), ms.Tensor([[1.0], [2.0]])))
        [[10.]]
    """

    def __init__(self, adjoint_st: bool = False, adjoint_dt: bool = False) -> None:
        for argument, value in (("adjoint_st", adjoint_st), ("adjoint_dt", adjoint_dt)):
            check_bool(value, argument, self.name)
        self.adjoint_st, self.adjoint_dt = adjoint_st, adjoint_dt

    def __call__(self, indices: Tensor, values: Tensor, sparse_shape: Any, dense: Tensor) -> Tensor:
        held = sparse_shape if isinstance(sparse_shape, tuple) else ()
        if not isinstance(sparse_shape, (tuple, Tensor)) or any(isinstance(n, Tensor) for n in held):
            raise TypeError(complaint("sparse_shape", self.name, "a tuple or Tensor", type(sparse_shape).__name__))
        shape = integers(sparse_shape, "sparse_shape", self.name)
        check_dimensions(tensor(values, "values", self.name), "values", self.name, 1)
        places = checked_places(self.name, indices, shape)
        tensor(dense, "dense", self.name)
        if len(shape) == 2 and self.adjoint_st:
            shape, places, values = shape[::-1], places[:, ::-1], ops.conj(values)
        if dense.ndim == 2 and self.adjoint_dt:
            dense = ops.transpose(ops.conj(dense), (1, 0))
        if len(shape) != 2 or dense.ndim != 2 or shape[1] != dense.shape[0]:
            raise ValueError(f"For '{self.name}', the matrices must fit, but got shapes {shape} and {dense.shape}.")
        products = ops.reshape(values, (-1, 1)) * ops.gather(dense, wrap(places[:, 1].copy()), 0)
        return unsorted_segment_sum(products, wrap(places[:, 0].copy()), shape[0])


class SparseSlice(Primitive):
    """The part of a sparse tensor inside a box.

    Call:
        indices (Tensor): integers (N, ndim).
        values (Tensor): (N,).
        shape (Tensor): shape of the sparse tensor.
        start (Tensor): first coordinates of the box.
        size (Tensor): lengths of the box; it ends at the tensor's end at the latest.

    Returns:
        tuple: indices, values and shape of the part.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> op, t = ms.ops.SparseSlice(), ms.Tensor
        >>> print(op(t([[0], [2]]), t([5.0, 6.0]), t([4]), t([1]), t([3]))[1])
        [6.]
    """

    def __call__(self, indices: Tensor, values: Tensor, shape: Any, start: Any, size: Any) -> tuple:
        whole = integers(shape, "shape", self.name)
        low, length = (np.array(integers(v, n, self.name), np.int64) for v, n in ((start, "start"), (size, "size")))
        if low.shape != (len(whole),) or length.shape != (len(whole),) or (low < 0).any() or (length < 0).any():
            raise ValueError(
                f"For '{self.name}', 'start' and 'size' must be {len(whole)} numbers that are not "
                f"negative, but got {low.tolist()} and {length.tolist()}."
            )
        places = checked_places(self.name, indices, whole)
        length = np.maximum(np.minimum(length, np.array(whole) - low), 0)
        inside = np.flatnonzero(((places >= low) & (places < low + length)).all(axis=1))
        return (
            wrap((places[inside] - low).astype(places.dtype)),
            ops.gather(tensor(values, "values", self.name), wrap(inside), 0),
            wrap(length),
        )


def sparse_segment_mean(x: Tensor, indices: Tensor, segment_ids: Tensor) -> Tensor:
    """Return the means of some rows of a tensor, in groups.

    Args:
        x: floats of one or more dimensions.
        indices: integers (N,), the rows.
        segment_ids: integers (N,) in order, the group of each.

    Returns:
        Tensor of segment_ids[-1] + 1 rows; groups without rows are zero.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes do not fit, or the groups are not in order.
        RuntimeError: if an index is out of range.

    Examples:
        >>> import dist_ms as ms
        >>> t = ms.Tensor
        >>> print(ms.ops.sparse_segment_mean(t([1.0, 3.0, 9.0]), t([0, 1, 2]), t([0, 0, 1])))
        [2. 9.]
    """
    owner = "sparse_segment_mean"
    rows = integral(tensor(indices, "indices", owner).array(), "indices", owner)
    groups = integral(tensor(segment_ids, "segment_ids", owner).array(), "segment_ids", owner)
    if rows.ndim != 1 or rows.shape != groups.shape or not tensor(x, "x", owner).ndim:
        raise ValueError(
            f"For '{owner}', 'indices' and 'segment_ids' must be (N,) and 'x' have a dimension, but got "
            f"shapes {rows.shape}, {groups.shape} and {x.shape}."
        )
    not_of(indices, "BHIL", "indices", owner)
    not_of(segment_ids, "BHIL", "segment_ids", owner)
    not_of(x, "?ibhlBHILFD", "x", owner)
    if groups.size and (groups[0] < 0 or (np.diff(groups) < 0).any()):
        raise ValueError(f"For '{owner}', 'segment_ids' must be in order and not negative, but got {groups.tolist()}.")
    if rows.size and (rows.min() < 0 or rows.max() >= x.shape[0]):
        raise RuntimeError(f"For '{owner}', 'indices' must be in [0, {x.shape[0]}), but got {rows.tolist()}.")
    if not groups.size:
        return ops.zeros((0, *x.shape[1:]), x.dtype)
    counts = np.maximum(np.bincount(groups), 1).astype(x.array().dtype).reshape(-1, *[1] * (x.ndim - 1))
    return unsorted_segment_sum(ops.gather(x, wrap(rows), 0), wrap(groups), len(counts)) / wrap(counts)
