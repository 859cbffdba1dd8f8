"""ScopedValue: an argument or a target of a node, a name in a scope or a constant."""

from __future__ import annotations

import ast
from enum import Enum
from typing import Any

from dist_ms.common.checks import check_string, complaint

__all__ = ["ScopedValue", "ValueType"]

_CONSTANTS = (bool, int, float, complex, str, bytes, type(None))


class ValueType(Enum):
    """What a ScopedValue holds.

    Examples:
        >>> from dist_ms.rewrite import ScopedValue
        >>> ScopedValue.create_variable_value(2).type
        <ValueType.ConstantValue: 0>
    """

    ConstantValue = 0
    TupleValue = 20
    ListValue = 21
    DictValue = 22
    NamingValue = 40
    CustomObjValue = 41
    UnsupportedValue = 50


class ScopedValue:
    """A name in a scope, a constant, a container of them, or any object.

    Attributes:
        type (ValueType): which of them it is.
        scope (str): what stands before a name, such as "self"; "" for a local variable.
        value: the name without its scope, or the constant.

    Examples:
        >>> from dist_ms.rewrite import ScopedValue
        >>> print(ScopedValue.create_naming_value("conv", "self"))
        self.conv
    """

    def __init__(self, arg_type: ValueType, scope: str = "", value: Any = None) -> None:
        self.type, self.scope, self.value = arg_type, scope, value

    @classmethod
    def create_variable_value(cls, value: Any) -> ScopedValue:
        """Hold a value: a number, a str, None, a tuple, list or dict of such, or any object.

        Examples:
            >>> from dist_ms.rewrite import ScopedValue
            >>> print(ScopedValue.create_variable_value(2))
            2
        """
        if isinstance(value, cls):
            return value
        if isinstance(value, _CONSTANTS):
            return cls(ValueType.ConstantValue, "", value)
        if isinstance(value, tuple):
            return cls(ValueType.TupleValue, "", tuple([cls.create_variable_value(v) for v in value]))
        if isinstance(value, list):
            return cls(ValueType.ListValue, "", [cls.create_variable_value(v) for v in value])
        if isinstance(value, dict):
            pairs = {cls.create_variable_value(k): cls.create_variable_value(v) for k, v in value.items()}
            return cls(ValueType.DictValue, "", pairs)
        return cls(ValueType.CustomObjValue, "", value)

    @classmethod
    def create_naming_value(cls, name: str, scope: str = "") -> ScopedValue:
        """Name a variable.

        Args:
            name: the variable.
            scope: what stands before it, such as "self".

        Raises:
            TypeError: if one is no str.

        Examples:
            >>> from dist_ms.rewrite import ScopedValue
            >>> ScopedValue.create_naming_value("x")
            x
        """
        for item, text in (("name", name), ("scope", scope)):
            check_string(text, item, "ScopedValue")
        return cls(ValueType.NamingValue, scope, name)

    @classmethod
    def create_name_values(cls, names: list | tuple, scopes: list | tuple | None = None) -> list[ScopedValue]:
        """Name several variables.

        Args:
            names: the variables.
            scopes: what stands before each; None for nothing.

        Raises:
            TypeError: if they are no lists or tuples of str.
            ValueError: if there are not as many scopes as names.

        Examples:
            >>> from dist_ms.rewrite import ScopedValue
            >>> ScopedValue.create_name_values(["x", "y"], ["", "self"])
            [x, self.y]
        """
        for item, listed in (("names", names), ("scopes", scopes if scopes is not None else [])):
            if not isinstance(listed, (list, tuple)):
                raise TypeError(complaint(item, "ScopedValue", "a list or a tuple of str", type(listed).__name__))
        scopes = [""] * len(names) if scopes is None else scopes
        if len(names) != len(scopes):
            raise ValueError(
                f"For 'ScopedValue', 'scopes' must have one entry for each name, but got {len(scopes)} for "
                f"{len(names)}."
            )
        return [cls.create_naming_value(name, scope) for name, scope in zip(names, scopes)]

    @classmethod
    def from_ast(cls, tree: ast.expr) -> ScopedValue:
        """Read an expression; what is neither a name nor a constant is kept as its text."""
        if isinstance(tree, ast.Constant):
            return cls(ValueType.ConstantValue, "", tree.value)
        if isinstance(tree, ast.Name):
            return cls(ValueType.NamingValue, "", tree.id)
        if isinstance(tree, ast.Attribute) and isinstance(tree.value, (ast.Name, ast.Attribute)):
            return cls(ValueType.NamingValue, ast.unparse(tree.value), tree.attr)
        if isinstance(tree, (ast.Tuple, ast.List)):
            kind = (ValueType.TupleValue, tuple) if isinstance(tree, ast.Tuple) else (ValueType.ListValue, list)
            return cls(kind[0], "", kind[1](map(cls.from_ast, tree.elts)))
        return cls(ValueType.UnsupportedValue, "", ast.unparse(tree))

    def to_ast(self, name_of: Any) -> ast.expr:
        """Write an expression; `name_of(object)` names an object that has no source."""
        if self.type is ValueType.ConstantValue:
            return ast.Constant(self.value)
        if self.type is ValueType.CustomObjValue:
            return ast.Name(name_of(self.value), ast.Load())
        if self.type in (ValueType.TupleValue, ValueType.ListValue):
            kind = ast.Tuple if self.type is ValueType.TupleValue else ast.List
            return kind([v.to_ast(name_of) for v in self.value], ast.Load())
        if self.type is ValueType.DictValue:
            pairs = self.value.items()
            return ast.Dict([k.to_ast(name_of) for k, _ in pairs], [v.to_ast(name_of) for _, v in pairs])
        return ast.parse(str(self), mode="eval").body

    def __str__(self) -> str:
        if self.type is ValueType.NamingValue and self.scope:
            return f"{self.scope}.{self.value}"
        return str(self.value)

    __repr__ = __str__

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ScopedValue):
            return NotImplemented
        return (self.type, self.scope, self.value) == (other.type, other.scope, other.value)

    def __hash__(self) -> int:
        return hash((self.type, self.scope, str(self.value)))
