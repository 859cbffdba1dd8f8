"""Nested expressions become statements of one operation each, with the order of evaluation kept."""

from __future__ import annotations

import ast
from collections.abc import Callable

__all__ = ["BLOCKS", "flatten", "operator_name"]

# The fields of a statement that hold statements.
BLOCKS = ("body", "orelse", "finalbody")


def operator_name(value: ast.expr) -> str:
    """The word for an operation on plain operands, such as "add"; "" for anything else."""
    if isinstance(value, (ast.BinOp, ast.UnaryOp, ast.BoolOp)):
        return type(value.op).__name__.lower()
    if isinstance(value, ast.Compare):
        return "compare"
    return ""


def variable_name(value: ast.expr) -> str:
    """What the result of an expression is called."""
    if isinstance(value, ast.Call):
        function = value.func
        word = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "function")
    elif isinstance(value, (ast.Tuple, ast.List, ast.Subscript)):
        word = type(value).__name__.lower()
    else:
        word = operator_name(value)
    return f"{word}_var"


def splits(value: ast.expr) -> bool:
    """Whether an operand gets a statement of its own."""
    if isinstance(value, (ast.Tuple, ast.List)):
        return any(not isinstance(item, ast.Constant) for item in value.elts)
    if isinstance(value, ast.UnaryOp):
        return not isinstance(value.operand, ast.Constant)
    return isinstance(value, (ast.Call, ast.BinOp, ast.Compare, ast.BoolOp, ast.Subscript))


class _Splitter:
    """Collects the statements that must come before one expression."""

    def __init__(self, unique: Callable[[str], str]) -> None:
        self.unique, self.before = unique, []

    def operand(self, value: ast.expr) -> ast.expr:
        """Return what stands for an operand: itself, or the variable of a new statement."""
        if isinstance(value, ast.Starred):
            return ast.Starred(self.operand(value.value), value.ctx)
        if not splits(value):
            return value
        self.inside(value)
        name = self.unique(variable_name(value))
        self.before.append(ast.Assign([ast.Name(name, ast.Store())], value))
        return ast.Name(name, ast.Load())

    def inside(self, value: ast.expr) -> None:
        """Take the operands out of an expression; those of `and`, `or` and `if` may never be evaluated and stay."""
        if isinstance(value, ast.Call):
            if isinstance(value.func, ast.Attribute):
                value.func.value = self.operand(value.func.value)
            elif isinstance(value.func, ast.Call):
                value.func = self.operand(value.func)
            value.args = [self.operand(arg) for arg in value.args]
            for keyword in value.keywords:
                keyword.value = self.operand(keyword.value)
        elif isinstance(value, ast.BinOp):
            value.left, value.right = self.operand(value.left), self.operand(value.right)
        elif isinstance(value, ast.UnaryOp):
            value.operand = self.operand(value.operand)
        elif isinstance(value, ast.Compare) and len(value.ops) == 1:
            value.left, value.comparators = self.operand(value.left), [self.operand(value.comparators[0])]
        elif isinstance(value, (ast.Tuple, ast.List)):
            value.elts = [self.operand(item) for item in value.elts]
        elif isinstance(value, ast.Subscript):
            value.value = self.operand(value.value)


def flatten(block: list[ast.stmt], unique: Callable[[str], str]) -> None:
    """Split the statements of a block, in place, and of the blocks inside it.

    Later statements are split first: their variables have the smaller numbers.
    """
    for i in range(len(block) - 1, -1, -1):
        statement = block[i]
        for field in BLOCKS:
            flatten(getattr(statement, field, []), unique)
        if not isinstance(statement, (ast.Assign, ast.AugAssign, ast.Return, ast.Expr)) or statement.value is None:
            continue
        splitter = _Splitter(unique)
        if isinstance(statement, ast.Return):
            statement.value = splitter.operand(statement.value)
        else:
            splitter.inside(statement.value)
        block[i:i] = splitter.before
