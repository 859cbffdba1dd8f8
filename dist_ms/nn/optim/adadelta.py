"""Adadelta."""

from __future__ import annotations

from typing import Any

from dist_ms.common.checks import check_float_range, check_non_negative_float
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor
from dist_ms.nn.optim.hyper_parameters.arguments import remembers_arguments
from dist_ms.nn.optim.optimizer import Optimizer
from dist_ms.nn.optim.step.rules import adadelta_rule


class Adadelta(Optimizer):
    r"""Adadelta: steps in the unit of the weights, from running squares of gradients and of steps.

    .. math::
        h \leftarrow \rho h + (1-\rho) g^2, \quad
        u = \frac{\sqrt{d + \epsilon}}{\sqrt{h + \epsilon}} g, \quad
        d \leftarrow \rho d + (1-\rho) u^2, \quad w \leftarrow w - \eta u

    g includes the weight decay. Source: Zeiler, ADADELTA: An Adaptive Learning Rate Method, 2012.

    Args:
        params: Parameters or group dictionaries.
        learning_rate: a float, a list per step, a Tensor or a schedule.
        rho: the decay rate, in [0, 1].
        epsilon: added under the roots, 0 or more.
        loss_scale: gradients are divided by it.
        weight_decay: a float or a schedule.

    Raises:
        TypeError: for an argument of another type.
        ValueError: for a number out of range.

    Examples:
        >>> import dist_ms as ms
        >>> w = ms.Parameter(ms.Tensor([1.0]), name="w")
        >>> opt = ms.nn.Adadelta([w], rho=0.0, epsilon=1.0)
        >>> _ = opt((ms.Tensor([0.75]),))
        >>> print(w.asnumpy().round(4))
        [0.4]
    """

    element_wise = True

    @remembers_arguments
    def __init__(
        self,
        params: Any,
        learning_rate: Any = 1.0,
        rho: float = 0.9,
        epsilon: float = 1e-6,
        loss_scale: float = 1.0,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self.rho = check_float_range(rho, "rho", "Adadelta", 0.0, 1.0)
        self.epsilon = check_non_negative_float(epsilon, "epsilon", "Adadelta")
        self.accum = self.states("accum")
        self.accum_update = self.states("accum_update")

    def construct(self, grads: Any) -> Any:
        """Update every parameter; `grads` is what other optimizers call `gradients`."""
        return super().construct(grads)

    def update_one(self, index: int, param: Parameter, grad: Tensor, lr: float, weight_decay: float) -> None:
        """Update one parameter and its running squares in place."""
        states = [self.accum[index], self.accum_update[index]]
        self.run_rule(adadelta_rule, param, grad, states, weight_decay, lr, self.rho, self.epsilon)
