"""SparseApplyAdagrad, ApplyKerasMomentum, LARSUpdate and their kin: steps of optimizers in TensorFlow's forms."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.checks import check_bool
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops.arguments import tensor
from dist_ms.ops.primitive import Primitive, quiet
from dist_ms.ops.updates.adagrad_updates import proximal
from dist_ms.ops.updates.parameter_updates import ParameterUpdate, check_rows, in_turn, shrunk

__all__ = [
    "ApplyKerasMomentum",
    "LARSUpdate",
    "SparseApplyAdadelta",
    "SparseApplyAdagrad",
    "SparseApplyFtrlV2",
    "SparseApplyProximalAdagrad",
]


class SparseApplyAdagrad(ParameterUpdate):
    """A step of Adagrad for some rows: accum += grad^2; var -= lr grad / sqrt(accum).

    Gradients of one row are used in turn.

    Args:
        lr: learning rate.
        update_slots: whether `accum` is updated.
        use_locking: accepted; updates are always in order.

    Call:
        var (Parameter): the weights, updated.
        accum (Parameter): sum of the squared gradients, updated.
        grad (Tensor): the gradients of the rows.
        indices (Tensor): the rows of the gradients, integers (N,).

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes do not fit.
        IndexError: if a row is out of range.

    Examples:
        >>> import dist_ms as ms
        >>> one = lambda: ms.Parameter(ms.Tensor([1.0]))
        >>> w = one()
        >>> _ = ms.ops.SparseApplyAdagrad(0.5)(w, one(), ms.Tensor([1.0]), ms.Tensor([0]))
        >>> print(w.asnumpy())
        [0.6464466]
    """

    states = 2

    def __init__(self, lr: float, update_slots: bool = True, use_locking: bool = False) -> None:
        super().__init__(use_locking)
        self.lr, self.update_slots = self.number(lr, "lr"), self.flag(update_slots, "update_slots")

    def update(self, var: np.ndarray, accum: np.ndarray, grad: np.ndarray, indices: np.ndarray) -> tuple:
        """The new values."""
        check_rows(indices, self.name, len(var))
        var, accum, lr = var.copy(), accum.copy(), var.dtype.type(self.lr)
        for rows, g in in_turn(indices, grad):
            if self.update_slots:
                accum[rows] += g * g
            var[rows] -= lr * g / np.sqrt(accum[rows])
        return var, accum


class SparseApplyAdadelta(ParameterUpdate):
    """A step of Adadelta for some rows; gradients of one row are used in turn. See `ApplyAdadelta`.

    Args:
        epsilon: keeps the divisor from zero.
        use_locking: accepted; updates are always in order.

    Call:
        var (Parameter): the weights, updated.
        accum (Parameter): moving mean of the squared gradients, updated.
        accum_update (Parameter): moving mean of the squared steps, updated.
        lr (float): learning rate.
        rho (float): decay of the means.
        grad (Tensor): the gradients of the rows.
        indices (Tensor): the rows of the gradients, integers (N,).

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes do not fit.
        IndexError: if a row is out of range.

    Examples:
        >>> import dist_ms as ms
        >>> one = lambda: ms.Parameter(ms.Tensor([1.0]))
        >>> w = one()
        >>> _ = ms.ops.SparseApplyAdadelta(0.0)(w, one(), one(), 0.5, 0.5, ms.Tensor([1.0]), ms.Tensor([0]))
        >>> print(w.asnumpy())
        [0.5]
    """

    states = 3

    def __init__(self, epsilon: float, use_locking: bool = False) -> None:
        super().__init__(use_locking)
        self.epsilon = self.number(epsilon, "epsilon")

    def update(
        self,
        var: np.ndarray,
        accum: np.ndarray,
        accum_update: np.ndarray,
        lr: Any,
        rho: Any,
        grad: np.ndarray,
        indices: np.ndarray,
    ) -> tuple:
        """The new values."""
        check_rows(indices, self.name, len(var))
        var, accum, steps, epsilon = var.copy(), accum.copy(), accum_update.copy(), var.dtype.type(self.epsilon)
        for rows, g in in_turn(indices, grad):
            accum[rows] = rho * accum[rows] + (1 - rho) * g * g
            step = np.sqrt(steps[rows] + epsilon) / np.sqrt(accum[rows] + epsilon) * g
            steps[rows] = rho * steps[rows] + (1 - rho) * step * step
            var[rows] -= lr * step
        return var, accum, steps


class SparseApplyFtrlV2(ParameterUpdate):
    """A step of FTRL-proximal with shrinkage for some rows; gradients of one row are used in turn.

    The linear term has the gradient and 2 l2_shrinkage var. See `ApplyFtrl`.

    Args:
        lr: learning rate, positive.
        l1: L1 penalty.
        l2: L2 penalty.
        l2_shrinkage: penalty that only the linear term has.
        lr_power: power of `accum`, 0 or less.
        use_locking: accepted; updates are always in order.

    Call:
        var (Parameter): the weights, updated.
        accum (Parameter): sum of the squared gradients, updated.
        linear (Parameter): linear term, updated.
        grad (Tensor): the gradients of the rows.
        indices (Tensor): the rows of the gradients, integers (N,).

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if a number is out of range, or the shapes do not fit.
        IndexError: if a row is out of range.

    Examples:
        >>> import dist_ms as ms
        >>> one = lambda: ms.Parameter(ms.Tensor([1.0]))
        >>> w = one()
        >>> _ = ms.ops.SparseApplyFtrlV2(0.5, 0.5, 0.5, 0.0, -0.5)(w, one(), one(), ms.Tensor([1.0]), ms.Tensor([0]))
        >>> print(w.asnumpy())
        [-0.17541745]
    """

    states = 3

    def __init__(
        self, lr: float, l1: float, l2: float, l2_shrinkage: float, lr_power: float, use_locking: bool = False
    ) -> None:
        super().__init__(use_locking)
        given = {"lr": lr, "l1": l1, "l2": l2, "l2_shrinkage": l2_shrinkage, "lr_power": lr_power}
        for argument, value in given.items():
            number = self.number(value, argument)
            wanted = {"lr": "positive", "lr_power": "0 or less"}.get(argument, "0 or more")
            if not {"positive": number > 0, "0 or less": number <= 0}.get(wanted, number >= 0):
                raise ValueError(f"For '{self.name}', '{argument}' must be {wanted}, but got {value}.")
            setattr(self, argument, number)

    def update(
        self, var: np.ndarray, accum: np.ndarray, linear: np.ndarray, grad: np.ndarray, indices: np.ndarray
    ) -> tuple:
        """The new values."""
        check_rows(indices, self.name, len(var))
        var, accum, linear = var.copy(), accum.copy(), linear.copy()
        lr, l1, l2, shrinkage, power = (
            var.dtype.type(getattr(self, name)) for name in ("lr", "l1", "l2", "l2_shrinkage", "lr_power")
        )
        for rows, g in in_turn(indices, grad):
            total = accum[rows] + g * g
            now, before = total**-power, accum[rows] ** -power
            linear[rows] += g + 2 * shrinkage * var[rows] - (now - before) / lr * var[rows]
            accum[rows] = total
            var[rows] = -shrunk(linear[rows], l1) / (now / lr + 2 * l2)
        return var, accum, linear


class SparseApplyProximalAdagrad(ParameterUpdate):
    """A step of Adagrad and one towards zero for some rows; gradients of one row are used in turn.

    See `ApplyProximalAdagrad`.

    Args:
        use_locking: accepted; updates are always in order.

    Call:
        var (Parameter): the weights, updated.
        accum (Parameter): sum of the squared gradients, updated.
        lr (float): learning rate.
        l1 (float): L1 penalty.
        l2 (float): L2 penalty.
        grad (Tensor): the gradients of the rows.
        indices (Tensor): the rows of the gradients, integers (N,).

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes do not fit.
        IndexError: if a row is out of range.

    Examples:
        >>> import dist_ms as ms
        >>> one = lambda: ms.Parameter(ms.Tensor([1.0]))
        >>> w = one()
        >>> _ = ms.ops.SparseApplyProximalAdagrad()(w, one(), 0.5, 0.5, 0.5, ms.Tensor([1.0]), ms.Tensor([0]))
        >>> print(w.asnumpy())
        [0.39911556]
    """

    states = 2

    def update(
        self, var: np.ndarray, accum: np.ndarray, lr: Any, l1: Any, l2: Any, grad: np.ndarray, indices: np.ndarray
    ) -> tuple:
        """The new values."""
        check_rows(indices, self.name, len(var))
        var, accum = var.copy(), accum.copy()
        for rows, g in in_turn(indices, grad):
            accum[rows] += g * g
            var[rows] = proximal(var[rows], accum[rows], lr, l1, l2, g)
        return var, accum


class ApplyKerasMomentum(ParameterUpdate):
    """A step of momentum as Keras takes it: accum = momentum accum - lr grad; var += accum.

    Args:
        use_locking: accepted; updates are always in order.
        use_nesterov: whether var += momentum accum - lr grad, with the new accum.

    Call:
        var (Parameter): the weights, updated.
        accum (Parameter): the last step, updated.
        lr (float): learning rate.
        grad (Tensor): the gradient, of their shape.
        momentum (float): decay of `accum`.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> one = lambda: ms.Parameter(ms.Tensor([1.0]))
        >>> w = one()
        >>> _ = ms.ops.ApplyKerasMomentum()(w, one(), 0.5, ms.Tensor([1.0]), 0.75)
        >>> print(w.asnumpy())
        [1.25]
    """

    states = 2

    def __init__(self, use_locking: bool = False, use_nesterov: bool = False) -> None:
        super().__init__(use_locking)
        self.use_nesterov = self.flag(use_nesterov, "use_nesterov")

    def update(self, var: np.ndarray, accum: np.ndarray, lr: Any, grad: np.ndarray, momentum: Any) -> tuple:
        """The new values."""
        accum = momentum * accum - lr * grad
        return var + (momentum * accum - lr * grad if self.use_nesterov else accum), accum


class LARSUpdate(Primitive):
    """A gradient scaled by its layer's rate (You et al., "Large Batch Training of Convolutional Networks", 2017).

    rate (gradient + weight_decay weight), with rate = hyperpara |w| / (|g| + weight_decay |w| + epsilon), which
    with `use_clip` is divided by the learning rate and at most 1.

    Args:
        epsilon: keeps the divisor from zero.
        hyperpara: how much of a weight's norm a step may have.
        use_clip: whether the rate is clipped.

    Call:
        weight (Tensor): the weights.
        gradient (Tensor): their gradient.
        norm_weight (Tensor): the sum of the squares of `weight`.
        norm_gradient (Tensor): the sum of the squares of `gradient`.
        weight_decay (float or Tensor): factor of the weights in the gradient.
        learning_rate (float or Tensor): what the step will be scaled by.

    Returns:
        Tensor, of the gradient's shape.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> w, g = ms.Tensor([3.0, 4.0]), ms.Tensor([0.0, 1.0])
        >>> print(ms.ops.LARSUpdate(epsilon=0.0, hyperpara=0.5)(w, g, ms.Tensor(25.0), ms.Tensor(1.0), 0.0, 0.1))
        [0.  2.5]
    """

    differentiable = False

    def __init__(self, epsilon: float = 1e-05, hyperpara: float = 0.001, use_clip: bool = False) -> None:
        for name, value in (("epsilon", epsilon), ("hyperpara", hyperpara)):
            if not isinstance(value, float):
                raise TypeError(f"For 'LARSUpdate', '{name}' must be a float, but got {type(value).__name__}.")
        check_bool(use_clip, "use_clip", "LARSUpdate")
        self.epsilon, self.hyperpara, self.use_clip = epsilon, hyperpara, use_clip

    @quiet
    def __call__(
        self,
        weight: Tensor,
        gradient: Tensor,
        norm_weight: Tensor,
        norm_gradient: Tensor,
        weight_decay: Any,
        learning_rate: Any,
    ) -> Tensor:
        w, g = (tensor(x, name, self.name).array() for x, name in ((weight, "weight"), (gradient, "gradient")))
        if w.shape != g.shape:
            raise ValueError(f"For 'LARSUpdate', 'gradient' must have shape {w.shape}, but got {g.shape}.")
        numbers = [
            np.float32(x.array().reshape(()) if isinstance(x, Tensor) else x)
            for x in (norm_weight, norm_gradient, weight_decay, learning_rate)
        ]
        norm_w, norm_g, decay, lr = np.sqrt(numbers[0]), np.sqrt(numbers[1]), numbers[2], numbers[3]
        rate = np.float32(1)
        if norm_w > 0 and norm_g > 0:
            rate = np.float32(self.hyperpara) * norm_w / (norm_g + decay * norm_w + np.float32(self.epsilon))
            if self.use_clip:
                rate = min(rate / lr, np.float32(1))
        return wrap((rate * (g + decay * w)).astype(g.dtype, copy=False))
