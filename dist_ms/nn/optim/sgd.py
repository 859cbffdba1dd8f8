"""Stochastic gradient descent."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor, from_array
from dist_ms.nn.optim.optimizer import Optimizer, run_kernel


class SGD(Optimizer):
    r"""Stochastic gradient descent, with optional momentum and dampening.

    .. math::
        v \leftarrow \mu v + (1 - \tau) g, \qquad w \leftarrow w - \eta v
        \quad (\text{nesterov: } w \leftarrow w - \eta (g + \mu v))

    In the first step v = g. g includes the weight decay.

    Args:
        params: Parameters or group dictionaries.
        learning_rate: a float, a list per step, a Tensor or a schedule.
        momentum: a float, 0 or more.
        dampening: a float, 0 or more; the part of the gradient kept out of v.
        weight_decay: a float.
        nesterov: look ahead; needs momentum > 0 and dampening 0.
        loss_scale: gradients are divided by it.

    Examples:
        >>> import dist_ms as ms
        >>> w = ms.Parameter(ms.Tensor([1.0]), name="w")
        >>> opt = ms.nn.SGD([w], learning_rate=0.5)
        >>> _ = opt((ms.Tensor([1.0]),))
        >>> print(w.asnumpy())
        [0.5]
    """

    def __init__(
        self,
        params: Any,
        learning_rate: Any = 0.1,
        momentum: float = 0.0,
        dampening: float = 0.0,
        weight_decay: Any = 0.0,
        nesterov: bool = False,
        loss_scale: float = 1.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        momentum = self._number("momentum", momentum)
        dampening = self._number("dampening", dampening)
        if not isinstance(nesterov, bool):
            raise TypeError(f"For 'SGD', 'nesterov' must be a bool, but got {type(nesterov).__name__}.")
        if nesterov and (momentum <= 0.0 or dampening != 0.0):
            raise ValueError(
                "For 'SGD', if 'nesterov' is true, 'momentum' must be > 0.0 and 'dampening' must equal "
                f"to 0.0, but got 'momentum' {momentum}, 'dampening' {dampening}."
            )
        self.dampening, self.nesterov = dampening, nesterov
        self.momentum = Parameter(Tensor(np.float32(momentum)), name="momentum")
        self.accum = self.states("accum")
        self.stat = self.states("stat", fill=1.0)

    @staticmethod
    def _number(name: str, value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise TypeError(f"For 'SGD', '{name}' must be a float, but got {type(value).__name__}.")
        if value < 0:
            raise ValueError(f"For 'SGD', '{name}' must be at least 0.0, but got {value}.")
        return float(value)

    def update_one(self, index: int, param: Parameter, grad: Tensor, lr: float, weight_decay: float) -> None:
        """Update one parameter in place; `stat` is 1 before its first step and 0 after it."""
        from dist_ms._ext import optimizer as kernels

        if self.need_scale:
            grad = from_array(grad.asnumpy() * np.asarray(self.reciprocal_scale, grad.asnumpy().dtype))
        stat = self.stat[index]._data
        momentum = float(self.momentum._data)
        first = bool(stat.flat[0] > 0) if stat.size else False
        run_kernel(
            _sgd_on(kernels.sgd, lr, momentum, self.dampening, weight_decay, self.nesterov, first),
            param,
            grad,
            [self.accum[index]],
        )
        if first:
            stat.fill(0)


def _sgd_on(kernel: Any, *settings: Any) -> Any:
    return lambda p, g, accum: kernel(p, g, accum, *settings)
