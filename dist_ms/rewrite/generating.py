"""A changed tree as source, and that source as a network."""

from __future__ import annotations

import ast
import builtins
import inspect
import itertools
import linecache
import sys
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from dist_ms import nn
from dist_ms.nn import Cell

if TYPE_CHECKING:
    from dist_ms.rewrite.api.symbol_tree import SymbolTree

__all__ = ["code", "network", "unique"]

_NUMBERS = itertools.count()

_START = """
def __init__(self, obj, cells):
    nn.Cell.__init__(self)
    for key, value in obj.__dict__.items():
        self.__dict__[key] = value.copy() if isinstance(value, dict) else value
    for key, value in cells.items():
        setattr(self, key, value)
"""


def unique(word: str, taken: Collection[str]) -> str:
    """Return the word, with the first number after it that makes it new."""
    if word not in taken:
        return word
    return next(name for i in itertools.count(1) if (name := f"{word}_{i}") not in taken)


def _found_at(value: Any, name: str, home: str) -> str | None:
    """A line of source that gives `name` this value in any file, or None."""
    if inspect.ismodule(value):
        return f"import {value.__name__} as {name}"
    places = [(getattr(value, "__module__", None), getattr(value, "__qualname__", None))]
    for module, item in (*places, (home, name), (type(value).__module__, name)):
        if isinstance(module, str) and isinstance(item, str) and vars(sys.modules.get(module, ast)).get(item) is value:
            if module == "__main__":
                return f"{name} = sys.modules['__main__'].{item}"
            return f"from {module} import {item}" + (f" as {name}" if name != item else "")
    return None


def _header(tree: SymbolTree) -> list[str]:
    """Lines that import what the tree's `construct` names, in the names' order."""
    base = type(tree._network)
    used = {node.id for node in ast.walk(tree._function) if isinstance(node, ast.Name)}
    seen = {**tree._seen, **tree._values}
    lines = []
    for name, value in [(base.__name__, base), *[(n, seen[n]) for n in sorted(used) if n in seen]]:
        if getattr(builtins, name, None) is value:
            continue
        line = _found_at(value, name, base.__module__)
        lines.append(line or f"# {name}: seen only where {base.__name__} was defined")
    return lines


def _subtrees(tree: SymbolTree) -> list[tuple[str, SymbolTree]]:
    """The trees of sub-networks that were asked for, with the attribute of each."""
    nodes = [node for node in tree._in_order() if node._sub_tree is not None]
    return [(node._statement.value.func.attr, node._sub_tree) for node in nodes]


def _class(tree: SymbolTree, name: str) -> str:
    start = ast.parse(_START).body[0]
    bases = [ast.Name(type(tree._network).__name__, ast.Load()), ast.parse("nn.Cell", mode="eval").body]
    definition = ast.ClassDef(name, bases, [], [start, tree._function], [])
    return ast.unparse(ast.fix_missing_locations(definition))


def _parts(tree: SymbolTree, taken: set[str]) -> list[tuple[SymbolTree, str, str]]:
    """(tree, class name, source) of the sub-networks, inner ones first, and of the network itself."""
    parts = [part for _, sub in _subtrees(tree) for part in _parts(sub, taken)]
    name = unique(type(tree._network).__name__ + "Opt", taken)
    taken.add(name)
    text = "\n".join([*dict.fromkeys(_header(tree)), "", "", _class(tree, name), ""])
    return [*parts, (tree, name, text)]


def code(tree: SymbolTree) -> str:
    """Return the whole source."""
    package = Cell.__module__.split(".")[0]
    return "\n\n".join([f"import sys\n\nfrom {package} import nn", *[text for _, _, text in _parts(tree, set())]])


def network(tree: SymbolTree) -> Cell:
    """Compile the source and make the network."""
    classes = {}
    for part, name, text in _parts(tree, set()):
        file = f"<rewritten {name} {next(_NUMBERS)}>"
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
        base = type(part._network)
        names = {"__name__": f"{name}_{file[1:-1].split()[-1]}", "sys": sys, "nn": nn}
        names = {**part._seen, **part._values, base.__name__: base, **names}
        exec(compile(text, file, "exec"), names)
        # The lines above may have imported what goes by the same name elsewhere.
        names.update(part._values)
        classes[id(part)] = names[name]
    return _made(tree, classes)


def _made(tree: SymbolTree, classes: dict[int, type]) -> Cell:
    inner = {name: _made(sub, classes) for name, sub in _subtrees(tree)}
    made = classes[id(tree)](tree._network, {**tree._cells, **inner})
    made.set_train(tree._network.training)
    return made
