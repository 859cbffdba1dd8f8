"""The primitives, as MindSpore's `ops.operations` (usually imported as P)."""

from __future__ import annotations

from typing import Any

from dist_ms import ops

# MindSpore's files of primitives, which scripts name too; here they all hold everything.
_FAMILIES = ("array_ops", "image_ops", "linalg_ops", "math_ops", "nn_ops", "random_ops", "sparse_ops")


def __getattr__(name: str) -> Any:
    if name in _FAMILIES:
        return ops.operations
    if name == "__all__":
        return [n for n in dir(ops) if n[0].isupper()]
    return getattr(ops, name)


def __dir__() -> list[str]:
    return [n for n in dir(ops) if n[0].isupper()]
