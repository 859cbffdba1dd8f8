"""What computes with COOTensor and CSRTensor: sums, products, other forms, and their methods.

Values are ordinary tensors, so gradients go through them; places are integers and have none.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.checks import check_dimensions
from dist_ms.common.dtype import to_numpy
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.common.tensor.sparse_tensor import COOTensor, CSRTensor
from dist_ms.ops.arguments import integer, integral, not_of, tensor
from dist_ms.ops.reducing.segments import unsorted_segment_sum

__all__ = [
    "coalesce",
    "coo_add",
    "coo_concat",
    "csr_add",
    "csr_mm",
    "csr_softmax",
    "csr_to_coo",
    "csr_to_dense",
    "dense_to_sparse_coo",
    "dense_to_sparse_csr",
]


def sparse(value: Any, name: str, owner: str, kind: type) -> Any:
    """Return `value` if it is a sparse tensor of this kind.

    Raises:
        TypeError: otherwise.
    """
    if isinstance(value, kind):
        return value
    raise TypeError(f"For '{owner}', '{name}' must be a {kind.__name__}, but got {type(value).__name__}.")


def flat(places: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """The number of each coordinate row in a flattened tensor."""
    return np.ravel_multi_index(tuple(places.T.astype(np.int64)), shape)


def gathered(numbers: np.ndarray, values: Tensor, shape: tuple[int, ...], d: np.dtype) -> tuple[np.ndarray, Tensor]:
    """Coordinates in order, each once, and the sums of the values there."""
    unique, group = np.unique(numbers, return_inverse=True)
    places = np.stack(np.unravel_index(unique, shape), axis=1).astype(d)
    if not unique.size:
        return places, values
    return places, unsorted_segment_sum(values, wrap(group.reshape(-1).astype(np.int32)), unique.size)


def rows_of(x: CSRTensor) -> np.ndarray:
    """The row of each value."""
    starts = x.indptr.asnumpy()
    return np.repeat(np.arange(len(starts) - 1), np.diff(starts)).astype(starts.dtype)


def starts_of(rows: np.ndarray, count: int, d: np.dtype) -> np.ndarray:
    """Where each of `count` rows begins, for rows in order."""
    return np.searchsorted(rows, np.arange(count + 1)).astype(d)


def coalesce(x_indices: Tensor, x_values: Tensor, x_shape: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Add values of the same place, and put the places in order.

    Args:
        x_indices: integers (ndim, N), a column of coordinates per value.
        x_values: numbers (N,).
        x_shape: integers (ndim,), the shape of the dense tensor.

    Returns:
        tuple: indices (ndim, M), values (M,) and the shape.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes do not fit, or an index is outside.

    Examples:
        >>> import dist_ms as ms
        >>> i, v, _ = ms.ops.coalesce(ms.Tensor([[1, 0, 1]]), ms.Tensor([1.0, 2.0, 3.0]), ms.Tensor([2]))
        >>> print(i, v)
        [[0 1]] [2. 4.]
    """
    owner = "coalesce"
    places = integral(tensor(x_indices, "x_indices", owner).array(), "x_indices", owner)
    shape = tuple(integral(tensor(x_shape, "x_shape", owner).array(), "x_shape", owner).tolist())
    values = tensor(x_values, "x_values", owner)
    if places.ndim != 2 or places.shape != (len(shape), *values.shape):
        raise ValueError(
            f"For '{owner}', 'x_indices' must be ({len(shape)}, N) and 'x_values' (N,), but got shapes "
            f"{places.shape} and {values.shape}."
        )
    if places.size and (places.min() < 0 or (places.T >= shape).any()):
        raise ValueError(f"For '{owner}', 'x_indices' must be inside 'x_shape' {shape}, but got some outside.")
    new, sums = gathered(flat(places.T, shape), values, shape, places.dtype)
    return wrap(np.ascontiguousarray(new.T)), sums, x_shape


