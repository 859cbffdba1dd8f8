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
    """`nn.SGD` in PyTorch's form.

    Args:
        params, lr, weight_decay, maximize: as in `Adam`.
        momentum, dampening, nesterov: as in `nn.SGD`.

    Raises:
        TypeError: for an argument of another type.
        ValueError: for a number out of range, or `nesterov` without momentum or with dampening.

    Examples:
        >>> import dist_ms as ms
        >>> w = ms.Parameter(ms.Tensor([1.0]), name="w")
        >>> _ = ms.experimental.optim.SGD([w], lr=0.5)((ms.Tensor([1.0]),))
        >>> print(w.asnumpy())
        [0.5]
    """

    def __init__(
        self,
        params: Any,
        lr: Any,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        check_type(lr, "lr", "SGD", (float, int, Tensor))
        check_at_least(lr, "lr", "SGD")
        check_type(momentum, "momentum", "SGD", (int, float))
        check_at_least(momentum, "momentum", "SGD")
        check_type(dampening, "dampening", "SGD", (int, float))
        check_bool(nesterov, "nesterov", "SGD")
        check_bool(maximize, "maximize", "SGD")
        check_nesterov("SGD", nesterov, momentum, dampening)
        defaults = {
            "lr": lr,
            "momentum": float(momentum),
            "dampening": float(dampening),
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
            "grad_centralization": False,
        }
        super().__init__(params, defaults)
        self.states("accum")
        self.states("stat", fill=1.0)

    def update_one(self, index: int, param: Parameter, grad: Tensor, lr: float, weight_decay: float) -> None:
        """Update one parameter in place; `stat` is 1 before its first step with momentum and 0 after it."""
        group = self.group_of(index)
        stat = self.stat[index]._data
        first = bool(group["momentum"] and stat.size and stat.flat[0] > 0)
        settings = (lr, group["momentum"], group["dampening"], weight_decay, group["nesterov"], first)
        sgd_step(param, grad, self.accum[index], *settings, self.sign_of(index))
        if first:
            stat.fill(0)
