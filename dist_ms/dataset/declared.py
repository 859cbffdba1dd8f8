"""Packages that load a file when one of its names is first used."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable


def declared(package: str, files: dict[str, str]) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """Make a package's `__getattr__`, `__dir__` and `__all__`.

    Args:
        package: its name.
        files: per file below it, such as "colour.jitter", its names with spaces between them.

    Examples:
        >>> from dist_ms.dataset.declared import declared
        >>> get, show, names = declared("dist_ms.dataset.vision", {"enums": "Inter Border"})
        >>> get("Inter").NEAREST.value, names
        (0, ['Border', 'Inter'])
    """
    owners = {name: f"{package}.{file}" for file, names in files.items() for name in names.split()}

    def __getattr__(name: str) -> object:
        if name not in owners:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(owners[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    def __dir__() -> list[str]:
        return sorted({*vars(sys.modules[package]), *owners})

    return __getattr__, __dir__, sorted(owners)