def coo_add(x1: COOTensor, x2: COOTensor, thresh: Tensor) -> COOTensor:
    """Return the sum of two COOTensors, without elements smaller than a threshold.

    Args:
        x1: a COOTensor.
        x2: another, of the same shape.
        thresh: a scalar Tensor; of the sums those of at least this magnitude stay.

    Returns:
        COOTensor.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes differ.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.COOTensor(ms.Tensor([[0, 1]]), ms.Tensor([5.0]), (2, 2))
        >>> print(ms.ops.coo_add(x, x, ms.Tensor(0.0)).values)
        [10.]
    """
    sparse(x1, "x1", "coo_add", COOTensor), sparse(x2, "x2", "coo_add", COOTensor)
    limit = tensor(thresh, "thresh", "coo_add").asnumpy()
    if x1.shape != x2.shape or limit.ndim:
        raise ValueError(
            f"For 'coo_add', 'x1' and 'x2' must have one shape and 'thresh' none, but got shapes "
            f"{x1.shape}, {x2.shape} and {limit.shape}."
        )
    numbers = flat(np.concatenate([x1.indices.asnumpy(), x2.indices.asnumpy()]), x1.shape)
    places, sums = gathered(numbers, ops.concat([x1.values, x2.values]), x1.shape, x1.indices.asnumpy().dtype)
    stay = np.flatnonzero(np.abs(sums.asnumpy()) >= limit)
    if stay.size < len(places):
        places, sums = places[stay], ops.gather(sums, wrap(stay), 0)
    return COOTensor(wrap(places), sums, x1.shape)


def coo_concat(sp_input: tuple | list, concat_dim: int = 0) -> COOTensor:
    """Return COOTensors joined along a dimension.

    Args:
        sp_input: COOTensors, of equal shape but for the dimension.
        concat_dim: the dimension.

    Returns:
        COOTensor, with the places in order.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes do not fit, or there is no such dimension.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.COOTensor(ms.Tensor([[0, 1]]), ms.Tensor([5.0]), (2, 2))
        >>> ms.ops.coo_concat((x, x), 1).shape
        (2, 4)
    """
    owner = "coo_concat"
    if not isinstance(sp_input, (tuple, list)) or not sp_input:
        raise TypeError(f"For '{owner}', 'sp_input' must be a tuple or list of COOTensors, but got {sp_input!r}.")
    for x in sp_input:
        sparse(x, "sp_input", owner, COOTensor)
    shape, dim = list(sp_input[0].shape), integer(concat_dim, "concat_dim", owner)
    if not -len(shape) <= dim < len(shape):
        raise ValueError(f"For '{owner}', 'concat_dim' must be in [{-len(shape)}, {len(shape)}), but got {dim}.")
    dim %= len(shape)
    parts, total = [], 0
    for x in sp_input:
        if len(x.shape) != len(shape) or any(i != dim and a != b for i, (a, b) in enumerate(zip(x.shape, shape))):
            raise ValueError(
                f"For '{owner}', the shapes must agree but in dimension {dim}, but got {x.shape} with {tuple(shape)}."
            )
        moved = x.indices.asnumpy().copy()
        moved[:, dim] += total
        parts.append(moved)
        total += x.shape[dim]
    shape[dim] = total
    places = np.concatenate(parts)
    order = np.argsort(flat(places, tuple(shape)), kind="stable")
    values = ops.gather(ops.concat([x.values for x in sp_input]), wrap(order), 0)
    return COOTensor(wrap(places[order]), values, tuple(shape))


def csr_to_coo(tensor: CSRTensor) -> COOTensor:
    """Return a matrix of the CSR form in the COO form.

    Raises:
        TypeError: if `tensor` is no CSRTensor.
        ValueError: if it has more than two dimensions.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.CSRTensor(ms.Tensor([0, 1, 1]), ms.Tensor([1]), ms.Tensor([5.0]), (2, 2))
        >>> print(ms.ops.csr_to_coo(x).indices)
        [[0 1]]
    """
    x = sparse(tensor, "tensor", "csr_to_coo", CSRTensor)
    check_dimensions(x, "tensor", "csr_to_coo", 2)
    columns = x.indices.asnumpy()
    return COOTensor(wrap(np.stack([rows_of(x).astype(columns.dtype), columns], axis=1)), x.values, x.shape)


