"""A class that others are made from declares what it reads of itself: nothing is left to whoever inherits."""

import ast
import importlib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def classes_of(text):
    return [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ClassDef)]


def name_of(base):
    """The last word of an expression that names a class."""
    return ast.unparse(base).partition("[")[0].rpartition(".")[2]


def of_self(node):
    return isinstance(node.value, ast.Name) and node.value.id == "self"


def declared(cls):
    """What a class's own text gives a value or a type."""
    found = set()
    for node in cls.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)}
            # Names in a table: `__slots__`.
            values = ast.walk(node.value) if node.value else ()
            found |= {n.value for n in values if isinstance(n, ast.Constant) and isinstance(n.value, str)}
    for node in ast.walk(cls):
        if isinstance(node, ast.Attribute) and of_self(node) and isinstance(node.ctx, ast.Store):
            found.add(node.attr)
        elif (
            isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and isinstance(node.slice, ast.Constant)
        ):
            found.add(node.slice.value)  # of `self.__dict__`
    return found


def read(cls):
    return {
        n.attr: n.lineno
        for n in ast.walk(cls)
        if isinstance(n, ast.Attribute) and of_self(n) and isinstance(n.ctx, ast.Load)
    }


def undeclared(files):
    """The (file, line, class, attribute) that a base class reads and neither it nor its own bases declare."""
    found = {path: classes_of(text) for path, text in files.items()}
    by_name = {}
    for classes in found.values():
        for cls in classes:
            by_name.setdefault(cls.name, []).append(cls)
    bases = {name_of(base) for classes in found.values() for cls in classes for base in cls.bases}

    def all_declared(cls, seen):
        names = declared(cls)
        for base in map(name_of, cls.bases):
            if base not in seen:
                names |= {name for c in by_name.get(base, ()) for name in all_declared(c, {*seen, base})}
        return names

    for path, classes in found.items():
        for cls in classes:
            if cls.name in bases:
                known = all_declared(cls, {cls.name})
                yield from ((path, line, cls.name, name) for name, line in read(cls).items() if name not in known)


def has(path, owner, name):
    """Whether a class has an attribute as it runs, from a compiled base, or is given it as an option (`Backward`)."""
    module = importlib.import_module(path.removesuffix(".py").replace("/", "."))
    cls = getattr(module, owner, object)
    return hasattr(cls, name) or name in getattr(cls, "options", ())


def test_base_classes_declare_what_they_read():
    files = {path.relative_to(ROOT).as_posix(): path.read_text() for path in (ROOT / "dist_ms").rglob("*.py")}
    assert len(files) > 800
    wrong = [entry for entry in undeclared(files) if not has(entry[0], entry[2], entry[3])]
    assert wrong == []


def test_the_search_finds_a_mixin():
    text = (
        "class Part:\n    def f(self):\n        return self.there + self.field\n    there = 1\nclass Whole(Part): pass"
    )
    assert [(name, attribute) for _, _, name, attribute in undeclared({"a.py": text})] == [("Part", "field")]
