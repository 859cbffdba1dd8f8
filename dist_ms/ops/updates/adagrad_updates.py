"""Adagrad, proximal steps and FTRL as operations: one step on Parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.ops.updates.parameter_updates import ParameterUpdate, in_turn, present_rows_once, shrunk

__all__ = [
    "ApplyAdagrad",
    "ApplyAdagradDA",
    "ApplyAdagradV2",
    "ApplyFtrl",
    "ApplyProximalAdagrad",
    "ApplyProximalGradientDescent",
    "FusedSparseFtrl",
    "FusedSparseProximalAdagrad",
    "SparseApplyFtrl",
]


class ApplyAdagrad(ParameterUpdate):
    """A step of Adagrad (Duchi et al., 2011).

    accum += grad^2; var -= lr grad / sqrt(accum).

    Args:
        update_slots: whether `accum` is updated.

    Call:
        var (Parameter): the weights, updated.
        accum (Parameter): sum of the squared gradients, updated.
        lr (float): learning rate.
        grad (Tensor): the gradient, of their shape.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> one = lambda: ms.Parameter(ms.Tensor([1.0]))
        >>> w = one()
        >>> _ = ms.ops.ApplyAdagrad()(w, one(), 0.5, ms.Tensor([1.0]))
        >>> print(w.asnumpy())
        [0.6464466]
    """

    states = 2

    def __init__(self, update_slots: bool = True) -> None:
        super().__init__()
        self.update_slots = self.flag(update_slots, "update_slots")

    def update(self, var: np.ndarray, accum: np.ndarray, lr: Any, grad: np.ndarray) -> tuple:
        """The new values."""
        accum = accum + grad * grad if self.update_slots else accum
        return var - lr * grad / np.sqrt(accum), accum


class ApplyAdagradV2(ParameterUpdate):
    """A step of Adagrad, with an epsilon.

    accum += grad^2; var -= lr grad / (sqrt(accum) + epsilon).

    Args:
        epsilon: keeps the divisor from zero.
        update_slots: whether `accum` is updated.

    Call:
        var (Parameter): the weights, updated.
        accum (Parameter): sum of the squared gradients, updated.
        lr (float): learning rate.
        grad (Tensor): the gradient, of their shape.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> one = lambda: ms.Parameter(ms.Tensor([1.0]))
        >>> w = one()
        >>> _ = ms.ops.ApplyAdagradV2(0.5)(w, one(), 0.5, ms.Tensor([1.0]))
        >>> print(w.asnumpy())
        [0.7387961]
    """

    states = 2

    def __init__(self, epsilon: float, update_slots: bool = True) -> None:
        super().__init__()
        self.epsilon = self.number(epsilon, "epsilon")
        self.update_slots = self.flag(update_slots, "update_slots")

    def update(self, var: np.ndarray, accum: np.ndarray, lr: Any, grad: np.ndarray) -> tuple:
        """The new values."""
        accum = accum + grad * grad if self.update_slots else accum
        return var - lr * grad / (np.sqrt(accum) + var.dtype.type(self.epsilon)), accum


class ApplyAdagradDA(ParameterUpdate):
    """A step of Adagrad with dual averaging (Duchi et al., 2011).

    var = -lr shrink(sum of gradients, l1 step) / (l2 step lr + sqrt(sum of squares)).

    Args:
        use_locking: accepted; updates are always in order.

    Call:
        var (Parameter): the weights, updated.
        gradient_accumulator (Parameter): sum of the gradients, updated.
        gradient_squared_accumulator (Parameter): sum of their squares, updated.
        grad (Tensor): the gradient, of their shape.
        lr (float): learning rate.
        l1 (float): L1 penalty.
        l2 (float): L2 penalty.
        global_step (int): number of the step.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> one = lambda: ms.Parameter(ms.Tensor([1.0]))
        >>> w = one()
        >>> _ = ms.ops.ApplyAdagradDA()(w, one(), one(), ms.Tensor([1.0]), 0.5, 0.5, 0.5, 1)
        >>> print(w.asnumpy())
        [-0.45066333]
    """

    states = 3
    outputs = 1

    def update(
        self,
        var: np.ndarray,
        gradient_accumulator: np.ndarray,
        gradient_squared_accumulator: np.ndarray,
        grad: np.ndarray,
        lr: Any,
        l1: Any,
        l2: Any,
        global_step: Any,
    ) -> tuple:
        """The new values."""
        total = gradient_accumulator + grad
        squares = gradient_squared_accumulator + grad * grad
        top = shrunk(total, l1 * global_step) if l1 > 0 else total
        return -lr * top / (l2 * global_step * lr + np.sqrt(squares)), total, squares


class ApplyProximalGradientDescent(ParameterUpdate):
    """A step of gradient descent and one towards zero.

    var = shrink(var - alpha delta, alpha l1) / (1 + alpha l2).

    Call:
        var (Parameter): the weights, updated.
        alpha (float): learning rate.
        l1 (float): L1 penalty.
        l2 (float): L2 penalty.
        delta (Tensor): the gradient, of their shape.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> one = lambda: ms.Parameter(ms.Tensor([1.0]))
        >>> w = one()
        >>> _ = ms.ops.ApplyProximalGradientDescent()(w, 0.5, 0.5, 0.5, ms.Tensor([1.0]))
        >>> print(w.asnumpy())
        [0.2]
    """

    arrays = ("delta",)

    def __init__(self) -> None:
        super().__init__()

    def update(self, var: np.ndarray, alpha: Any, l1: Any, l2: Any, delta: np.ndarray) -> tuple:
        """The new values."""
        return (shrunk(var - alpha * delta, alpha * max(l1, 0)) / (1 + alpha * l2),)


class ApplyProximalAdagrad(ParameterUpdate):
    """A step of Adagrad and one towards zero.

    var = shrink(var - step grad, step l1) / (1 + step l2), with step = lr / sqrt(accum).

    Args:
        use_locking: accepted; updates are always in order.

    Call:
        var (Parameter): the weights, updated.
        accum (Parameter): sum of the squared gradients, updated.
        lr (float): learning rate.
        l1 (float): L1 penalty.
        l2 (float): L2 penalty.
        grad (Tensor): the gradient, of their shape.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> one = lambda: ms.Parameter(ms.Tensor([1.0]))
        >>> w = one()
        >>> _ = ms.ops.ApplyProximalAdagrad()(w, one(), 0.5, 0.5, 0.5, ms.Tensor([1.0]))
        >>> print(w.asnumpy())
        [0.39911556]
    """

    states = 2

    def update(self, var: np.ndarray, accum: np.ndarray, lr: Any, l1: Any, l2: Any, grad: np.ndarray) -> tuple:
        """The new values."""
        accum = accum + grad * grad
        return proximal(var, accum, lr, l1, l2, grad), accum


class FusedSparseProximalAdagrad(ParameterUpdate):
    """A step of Adagrad and one towards zero, for some rows; gradients of one row are added.

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
        IndexError: if a row is negative. Rows beyond the last are left out, as in MindSpore.

    Examples:
        >>> import dist_ms as ms
        >>> one = lambda: ms.Parameter(ms.Tensor([1.0]))
        >>> w = one()
        >>> _ = ms.ops.FusedSparseProximalAdagrad()(w, one(), 0.5, 0.5, 0.5, ms.Tensor([1.0]), ms.Tensor([0]))
        >>> print(w.asnumpy())
        [0.39911556]
    """

    states = 2

    def update(
        self, var: np.ndarray, accum: np.ndarray, lr: Any, l1: Any, l2: Any, grad: np.ndarray, indices: np.ndarray
    ) -> tuple:
        """The new values."""
        rows, g = present_rows_once(indices, grad, self.name, len(var))
        var, accum = var.copy(), accum.copy()
        accum[rows] += g * g
        var[rows] = proximal(var[rows], accum[rows], lr, l1, l2, g)
        return var, accum


def proximal(var: np.ndarray, accum: np.ndarray, lr: Any, l1: Any, l2: Any, grad: np.ndarray) -> np.ndarray:
    """The weights after a step of Adagrad and one towards zero."""
    step = lr / np.sqrt(accum)
    return shrunk(var - step * grad, step * max(l1, 0)) / (1 + step * l2)


class ApplyFtrl(ParameterUpdate):
    """A step of FTRL-proximal (McMahan et al., 2013).

    var = -shrink(linear, l1) / (accum^-lr_power / lr + 2 l2).

    Args:
        use_locking: accepted; updates are always in order.

    Call:
        var (Parameter): the weights, updated.
        accum (Parameter): sum of the squared gradients, updated.
        linear (Parameter): linear term, updated.
        grad (Tensor): the gradient, of their shape.
        lr (float): learning rate.
        l1 (float): L1 penalty.
        l2 (float): L2 penalty.
        lr_power (float): power of `accum`, 0 or less.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> one = lambda: ms.Parameter(ms.Tensor([1.0]))
        >>> w = one()
        >>> _ = ms.ops.ApplyFtrl()(w, one(), one(), ms.Tensor([1.0]), 0.5, 0.5, 0.5, 0.5)
        >>> print(w.asnumpy())
        [-0.863961]
    """

    states = 3
    outputs = 1

    def update(
        self,
        var: np.ndarray,
        accum: np.ndarray,
        linear: np.ndarray,
        grad: np.ndarray,
        lr: Any,
        l1: Any,
        l2: Any,
        lr_power: Any,
    ) -> tuple:
        """The new values."""
        return ftrl(var, accum, linear, grad, lr, l1, l2, lr_power)


class FusedSparseFtrl(ParameterUpdate):
    """A step of FTRL-proximal for some rows; gradients of one row are added.

    See `ApplyFtrl`.

    Args:
        lr: learning rate, positive.
        l1: L1 penalty.
        l2: L2 penalty.
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
        ValueError: if the shapes do not fit.
        IndexError: if a row is negative. Rows beyond the last are left out, as in MindSpore.

    Examples:
        >>> import dist_ms as ms
        >>> one = lambda: ms.Parameter(ms.Tensor([1.0]))
        >>> w = one()
        >>> _ = ms.ops.FusedSparseFtrl(0.5, 0.5, 0.5, -0.5)(w, one(), one(), ms.Tensor([1.0]), ms.Tensor([0]))
        >>> print(w.asnumpy())
        [-0.17541745]
    """

    states = 3

    def __init__(self, lr: float, l1: float, l2: float, lr_power: float, use_locking: bool = False) -> None:
        super().__init__(use_locking)
        self.lr, self.l1, self.l2 = self.number(lr, "lr"), self.number(l1, "l1"), self.number(l2, "l2")
        self.lr_power = self.number(lr_power, "lr_power")
        for argument, value, fits in (
            ("lr", lr, lr > 0),
            ("l1", l1, l1 >= 0),
            ("l2", l2, l2 >= 0),
            ("lr_power", lr_power, lr_power <= 0),
        ):
            if not fits:
                wanted = {"lr": "positive", "lr_power": "0 or less"}.get(argument, "0 or more")
                raise ValueError(f"For '{self.name}', '{argument}' must be {wanted}, but got {value}.")

    def update(
        self, var: np.ndarray, accum: np.ndarray, linear: np.ndarray, grad: np.ndarray, indices: np.ndarray
    ) -> tuple:
        """The new values."""
        rows, g = present_rows_once(indices, grad, self.name, len(var))
        var, accum, linear = var.copy(), accum.copy(), linear.copy()
        numbers = (var.dtype.type(x) for x in (self.lr, self.l1, self.l2, self.lr_power))
        var[rows], accum[rows], linear[rows] = ftrl(var[rows], accum[rows], linear[rows], g, *numbers)
        return var, accum, linear


class SparseApplyFtrl(FusedSparseFtrl):
    """A step of FTRL-proximal for some rows.

    Gradients of one row are used in turn. See `ApplyFtrl`.

    Args:
        lr: learning rate, positive.
        l1: L1 penalty.
        l2: L2 penalty.
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
        ValueError: if the shapes do not fit.
        IndexError: if a row is negative. Rows beyond the last are left out, as in MindSpore.

    Examples:
        >>> import dist_ms as ms
        >>> one = lambda: ms.Parameter(ms.Tensor([1.0]))
        >>> w = one()
        >>> _ = ms.ops.SparseApplyFtrl(0.5, 0.5, 0.5, -0.5)(w, one(), one(), ms.Tensor([1.0]), ms.Tensor([0]))
        >>> print(w.asnumpy())
        [-0.17541745]
    """

    def update(
        self, var: np.ndarray, accum: np.ndarray, linear: np.ndarray, grad: np.ndarray, indices: np.ndarray
    ) -> tuple:
        """The new values."""
        for rows, g in in_turn(indices, grad):
            var, accum, linear = super().update(var, accum, linear, g, rows)
        return var, accum, linear


def ftrl(
    var: np.ndarray, accum: np.ndarray, linear: np.ndarray, grad: np.ndarray, lr: Any, l1: Any, l2: Any, lr_power: Any
) -> tuple:
    """The new weights, sums of squares and linear terms."""
    total = accum + grad * grad
    power, before = total**-lr_power, accum**-lr_power
    linear = linear + grad - (power - before) / lr * var
    return -shrunk(linear, l1) / (power / lr + 2 * l2), total, linear
