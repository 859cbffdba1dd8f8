"""An import finder that gives one package's modules under another package's name."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from dist_ms.compat.paths import exists, guard


class _Top(ModuleType):
    """The alias itself, whose version is its own."""

    def __init__(self, alias: str, package: str, version: str) -> None:
        super().__init__(alias, f"{package} under the name {alias}.")
        self.__dict__.update(__version__=version, _package=importlib.import_module(package))
        self.__path__: list[str] = []  # modules below it are the finder's to find

    def __setattr__(self, name: str, value: Any) -> None:
        """Keep functions and classes when modules of their names are imported."""
        if not isinstance(value, ModuleType) or isinstance(getattr(self._package, name, value), ModuleType):
            self.__dict__[name] = value

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            return dir(self)
        try:
            self.__dict__[name] = getattr(self._package, name)
        except AttributeError as error:
            text = str(error).replace(self._package.__name__, self.__name__, 1)
            raise AttributeError(text) from None
        return self.__dict__[name]

    def __dir__(self) -> list[str]:
        return sorted(n for n in getattr(self._package, "__all__", None) or dir(self._package) if n[0] != "_")


class AliasFinder:
    """Finds `<alias>.x.y` as the module `<package>.x.y`, the same object under both names.

    Args:
        alias: the name that scripts import.
        package: the package that answers.
        version: the `__version__` that the top module shows.
    """

    def __init__(self, alias: str, package: str, version: str) -> None:
        self.alias, self.package, self.version = alias, package, version
        self._own_specs: dict[str, ModuleSpec | None] = {}

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Answer for the alias and what lies below it; None for modules that are not there."""
        head, _, below = fullname.partition(".")
        if head != self.alias or (below and not exists(f"{self.package}.{below}")):
            return None
        return importlib.util.spec_from_loader(fullname, self)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Make the top module, or import any other."""
        below = spec.name.partition(".")[2]
        if not below:
            return _Top(self.alias, self.package, self.version)
        module = importlib.import_module(f"{self.package}.{below}")
        self._own_specs[module.__name__] = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """The module ran under its own name: give it back the spec of that name."""
        if not isinstance(module, _Top):
            guard(module.__spec__.name)
            module.__spec__ = self._own_specs[module.__name__]

    def forget(self) -> None:
        """Remove the alias's modules from the interpreter."""
        for name in [n for n in sys.modules if n == self.alias or n.startswith(self.alias + ".")]:
            del sys.modules[name]
