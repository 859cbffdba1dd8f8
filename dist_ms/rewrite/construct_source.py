"""A cell's `construct` as a syntax tree, and what the names in it mean."""

from __future__ import annotations

import ast
import builtins
import inspect
import textwrap
from typing import Any

from dist_ms.nn import Cell

__all__ = ["meaning", "names_of", "read"]


class _AsInSubclass(ast.NodeTransformer):
    """What a method says of its class, as a subclass must say it: `super()` and private names."""

    def __init__(self, owner: str, first: str) -> None:
        self.owner, self.first = owner, first

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args:
            node.args = [ast.Name(self.owner, ast.Load()), ast.Name(self.first, ast.Load())]
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if node.attr.startswith("__") and not node.attr.endswith("__"):
            node.attr = f"_{self.owner.lstrip('_')}{node.attr}"
        return node


def read(network: Cell) -> tuple[ast.FunctionDef, dict[str, Any]]:
    """Return the syntax tree of `construct`, and the names it can see.

    Raises:
        RuntimeError: if its source is not to be had.
    """
    function = inspect.unwrap(type(network).construct)
    try:
        text = textwrap.dedent(inspect.getsource(function))
    except (OSError, TypeError):
        raise RuntimeError(
            f"For 'SymbolTree', the source of {type(network).__name__}.construct is not to be had: define the class "
            "in a file."
        ) from None
    tree = ast.parse(text).body[0]
    if not isinstance(tree, ast.FunctionDef):
        raise RuntimeError(
            f"For 'SymbolTree', 'construct' of {type(network).__name__} must be a function with 'def', but got "
            f"{type(tree).__name__}."
        )
    owner = next((c for c in type(network).__mro__ if "construct" in vars(c)), type(network))
    _AsInSubclass(owner.__name__, tree.args.args[0].arg if tree.args.args else "self").visit(tree)
    tree.decorator_list, tree.returns = [], None
    for arg in (*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs):
        arg.annotation = None
    if isinstance(tree.body[0], ast.Expr) and isinstance(tree.body[0].value, ast.Constant) and len(tree.body) > 1:
        del tree.body[0]
    seen = {**function.__globals__, **inspect.getclosurevars(function).nonlocals, owner.__name__: owner}
    written = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    local = written | {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    return tree, {name: value for name, value in seen.items() if name not in local}


def names_of(tree: ast.AST) -> set[str]:
    """Every name in a syntax tree: variables, arguments, functions."""
    found = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return found | {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}


def meaning(expression: ast.expr, seen: dict[str, Any], network: Cell) -> Any:
    """What a name, attribute or item stands for before anything runs; None when that is not known."""
    plain = (ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.Load, ast.UnaryOp, ast.USub)
    if not all(isinstance(node, plain) for node in ast.walk(expression)):
        return None
    try:
        code = compile(ast.fix_missing_locations(ast.Expression(expression)), "<name>", "eval")
        return eval(code, {**vars(builtins), **seen, "self": network})
    except Exception:  # a local variable, or an attribute that only a call makes
        return None
