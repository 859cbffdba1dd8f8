"""The table from names of Primitives to what adds their nodes."""

from __future__ import annotations

from dist_ms.exporting.writers import Writers

__all__ = ["maps", "table"]

_writers = Writers(__name__.rpartition(".")[0])
maps = _writers.maps
table = _writers.whole
