"""Lamb, layer-wise adaptive moments for large batches."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor
from dist_ms.nn.optim.arguments import check_betas, float32_value, opt_init_args_register
from dist_ms.nn.optim.elementwise import work_type
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

    @opt_init_args_register
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

    def update_one(self, index: int, param: Parameter, grad: Tensor, lr: float, weight_decay: float) -> None:
        """Update one parameter and its moments in place."""
        step = int(self.global_step._data[0])
        weights = param._data.astype(work_type(param._data), copy=False)
        update = Parameter(Tensor(np.empty_like(weights)))
        settings = (self.beta1, self.beta2, self.eps, weight_decay, step)
        states = [update, self.moments1[index], self.moments2[index]]
        self.run_rule(_direction, param, grad, states, 0.0, *settings)
        wanted = update._data
        wanted *= lr * trust_ratio(weights, wanted)
        np.copyto(param._data, weights - wanted, casting="same_kind")


def _direction(
    p: np.ndarray,
    g: np.ndarray,
    update: np.ndarray,
    m: np.ndarray,
    v: np.ndarray,
    beta1: float,
    beta2: float,
    eps: float,
    decay: float,
    step: int,
) -> None:
    """The moments, and the direction of Adam with the weight decay; the weights stay."""
    m += (g - m) * (1.0 - beta1)
    v += (g * g - v) * (1.0 - beta2)
    np.multiply(m, 1.0 / (1.0 - beta1**step), out=update)
    update /= np.sqrt(v * (1.0 / (1.0 - beta2**step))) + eps
    if decay:
        update += decay * p


def norm(array: np.ndarray) -> float:
    """The root of the sum of squares, added up in float64."""
    flat = array.reshape(-1)
    return float(np.sqrt(np.sum(np.square(flat, dtype=np.float64)))) if flat.size else 0.0


def trust_ratio(weights: np.ndarray, update: np.ndarray) -> float:
    """The ratio of the norms; 1 where one is 0."""
    above, below = norm(weights), norm(update)
    return above / below if above > 0.0 and below > 0.0 else 1.0
