"""Where MindSpore keeps the functions of neural networks."""

from typing import Any

from dist_ms.ops.extended_names import by_name


def __getattr__(name: str) -> Any:
    return by_name(name)
