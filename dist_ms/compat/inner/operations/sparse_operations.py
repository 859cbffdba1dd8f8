"""`mindspore.ops.operations.sparse_ops`: tensors of which some elements are kept, as indices, values and shape.

Places are found in NumPy; values are gathered and added up by operations, so gradients pass through them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.checks import complaint
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops.primitive import Primitive

__all__ = [
    "CSRSparseMatrixToDense",
    "CSRSparseMatrixToSparseTensor",
    "DenseToCSRSparseMatrix",
    "SparseAdd",
    "SparseAddmm",
    "SparseConcat",
    "SparseDenseCwiseAdd",
    "SparseDenseCwiseDiv",
    "SparseDenseCwiseMul",
    "SparseFillEmptyRows",
    "SparseMatrixAdd",
    "SparseMatrixMatMul",
    "SparseMatrixNNZ",
    "SparseMatrixTranspose",
    "SparseReorder",
    "SparseReshape",
    "SparseSegmentMeanWithNumSegments",
    "SparseSegmentSqrtN",
    "SparseSegmentSqrtNWithNumSegments",
    "SparseSegmentSum",
    "SparseSegmentSumWithNumSegments",
    "SparseSoftmax",
    "SparseSparseMaximum",
    "SparseSparseMinimum",
    "SparseTensorToCSRSparseMatrix",
    "SparseToDenseV2",
]


def _numbers(value: Any) -> tuple[int, ...]:
    return tuple(int(n) for n in (value.asnumpy() if isinstance(value, Tensor) else value))


def _flat(indices: Tensor, shape: Any) -> np.ndarray:
    """Places as single numbers, in the order of memory."""
    return np.ravel_multi_index(tuple(indices.asnumpy().T), _numbers(shape))


def _places(flat: np.ndarray, shape: Sequence[int], like: Tensor) -> Tensor:
    return wrap(np.stack(np.unravel_index(flat, tuple(shape)), -1).astype(like.dtype.np))


class SparseToDenseV2(Primitive):
    """A whole tensor of a sparse one.

    Args:
        validate_indices: whether places must be in order and differ.

    Call:
        indices (Tensor): (count, rank), or (count,) of a vector.
        output_shape (Tensor): the whole shape.
        values (Tensor): of each place, or one for all.
        default_value (Tensor): what is at other places.

    Raises:
        ValueError: if places come twice or out of order, and `validate_indices` is set.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.compat.inner.operations.sparse_operations import SparseToDenseV2
        >>> print(SparseToDenseV2()(ms.Tensor([[1]]), ms.Tensor([3]), ms.Tensor([2.0]), ms.Tensor(0.0)))
        [0. 2. 0.]
    """

    def __init__(self, validate_indices: bool = True) -> None:
        self.validate_indices = validate_indices

    def __call__(self, indices: Tensor, output_shape: Tensor, values: Tensor, default_value: Tensor) -> Tensor:
        places = ops.reshape(indices, (-1, 1)) if indices.ndim < 2 else indices
        shape = _numbers(output_shape)
        if self.validate_indices and (np.diff(_flat(places, shape)) <= 0).any():
            raise ValueError(complaint("indices", self.name, "in order, each once", indices.asnumpy().tolist()))
        each = ops.broadcast_to(values, (places.shape[0],))
        return ops.tensor_scatter_update(ops.broadcast_to(default_value, shape), places, each)


class SparseSoftmax(Primitive):
    """The softmax of what is kept of each row of the last dimension."""

    def __call__(self, indices: Tensor, values: Tensor, shape: Tensor) -> Tensor:
        length = _numbers(shape)
        rows, inverse = np.unique(_flat(indices, length) // length[-1], return_inverse=True)
        row = wrap(inverse.astype(np.int32))
        high = ops.unsorted_segment_max(values, row, len(rows))
        powers = ops.exp(values - ops.gather(ops.stop_gradient(high), row, 0))
        return powers / ops.gather(ops.unsorted_segment_sum(powers, row, len(rows)), row, 0)


class SparseReorder(Primitive):
    """Places and values in the order of memory."""

    def __call__(self, indices: Tensor, values: Tensor, shape: Tensor) -> tuple[Tensor, Tensor]:
        order = wrap(np.argsort(_flat(indices, shape), kind="stable"))
        return ops.gather(indices, order, 0), ops.gather(values, order, 0)


class SparseReshape(Primitive):
    """Places in another shape, one length of which may be -1; and that shape."""

    def __call__(self, indices: Tensor, shape: Tensor, new_shape: Tensor) -> tuple[Tensor, Tensor]:
        found = np.empty(_numbers(shape), np.bool_).reshape(_numbers(new_shape)).shape
        return _places(_flat(indices, shape), found, indices), wrap(np.array(found, shape.dtype.np))


class SparseFillEmptyRows(Primitive):
    """A value in the first column of each row that had none.

    Returns:
        A tuple (indices, values, whether each row was empty, where each old value is now).
    """

    def __call__(
        self, indices: Tensor, values: Tensor, dense_shape: Tensor, default_value: Tensor
    ) -> tuple[Tensor, ...]:
        places, rows = indices.asnumpy(), _numbers(dense_shape)[0]
        empty = ~np.isin(np.arange(rows), places[:, 0])
        added = np.zeros((int(empty.sum()), places.shape[1]), places.dtype)
        added[:, 0] = np.flatnonzero(empty)
        together = np.concatenate([places, added])
        order = np.argsort(together[:, 0], kind="stable")
        now = np.empty(len(order), np.int64)
        now[order] = np.arange(len(order))
        fill = ops.broadcast_to(default_value, (len(added),))
        kept = ops.gather(ops.concat([values, fill]), wrap(order), 0) if len(added) else values
        return wrap(together[order]), kept, wrap(empty), wrap(now[: len(places)])


class _Segments(Primitive):
    """Sums of picked rows, over a power of their number."""

    power = 0.0

    def __call__(self, x: Tensor, indices: Tensor, segment_ids: Tensor, num_segments: Any = None) -> Tensor:
        ids = segment_ids.asnumpy()
        if num_segments is None:
            count = int(ids[-1]) + 1 if ids.size else 0
        else:
            count = int(num_segments.asnumpy().reshape(())) if isinstance(num_segments, Tensor) else num_segments
        sums = ops.unsorted_segment_sum(ops.gather(x, indices, 0), segment_ids, count)
        if not self.power:
            return sums
        sizes = np.maximum(np.bincount(ids, minlength=count), 1) ** self.power
        return sums / Tensor(sizes.reshape(-1, *(1 for _ in x.shape[1:])), x.dtype)


class SparseSegmentSum(_Segments):
    """Sums of picked rows: of those with one segment's number."""


