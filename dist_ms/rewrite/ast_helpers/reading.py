"""What a piece of a syntax tree means: constants, names, targets, ScopedValues."""

from __future__ import annotations

import ast
from typing import Any

from dist_ms.rewrite.api.scoped_value import ScopedValue, ValueType

__all__ = ["AstConverter"]

_PLAIN = (ast.Name, ast.Attribute, ast.Tuple, ast.Constant)


class AstConverter:
    """Reads pieces of syntax trees.

    Examples:
        >>> import ast
        >>> from dist_ms.rewrite.ast_helpers import AstConverter
        >>> AstConverter.create_scopedvalue(ast.parse("self.conv", mode="eval").body)
        self.conv
    """

    @staticmethod
    def get_ast_constant_value(node: ast.AST) -> Any:
        """Return the value of a constant.

        Args:
            node: the constant.

        Raises:
            ValueError: if it is none.
        """
        if not isinstance(node, ast.Constant):
            raise ValueError(
                f"For 'get_ast_constant_value', 'node' must be an ast.Constant, but got {type(node).__name__}."
            )
        return node.value

    @staticmethod
    def create_scopedvalue(node: ast.expr) -> ScopedValue:
        """Return the ScopedValue of a name, an attribute of one, a constant, or a list of these, else of its text.

        Args:
            node: the expression.
        """
        if isinstance(node, (ast.List, ast.Tuple)):
            return AstConverter.create_scopedvalue_from_list(node.elts)
        if isinstance(node, ast.Attribute) and not isinstance(node.value, ast.Name):
            return ScopedValue(ValueType.UnsupportedValue, "", ast.unparse(node))
        if isinstance(node, ast.Constant):
            return ScopedValue.create_variable_value(node.value)
        return ScopedValue.from_ast(node)

    @staticmethod
    def create_scopedvalue_from_list(ast_list: list[ast.expr]) -> ScopedValue:
        """Return a tuple of constants; names stand in it as text. With anything else it is the text of that.

        Args:
            ast_list: the expressions.
        """
        values = []
        for item in ast_list:
            if isinstance(item, ast.Constant):
                values.append(item.value)
            elif isinstance(item, ast.Name) or (isinstance(item, ast.Attribute) and isinstance(item.value, ast.Name)):
                values.append(ast.unparse(item))
            else:
                return ScopedValue(ValueType.UnsupportedValue, "", ast.unparse(item))
        return ScopedValue.create_variable_value(tuple(values))

    @staticmethod
    def get_ast_name(ast_node: ast.AST) -> str:
        """Return the name of a variable or attribute, "" of anything else.

        Args:
            ast_node: the expression.
        """
        return getattr(ast_node, "id", "") or getattr(ast_node, "attr", "")

    @staticmethod
    def ast_tuple_elts_support_scopledvalue(value: ast.Tuple) -> bool:
        """Return whether a tuple holds names, attributes, constants and tuples alone.

        Args:
            value: the tuple.
        """
        return all(isinstance(item, _PLAIN) for item in value.elts)

    @staticmethod
    def ast_dict_support_scopledvalue(ast_dict: ast.Dict) -> bool:
        """Return whether a dict's keys are strings and its values names, attributes, constants or tuples.

        Args:
            ast_dict: the dict.
        """
        keys = all(isinstance(key, ast.Constant) and isinstance(key.value, str) for key in ast_dict.keys)
        return keys and all(isinstance(item, _PLAIN) for item in ast_dict.values)

    @staticmethod
    def get_ast_target_elems(ast_target: ast.expr, convert_to_str: bool = False) -> list:
        """Return the targets of an assignment one by one, out of nested tuples and lists.

        Args:
            ast_target: the target.
            convert_to_str: return their texts.
        """
        if isinstance(ast_target, (ast.Tuple, ast.List)):
            parts = [AstConverter.get_ast_target_elems(item, convert_to_str) for item in ast_target.elts]
            return [item for part in parts for item in part]
        return [ast.unparse(ast_target) if convert_to_str else ast_target]
