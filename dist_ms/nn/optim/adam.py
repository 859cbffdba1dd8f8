"""Adam, and AdamOffload, which takes the same steps."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dist_ms.common.checks import check_bool
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor
from dist_ms.nn.optim.adam_weight_decay import AdamWeightDecay
from dist_ms.nn.optim.hyper_parameters.arguments import check_betas, float32_value, remembers_arguments
from dist_ms.nn.optim.optimizer import Optimizer

__all__ = ["Adam", "AdamOffload", "AdamWeightDecay", "bias_corrected"]


def bias_corrected(lr: float, beta1_power: float, beta2_power: float) -> float:
    r"""The step size :math:`\eta \sqrt{1 - \beta_2^t} / (1 - \beta_1^t)`."""
    return lr * math.sqrt(1.0 - beta2_power) / (1.0 - beta1_power)


class _AdamStep(Optimizer):
    """The state and the rule that all forms of Adam share."""

    rule = "adam"
    power_shape: tuple[int, ...] = (1,)

    def __init__(
        self,
        params: Any,
        learning_rate: Any = 1e-3,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-8,
        use_locking: bool = False,
        use_nesterov: bool = False,
        weight_decay: Any = 0.0,
        loss_scale: float = 1.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        check_betas(self.cls_name, beta1, beta2, eps)
        self.use_locking = check_bool(use_locking, "use_locking", self.cls_name)
        self.use_nesterov = check_bool(use_nesterov, "use_nesterov", self.cls_name)
        self.beta1, self.beta2, self.eps = float32_value(beta1), float32_value(beta2), eps
        ones = np.ones(self.power_shape, np.float32)
        self.beta1_power = Parameter(Tensor(ones), name="beta1_power")
        self.beta2_power = Parameter(Tensor(ones), name="beta2_power")
        self.moment1 = self.states("moment1")
        self.moment2 = self.states("moment2")

    def begin_step(self) -> None:
        """Advance the powers of the decay rates."""
        self.beta1_power._data *= np.float32(self.beta1)
        self.beta2_power._data *= np.float32(self.beta2)

    def _corrected(self, lr: float) -> float:
        return bias_corrected(lr, self.beta1_power._data.item(), self.beta2_power._data.item())

    def rule_states(self, index: int) -> tuple[Parameter, ...]:
        """The moments of one parameter."""
        return self.moment1[index], self.moment2[index]

    def rule_numbers(self, index: int, lr: float, weight_decay: float) -> tuple:
        """The numbers of the rule."""
        shared = (self.beta1, 1.0 - self.beta1, 1.0 - self.beta2, self.eps, self.use_nesterov)
        return self._corrected(lr), weight_decay, self.grad_factor, *shared


class Adam(_AdamStep):
    r"""Adam: steps scaled by running moments of the gradient.

    .. math::
        m \leftarrow \beta_1 m + (1-\beta_1) g, \quad v \leftarrow \beta_2 v + (1-\beta_2) g^2, \quad
        w \leftarrow w - \eta \frac{\sqrt{1-\beta_2^t}}{1-\beta_1^t} \frac{m}{\sqrt{v} + \epsilon}

    g includes the weight decay. With `use_nesterov` m is replaced by
    :math:`\beta_1 m + (1-\beta_1) g` in the step; with `use_amsgrad` v by its running maximum.
    Sources: Kingma and Ba, Adam: A Method for Stochastic Optimization, 2015; Reddi et al., On
    the Convergence of Adam and Beyond, 2018.

    Args:
        params: Parameters or group dictionaries.
        learning_rate: a float, a list per step, a Tensor or a schedule.
        beta1, beta2: decay rates in (0, 1).
        eps: added to the root, positive.
        use_locking: protect the update from other updates of the same parameter (always so here).
        use_nesterov: look ahead.
        weight_decay: a float or a schedule.
        loss_scale: gradients are divided by it.
        use_amsgrad: use the largest v so far.
        use_lazy: leave the rows that a RowTensor gradient does not have alone, as `LazyAdam` does; by
            default their moments fade and they move on.
        use_offload: MindSpore's name of another place for the same update; not with `use_lazy`, and
            neither with `use_amsgrad`.

    Raises:
        KeyError: for another keyword.
        TypeError: for an argument of another type.
        ValueError: for a number out of range, or flags that exclude each other.

    Examples:
        >>> import dist_ms as ms
        >>> w = ms.Parameter(ms.Tensor([1.0]), name="w")
        >>> opt = ms.nn.Adam([w], learning_rate=0.1)
        >>> _ = opt((ms.Tensor([3.0]),))
        >>> print(w.asnumpy().round(4))
        [0.9]
    """

    element_wise = True
    sparse_target = True
    power_shape = ()

    @remembers_arguments
    def __init__(
        self,
        params: Any,
        learning_rate: Any = 1e-3,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-8,
        use_locking: bool = False,
        use_nesterov: bool = False,
        weight_decay: Any = 0.0,
        loss_scale: float = 1.0,
        use_amsgrad: bool = False,
        **kwargs: Any,
    ) -> None:
        unknown = set(kwargs) - {"use_lazy", "use_offload"}
        if unknown:
            raise KeyError(f"For 'Adam', a keyword must be 'use_lazy' or 'use_offload', but got {sorted(unknown)}.")
        lazy, offload = kwargs.get("use_lazy", False), kwargs.get("use_offload", False)
        for name, value in (("use_amsgrad", use_amsgrad), ("use_lazy", lazy), ("use_offload", offload)):
            check_bool(value, name, "Adam")
        if (lazy and offload) or (use_amsgrad and (lazy or offload)):
            raise ValueError(
                "For 'Adam', 'use_lazy', 'use_offload' and 'use_amsgrad' exclude each other, but got "
                f"{lazy}, {offload} and {use_amsgrad}."
            )
        moments = (beta1, beta2, eps, use_locking, use_nesterov)
        super().__init__(params, learning_rate, *moments, weight_decay, loss_scale)
        self.use_amsgrad, self.use_lazy, self.use_offload = use_amsgrad, lazy, offload
        self.lazy_rows = lazy
        if use_amsgrad:
            self.rule = "amsgrad"
            self.vhat = self.states("vhat")

    def rule_states(self, index: int) -> tuple[Parameter, ...]:
        """The moments of one parameter, and with `use_amsgrad` the largest second one."""
        return (*super().rule_states(index), *([self.vhat[index]] if self.use_amsgrad else []))


class AdamOffload(_AdamStep):
    """`Adam` whose update MindSpore runs on the host: here every update does. It has no `use_amsgrad`.

    Examples:
        >>> import dist_ms as ms
        >>> w = ms.Parameter(ms.Tensor([1.0]), name="w")
        >>> _ = ms.nn.AdamOffload([w], learning_rate=0.1)((ms.Tensor([3.0]),))
        >>> print(w.asnumpy().round(4))
        [0.9]
    """

    element_wise = True
