"""FusedSparseAdam, SparseApplyRMSProp and their kin: steps of optimizers on some rows of Parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.ops.updates.parameter_updates import ParameterUpdate, check_rows, in_turn, present_rows_once

__all__ = ["FusedSparseAdam", "FusedSparseLazyAdam", "SparseApplyAdagradV2", "SparseApplyRMSProp"]


class FusedSparseAdam(ParameterUpdate):
    """A step of Adam whose gradient is zero but in some rows; all rows are updated.

    Gradients of one row are added. See `Adam`.

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
        >>> _ = ms.ops.FusedSparseAdam()(w, one(), one(), 0.5, 0.5,
        ...     0.5, 0.5, 0.5, 0.5, ms.Tensor([1.0]), ms.Tensor([0]))
        >>> print(w.asnumpy())
        [0.52859545]
    """

    states = 3

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
        grad: np.ndarray,
        indices: np.ndarray,
    ) -> tuple:
        """The new values."""
        rows, g = present_rows_once(indices, grad, self.name, len(var))
        m, v = beta1 * m, beta2 * v
        m[rows] += (1 - beta1) * g
        v[rows] += (1 - beta2) * g * g
        ahead = m
        if self.use_nesterov:
            ahead = np.zeros_like(m)
            ahead[rows] = beta1 * m[rows] + (1 - beta1) * g
        step = lr * np.sqrt(1 - beta2_power) / (1 - beta1_power)
        return var - step * ahead / (np.sqrt(v) + epsilon), m, v


class FusedSparseLazyAdam(FusedSparseAdam):
    """`FusedSparseAdam` that leaves the other rows and their means as they are.

    Examples:
        >>> import dist_ms as ms
        >>> one = lambda: ms.Parameter(ms.Tensor([1.0, 1.0]))
        >>> w = one()
        >>> _ = ms.ops.FusedSparseLazyAdam()(w, one(), one(), 0.5, 0.5,
        ...     0.5, 0.5, 0.5, 0.5, ms.Tensor([1.0]), ms.Tensor([0]))
        >>> print(w.asnumpy())
        [0.52859545 1.        ]
    """

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
        grad: np.ndarray,
        indices: np.ndarray,
    ) -> tuple:
        """The new values."""
        rows, g = present_rows_once(indices, grad, self.name, len(var))
        var, m, v = var.copy(), m.copy(), v.copy()
        numbers = (beta1_power, beta2_power, lr, beta1, beta2, epsilon)
        var[rows], m[rows], v[rows] = super().update(var[rows], m[rows], v[rows], *numbers, g, np.arange(len(rows)))
        return var, m, v


class SparseApplyAdagradV2(ParameterUpdate):
    """A step of Adagrad for some rows.

    accum += grad^2; var -= lr grad / sqrt(accum + epsilon); gradients of one row in turn.

    Args:
        lr: learning rate.
        epsilon: keeps the divisor from zero.
        use_locking: accepted; updates are always in order.
        update_slots: whether `accum` is updated.

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
        >>> _ = ms.ops.SparseApplyAdagradV2(0.5, 0.5)(w, one(), ms.Tensor([1.0]), ms.Tensor([0]))
        >>> print(w.asnumpy())
        [0.6837722]
    """

    states = 2

    def __init__(self, lr: float, epsilon: float, use_locking: bool = False, update_slots: bool = True) -> None:
        super().__init__(use_locking)
        self.lr, self.epsilon = self.number(lr, "lr"), self.number(epsilon, "epsilon")
        self.update_slots = self.flag(update_slots, "update_slots")

    def update(self, var: np.ndarray, accum: np.ndarray, grad: np.ndarray, indices: np.ndarray) -> tuple:
        """The new values."""
        check_rows(indices, self.name, len(var))
        var, accum = var.copy(), accum.copy()
        lr, epsilon = var.dtype.type(self.lr), var.dtype.type(self.epsilon)
        for rows, g in in_turn(indices, grad):
            if self.update_slots:
                accum[rows] += g * g
            var[rows] -= lr * g / np.sqrt(accum[rows] + epsilon)
        return var, accum


class SparseApplyRMSProp(ParameterUpdate):
    """A step of RMSProp for some rows.

    mom = momentum mom + lr grad / sqrt(ms + epsilon); var -= mom; gradients of one row in turn.

    Args:
        rho: decay of the mean.
        momentum: decay of the velocity.
        epsilon: keeps the root from zero.
        use_locking: accepted; updates are always in order.

    Call:
        var (Parameter): the weights, updated.
        ms (Parameter): moving mean of the squared gradients, updated.
        mom (Parameter): the velocity, updated.
        lr (float): learning rate.
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
        >>> _ = ms.ops.SparseApplyRMSProp(0.5, 0.5, 0.5)(w, one(), one(), 0.5, ms.Tensor([1.0]), ms.Tensor([0]))
        >>> print(w.asnumpy())
        [0.09175169]
    """

    states = 3

    def __init__(self, rho: float, momentum: float, epsilon: float, use_locking: bool = False) -> None:
        super().__init__(use_locking)
        self.rho, self.momentum = self.number(rho, "rho"), self.number(momentum, "momentum")
        self.epsilon = self.number(epsilon, "epsilon")
        if not 0 <= rho <= 1 or momentum < 0 or epsilon <= 0:
            raise ValueError(
                f"For '{self.name}', 'rho' must be in [0, 1], 'momentum' 0 or more and 'epsilon' positive, "
                f"but got {rho}, {momentum} and {epsilon}."
            )

    def update(
        self, var: np.ndarray, ms: np.ndarray, mom: np.ndarray, lr: Any, grad: np.ndarray, indices: np.ndarray
    ) -> tuple:
        """The new values."""
        check_rows(indices, self.name, len(var))
        var, ms, mom = var.copy(), ms.copy(), mom.copy()
        rho, momentum, epsilon = (var.dtype.type(x) for x in (self.rho, self.momentum, self.epsilon))
        for rows, g in in_turn(indices, grad):
            ms[rows] = rho * ms[rows] + (1 - rho) * g * g
            mom[rows] = momentum * mom[rows] + lr * g / np.sqrt(ms[rows] + epsilon)
            var[rows] -= mom[rows]
        return var, ms, mom
