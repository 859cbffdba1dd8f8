"""Change syntax trees: rename, split nested calls, insert and erase statements, write calls."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Sequence
from typing import Any

from dist_ms.common.checks import check_type
from dist_ms.rewrite.api.scoped_value import ScopedValue, ValueType
from dist_ms.rewrite.flattening import flatten

__all__ = ["AstFlattener", "AstModifier", "AstReplacer"]


class AstReplacer:
    """Renames classes and variables in a tree.

    Args:
        node: the tree.

    Examples:
        >>> import ast
        >>> from dist_ms.rewrite.ast_helpers import AstReplacer
        >>> tree = ast.parse("a = b")
        >>> change = AstReplacer(tree)
        >>> change.replace_all("b", "c")
        >>> ast.unparse(tree)
        'a = c'
    """

    def __init__(self, node: ast.AST) -> None:
        self._scope = check_type(node, "node", "AstReplacer", ast.AST)
        self._trace: list[tuple[Any, str, str]] = []

    def replace_all(self, src: str, dst: str) -> None:
        """Give what has one name another.

        Args:
            src: the name.
            dst: the other.
        """
        for node in ast.walk(self._scope):
            field = {ast.ClassDef: "name", ast.Name: "id"}.get(type(node))
            if field and getattr(node, field) == src:
                setattr(node, field, dst)
                self._trace.append((node, field, src))

    def undo_all(self) -> None:
        """Go back to the names before all replacements."""
        for node, field, name in reversed(self._trace):
            setattr(node, field, name)
        self._trace.clear()


class AstFlattener:
    r"""Splits nested expressions into statements of one operation each.

    Examples:
        >>> import ast
        >>> from dist_ms.rewrite.ast_helpers import AstFlattener
        >>> print(ast.unparse(AstFlattener().transform(ast.parse("def construct(x):\n    return f(g(x))"))))
        def construct(x):
            g_var = g(x)
            f_var = f(g_var)
            return f_var
    """

    def transform(self, ast_root: ast.AST, transform_functions: list[str] | None = None, stree: Any = None) -> ast.AST:
        """Split what some functions of a tree do, in place, and return the tree.

        Args:
            ast_root: the tree.
            transform_functions: the functions' names; "construct" by default.
            stree: its `unique_name(name)` makes the names of variables, if given.
        """
        wanted = transform_functions or ["construct"]
        for node in ast.walk(ast_root):
            if isinstance(node, ast.FunctionDef) and node.name in wanted:
                flatten(node.body, _unique(node, stree))
        return ast.fix_missing_locations(ast_root)

    def transform_control_flow(self, ast_control_flow: ast.If | ast.For | ast.While, stree: Any = None) -> ast.stmt:
        """Split what the branches of a statement do, in place, and return the statement.

        Args:
            ast_control_flow: an `if`, `for` or `while`.
            stree: as for `transform`.
        """
        unique = _unique(ast_control_flow, stree)
        for block in (ast_control_flow.body, ast_control_flow.orelse):
            flatten(block, unique)
        return ast.fix_missing_locations(ast_control_flow)


def _unique(tree: ast.AST, stree: Any) -> Callable[[str], str]:
    """What makes names that a tree does not have yet."""
    taken = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    taken |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}

    def unique(name: str) -> str:
        found = next(n for n in itertools.chain([name], (f"{name}_{i}" for i in itertools.count(1))) if n not in taken)
        if stree is not None:
            found = stree.unique_name(found)
        taken.add(found)
        return found

    return unique


class AstModifier:
    """Inserts statements into trees, erases them, and writes expressions of ScopedValues.

    Examples:
        >>> import ast
        >>> from dist_ms.rewrite import ScopedValue
        >>> from dist_ms.rewrite.ast_helpers import AstModifier
        >>> name = ScopedValue.create_naming_value
        >>> axis = {"axis": ScopedValue.create_variable_value(1)}
        >>> call = AstModifier.create_call_assign([name("y")], name("relu", "self"), [name("x")], axis)
        >>> ast.unparse(call)
        'y = self.relu(x, axis=1)'
    """

    # ---- statements
    @staticmethod
    def insert_ast_to_bodies(
        ast_bodies: list, ast_node: ast.AST, index_ast: ast.AST | None = None, insert_before: bool = True
    ) -> ast.AST:
        """Insert a statement before or behind another one of a block, or at its end. Returns the statement.

        Args:
            ast_bodies: the block.
            ast_node: the statement.
            index_ast: the other one; None for the end.
            insert_before: before it, not behind it.

        Raises:
            ValueError: if the other one is not there.
        """
        if index_ast is None:
            ast_bodies.append(ast_node)
            return ast_node
        place = next((i for i, line in enumerate(ast_bodies) if line is index_ast), None)
        if place is None:
            raise ValueError(
                f"For 'insert_ast_to_bodies', 'index_ast' must be in the block, but got {ast.unparse(index_ast)!r}."
            )
        ast_bodies.insert(place if insert_before else place + 1, ast_node)
        return ast_node

    @staticmethod
    def insert_ast_to_function(
        ast_func: ast.FunctionDef, ast_node: ast.AST, index_ast: ast.AST | None = None, insert_before: bool = True
    ) -> ast.AST:
        """Do so in a function; beside one of its arguments means at its beginning.

        Args:
            ast_func: the function.
            ast_node, index_ast, insert_before: as for `insert_ast_to_bodies`.
        """
        if any(arg is index_ast for arg in ast_func.args.args):
            ast_func.body.insert(0, ast_node)  # type: ignore[arg-type]
        else:
            AstModifier.insert_ast_to_bodies(ast_func.body, ast_node, index_ast, insert_before)
        ast.fix_missing_locations(ast_func)
        return ast_node

    @staticmethod
    def insert_ast_to_ast(
        ast_container: ast.AST | list, ast_node: ast.AST, index_ast: ast.AST | None = None, insert_before: bool = True
    ) -> ast.AST:
        """Do so in a function or a block.

        Args:
            ast_container: the function, or a list of statements.
            ast_node, index_ast, insert_before: as for `insert_ast_to_bodies`.

        Raises:
            NotImplementedError: if it is neither.
        """
        if isinstance(ast_container, list):
            return AstModifier.insert_ast_to_bodies(ast_container, ast_node, index_ast, insert_before)
        if isinstance(ast_container, ast.FunctionDef):
            return AstModifier.insert_ast_to_function(ast_container, ast_node, index_ast, insert_before)
        raise NotImplementedError(
            "For 'insert_ast_to_ast', 'ast_container' must be an ast.FunctionDef or a list, but got "
            f"{type(ast_container).__name__}."
        )

    @staticmethod
    def insert_sub_ast(
        ast_father: Any, ast_son: ast.AST, index_ast: ast.AST | None = None, insert_before: bool = True
    ) -> ast.AST:
        """Do so in anything that has a body.

        Args:
            ast_father: a module, class, function ...
            ast_son, index_ast, insert_before: as for `insert_ast_to_bodies`.

        Raises:
            ValueError: if it has no body.
            RuntimeError: if the other statement is not there.
        """
        if not hasattr(ast_father, "body"):
            raise ValueError(
                f"For 'insert_sub_ast', 'ast_father' must have a body, but got {type(ast_father).__name__}."
            )
        if index_ast is not None and not any(line is index_ast for line in ast_father.body):
            raise RuntimeError("For 'insert_sub_ast', 'index_ast' must be in the body of 'ast_father', but it is not.")
        AstModifier.insert_ast_to_bodies(ast_father.body, ast_son, index_ast, insert_before)
        ast.fix_missing_locations(ast_father)
        return ast_son

    insert_class_into_module = insert_sub_ast

    @staticmethod
    def insert_assign_to_function(
        ast_func: ast.FunctionDef,
        targets: Sequence[ScopedValue],
        expr: ScopedValue,
        args: Sequence[ScopedValue] | None = None,
        kwargs: dict[str, ScopedValue] | None = None,
        index_ast: ast.AST | None = None,
        insert_before: bool = True,
    ) -> ast.AST:
        """Insert an assignment of a call into a function.

        Args:
            ast_func, index_ast, insert_before: as for `insert_ast_to_function`.
            targets, expr, args, kwargs: as for `create_call_assign`.
        """
        made = AstModifier.create_call_assign(targets, expr, args, kwargs)
        return AstModifier.insert_ast_to_function(ast_func, made, index_ast, insert_before)

    @staticmethod
    def append_global_vars_expr_to_init(
        init_func: ast.FunctionDef, targets: Sequence[ScopedValue], field: str
    ) -> ast.AST:
        """Append an assignment of `obj`'s attribute to a constructor.

        Args:
            init_func: the constructor.
            targets: what is assigned to.
            field: the attribute.
        """
        name = ScopedValue.create_naming_value
        call = name("obj"), ScopedValue.create_variable_value(field)
        return AstModifier.insert_assign_to_function(init_func, targets, name("getattr"), call)

    @staticmethod
    def append_arg_to_function(ast_func: ast.FunctionDef, ast_arg: ast.arg) -> ast.arg:
        """Append an argument that has no default to a function; with defaults before it, None is its own.

        Args:
            ast_func: the function.
            ast_arg: the argument.

        Raises:
            RuntimeError: if it is no argument.
        """
        if not isinstance(ast_arg, ast.arg):
            raise RuntimeError(
                f"For 'append_arg_to_function', 'ast_arg' must be an ast.arg, but got {type(ast_arg).__name__}."
            )
        ast_func.args.args.append(ast_arg)
        if ast_func.args.defaults:
            ast_func.args.defaults.append(ast.Constant(None))
        ast.fix_missing_locations(ast_func)
        return ast_arg

    @staticmethod
    def erase_ast_from_bodies(ast_bodies: list, to_erase: ast.AST) -> bool:
        """Erase a statement from a block, and return whether it was there.

        Args:
            ast_bodies: the block.
            to_erase: the statement.
        """
        for place, line in enumerate(ast_bodies):
            if line is to_erase:
                del ast_bodies[place]
                return True
        return False

    @staticmethod
    def erase_ast_from_function(ast_func: ast.FunctionDef, to_erase: ast.AST) -> bool:
        """Erase a statement from a function, and return whether it was there.

        Args:
            ast_func: the function.
            to_erase: the statement.
        """
        return AstModifier.erase_ast_from_bodies(ast_func.body, to_erase)

    @staticmethod
    def earse_ast_of_control_flow(ast_root_body: list, ast_branch: Any, is_orelse: bool) -> bool:
        """Empty a branch of a statement, and erase the statement where nothing is left of it. Returns True.

        Args:
            ast_root_body: the block that the statement is in.
            ast_branch: the statement.
            is_orelse: empty what follows `else`, not the first branch.
        """
        if is_orelse:
            ast_branch.orelse = []
        else:
            ast_branch.body = [ast.Pass()]
        if not ast_branch.orelse and len(ast_branch.body) == 1 and isinstance(ast_branch.body[0], ast.Pass):
            AstModifier.erase_ast_from_bodies(ast_root_body, ast_branch)
        return True

    @staticmethod
    def erase_func_from_class_by_name(ast_class: ast.ClassDef, func_name: str) -> None:
        """Erase the methods of one name from a class.

        Args:
            ast_class: the class.
            func_name: the name.
        """
        ast_class.body = [
            line for line in ast_class.body if not (isinstance(line, ast.FunctionDef) and line.name == func_name)
        ]

    # ---- expressions
    @staticmethod
    def create_call_assign(
        targets: Sequence[ScopedValue],
        expr: ScopedValue,
        args: Sequence[ScopedValue] | None = None,
        kwargs: dict[str, ScopedValue] | None = None,
    ) -> ast.Assign:
        """Return an assignment of a call.

        Args:
            targets: names; several get the parts of the result.
            expr, args, kwargs: as for `create_call`.

        Raises:
            RuntimeError: if a target is no name.
            ValueError: if there is none.
        """
        if any(target.type is not ValueType.NamingValue for target in targets):
            raise RuntimeError(f"For 'create_call_assign', 'targets' must be names, but got {list(targets)}.")
        if not targets:
            raise ValueError("For 'create_call_assign', 'targets' must not be empty, but got none.")
        names = [_stored(target) for target in targets]
        target: ast.expr = names[0] if len(names) == 1 else ast.Tuple(names, ast.Store())
        made = ast.Assign(targets=[target], value=AstModifier.create_call(expr, args, kwargs))
        return ast.fix_missing_locations(made)

    @staticmethod
    def create_call(
        expr: ScopedValue, args: Sequence[ScopedValue] | None = None, kwargs: dict[str, ScopedValue] | None = None
    ) -> ast.Call:
        """Return a call.

        Args:
            expr: the name of what is called.
            args: what it is given: names, constants, and tuples or lists of these.
            kwargs: what it is given by name.

        Raises:
            TypeError: if one is no ScopedValue.
            RuntimeError: if `expr` is no name, or an argument any object.
        """
        given = {"expr": expr, **{f"args[{i}]": a for i, a in enumerate(args or ())}, **(kwargs or {})}
        for item, value in given.items():
            check_type(value, item, "create_call", ScopedValue)
            if value.type is ValueType.CustomObjValue:
                raise RuntimeError(f"For 'create_call', '{item}' must be a name or a constant, but got an object.")
        if expr.type is not ValueType.NamingValue:
            raise RuntimeError(f"For 'create_call', 'expr' must be a name, but got {expr.type}.")
        words = [ast.keyword(word, value.to_ast(str)) for word, value in (kwargs or {}).items()]
        return ast.fix_missing_locations(ast.Call(expr.to_ast(str), [a.to_ast(str) for a in args or ()], words))

    @staticmethod
    def get_ast_by_value(scoped_value: ScopedValue, orig_ast_node: ast.expr | None) -> ast.expr:
        """Return an expression of a value, in the context (read or written) of another expression.

        Args:
            scoped_value: the value.
            orig_ast_node: the other expression, which stays where the value cannot be written; or None.

        Raises:
            TypeError: if it is no ScopedValue, or any object.
        """
        check_type(scoped_value, "scoped_value", "get_ast_by_value", ScopedValue)
        if scoped_value.type is ValueType.CustomObjValue:
            raise TypeError("For 'get_ast_by_value', 'scoped_value' must be a name or a constant, but got an object.")
        if scoped_value.type is ValueType.UnsupportedValue:
            return orig_ast_node or ast.Name(scoped_value.value, ast.Load())
        made = scoped_value.to_ast(str)
        if isinstance(getattr(orig_ast_node, "ctx", None), ast.Store):
            made = _written(made)
        return ast.fix_missing_locations(made)

    get_ast_by_constant = get_ast_by_name = get_ast_by_list = get_ast_by_dict = get_ast_by_value


def _stored(name: ScopedValue) -> ast.expr:
    """A name that is assigned to."""
    return _written(name.to_ast(str))


def _written(tree: ast.expr) -> ast.expr:
    """An expression that is assigned to."""
    for part in [tree, *getattr(tree, "elts", [])]:
        if hasattr(part, "ctx"):
            part.ctx = ast.Store()
    return tree
