"""Train steps that run a `GradAccumulationCell` part by part."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

from dist_ms.autograd.differentiate import Graph
from dist_ms.common.tensor import Tensor
from dist_ms.nn.cell import Cell
from dist_ms.nn.wrap.loss_scale import TrainOneStepWithLossScaleCell
from dist_ms.nn.wrap.micro_batches import GradAccumulationCell
from dist_ms.nn.wrap.train_step import TrainOneStepCell, seed_of
from dist_ms.parallel import Reducer


def accumulation_of(network: Cell) -> GradAccumulationCell | None:
    """Return the cell in a network that runs it in parts, if there is one.

    Args:
        network: where to look.
    """
    return next((c for _, c in network.cells_and_names() if isinstance(c, GradAccumulationCell)), None)


class _InParts:
    """A train step's gradients as the mean over the parts; its loss is the sum over the parts, or their mean."""

    network: Cell
    weights: Any
    uneven: str | None
    _reducer: Callable[[], Reducer]
    samples: Callable[[tuple], int]

    def _gradients(self, inputs: tuple, sens: Any) -> tuple[Any, list[Tensor]]:
        cell = accumulation_of(self.network)
        sens = sens / cell.micro_size
        if cell is not self.network:  # what is around the parts needs them all at once
            return super()._gradients(inputs, sens)
        total, grads, sink = None, [], self._reducer()
        for index in range(cell.micro_size):
            last = index == cell.micro_size - 1
            if self.uneven == "exact":
                sink.samples.set(self.samples(inputs), counted=index == 0)
            graph = Graph(cell.network, cell.part(index, inputs), weights=self.weights)
            loss = graph.outputs
            with nullcontext() if last else sink.no_sync():
                _, grads = graph.sweep(loss, seed_of(loss, sens), sink)
            total = loss if total is None else total + loss
        return cell.joined(total), grads


class AccumulationStep(_InParts, TrainOneStepCell):
    """`TrainOneStepCell` for a network with a `GradAccumulationCell` in it."""


class AccumulationStepWithLossScale(_InParts, TrainOneStepWithLossScaleCell):
    """`TrainOneStepWithLossScaleCell` for a network with a `GradAccumulationCell` in it."""
