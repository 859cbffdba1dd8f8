"""Checks of arguments that several image transforms have."""

from __future__ import annotations

from typing import Any

from dist_ms.common.checks import (
    check_int_range,
    check_number,
    check_number_range,
    check_type,
    complaint,
)
from dist_ms.dataset.vision.enums import Border, Inter

LARGEST = 16777216  # the largest of the consecutive whole numbers of float32
INT32 = 2147483647


def pair(size: Any, name: str, owner: str) -> tuple[int, int]:
    """A height and a width from an int (both) or two of them."""
    check_type(size, name, owner, (int, list, tuple))
    if isinstance(size, int):
        return (check_int_range(size, name, owner, 1, LARGEST),) * 2
    if len(size) != 2:
        raise TypeError(complaint(name, owner, "an int or two ints", repr(size)))
    return tuple(check_int_range(value, name, owner, 1, LARGEST) for value in size)


def padding_widths(padding: Any, owner: str) -> tuple[int, int, int, int]:
    """Left, top, right, bottom from one width, (left and right, top and bottom), or the four."""
    check_type(padding, "padding", owner, (int, list, tuple))
    values = tuple(padding) if isinstance(padding, (list, tuple)) else (padding,) * 4
    if len(values) not in (2, 4):
        raise ValueError(complaint("padding", owner, "1, 2 or 4 ints", repr(padding)))
    for value in values:
        check_int_range(value, "padding", owner, 0, INT32)
    return (*values, *values) if len(values) == 2 else values


def colour(fill_value: Any, owner: str) -> tuple[int, int, int]:
    """The three channels' fill value from an int or a tuple of three."""
    values = (fill_value,) * 3 if isinstance(fill_value, int) else fill_value
    if not isinstance(values, tuple) or len(values) != 3:
        raise TypeError(complaint("fill_value", owner, "an int or a tuple of 3", repr(fill_value)))
    for value in values:
        check_int_range(value, "fill_value", owner, 0, 255)
    return values


def interpolation_of(value: Any, name: str, owner: str) -> Inter:
    """A way to interpolate."""
    return check_type(value, name, owner, Inter)


def border(value: Any, owner: str) -> Border:
    """A way to fill borders."""
    return check_type(value, "padding_mode", owner, Border)


def probability(value: Any, name: str, owner: str) -> float:
    """A number from 0 to 1."""
    return check_number_range(value, name, owner, 0, 1)


def limits(values: Any, name: str, owner: str, low: float, high: float) -> tuple[float, float]:
    """Two numbers in rising order, from `low` to `high`."""
    check_type(values, name, owner, (list, tuple))
    if len(values) != 2:
        raise TypeError(complaint(name, owner, "two numbers", repr(values)))
    for value in values:
        check_number(value, name, owner)
    if not low <= values[0] <= values[1] <= high:
        raise ValueError(complaint(name, owner, f"(low, high) within [{low}, {high}]", repr(values)))
    return tuple(values)
