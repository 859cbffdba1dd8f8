"""Syntax trees looked into and changed, as MindSpore's classes of the names do."""

import ast

import pytest

from dist_ms.rewrite import ScopedValue, ast_helpers
from dist_ms.rewrite.ast_helpers import AstConverter, AstFlattener, AstModifier, AstReplacer

TEXT = """
import os
from math import sqrt
try:
    import json
except ImportError:
    import os
class Net:
    class Inner:
        pass
    def __init__(self):
        self.a = 1
        self.b, c = 2, 3
        self.a = 4
        def nested(): pass
    def construct(self, x):
        y = self.a + x
        return y
class Inner:
    def nested(self): pass
"""


def text(tree):
    return ast.unparse(tree)


def name(*words):
    return ScopedValue.create_naming_value(*words)


def value(what):
    return ScopedValue.create_variable_value(what)


def test_finders():
    tree = ast.parse(TEXT)
    find = ast_helpers.AstFinder(tree)
    assert [n.name for n in find.find_all(ast.ClassDef)] == ["Net", "Inner", "Inner"]
    assert len(find.find_all((ast.Import, ast.ImportFrom))) == 4
    with pytest.raises(ValueError, match="'ast_types' must be a type"):
        find.find_all("Name")
    classes = ast_helpers.AstClassFinder(tree)
    assert [c.lineno for c in classes.find_all("Inner")] == [19] and classes.find_all("None") == []
    functions = ast_helpers.AstFunctionFinder(tree)
    assert [f.lineno for f in functions.find_all("nested")] == [20]
    assert [f.name for f in functions.find_all("construct")] == ["construct"]
    for finder in (classes, functions):
        with pytest.raises(TypeError, match="_name' must be"):
            finder.find_all(3)
    assert text(ast_helpers.AstAssignFinder(tree).get_ast("a", "self")) == "self.a = 4"
    assert text(ast_helpers.AstAssignFinder(tree).get_ast("y")) == "y = self.a + x"
    assert ast_helpers.AstAssignFinder(tree).get_ast("z") is None


def test_imports_of_a_try_stand_there_only():
    found = ast_helpers.AstImportFinder(ast.parse(TEXT)).get_import_node()
    assert [type(n).__name__ for n in found] == ["ImportFrom", "Try"]


def test_checks():
    tree = ast.parse(TEXT)
    assert ast_helpers.StrChecker(tree).check("self") and not ast_helpers.StrChecker(tree).check("a")
    used = ast_helpers.CheckPropertyIsUsed(tree)
    assert used.check("self", "a") and not used.check("x", "a") and not used.check("self", "c")
    assert ast_helpers.GetPropertyOfObj(tree).get() == {"a"}


def test_names_are_replaced_and_come_back():
    tree = ast.parse("class A: pass\nb = A()\nA.A = b")
    change = AstReplacer(tree)
    change.replace_all("A", "C")
    change.replace_all("b", "A")
    assert text(tree) == "class C:\n    pass\nA = C()\nC.A = A"
    change.undo_all()
    assert text(tree) == "class A:\n    pass\nb = A()\nA.A = b"


def test_nested_calls_are_split():
    tree = ast.parse(
        "def construct(self, x):\n    g_var = 1\n    return self.f(g(x) + 1, y=g(x))\ndef f(x):\n    return g(g(x))"
    )
    lines = text(AstFlattener().transform(tree)).splitlines()
    values = {}
    exec(
        "\n".join(["def construct(self, x):", *lines[1 : lines.index("def f(x):")]]).rstrip(),
        {"g": lambda x: x * 2},
        values,
    )
    net = type("Net", (), {"f": lambda self, a, y: (a, y)})()
    assert values["construct"](net, 5) == (11, 10)
    assert lines[-1].strip() == "return g(g(x))" and sum(line.count("(") for line in lines[1:6]) == 3
    whole = AstFlattener().transform(ast.parse("def f(x):\n    return g(g(x))"), ["f"])
    assert text(whole) == "def f(x):\n    g_var = g(x)\n    g_var_1 = g(g_var)\n    return g_var_1"
    branch = ast.parse("if a:\n    b = f(g(c))\nelse:\n    b = 1").body[0]
    assert text(AstFlattener().transform_control_flow(branch)).splitlines()[1:3] == [
        "    g_var = g(c)",
        "    b = f(g_var)",
    ]


