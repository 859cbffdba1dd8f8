"""MindSpore's paths below `dist_ms`: modules made from the tables, and names that dist_ms' own modules lack."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import sys
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType
from typing import Any

from dist_ms.compat.modules import ALIASES

_ABOVE = {path.rsplit(".", n)[0] for path in ALIASES for n in range(1, path.count(".") + 1)}
_LISTED: dict[str, tuple[str, ...]] = {"": (), **dict.fromkeys(_ABOVE, ()), **ALIASES}
PATHS = frozenset(_LISTED)


def _name(path: str) -> str:
    return f"dist_ms.{path}".rstrip(".")


class FurtherNames:
    """The names of a path of the tables: those of other modules, in order, at their first use.

    Args:
        path: below `dist_ms`, such as "train.serialization".

    Attributes:
        children: the modules below it in the tables.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        head = f"{path}." if path else ""
        self.children = {p[len(head) :] for p in PATHS if p.startswith(head) and "." not in p[len(head) :]}

    @functools.cached_property
    def _sources(self) -> dict[str, ModuleType]:
        wanted = {s: _name(s.lstrip("~")) for s in _LISTED.get(self._path, ()) if s.lstrip("~") != self._path}
        return {s: importlib.import_module(name) for s, name in wanted.items() if exists(name)}

    def find(self, name: str) -> Any:
        """What a name means.

        Raises:
            AttributeError: nothing has it; the message gives the first source's reason.
        """
        from dist_ms.compat.special_names import REFUSED, SPECIAL

        special, last = SPECIAL.get(self._path, {}), REFUSED.get(self._path, {})
        if name in special:
            return special[name]()
        reason = ""
        if not (name.startswith("__") and name.endswith("__")):
            for source in self._sources.values():
                try:
                    found = getattr(source, name)
                except AttributeError as error:
                    reason = reason or str(error).partition(": ")[2]
                    continue
                if name in self.children and isinstance(found, ModuleType):
                    break
                if isinstance(found, TableModule) and self._is_own(name):
                    continue  # this module hides the function of its name
                return found
        if name in self.children:
            return importlib.import_module(_name(f"{self._path}.{name}" if self._path else name))
        if name in last:
            return last[name]()
        message = f"module '{_name(self._path)}' has no attribute '{name}'"
        raise AttributeError(f"{message}: {reason}" if reason else message)

    def listed(self) -> list[str]:
        """The names of the sources but those that the table marks as not to be listed."""
        modules = [module for source, module in self._sources.items() if source[0] != "~"]
        names = {n for m in modules for n in getattr(m, "__all__", None) or dir(m) if n[0] != "_"}
        return sorted(n for n in names if not self._is_own(n) or self.function_of_its_name())

    def _is_own(self, name: str) -> bool:
        return self._path.endswith(f".{name}")

    def function_of_its_name(self) -> Any:
        """What a source has under the name of the path's last part, besides the module itself; None for nothing."""
        name = self._path.rpartition(".")[2]
        found = (getattr(source, name, None) for source in self._sources.values())
        return next((f for f in found if f is not None and not isinstance(f, TableModule)), None)


class TableModule(ModuleType):
    """A module that consists of a path of the tables.

    MindSpore has functions of the names of their modules (`parallel.shard`): such a module may be called, so that
    importing it does not take the function away.

    Args:
        path: below `dist_ms`.
    """

    def __init__(self, path: str) -> None:
        super().__init__(_name(path), f"MindSpore's {path}.")
        self.__dict__["_further"] = FurtherNames(path)
        self.__path__: list[str] = []  # modules below it are the finder's to find

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            return dir(self)
        self.__dict__[name] = self._further.find(name)
        return self.__dict__[name]

    def __dir__(self) -> list[str]:
        return list(self._further.listed())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        function = self._further.function_of_its_name()
        if not callable(function):
            raise TypeError(f"'{self.__name__}' is a module, which cannot be called.")
        return function(*args, **kwargs)


class _KeepsNames(ModuleType):
    """A package while modules below it are imported: one of the name of a function or class does not take its place."""

    def __setattr__(self, name: str, value: Any) -> None:
        pending = _PENDING[self.__name__]
        if name in pending and isinstance(value, ModuleType):
            pending.discard(name)
            if not pending:
                ModuleType.__setattr__(self, "__class__", ModuleType)
            if _means_more(self, name):
                return
        ModuleType.__setattr__(self, name, value)


_PENDING: dict[str, set[str]] = {}  # per package the names of modules that are being imported
_OWN: dict[str, Any] = {}  # the `__getattr__` of modules before `complete`


def guard(fullname: str) -> None:
    """Keep what a package has under the name of a module that has just run: it is about to become an attribute."""
    above, _, name = fullname.rpartition(".")
    parent = sys.modules.get(above)
    if type(parent) in (ModuleType, _KeepsNames):
        _PENDING.setdefault(parent.__name__, set()).add(name)
        parent.__class__ = _KeepsNames


def _means_more(module: ModuleType, name: str) -> bool:
    """Whether a module has something under a name that is no module."""
    if name in vars(module):
        return not isinstance(vars(module)[name], ModuleType)
    try:
        own = _OWN.get(module.__name__)
        return own is not None and not isinstance(own(name), ModuleType)
    except AttributeError:
        return False


def complete(module: ModuleType, path: str) -> None:
    """Have a module of dist_ms answer the names that it lacks and the tables have, and have the modules below it."""
    own, further = vars(module).get("__getattr__"), FurtherNames(path)
    _OWN[module.__name__] = own
    if further.children and not hasattr(module, "__path__"):
        module.__path__ = []

    def find(name: str) -> Any:
        if own is None:
            return further.find(name)
        try:
            return own(name)
        except AttributeError as error:
            try:
                return further.find(name)
            except AttributeError:
                raise error from None

    vars(module)["__getattr__"] = find


class _CompletingLoader(SourceFileLoader):
    """Loads a module of dist_ms whose path is in the tables."""

    def exec_module(self, module: ModuleType) -> None:
        super().exec_module(module)
        complete(module, self.name.partition(".")[2])
        guard(self.name)


class _TableLoader:
    """Makes a module of a path that dist_ms does not have."""

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return TableModule(spec.name.partition(".")[2])

    def exec_module(self, module: ModuleType) -> None:
        guard(module.__name__)  # there is nothing to run


class _Finder:
    """Finds the tables' paths below `dist_ms`."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        package, _, below = fullname.partition(".")
        if package != "dist_ms" or below not in PATHS:
            return None
        spec = PathFinder.find_spec(fullname, path)
        if spec is None:
            return importlib.util.spec_from_loader(fullname, _TableLoader())
        if isinstance(spec.loader, SourceFileLoader):
            spec.loader = _CompletingLoader(spec.loader.name, spec.loader.path)
        return spec


def install() -> None:
    """Have `dist_ms`, what is loaded of it and what will be, know the tables."""
    if any(isinstance(finder, _Finder) for finder in sys.meta_path):
        return
    sys.meta_path.insert(0, _Finder())
    loaded = {path: sys.modules.get(_name(path)) for path in PATHS}
    for path, module in loaded.items():
        if module is not None:
            complete(module, path)


def exists(name: str) -> bool:
    """Whether there is a module of this name."""
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False
