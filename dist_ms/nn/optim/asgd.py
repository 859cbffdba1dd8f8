"""ASGD, averaged stochastic gradient descent."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.checks import check_float
from dist_ms.common.parameter import Parameter, ParameterTuple
from dist_ms.common.tensor import Tensor
from dist_ms.nn.optim.hyper_parameters.arguments import remembers_arguments
from dist_ms.nn.optim.optimizer import Optimizer
from dist_ms.nn.optim.step.rules import asgd_rates, asgd_rule


class ASGD(Optimizer):
    r"""Averaged stochastic gradient descent: SGD that also keeps a mean of the weights.

    .. math::
        w \leftarrow (1 - \lambda \eta_t) w - \eta_t g, \quad a \leftarrow a + \mu_t (w - a), \quad
        \eta_{t+1} = \frac{\eta}{(1 + \lambda \eta t)^\alpha}, \quad \mu_{t+1} = \frac{1}{\max(1, t - t_0)}

    with :math:`\eta_1 = \eta` and :math:`\mu_1 = 1`. g includes the weight decay; the means are the
    states `ax`. Source: Polyak and Juditsky, Acceleration of Stochastic Approximation by Averaging, 1992.

    Args:
        params: Parameters or group dictionaries.
        learning_rate: a float, a list per step, a Tensor or a schedule.
        lambd: :math:`\lambda`, a float.
        alpha: :math:`\alpha`, a float.
        t0: the step after which the mean is over more than the last weights, a float.
        weight_decay: a float or a schedule.

    Raises:
        TypeError: for an argument of another type.
        ValueError: for a negative learning rate or weight decay.

    Examples:
        >>> import dist_ms as ms
        >>> w = ms.Parameter(ms.Tensor([1.0]), name="w")
        >>> opt = ms.nn.ASGD([w], learning_rate=0.1, lambd=0.0)
        >>> print(opt((ms.Tensor([1.0]),)), w.asnumpy())
        True [0.9]
    """

    element_wise = True

    @remembers_arguments
    def __init__(
        self,
        params: Any,
        learning_rate: Any = 0.1,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay)
        self.lambd = check_float(lambd, "lambd", "ASGD")
        self.alpha = check_float(alpha, "alpha", "ASGD")
        self.t0 = check_float(t0, "t0", "ASGD")
        self.mu = ParameterTuple([Parameter(Tensor(np.float32(1)), f"mu_{p.name}") for p in self.parameters])
        self.eta = ParameterTuple([Parameter(Tensor(np.float32(0)), f"eta_{p.name}") for p in self.parameters])
        self.ax = self.states("ax_")

    def construct(self, gradients: Any) -> bool:
        """Update every parameter and return True."""
        super().construct(gradients)
        return True

    def update_one(self, index: int, param: Parameter, grad: Tensor, lr: float, weight_decay: float) -> None:
        """Update one parameter and its mean in place, then its rates."""
        step = int(self.global_step._data[0])
        eta, mu = self.eta[index]._data, self.mu[index]._data
        if step == 1:
            eta.fill(lr)
        settings = (eta.item(), mu.item(), self.lambd)
        self.run_rule(asgd_rule, param, grad, [self.ax[index]], weight_decay, *settings)
        next_eta, next_mu = asgd_rates(step, lr, self.lambd, self.alpha, self.t0)
        eta.fill(next_eta)
        mu.fill(next_mu)
