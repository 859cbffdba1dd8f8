"""Stochastic gradient descent."""

from __future__ import annotations

from typing import Any

from dist_ms.common.checks import check_bool, check_type
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor
from dist_ms.experimental.optim.arguments import check_at_least
from dist_ms.experimental.optim.optimizer import Optimizer
from dist_ms.nn.optim.sgd import check_nesterov, sgd_step


class SGD(Optimizer):
    """`experimental.optim.SGD`, where one number of steps tells the first step of all parameters.

    Examples:
        >>> import dist_ms as ms
        >>> w = ms.Parameter(ms.Tensor([1.0]), name="w")
        >>> _ = ms.mint.optim.SGD([w], lr=0.5)((ms.Tensor([1.0]),))
        >>> print(w.asnumpy())
        [0.5]
    """

    def __init__(
        self,
        params: Any,
        lr: Any,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        for name, value in (("lr", lr), ("momentum", momentum), ("weight_decay", weight_decay)):
            check_at_least(value, name, "SGD")
        check_type(dampening, "dampening", "SGD", (float, int, bool))
        check_bool(nesterov, "nesterov", "SGD")
        check_bool(maximize, "maximize", "SGD")
        check_nesterov("SGD", nesterov, momentum, dampening)
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "weight_decay": weight_decay,
            "dampening": dampening,
            "nesterov": nesterov,
            "maximize": maximize,
        }
        super().__init__(params, defaults)
        self.states("momentum_buf")
        self.counter("step_t")

    def update_one(self, index: int, param: Parameter, grad: Tensor, lr: float, weight_decay: float) -> None:
        """Update one parameter and its momentum in place."""
        group, first = self.group_of(index), int(self.step_t._data) == 1
        settings = (lr, group["momentum"], group["dampening"], weight_decay, group["nesterov"], first)
        sgd_step(param, grad, self.momentum_buf[index], *settings, self.sign_of(index))
