"""Adam and AdamWeightDecay."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor
from dist_ms.nn.optim.optimizer import Optimizer, run_kernel


def check_betas(owner: str, beta1: Any, beta2: Any, eps: Any) -> None:
    """Check the decay rates and the stabiliser.

    Raises:
        TypeError: if one is no float.
        ValueError: if a rate is outside (0, 1) or `eps` not positive.
    """
    for name, value in (("beta1", beta1), ("beta2", beta2), ("eps", eps)):
        if not isinstance(value, float):
            raise TypeError(
                f"For '{owner}', the type of '{name}' should be 'float', but got type '{type(value).__name__}'."
            )
    for name, value in (("beta1", beta1), ("beta2", beta2)):
        if not 0.0 < value < 1.0:
            raise ValueError(
                f"For '{owner}', the '{name}' must be in range of (0.0, 1.0), but got {value} with type 'float'."
            )
    if not eps > 0:
        raise ValueError(f"For '{owner}', the 'eps' must be float and must > 0, but got '{eps}' with type 'float'.")


def float32_value(beta: float) -> float:
    """The rate as MindSpore holds it: in float32, so that 1 - beta has the same rounding error."""
    return float(np.float32(beta))


class Adam(Optimizer):
    r"""Adam: steps scaled by running moments of the gradient.

    .. math::
        m \leftarrow \beta_1 m + (1-\beta_1) g, \quad v \leftarrow \beta_2 v + (1-\beta_2) g^2, \quad
        w \leftarrow w - \eta \frac{\sqrt{1-\beta_2^t}}{1-\beta_1^t} \frac{m}{\sqrt{v} + \epsilon}

    g includes the weight decay. With `use_nesterov` m is replaced by
    :math:`\beta_1 m + (1-\beta_1) g` in the step; with `use_amsgrad` v by its running maximum.
    Source: Kingma and Ba, Adam: A Method for Stochastic Optimization, 2015.

    Args:
        params: Parameters or group dictionaries.
        learning_rate: a float, a list per step, a Tensor or a schedule.
        beta1, beta2: decay rates in (0, 1).
        eps: added to the root, positive.
        use_locking: protect the update from other updates of the same parameter (always so here).
        use_nesterov: look ahead.
        use_amsgrad: use the largest v so far.
        weight_decay: a float or a schedule.
        loss_scale: gradients are divided by it.
        use_lazy, use_offload: MindSpore's names of other places or sparse rules for the same
            update of dense gradients; not both, and neither with `use_amsgrad`.

    Examples:
        >>> import dist_ms as ms
        >>> w = ms.Parameter(ms.Tensor([1.0]), name="w")
        >>> opt = ms.nn.Adam([w], learning_rate=0.1)
        >>> _ = opt((ms.Tensor([3.0]),))
        >>> print(w.asnumpy().round(4))
        [0.9]
    """

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
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        check_betas("Adam", beta1, beta2, eps)
        unknown = set(kwargs) - {"use_lazy", "use_offload"}
        if unknown:
            raise ValueError(f"For 'Adam', keyword must be 'use_lazy' or 'use_offload', but got {sorted(unknown)}.")
        lazy, offload = kwargs.get("use_lazy", False), kwargs.get("use_offload", False)
        for name, value in (
            ("use_locking", use_locking),
            ("use_nesterov", use_nesterov),
            ("use_amsgrad", use_amsgrad),
            ("use_lazy", lazy),
            ("use_offload", offload),
        ):
            if not isinstance(value, bool):
                raise TypeError(f"For 'Adam', '{name}' must be a bool, but got {type(value).__name__}.")
        if (lazy and offload) or (use_amsgrad and (lazy or offload)):
            raise ValueError(
                "For 'Adam', 'use_lazy', 'use_offload' and 'use_amsgrad' exclude each other, but got "
                f"{lazy}, {offload} and {use_amsgrad}."
            )
        self.beta1, self.beta2, self.eps = float32_value(beta1), float32_value(beta2), eps
        self.use_nesterov, self.use_amsgrad, self.use_locking = use_nesterov, use_amsgrad, use_locking
        self.use_lazy, self.use_offload = lazy, offload
        self.beta1_power = Parameter(Tensor(np.float32(1.0)), name="beta1_power")
        self.beta2_power = Parameter(Tensor(np.float32(1.0)), name="beta2_power")
        self.moment1 = self.states("moment1")
        self.moment2 = self.states("moment2")
        if use_amsgrad:
            self.vhat = self.states("vhat")

    def begin_step(self) -> None:
        """Advance the powers of the decay rates."""
        self.beta1_power._data *= np.float32(self.beta1)
        self.beta2_power._data *= np.float32(self.beta2)

    def update_one(self, index: int, param: Parameter, grad: Tensor, lr: float, weight_decay: float) -> None:
        """Update one parameter and its moments in place."""
        from dist_ms._ext import optimizer as kernels

        corrected = lr * math.sqrt(1.0 - float(self.beta2_power._data)) / (1.0 - float(self.beta1_power._data))
        if self.use_amsgrad:
            self._amsgrad(index, param, grad, corrected, weight_decay)
            return
        run_kernel(
            kernels.adam,
            param,
            grad,
            [self.moment1[index], self.moment2[index]],
            corrected,
            self.beta1,
            self.beta2,
            self.eps,
            weight_decay,
            self.use_nesterov,
            self.reciprocal_scale,
        )

    def _amsgrad(self, index: int, param: Parameter, grad: Tensor, lr: float, weight_decay: float) -> None:
        """The rule with the running maximum (Reddi et al., On the Convergence of Adam and Beyond, 2018)."""
        p, m, v = param._data, self.moment1[index]._data, self.moment2[index]._data
        vhat = self.vhat[index]._data
        g = grad.asnumpy() * np.asarray(self.reciprocal_scale, p.dtype) + np.asarray(weight_decay, p.dtype) * p
        m += (g - m) * np.asarray(1.0 - self.beta1, p.dtype)
        v += (g * g - v) * np.asarray(1.0 - self.beta2, p.dtype)
        np.maximum(vhat, v, out=vhat)
        step = (
            m * np.asarray(self.beta1, p.dtype) + g * np.asarray(1.0 - self.beta1, p.dtype) if self.use_nesterov else m
        )
        p -= np.asarray(lr, p.dtype) * step / (np.sqrt(vhat) + np.asarray(self.eps, p.dtype))


class AdamWeightDecay(Optimizer):
    r"""Adam without bias correction and with weight decay apart from the gradient.

    .. math::
        w \leftarrow w - \eta \left( \frac{m}{\sqrt{v} + \epsilon} + \lambda w \right)

    Source: Loshchilov and Hutter, Decoupled Weight Decay Regularization, 2019.

    Args:
        params: Parameters or group dictionaries.
        learning_rate: a float, a list per step, a Tensor or a schedule.
        beta1, beta2: decay rates in (0, 1).
        eps: added to the root, positive.
        weight_decay: a float or a schedule.

    Examples:
        >>> import dist_ms as ms
        >>> w = ms.Parameter(ms.Tensor([1.0]), name="w")
        >>> opt = ms.nn.AdamWeightDecay([w], learning_rate=0.1)
        >>> _ = opt((ms.Tensor([3.0]),))
        >>> print(w.asnumpy().round(3))
        [0.684]
    """

    def __init__(
        self,
        params: Any,
        learning_rate: Any = 1e-3,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-6,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay)
        check_betas("AdamWeightDecay", beta1, beta2, eps)
        self.beta1, self.beta2, self.eps = float32_value(beta1), float32_value(beta2), eps
        self.moments1 = self.states("adam_m")
        self.moments2 = self.states("adam_v")

    def update_one(self, index: int, param: Parameter, grad: Tensor, lr: float, weight_decay: float) -> None:
        """Update one parameter and its moments in place."""
        from dist_ms._ext import optimizer as kernels

        run_kernel(
            kernels.adam_weight_decay,
            param,
            grad,
            [self.moments1[index], self.moments2[index]],
            lr,
            self.beta1,
            self.beta2,
            self.eps,
            weight_decay,
            self.reciprocal_scale,
        )
