"""Gradients of tables that travel by rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dist_ms.common.tensor import Tensor
from dist_ms.common.tensor.sparse_tensor import RowTensor
from dist_ms.parallel.plan import SyncPlan
from dist_ms.parallel.reduction.row_gradients import Rows, joined, reduce_rows, rows_of
from dist_ms.parallel.reduction.summation import Summation


class RowSums:
    """The gradients of which the rows are gathered from all ranks and added.

    Args:
        plan: has the weights' shapes and types.
        indices: which weights.
        summation: how they are added.
    """

    def __init__(self, plan: SyncPlan, indices: Sequence[int], summation: Summation) -> None:
        self._plan, self._indices, self._summation = plan, tuple(indices), summation
        self.forget()

    def __contains__(self, index: int) -> bool:
        return index in self._indices

    def __len__(self) -> int:
        return len(self._indices)

    def forget(self) -> None:
        """Start a step without any gradient."""
        self._rows: dict[int, Rows] = {}
        self._sums: dict[int, Tensor | RowTensor] = {}

    def take(self, index: int, grad: Tensor | RowTensor | None, factor: float) -> None:
        """Add a gradient to what this rank has.

        Args:
            index: the weight.
            grad: its gradient, by rows or dense; None stands for zeros.
            factor: what it counts.
        """
        row = self._plan.rows[self._plan.weights[index]]
        rows = rows_of(grad, row.shape, np.dtype(row.dtype), factor * self._summation.before)
        before = self._rows.get(index)
        self._rows[index] = rows if before is None else joined(before, rows)

    def reduce(self, scale: float) -> None:
        """Add them over the ranks.

        Args:
            scale: what the sums are multiplied with.
        """
        found = reduce_rows([self._rows[i] for i in self._indices], self._summation.comm, scale)
        self._sums = dict(zip(self._indices, found, strict=True))

    def result(self, index: int) -> Tensor | RowTensor:
        """Return the sum of a weight's gradients.

        Args:
            index: the weight.
        """
        return self._sums[index]