class SparseSegmentSumWithNumSegments(_Segments):
    """Sums of picked rows, for a number of segments."""


class SparseSegmentSqrtN(_Segments):
    """Sums of picked rows over the root of their number."""

    power = 0.5


class SparseSegmentSqrtNWithNumSegments(SparseSegmentSqrtN):
    """Sums of picked rows over the root of their number, for a number of segments."""


class SparseSegmentMeanWithNumSegments(_Segments):
    """Means of picked rows, for a number of segments."""

    power = 1.0


def _united(first: tuple, second: tuple) -> tuple[np.ndarray, Tensor, Tensor]:
    """The places of two tensors together, and the values of each there, zeros where it has none."""
    flat = [_flat(indices, shape) for indices, _, shape in (first, second)]
    together, where = np.unique(np.concatenate(flat), return_inverse=True)
    parts = np.split(where.reshape(-1).astype(np.int32), [len(flat[0])])
    spread = [ops.unsorted_segment_sum(t[1], wrap(p), len(together)) for t, p in zip((first, second), parts)]
    return together, spread[0], spread[1]


class _OfTwo(Primitive):
    """An operation on two sparse tensors of one shape, where one of them has a value."""

    operation: Callable = staticmethod(ops.maximum)

    def __call__(
        self,
        x1_indices: Tensor,
        x1_values: Tensor,
        x1_shape: Tensor,
        x2_indices: Tensor,
        x2_values: Tensor,
        x2_shape: Tensor,
    ) -> tuple[Tensor, Tensor]:
        if _numbers(x1_shape) != _numbers(x2_shape):
            raise ValueError(
                complaint("x2_shape", self.name, f"{_numbers(x1_shape)}, as 'x1_shape'", _numbers(x2_shape))
            )
        places, x, y = _united((x1_indices, x1_values, x1_shape), (x2_indices, x2_values, x2_shape))
        return _places(places, _numbers(x1_shape), x1_indices), self.operation(x, y)


class SparseSparseMaximum(_OfTwo):
    """The greater elements of two sparse tensors; what is not kept is 0."""


class SparseSparseMinimum(_OfTwo):
    """The smaller elements of two sparse tensors; what is not kept is 0."""

    operation = staticmethod(ops.minimum)


class SparseAdd(Primitive):
    """The sum of two sparse tensors, without elements that are nearer to 0 than a threshold."""

    def __call__(
        self,
        x1_indices: Tensor,
        x1_values: Tensor,
        x1_shape: Tensor,
        x2_indices: Tensor,
        x2_values: Tensor,
        x2_shape: Tensor,
        thresh: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor]:
        places, x, y = _united((x1_indices, x1_values, x1_shape), (x2_indices, x2_values, x2_shape))
        sums = x + y
        kept = np.flatnonzero(np.abs(sums.asnumpy()) >= thresh.asnumpy())
        return _places(places[kept], _numbers(x1_shape), x1_indices), ops.gather(sums, wrap(kept), 0), x1_shape


