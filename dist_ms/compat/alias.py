"""An import finder that gives one package's modules under another package's name."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable, Mapping
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


class AliasModule(ModuleType):
    """A module whose names are looked up in others, in order, at their first use.

    Args:
        name: its name.
        doc: what it is.
        sources: the names of the modules to look into; those that do not exist are left out, and the names of those
            that begin with "~" are not in `__all__`.
        own: names it has itself.
        children: names of modules below it, imported when they are asked for; before a source's module of that name.
        special: names with an answer of their own, before any source: a function that makes it.
        last: names that are answered so where no source has them.
    """

    def __init__(
        self,
        name: str,
        doc: str,
        sources: list[str],
        own: dict[str, Any],
        children: set[str],
        special: Mapping[str, Callable[[], Any]],
        last: Mapping[str, Callable[[], Any]],
    ) -> None:
        super().__init__(name, doc)
        self.__dict__.update(own)
        self.__dict__["_children"] = children
        self.__dict__["_special"] = special
        self.__dict__["_last"] = last
        found = {s: importlib.import_module(s.lstrip("~")) for s in sources if _exists(s.lstrip("~"))}
        self.__dict__["_sources"] = list(found.values())
        self.__dict__["_listed"] = [module for s, module in found.items() if s[0] != "~"]
        self.__path__: list[str] = []  # modules below it are the finder's to find

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            return dir(self)
        if name in self._special:
            self.__dict__[name] = self._special[name]()
            return self.__dict__[name]
        reason = ""
        if not (name.startswith("__") and name.endswith("__")):
            for source in self._sources:
                try:
                    found = getattr(source, name)
                except AttributeError as error:
                    reason = reason or str(error).partition(": ")[2]
                    continue
                if name in self._children and isinstance(found, ModuleType):
                    break
                self.__dict__[name] = found
                return found
        if name in self._children:
            return importlib.import_module(f"{self.__name__}.{name}")
        if name in self._last:
            self.__dict__[name] = self._last[name]()
            return self.__dict__[name]
        raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'" + (f": {reason}" if reason else ""))

    def __dir__(self) -> list[str]:
        return sorted({n for s in self._listed for n in getattr(s, "__all__", None) or dir(s) if n[0] != "_"})


def _exists(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


class MindSporeFinder(MetaPathFinder, Loader):
    """Finds `<alias>.x.y` as the module `<package>.x.y`, the same object under both names.

    Args:
        alias: the name that scripts import.
        package: the package that answers.
        version: the `__version__` that the top module shows.
        table: paths below the package that are answered by other modules, searched in order. The
            packages they lie in become modules of their own too, which dist_ms' own do not hear of.
        special: per path of the table, names that it answers itself; each with a function that makes what it is.
        last: the same for names that are answered so where no other module has them.
    """

    def __init__(
        self,
        alias: str,
        package: str,
        version: str,
        table: Mapping[str, tuple[str, ...]],
        special: Mapping[str, Mapping[str, Callable[[], Any]]],
        last: Mapping[str, Mapping[str, Callable[[], Any]]],
    ) -> None:
        self.alias, self.package, self.version = alias, package, version
        self.special, self.last = special, last
        above = {path.rsplit(".", n)[0] for path in table for n in range(1, path.count(".") + 1)}
        self.table = {"": ("",), **{path: (path,) for path in above}, **table}
        self._own_specs: dict[str, ModuleSpec | None] = {}

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Answer for the alias and what lies below it; None for modules that are not there."""
        if fullname != self.alias and not fullname.startswith(self.alias + "."):
            return None
        below = fullname[len(self.alias) + 1 :]
        if below not in self.table and not _exists(f"{self.package}.{below}"):
            return None
        return importlib.util.spec_from_loader(fullname, self)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Make a module of the table, or import any other."""
        below = spec.name[len(self.alias) + 1 :]
        if below not in self.table:
            module = importlib.import_module(f"{self.package}.{below}")
            self._own_specs[module.__name__] = module.__spec__
            return module
        head = f"{below}." if below else ""
        children = {t[len(head) :] for t in self.table if t.startswith(head) and "." not in t[len(head) :]}
        return AliasModule(
            spec.name,
            f"{self.package} under the name {spec.name}.",
            [("~" if s[:1] == "~" else "") + f"{self.package}.{s.lstrip('~')}".rstrip(".") for s in self.table[below]],
            {} if below else {"__version__": self.version},
            children,
            self.special.get(below, {}),
            self.last.get(below, {}),
        )

    def exec_module(self, module: ModuleType) -> None:
        """The module ran under its own name: give it back the spec of that name."""
        if not isinstance(module, AliasModule):
            module.__spec__ = self._own_specs[module.__name__]

    def forget(self) -> None:
        """Remove the alias's modules from the interpreter."""
        for name in [n for n in sys.modules if n == self.alias or n.startswith(self.alias + ".")]:
            del sys.modules[name]
