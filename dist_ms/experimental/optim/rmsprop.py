"""RMSprop."""

from __future__ import annotations

from typing import Any

from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor
from dist_ms.experimental.optim.arguments import check_above, check_at_least
from dist_ms.experimental.optim.optimizer import Optimizer
from dist_ms.nn.optim.step.rules import rooted_rmsprop_rule


class RMSprop(Optimizer):
    r"""`nn.RMSProp` in PyTorch's form: s starts at 0, eps is added to the root, and the rate comes after the momentum.

    .. math::
        v \leftarrow \mu v + \frac{g}{\sqrt{s} + \epsilon}, \quad w \leftarrow w - \eta v

    Args:
        params, weight_decay, maximize: as in `Adam`.
        lr: a positive number or scalar Tensor.
        alpha: the decay rate, 0 or more.
        eps: positive.
        momentum: :math:`\mu`, 0 or more.
        centered: divide by an estimate of the deviation, :math:`\sqrt{s - a^2}`.

    Raises:
        TypeError: for an argument of another type.
        ValueError: for a number out of range.

    Examples:
        >>> import dist_ms as ms
        >>> w = ms.Parameter(ms.Tensor([1.0]), name="w")
        >>> _ = ms.experimental.optim.RMSprop([w], lr=0.1, alpha=0.0)((ms.Tensor([3.0]),))
        >>> print(w.asnumpy())
        [0.9]
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 0.01,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        momentum: float = 0.0,
        centered: bool = False,
        maximize: bool = False,
    ) -> None:
        check_above(lr, "lr", "RMSprop")
        check_above(eps, "eps", "RMSprop")
        for name, value in (("alpha", alpha), ("momentum", momentum), ("weight_decay", weight_decay)):
            check_at_least(value, name, "RMSprop")
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "alpha": alpha,
            "eps": eps,
            "centered": centered,
            "weight_decay": weight_decay,
            "maximize": maximize,
        }
        super().__init__(params, defaults)
        self.states("mean_grad")
        self.states("mean_square")
        self.states("moment")

    def update_one(self, index: int, param: Parameter, grad: Tensor, lr: float, weight_decay: float) -> None:
        """Update one parameter and its running means in place."""
        group = self.group_of(index)
        states = [self.mean_square[index], self.mean_grad[index], self.moment[index]]
        settings = (lr, group["alpha"], group["eps"], group["momentum"], bool(group["centered"]))
        self.run_rule(rooted_rmsprop_rule, index, param, grad, states, weight_decay, *settings)
