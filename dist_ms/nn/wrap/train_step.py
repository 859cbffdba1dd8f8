"""TrainOneStepCell: forward, gradients, reduction over the ranks, update.

The step has no branch for distribution: a gradient sink stores the gradients of a
world of one, or reduces them over the ranks while the sweep runs.
"""

from __future__ import annotations

from typing import Any

from dist_ms.autograd.differentiate import Graph
from dist_ms.autograd.grad_operation import GradOperation
from dist_ms.autograd.tape import recording
from dist_ms.autograd.tree import map_tensors
from dist_ms.common.parallel_context import get_auto_parallel_context
from dist_ms.common.tensor import Tensor
from dist_ms.nn.cell import Cell
from dist_ms.nn.layer.basic import Identity
from dist_ms.nn.optim.optimizer import Optimizer
from dist_ms.nn.optim.updates import takes_rows
from dist_ms.nn.wrap.grad_reducer import DistributedGradReducer, is_data_parallel
from dist_ms.ops.creation import full_like


class TrainOneStepCell(Cell):
    """One training step: `construct(*inputs)` runs the network, updates its parameters, returns the loss.

    Under `set_auto_parallel_context(parallel_mode="data_parallel")` with more than one
    rank, the first step broadcasts rank 0's parameters and optimizer state, and each
    step all-reduces the gradients.

    Args:
        network: a Cell that returns the loss (several outputs: their gradients add up).
        optimizer: updates the parameters it was made with.
        sens: the gradient of the loss to start from; 1.0 by default.
        return_grad: also return the gradients, a dict by parameter name.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms import nn
        >>> net = nn.WithLossCell(nn.Dense(1, 1, weight_init="ones", has_bias=False), nn.MSELoss())
        >>> step = nn.TrainOneStepCell(net, nn.SGD(net.trainable_params(), 0.5))
        >>> print(step(ms.Tensor([[1.0]]), ms.Tensor([[0.0]])))
        1.0
    """

    def __init__(
        self, network: Cell, optimizer: Optimizer, sens: float | None = None, return_grad: bool = False
    ) -> None:
        super().__init__(auto_prefix=False)
        if not isinstance(network, Cell):
            raise TypeError(f"For 'TrainOneStepCell', 'network' must be a Cell, but got {type(network).__name__}.")
        if not isinstance(optimizer, Cell):
            raise TypeError(
                f"For 'TrainOneStepCell', 'optimizer' must be an Optimizer, but got {type(optimizer).__name__}."
            )
        if not isinstance(return_grad, bool):
            raise TypeError(
                f"For 'TrainOneStepCell', 'return_grad' must be a bool, but got {type(return_grad).__name__}."
            )
        if isinstance(sens, (int, float)) and sens == 0:
            raise ValueError("For 'TrainOneStepCell', 'sens' must not be 0, but got 0: all gradients would be 0.")
        self.network = network
        self.network.set_grad()
        self.optimizer = optimizer
        self.weights = optimizer.parameters
        self.grad = GradOperation(get_by_list=True, sens_param=True)
        self.grad_no_sens = GradOperation(get_by_list=True)
        self.sens = 1.0 if sens is None else sens
        self.return_grad = return_grad
        self.parallel_mode = get_auto_parallel_context("parallel_mode")
        self.reducer_flag = is_data_parallel()
        self.grad_reducer: Any = Identity()
        if self.reducer_flag:
            self.grad_reducer = DistributedGradReducer(self.weights, network=self, reuse=not return_grad)
            self.mean, self.degree = self.grad_reducer.mean, self.grad_reducer.degree

    def construct(self, *inputs: Any) -> Any:
        """Train on one batch and return the loss (and gradients)."""
        loss, grads = self._gradients(inputs, self.sens)
        self.optimizer(tuple(grads))
        if self.return_grad:
            return loss, {p.name: g for p, g in zip(self.weights, grads)}
        return loss

    def _gradients(self, inputs: tuple, sens: Any) -> tuple[Any, list[Tensor]]:
        """The loss and the gradients, reduced over the ranks."""
        sink = self.grad_reducer.sink() if self.reducer_flag else None
        graph = Graph(self.network, inputs, weights=self.weights)
        loss = graph.outputs
        recording.rows = sink is None and not self.return_grad and takes_rows(self.optimizer)
        try:
            _, grads = graph.sweep(loss, seed_of(loss, sens), sink)
        finally:
            recording.rows = False
        return loss, grads


def seed_of(outputs: Any, sens: Any) -> Any:
    """The gradient of the outputs, `sens` everywhere; None means ones."""
    if isinstance(sens, (int, float)) and sens == 1.0:
        return None
    value = sens.asnumpy().item() if isinstance(sens, Tensor) else sens
    return map_tensors(lambda x: full_like(x, value), outputs)
