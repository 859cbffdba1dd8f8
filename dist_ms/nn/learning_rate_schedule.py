"""Learning-rate schedules: cells from the step to the learning rate."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

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


def _steps(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"For '{name}', the step count must be an int, but got {type(value).__name__}.")
    if value <= 0:
        raise ValueError(f"For '{name}', the step count must be a positive int, but got {value}.")
    return value


def _rate(name: str, what: str, value: Any, positive: bool = True) -> float:
    if not isinstance(value, float):
        raise TypeError(f"For '{name}', '{what}' must be a float, but got {type(value).__name__}.")
    if value < 0 or (positive and value == 0):
        raise ValueError(f"For '{name}', '{what}' must be {'positive' if positive else '0 or more'}, but got {value}.")
    return value


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"For '{name}', 'is_stair' must be a bool, but got {type(value).__name__}.")
    return value


class LearningRateSchedule(Cell):
    """Base class: override `construct(global_step)` to return the learning rate as a Tensor."""

    def construct(self, global_step: Tensor) -> Tensor:
        """The learning rate of a step."""
        raise NotImplementedError(
            f"For '{self.cls_name}', construct(global_step) is not defined: a schedule returns its learning rate there."
        )


class _Formula(LearningRateSchedule):
    """A schedule computed by a float formula of the step."""

    def construct(self, global_step: Tensor) -> Tensor:
        """The learning rate of a step, a float32 Tensor of the step's shape."""
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
        self.learning_rate = _rate(name, "learning_rate", learning_rate)
        self.decay_rate = _rate(name, "decay_rate", decay_rate)
        self.decay_steps = _steps(name, decay_steps)
        self.is_stair = _flag(name, is_stair)

    def _periods(self, step: float) -> float:
        periods = step / self.decay_steps
        return math.floor(periods) if self.is_stair else periods


class ExponentialDecayLR(_Decay):
    r"""Exponential decay, :math:`\eta = \eta_0 \cdot r^{p}` with p = step / decay_steps.

    Args:
        learning_rate: the start, a positive float.
        decay_rate: r, a positive float.
        decay_steps: steps of one period.
        is_stair: use whole periods only.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.ExponentialDecayLR(0.1, 0.5, 2)(ms.Tensor(2, ms.int32)))
        0.05
    """

    def _at(self, step: float) -> float:
        return self.learning_rate * self.decay_rate ** self._periods(step)


class NaturalExpDecayLR(_Decay):
    r"""Natural exponential decay, :math:`\eta = \eta_0 e^{-r p}` with p = step / decay_steps (arguments as above)."""

    def _at(self, step: float) -> float:
        periods = step if not self.is_stair else math.floor(step / self.decay_steps) * self.decay_steps
        return self.learning_rate * math.exp(-self.decay_rate * periods)


class InverseDecayLR(_Decay):
    r"""Inverse-time decay, :math:`\eta = \eta_0 / (1 + r p)` with p = step / decay_steps (arguments as above)."""

    def _at(self, step: float) -> float:
        return self.learning_rate / (1.0 + self.decay_rate * self._periods(step))


class CosineDecayLR(_Formula):
    r"""Half a cosine from `max_lr` down to `min_lr` over `decay_steps`, constant after.

    .. math::
        \eta = \eta_{min} + \tfrac12 (\eta_{max} - \eta_{min}) (1 + \cos(\pi \min(t, T) / T))

    Source: Loshchilov and Hutter, SGDR, 2017.
    """

    def __init__(self, min_lr: float, max_lr: float, decay_steps: int) -> None:
        super().__init__()
        self.min_lr = _rate("CosineDecayLR", "min_lr", min_lr, positive=False)
        self.max_lr = _rate("CosineDecayLR", "max_lr", max_lr)
        if min_lr >= max_lr:
            raise ValueError(
                f"For 'CosineDecayLR', 'max_lr' must be greater than 'min_lr', but got 'max_lr' {max_lr}, "
                f"'min_lr' {min_lr}."
            )
        self.decay_steps = _steps("CosineDecayLR", decay_steps)

    def _at(self, step: float) -> float:
        part = min(step, self.decay_steps) / self.decay_steps
        return self.min_lr + 0.5 * (self.max_lr - self.min_lr) * (1.0 + math.cos(math.pi * part))


class PolynomialDecayLR(_Formula):
    r"""A polynomial from `learning_rate` to `end_learning_rate` over `decay_steps`.

    .. math::
        \eta = (\eta_0 - \eta_{end}) (1 - \min(t, T) / T)^{power} + \eta_{end}

    With `update_decay_steps` T grows to the next multiple of `decay_steps`.
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
        self.learning_rate = _rate(name, "learning_rate", learning_rate)
        self.end_learning_rate = _rate(name, "end_learning_rate", end_learning_rate, positive=False)
        self.decay_steps = _steps(name, decay_steps)
        self.power = _rate(name, "power", power)
        if not isinstance(update_decay_steps, bool):
            raise TypeError(
                f"For '{name}', 'update_decay_steps' must be a bool, but got {type(update_decay_steps).__name__}."
            )
        self.update_decay_steps = update_decay_steps

    def _at(self, step: float) -> float:
        steps = float(self.decay_steps)
        if self.update_decay_steps:
            steps *= max(1.0, math.ceil(step / steps))
        part = min(step, steps) / steps
        return (self.learning_rate - self.end_learning_rate) * (1.0 - part) ** self.power + self.end_learning_rate


class WarmUpLR(_Formula):
    r"""A straight line from 0 to `learning_rate` over `warmup_steps`, constant after."""

    def __init__(self, learning_rate: float, warmup_steps: int) -> None:
        super().__init__()
        self.learning_rate = _rate("WarmUpLR", "learning_rate", learning_rate, positive=False)
        self.warmup_steps = _steps("WarmUpLR", warmup_steps)

    def _at(self, step: float) -> float:
        return self.learning_rate * min(step, self.warmup_steps) / self.warmup_steps
