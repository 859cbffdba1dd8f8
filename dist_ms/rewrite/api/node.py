"""Node: one statement of a network's `construct`."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from dist_ms.common.checks import check_string, check_type, complaint
from dist_ms.nn import Cell
from dist_ms.ops import Primitive
from dist_ms.rewrite.api.node_type import NodeType
from dist_ms.rewrite.api.scoped_value import ScopedValue, ValueType

if TYPE_CHECKING:
    from dist_ms.rewrite.api.symbol_tree import SymbolTree

__all__ = ["Node"]


def _scoped(value: Any, name: str) -> ScopedValue:
    if isinstance(value, str):
        return ScopedValue.create_naming_value(value)
    if not isinstance(value, ScopedValue):
        raise TypeError(complaint(name, "Node", "a ScopedValue or a str", type(value).__name__))
    return value


def _listed(values: Any, name: str) -> list[ScopedValue]:
    check_type(values, name, "Node", (list, tuple))
    return [_scoped(value, name) for value in values]


class Node:
    """One statement of a network's `construct`: what it calls, on what, and what it calls the result.

    Nodes come from a `SymbolTree`; `create_call_cell`, `create_call_function` and `create_input`
    make new ones for it.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.rewrite import Node, ScopedValue
        >>> x = ScopedValue.create_naming_value("x")
        >>> node = Node.create_call_cell(ms.nn.ReLU(), targets=["y"], args=[x], name="relu")
        >>> node.get_name(), node.get_args(), node.get_targets()
        ('relu', [x], [y])
    """

    make_tree: Callable[[Any], Any]  # SymbolTree.create, which knows nodes and sets this

    def __init__(self, kind: NodeType, name: str, statement: ast.AST, instance: Any = None) -> None:
        self._kind, self._name, self._statement, self._instance = kind, name, statement, instance
        self._tree: SymbolTree | None = None
        self._sub_tree: SymbolTree | None = None
        self._block: list | None = None
        self._attributes: dict[str, Any] = {}
        # What a new node brings: an object that has no source yet, by its id.
        self._objects: list[Any] = []

    # ---- new ones
    @classmethod
    def _call(cls, kind: NodeType, name: str, instance: Any, targets: Any, args: Any, kwargs: Any) -> Node:
        targets = _listed(targets, "targets")
        args = _listed(args if args is not None else [], "args")
        if not isinstance(kwargs if kwargs is not None else {}, dict):
            raise TypeError(complaint("kwargs", "Node", "a dict of str to ScopedValue", type(kwargs).__name__))
        objects: list[Any] = []

        def named(value: Any) -> str:
            objects.append(value)
            return f"object_{len(objects) - 1}"

        keywords = [ast.keyword(key, _scoped(v, "kwargs").to_ast(named)) for key, v in (kwargs or {}).items()]
        call = ast.Call(ast.Name("", ast.Load()), [arg.to_ast(named) for arg in args], keywords)
        stores = [target.to_ast(named) for target in targets]
        for store in stores:
            if not isinstance(store, (ast.Name, ast.Attribute)):
                raise ValueError(complaint("targets", "Node", "names", targets))
            store.ctx = ast.Store()
        if stores:
            target = stores[0] if len(stores) == 1 else ast.Tuple(stores, ast.Store())
            node = cls(kind, name, ast.Assign([target], call), instance)
        else:
            node = cls(kind, name, ast.Expr(call), instance)
        node._objects = objects
        return node

    @staticmethod
    def create_call_cell(
        cell: Cell,
        targets: list,
        args: list | None = None,
        kwargs: dict | None = None,
        name: str = "",
        is_sub_net: bool = False,
    ) -> Node:
        """Make a node that calls a cell, for `SymbolTree.insert` or `replace`.

        Args:
            cell: the cell, or a primitive; the new network gets it as an attribute.
            targets: names of what it returns, str or ScopedValue.
            args: its arguments, ScopedValues.
            kwargs: its keyword arguments.
            name: the attribute, made unique when the node is inserted; "" for the cell's class.
            is_sub_net: whether the cell's own nodes are to be reached too, by `get_sub_tree`.

        Raises:
            TypeError: if an argument has the wrong type.
        """
        if not isinstance(cell, (Cell, Primitive)):
            raise TypeError(complaint("cell", "Node", "a Cell or a Primitive", type(cell).__name__))
        check_string(name, "name", "Node")
        kind = NodeType.CallPrimitive if isinstance(cell, Primitive) else NodeType.CallCell
        kind = NodeType.Tree if is_sub_net and kind is NodeType.CallCell else kind
        return Node._call(kind, name, cell, targets, args, kwargs)

    @staticmethod
    def create_call_function(
        function: Any, targets: list, args: list | None = None, kwargs: dict | None = None
    ) -> Node:
        """Make a node that calls a function, for `SymbolTree.insert` or `replace`.

        Args:
            function: what to call.
            targets: names of what it returns, str or ScopedValue.
            args: its arguments, ScopedValues.
            kwargs: its keyword arguments.

        Raises:
            TypeError: if an argument has the wrong type.
        """
        if not callable(function) or isinstance(function, Cell):
            raise TypeError(complaint("function", "create_call_function", "a function", type(function).__name__))
        # Some functions of `ops` are primitives without attributes.
        name = function.name.lower() if isinstance(function, Primitive) else getattr(function, "__name__", "function")
        return Node._call(NodeType.CallFunction, name, function, targets, args, kwargs)

    @staticmethod
    def create_input(param_name: str, default: ScopedValue | None = None) -> Node:
        """Make a parameter of `construct`, for `SymbolTree.insert` beside another one.

        Args:
            param_name: its name.
            default: what it is when a call leaves it out; None for None.

        Raises:
            TypeError: if an argument has the wrong type.
        """
        check_string(param_name, "param_name", "Node")
        if default is not None and not isinstance(default, ScopedValue):
            raise TypeError(complaint("default", "Node", "a ScopedValue", type(default).__name__))
        node = Node(NodeType.Input, f"input_{param_name}", ast.arg(param_name))
        node._attributes["default"] = default or ScopedValue.create_variable_value(None)
        return node

    # ---- what it is
    def get_name(self) -> str:
        """The node's name, which no other node of its tree has."""
        return self._name

    def get_node_type(self) -> NodeType:
        """What the node does."""
        return self._kind

    def get_instance_type(self) -> type:
        """The class of the cell or primitive it calls, or the function; the type of None for other nodes."""
        called = self._instance
        return called if inspect.isfunction(called) or inspect.isbuiltin(called) else type(called)

    def get_instance(self) -> Any:
        """The cell, primitive or function it calls, or None."""
        return self._instance

    def get_attributes(self) -> dict[str, Any]:
        """What `set_attribute` kept."""
        return dict(self._attributes)

    def get_attribute(self, key: str) -> Any:
        """What `set_attribute` kept under a key, or None."""
        return self._attributes.get(key)

    def set_attribute(self, key: str, value: Any) -> None:
        """Keep a value with the node."""
        self._attributes[key] = value

    def get_symbol_tree(self) -> SymbolTree | None:
        """The tree it is in, or None."""
        return self._tree

    def get_sub_tree(self) -> SymbolTree | None:
        """The tree of the cell it calls, where that is a network of the user's; None for other nodes."""
        if self._kind is not NodeType.Tree:
            return None
        if self._sub_tree is None:
            self._sub_tree = self.make_tree(self._instance)
        return self._sub_tree

    # ---- arguments and targets
    @property
    def _expression(self) -> ast.expr | None:
        """What the statement computes, or asks, or goes over."""
        for field in ("value", "test", "iter"):
            if isinstance(getattr(self._statement, field, None), ast.expr):
                return getattr(self._statement, field)
        return None

    def _places(self) -> list[tuple[Any, Any]]:
        """Where its arguments stand in the syntax tree: (list, index) or (node, field)."""
        value = self._expression
        if value is None:
            return []
        if isinstance(self._statement, ast.Return):
            return [(self._statement, "value")]
        if isinstance(value, ast.Call):
            return [(value.args, i) for i in range(len(value.args))]
        if isinstance(value, (ast.Tuple, ast.List)):
            return [(value.elts, i) for i in range(len(value.elts))]
        if isinstance(value, ast.BinOp):
            return [(value, "left"), (value, "right")]
        if isinstance(value, ast.UnaryOp):
            return [(value, "operand")]
        if isinstance(value, ast.Compare):
            return [(value, "left"), *[(value.comparators, i) for i in range(len(value.comparators))]]
        if isinstance(value, ast.BoolOp):
            return [(value.values, i) for i in range(len(value.values))]
        if isinstance(value, ast.Subscript):
            return [(value, "value")]
        return [(self._statement, next(f for f in ("value", "test", "iter") if hasattr(self._statement, f)))]

    def _arguments(self) -> list[ast.expr]:
        return [owner[at] if isinstance(at, int) else getattr(owner, at) for owner, at in self._places()]

    def get_args(self) -> list[ScopedValue]:
        """Its arguments, in order."""
        return [ScopedValue.from_ast(arg) for arg in self._arguments()]

    def get_kwargs(self) -> dict[str, ScopedValue]:
        """Its keyword arguments."""
        value = self._expression
        keywords = value.keywords if isinstance(value, ast.Call) else []
        return {keyword.arg: ScopedValue.from_ast(keyword.value) for keyword in keywords if keyword.arg}

    def get_targets(self) -> list[ScopedValue]:
        """The names of what it returns, in order."""
        statement = self._statement
        if isinstance(statement, ast.arg):
            return [ScopedValue.create_naming_value(statement.arg)]
        if isinstance(statement, (ast.AugAssign, ast.For)):
            targets = [statement.target]
        else:
            targets = getattr(statement, "targets", [])
        items = [i for t in targets for i in (t.elts if isinstance(t, (ast.Tuple, ast.List)) else [t])]
        return [ScopedValue.from_ast(item) for item in items]

    def set_arg(self, index: int, arg: ScopedValue | str) -> None:
        """Replace an argument.

        Args:
            index: which, from 0.
            arg: the new one; a str names a variable.

        Raises:
            TypeError: if an argument has the wrong type.
            ValueError: if the node has no such argument.
        """
        if isinstance(index, bool) or not isinstance(index, int):
            raise TypeError(complaint("index", "Node", "an int", type(index).__name__))
        places = self._places()
        if not 0 <= index < len(places):
            raise ValueError(complaint("index", "Node", f"in [0, {len(places)})", index))
        value = _scoped(arg, "arg").to_ast(self._keep)
        owner, at = places[index]
        if isinstance(at, int):
            owner[at] = value
        else:
            setattr(owner, at, value)

    def _keep(self, value: Any) -> str:
        if self._tree is not None:
            return self._tree._name_of(value, "object")
        self._objects.append(value)
        return f"object_{len(self._objects) - 1}"

    def set_arg_by_node(self, arg_idx: int, src_node: Node, out_idx: int | None = None) -> None:
        """Replace an argument by what another node returns.

        Args:
            arg_idx: which argument, from 0.
            src_node: the other node.
            out_idx: which of its outputs; None where it has one.

        Raises:
            TypeError: if an argument has the wrong type.
            ValueError: if there is no such argument or output.
        """
        if not isinstance(src_node, Node):
            raise TypeError(complaint("src_node", "Node", "a Node", type(src_node).__name__))
        if out_idx is not None and (isinstance(out_idx, bool) or not isinstance(out_idx, int)):
            raise TypeError(complaint("out_idx", "Node", "an int or None", type(out_idx).__name__))
        targets = src_node.get_targets()
        if out_idx is None and len(targets) != 1:
            raise ValueError(complaint("out_idx", "Node", f"an int, as {src_node._name} returns {len(targets)}", None))
        if not 0 <= (out_idx or 0) < len(targets):
            raise ValueError(complaint("out_idx", "Node", f"in [0, {len(targets)})", out_idx))
        self.set_arg(arg_idx, targets[out_idx or 0])

    # ---- neighbours
    def get_inputs(self) -> list[Node]:
        """The nodes whose results are its arguments, in the order of the arguments."""
        return [node for node, _ in self.get_arg_providers().values()]

    def get_arg_providers(self) -> dict[int, tuple[Node, int]]:
        """Per argument that another node computes: that node, and which of its results it is."""
        if self._tree is None:
            return {}
        nodes = self._tree._in_order()
        before = nodes[: next(i for i, node in enumerate(nodes) if node is self)]
        found = {}
        for i, arg in enumerate((*self.get_args(), *self.get_kwargs().values())):
            name = str(arg).split(".")[0]
            if arg.type is not ValueType.NamingValue:
                continue
            for node in reversed(before):
                names = [str(target) for target in node.get_targets()]
                if name in names:
                    found[i] = (node, names.index(name))
                    break
        return found

    def get_users(self) -> list[Node]:
        """The nodes that its results are arguments of, in their order."""
        if self._tree is None:
            return []
        return [node for node in self._tree._in_order() if any(n is self for n in node.get_inputs())]

    def get_target_users(self, index: int = -1) -> dict | list:
        """Who uses a result: a list of (node, which argument); for -1 a dict of these lists by result."""
        users: dict[int, list] = {i: [] for i in range(len(self.get_targets()))}
        for node in self._tree._in_order() if self._tree is not None else ():
            for i, (source, output) in node.get_arg_providers().items():
                if source is self:
                    users[output].append((node, i))
        return users if index == -1 else users[index]
