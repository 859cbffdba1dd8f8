"""A table from names of Primitives to what adds their nodes to a file's graph."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from typing import Any

__all__ = ["Writer", "Writers"]

# Called with the graph and the step; returns the name of the result, or a tuple of names.
Writer = Callable[[Any, Any], Any]


class Writers:
    """The writers of one format: those that the modules of a package enter.

    Args:
        package: the package's name.
    """

    def __init__(self, package: str) -> None:
        self._package = package
        self._writers: dict[str, Writer] = {}
        self._complete = False

    def maps(self, *kinds: str) -> Callable[[Writer], Writer]:
        """Enter a function for Primitives of these classes."""

        def enter(writer: Writer) -> Writer:
            self._writers.update(dict.fromkeys(kinds, writer))
            return writer

        return enter

    def whole(self) -> dict[str, Writer]:
        """The whole table."""
        if not self._complete:
            for module in pkgutil.iter_modules(importlib.import_module(self._package).__path__):
                importlib.import_module(f"{self._package}.{module.name}")
            self._complete = True
        return self._writers
