"""Stochastic gradient descent."""

from __future__ import annotations

from typing import Any

from dist_ms.common.checks import check_bool, check_type
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor
from dist_ms.experimental.optim.arguments import check_at_least
from dist_ms.experimental.optim.optimizer import Optimizer
from dist_ms.nn.optim.sgd import check_nesterov, sgd_step


class SGD(Optimizer):
    r"""Stochastic gradient descent, with optional momentum and dampening.

    .. math::
        v \leftarrow \mu v + (1 - \tau) g, \qquad w \leftarrow w - \eta v
        \quad (\text{nesterov: } w \leftarrow w - \eta (g + \mu v))

    In the first step v = g. Source: Sutskever et al., On the importance of initialization and
    momentum in deep learning, 2013.

    Args:
        params: Parameters or group dictionaries.
        lr: a number of 0 or more, or a scalar Tensor.
        momentum: :math:`\mu`, 0 or more.
        dampening: :math:`\tau`, the part of the gradient kept out of v.
        weight_decay: times the weights, added to the gradient.
        nesterov: look ahead; needs momentum > 0 and dampening 0.
        maximize: go up the gradient.

    Raises:
        TypeError: for an argument of another type.
        ValueError: for a number out of range, or `nesterov` without momentum or with dampening.

    Examples:
        >>> import dist_ms as ms
        >>> w = ms.Parameter(ms.Tensor([1.0]), name="w")
        >>> _ = ms.experimental.optim.SGD([w], lr=0.5)((ms.Tensor([1.0]),))
        >>> print(w.asnumpy())
        [0.5]
    """

    def __init__(
        self,
        params: Any,
        lr: Any,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        check_type(lr, "lr", "SGD", (float, int, Tensor))
        check_at_least(lr, "lr", "SGD")
        check_type(momentum, "momentum", "SGD", (int, float))
        check_at_least(momentum, "momentum", "SGD")
        check_type(dampening, "dampening", "SGD", (int, float))
        check_bool(nesterov, "nesterov", "SGD")
        check_bool(maximize, "maximize", "SGD")
        check_nesterov("SGD", nesterov, momentum, dampening)
        defaults = {
            "lr": lr,
            "momentum": float(momentum),
            "dampening": float(dampening),
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
            "grad_centralization": False,
        }
        super().__init__(params, defaults)
        self.states("accum")
        self.states("stat", fill=1.0)

    def update_one(self, index: int, param: Parameter, grad: Tensor, lr: float, weight_decay: float) -> None:
        """Update one parameter in place; `stat` is 1 before its first step with momentum and 0 after it."""
        group = self.group_of(index)
        stat = self.stat[index]._data
        first = bool(group["momentum"] and stat.size and stat.flat[0] > 0)
        settings = (lr, group["momentum"], group["dampening"], weight_decay, group["nesterov"], first)
        sgd_step(param, grad, self.accum[index], *settings, self.sign_of(index))
        if first:
            stat.fill(0)
