"""SGD with momentum in MindSpore's form."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.checks import check_bool, check_float
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor
from dist_ms.nn.optim.hyper_parameters.arguments import remembers_arguments
from dist_ms.nn.optim.optimizer import Optimizer


class Momentum(Optimizer):
    r"""Stochastic gradient descent with momentum.

    .. math::
        v \leftarrow \mu v + g, \qquad w \leftarrow w - \eta v
        \quad (\text{nesterov: } w \leftarrow w - \eta (g + \mu v))

    where g includes the weight decay. Source: Sutskever et al., On the importance of
    initialization and momentum in deep learning, 2013.

    Args:
        params: Parameters or group dictionaries.
        learning_rate: a float, a list per step, a Tensor or a schedule.
        momentum: a float, 0 or more.
        weight_decay: a float or a schedule.
        loss_scale: gradients are divided by it.
        use_nesterov: look ahead.

    Raises:
        TypeError: for an argument of another type.
        ValueError: for a negative number.

    Examples:
        >>> import dist_ms as ms
        >>> w = ms.Parameter(ms.Tensor([1.0]), name="w")
        >>> opt = ms.nn.Momentum([w], learning_rate=0.1, momentum=0.9)
        >>> _ = opt((ms.Tensor([1.0]),))
        >>> print(w.asnumpy())
        [0.9]
    """

    element_wise = True
    rule = "sgd"

    @remembers_arguments
    def __init__(
        self,
        params: Any,
        learning_rate: Any,
        momentum: float,
        weight_decay: Any = 0.0,
        loss_scale: float = 1.0,
        use_nesterov: bool = False,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        check_float(momentum, "momentum", "Momentum")
        if not momentum >= 0.0:
            raise ValueError(f"For 'Momentum', the argument 'momentum' must be at least 0.0, but got {momentum}")
        self.use_nesterov = check_bool(use_nesterov, "use_nesterov", "Momentum")
        self.momentum = Parameter(Tensor(np.float32(momentum)), name="momentum")
        self.params = self.parameters
        self.moments = self.states("moments")

    def rule_states(self, index: int) -> tuple[Parameter, ...]:
        """The moment of one parameter."""
        return (self.moments[index],)

    def rule_numbers(self, index: int, lr: float, weight_decay: float) -> tuple:
        """The numbers of the rule."""
        return lr, weight_decay, self.grad_factor, float(self.momentum._data), 1.0, self.use_nesterov, False
