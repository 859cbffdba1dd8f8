"""Functions made of functions, as MindSpore's `ops.composite` (usually imported as C)."""

from __future__ import annotations

from typing import Any

from dist_ms import ops


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return ["GradOperation", "HyperMap", "Map", "MultitypeFuncGraph", "clip_by_global_norm", "clip_by_value"]
    return getattr(ops, name)
