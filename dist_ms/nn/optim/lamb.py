"""Lamb, layer-wise adaptive moments for large batches."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.parameter import Parameter
from dist_ms.nn.optim.hyper_parameters.arguments import check_betas, float32_value, remembers_arguments
from dist_ms.nn.optim.optimizer import Optimizer


class Lamb(Optimizer):
    r"""LAMB: the step of Adam, scaled per parameter by the ratio of the norms of weights and step.

    .. math::
        m \leftarrow \beta_1 m + (1-\beta_1) g, \quad v \leftarrow \beta_2 v + (1-\beta_2) g^2, \quad
        u = \frac{m / (1-\beta_1^t)}{\sqrt{v / (1-\beta_2^t)} + \epsilon} + \lambda w, \quad
        w \leftarrow w - \eta \frac{\|w\|}{\|u\|} u

    The ratio is 1 where a norm is 0. Source: You et al., Large Batch Optimization for Deep
    Learning: Training BERT in 76 minutes, 2020. (MindSpore 2.10 has no kernel of it on the CPU.)

    Args:
        params: Parameters or group dictionaries.
        learning_rate: a float, a list per step, a Tensor or a schedule.
        beta1, beta2: decay rates in (0, 1).
        eps: added to the root, positive.
        weight_decay: :math:`\lambda`, a float or a schedule.

    Raises:
        TypeError: for an argument of another type.
        ValueError: for a number out of range.

    Examples:
        >>> import dist_ms as ms
        >>> w = ms.Parameter(ms.Tensor([3.0, 4.0]), name="w")
        >>> opt = ms.nn.Lamb([w], learning_rate=0.1)
        >>> _ = opt((ms.Tensor([2.0, 0.0]),))
        >>> print(w.asnumpy().round(4))
        [2.5 4. ]
    """

    decoupled_decay = True
    rule = "lamb"

    @remembers_arguments
    def __init__(
        self,
        params: Any,
        learning_rate: Any,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-6,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay)
        check_betas("Lamb", beta1, beta2, eps)
        self.beta1, self.beta2, self.eps = float32_value(beta1), float32_value(beta2), eps
        self.params = self.parameters
        self.moments1 = self.states("lamb_m")
        self.moments2 = self.states("lamb_v")

    def rule_states(self, index: int) -> tuple[Parameter, ...]:
        """The moments of one parameter."""
        return self.moments1[index], self.moments2[index]

    def rule_numbers(self, index: int, lr: float, weight_decay: float) -> tuple:
        """The numbers of the rule."""
        step = int(self.global_step._data[0])
        new1, new2 = 1.0 - self.beta1, 1.0 - self.beta2
        grow1, grow2 = 1.0 / (1.0 - self.beta1**step), 1.0 / (1.0 - self.beta2**step)
        return lr, weight_decay, self.grad_factor, new1, new2, grow1, grow2, self.eps


def norm(array: np.ndarray) -> float:
    """The root of the sum of squares, added up in float64."""
    flat = array.reshape(-1)
    return float(np.sqrt(np.sum(np.square(flat, dtype=np.float64)))) if flat.size else 0.0