def test_pieces_are_read():
    read = lambda code: AstConverter.create_scopedvalue(ast.parse(code, mode="eval").body)  # noqa: E731
    kinds = [read(code).type.name for code in ("x", "self.x", "self.a.x", "3", "(1, x, self.y)", "f(x)", "(f(x),)")]
    assert kinds == [
        *("NamingValue", "NamingValue", "UnsupportedValue", "ConstantValue", "TupleValue"),
        *("UnsupportedValue", "UnsupportedValue"),
    ]
    assert read("(1, x, self.y)") == value((1, "x", "self.y"))
    target = ast.parse("a, (b.c, [d]) = e").body[0].targets[0]
    assert AstConverter.get_ast_target_elems(target, True) == ["a", "b.c", "d"]
    assert [type(n).__name__ for n in AstConverter.get_ast_target_elems(target)] == ["Name", "Attribute", "Name"]
    names = [AstConverter.get_ast_name(ast.parse(c, mode="eval").body) for c in ("a", "b.c", "1")]
    assert names == ["a", "c", ""]
    assert AstConverter.get_ast_constant_value(ast.Constant(2)) == 2
    with pytest.raises(ValueError, match="'node' must be an ast.Constant, but got Name"):
        AstConverter.get_ast_constant_value(ast.Name("x", ast.Load()))
    part = lambda code: ast.parse(code, mode="eval").body  # noqa: E731
    assert AstConverter.ast_tuple_elts_support_scopledvalue(part("(a, b.c, 1, ())"))
    assert not AstConverter.ast_tuple_elts_support_scopledvalue(part("(f(),)"))
    assert AstConverter.ast_dict_support_scopledvalue(part("{'a': b}"))
    assert not AstConverter.ast_dict_support_scopledvalue(part("{a: b}"))


def test_statements_are_inserted_and_erased():
    tree = ast.parse("def f(a, b=1):\n    x = a\n    return x")
    function = tree.body[0]
    line = lambda code: ast.parse(code).body[0]  # noqa: E731
    AstModifier.insert_ast_to_function(function, line("first()"), function.args.args[0])
    AstModifier.insert_ast_to_ast(function, line("before()"), function.body[-1])
    AstModifier.insert_ast_to_ast(function.body, line("behind()"), function.body[0], False)
    AstModifier.append_arg_to_function(function, ast.arg("c"))
    AstModifier.append_global_vars_expr_to_init(function, [name("g", "self")], "h")
    assert text(tree).splitlines() == [
        *("def f(a, b=1, c=None):", "    first()", "    behind()", "    x = a", "    before()", "    return x"),
        "    self.g = getattr(obj, 'h')",
    ]
    assert AstModifier.erase_ast_from_function(function, function.body[0])
    assert not AstModifier.erase_ast_from_function(function, line("first()"))
    assert text(function.body[0]) == "behind()"
    made = AstModifier.insert_class_into_module(tree, line("class A:\n    def f(self): pass\n    b = 1"), function)
    assert tree.body[0] is made
    AstModifier.erase_func_from_class_by_name(made, "f")
    assert text(made) == "class A:\n    b = 1"
    choice = line("if a:\n    b()\nelse:\n    c()")
    tree.body.append(choice)
    AstModifier.earse_ast_of_control_flow(tree.body, choice, True)
    assert text(choice) == "if a:\n    b()"
    AstModifier.earse_ast_of_control_flow(tree.body, choice, False)
    assert choice not in tree.body


def test_calls_are_written():
    call = AstModifier.create_call(name("f", "self"), [name("x"), value((1, 2))], {"k": name("y", "self")})
    assert text(call) == "self.f(x, (1, 2), k=self.y)"
    both = AstModifier.create_call_assign([name("a"), name("b", "self")], name("f"), None, None)
    assert text(both) == "(a, self.b) = f()" or text(both) == "a, self.b = f()"
    exec(compile(ast.Module([both], []), "", "exec"), {"f": lambda: (1, 2), "self": type("A", (), {})()})
    target = ast.parse("a = 1").body[0].targets[0]
    assert isinstance(AstModifier.get_ast_by_value(name("b", "self"), target).ctx, ast.Store)
    assert text(AstModifier.get_ast_by_value(value({"a": [1, (2,)]}), None)) == "{'a': [1, (2,)]}"
    unreadable = AstConverter.create_scopedvalue(ast.parse("f(x)", mode="eval").body)
    assert AstModifier.get_ast_by_value(unreadable, target) is target


@pytest.mark.parametrize(
    "call, error, match",
    [
        (lambda: AstModifier.create_call(value(1)), RuntimeError, "'expr' must be a name"),
        (lambda: AstModifier.create_call("f"), TypeError, "'expr'"),
        (lambda: AstModifier.create_call(name("f"), [value(object())]), RuntimeError, "but got an object"),
        (lambda: AstModifier.create_call_assign([value(1)], name("f")), RuntimeError, "'targets' must be names"),
        (lambda: AstModifier.create_call_assign([], name("f")), ValueError, "'targets' must not be empty"),
        (lambda: AstModifier.get_ast_by_value(value(object()), None), TypeError, "but got an object"),
        (lambda: AstModifier.insert_ast_to_ast(ast.Pass(), ast.Pass()), NotImplementedError, "'ast_container'"),
        (lambda: AstModifier.insert_ast_to_bodies([], ast.Pass(), ast.Pass()), ValueError, "'index_ast' must be in"),
        (lambda: AstModifier.insert_sub_ast(ast.Pass(), ast.Pass()), ValueError, "'ast_father' must have a body"),
        (lambda: AstModifier.insert_sub_ast(ast.parse(""), ast.Pass(), ast.Pass()), RuntimeError, "'index_ast'"),
        (lambda: AstModifier.append_arg_to_function(ast.parse("def f(): 0").body[0], 3), RuntimeError, "'ast_arg'"),
        (lambda: AstReplacer("a"), TypeError, "'node'"),
    ],
)
def test_wrong_arguments(call, error, match):
    with pytest.raises(error, match=match):
        call()
