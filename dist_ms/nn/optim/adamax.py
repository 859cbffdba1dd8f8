"""AdaMax."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor
from dist_ms.nn.optim.hyper_parameters.arguments import check_betas, float32_value, remembers_arguments
from dist_ms.nn.optim.optimizer import Optimizer
from dist_ms.nn.optim.step.rules import adamax_rule


class AdaMax(Optimizer):
    r"""AdaMax: Adam with the largest gradient, faded, in the place of the root of the squares.

    .. math::
        m \leftarrow \beta_1 m + (1-\beta_1) g, \quad u \leftarrow \max(\beta_2 u, |g|), \quad
        w \leftarrow w - \frac{\eta}{1-\beta_1^t} \frac{m}{u + \epsilon}

    g includes the weight decay. Source: Kingma and Ba, Adam: A Method for Stochastic Optimization, 2015, section 7.

    Args:
        params: Parameters or group dictionaries.
        learning_rate: a float, a list per step, a Tensor or a schedule.
        beta1, beta2: decay rates in (0, 1).
        eps: added to u, positive.
        weight_decay: a float or a schedule.
        loss_scale: gradients are divided by it.

    Raises:
        TypeError: for an argument of another type.
        ValueError: for a number out of range.

    Examples:
        >>> import dist_ms as ms
        >>> w = ms.Parameter(ms.Tensor([1.0]), name="w")
        >>> opt = ms.nn.AdaMax([w], learning_rate=0.1)
        >>> _ = opt((ms.Tensor([3.0]),))
        >>> print(w.asnumpy())
        [0.9]
    """

    element_wise = True

    @remembers_arguments
    def __init__(
        self,
        params: Any,
        learning_rate: Any = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-8,
        weight_decay: Any = 0.0,
        loss_scale: float = 1.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        check_betas("AdaMax", beta1, beta2, eps)
        self.beta1, self.beta2, self.eps = float32_value(beta1), float32_value(beta2), eps
        self.beta1_power = Parameter(Tensor(np.ones(1, np.float32)), name="beta1_power")
        self.moment1 = self.states("moment1")
        self.moment2 = self.states("moment2")

    def begin_step(self) -> None:
        """Advance the power of the first decay rate."""
        self.beta1_power._data *= np.float32(self.beta1)

    def update_one(self, index: int, param: Parameter, grad: Tensor, lr: float, weight_decay: float) -> None:
        """Update one parameter and its moments in place."""
        states = [self.moment1[index], self.moment2[index]]
        corrected = lr / (1.0 - self.beta1_power._data.item())
        settings = (corrected, self.beta1, self.beta2, self.eps, False)
        self.run_rule(adamax_rule, param, grad, states, weight_decay, *settings)
