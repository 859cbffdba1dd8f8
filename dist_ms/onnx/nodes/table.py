"""The table from names of Primitives to what adds their nodes."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Callable
from typing import Any

from dist_ms.onnx.comparing import Varying
from dist_ms.onnx.graph import Unsupported

__all__ = ["axes_of", "fixed", "maps", "table"]

# Called with the graph and the step; returns the name of the result, or a tuple of names.
Writer = Callable[[Any, Any], Any]

_writers: dict[str, Writer] = {}


def maps(*kinds: str) -> Callable[[Writer], Writer]:
    """Enter a function for Primitives of these classes."""

    def enter(writer: Writer) -> Writer:
        _writers.update(dict.fromkeys(kinds, writer))
        return writer

    return enter


@functools.cache
def table() -> dict[str, Writer]:
    """The whole table."""
    package = __name__.rpartition(".")[0]
    for module in pkgutil.iter_modules(importlib.import_module(package).__path__):
        importlib.import_module(f"{package}.{module.name}")
    return _writers


def fixed(value: Any, name: str) -> Any:
    """A setting that has to be the same whatever the lengths of the inputs.

    Raises:
        Unsupported: if it, or a part of it, is not.
    """
    if isinstance(value, Varying) or (isinstance(value, (tuple, list)) and any(isinstance(v, Varying) for v in value)):
        raise Unsupported(f"has a '{name}' that depends on the inputs, {value!r}, and ONNX takes a fixed one")
    return value


def axes_of(axis: Any, ndim: int) -> list[int]:
    """Dimensions as non-negative ints; none given means all."""
    axis = fixed(axis, "axis")
    if axis is None or axis == ():
        return list(range(ndim))
    axes = [axis] if isinstance(axis, int) or not hasattr(axis, "__iter__") else list(axis)
    return [int(a) % max(ndim, 1) for a in axes]