def csr_to_dense(csr_tensor: CSRTensor) -> Tensor:
    """Return a CSRTensor as an ordinary Tensor.

    Raises:
        TypeError: if it is none.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.CSRTensor(ms.Tensor([0, 1, 1]), ms.Tensor([1]), ms.Tensor([5.0]), (2, 2))
        >>> print(ms.ops.csr_to_dense(x))
        [[0. 5.]
         [0. 0.]]
    """
    x = sparse(csr_tensor, "csr_tensor", "csr_to_dense", CSRTensor)
    places = np.stack([rows_of(x), x.indices.asnumpy()], axis=1)
    return ops.tensor_scatter_add(ops.zeros(x.shape, x.dtype), wrap(places), x.values)


def coo_to_dense(self: COOTensor) -> Tensor:
    """Return the tensor with its zeros; values of the same place are added."""
    return ops.tensor_scatter_add(ops.zeros(self.shape, self.dtype), self.indices, self.values)


def dense_to_sparse_coo(tensor: Tensor) -> COOTensor:
    """Return the elements of a tensor that are not zero, with their places.

    Raises:
        TypeError: if `tensor` is no Tensor.
        ValueError: if it has no dimension.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.dense_to_sparse_coo(ms.Tensor([[0.0, 5.0]])).indices)
        [[0 1]]
    """
    if isinstance(tensor, Tensor) and not tensor.ndim:
        raise RuntimeError("For 'dense_to_sparse_coo', 'tensor' must have 2 dimensions, but got a scalar.")
    owner = "dense_to_sparse_coo"
    if not isinstance(tensor, Tensor):
        raise TypeError(f"For '{owner}', 'tensor' must be a Tensor, but got {type(tensor).__name__}.")
    check_dimensions(tensor, "tensor", owner, 2)
    places = wrap(np.argwhere(tensor.array() != 0).astype(np.int32))
    return COOTensor(places, ops.gather_nd(tensor, places), tensor.shape)


def dense_to_sparse_csr(tensor: Tensor) -> CSRTensor:
    """Return a matrix in the CSR form.

    Raises:
        TypeError: if `tensor` is no Tensor.
        ValueError: if it is no matrix.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.dense_to_sparse_csr(ms.Tensor([[0.0, 5.0]])).indptr)
        [0 1]
    """
    if isinstance(tensor, Tensor) and not tensor.ndim:
        raise RuntimeError("For 'dense_to_sparse_csr', 'tensor' must have 2 dimensions, but got a scalar.")
    not_of(tensor, "?ibhlBHILe", "tensor", "dense_to_sparse_csr")
    if isinstance(tensor, Tensor) and tensor.ndim != 2:
        raise ValueError(f"For 'dense_to_sparse_csr', 'tensor' must have 2 dimensions, but got shape {tensor.shape}.")
    return coo_to_csr(dense_to_sparse_coo(tensor))


def coo_to_csr(self: COOTensor) -> CSRTensor:
    """Return a matrix of the COO form in the CSR form, its values in the order of their places."""
    if self.ndim != 2:
        raise ValueError(f"For 'COOTensor.to_csr', the tensor must have 2 dimensions, but got shape {self.shape}.")
    places = self.indices.asnumpy()
    order = np.argsort(flat(places, self.shape), kind="stable")
    places = places[order]
    starts = starts_of(places[:, 0], self.shape[0], places.dtype)
    return CSRTensor(wrap(starts), wrap(places[:, 1].copy()), ops.gather(self.values, wrap(order), 0), self.shape)


