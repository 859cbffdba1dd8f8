"""The stub of Tensor's attached methods as it must be: `python -m tests.serial.ops.tensor.attached_stub` writes it."""

import ast
import builtins
import importlib
import inspect
import re
from pathlib import Path

import dist_ms as ms
from dist_ms import ops
from dist_ms.ops.tensor import tensor_methods

FILE = Path(ms.__file__).parent / "common/tensor/attached.pyi"
_HEAD = '''"""What `ops` attaches to Tensor, as type checkers and editors see it.

`tests/serial/ops/tensor/attached_stub.py` writes this file but for the names in `Delegated`, of which
`ops/tensor/tensor_methods.py` makes methods.
"""

import builtins
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dist_ms.common.tensor.tensor import Tensor

'''
_KNOWN = {"Any", "Callable", "Sequence", "Tensor", "np", *dir(builtins)}


def attached():
    """What Tensor has and its file does not give it."""
    tensor = importlib.import_module("dist_ms.common.tensor.tensor")
    tree = ast.parse(Path(tensor.__file__).read_text())
    body = next(n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == "Tensor").body
    own = {name for node in body for name in _names(node)}
    found = {name: value for name, value in vars(ms.Tensor).items() if name not in own}
    return {
        name: value
        for name, value in found.items()
        if inspect.isfunction(value) or isinstance(value, (property, staticmethod)) or callable(value)
    }


def _names(node):
    if isinstance(node, ast.FunctionDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return [t.id for t in targets if isinstance(t, ast.Name)]


def _type(annotation, hidden):
    """An annotation, or Any where it has names that the stub does not; methods hide some built-ins."""
    if annotation is inspect.Parameter.empty:
        return "Any"
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "Any")
    names = {n.id for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Name)}
    if not names <= _KNOWN:
        return "Any"
    return re.sub(r"\b\w+\b", lambda m: f"builtins.{m[0]}" if m[0] in hidden else m[0], text)


def _line(name, value, hidden):
    if isinstance(value, property):
        return f"    @property\n    def {name}(self) -> {_type(_returned(value.fget), hidden)}: ...\n"
    function = getattr(ops, value.delegated) if hasattr(value, "delegated") else value
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return f"    def {name}(self, *args: Any, **kwargs: Any) -> Any: ...\n"
    parts, starred, positional = ["self"], False, False
    known = list(signature.parameters.values())
    for p in known if known[0].kind is known[0].VAR_POSITIONAL else known[1:]:
        kind = _type(p.annotation, hidden)
        if p.kind is p.VAR_POSITIONAL:
            parts.append(f"*{p.name}: {kind}")
            starred = True
            continue
        if p.kind is p.VAR_KEYWORD:
            parts.append(f"**{p.name}: {kind}")
            continue
        if p.kind is p.KEYWORD_ONLY and not starred:
            parts.append("*")
            starred = True
        positional = positional or p.kind is p.POSITIONAL_ONLY
        plain = type(p.default) in (int, str, bool, float, type(None))
        default = "" if p.default is p.empty else f" = {p.default!r}" if plain else " = ..."
        parts.append(f"{p.name}: {kind}{default}".replace("'", '"'))
    if positional:
        last = [i for i, p in enumerate(signature.parameters.values()) if p.kind is p.POSITIONAL_ONLY][-1]
        parts.insert(last + 1, "/")
    return f"    def {name}({', '.join(parts)}) -> {_type(signature.return_annotation, hidden)}: ...\n"


def _returned(function):
    return inspect.signature(function).return_annotation


def text():
    """The whole file."""
    found = attached()
    same = tensor_methods.delegated_names()
    others = sorted(set(found) - set(same))
    hidden = {name for name in dir(ms.Tensor) if name in dir(builtins)}
    out = [_HEAD, "class Delegated:\n", *(_line(name, found[name], hidden) for name in sorted(same))]
    out += ["\nclass Attached(Delegated):\n", *(_line(name, found[name], hidden) for name in others)]
    return "".join(out)


if __name__ == "__main__":
    FILE.write_text(text())
