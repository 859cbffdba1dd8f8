"""Walking the nested tuples, lists and dicts that functions take and return."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dist_ms.common.tensor import Tensor


def tensors(value: Any) -> list[Tensor]:
    """All tensors in a nested value, in order."""
    if isinstance(value, Tensor):
        return [value]
    found: list[Tensor] = []
    if isinstance(value, (tuple, list, dict)):
        _collect(value, found)
    return found


def _collect(value: Any, found: list[Tensor]) -> None:
    for v in value.values() if isinstance(value, dict) else value:
        if isinstance(v, Tensor):
            found.append(v)
        elif isinstance(v, (tuple, list, dict)):
            _collect(v, found)


def map_tensors(fn: Callable[[Tensor], Any], value: Any) -> Any:
    """The same nesting with `fn` applied to each tensor."""
    if isinstance(value, Tensor):
        return fn(value)
    if isinstance(value, (tuple, list)):
        items = [map_tensors(fn, v) for v in value]
        if hasattr(value, "_fields"):
            return type(value)(*items)
        return items if isinstance(value, list) else tuple(items)
    if isinstance(value, dict):
        items = {k: map_tensors(fn, v) for k, v in value.items()}
        return items if type(value) is dict else _dict_like(value, items)
    return value


def _dict_like(value: dict, items: dict) -> dict:
    """`items` as the kind of dict `value` is, where that kind can be made of items."""
    try:
        return type(value)(items)
    except TypeError:
        return items
