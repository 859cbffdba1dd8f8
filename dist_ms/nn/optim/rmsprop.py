"""RMSProp."""

from __future__ import annotations

from typing import Any

from dist_ms.common.checks import check_bool, check_non_negative_float, check_positive_float
from dist_ms.common.parameter import Parameter
from dist_ms.nn.optim.hyper_parameters.arguments import remembers_arguments
from dist_ms.nn.optim.optimizer import Optimizer


class RMSProp(Optimizer):
    r"""RMSProp: steps divided by the root of a running mean of squared gradients, with momentum.

    .. math::
        s \leftarrow \rho s + (1-\rho) g^2, \quad
        v \leftarrow \mu v + \frac{\eta g}{\sqrt{s + \epsilon}}, \quad w \leftarrow w - v

    s starts at 1. When `centered`, a running mean a of the gradients is kept too, and the root is
    :math:`\sqrt{s - a^2 + \epsilon}`. g includes the weight decay. Source: Hinton, Neural Networks
    for Machine Learning, lecture 6e, 2012; Graves, Generating Sequences With Recurrent Neural
    Networks, 2013 (centered).

    Args:
        params: Parameters or group dictionaries.
        learning_rate: a float, a list per step, a Tensor or a schedule.
        decay: :math:`\rho`, a float of 0 or more.
        momentum: :math:`\mu`, a float of 0 or more.
        epsilon: added under the root, positive.
        use_locking: protect the update from other updates of the same parameter (always so here).
        centered: divide by an estimate of the deviation.
        loss_scale: gradients are divided by it.
        weight_decay: a float or a schedule.

    Raises:
        TypeError: for an argument of another type.
        ValueError: for a number out of range.

    Examples:
        >>> import dist_ms as ms
        >>> w = ms.Parameter(ms.Tensor([1.0]), name="w")
        >>> opt = ms.nn.RMSProp([w], learning_rate=0.1, decay=0.0)
        >>> _ = opt((ms.Tensor([3.0]),))
        >>> print(w.asnumpy())
        [0.9]
    """

    element_wise = True
    rule = "rmsprop"

    @remembers_arguments
    def __init__(
        self,
        params: Any,
        learning_rate: Any = 0.1,
        decay: float = 0.9,
        momentum: float = 0.0,
        epsilon: float = 1e-10,
        use_locking: bool = False,
        centered: bool = False,
        loss_scale: float = 1.0,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self.decay = check_non_negative_float(decay, "decay", "RMSProp")
        self.momentum = check_non_negative_float(momentum, "momentum", "RMSProp")
        self.epsilon = check_positive_float(epsilon, "epsilon", "RMSProp")
        check_bool(use_locking, "use_locking", "RMSProp")
        self.centered = check_bool(centered, "centered", "RMSProp")
        if centered:
            self.rule = "centered_rmsprop"
            self.mg = self.states("mean_grad")
        self.ms = self.states("mean_square", fill=1.0)
        self.moment = self.states("moment")

    def rule_states(self, index: int) -> tuple[Parameter, ...]:
        """The running means and the moment of one parameter."""
        return (self.ms[index], self.moment[index], *([self.mg[index]] if self.centered else []))

    def rule_numbers(self, index: int, lr: float, weight_decay: float) -> tuple:
        """The numbers of the rule."""
        return lr, weight_decay, self.grad_factor, 1.0 - self.decay, self.momentum, self.epsilon
