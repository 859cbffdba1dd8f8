"""Packages that load a file when one of its names is first used."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from types import ModuleType

Parts = tuple[Callable[[str], object], Callable[[], list[str]], list[str]]


def declared(package: str, files: dict[str, str], modules: str = "") -> Parts:
    """Make a package's `__getattr__`, `__dir__` and `__all__`.

    Args:
        package: its name.
        files: per file below it, such as "colour.jitter", its names with spaces between them.
        modules: files below it that are names themselves, with spaces between them.

    Examples:
        >>> from dist_ms.dataset.declared import declared
        >>> get, show, names = declared("dist_ms.dataset.vision", {"enums": "Inter Border"})
        >>> get("Inter").NEAREST.value, names
        (0, ['Border', 'Inter'])
    """
    owners = {name: f"{package}.{file}" for file, names in files.items() for name in names.split()}

    def __getattr__(name: str) -> object:
        if name in modules.split():
            return importlib.import_module(f"{package}.{name}")
        if name not in owners:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(owners[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    def __dir__() -> list[str]:
        return sorted({*vars(sys.modules[package]), *owners, *modules.split()})

    return __getattr__, __dir__, sorted(owners)


def shown(module: ModuleType) -> Parts:
    """Make the `__getattr__`, `__dir__` and `__all__` of another path to a module's public names.

    Args:
        module: whose names they are.

    Examples:
        >>> from dist_ms.dataset import vision
        >>> from dist_ms.dataset.declared import shown
        >>> shown(vision)[0]("Resize") is vision.Resize
        True
    """

    def __getattr__(name: str) -> object:
        if name not in module.__all__:
            raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
        return getattr(module, name)

    return __getattr__, lambda: sorted(module.__all__), sorted(module.__all__)
