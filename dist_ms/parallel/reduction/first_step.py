"""The first step, in which the ranks find out which gradients come by rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from dist_ms.common.tensor import Tensor
from dist_ms.common.tensor.sparse_tensor import RowTensor
from dist_ms.communication import Comm
from dist_ms.parallel.plan import SyncPlan
from dist_ms.parallel.reduction import row_gradients

Replan = Callable[[frozenset[str]], SyncPlan]


class FirstStep:
    """Gradients that wait until it is known where they go.

    Args:
        replan: makes the plan again when it is known which weights' gradients come as rows.
        comm: the ranks, which agree on that.

    Attributes:
        waiting: per gradient that has come the weight, the gradient and its factor.
    """

    def __init__(self, replan: Replan, comm: Comm) -> None:
        self._replan, self._comm = replan, comm
        self.waiting: list[tuple[int, Tensor | RowTensor | None, float]] = []

    def take(self, index: int, grad: Tensor | RowTensor | None, factor: float) -> None:
        """Have a gradient wait.

        Args:
            index: the weight.
            grad: its gradient; None: zeros.
            factor: what it is multiplied by.
        """
        self.waiting.append((index, grad, factor))

    def new_plan(self, names: Sequence[str]) -> SyncPlan | None:
        """Agree on which gradients come as rows; return the plan for these, None where none does.

        Args:
            names: the weights' names.
        """
        kinds = np.zeros(len(names), np.int8)  # 0: none came, 1: rows, 2: dense
        for index, grad, _ in self.waiting:
            if grad is not None:
                rows = isinstance(grad, RowTensor) and row_gradients.pays(grad, self._comm.size)
                kinds[index] = max(kinds[index], 1 if rows else 2)
        kinds = self._comm.all_reduce(kinds, "max")
        found = frozenset(names[int(i)] for i in np.flatnonzero(kinds == 1))
        return self._replan(found) if found else None