class SparseConcat(Primitive):
    """Sparse tensors joined along a dimension.

    Args:
        concat_dim: the dimension.
    """

    def __init__(self, concat_dim: int = 0) -> None:
        self.concat_dim = concat_dim

    def __call__(
        self,
        sp_input_indices: Sequence[Tensor],
        sp_input_values: Sequence[Tensor],
        sp_input_shapes: Sequence[Tensor],
    ) -> tuple[Tensor, Tensor, Tensor]:
        shapes = [np.array(_numbers(shape)) for shape in sp_input_shapes]
        whole, moved = shapes[0].copy(), []
        whole[self.concat_dim] = 0
        for indices, shape in zip(sp_input_indices, shapes):
            start = np.zeros_like(whole)
            start[self.concat_dim] = whole[self.concat_dim]
            moved.append(indices.asnumpy() + start)
            whole[self.concat_dim] += shape[self.concat_dim]
        size = wrap(whole.astype(sp_input_shapes[0].dtype.np))
        return (*SparseReorder()(wrap(np.concatenate(moved)), ops.concat(list(sp_input_values)), size), size)


class _WithDense(Primitive):
    """An operation on what a sparse tensor keeps and a dense tensor, which is broadcast."""

    operation: Callable = staticmethod(ops.add)

    def __call__(self, x1_indices: Tensor, x1_values: Tensor, x1_shape: Tensor, x2: Tensor) -> Tensor:
        dense = ops.broadcast_to(x2, _numbers(x1_shape))
        return self.operation(x1_values, ops.gather_nd(dense, x1_indices))


class SparseDenseCwiseAdd(_WithDense):
    """What a sparse tensor keeps plus the dense tensor's elements there."""


class SparseDenseCwiseMul(_WithDense):
    """What a sparse tensor keeps times the dense tensor's elements there."""

    operation = staticmethod(ops.mul)


class SparseDenseCwiseDiv(_WithDense):
    """What a sparse tensor keeps over the dense tensor's elements there."""

    operation = staticmethod(ops.div)


class SparseAddmm(Primitive):
    """alpha times a sparse matrix times a dense one, plus beta times another."""

    def __call__(
        self,
        indices: Tensor,
        values: Tensor,
        sparse_shape: Tensor,
        x2_dense: Tensor,
        x3_dense: Tensor,
        alpha: Tensor,
        beta: Tensor,
    ) -> Tensor:
        product = ops.SparseTensorDenseMatmul()(indices, values, _numbers(sparse_shape), x2_dense)
        return alpha * product + beta * x3_dense


def _compressed(flat: np.ndarray, shape: tuple[int, ...], dtype: np.dtype) -> tuple[Tensor, ...]:
    """Shape, starts of matrices, starts of rows and columns of ordered places in one or several matrices."""
    full = (1, *shape)[-3:]
    matrix, row, column = np.unravel_index(flat, full)
    starts = np.concatenate([[0], np.cumsum(np.bincount(matrix, minlength=full[0]))])
    lines = np.zeros((full[0], full[1] + 1), np.int64)
    np.add.at(lines, (matrix, row + 1), 1)
    parts = (np.array(shape), starts, lines.cumsum(1).reshape(-1), column)
    return tuple(wrap(part.astype(dtype)) for part in parts)


def _expanded(shape: Tensor, rows: Tensor, columns: Tensor) -> np.ndarray:
    """The places, as single numbers, of matrices in compressed rows."""
    full = (1, *_numbers(shape))[-3:]
    lines = np.diff(rows.asnumpy().reshape(full[0], -1), axis=1)
    places = np.repeat(np.arange(full[0] * full[1]), lines.reshape(-1))
    return places * full[2] + columns.asnumpy()


class SparseTensorToCSRSparseMatrix(Primitive):
    """A sparse tensor of two or three dimensions in compressed rows.

    Returns:
        A tuple (shape, starts of matrices, starts of rows, columns, values).
    """

    def __call__(self, x_indices: Tensor, x_values: Tensor, x_dense_shape: Tensor) -> tuple[Tensor, ...]:
        indices, values = SparseReorder()(x_indices, x_values, x_dense_shape)
        flat = _flat(indices, x_dense_shape)
        return (*_compressed(flat, _numbers(x_dense_shape), x_indices.dtype.np), values)


class DenseToCSRSparseMatrix(Primitive):
    """What a dense tensor has at some places, in compressed rows."""

    def __call__(self, dense_input: Tensor, indices: Tensor) -> tuple[Tensor, ...]:
        flat = _flat(indices, dense_input.shape)
        return (*_compressed(flat, dense_input.shape, indices.dtype.np), ops.gather_nd(dense_input, indices))


