"""The older names of sparse tensors' functions, and their parts as functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.checks import check_dimensions
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.common.tensor.sparse_tensor import COOTensor, CSRTensor
from dist_ms.ops.arguments import integer, integers, integral, tensor
from dist_ms.ops.sparse.sparse_containers import csr_mm, sparse, starts_of
from dist_ms.ops.sparse.sparse_methods import divide, multiply, total

__all__ = [
    "coo2csr",
    "coo_tensor_get_dense_shape",
    "coo_tensor_get_indices",
    "coo_tensor_get_values",
    "csr2coo",
    "csr_div",
    "csr_gather",
    "csr_mul",
    "csr_mv",
    "csr_reduce_sum",
    "csr_tensor_get_dense_shape",
    "csr_tensor_get_indices",
    "csr_tensor_get_indptr",
    "csr_tensor_get_values",
    "make_coo_tensor",
    "make_csr_tensor",
]


def _line(value: Any, name: str, owner: str) -> np.ndarray:
    """The integers of a tensor of one dimension."""
    numbers = integral(tensor(value, name, owner).array(), name, owner)
    check_dimensions(numbers, name, owner, 1)
    return numbers


def csr2coo(indptr: Tensor, nnz: int) -> Tensor:
    """Return the row of each value of a CSR tensor.

    Args:
        indptr: where each row begins, and the end: a Tensor of ints.
        nnz: number of values.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if `nnz` is not what `indptr` ends with.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.csr2coo(ms.Tensor([0, 2, 3]), 3))
        [0 0 1]
    """
    starts = _line(indptr, "indptr", "csr2coo")
    if starts.size == 0 or integer(nnz, "nnz", "csr2coo") != starts[-1] or (np.diff(starts) < 0).any():
        raise ValueError(f"For 'csr2coo', 'indptr' must ascend to 'nnz', {nnz}, but got {starts.tolist()}.")
    return wrap(np.repeat(np.arange(starts.size - 1), np.diff(starts)).astype(starts.dtype))


def coo2csr(row_indices: Tensor, height: int) -> Tensor:
    """Return where each row begins, and the end.

    Args:
        row_indices: the row of each value, in order: a Tensor of ints.
        height: number of rows.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the rows are not in order or not below `height`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.coo2csr(ms.Tensor([0, 0, 1]), 3))
        [0 2 3 3]
    """
    rows = _line(row_indices, "row_indices", "coo2csr")
    integer(height, "height", "coo2csr")
    if (np.diff(rows) < 0).any() or (rows.size and not 0 <= rows[0] <= rows[-1] < height):
        raise ValueError(f"For 'coo2csr', 'row_indices' must ascend from 0 to below {height}, but got {rows.tolist()}.")
    return wrap(starts_of(rows, height, rows.dtype))


def csr_gather(indptr: Tensor, indices: Tensor, dense: Tensor, sparse_shape: tuple) -> Tensor:
    """Return a dense tensor's values at the places of a CSR tensor.

    Args:
        indptr: where each row begins, and the end.
        indices: the column of each value.
        dense: a Tensor that can be broadcast to `sparse_shape`.
        sparse_shape: shape of the CSR tensor.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the places or shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> dense = ms.Tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> print(ms.ops.csr_gather(ms.Tensor([0, 1, 2]), ms.Tensor([1, 0]), dense, (2, 2)))
        [2. 3.]
    """
    columns = _line(indices, "indices", "csr_gather")
    shape = integers(sparse_shape, "sparse_shape", "csr_gather")
    rows = csr2coo(indptr, columns.size).array()
    if rows.size and (len(indptr.array()) > shape[0] + 1 or columns.min() < 0 or columns.max() >= shape[1]):
        raise ValueError(f"For 'csr_gather', the places must be in 'sparse_shape', but got {shape}.")
    places = np.stack((rows.astype(np.int64), columns.astype(np.int64)), 1)
    return ops.gather_nd(ops.broadcast_to(tensor(dense, "dense", "csr_gather"), shape), wrap(places))


def _scalar(y: Any) -> bool:
    """Whether the operand is one number: MindSpore then returns the values alone."""
    return isinstance(y, (bool, int, float)) or (isinstance(y, Tensor) and y.shape in ((), (1,)))


def csr_mul(x: CSRTensor, y: Any) -> CSRTensor | Tensor:
    """Multiply the values by those of a dense tensor at the same places.

    Args:
        x: a CSRTensor.
        y: a Tensor that can be broadcast to it, or a number.

    Returns:
        CSRTensor; for a single number a Tensor of the values alone.

    Raises:
        TypeError: if an argument has the wrong type.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.Tensor([[0.0, 2.0], [1.0, 0.0]]).to_csr()
        >>> print(ms.ops.csr_mul(x, ms.Tensor([[1.0, 2.0], [3.0, 4.0]])).values)
        [4. 3.]
    """
    sparse(x, "x", "csr_mul", CSRTensor)
    return x.values * y if _scalar(y) else multiply(x, y)


def csr_div(x: CSRTensor, y: Any) -> CSRTensor | Tensor:
    """`csr_mul` for quotients.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.Tensor([[0.0, 2.0], [1.0, 0.0]]).to_csr()
        >>> print(ms.ops.csr_div(x, 2.0))
        [1.  0.5]
    """
    sparse(x, "x", "csr_div", CSRTensor)
    return x.values / y if _scalar(y) else divide(x, y)


def csr_mv(csr_tensor: CSRTensor, dense: Tensor) -> Tensor:
    """Multiply a CSR matrix by a (columns, 1) matrix.

    Args:
        csr_tensor: a CSRTensor.
        dense: a Tensor.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.Tensor([[0.0, 2.0], [1.0, 0.0]]).to_csr()
        >>> print(ms.ops.csr_mv(x, ms.Tensor([[1.0], [3.0]])))
        [[6.]
         [1.]]
    """
    return csr_mm(sparse(csr_tensor, "csr_tensor", "csr_mv", CSRTensor), tensor(dense, "dense", "csr_mv"))


def csr_reduce_sum(csr_tensor: CSRTensor, axis: int) -> Tensor:
    """Return the sums of each row.

    Args:
        csr_tensor: a CSRTensor.
        axis: 1 or -1.

    Returns:
        Tensor (rows, 1).

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if `axis` is not 1 or -1.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.csr_reduce_sum(ms.Tensor([[0.0, 2.0], [1.0, 3.0]]).to_csr(), 1))
        [[2.]
         [4.]]
    """
    sparse(csr_tensor, "csr_tensor", "csr_reduce_sum", CSRTensor)
    if integer(axis, "axis", "csr_reduce_sum") not in (1, -1):
        raise ValueError(f"For 'csr_reduce_sum', 'axis' must be 1 or -1, but got {axis}.")
    return total(csr_tensor, axis)


def make_coo_tensor(indices: Tensor, values: Tensor, shape: tuple) -> COOTensor:
    """Return a COOTensor of its parts.

    Args:
        indices: the place of each value, a Tensor (values, dimensions) of ints.
        values: a Tensor.
        shape: of the whole.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.make_coo_tensor(ms.Tensor([[0, 1]]), ms.Tensor([2.0]), (2, 2)).shape
        (2, 2)
    """
    return COOTensor(indices, values, shape)


def make_csr_tensor(indptr: Tensor, indices: Tensor, values: Tensor, shape: tuple) -> CSRTensor:
    """Return a CSRTensor of its parts.

    Args:
        indptr: where each row begins, and the end.
        indices: the column of each value.
        values: a Tensor.
        shape: of the whole.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.make_csr_tensor(ms.Tensor([0, 1, 1]), ms.Tensor([1]), ms.Tensor([2.0]), (2, 2)).shape
        (2, 2)
    """
    return CSRTensor(indptr, indices, values, shape)


def _getter(name: str, kind: type, part: str, shown: str) -> Any:
    """A function that returns a part of a sparse tensor."""

    def function(x: Any) -> Any:
        return getattr(sparse(x, "x", name, kind), part)

    function.__name__ = function.__qualname__ = name
    form = kind.__name__[:3].lower()
    function.__doc__ = f"""Return `{part}` of a {kind.__name__}.

    Args:
        x: a {kind.__name__}.

    Raises:
        TypeError: if `x` is none.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.{name}(ms.Tensor([[0.0, 2.0], [1.0, 0.0]]).to_{form}()))
        {shown}
    """
    return function


coo_tensor_get_dense_shape = _getter("coo_tensor_get_dense_shape", COOTensor, "shape", "(2, 2)")
coo_tensor_get_indices = _getter("coo_tensor_get_indices", COOTensor, "indices", "[[0 1]\n         [1 0]]")
coo_tensor_get_values = _getter("coo_tensor_get_values", COOTensor, "values", "[2. 1.]")
csr_tensor_get_dense_shape = _getter("csr_tensor_get_dense_shape", CSRTensor, "shape", "(2, 2)")
csr_tensor_get_indices = _getter("csr_tensor_get_indices", CSRTensor, "indices", "[1 0]")
csr_tensor_get_indptr = _getter("csr_tensor_get_indptr", CSRTensor, "indptr", "[0 1 2]")
csr_tensor_get_values = _getter("csr_tensor_get_values", CSRTensor, "values", "[2. 1.]")
