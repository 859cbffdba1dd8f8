"""Adamax."""

from __future__ import annotations

from typing import Any

from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor
from dist_ms.experimental.optim.arguments import check_above, check_at_least, check_float_betas
from dist_ms.experimental.optim.optimizer import Optimizer
from dist_ms.nn.optim.hyper_parameters.arguments import float32_value
from dist_ms.nn.optim.step.rules import adamax_rule


class Adamax(Optimizer):
    r"""`nn.AdaMax` in PyTorch's form, with eps added to the gradient's size instead of u.

    .. math::
        u \leftarrow \max(\beta_2 u, |g| + \epsilon), \quad w \leftarrow w - \frac{\eta}{1-\beta_1^t} \frac{m}{u}

    Args:
        params, weight_decay, maximize: as in `Adam`.
        lr: a positive number or scalar Tensor.
        betas: decay rates, floats in [0, 1).
        eps: positive.

    Raises:
        TypeError: for an argument of another type.
        ValueError: for a number out of range.

    Examples:
        >>> import dist_ms as ms
        >>> w = ms.Parameter(ms.Tensor([1.0]), name="w")
        >>> _ = ms.experimental.optim.Adamax([w], lr=0.1)((ms.Tensor([3.0]),))
        >>> print(w.asnumpy())
        [0.9]
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        *,
        maximize: bool = False,
    ) -> None:
        check_above(lr, "lr", "Adamax")
        check_at_least(weight_decay, "weight_decay", "Adamax")
        check_above(eps, "eps", "Adamax")
        check_float_betas(betas, "Adamax")
        defaults = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "maximize": maximize}
        super().__init__(params, defaults)
        self.counter("step_t")
        self.states("exp_avg")
        self.states("exp_inf")

    def update_one(self, index: int, param: Parameter, grad: Tensor, lr: float, weight_decay: float) -> None:
        """Update one parameter and its moments in place."""
        group = self.group_of(index)
        beta1, beta2 = (float32_value(beta) for beta in group["betas"])
        states = [self.exp_avg[index], self.exp_inf[index]]
        settings = (lr / (1.0 - beta1 ** int(self.step_t._data)), beta1, beta2, group["eps"], True)
        self.run_rule(adamax_rule, index, param, grad, states, weight_decay, *settings)
