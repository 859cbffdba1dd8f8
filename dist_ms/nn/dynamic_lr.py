"""Learning rates written out: lists with one entry per step, constant within an epoch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dist_ms.common.checks import (
    check_bool,
    check_non_negative_float,
    check_positive_float,
    check_positive_int,
    check_type,
)
from dist_ms.nn.learning_rate_schedule import (
    CosineDecayLR,
    ExponentialDecayLR,
    InverseDecayLR,
    NaturalExpDecayLR,
    PolynomialDecayLR,
    WarmUpLR,
    _Formula,
)

__all__ = [
    "cosine_decay_lr",
    "exponential_decay_lr",
    "inverse_decay_lr",
    "natural_exp_decay_lr",
    "piecewise_constant_lr",
    "polynomial_decay_lr",
    "warmup_lr",
]


def _written_out(schedule: _Formula, total_step: int, step_per_epoch: int) -> list[float]:
    """The rate of a schedule, whose steps are epochs, for the epoch that each step is in."""
    return [schedule._at(step // step_per_epoch) for step in range(total_step)]


def _check_steps(owner: str, **counts: Any) -> None:
    for name, value in counts.items():
        check_positive_int(value, name, owner)


def piecewise_constant_lr(milestone: list[int] | tuple, learning_rates: list[float] | tuple) -> list[float]:
    r"""Rates that change at given steps: :math:`\eta_t = x_i` for :math:`M_{i-1} \le t < M_i`.

    Args:
        milestone: :math:`M_i`, positive ints that do not fall; the last is the number of steps.
        learning_rates: :math:`x_i`, as many floats.

    Returns:
        a list of floats, one per step.

    Raises:
        TypeError: if an argument is no list or tuple, or holds another type.
        ValueError: if the lengths differ, or a milestone is smaller than the one before it.

    Examples:
        >>> from dist_ms import nn
        >>> nn.piecewise_constant_lr([2, 5], [0.1, 0.05])
        [0.1, 0.1, 0.05, 0.05, 0.05]
    """
    owner = "piecewise_constant_lr"
    check_type(milestone, "milestone", owner, (tuple, list))
    check_type(learning_rates, "learning_rates", owner, (tuple, list))
    if len(milestone) != len(learning_rates):
        raise ValueError(
            f"For '{owner}', 'learning_rates' must have one entry per milestone, {len(milestone)}, "
            f"but got {len(learning_rates)}."
        )
    rates: list[float] = []
    for i, (end, rate) in enumerate(zip(milestone, learning_rates)):
        check_positive_int(end, f"milestone[{i}]", owner)
        check_type(rate, f"learning_rates[{i}]", owner, float)
        if end < len(rates):
            raise ValueError(
                f"For '{owner}', 'milestone[{i}]' must be at least milestone[{i - 1}], {len(rates)}, but got {end}."
            )
        rates += [rate] * (end - len(rates))
    return rates


def _decayed(
    kind: Callable[..., _Formula],
    owner: str,
    learning_rate: float,
    decay_rate: float,
    total_step: int,
    step_per_epoch: int,
    decay_epoch: int,
    is_stair: bool,
) -> list[float]:
    """A schedule with a rate of decay, written out."""
    _check_steps(owner, total_step=total_step, step_per_epoch=step_per_epoch, decay_epoch=decay_epoch)
    check_positive_float(learning_rate, "learning_rate", owner)
    check_positive_float(decay_rate, "decay_rate", owner)
    check_bool(is_stair, "is_stair", owner)
    return _written_out(kind(learning_rate, decay_rate, decay_epoch, is_stair), total_step, step_per_epoch)


def exponential_decay_lr(
    learning_rate: float,
    decay_rate: float,
    total_step: int,
    step_per_epoch: int,
    decay_epoch: int,
    is_stair: bool = False,
) -> list[float]:
    """`ExponentialDecayLR` written out, with epochs in the place of steps.

    Args:
        learning_rate, decay_rate, is_stair: as there.
        total_step: the number of steps.
        step_per_epoch: steps of an epoch.
        decay_epoch: the epochs of one period.

    Returns:
        a list of `total_step` floats, constant within an epoch.

    Raises:
        TypeError: for an argument of another type.
        ValueError: for a number out of range.

    Examples:
        >>> from dist_ms import nn
        >>> nn.exponential_decay_lr(0.5, 0.25, 4, 2, 2)
        [0.5, 0.5, 0.25, 0.25]
    """
    numbers = (learning_rate, decay_rate, total_step, step_per_epoch, decay_epoch, is_stair)
    return _decayed(ExponentialDecayLR, "exponential_decay_lr", *numbers)


def natural_exp_decay_lr(
    learning_rate: float,
    decay_rate: float,
    total_step: int,
    step_per_epoch: int,
    decay_epoch: int,
    is_stair: bool = False,
) -> list[float]:
    """`NaturalExpDecayLR` written out; the arguments are those of `exponential_decay_lr`.

    Examples:
        >>> from dist_ms import nn
        >>> [round(rate, 4) for rate in nn.natural_exp_decay_lr(0.5, 1.0, 3, 1, 2, is_stair=True)]
        [0.5, 0.5, 0.0677]
    """
    numbers = (learning_rate, decay_rate, total_step, step_per_epoch, decay_epoch, is_stair)
    return _decayed(NaturalExpDecayLR, "natural_exp_decay_lr", *numbers)


def inverse_decay_lr(
    learning_rate: float,
    decay_rate: float,
    total_step: int,
    step_per_epoch: int,
    decay_epoch: int,
    is_stair: bool = False,
) -> list[float]:
    """`InverseDecayLR` written out; the arguments are those of `exponential_decay_lr`.

    Examples:
        >>> from dist_ms import nn
        >>> nn.inverse_decay_lr(0.5, 1.0, 4, 1, 1, is_stair=True)
        [0.5, 0.25, 0.16666666666666666, 0.125]
    """
    numbers = (learning_rate, decay_rate, total_step, step_per_epoch, decay_epoch, is_stair)
    return _decayed(InverseDecayLR, "inverse_decay_lr", *numbers)


def cosine_decay_lr(
    min_lr: float, max_lr: float, total_step: int, step_per_epoch: int, decay_epoch: int
) -> list[float]:
    """`CosineDecayLR` written out, with epochs as in `exponential_decay_lr`.

    Examples:
        >>> from dist_ms import nn
        >>> [round(rate, 3) for rate in nn.cosine_decay_lr(0.1, 0.5, 4, 1, 2)]
        [0.5, 0.3, 0.1, 0.1]
    """
    owner = "cosine_decay_lr"
    check_non_negative_float(min_lr, "min_lr", owner)
    check_positive_float(max_lr, "max_lr", owner)
    _check_steps(owner, total_step=total_step, step_per_epoch=step_per_epoch, decay_epoch=decay_epoch)
    if min_lr >= max_lr:
        raise ValueError(f"For '{owner}', 'max_lr' must be greater than 'min_lr', {min_lr}, but got {max_lr}.")
    return _written_out(CosineDecayLR(min_lr, max_lr, decay_epoch), total_step, step_per_epoch)


def polynomial_decay_lr(
    learning_rate: float,
    end_learning_rate: float,
    total_step: int,
    step_per_epoch: int,
    decay_epoch: int,
    power: float,
    update_decay_epoch: bool = False,
) -> list[float]:
    """`PolynomialDecayLR` written out, with epochs as in `exponential_decay_lr`.

    Examples:
        >>> from dist_ms import nn
        >>> nn.polynomial_decay_lr(0.5, 0.25, 4, 1, 2, 1.0)
        [0.5, 0.375, 0.25, 0.25]
    """
    owner = "polynomial_decay_lr"
    check_positive_float(learning_rate, "learning_rate", owner)
    check_non_negative_float(end_learning_rate, "end_learning_rate", owner)
    check_positive_float(power, "power", owner)
    _check_steps(owner, total_step=total_step, step_per_epoch=step_per_epoch, decay_epoch=decay_epoch)
    check_bool(update_decay_epoch, "update_decay_epoch", owner)
    schedule = PolynomialDecayLR(learning_rate, end_learning_rate, decay_epoch, power, update_decay_epoch)
    return _written_out(schedule, total_step, step_per_epoch)


def warmup_lr(learning_rate: float, total_step: int, step_per_epoch: int, warmup_epoch: int) -> list[float]:
    """`WarmUpLR` written out, with epochs as in `exponential_decay_lr`.

    Examples:
        >>> from dist_ms import nn
        >>> nn.warmup_lr(0.5, 4, 1, 2)
        [0.0, 0.25, 0.5, 0.5]
    """
    owner = "warmup_lr"
    check_non_negative_float(learning_rate, "learning_rate", owner)
    _check_steps(owner, total_step=total_step, step_per_epoch=step_per_epoch, warmup_epoch=warmup_epoch)
    return _written_out(WarmUpLR(learning_rate, warmup_epoch), total_step, step_per_epoch)
