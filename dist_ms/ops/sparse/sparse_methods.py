"""Operators and methods of COOTensor and CSRTensor, and Tensor's ways to them."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.checks import check_choice
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.common.tensor.sparse_tensor import COOTensor, CSRTensor, SparseParts
from dist_ms.ops.sparse.sparse_containers import (
    coalesce,
    coo_add,
    coo_to_csr,
    coo_to_dense,
    csr_add,
    csr_mm,
    csr_to_coo,
    csr_to_dense,
    dense_to_sparse_coo,
    dense_to_sparse_csr,
    rows_of,
)


def magnitude(self: SparseParts) -> Any:
    """Return the absolute values at the same places."""
    return self.with_values(ops.abs(self.values))


def negated(self: SparseParts) -> Any:
    """The negative values at the same places."""
    return self.with_values(-self.values)


def places_of(x: SparseParts) -> Tensor:
    """The coordinates of the values, a row each."""
    if isinstance(x, COOTensor):
        return x.indices
    return wrap(np.stack([rows_of(x), x.indices.asnumpy()], axis=1))


def combined(name: str, sign: float, self: SparseParts, other: Any) -> Any:
    """The sum with another sparse tensor of the kind, or with a dense one."""
    kind = COOTensor if isinstance(self, COOTensor) else CSRTensor
    if isinstance(other, (Tensor, kind)) and other.shape != self.shape:
        raise ValueError(f"For '{kind.__name__}.{name}', 'other' must have shape {self.shape}, but got {other.shape}.")
    if isinstance(other, kind):
        if kind is COOTensor:
            return coo_add(self, other if sign > 0 else negated(other), wrap(np.zeros((), self.dtype.np)))
        one = np.ones((), self.dtype.np)
        return csr_add(self, other, wrap(one), wrap(one * self.dtype.np.type(sign)))
    if isinstance(other, Tensor) and kind is COOTensor:
        return ops.tensor_scatter_add(other if sign > 0 else -other, self.indices, self.values)
    raise TypeError(
        f"For '{kind.__name__}.{name}', 'other' must be a {kind.__name__} or fit it, but got {type(other).__name__}."
    )


def add(self: SparseParts, other: Any) -> Any:
    """The sum with another sparse tensor, or with a dense one."""
    return combined("__add__", 1, self, other)


def subtract(self: SparseParts, other: Any) -> Any:
    """The difference from another sparse tensor, or from a dense one."""
    return combined("__sub__", -1, self, other)


def factors(name: str, self: SparseParts, other: Any) -> Tensor:
    """The values of a dense tensor, or number, at the places of a sparse one."""
    if isinstance(other, (int, float)):
        return wrap(np.asarray(other, self.dtype.np))
    if not isinstance(other, Tensor):
        raise TypeError(
            f"For '{type(self).__name__}.{name}', 'other' must be a Tensor, but got {type(other).__name__}."
        )
    return ops.gather_nd(ops.broadcast_to(other, self.shape), places_of(self))


def multiply(self: SparseParts, other: Any) -> Any:
    """The values times those of a dense tensor at the same places."""
    return self.with_values(self.values * factors("__mul__", self, other))


def divide(self: SparseParts, other: Any) -> Any:
    """The values divided by those of a dense tensor at the same places."""
    return self.with_values(self.values / factors("__truediv__", self, other))


def coalesced(self: COOTensor) -> COOTensor:
    """Return the tensor with each place once, in order; values of the same place are added."""
    shape = wrap(np.asarray(self.shape, np.int64))
    places, values, _ = coalesce(wrap(self.indices.asnumpy().T), self.values, shape)
    return COOTensor(wrap(np.ascontiguousarray(places.asnumpy().T)), values, self.shape)


def mv(self: CSRTensor, dense_vector: Tensor) -> Tensor:
    """Return the product with a (columns, 1) matrix.

    Raises:
        ValueError: if the shape does not fit.
    """
    return csr_mm(self, dense_vector)


def mm(self: CSRTensor, matrix: Tensor | CSRTensor) -> Tensor | CSRTensor:
    """Return the product with a matrix, dense or in the CSR form."""
    return csr_mm(self, matrix)


def total(self: CSRTensor, axis: int) -> Tensor:
    """Return the sums over the columns, `axis` 1 or -1, as (rows, 1), or over the rows, 0, as (1, columns).

    Raises:
        ValueError: if `axis` is anything else.
    """
    check_choice(axis, "axis", "CSRTensor.sum", (0, 1, -1))
    groups, count = (self.indices.asnumpy(), self.shape[1]) if axis == 0 else (rows_of(self), self.shape[0])
    sums = ops.unsorted_segment_sum(self.values, wrap(groups), count)
    return ops.expand_dims(sums, 0 if axis == 0 else 1)


for _kind in (COOTensor, CSRTensor):
    _kind.abs, _kind.__neg__, _kind.__add__, _kind.__sub__ = magnitude, negated, add, subtract
    _kind.__mul__, _kind.__truediv__ = multiply, divide
COOTensor.add, COOTensor.coalesce, COOTensor.to_csr, COOTensor.to_dense = coo_add, coalesced, coo_to_csr, coo_to_dense
CSRTensor.add, CSRTensor.to_coo, CSRTensor.to_dense = csr_add, csr_to_coo, csr_to_dense
CSRTensor.mv, CSRTensor.mm, CSRTensor.sum = mv, mm, total
Tensor.to_coo, Tensor.to_csr = dense_to_sparse_coo, dense_to_sparse_csr
