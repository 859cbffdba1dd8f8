"""Names of a package, and modules, that load when they are first used: one way for all.

A package's list is what its file imports under `if TYPE_CHECKING:`. Type checkers and editors read it as imports; here
it is read as text. `import *` stands for the `__all__` of that file, a list of strings near the file's start, or for
what that file declares in turn.
"""

from __future__ import annotations

import ast
import functools
import importlib
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from types import ModuleType
from typing import Any

from dist_ms.common.absent import missing

_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
_HEAD = 8192  # bytes of a file in which its list of names must be
_LIST = b"\n__all__ = ["
_OFFERED: dict[str, dict[str, str]] = {}


def names_in(path: str) -> list[str]:
    """The names in a file's `__all__`, which is not run."""
    descriptor = os.open(path, os.O_RDONLY)  # hundreds of files are looked at: Python's own file objects take as long
    try:
        head = os.read(descriptor, _HEAD)
    finally:
        os.close(descriptor)
    return head.partition(_LIST)[2].partition(b"]")[0].decode().split('"')[1::2]


@functools.cache
def declared(module: str) -> dict[str, tuple[str, str]]:
    """The module of each name that a module declares, and its name there.

    Examples:
        >>> from dist_ms.common.late_names import declared
        >>> declared("dist_ms")["Loss"]
        ('dist_ms.train.metrics', 'Loss')
    """
    with open(_file(module), encoding="utf-8") as text:
        tree = ast.parse(text.read())
    blocks = (n.body for n in tree.body if isinstance(n, ast.If) and "TYPE_CHECKING" in ast.unparse(n.test))
    found: dict[str, tuple[str, str]] = {}
    for node in (line for block in blocks for line in block if isinstance(line, ast.ImportFrom)):
        owner = node.module or ""
        for item in node.names:
            if item.name == "*":
                listed = names_in(_file(owner))
                found |= {name: (owner, name) for name in listed} if listed else declared(owner)
            else:
                found[item.asname or item.name] = owner, item.name
    return found


def _file(module: str) -> str:
    base = os.path.join(_ROOT, *module.split("."))
    return os.path.join(base, "__init__.py") if os.path.isdir(base) else f"{base}.py"


def late_names(
    module: str, also: Callable[[], Mapping[str, str]] = dict, otherwise: Callable[[str], Any] = lambda name: None
) -> None:
    """Have a module load the names it declares, and the modules in it, when they are first used.

    Args:
        module: its `__name__`; its last statement is this call.
        also: asked, when a name is first missed, for further names and the module of each.
        otherwise: asked for names that nothing declares; what it returns is not kept, None is an AttributeError.

    Examples:
        >>> import dist_ms as ms
        >>> ms.Loss is ms.train.metrics.Loss, "Loss" in dir(ms)
        (True, True)
    """
    namespace = vars(sys.modules[module])
    offered = _OFFERED.setdefault(module, {})

    def owner(name: str) -> tuple[str, str] | None:
        if name in offered:
            return offered[name], name
        further = also()
        if name in further:
            return further[name], name
        if name in declared(module):
            return declared(module)[name]
        return (module, name) if "__path__" in namespace and os.path.exists(_file(f"{module}.{name}")) else None

    def listed() -> set[str]:
        return {*offered, *also(), *declared(module)}

    def find(name: str) -> Any:
        if name == "__all__":  # `import *` asks for it
            own = (key for key, value in namespace.items() if not isinstance(value, ModuleType))
            return sorted(key for key in {*own, *listed()} if not key.startswith("_"))
        found = None if name.startswith("__") else owner(name)
        if found is not None:
            namespace[name] = _load(module, *found)
            return namespace[name]
        value = otherwise(name)
        if value is None:
            raise missing(module, name)
        return value

    namespace["__getattr__"] = find
    namespace["__dir__"] = lambda: sorted({*namespace, *listed()})


def _load(package: str, module: str, name: str) -> Any:
    """A name of a module; a package's own are the modules in it."""
    if module == package:
        return importlib.import_module(f"{module}.{name}")
    return getattr(importlib.import_module(module), name)


def offer(package: str, owners: Mapping[str, Iterable[str]]) -> None:
    """Add to the names of a package, which has `late_names`, from a floor above it.

    Args:
        package: such as "dist_ms.ops".
        owners: per module, such as "dist_ms.collectives.barrier", its names.
    """
    _OFFERED.setdefault(package, {}).update({name: module for module, names in owners.items() for name in names})


def names_of(source: ModuleType, chosen: Callable[[str], bool]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a module that shows another's names; those chosen are its `__all__`.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.functional.relu is ms.ops.relu
        True
    """

    def listed() -> list[str]:
        return [name for name in dir(source) if chosen(name)]

    return lambda name: listed() if name == "__all__" else getattr(source, name), listed


class LateModule(ModuleType):
    """A module that is loaded when one of its names is first asked for; after that, reaching one costs an attribute.

    Args:
        name: its name.
    """

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        module = importlib.import_module(self.__name__)
        self.__dict__.update({key: value for key, value in vars(module).items() if not key.startswith("__")})
        return getattr(module, name)


def late_modules(module: str) -> None:
    """Give a module the modules it declares, each of which loads when one of its names is first asked for."""
    owners = declared(module)
    vars(sys.modules[module]).update({name: LateModule(f"{owner}.{item}") for name, (owner, item) in owners.items()})
