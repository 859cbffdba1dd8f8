"""NAdam."""

from __future__ import annotations

import math
from typing import Any

from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor
from dist_ms.experimental.optim.arguments import check_above, check_at_least, check_float_betas
from dist_ms.experimental.optim.optimizer import Optimizer
from dist_ms.nn.optim.hyper_parameters.arguments import float32_value
from dist_ms.nn.optim.step.rules import nadam_rule


class NAdam(Optimizer):
    r"""NAdam: Adam with Nesterov's momentum, which grows over the first steps.

    .. math::
        \mu_t = \beta_1 (1 - \tfrac12\, 0.96^{t \psi}), \quad P_t = \prod_{i \le t} \mu_i, \quad
        d = \sqrt{v / (1-\beta_2^t)} + \epsilon

        w \leftarrow w - \eta \left( \frac{1 - \mu_t}{1 - P_t} \frac{g}{d}
        + \frac{\mu_{t+1}}{1 - P_t \mu_{t+1}} \frac{m}{d} \right)

    with the moments m and v of Adam. Source: Dozat, Incorporating Nesterov Momentum into Adam, 2016.

    Args:
        params: Parameters or group dictionaries.
        lr: a positive number or scalar Tensor.
        betas: decay rates, floats in [0, 1).
        eps: added to the root, positive.
        weight_decay: times the weights, added to the gradient.
        momentum_decay: :math:`\psi`, 0 or more.

    Raises:
        TypeError: for an argument of another type.
        ValueError: for a number out of range.

    Examples:
        >>> import dist_ms as ms
        >>> w = ms.Parameter(ms.Tensor([1.0]), name="w")
        >>> _ = ms.experimental.optim.NAdam([w], lr=0.1)((ms.Tensor([3.0]),))
        >>> print(w.asnumpy().round(4))
        [0.8944]
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        momentum_decay: float = 4e-3,
    ) -> None:
        check_above(lr, "lr", "NAdam")
        check_above(eps, "eps", "NAdam")
        check_at_least(weight_decay, "weight_decay", "NAdam")
        check_at_least(momentum_decay, "momentum_decay", "NAdam")
        check_float_betas(betas, "NAdam")
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "momentum_decay": momentum_decay,
        }
        super().__init__(params, defaults)
        self.counter("step_t")
        self.states("exp_avg")
        self.states("exp_avg_sq")
        self._products: dict[int, tuple[int, float]] = {}

    def update_one(self, index: int, param: Parameter, grad: Tensor, lr: float, weight_decay: float) -> None:
        """Update one parameter and its moments in place."""
        group, step = self.group_of(index), int(self.step_t._data)
        beta1, beta2 = (float32_value(beta) for beta in group["betas"])
        form = (beta1, group["momentum_decay"])
        product = self._product(index, step, form)
        now, ahead = _momentum(step, *form), _momentum(step + 1, *form)
        of_gradient = lr * (1.0 - now) / (1.0 - product)
        of_moment = lr * ahead / (1.0 - product * ahead)
        states = [self.exp_avg[index], self.exp_avg_sq[index]]
        settings = (of_gradient, of_moment, beta1, beta2, math.sqrt(1.0 - beta2**step), group["eps"])
        self.run_rule(nadam_rule, index, param, grad, states, weight_decay, *settings)

    def _product(self, index: int, step: int, form: tuple[float, float]) -> float:
        """P of this step: the last one times a factor; from the start after a checkpoint was loaded."""
        last, product = self._products.get(index, (0, 1.0))
        if last >= step:
            last, product = 0, 1.0
        for t in range(last + 1, step + 1):
            product *= _momentum(t, *form)
        self._products[index] = (step, product)
        return product


def _momentum(step: int, beta1: float, decay: float) -> float:
    return beta1 * (1.0 - 0.5 * 0.96 ** (step * decay))
