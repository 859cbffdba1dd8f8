"""Gradients that stay on their rank: of its own weights, of weights on servers, and all of a world of one."""

from __future__ import annotations

import numpy as np

from dist_ms.common.tensor import Tensor, wrap
from dist_ms.common.tensor.rank_part import RankPart
from dist_ms.common.tensor.sparse_tensor import RowTensor
from dist_ms.parallel.plan import SyncPlan
from dist_ms.parallel.reduction import row_gradients
from dist_ms.parallel.reduction.summation import Summation


class Kept:
    """The gradients that no rank sends to another.

    Args:
        plan: says which are a rank's own and which a server's.
        summation: what servers' averages are to become.
    """

    def __init__(self, plan: SyncPlan, summation: Summation) -> None:
        self._plan, self._summation = plan, summation
        self._kinds = [plan.rows[row].gradient for row in plan.weights]
        self.forget()

    def forget(self) -> None:
        """Start a step without any gradient."""
        self._grads: dict[int, Tensor | RowTensor | None] = {}
        self._summed: set[int] = set()  # sums made here, so that their memory may be written

    def take(self, index: int, grad: Tensor | RowTensor | None, factor: float) -> None:
        """Add a gradient to what came before.

        Args:
            index: the weight.
            grad: its gradient; None stands for zeros.
            factor: what it counts on a server; a rank's own is its own.
        """
        if self._kinds[index] == "server" and grad is not None and factor != 1:
            grad = _times(grad, factor)
        before = self._grads.get(index)
        if before is None:
            self._grads[index] = grad
        elif grad is not None:
            self._grads[index] = _sum(before, grad, index in self._summed)
            self._summed.add(index)

    def reduce(self, scale: float) -> None:
        """Make of the servers' average over the workers the sum or mean asked for.

        Args:
            scale: what sums are multiplied with.
        """
        factor = self._summation.before * scale * self._summation.comm.size
        if factor == 1:
            return
        for index, grad in self._grads.items():
            if self._kinds[index] == "server" and grad is not None:
                self._grads[index] = _times(grad, factor)

    def result(self, index: int) -> Tensor | RowTensor | None:
        """Return a weight's gradient.

        Args:
            index: the weight.
        """
        grad, comm = self._grads[index], self._summation.comm
        if self._kinds[index] == "keep" and comm.size > 1:
            if grad is None:  # other ranks' may have one, and all are to see that they are the ranks' own
                row = self._plan.rows[self._plan.weights[index]]
                grad = wrap(np.zeros(row.shape, row.dtype))
            (grad.values if isinstance(grad, RowTensor) else grad)._part = RankPart("own", comm)
        return grad


def _times(grad: Tensor | RowTensor, factor: float) -> Tensor | RowTensor:
    """Multiply a gradient."""
    if isinstance(grad, RowTensor):
        return grad.with_values(wrap(grad.values.array() * grad.values.array().dtype.type(factor)))
    return wrap(grad.array() * grad.array().dtype.type(factor))


def _sum(a: Tensor | RowTensor, b: Tensor | RowTensor, own: bool) -> Tensor | RowTensor:
    """Add two gradients, into the memory of the first if that is `own`."""
    if isinstance(a, RowTensor) and isinstance(b, RowTensor):
        shape, dtype = tuple(a.dense_shape), a.values.array().dtype
        rows = row_gradients.joined(*(row_gradients.rows_of(g, shape, dtype) for g in (a, b)))
        return rows.tensor(1.0)
    first, second = _dense(a), _dense(b)
    into = first if own and first.dtype == second.dtype and not isinstance(a, RowTensor) else None
    return wrap(np.add(first, second, out=into))


def _dense(grad: Tensor | RowTensor) -> np.ndarray:
    if not isinstance(grad, RowTensor):
        return grad.array()
    rows = row_gradients.rows_of(grad, tuple(grad.dense_shape), grad.values.array().dtype)
    return rows.dense().reshape(grad.dense_shape).astype(rows.dtype, copy=False)
