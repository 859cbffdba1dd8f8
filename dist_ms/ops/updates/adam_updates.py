"""Adam and its kin as operations: one step on Parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.tensor import wrap
from dist_ms.ops.updates.parameter_updates import ParameterUpdate

__all__ = [
    "Adam",
    "AdamNoUpdateParam",
    "AdamWeightDecay",
    "ApplyAdaMax",
    "ApplyAdamWithAmsgrad",
    "ApplyAdamWithAmsgradV2",
]


class Adam(ParameterUpdate):
    """A step of Adam (Kingma and Ba, 2015).

    var -= lr sqrt(1 - beta2_power) / (1 - beta1_power) m / (sqrt(v) + epsilon).

    Args:
        use_locking: accepted; updates are always in order.
        use_nesterov: whether the step looks ahead.

    Call:
        var (Parameter): the weights, updated.
        m (Parameter): moving mean of the gradients, updated.
        v (Parameter): moving mean of their squares, updated.
        beta1_power (float): beta1 to the power of the step.
        beta2_power (float): beta2 to the power of the step.
        lr (float): learning rate.
        beta1 (float): decay of `m`.
        beta2 (float): decay of `v`.
        epsilon (float): keeps the divisor from zero.
        gradient (Tensor): the gradient, of their shape.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> one = lambda: ms.Parameter(ms.Tensor([1.0]))
        >>> w = one()
        >>> _ = ms.ops.Adam()(w, one(), one(), 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, ms.Tensor([1.0]))
        >>> print(w.asnumpy())
        [0.52859545]
    """

    states = 3
    arrays = ("gradient",)

    def __init__(self, use_locking: bool = False, use_nesterov: bool = False) -> None:
        super().__init__(use_locking)
        self.use_nesterov = self.flag(use_nesterov, "use_nesterov")

    def update(
        self,
        var: np.ndarray,
        m: np.ndarray,
        v: np.ndarray,
        beta1_power: Any,
        beta2_power: Any,
        lr: Any,
        beta1: Any,
        beta2: Any,
        epsilon: Any,
        gradient: np.ndarray,
    ) -> tuple:
        """The new values."""
        m = beta1 * m + (1 - beta1) * gradient
        v = beta2 * v + (1 - beta2) * gradient * gradient
        step = lr * np.sqrt(1 - beta2_power) / (1 - beta1_power)
        ahead = beta1 * m + (1 - beta1) * gradient if self.use_nesterov else m
        return var - step * ahead / (np.sqrt(v) + epsilon), m, v


class AdamNoUpdateParam(ParameterUpdate):
    """`Adam` that only updates the means, and returns what a step would add to the weights, which it is not given.

    Examples:
        >>> import dist_ms as ms
        >>> one = lambda: ms.Parameter(ms.Tensor([1.0]))
        >>> w = one()
        >>> _ = ms.ops.AdamNoUpdateParam()(w, one(), 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, ms.Tensor([1.0]))
        >>> print(w.asnumpy())
        [1.]
    """

    states = 2
    arrays = ("gradient",)

    def __init__(self, use_locking: bool = False, use_nesterov: bool = False) -> None:
        super().__init__(use_locking)
        self.use_nesterov = self.flag(use_nesterov, "use_nesterov")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return wrap(super().__call__(*args, **kwargs)[2])

    def update(
        self,
        m: np.ndarray,
        v: np.ndarray,
        beta1_power: Any,
        beta2_power: Any,
        lr: Any,
        beta1: Any,
        beta2: Any,
        epsilon: Any,
        gradient: np.ndarray,
    ) -> tuple:
        """The new values."""
        m = beta1 * m + (1 - beta1) * gradient
        v = beta2 * v + (1 - beta2) * gradient * gradient
        step = lr * np.sqrt(1 - beta2_power) / (1 - beta1_power)
        ahead = beta1 * m + (1 - beta1) * gradient if self.use_nesterov else m
        return m, v, -step * ahead / (np.sqrt(v) + epsilon)


class AdamWeightDecay(ParameterUpdate):
    """A step of Adam without bias correction, with decay of the weights apart from the gradient.

    var -= lr (m / (sqrt(v) + epsilon) + decay var); Loshchilov and Hutter, 2019.

    Args:
        use_locking: accepted; updates are always in order.

    Call:
        var (Parameter): the weights, updated.
        m (Parameter): moving mean of the gradients, updated.
        v (Parameter): moving mean of their squares, updated.
        lr (float): learning rate.
        beta1 (float): decay of `m`.
        beta2 (float): decay of `v`.
        epsilon (float): keeps the divisor from zero.
        decay (float): weight decay.
        gradient (Tensor): the gradient, of their shape.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> one = lambda: ms.Parameter(ms.Tensor([1.0]))
        >>> w = one()
        >>> _ = ms.ops.AdamWeightDecay()(w, one(), one(), 0.5, 0.5, 0.5, 0.5, 0.5, ms.Tensor([1.0]))
        >>> print(w.asnumpy())
        [0.41666663]
    """

    states = 3
    arrays = ("gradient",)

    def update(
        self,
        var: np.ndarray,
        m: np.ndarray,
        v: np.ndarray,
        lr: Any,
        beta1: Any,
        beta2: Any,
        epsilon: Any,
        decay: Any,
        gradient: np.ndarray,
    ) -> tuple:
        """The new values."""
        m = beta1 * m + (1 - beta1) * gradient
        v = beta2 * v + (1 - beta2) * gradient * gradient
        return var - lr * (m / (np.sqrt(v) + epsilon) + decay * var), m, v


class ApplyAdaMax(ParameterUpdate):
    """A step of AdaMax (Kingma and Ba, 2015).

    var -= lr / (1 - beta1_power) m / (v + epsilon), v the largest gradient, decaying.

    Call:
        var (Parameter): the weights, updated.
        m (Parameter): moving mean of the gradients, updated.
        v (Parameter): largest gradient, decaying, updated.
        beta1_power (float): beta1 to the power of the step.
        lr (float): learning rate.
        beta1 (float): decay of `m`.
        beta2 (float): decay of `v`.
        epsilon (float): keeps the divisor from zero.
        grad (Tensor): the gradient, of their shape.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> one = lambda: ms.Parameter(ms.Tensor([1.0]))
        >>> w = one()
        >>> _ = ms.ops.ApplyAdaMax()(w, one(), one(), 0.5, 0.5, 0.5, 0.5, 0.5, ms.Tensor([1.0]))
        >>> print(w.asnumpy())
        [0.3333333]
    """

    states = 3

    def __init__(self) -> None:
        super().__init__()

    def update(
        self,
        var: np.ndarray,
        m: np.ndarray,
        v: np.ndarray,
        beta1_power: Any,
        lr: Any,
        beta1: Any,
        beta2: Any,
        epsilon: Any,
        grad: np.ndarray,
    ) -> tuple:
        """The new values."""
        m = beta1 * m + (1 - beta1) * grad
        v = np.maximum(beta2 * v, np.abs(grad))
        return var - lr / (1 - beta1_power) * m / (v + epsilon), m, v


class ApplyAdamWithAmsgrad(ParameterUpdate):
    """A step of Adam with AMSGrad (Reddi et al., 2018).

    var -= lr sqrt(1 - beta2_power) / (1 - beta1_power) m / (sqrt(vhat) + epsilon).

    Args:
        beta1: decay of `m`.
        beta2: decay of `v`.
        epsilon: keeps the divisor from zero.
        use_locking: accepted; updates are always in order.

    Call:
        var (Parameter): the weights, updated.
        m (Parameter): moving mean of the gradients, updated.
        v (Parameter): moving mean of their squares, updated.
        vhat (Parameter): largest `v` so far, updated.
        beta1_power (float): beta1 to the power of the step.
        beta2_power (float): beta2 to the power of the step.
        lr (float): learning rate.
        grad (Tensor): the gradient, of their shape.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> one = lambda: ms.Parameter(ms.Tensor([1.0]))
        >>> w = one()
        >>> _ = ms.ops.ApplyAdamWithAmsgrad()(w, one(), one(), one(), 0.5, 0.5, 0.5, ms.Tensor([1.0]))
        >>> print(w.asnumpy())
        [0.29289323]
    """

    states = 4

    def __init__(
        self, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-8, use_locking: bool = False
    ) -> None:
        super().__init__(use_locking)
        self.beta1, self.beta2 = self.number(beta1, "beta1"), self.number(beta2, "beta2")
        self.epsilon = self.number(epsilon, "epsilon")

    def update(
        self,
        var: np.ndarray,
        m: np.ndarray,
        v: np.ndarray,
        vhat: np.ndarray,
        beta1_power: Any,
        beta2_power: Any,
        lr: Any,
        grad: np.ndarray,
    ) -> tuple:
        """The new values."""
        betas = (var.dtype.type(x) for x in (self.beta1, self.beta2, self.epsilon))
        return amsgrad(var, m, v, vhat, beta1_power, beta2_power, lr, *betas, grad)


class ApplyAdamWithAmsgradV2(ParameterUpdate):
    """A step of Adam with AMSGrad, whose decays are inputs.

    var -= lr sqrt(1 - beta2_power) / (1 - beta1_power) m / (sqrt(vhat) + epsilon).

    Args:
        use_locking: accepted; updates are always in order.

    Call:
        var (Parameter): the weights, updated.
        m (Parameter): moving mean of the gradients, updated.
        v (Parameter): moving mean of their squares, updated.
        vhat (Parameter): largest `v` so far, updated.
        beta1_power (float): beta1 to the power of the step.
        beta2_power (float): beta2 to the power of the step.
        lr (float): learning rate.
        beta1 (float): decay of `m`.
        beta2 (float): decay of `v`.
        epsilon (float): keeps the divisor from zero.
        grad (Tensor): the gradient, of their shape.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> one = lambda: ms.Parameter(ms.Tensor([1.0]))
        >>> w = one()
        >>> _ = ms.ops.ApplyAdamWithAmsgradV2()(w, one(), one(), one(), 0.5,
        ...     0.5, 0.5, 0.5, 0.5, 0.5, ms.Tensor([1.0]))
        >>> print(w.asnumpy())
        [0.52859545]
    """

    states = 4

    def update(
        self,
        var: np.ndarray,
        m: np.ndarray,
        v: np.ndarray,
        vhat: np.ndarray,
        beta1_power: Any,
        beta2_power: Any,
        lr: Any,
        beta1: Any,
        beta2: Any,
        epsilon: Any,
        grad: np.ndarray,
    ) -> tuple:
        """The new values."""
        return amsgrad(var, m, v, vhat, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad)


def amsgrad(
    var: np.ndarray,
    m: np.ndarray,
    v: np.ndarray,
    vhat: np.ndarray,
    beta1_power: Any,
    beta2_power: Any,
    lr: Any,
    beta1: Any,
    beta2: Any,
    epsilon: Any,
    grad: np.ndarray,
) -> tuple:
    """The new weights, means and largest mean."""
    m = beta1 * m + (1 - beta1) * grad
    v = beta2 * v + (1 - beta2) * grad * grad
    vhat = np.maximum(vhat, v)
    step = lr * np.sqrt(1 - beta2_power) / (1 - beta1_power)
    return var - step * m / (np.sqrt(vhat) + epsilon), m, v, vhat
