"""`mindspore.ops.composite.multitype_ops`: Python's operators as functions of numbers, containers and Tensors."""

from __future__ import annotations

import operator
from typing import Any

__all__ = ["getitem", "in_", "left_shift", "mod", "not_in_", "pow_", "right_shift", "setitem", "uadd"]

getitem, left_shift, right_shift = operator.getitem, operator.lshift, operator.rshift
mod, pow_ = operator.mod, operator.pow


def in_(x: Any, y: Any) -> bool:
    """Whether `y` contains `x`."""
    return x in y


def not_in_(x: Any, y: Any) -> bool:
    """Whether `y` does not contain `x`."""
    return x not in y


def setitem(data: Any, index: Any, value: Any) -> Any:
    """Write an element, and return what it was written to."""
    data[index] = value
    return data


def uadd(x: Any) -> Any:
    """Return `x` itself."""
    return x
