"""SGD with momentum in MindSpore's two forms."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor
from dist_ms.nn.optim.optimizer import Optimizer, run_kernel


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

    Examples:
        >>> import dist_ms as ms
        >>> w = ms.Parameter(ms.Tensor([1.0]), name="w")
        >>> opt = ms.nn.Momentum([w], learning_rate=0.1, momentum=0.9)
        >>> _ = opt((ms.Tensor([1.0]),))
        >>> print(w.asnumpy())
        [0.9]
    """

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
        if not isinstance(momentum, float):
            raise TypeError(
                f"For 'Momentum', the type of 'momentum' should be 'float', but got type '{type(momentum).__name__}'."
            )
        if momentum < 0.0:
            raise ValueError(f"For 'Momentum', the argument 'momentum' must be at least 0.0, but got {momentum}")
        if not isinstance(use_nesterov, bool):
            raise TypeError(f"For 'Momentum', 'use_nesterov' must be a bool, but got {type(use_nesterov).__name__}.")
        self.momentum = Parameter(Tensor(np.float32(momentum)), name="momentum")
        self.use_nesterov = use_nesterov
        self.moments = self.states("moments")

    def update_one(self, index: int, param: Parameter, grad: Tensor, lr: float, weight_decay: float) -> None:
        """Update one parameter and its moment in place."""
        from dist_ms._ext import optimizer as kernels

        run_kernel(
            kernels.momentum,
            param,
            grad,
            [self.moments[index]],
            lr,
            float(self.momentum._data),
            self.use_nesterov,
            weight_decay,
            self.reciprocal_scale,
        )
