"""Stochastic gradient descent."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.checks import check_bool, check_type
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor
from dist_ms.nn.optim.hyper_parameters.arguments import remembers_arguments
from dist_ms.nn.optim.optimizer import Optimizer
from dist_ms.nn.optim.step.elementwise import run_compiled


class SGD(Optimizer):
    r"""Stochastic gradient descent, with optional momentum and dampening.

    .. math::
        v \leftarrow \mu v + (1 - \tau) g, \qquad w \leftarrow w - \eta v
        \quad (\text{nesterov: } w \leftarrow w - \eta (g + \mu v))

    In the first step v = g. g includes the weight decay. Source: Sutskever et al., On the
    importance of initialization and momentum in deep learning, 2013.

    Args:
        params: Parameters or group dictionaries.
        learning_rate: a float, a list per step, a Tensor or a schedule.
        momentum: a float, 0 or more.
        dampening: a float, 0 or more; the part of the gradient kept out of v.
        weight_decay: a float.
        nesterov: look ahead; needs momentum > 0 and dampening 0.
        loss_scale: gradients are divided by it.

    Raises:
        TypeError: for an argument of another type, or a weight decay that changes.
        ValueError: for a negative number, or `nesterov` without momentum or with dampening.

    Examples:
        >>> import dist_ms as ms
        >>> w = ms.Parameter(ms.Tensor([1.0]), name="w")
        >>> opt = ms.nn.SGD([w], learning_rate=0.5)
        >>> _ = opt((ms.Tensor([1.0]),))
        >>> print(w.asnumpy())
        [0.5]
    """

    element_wise = True
    rule = "sgd"

    @remembers_arguments
    def __init__(
        self,
        params: Any,
        learning_rate: Any = 0.1,
        momentum: float = 0.0,
        dampening: float = 0.0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
        loss_scale: float = 1.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        momentum, dampening = check_sgd("SGD", momentum, dampening, nesterov)
        if self.dynamic_weight_decay:
            raise TypeError(
                "For 'SGD', 'weight_decay' must be a float or int, also in groups, but got a Cell: "
                "use 'Momentum' for a weight decay that changes."
            )
        self._first: list[bool] = []
        self.dampening, self.nesterov = dampening, nesterov
        self.momentum = Parameter(Tensor(np.float32(momentum)), name="momentum")
        self.accum = self.states("accum")
        self.stat = self.states("stat", fill=1.0)

    def begin_step(self) -> None:
        """Note which parameters have their first step with momentum: those whose `stat` is 1."""
        self.numbers_differ = False
        if self.momentum._data:
            self._first = [s._data is not None and bool(s._data.size) and bool(s._data.flat[0] > 0) for s in self.stat]
            self.numbers_differ = any(self._first)

    def rule_states(self, index: int) -> tuple[Parameter, ...]:
        """The running sum of one parameter."""
        return (self.accum[index],) if self.momentum._data else ()

    def rule_numbers(self, index: int, lr: float, weight_decay: float) -> tuple:
        """The numbers of the rule; `stat` is 1 before a parameter's first step and 0 after it."""
        momentum = float(self.momentum._data)
        first = bool(momentum) and self._first[index]
        if first:
            self.stat[index]._data.fill(0)
        return lr, weight_decay, self.grad_factor, momentum, 1.0 - self.dampening, self.nesterov, first

    def idle_without_gradient(self) -> bool:
        """Whether rows without a gradient stay as they are: without momentum they do."""
        return not self.momentum._data


def check_sgd(owner: str, momentum: Any, dampening: Any, nesterov: Any) -> tuple[float, float]:
    """Check the arguments of a form of SGD and return the first two as floats.

    Raises:
        TypeError: for another type.
        ValueError: for a negative number, or `nesterov` without momentum or with dampening.
    """
    for name, value in (("momentum", momentum), ("dampening", dampening)):
        check_type(value, name, owner, (float, int, bool))
        if not value >= 0:
            raise ValueError(f"For '{owner}', '{name}' must be at least 0.0, but got {value}.")
    check_bool(nesterov, "nesterov", owner)
    check_nesterov(owner, nesterov, momentum, dampening)
    return float(momentum), float(dampening)


def check_nesterov(owner: str, nesterov: bool, momentum: float, dampening: float) -> None:
    """Check that Nesterov's form has momentum and no dampening.

    Raises:
        ValueError: otherwise.
    """
    if nesterov and (momentum <= 0.0 or dampening != 0.0):
        raise ValueError(
            f"For '{owner}', 'nesterov' must be False unless 'momentum' is above 0 and 'dampening' 0, but got "
            f"{momentum} and {dampening} for these."
        )


def sgd_step(
    param: Parameter,
    grad: Tensor,
    accum: Parameter,
    lr: float,
    momentum: float,
    dampening: float,
    weight_decay: float,
    nesterov: bool,
    first: bool,
    sign: float,
) -> None:
    """Make one step of a parameter, in place; `first` is that with momentum which sets `accum`."""
    states = [accum] if momentum else []
    numbers = (lr, weight_decay, sign, momentum, 1.0 - dampening, nesterov, first)
    run_compiled("sgd", param, grad, states, numbers)
