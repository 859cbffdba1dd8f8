"""Find what a syntax tree holds: nodes of a kind, names, assignments, imports."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from typing import Any

from dist_ms.common.checks import check_type

__all__ = [
    "AstAssignFinder",
    "AstClassFinder",
    "AstFinder",
    "AstFunctionFinder",
    "AstImportFinder",
    "CheckPropertyIsUsed",
    "GetPropertyOfObj",
    "StrChecker",
]


def _in_order(tree: ast.AST, enter: Any = lambda node: True) -> Iterator[ast.AST]:
    """A tree's nodes, each before what it holds; nothing inside of nodes that `enter` is false for."""
    yield tree
    if enter(tree):
        for child in ast.iter_child_nodes(tree):
            yield from _in_order(child, enter)


class _Looking:
    """What looks into one tree.

    Args:
        node: the tree.
    """

    def __init__(self, node: ast.AST) -> None:
        self._scope = check_type(node, "node", type(self).__name__, ast.AST)


class AstFinder(_Looking):
    """Finds nodes of some kinds in a tree.

    Args:
        node: the tree.

    Examples:
        >>> import ast
        >>> from dist_ms.rewrite.ast_helpers import AstFinder
        >>> [n.id for n in AstFinder(ast.parse("a + b")).find_all(ast.Name)]
        ['a', 'b']
    """

    def find_all(self, ast_types: type | tuple[type, ...]) -> list[ast.AST]:
        """Return the nodes, each before what it holds.

        Args:
            ast_types: a class of nodes, or a tuple of them.

        Raises:
            ValueError: if it is something else.
        """
        if not isinstance(ast_types, (type, tuple)):
            raise ValueError(f"For 'AstFinder', 'ast_types' must be a type or a tuple of them, but got {ast_types!r}.")
        return [node for node in _in_order(self._scope) if isinstance(node, ast_types)]


class AstClassFinder(_Looking):
    """Finds classes by their name, but for those inside of other classes.

    Args:
        node: the tree.
    """

    def find_all(self, class_name: str) -> list[ast.ClassDef]:
        """Return the definitions.

        Args:
            class_name: the name.

        Raises:
            TypeError: if it is no str.
        """
        check_type(class_name, "class_name", "AstClassFinder", str)
        found = _in_order(self._scope, lambda node: not isinstance(node, ast.ClassDef))
        return [node for node in found if isinstance(node, ast.ClassDef) and node.name == class_name]


class AstFunctionFinder(_Looking):
    """Finds functions by their name, but for those inside of other functions.

    Args:
        node: the tree.
    """

    def find_all(self, func_name: str) -> list[ast.FunctionDef]:
        """Return the definitions.

        Args:
            func_name: the name.

        Raises:
            TypeError: if it is no str.
        """
        check_type(func_name, "func_name", "AstFunctionFinder", str)
        found = _in_order(self._scope, lambda node: not isinstance(node, ast.FunctionDef))
        return [node for node in found if isinstance(node, ast.FunctionDef) and node.name == func_name]


class AstImportFinder:
    """Finds imports, and `try` statements that begin with one.

    Args:
        ast_root: the tree.
    """

    def __init__(self, ast_root: ast.AST) -> None:
        self.ast_root = check_type(ast_root, "ast_root", "AstImportFinder", ast.AST)

    def get_import_node(self) -> list[ast.stmt]:
        """Return copies of the imports, then of the `try` statements; what one of these imports is only there."""
        kinds = (ast.Import, ast.ImportFrom)
        attempts = lambda node: isinstance(node, ast.Try) and isinstance(node.body[0], kinds)  # noqa: E731
        below = [node for child in ast.iter_child_nodes(self.ast_root) for node in _in_order(child, _no_try)]
        tried = [copy.deepcopy(node) for node in below if attempts(node)]
        plain = [copy.deepcopy(node) for node in below if isinstance(node, kinds)]
        for attempt in tried:
            for line in (*attempt.body, *(line for handler in attempt.handlers for line in handler.body)):
                same = next((node for node in plain if ast.unparse(node) == ast.unparse(line)), None)
                if same is not None:
                    plain.remove(same)
        return [*plain, *tried]


def _no_try(node: ast.AST) -> bool:
    return not isinstance(node, ast.Try)


class AstAssignFinder(_Looking):
    r"""Finds the last assignment to a variable or to an attribute.

    Args:
        node: the tree.

    Examples:
        >>> import ast
        >>> from dist_ms.rewrite.ast_helpers import AstAssignFinder
        >>> ast.unparse(AstAssignFinder(ast.parse("x = 1\nself.x = 2")).get_ast("x", "self"))
        'self.x = 2'
    """

    def get_ast(self, value: str, scope: str = "") -> ast.Assign | None:
        """Return the assignment, None if there is none.

        Args:
            value: the name of the variable or attribute.
            scope: the name before an attribute's dot; "" for a variable.
        """
        wanted = f"{scope}.{value}" if scope else value
        found = None
        for node in _in_order(self._scope, lambda node: not isinstance(node, ast.Assign)):
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == wanted:
                found = node
        return found


class StrChecker(_Looking):
    """Tells whether a tree uses a name.

    Args:
        node: the tree.
    """

    def check(self, pattern: str) -> bool:
        """Return whether the name is there.

        Args:
            pattern: the name.
        """
        return any(isinstance(node, ast.Name) and node.id == pattern for node in _in_order(self._scope))


class CheckPropertyIsUsed(_Looking):
    """Tells whether a tree uses an attribute.

    Args:
        node: the tree.
    """

    def check(self, value: str, attr: str) -> bool:
        """Return whether `value.attr` is there.

        Args:
            value: the name before the dot.
            attr: the attribute.
        """
        return any(
            isinstance(node, ast.Attribute)
            and node.attr == attr
            and isinstance(node.value, ast.Name)
            and node.value.id == value
            for node in _in_order(self._scope)
        )


class GetPropertyOfObj(_Looking):
    """Tells which attributes of `self` a tree assigns.

    Args:
        node: the tree.
    """

    def get(self) -> set[str]:
        """Return their names."""
        targets = [node.targets[0] for node in _in_order(self._scope) if isinstance(node, ast.Assign)]
        return {
            target.attr
            for target in targets
            if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self"
        }
