"""Learning-rate schedules: cells from the step to the learning rate."""

from __future__ import annotations

import math

import numpy as np

from dist_ms import ops
from dist_ms.common.checks import (
    check_bool,
    check_non_negative_float,
    check_positive_float,
    check_positive_int,
    check_type,
    complaint,
)
from dist_ms.common.tensor import Tensor
from dist_ms.nn.cell import Cell

__all__ = [
    "CosineDecayLR",
    "ExponentialDecayLR",
    "InverseDecayLR",
    "LearningRateSchedule",
    "NaturalExpDecayLR",
    "PolynomialDecayLR",
    "WarmUpLR",
]


class LearningRateSchedule(Cell):
    """Base class of schedules: override `construct(global_step)` to return the learning rate as a Tensor.

    Examples:
        >>> import dist_ms as ms
        >>> class Halving(ms.nn.LearningRateSchedule):
        ...     def construct(self, global_step):
        ...         return 0.5 ** ms.ops.cast(global_step, ms.float32)
        >>> print(Halving()(ms.Tensor(2, ms.int32)))
        0.25
    """

    def construct(self, global_step: Tensor) -> Tensor:
        """The learning rate of a step.

        Raises:
            NotImplementedError: unless a subclass defines it.
        """
        raise NotImplementedError(
            f"For '{self.cls_name}', construct(global_step) is not defined: a schedule returns its learning rate there."
        )

    def then(self, schedule: LearningRateSchedule, after: int) -> LearningRateSchedule:
        """Return a schedule that follows this one for some steps, and then another from its step 0 on.

        Args:
            schedule: the other one.
            after: the steps of this one, a positive int.

        Raises:
            TypeError: for an argument of another type.
            ValueError: if `after` is not positive.

        Examples:
            >>> import dist_ms as ms
            >>> rate = ms.nn.WarmUpLR(0.5, 4).then(ms.nn.CosineDecayLR(0.0, 0.5, 8), after=4)
            >>> [float(rate(ms.Tensor(step, ms.int32))) for step in (0, 2, 4, 8, 12)]
            [0.0, 0.25, 0.5, 0.25, 0.0]
        """
        return _Sequence(self, schedule, after)


class _Sequence(LearningRateSchedule):
    """A schedule for some steps, and another after them."""

    def __init__(self, first: LearningRateSchedule, second: LearningRateSchedule, after: int) -> None:
        super().__init__()
        check_type(second, "schedule", "then", LearningRateSchedule)
        self.after = check_positive_int(after, "after", "then")
        self.first, self.second = first, second

    def construct(self, global_step: Tensor) -> Tensor:
        """The learning rate of a step."""
        step = global_step if isinstance(global_step, Tensor) else Tensor(global_step)
        left = ops.maximum(step - self.after, ops.zeros_like(step))
        return ops.where(step < self.after, self.first(step), self.second(left))


class _Formula(LearningRateSchedule):
    """A schedule computed by a float formula of the step."""

    def construct(self, global_step: Tensor) -> Tensor:
        """The learning rate of a step, a float32 Tensor of the step's shape."""
        if not isinstance(global_step, (Tensor, int, float)):
            raise TypeError(complaint("global_step", type(self).__name__, "a Tensor", type(global_step).__name__))
        steps = global_step.asnumpy() if isinstance(global_step, Tensor) else np.asarray(global_step)
        rates = [self._at(float(s)) for s in steps.reshape(-1)]
        return Tensor(np.array(rates, np.float32).reshape(steps.shape))

    def _at(self, step: float) -> float:
        raise NotImplementedError(f"For '{self.cls_name}', the formula is not defined.")


class _Decay(_Formula):
    """What the exponential family shares: a start, a rate, a period and stairs."""

    def __init__(self, learning_rate: float, decay_rate: float, decay_steps: int, is_stair: bool = False) -> None:
        super().__init__()
        name = self.cls_name
        self.decay_steps = check_positive_int(decay_steps, "decay_steps", name)
        self.learning_rate = check_positive_float(learning_rate, "learning_rate", name)
        self.decay_rate = check_positive_float(decay_rate, "decay_rate", name)
        self.is_stair = check_bool(is_stair, "is_stair", name)

    def _periods(self, step: float) -> float:
        periods = step / self.decay_steps
        return math.floor(periods) if self.is_stair else periods


class ExponentialDecayLR(_Decay):
    r"""Exponential decay, :math:`\eta_t = \eta_0 r^{t / d}`.

    Args:
        learning_rate: :math:`\eta_0`, a positive float.
        decay_rate: r, a positive float.
        decay_steps: d, the steps of one period.
        is_stair: use whole periods only.

    Raises:
        TypeError: for an argument of another type.
        ValueError: for a number that is not positive.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.ExponentialDecayLR(0.1, 0.5, 2)(ms.Tensor(2, ms.int32)))
        0.05
    """

    def _at(self, step: float) -> float:
        return self.learning_rate * self.decay_rate ** self._periods(step)


