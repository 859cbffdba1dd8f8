"""SparseToDense and SparseTensorDenseMatmul: sparse tensors, by coordinates, met by dense ones."""

from __future__ import annotations

from typing import Any

from dist_ms import ops
from dist_ms.common.tensor import Tensor
from dist_ms.nn.cell import Cell
from dist_ms.ops.arguments import not_of

__all__ = ["SparseTensorDenseMatmul", "SparseToDense"]


class SparseToDense(Cell):
    """The dense tensor that a COOTensor stands for.

    Inputs:
        sparse_tensor (COOTensor): coordinates and values.

    Outputs:
        Tensor of the shape of `sparse_tensor`.

    Examples:
        >>> import dist_ms as ms
        >>> sparse = ms.COOTensor(ms.Tensor([[0, 1]]), ms.Tensor([5.0]), (2, 2))
        >>> print(ms.nn.SparseToDense()(sparse))
        [[0. 5.]
         [0. 0.]]
    """

    def construct(self, sparse_tensor: Any) -> Tensor:
        return ops.SparseToDense()(sparse_tensor.indices, sparse_tensor.values, sparse_tensor.shape)


class SparseTensorDenseMatmul(Cell):
    """`ops.SparseTensorDenseMatmul` as a layer.

    `SparseTensorDenseMatmul(adjoint_st, adjoint_dt)(indices, values, sparse_shape, dense)`.
    """

    def __init__(self, adjoint_st: bool = False, adjoint_dt: bool = False) -> None:
        super().__init__()
        self.adj_st, self.adj_dt = adjoint_st, adjoint_dt
        self.sparse_dense_matmul = ops.SparseTensorDenseMatmul(adjoint_st, adjoint_dt)

    def construct(self, indices: Tensor, values: Tensor, sparse_shape: tuple, dense: Tensor) -> Tensor:
        not_of(dense, "?ibhlBHILedFD", "dense", self.cls_name)
        not_of(indices, "BHIL", "indices", self.cls_name)
        not_of(values, "?ibhlBHILedFD", "values", self.cls_name)
        return self.sparse_dense_matmul(indices, values, sparse_shape, dense)
