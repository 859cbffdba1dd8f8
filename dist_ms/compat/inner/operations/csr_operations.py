"""`mindspore.ops.operations._csr_ops`: operations on a matrix as row starts, columns and values."""

from __future__ import annotations

from typing import Any

from dist_ms import ops
from dist_ms.common.tensor import Tensor
from dist_ms.common.tensor.sparse_tensor import CSRTensor
from dist_ms.ops.primitive import Primitive

__all__ = ["COO2CSR", "CSR2COO", "CSRMM", "CSRMV", "CSRDiv", "CSRGather", "CSRMul", "CSRReduceSum"]


class CSRReduceSum(Primitive):
    """The sums of the rows, (rows, 1)."""

    def __call__(self, indptr: Tensor, indices: Tensor, values: Tensor, shape: tuple, axis: int) -> Tensor:
        return ops.csr_reduce_sum(CSRTensor(indptr, indices, values, shape), axis)


class CSRMV(Primitive):
    """The product with a (columns, 1) matrix."""

    def __call__(self, indptr: Tensor, indices: Tensor, values: Tensor, shape: tuple, dense: Tensor) -> Tensor:
        return ops.csr_mv(CSRTensor(indptr, indices, values, shape), dense)


class CSRMM(Primitive):
    """The product with a dense matrix."""

    def __call__(self, indptr: Tensor, indices: Tensor, values: Tensor, shape: tuple, dense: Tensor) -> Tensor:
        return ops.csr_mm(CSRTensor(indptr, indices, values, shape), dense)


class CSRMul(Primitive):
    """The values times those of a dense tensor at their places."""

    def __call__(self, indptr: Tensor, indices: Tensor, values: Tensor, shape: tuple, dense: Tensor) -> Tensor:
        return _values(ops.csr_mul(CSRTensor(indptr, indices, values, shape), dense))


class CSRDiv(Primitive):
    """The values over those of a dense tensor at their places."""

    def __call__(self, indptr: Tensor, indices: Tensor, values: Tensor, shape: tuple, dense: Tensor) -> Tensor:
        return _values(ops.csr_div(CSRTensor(indptr, indices, values, shape), dense))


class CSRGather(Primitive):
    """A dense tensor's values at a matrix's places."""

    def __call__(self, indptr: Tensor, indices: Tensor, dense: Tensor, sparse_shape: tuple) -> Tensor:
        return ops.csr_gather(indptr, indices, dense, sparse_shape)


class CSR2COO(Primitive):
    """The row of each value."""

    def __call__(self, indptr: Tensor, nnz: int) -> Tensor:
        return ops.csr2coo(indptr, nnz)


class COO2CSR(Primitive):
    """Where each row begins, and the end."""

    def __call__(self, row_indices: Tensor, height: int) -> Tensor:
        return ops.coo2csr(row_indices, height)


def _values(found: Any) -> Tensor:
    return found.values if isinstance(found, CSRTensor) else found
