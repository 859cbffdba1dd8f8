"""SGD, ApplyMomentum, ApplyRMSProp and their kin: one step of an optimizer on Parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.tensor import Tensor
from dist_ms.ops.updates.parameter_updates import ParameterUpdate

__all__ = [
    "ApplyAdadelta",
    "ApplyAddSign",
    "ApplyCenteredRMSProp",
    "ApplyGradientDescent",
    "ApplyMomentum",
    "ApplyPowerSign",
    "ApplyRMSProp",
    "SGD",
]


class SGD(ParameterUpdate):
    """A step of gradient descent with momentum.

    accum = momentum accum + (1 - dampening) g, with g = gradient + weight_decay parameters; in the
    first step, where stat is positive, accum = g; stat is 0 there from then on.

    Args:
        dampening: how much less of a gradient enters the velocity.
        weight_decay: times the weights, added to the gradient.
        nesterov: whether the step looks ahead.

    Call:
        parameters (Parameter): the weights, updated.
        gradient (Tensor): the gradient, of their shape.
        learning_rate (float): learning rate.
        accum (Parameter): the velocity, updated.
        momentum (float): decay of the velocity.
        stat (Parameter): positive before the first step, then zero.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> one = lambda: ms.Parameter(ms.Tensor([1.0]))
        >>> w = one()
        >>> _ = ms.ops.SGD()(w, ms.Tensor([1.0]), 0.5, one(), 0.5, one())
        >>> print(w.asnumpy())
        [0.5]
    """

    states = 3
    outputs = 1
    arrays = ("gradient",)

    def __init__(self, dampening: float = 0.0, weight_decay: float = 0.0, nesterov: bool = False) -> None:
        super().__init__()
        self.dampening, self.weight_decay = (
            self.number(dampening, "dampening"),
            self.number(weight_decay, "weight_decay"),
        )
        self.nesterov = self.flag(nesterov, "nesterov")
        if nesterov and self.dampening:
            raise ValueError(f"For '{self.name}', 'dampening' must be 0 with 'nesterov', but got {dampening}.")

    def __call__(
        self, parameters: Tensor, gradient: Tensor, learning_rate: Any, accum: Tensor, momentum: Any, stat: Tensor
    ) -> Tensor:
        return super().__call__(parameters, accum, stat, gradient, learning_rate, momentum)

    def update(
        self,
        parameters: np.ndarray,
        accum: np.ndarray,
        stat: np.ndarray,
        gradient: np.ndarray,
        learning_rate: Any,
        momentum: Any,
    ) -> tuple:
        """The new values."""
        g = gradient + parameters.dtype.type(self.weight_decay) * parameters
        if momentum > 0:
            later = accum * momentum + parameters.dtype.type(1 - self.dampening) * g
            accum = np.where(stat > 0, g, later)
            g = g + accum * momentum if self.nesterov else accum
        return (
            parameters - learning_rate * g,
            accum,
            np.where(stat > 0, stat.dtype.type(0), stat) if momentum > 0 else stat,
        )


class ApplyGradientDescent(ParameterUpdate):
    """A step of gradient descent.

    var -= alpha delta.

    Call:
        var (Parameter): the weights, updated.
        alpha (float): learning rate.
        delta (Tensor): the gradient, of their shape.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> one = lambda: ms.Parameter(ms.Tensor([1.0]))
        >>> w = one()
        >>> _ = ms.ops.ApplyGradientDescent()(w, 0.5, ms.Tensor([1.0]))
        >>> print(w.asnumpy())
        [0.5]
    """

    arrays = ("delta",)

    def __init__(self) -> None:
        super().__init__()

    def update(self, var: np.ndarray, alpha: Any, delta: np.ndarray) -> tuple:
        """The new values."""
        return (var - alpha * delta,)


class ApplyMomentum(ParameterUpdate):
    """A step of gradient descent with momentum.

    accum = momentum accum + grad; var -= lr accum.

    Args:
        use_nesterov: whether the step looks ahead.
        use_locking: accepted; updates are always in order.
        gradient_scale: accepted; the CPU's rule does not read it.

    Call:
        variable (Parameter): the weights, updated.
        accumulation (Parameter): the velocity, updated.
        learning_rate (float): learning rate.
        gradient (Tensor): the gradient, of their shape.
        momentum (float): decay of the velocity.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> one = lambda: ms.Parameter(ms.Tensor([1.0]))
        >>> w = one()
        >>> _ = ms.ops.ApplyMomentum()(w, one(), 0.5, ms.Tensor([1.0]), 0.5)
        >>> print(w.asnumpy())
        [0.25]
    """

    states = 2
    outputs = 1
    arrays = ("gradient",)

    def __init__(self, use_nesterov: bool = False, use_locking: bool = False, gradient_scale: float = 1.0) -> None:
        super().__init__(use_locking)
        self.use_nesterov = self.flag(use_nesterov, "use_nesterov")
        self.gradient_scale = self.number(gradient_scale, "gradient_scale")

    def update(
        self, variable: np.ndarray, accumulation: np.ndarray, learning_rate: Any, gradient: np.ndarray, momentum: Any
    ) -> tuple:
        """The new values."""
        accumulation = momentum * accumulation + gradient
        step = gradient + momentum * accumulation if self.use_nesterov else accumulation
        return variable - learning_rate * step, accumulation


class ApplyAddSign(ParameterUpdate):
    """A step of AddSign (Bello et al., 2017).

    var -= lr (alpha + sign_decay sign(grad) sign(m)) grad.

    Call:
        var (Parameter): the weights, updated.
        m (Parameter): moving mean of the gradients, updated.
        lr (float): learning rate.
        alpha (float): weight of a gradient.
        sign_decay (float): how much agreement with `m` adds.
        beta (float): decay of `m`.
        grad (Tensor): the gradient, of their shape.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> one = lambda: ms.Parameter(ms.Tensor([1.0]))
        >>> w = one()
        >>> _ = ms.ops.ApplyAddSign()(w, one(), 0.5, 0.5, 0.5, 0.5, ms.Tensor([1.0]))
        >>> print(w.asnumpy())
        [0.5]
    """

    states = 2

    def __init__(self) -> None:
        super().__init__()

    def update(
        self, var: np.ndarray, m: np.ndarray, lr: Any, alpha: Any, sign_decay: Any, beta: Any, grad: np.ndarray
    ) -> tuple:
        """The new values."""
        m = beta * m + (1 - beta) * grad
        return var - lr * (alpha + sign_decay * np.sign(grad) * np.sign(m)) * grad, m


class ApplyPowerSign(ParameterUpdate):
    """A step of PowerSign (Bello et al., 2017).

    var -= lr exp(logbase sign_decay sign(grad) sign(m)) grad.

    Call:
        var (Parameter): the weights, updated.
        m (Parameter): moving mean of the gradients, updated.
        lr (float): learning rate.
        logbase (float): logarithm of the base.
        sign_decay (float): times the exponent.
        beta (float): decay of `m`.
        grad (Tensor): the gradient, of their shape.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> one = lambda: ms.Parameter(ms.Tensor([1.0]))
        >>> w = one()
        >>> _ = ms.ops.ApplyPowerSign()(w, one(), 0.5, 0.5, 0.5, 0.5, ms.Tensor([1.0]))
        >>> print(w.asnumpy())
        [0.35798723]
    """

    states = 2

    def __init__(self) -> None:
        super().__init__()

    def update(
        self, var: np.ndarray, m: np.ndarray, lr: Any, logbase: Any, sign_decay: Any, beta: Any, grad: np.ndarray
    ) -> tuple:
        """The new values."""
        m = beta * m + (1 - beta) * grad
        return var - lr * np.exp(logbase * sign_decay * np.sign(grad) * np.sign(m)) * grad, m


class ApplyRMSProp(ParameterUpdate):
    """A step of RMSProp (Hinton, 2012).

    moment = momentum moment + learning_rate grad / sqrt(mean_square + epsilon); var -= moment.

    Args:
        use_locking: accepted; updates are always in order.

    Call:
        var (Parameter): the weights, updated.
        mean_square (Parameter): moving mean of the squared gradients, updated.
        moment (Parameter): the velocity, updated.
        learning_rate (float): learning rate.
        grad (Tensor): the gradient, of their shape.
        decay (float): decay of the mean.
        momentum (float): decay of the velocity.
        epsilon (float): keeps the root from zero.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> one = lambda: ms.Parameter(ms.Tensor([1.0]))
        >>> w = one()
        >>> _ = ms.ops.ApplyRMSProp()(w, one(), one(), 0.5, ms.Tensor([1.0]), 0.5, 0.5, 0.5)
        >>> print(w.asnumpy())
        [0.09175169]
    """

    states = 3
    outputs = 1

    def update(
        self,
        var: np.ndarray,
        mean_square: np.ndarray,
        moment: np.ndarray,
        learning_rate: Any,
        grad: np.ndarray,
        decay: Any,
        momentum: Any,
        epsilon: Any,
    ) -> tuple:
        """The new values."""
        mean_square = decay * mean_square + (1 - decay) * grad * grad
        moment = momentum * moment + learning_rate * grad / np.sqrt(mean_square + epsilon)
        return var - moment, mean_square, moment


class ApplyCenteredRMSProp(ParameterUpdate):
    """A step of RMSProp with the variance of the gradients in place of their mean square.

    moment = momentum moment + learning_rate grad / sqrt(mean_square - mean_gradient^2 + epsilon).

    Args:
        use_locking: accepted; updates are always in order.

    Call:
        var (Parameter): the weights, updated.
        mean_gradient (Parameter): moving mean of the gradients, updated.
        mean_square (Parameter): moving mean of the squared gradients, updated.
        moment (Parameter): the velocity, updated.
        grad (Tensor): the gradient, of their shape.
        learning_rate (float): learning rate.
        decay (float): decay of the means.
        momentum (float): decay of the velocity.
        epsilon (float): keeps the root from zero.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> one = lambda: ms.Parameter(ms.Tensor([1.0]))
        >>> w = one()
        >>> _ = ms.ops.ApplyCenteredRMSProp()(w, one(), one(), one(), ms.Tensor([1.0]), 0.5, 0.5, 0.5, 0.5)
        >>> print(w.asnumpy())
        [-0.20710683]
    """

    states = 4
    outputs = 1

    def update(
        self,
        var: np.ndarray,
        mean_gradient: np.ndarray,
        mean_square: np.ndarray,
        moment: np.ndarray,
        grad: np.ndarray,
        learning_rate: Any,
        decay: Any,
        momentum: Any,
        epsilon: Any,
    ) -> tuple:
        """The new values."""
        mean_square = decay * mean_square + (1 - decay) * grad * grad
        mean_gradient = decay * mean_gradient + (1 - decay) * grad
        spread = mean_square - mean_gradient * mean_gradient
        moment = momentum * moment + learning_rate * grad / np.sqrt(spread + epsilon)
        return var - moment, mean_gradient, mean_square, moment


class ApplyAdadelta(ParameterUpdate):
    """A step of Adadelta (Zeiler, 2012).

    var -= lr sqrt(accum_update + epsilon) / sqrt(accum + epsilon) grad.

    Call:
        var (Parameter): the weights, updated.
        accum (Parameter): moving mean of the squared gradients, updated.
        accum_update (Parameter): moving mean of the squared steps, updated.
        lr (float): learning rate.
        rho (float): decay of the means.
        epsilon (float): keeps the roots from zero.
        grad (Tensor): the gradient, of their shape.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> one = lambda: ms.Parameter(ms.Tensor([1.0]))
        >>> w = one()
        >>> _ = ms.ops.ApplyAdadelta()(w, one(), one(), 0.5, 0.5, 0.5, ms.Tensor([1.0]))
        >>> print(w.asnumpy())
        [0.5]
    """

    states = 3

    def __init__(self) -> None:
        super().__init__()

    def update(
        self,
        var: np.ndarray,
        accum: np.ndarray,
        accum_update: np.ndarray,
        lr: Any,
        rho: Any,
        epsilon: Any,
        grad: np.ndarray,
    ) -> tuple:
        """The new values."""
        accum = rho * accum + (1 - rho) * grad * grad
        step = np.sqrt(accum_update + epsilon) / np.sqrt(accum + epsilon) * grad
        return var - lr * step, accum, rho * accum_update + (1 - rho) * step * step