class NaturalExpDecayLR(_Decay):
    r"""Natural exponential decay, :math:`\eta_t = \eta_0 e^{-r t}`; the arguments are those of `ExponentialDecayLR`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.NaturalExpDecayLR(0.1, 1.0, 2, is_stair=True)(ms.Tensor(1, ms.int32)))
        0.1
    """

    def _at(self, step: float) -> float:
        counted = math.floor(step / self.decay_steps) * self.decay_steps if self.is_stair else step
        return self.learning_rate * math.exp(-self.decay_rate * counted)


class InverseDecayLR(_Decay):
    r"""Inverse-time decay, :math:`\eta_t = \eta_0 / (1 + r t / d)`; the arguments are those of `ExponentialDecayLR`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.InverseDecayLR(0.1, 0.5, 2)(ms.Tensor(4, ms.int32)))
        0.05
    """

    def _at(self, step: float) -> float:
        return self.learning_rate / (1.0 + self.decay_rate * self._periods(step))


class CosineDecayLR(_Formula):
    r"""Half a cosine from `max_lr` down to `min_lr` over `decay_steps`, constant after.

    .. math::
        \eta_t = \eta_{min} + \tfrac12 (\eta_{max} - \eta_{min}) (1 + \cos(\pi \min(t, d) / d))

    Source: Loshchilov and Hutter, SGDR, 2017.

    Args:
        min_lr: the last rate, a float of 0 or more.
        max_lr: the first rate, a float above `min_lr`.
        decay_steps: d, the steps of the fall.

    Raises:
        TypeError: for an argument of another type.
        ValueError: for a number out of range.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.CosineDecayLR(0.0, 0.5, 4)(ms.Tensor(2, ms.int32)))
        0.25
    """

    def __init__(self, min_lr: float, max_lr: float, decay_steps: int) -> None:
        super().__init__()
        self.min_lr = check_non_negative_float(min_lr, "min_lr", "CosineDecayLR")
        self.max_lr = check_positive_float(max_lr, "max_lr", "CosineDecayLR")
        self.decay_steps = check_positive_int(decay_steps, "decay_steps", "CosineDecayLR")
        if min_lr >= max_lr:
            raise ValueError(
                f"For 'CosineDecayLR', 'max_lr' must be greater than 'min_lr', but got 'max_lr' {max_lr}, "
                f"'min_lr' {min_lr}."
            )

    def _at(self, step: float) -> float:
        angle = math.pi * min(step, self.decay_steps) / self.decay_steps
        return self.min_lr + 0.5 * (self.max_lr - self.min_lr) * (1.0 + math.cos(angle))


class PolynomialDecayLR(_Formula):
    r"""A polynomial from `learning_rate` to `end_learning_rate` over `decay_steps`.

    .. math::
        \eta_t = (\eta_0 - \eta_{end}) (1 - \min(t, d) / d)^{power} + \eta_{end}

    Args:
        learning_rate: :math:`\eta_0`, a positive float.
        end_learning_rate: :math:`\eta_{end}`, a float of 0 or more.
        decay_steps: d, the steps of the fall.
        power: a positive float.
        update_decay_steps: d grows to the next multiple of `decay_steps`: fall again and again.

    Raises:
        TypeError: for an argument of another type.
        ValueError: for a number out of range.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.PolynomialDecayLR(0.5, 0.25, 2, 1.0)(ms.Tensor(1, ms.int32)))
        0.375
    """

    def __init__(
        self,
        learning_rate: float,
        end_learning_rate: float,
        decay_steps: int,
        power: float,
        update_decay_steps: bool = False,
    ) -> None:
        super().__init__()
        name = "PolynomialDecayLR"
        self.start_learning_rate = check_positive_float(learning_rate, "learning_rate", name)
        self.end_learning_rate = check_non_negative_float(end_learning_rate, "end_learning_rate", name)
        self.decay_steps = check_positive_int(decay_steps, "decay_steps", name)
        self.update_decay_steps = check_bool(update_decay_steps, "update_decay_steps", name)
        self.power = check_positive_float(power, "power", name)
        self.diff_learning_rate = learning_rate - end_learning_rate

    def _at(self, step: float) -> float:
        steps = float(self.decay_steps)
        if self.update_decay_steps:
            steps *= max(1.0, math.ceil(step / steps))
        left = 1.0 - min(step, steps) / steps
        return self.diff_learning_rate * left**self.power + self.end_learning_rate


class WarmUpLR(_Formula):
    r"""A straight line from 0 to `learning_rate`, constant after: :math:`\eta_t = \eta \min(t, w) / w`.

    Args:
        learning_rate: :math:`\eta`, a float of 0 or more.
        warmup_steps: w, the steps of the line.

    Raises:
        TypeError: for an argument of another type.
        ValueError: for a number out of range.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.WarmUpLR(0.5, 4)(ms.Tensor(1, ms.int32)))
        0.125
    """

    def __init__(self, learning_rate: float, warmup_steps: int) -> None:
        super().__init__()
        self.warmup_steps = check_positive_int(warmup_steps, "warmup_steps", "WarmUpLR")
        self.learning_rate = check_non_negative_float(learning_rate, "learning_rate", "WarmUpLR")

    def _at(self, step: float) -> float:
        return self.learning_rate * min(step, self.warmup_steps) / self.warmup_steps
