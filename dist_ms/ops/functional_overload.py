"""Where MindSpore keeps the functions that take both forms of arguments; see `dist_ms.ops.extended_names`."""

from typing import Any

from dist_ms.ops.extended_names import overloaded


def __getattr__(name: str) -> Any:
    return overloaded(name)
