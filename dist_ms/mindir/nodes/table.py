"""The table from names of Primitives to what adds their nodes."""

from __future__ import annotations

from typing import Any

from dist_ms.exporting.comparing import Varying
from dist_ms.exporting.graph import Unsupported
from dist_ms.exporting.writers import Writers

__all__ = ["maps", "reshaped", "table", "target"]

_writers = Writers(__name__.rpartition(".")[0])
maps = _writers.maps
table = _writers.whole


def target(shape: tuple) -> tuple:
    """A shape as a setting: one length may be open.

    Raises:
        Unsupported: if there are more.
    """
    unknown = [n for n in shape if isinstance(n, Varying)]
    if len(unknown) > 1 or (unknown and 0 in shape):
        raise Unsupported(f"makes the shape {shape}, and MINDIR takes one open length here: fix the others")
    return tuple([-1 if isinstance(n, Varying) else int(n) for n in shape])


def reshaped(g: Any, name: str, shape: tuple) -> str:
    """A tensor in another shape."""
    return g.function("Reshape", name, target(shape))
