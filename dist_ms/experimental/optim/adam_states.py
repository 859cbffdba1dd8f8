"""What all forms of Adam in PyTorch's form share: moments, a count of steps, and the step."""

from __future__ import annotations

import math
from typing import Any

from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor
from dist_ms.experimental.optim.arguments import check_at_least, check_decay_rates
from dist_ms.experimental.optim.optimizer import Optimizer
from dist_ms.nn.optim.hyper_parameters.arguments import float32_value
from dist_ms.nn.optim.step.elementwise import run_compiled
from dist_ms.nn.optim.step.rules import amsgrad_rule


class AdamStates(Optimizer):
    r"""Moments, running maxima for groups that ask for them, and the step count.

    .. math::
        w \leftarrow s\, w - \frac{\eta}{1-\beta_1^t}
        \frac{m}{\sqrt{v} / \sqrt{1-\beta_2^t} + \epsilon}

    Attributes:
        decoupled: the weight decay shrinks the weights to s of them; else it goes into the gradient.
        eps_after: eps is added to the corrected root, as above; else to the root itself.
    """

    exp_avg: Any
    exp_avg_sq: Any
    max_exp_avg_sq: Any
    state_step: Parameter
    decoupled = False
    eps_after = True

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "maximize": maximize,
        }
        self.check(type(self).__name__, **defaults)
        super().__init__(params, defaults)
        self.states("exp_avg")
        self.states("exp_avg_sq")
        self.more_states()

    @staticmethod
    def check(owner: str, lr: Any, betas: Any, eps: Any, weight_decay: Any, amsgrad: Any, maximize: Any) -> None:
        """Check the arguments."""
        check_decay_rates(betas, owner)
        for name, value in (("lr", lr), ("eps", eps), ("weight_decay", weight_decay)):
            check_at_least(value, name, owner)

    def more_states(self) -> None:
        """Make the running maxima and the count of steps."""
        self.states("max_exp_avg_sq")
        self.counter("state_step")

    def step_number(self) -> int:
        """The number of the step, from 1."""
        return int(self.state_step._data)

    def maximum(self, index: int, group: dict) -> Parameter:
        """The running maximum of a parameter of a group with `amsgrad`."""
        return self.max_exp_avg_sq[index]

    def update_one(self, index: int, param: Parameter, grad: Tensor, lr: float, weight_decay: float) -> None:
        """Update one parameter and its moments in place."""
        group, step = self.group_of(index), self.step_number()
        beta1, beta2 = (float32_value(beta) for beta in group["betas"])
        correction = math.sqrt(1.0 - beta2**step)
        rate = lr * correction / (1.0 - beta1**step)
        eps = group["eps"] * correction if self.eps_after else group["eps"]
        decay, shrink = (0.0, 1.0 - lr * weight_decay) if self.decoupled else (weight_decay, 1.0)
        states = [self.exp_avg[index], self.exp_avg_sq[index]]
        if group["amsgrad"]:
            states.append(self.maximum(index, group))
            self.run_rule(amsgrad_rule, index, param, grad, states, decay, rate, beta1, beta2, eps, shrink)
        else:
            numbers = (rate, decay, self.sign_of(index), beta1, 1.0 - beta1, 1.0 - beta2, eps, False)
            run_compiled("adam", param, grad, states, numbers, shrink)
