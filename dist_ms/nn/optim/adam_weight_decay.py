"""Adam with decoupled weight decay, MindSpore's form of it."""

from __future__ import annotations

from typing import Any

from dist_ms.common.parameter import Parameter
from dist_ms.nn.optim.hyper_parameters.arguments import check_betas, float32_value
from dist_ms.nn.optim.optimizer import Optimizer


class AdamWeightDecay(Optimizer):
    r"""Adam without bias correction and with weight decay apart from the gradient.

    .. math::
        m \leftarrow \beta_1 m + (1-\beta_1) g, \quad v \leftarrow \beta_2 v + (1-\beta_2) g^2, \quad
        w \leftarrow w - \eta \left( \frac{m}{\sqrt{v} + \epsilon} + \lambda w \right)

    Source: Loshchilov and Hutter, Decoupled Weight Decay Regularization, 2019.

    Args:
        params: Parameters or group dictionaries.
        learning_rate: a float, a list per step, a Tensor or a schedule.
        beta1, beta2: decay rates in (0, 1).
        eps: added to the root, positive.
        weight_decay: a float or a schedule.

    Raises:
        TypeError: for an argument of another type.
        ValueError: for a number out of range.

    Examples:
        >>> import dist_ms as ms
        >>> w = ms.Parameter(ms.Tensor([1.0]), name="w")
        >>> opt = ms.nn.AdamWeightDecay([w], learning_rate=0.1)
        >>> _ = opt((ms.Tensor([3.0]),))
        >>> print(w.asnumpy().round(3))
        [0.684]
    """

    element_wise = True
    decoupled_decay = True
    rule = "adam_weight_decay"

    def __init__(
        self,
        params: Any,
        learning_rate: Any = 1e-3,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-6,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay)
        check_betas("AdamWeightDecay", beta1, beta2, eps)
        self.beta1, self.beta2, self.eps = float32_value(beta1), float32_value(beta2), eps
        self.moments1 = self.states("adam_m")
        self.moments2 = self.states("adam_v")

    def rule_states(self, index: int) -> tuple[Parameter, ...]:
        """The moments of one parameter."""
        return self.moments1[index], self.moments2[index]

    def rule_numbers(self, index: int, lr: float, weight_decay: float) -> tuple:
        """The numbers of the rule."""
        return lr, weight_decay, self.grad_factor, self.beta1, 1.0 - self.beta1, 1.0 - self.beta2, self.eps
