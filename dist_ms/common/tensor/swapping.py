"""swap_tensors: two tensors change places."""

from __future__ import annotations

from dist_ms.common.checks import check_type
from dist_ms.common.tensor.tensor import Tensor

__all__ = ["swap_tensors"]

_FIELDS = ("_data", "_shape", "_dtype", "_node", "_index", "_part")


def swap_tensors(t1: Tensor, t2: Tensor) -> None:
    """Exchange all of two tensors: values, shapes, types, histories, and what else was set on them.

    Parameters change their names, too. Swap them before they are trained: what trains them holds their memory.

    Args:
        t1, t2: both plain tensors, or both Parameters.

    Raises:
        TypeError: if one is no Tensor, or only one is a Parameter.

    Examples:
        >>> import dist_ms as ms
        >>> a, b = ms.Tensor([1.0]), ms.Tensor([2, 3])
        >>> ms.swap_tensors(a, b)
        >>> print(a, b)
        [2 3] [1.]
    """
    check_type(t1, "t1", "swap_tensors", Tensor)
    check_type(t2, "t2", "swap_tensors", type(t1))
    check_type(t1, "t1", "swap_tensors", type(t2))
    for tensor in (t1, t2):
        if not tensor.has_init:
            tensor.array()
    held = [getattr(t1, name) for name in _FIELDS], dict(t1.__dict__)
    _put(t1, [getattr(t2, name) for name in _FIELDS], dict(t2.__dict__))
    _put(t2, *held)


def _put(tensor: Tensor, fields: list, rest: dict) -> None:
    for name, value in zip(_FIELDS, fields):
        setattr(tensor, name, value)
    tensor.__dict__.clear()
    tensor.__dict__.update(rest)
