"""RAdam."""

from __future__ import annotations

import math
from typing import Any

from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor
from dist_ms.experimental.optim.arguments import check_above, check_at_least, check_float_betas
from dist_ms.experimental.optim.optimizer import Optimizer
from dist_ms.nn.optim.hyper_parameters.arguments import float32_value
from dist_ms.nn.optim.step.rules import radam_rule


class RAdam(Optimizer):
    r"""RAdam: Adam that holds back its adaptive rate while the squares have too few samples.

    .. math::
        \rho_\infty = \frac{2}{1-\beta_2} - 1, \quad
        \rho_t = \rho_\infty - \frac{2 t \beta_2^t}{1 - \beta_2^t}, \quad
        r_t = \sqrt{\frac{(\rho_t-4)(\rho_t-2)\rho_\infty}{(\rho_\infty-4)(\rho_\infty-2)\rho_t}}

        w \leftarrow w - \eta \frac{m}{1-\beta_1^t} \begin{cases}
            r_t \sqrt{1-\beta_2^t} / (\sqrt v + \epsilon) & \rho_t > 5 \\ 1 & \text{otherwise}
        \end{cases}

    with the moments m and v of Adam. Source: Liu et al., On the Variance of the Adaptive
    Learning Rate and Beyond, 2020.

    Args:
        params: Parameters or group dictionaries.
        lr: a positive number or scalar Tensor.
        betas: decay rates, floats in [0, 1).
        eps: added to the root, positive.
        weight_decay: times the weights, added to the gradient.

    Raises:
        TypeError: for an argument of another type.
        ValueError: for a number out of range.

    Examples:
        >>> import dist_ms as ms
        >>> w = ms.Parameter(ms.Tensor([1.0]), name="w")
        >>> _ = ms.experimental.optim.RAdam([w], lr=0.25)((ms.Tensor([2.0]),))
        >>> print(w.asnumpy())
        [0.5]
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
    ) -> None:
        check_above(lr, "lr", "RAdam")
        check_at_least(weight_decay, "weight_decay", "RAdam")
        check_above(eps, "eps", "RAdam")
        check_float_betas(betas, "RAdam")
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay})
        self.counter("step_t")
        self.states("exp_avg")
        self.states("exp_avg_sq")

    def update_one(self, index: int, param: Parameter, grad: Tensor, lr: float, weight_decay: float) -> None:
        """Update one parameter and its moments in place."""
        group, step = self.group_of(index), int(self.step_t._data)
        beta1, beta2 = (float32_value(beta) for beta in group["betas"])
        rate = lr / (1.0 - beta1**step)
        rectified = _rectification(step, beta2)
        if rectified:
            rate *= rectified * math.sqrt(1.0 - beta2**step)
        states = [self.exp_avg[index], self.exp_avg_sq[index]]
        settings = (rate, beta1, beta2, group["eps"], rectified > 0.0)
        self.run_rule(radam_rule, index, param, grad, states, weight_decay, *settings)


def _rectification(step: int, beta2: float) -> float:
    """The factor r of a step; 0 where the variance has no estimate yet."""
    longest = 2.0 / (1.0 - beta2) - 1.0
    length = longest - 2.0 * step * beta2**step / (1.0 - beta2**step)
    if length <= 5.0:
        return 0.0
    return math.sqrt((length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length))
