"""ASGD, averaged stochastic gradient descent."""

from __future__ import annotations

from typing import Any

from dist_ms.common.checks import check_float
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor
from dist_ms.experimental.optim.arguments import check_above, check_at_least
from dist_ms.experimental.optim.optimizer import Optimizer
from dist_ms.nn.optim.step.rules import asgd_rates, asgd_rule


class ASGD(Optimizer):
    """`nn.ASGD` in PyTorch's form; the arguments that `nn.ASGD` has not are those of `Adam`.

    Examples:
        >>> import dist_ms as ms
        >>> w = ms.Parameter(ms.Tensor([1.0]), name="w")
        >>> _ = ms.experimental.optim.ASGD([w], lr=0.1, lambd=0.0)((ms.Tensor([1.0]),))
        >>> print(w.asnumpy())
        [0.9]
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0.0,
        maximize: bool = False,
    ) -> None:
        check_above(lr, "lr", "ASGD")
        check_at_least(weight_decay, "weight_decay", "ASGD")
        check_float(lambd, "lambd", "ASGD")
        check_float(t0, "t0", "ASGD")
        defaults = {
            "lr": lr,
            "lambd": lambd,
            "alpha": alpha,
            "t0": t0,
            "weight_decay": weight_decay,
            "maximize": maximize,
        }
        super().__init__(params, defaults)
        self._rates: dict[int, tuple[float, float]] = {}
        self.states("ax")
        self.counter("step_t")

    def update_one(self, index: int, param: Parameter, grad: Tensor, lr: float, weight_decay: float) -> None:
        """Update one parameter and its mean in place, then its rates."""
        group, step = self.group_of(index), int(self.step_t._data)
        form = (group["lambd"], group["alpha"], group["t0"])
        if step == 1:
            eta, mu = lr, 1.0
        else:  # after a checkpoint was loaded there are no rates yet
            eta, mu = self._rates.get(index) or asgd_rates(step - 1, lr, *form)
        self.run_rule(asgd_rule, index, param, grad, [self.ax[index]], weight_decay, eta, mu, group["lambd"])
        self._rates[index] = asgd_rates(step, lr, *form)
