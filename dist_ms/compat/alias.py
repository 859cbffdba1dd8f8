"""An import finder that gives one package's modules under another package's name."""

from __future__ import annotations

import importlib
import importlib.util
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


class MindSporeFinder(MetaPathFinder, Loader):
    """Finds `<alias>.x.y` as the module `<package>.x.y`, the same object under both names.

    Args:
        alias: the name that scripts import.
        package: the package that answers.
    """

    def __init__(self, alias: str, package: str) -> None:
        self.alias, self.package = alias, package
        self._own_specs: dict[str, ModuleSpec | None] = {}

    def _target(self, name: str) -> str:
        return self.package + name[len(self.alias) :]

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Answer for the alias and what lies below it; None for modules the package does not have."""
        if fullname != self.alias and not fullname.startswith(self.alias + "."):
            return None
        found = self._target(fullname)
        try:
            if importlib.util.find_spec(found) is None:
                return None
        except ModuleNotFoundError:
            return None
        return importlib.util.spec_from_loader(fullname, self)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Import the package's own module."""
        module = importlib.import_module(self._target(spec.name))
        self._own_specs[module.__name__] = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """The module ran under its own name: give it back the spec of that name."""
        module.__spec__ = self._own_specs[module.__name__]
