"""Adam, and the state it shares with AdamW."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.parameter import Parameter, ParameterTuple
from dist_ms.common.tensor import Tensor
from dist_ms.experimental.optim.adam_step import adam_step
from dist_ms.experimental.optim.arguments import check_strictly
from dist_ms.experimental.optim.optimizer import Optimizer
from dist_ms.nn.optim.optimizer import make_states


class AdamStates(Optimizer):
    """Moments, running maxima in the groups that ask for them, and the step count."""

    first_count = 0  # the step count before the first step
    pair_types: Any = tuple  # of betas

    def __init__(
        self, params: Any, lr: Any, betas: Any, eps: Any, weight_decay: Any, amsgrad: Any, maximize: Any
    ) -> None:
        check_strictly(type(self).__name__, lr, betas, eps, weight_decay, amsgrad, maximize, self.pair_types)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "maximize": maximize,
        }
        super().__init__(params, defaults)
        self.states("exp_avg")
        self.states("exp_avg_sq")
        self.counter("state_step", np.float32, (1,), self.first_count)

    def add_param_group(self, param_group: dict) -> None:
        """Add a group, with running maxima if it sets `amsgrad`."""
        super().add_param_group(param_group)
        if param_group["amsgrad"]:
            param_group["max_exp_avg_sq"] = ParameterTuple(make_states(param_group["params"], "max_exp_avg_sq"))

    def begin_step(self) -> None:
        """Count the step."""
        self.state_step._data += 1

    def moments(self, index: int) -> list[Parameter]:
        """The moments of a parameter, and its running maximum."""
        group = self.group_of(index)
        found = [self.exp_avg[index], self.exp_avg_sq[index]]
        if group["amsgrad"]:
            first = self.group_start_id[self.param_groups.index(group)]
            found.append(group["max_exp_avg_sq"][index - first])
        return found

    def step_settings(self, index: int, lr: float) -> tuple:
        """Learning rate, decay rates, stabiliser and the number of the step."""
        group = self.group_of(index)
        step = int(self.state_step._data[0]) - self.first_count
        return lr, group["betas"], group["eps"], step


class Adam(AdamStates):
    r"""Adam: steps scaled by running moments of the gradient.

    .. math::
        m \leftarrow \beta_1 m + (1-\beta_1) g, \quad v \leftarrow \beta_2 v + (1-\beta_2) g^2, \quad
        w \leftarrow w - \frac{\eta}{1-\beta_1^t} \frac{m}{\sqrt{v} / \sqrt{1-\beta_2^t} + \epsilon}

    With `amsgrad` the running maximum of v stands in the root. Sources: Kingma and Ba, Adam: A
    Method for Stochastic Optimization, 2015; Reddi et al., On the Convergence of Adam and
    Beyond, 2018.

    Args:
        params: Parameters or group dictionaries.
        lr: a float of 0 or more.
        betas: a tuple of decay rates, floats in [0, 1).
        eps: added to the corrected root, a float of 0 or more.
        weight_decay: times the weights, added to the gradient; a float of 0 or more.
        amsgrad: use the largest v so far.
        maximize: go up the gradient.

    Raises:
        TypeError: for an argument of another type.
        ValueError: for a number out of range.

    Examples:
        >>> import dist_ms as ms
        >>> w = ms.Parameter(ms.Tensor([1.0]), name="w")
        >>> opt = ms.mint.optim.Adam([w], lr=0.1)
        >>> print(opt((ms.Tensor([3.0]),)), w.asnumpy().round(4))
        True [0.9]
    """

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize)

    def update_one(self, index: int, param: Parameter, grad: Tensor, lr: float, weight_decay: float) -> None:
        """Update one parameter and its moments in place."""
        settings = self.step_settings(index, lr)
        adam_step(param, grad, self.moments(index), *settings, sign=self.sign_of(index), decay=weight_decay)
