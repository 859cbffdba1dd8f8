"""The gradients of several steps make one update."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dist_ms import nn, ops
from dist_ms.common.checks import check_positive_int
from dist_ms.common.parameter import ParameterTuple
from dist_ms.common.tensor import Tensor

__all__ = ["GradientAccumulation"]

gradient_accumulation_op = ops.MultitypeFuncGraph("gradient_accumulation_op")
gradient_clear_op = ops.MultitypeFuncGraph("gradient_clear_op")


@gradient_accumulation_op.register("Number", "Tensor", "Tensor")
def _add_share(steps: int, total: Tensor, grad: Tensor) -> Tensor:
    """Add one step's share, the gradient over the number of steps, in place."""
    return ops.assign_add(total, grad / steps)


@gradient_clear_op.register("Tensor")
def _clear(total: Tensor) -> Tensor:
    """Set to zero in place."""
    return ops.assign(total, ops.zeros_like(total))


class GradientAccumulation(nn.Cell):
    """Averages the gradients of several steps, then runs the optimizer once.

    Args:
        max_accumulation_step: how many steps make one update.
        optimizer: the optimizer whose weights the gradients belong to.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.boost import GradientAccumulation
        >>> net = ms.nn.Dense(1, 1, weight_init="ones", has_bias=False)
        >>> step = GradientAccumulation(2, ms.nn.SGD(net.trainable_params(), 1.0))
        >>> for grad in (1.0, 2.0):
        ...     loss = step(ms.Tensor(0.0), (ms.Tensor([[grad]]),))
        >>> print(net.weight.asnumpy())
        [[-0.5]]
    """

    def __init__(self, max_accumulation_step: int, optimizer: nn.Optimizer) -> None:
        super().__init__()
        self._max_accumulation_step = check_positive_int(
            max_accumulation_step, "max_accumulation_step", "GradientAccumulation"
        )
        self.optimizer = optimizer
        self._accumulation_step = 0
        self._grad_accumulation = optimizer.parameters.clone(prefix="grad_accumulation", init="zeros")
        self.hyper_map = ops.HyperMap()

    def construct(self, loss: Tensor, grads: tuple[Tensor, ...]) -> Tensor:
        """Take one step's gradients; every `max_accumulation_step`-th call updates the weights. Returns the loss."""
        return self.add(loss, grads, self.optimizer)

    def add(self, loss: Tensor, grads: Sequence[Tensor], update: Callable[[ParameterTuple], Any]) -> Tensor:
        """Take one step's gradients, and call a function with the mean when it is complete. Returns the loss.

        Args:
            loss: what is returned.
            grads: the gradients.
            update: gets the means, in the parameters' order.
        """
        add = ops.partial(gradient_accumulation_op, self._max_accumulation_step)
        self.hyper_map(add, self._grad_accumulation, tuple(grads))
        self._accumulation_step += 1
        if self._accumulation_step >= self._max_accumulation_step:
            update(self._grad_accumulation)
            self.hyper_map(gradient_clear_op, self._grad_accumulation)
            self._accumulation_step = 0
        return loss