def csr_add(a: CSRTensor, b: CSRTensor, alpha: Tensor, beta: Tensor) -> CSRTensor:
    """Return alpha a + beta b, with the places of both.

    Args:
        a: a matrix in the CSR form.
        b: another, of the same shape.
        alpha: a scalar Tensor.
        beta: a scalar Tensor.

    Returns:
        CSRTensor.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes differ.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.CSRTensor(ms.Tensor([0, 1, 1]), ms.Tensor([1]), ms.Tensor([5.0]), (2, 2))
        >>> print(ms.ops.csr_add(x, x, ms.Tensor(1.0), ms.Tensor(2.0)).values)
        [15.]
    """
    owner = "csr_add"
    sparse(a, "a", owner, CSRTensor), sparse(b, "b", owner, CSRTensor)
    tensor(alpha, "alpha", owner), tensor(beta, "beta", owner)
    if a.shape != b.shape or a.ndim != 2:
        raise ValueError(f"For '{owner}', 'a' and 'b' must be matrices of one shape, but got {a.shape} and {b.shape}.")
    places = np.concatenate([np.stack([rows_of(x), x.indices.asnumpy()], axis=1) for x in (a, b)])
    both = ops.concat([a.values * alpha, b.values * beta])
    d = a.indices.asnumpy().dtype
    places, sums = gathered(flat(places, a.shape), both, a.shape, d)
    starts = starts_of(places[:, 0], a.shape[0], a.indptr.asnumpy().dtype)
    return CSRTensor(wrap(starts), wrap(places[:, 1].copy()), sums, a.shape)


def csr_softmax(logits: CSRTensor, dtype: Any) -> CSRTensor:
    """Return the softmax of each row over the elements that are given.

    Args:
        logits: a matrix in the CSR form.
        dtype: element type of the result.

    Returns:
        CSRTensor with the places of `logits`.

    Raises:
        TypeError: if `logits` is no CSRTensor.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.CSRTensor(ms.Tensor([0, 2]), ms.Tensor([0, 1]), ms.Tensor([5.0, 5.0]), (1, 2))
        >>> print(ms.ops.csr_softmax(x, ms.float32).values)
        [0.5 0.5]
    """
    x = sparse(logits, "logits", "csr_softmax", CSRTensor)
    rows = rows_of(x)
    # The largest of a row is subtracted; as softmax does not change with it, no gradient goes there.
    top = np.full(x.shape[0], -np.inf, to_numpy(dtype))
    np.maximum.at(top, rows, x.values.asnumpy().astype(top.dtype))
    e = ops.exp(x.values.astype(dtype) - wrap(top[rows]))
    sums = unsorted_segment_sum(e, wrap(rows), x.shape[0])
    return x.with_values(e / ops.gather(sums, wrap(rows), 0))


def csr_mm(
    a: CSRTensor,
    b: Tensor | CSRTensor,
    trans_a: bool = False,
    trans_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
) -> Tensor | CSRTensor:
    """Return the product of a matrix in the CSR form with another matrix.

    Args:
        a: a matrix in the CSR form.
        b: a matrix, dense or in the CSR form.
        trans_a: whether `a` is transposed first.
        trans_b: whether `b` is transposed first.
        adjoint_a: whether `a` is transposed and conjugated first.
        adjoint_b: whether `b` is transposed and conjugated first.

    Returns:
        a Tensor, or a CSRTensor if `b` is one.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.CSRTensor(ms.Tensor([0, 1, 1]), ms.Tensor([1]), ms.Tensor([5.0]), (2, 2))
        >>> print(ms.ops.csr_mm(x, ms.Tensor([[1.0], [2.0]])))
        [[10.]
         [ 0.]]
    """
    sparse(a, "a", "csr_mm", CSRTensor)
    rows, columns, values, shape = rows_of(a), a.indices.asnumpy(), a.values, a.shape
    if adjoint_a:
        values = ops.conj(values)
    if trans_a or adjoint_a:
        rows, columns, shape = columns, rows, shape[::-1]
    dense = csr_to_dense(b) if isinstance(b, CSRTensor) else tensor(b, "b", "csr_mm")
    if adjoint_b:
        dense = ops.conj(dense)
    if trans_b or adjoint_b:
        dense = ops.transpose(dense, (1, 0))
    if len(shape) != 2 or dense.ndim != 2 or dense.shape[0] != shape[1]:
        raise ValueError(
            f"For 'csr_mm', 'a' and 'b' must be matrices that fit, but got shapes {shape} and {dense.shape}."
        )
    products = ops.reshape(values, (-1, 1)) * ops.gather(dense, wrap(columns), 0)
    out = unsorted_segment_sum(products, wrap(rows), shape[0])
    return dense_to_sparse_csr(out) if isinstance(b, CSRTensor) else out
