"""Learning rates and weight decays that may change from step to step."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor
from dist_ms.nn.cell import Cell
from dist_ms.nn.learning_rate_schedule import LearningRateSchedule


class _IteratorLearningRate(LearningRateSchedule):
    """A learning rate per step, read from a Parameter that holds all of them."""

    def __init__(self, values: np.ndarray, name: str) -> None:
        super().__init__()
        self.learning_rate = Parameter(Tensor(values), name)

    def construct(self, global_step: Tensor) -> Tensor:
        """The learning rates of steps, in the shape of `global_step`.

        Raises:
            IndexError: if the list has none for a step.
        """
        steps = global_step.asnumpy()
        values = self.learning_rate.asnumpy()
        if (steps >= values.size).any():
            raise IndexError(
                f"For 'Optimizer', the list of learning rates has {values.size} entries, but step "
                f"{int(steps.max()) + 1} needs one more: give one entry per step."
            )
        return Tensor(values[steps])


class _ConvertToCell(LearningRateSchedule):
    """A fixed learning rate among groups of which another has a schedule."""

    def __init__(self, learning_rate: Parameter) -> None:
        super().__init__()
        self.learning_rate = learning_rate

    def construct(self, global_step: Tensor) -> Tensor:
        """The learning rate, in every step the same."""
        return Tensor(self.learning_rate.asnumpy().copy())


class _WrappedWeightDecay(Cell):
    """A weight decay per step, times the loss scale: what `decay_weight` adds before `scale_grad` divides."""

    def __init__(self, weight_decay: Cell, loss_scale: float = 1.0) -> None:
        super().__init__()
        self.weight_decay = weight_decay
        self.loss_scale = Tensor(np.float32(loss_scale))

    def construct(self, global_step: Tensor) -> Tensor:
        """The weight decay of a step."""
        return self.weight_decay(global_step) * self.loss_scale


def learning_rate_kind(owner: str, value: Any) -> Any:
    """Check a learning rate and return a float, a 1-D float32 array or a schedule.

    Raises:
        TypeError: for another type.
        ValueError: for a negative number, no number at all, or a Tensor of two or more dims.
    """
    if isinstance(value, LearningRateSchedule):
        return value
    if isinstance(value, (int, float, np.floating, np.integer)):
        return check_at_least_zero(float(value), "learning rate", owner)
    if isinstance(value, Tensor):
        if value.ndim > 1:
            raise ValueError(
                f"For 'Optimizer', a Tensor as 'learning_rate' must have no or one dimension, but got {value.ndim}."
            )
        array = value.asnumpy().astype(np.float32)
        if array.ndim == 0:
            return check_at_least_zero(float(array), "learning rate", owner)
        return _list_of_rates(array)
    if isinstance(value, Iterable) and not isinstance(value, Cell):
        return _list_of_rates(np.array([float(v) for v in value], np.float32))
    raise TypeError(
        "For 'Optimizer', 'learning_rate' must be a number, one for each step, or a LearningRateSchedule, but got "
        f"{type(value).__name__}."
    )


def _list_of_rates(array: np.ndarray) -> np.ndarray:
    if not array.size:
        raise ValueError("For 'Optimizer', a list of learning rates must have an entry per step, but got none.")
    return array


def check_same_length(kinds: Iterable[Any]) -> None:
    """Check that all lists of learning rates among the groups cover the same steps.

    Raises:
        ValueError: if two lengths differ.
    """
    lengths = {k.size for k in kinds if isinstance(k, np.ndarray)}
    if len(lengths) > 1:
        raise ValueError(
            "For 'Optimizer', all lists of learning rates, of groups and of 'learning_rate', must have one length, but "
            f"got {sorted(lengths)}."
        )


def learning_rate_source(kind: Any, name: str, as_cell: bool) -> Any:
    """A Parameter for a fixed rate (in a Cell if asked), else the Cell that gives one per step."""
    if isinstance(kind, float):
        fixed = Parameter(Tensor(np.float32(kind)), name)
        return _ConvertToCell(fixed) if as_cell else fixed
    return _IteratorLearningRate(kind, name) if isinstance(kind, np.ndarray) else kind


def check_at_least_zero(value: float, what: str, owner: str) -> float:
    """Return the value.

    Raises:
        ValueError: if it is negative or NaN.
    """
    if not value >= 0:
        raise ValueError(
            f"For '{owner}', the '{what}' must be float and must >= 0, but got '{value}' with type 'float'."
        )
    return value


def weight_decay_kind(owner: str, value: Any) -> Any:
    """Check a weight decay and return a float or a Cell that gives one per step.

    Raises:
        TypeError: for another type.
        ValueError: if it is negative.
    """
    if isinstance(value, Cell):
        return value
    if not isinstance(value, (int, float, np.floating)):
        raise TypeError(
            f"For '{owner}', the argument 'weight_decay' must be a float, int or Cell, but got {type(value)}."
        )
    return check_at_least_zero(float(value), "weight_decay", owner)


def number_of(value: Any) -> float:
    """A learning rate or weight decay as a Python float: of a Tensor its first element."""
    return float(value.asnumpy().reshape(-1)[0]) if isinstance(value, Tensor) else float(value)
