"""Adagrad."""

from __future__ import annotations

from typing import Any

from dist_ms.common.checks import check_bool, check_non_negative_float
from dist_ms.common.parameter import Parameter
from dist_ms.nn.optim.hyper_parameters.arguments import remembers_arguments
from dist_ms.nn.optim.optimizer import Optimizer


class Adagrad(Optimizer):
    r"""Adagrad: steps divided by the root of the sum of all squared gradients.

    .. math::
        h \leftarrow h + g^2, \qquad w \leftarrow w - \eta \frac{g}{\sqrt{h}}

    g includes the weight decay. Source: Duchi, Hazan and Singer, Adaptive Subgradient Methods
    for Online Learning and Stochastic Optimization, 2011.

    Args:
        params: Parameters or group dictionaries.
        accum: the value h starts with, 0 or more.
        learning_rate: a float, a list per step, a Tensor or a schedule.
        update_slots: whether h grows; with False it stays at `accum`.
        loss_scale: gradients are divided by it.
        weight_decay: a float or a schedule.

    Raises:
        TypeError: for an argument of another type.
        ValueError: for a negative number.

    Examples:
        >>> import dist_ms as ms
        >>> w = ms.Parameter(ms.Tensor([1.0]), name="w")
        >>> opt = ms.nn.Adagrad([w], accum=0.0, learning_rate=0.1)
        >>> _ = opt((ms.Tensor([3.0]),))
        >>> print(w.asnumpy())
        [0.9]
    """

    element_wise = True
    rule = "adagrad"

    @remembers_arguments
    def __init__(
        self,
        params: Any,
        accum: float = 0.1,
        learning_rate: Any = 0.001,
        update_slots: bool = True,
        loss_scale: float = 1.0,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        check_non_negative_float(accum, "accum", "Adagrad")
        self.update_slots = check_bool(update_slots, "update_slots", "Adagrad")
        self._positive = accum > 0
        self.accum = self.states("accum", fill=accum)

    def construct(self, grads: Any) -> Any:
        """Update every parameter; `grads` is what other optimizers call `gradients`."""
        return super().construct(grads)

    def rule_states(self, index: int) -> tuple[Parameter, ...]:
        """The sum of squares of one parameter."""
        return (self.accum[index],)

    def rule_numbers(self, index: int, lr: float, weight_decay: float) -> tuple:
        """The numbers of the rule."""
        return lr, weight_decay, self.grad_factor, 0.0, self.update_slots

    def idle_without_gradient(self) -> bool:
        """Whether rows without a gradient stay as they are: where h is not 0 they do."""
        return self._positive
