"""Adadelta."""

from __future__ import annotations

from typing import Any

from dist_ms.common.checks import check_float_range
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor
from dist_ms.experimental.optim.arguments import check_above, check_at_least
from dist_ms.experimental.optim.optimizer import Optimizer
from dist_ms.nn.optim.step.rules import adadelta_rule


class Adadelta(Optimizer):
    """`nn.Adadelta` in PyTorch's form.

    Args:
        params, weight_decay, maximize: as in `Adam`.
        lr: a positive number or scalar Tensor.
        rho: the decay rate, a float in [0, 1].
        eps: added under the roots, positive.

    Raises:
        TypeError: for an argument of another type.
        ValueError: for a number out of range.

    Examples:
        >>> import dist_ms as ms
        >>> w = ms.Parameter(ms.Tensor([1.0]), name="w")
        >>> opt = ms.experimental.optim.Adadelta([w], rho=0.0, eps=1.0)
        >>> _ = opt((ms.Tensor([0.75]),))
        >>> print(w.asnumpy().round(4))
        [0.4]
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0.0,
        *,
        maximize: bool = False,
    ) -> None:
        check_above(lr, "lr", "Adadelta")
        check_above(eps, "eps", "Adadelta")
        check_at_least(weight_decay, "weight_decay", "Adadelta")
        check_float_range(rho, "rho", "Adadelta", 0.0, 1.0)
        defaults = {"lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay, "maximize": maximize}
        super().__init__(params, defaults)
        self.states("accum")
        self.states("accum_update")

    def update_one(self, index: int, param: Parameter, grad: Tensor, lr: float, weight_decay: float) -> None:
        """Update one parameter and its running squares in place."""
        group = self.group_of(index)
        states = [self.accum[index], self.accum_update[index]]
        self.run_rule(adadelta_rule, index, param, grad, states, weight_decay, lr, group["rho"], group["eps"])
