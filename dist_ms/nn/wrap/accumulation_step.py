"""Train steps that run a `GradAccumulationCell` part by part."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.autograd.differentiate import Graph
from dist_ms.common.sparse_tensor import RowTensor, joined
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.nn.cell import Cell
from dist_ms.nn.wrap.loss_scale import TrainOneStepWithLossScaleCell
from dist_ms.nn.wrap.micro_batches import GradAccumulationCell
from dist_ms.nn.wrap.train_step import TrainOneStepCell, seed_of


def accumulation_of(network: Cell) -> GradAccumulationCell | None:
    """Return the cell in a network that runs it in parts, if there is one.

    Args:
        network: where to look.
    """
    return next((c for _, c in network.cells_and_names() if isinstance(c, GradAccumulationCell)), None)


class _InParts:
    """A train step's gradients as the mean over the parts; its loss is the sum over the parts."""

    network: Cell
    weights: Any
    reducer_flag: bool
    grad_reducer: Any

    def _gradients(self, inputs: tuple, sens: Any) -> tuple[Any, list[Tensor]]:
        cell = accumulation_of(self.network)
        sens = sens / cell.micro_size
        if cell is not self.network:  # what is around the parts needs them all at once
            return super()._gradients(inputs, sens)
        total, sums = None, None
        for index in range(cell.micro_size):
            graph = Graph(cell.network, cell.part(index, inputs), weights=self.weights)
            loss = graph.outputs
            _, grads = graph.sweep(loss, seed_of(loss, sens))
            total = loss if total is None else total + loss
            if sums is None:
                sums = [g if type(g) is RowTensor else wrap(g.array().copy()) for g in grads]
            else:
                sums = [_added(s, g) for s, g in zip(sums, grads, strict=True)]
        grads = sums
        return total, self.grad_reducer.sink().reduce(grads) if self.reducer_flag else grads


def _added(total: Tensor | RowTensor, grad: Tensor | RowTensor) -> Tensor | RowTensor:
    """The sum of two gradients of a weight, in the memory of the first where it has room."""
    if type(total) is not type(grad):
        total, grad = (grad, total) if type(total) is RowTensor else (total, grad)
    if type(grad) is RowTensor:
        return joined(total, grad) if type(total) is RowTensor else grad.added_to(total, own=True)
    np.add(total.array(), grad.array(), out=total.array())
    return total


class AccumulationStep(_InParts, TrainOneStepCell):
    """`TrainOneStepCell` for a network with a `GradAccumulationCell` in it."""


class AccumulationStepWithLossScale(_InParts, TrainOneStepWithLossScaleCell):
    """`TrainOneStepWithLossScaleCell` for a network with a `GradAccumulationCell` in it."""
