"""Checks of the arguments that optimizers in PyTorch's form share."""

from __future__ import annotations

from typing import Any

from dist_ms.common.checks import (
    check_bool,
    check_float_range,
    check_non_negative_float,
    check_number_range,
    check_type,
)
from dist_ms.common.tensor import Tensor


def check_above(value: Any, name: str, owner: str, low: float = 0.0) -> None:
    """Check that a number or scalar Tensor is above a limit.

    Raises:
        TypeError: for another type.
        ValueError: at the limit or below it.
    """
    check_type(value, name, owner, (float, int, bool, Tensor))
    if not value > low:
        raise ValueError(f"For '{owner}', '{name}' must be greater than {low}, but got {value}.")


def check_at_least(value: Any, name: str, owner: str) -> None:
    """Check that a number or scalar Tensor is not negative.

    Raises:
        TypeError: for another type.
        ValueError: below 0.
    """
    check_type(value, name, owner, (float, int, bool, Tensor))
    if not value >= 0.0:
        raise ValueError(f"For '{owner}', '{name}' must be at least 0.0, but got {value}.")


def check_decay_rates(betas: Any, owner: str) -> None:
    """Check two decay rates in [0, 1).

    Raises:
        TypeError: for no tuple or list of numbers.
        ValueError: for another length, or a rate out of range.
    """
    _check_pair(owner, betas)
    for i, beta in enumerate(betas):
        check_number_range(beta, f"betas[{i}]", owner, 0.0, 1.0, "[)")


def check_float_betas(betas: Any, owner: str) -> None:
    """Check two decay rates in [0, 1) that must be floats.

    Raises:
        TypeError: for no tuple or list of floats.
        ValueError: for another length, or a rate out of range.
    """
    _check_pair(owner, betas)
    for i, beta in enumerate(betas):
        check_float_range(beta, f"betas[{i}]", owner, 0.0, 1.0, "[)")


def _check_pair(owner: str, betas: Any, types: Any = (tuple, list)) -> None:
    check_type(betas, "betas", owner, types)
    if len(betas) != 2:
        raise ValueError(f"For '{owner}', 'betas' must be a tuple of 2 floats, but got {len(betas)}.")


def check_strictly(
    owner: str, lr: Any, betas: Any, eps: Any, weight_decay: Any, amsgrad: Any, maximize: Any, pair: Any = tuple
) -> None:
    """Check the arguments of the Adam family as `mint.optim` does: numbers must be floats, betas of the type `pair`.

    Raises:
        TypeError: for another type.
        ValueError: for a number out of range.
    """
    _check_pair(owner, betas, pair)
    check_float_betas(betas, owner)
    for name, value in (("eps", eps), ("weight_decay", weight_decay), ("lr", lr)):
        check_non_negative_float(value, name, owner)
    check_bool(amsgrad, "amsgrad", owner)
    check_bool(maximize, "maximize", owner)