class CSRSparseMatrixToDense(Primitive):
    """Matrices in compressed rows as a dense tensor."""

    def __call__(
        self,
        x_dense_shape: Tensor,
        x_batch_pointers: Tensor,
        x_row_pointers: Tensor,
        x_col_indices: Tensor,
        x_values: Tensor,
    ) -> Tensor:
        shape = _numbers(x_dense_shape)
        flat = _expanded(x_dense_shape, x_row_pointers, x_col_indices).reshape(-1, 1)
        zeros = ops.zeros((int(np.prod(shape)),), x_values.dtype)
        return ops.reshape(ops.tensor_scatter_update(zeros, wrap(flat), x_values), shape)


class CSRSparseMatrixToSparseTensor(Primitive):
    """Matrices in compressed rows as a sparse tensor."""

    def __call__(
        self,
        x_dense_shape: Tensor,
        x_batch_pointers: Tensor,
        x_row_pointers: Tensor,
        x_col_indices: Tensor,
        x_values: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor]:
        flat = _expanded(x_dense_shape, x_row_pointers, x_col_indices)
        return _places(flat, _numbers(x_dense_shape), x_col_indices), x_values, x_dense_shape


class SparseMatrixNNZ(Primitive):
    """How many elements each matrix keeps."""

    def __call__(self, x_dense_shape: Tensor, x_batch_pointers: Tensor, *rest: Tensor) -> Tensor:
        return wrap(np.diff(x_batch_pointers.asnumpy()).astype(np.int32))


class SparseMatrixTranspose(Primitive):
    """Matrices in compressed rows, transposed.

    Args:
        conjugate: whether complex elements are conjugated.
    """

    def __init__(self, conjugate: bool = False) -> None:
        self.conjugate = conjugate

    def __call__(
        self,
        x_dense_shape: Tensor,
        x_batch_pointers: Tensor,
        x_row_pointers: Tensor,
        x_col_indices: Tensor,
        x_values: Tensor,
    ) -> tuple[Tensor, ...]:
        shape = _numbers(x_dense_shape)
        places = np.stack(np.unravel_index(_expanded(x_dense_shape, x_row_pointers, x_col_indices), shape))
        places[[-1, -2]] = places[[-2, -1]]
        turned = (*shape[:-2], shape[-1], shape[-2])
        flat = np.ravel_multi_index(tuple(places), turned)
        order = np.argsort(flat, kind="stable")
        values = ops.gather(x_values, wrap(order), 0)
        dtype = x_col_indices.dtype.np
        return (*_compressed(flat[order], turned, dtype), ops.conj(values) if self.conjugate else values)


class SparseMatrixAdd(Primitive):
    """alpha times one matrix in compressed rows plus beta times another."""

    def __call__(self, *inputs: Tensor) -> tuple[Tensor, ...]:
        if len(inputs) != 12:
            raise TypeError(f"For '{self.name}', there must be 12 inputs, but got {len(inputs)}.")
        (alpha, beta), shape = inputs[10:], inputs[0]
        first, second = (CSRSparseMatrixToSparseTensor()(*inputs[i : i + 5]) for i in (0, 5))
        places, x, y = _united(first, second)
        return (*_compressed(places, _numbers(shape), inputs[3].dtype.np), alpha * x + beta * y)


class SparseMatrixMatMul(Primitive):
    """A matrix in compressed rows times a dense one.

    Args:
        transpose_x1, transpose_x2, adjoint_x1, adjoint_x2: what is transposed, or conjugated as well.
        transpose_output, conjugate_output: the same for the product.
    """

    def __init__(
        self,
        transpose_x1: bool = False,
        transpose_x2: bool = False,
        adjoint_x1: bool = False,
        adjoint_x2: bool = False,
        transpose_output: bool = False,
        conjugate_output: bool = False,
    ) -> None:
        self.turned = ((transpose_x1, adjoint_x1), (transpose_x2, adjoint_x2))
        self.transpose_output, self.conjugate_output = transpose_output, conjugate_output

    def __call__(self, *inputs: Tensor) -> Tensor:
        if len(inputs) != 6:
            raise TypeError(f"For '{self.name}', there must be 6 inputs, but got {len(inputs)}.")
        factors = [CSRSparseMatrixToDense()(*inputs[:5]), inputs[5]]
        for i, (transpose, adjoint) in enumerate(self.turned):
            if transpose or adjoint:
                factors[i] = ops.swapaxes(factors[i], -1, -2)
            if adjoint:
                factors[i] = ops.conj(factors[i])
        product = ops.matmul(*factors)
        if self.transpose_output:
            product = ops.swapaxes(product, -1, -2)
        return ops.conj(product) if self.conjugate_output else product
