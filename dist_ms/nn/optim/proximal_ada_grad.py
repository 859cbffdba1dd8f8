"""ProximalAdagrad."""

from __future__ import annotations

from typing import Any

from dist_ms.common.checks import check_bool, check_non_negative_float
from dist_ms.common.parameter import Parameter
from dist_ms.nn.optim.hyper_parameters.arguments import remembers_arguments
from dist_ms.nn.optim.optimizer import Optimizer


class ProximalAdagrad(Optimizer):
    r"""Adagrad with L1 and L2 regularization by a proximal step.

    .. math::
        h \leftarrow h + g^2, \quad \gamma = \frac{\eta}{\sqrt{h}}, \quad u = w - \gamma g, \quad
        w \leftarrow \frac{\operatorname{sign}(u)}{1 + l_2 \gamma} \max(|u| - l_1 \gamma, 0)

    g includes the weight decay. Source: Duchi and Singer, Efficient Learning using
    Forward-Backward Splitting, 2009.

    Args:
        params: Parameters or group dictionaries.
        accum: the value h starts with, 0 or more.
        learning_rate: a float, a list per step, a Tensor or a schedule.
        l1, l2: regularization, floats of 0 or more.
        use_locking: protect the update from other updates of the same parameter (always so here).
        loss_scale: gradients are divided by it.
        weight_decay: a float or a schedule.

    Raises:
        TypeError: for an argument of another type.
        ValueError: for a negative number.

    Examples:
        >>> import dist_ms as ms
        >>> w = ms.Parameter(ms.Tensor([1.0]), name="w")
        >>> opt = ms.nn.ProximalAdagrad([w], accum=0.0, learning_rate=0.5, l1=0.5)
        >>> _ = opt((ms.Tensor([1.0]),))
        >>> print(w.asnumpy())
        [0.25]
    """

    element_wise = True
    sparse_target = True
    rule = "proximal_adagrad"
    lazy_rows = True

    @remembers_arguments
    def __init__(
        self,
        params: Any,
        accum: float = 0.1,
        learning_rate: Any = 0.001,
        l1: float = 0.0,
        l2: float = 0.0,
        use_locking: bool = False,
        loss_scale: float = 1.0,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        check_non_negative_float(accum, "accum", "ProximalAdagrad")
        self.l1 = check_non_negative_float(l1, "l1", "ProximalAdagrad")
        self.l2 = check_non_negative_float(l2, "l2", "ProximalAdagrad")
        self.use_locking = check_bool(use_locking, "use_locking", "ProximalAdagrad")
        self.accum = self.states("accum", fill=accum)

    def construct(self, grads: Any) -> Any:
        """Update every parameter; `grads` is what other optimizers call `gradients`."""
        return super().construct(grads)

    def rule_states(self, index: int) -> tuple[Parameter, ...]:
        """The sum of squares of one parameter."""
        return (self.accum[index],)

    def rule_numbers(self, index: int, lr: float, weight_decay: float) -> tuple:
        """The numbers of the rule."""
        return lr, weight_decay, self.grad_factor, self.l1, self.l2
