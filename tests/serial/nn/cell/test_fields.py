"""Each file of a Cell says which of its fields it reads and writes, and the Cell declares them all."""

import ast
import re
from pathlib import Path

import pytest

from dist_ms.nn import Cell

FOLDER = Path(__file__).parents[4] / "dist_ms/nn/cell"
PARTS = sorted(path.name for path in FOLDER.glob("*.py") if path.name not in ("__init__.py", "cell.py"))


def declared():
    """The fields of a Cell: what its class gives a value or a type that is no method, property or function."""
    tree = ast.parse((FOLDER / "cell.py").read_text())
    body = next(n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == "Cell").body
    fields = {n.target.id for n in body if isinstance(n, ast.AnnAssign)}
    return fields | {n.targets[0].id for n in body if isinstance(n, ast.Assign) and isinstance(n.value, ast.Constant)}


def used(tree, fields):
    """The fields that a file writes, or into, and the others that it names, as attributes or as keys of `__dict__`."""
    written, named = set(), set()
    for node in ast.walk(tree):
        if of_cell(node) and node.attr in fields:
            named.add(node.attr)
            if isinstance(node.ctx, ast.Store):
                written.add(node.attr)
        elif isinstance(node, ast.Subscript) and of_cell(node.value) and node.value.attr in fields:
            if isinstance(node.ctx, ast.Store):
                written.add(node.value.attr)
        elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and of_state(node.value):
            named.add(node.slice.value)
            if isinstance(node.ctx, ast.Store):
                written.add(node.slice.value)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and of_state(node.func.value):
            key = node.args[0].value if node.args and isinstance(node.args[0], ast.Constant) else None
            if key is not None:
                named.add(key)
                if node.func.attr in ("setdefault", "pop"):
                    written.add(key)
        elif isinstance(node, ast.Compare) and of_state(node.comparators[0]) and isinstance(node.left, ast.Constant):
            named.add(node.left.value)
    return written, named - written


def of_cell(node):
    return isinstance(node, ast.Attribute) and ast.unparse(node.value) in ("self", "cell", "child", "owner")


def of_state(node):
    return isinstance(node, ast.Attribute) and node.attr == "__dict__"


def said(tree):
    """What the docstring of a file says: the fields that it writes, and those that it reads."""
    line = re.search(r"^Fields of a cell: (.*?)\.$", ast.get_docstring(tree) or "", re.MULTILINE | re.DOTALL)
    parts = dict(part.split(maxsplit=1) for part in line[1].split("; ")) if line else {}
    return tuple(set(re.findall(r"`(\w+)`", parts.get(verb, ""))) for verb in ("writes", "reads"))


@pytest.mark.parametrize("name", PARTS)
def test_a_file_says_which_fields_it_writes_and_reads(name):
    tree = ast.parse((FOLDER / name).read_text())
    assert said(tree) == used(tree, declared())


def test_fields_are_declared_by_the_class():
    fields = declared()
    assert {"_params", "_cell_hooks", "training"} <= fields
    for name in PARTS:
        written, read = used(ast.parse((FOLDER / name).read_text()), fields)
        assert written | read <= fields, name


def test_the_files_give_a_cell_its_methods():
    from dist_ms.nn.cell import flags

    assert Cell.set_train is flags.set_train
    assert [base.__name__ for base in Cell.__mro__] == ["Cell", "Constructed", "object"]
