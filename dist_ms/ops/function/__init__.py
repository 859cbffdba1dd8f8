"""The functions of `ops` in MindSpore's modules; see `dist_ms.ops.extended_names`."""

from typing import Any

from dist_ms.ops.extended_names import by_name
from dist_ms.ops.function import array_func, math_func, nn_func, random_func


def __getattr__(name: str) -> Any:
    return by_name(name)
