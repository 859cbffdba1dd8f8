"""The table from names of Primitives to what adds their nodes."""

from __future__ import annotations

from typing import Any

from dist_ms.exporting.comparing import Varying
from dist_ms.onnx.graph import Unsupported
from dist_ms.exporting.writers import Writers

__all__ = ["axes_of", "fixed", "maps", "table"]

_writers = Writers(__name__.rpartition(".")[0])
maps = _writers.maps
table = _writers.whole


def fixed(value: Any, name: str) -> Any:
    """A setting that has to be the same whatever the lengths of the inputs.

    Raises:
        Unsupported: if it, or a part of it, is not.
    """
    if isinstance(value, Varying) or (isinstance(value, (tuple, list)) and any(isinstance(v, Varying) for v in value)):
        raise Unsupported(f"has a '{name}' that depends on the inputs, {value!r}, and the file takes a fixed one")
    return value


def axes_of(axis: Any, ndim: int) -> list[int]:
    """Dimensions as non-negative ints; none given means all."""
    axis = fixed(axis, "axis")
    if axis is None or axis == ():
        return list(range(ndim))
    axes = [axis] if isinstance(axis, int) or not hasattr(axis, "__iter__") else list(axis)
    return [int(a) % max(ndim, 1) for a in axes]
