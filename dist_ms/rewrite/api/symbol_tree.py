"""SymbolTree: a network's `construct` as nodes, and the network made of what they have become."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

from dist_ms.common.checks import check_bool, check_string, check_type, complaint
from dist_ms.nn import Cell
from dist_ms.ops import Primitive
from dist_ms.rewrite import construct_source, flattening, generating
from dist_ms.rewrite.api.node import Node
from dist_ms.rewrite.api.node_type import NodeType

__all__ = ["SymbolTree"]


class Position(NamedTuple):
    """A place in a tree, beside a node."""

    symbol_tree: SymbolTree
    node: Node
    before_node: bool

    @classmethod
    def create(cls, symbol_tree: SymbolTree | None, node: Node | None, before_node: bool) -> Position | None:
        """Return the place, or None without a tree or a node.

        Args:
            symbol_tree: the tree.
            node: the node.
            before_node: before it, not behind it.
        """
        return None if symbol_tree is None or node is None else cls(symbol_tree, node, before_node)


class SymbolTree:
    """The nodes of a network's `construct`, which can be looked at and changed.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.rewrite import Node, SymbolTree
        >>> tree = SymbolTree.create(ms.nn.ReduceLogSumExp(1))
        >>> print([node.get_name() for node in tree.nodes()])
        ['input_x', 'logsumexp', 'return']
        >>> last = tree.get_node("logsumexp")
        >>> abs_ = Node.create_call_function(ms.ops.abs, ["y"], last.get_targets())
        >>> node = tree.insert(tree.after(last), abs_)
        >>> node = tree.set_output(0, "y")
        >>> print(tree.get_network()(ms.ops.ones((1, 2)) * -3))
        [2.3068528]
    """

    def __init__(self, network: Cell) -> None:
        check_type(network, "network", "SymbolTree", Cell)
        self._network = network
        self._function, self._seen = construct_source.read(network)
        self._names = construct_source.names_of(self._function)
        self._cells: dict[str, Any] = {}
        self._values: dict[str, Any] = {}
        self._file_name = ""
        flattening.flatten(self._function.body, self._new_variable)
        arguments = self._function.args
        listed = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
        self._inputs = [self._adopt(Node(NodeType.Input, f"input_{a.arg}", a)) for a in listed[1:]]
        self._nodes: dict[int, Node] = {}
        self._read(self._function.body)

    @classmethod
    def create(cls, network: Cell) -> SymbolTree:
        """Read a network.

        Args:
            network: the Cell; it stays as it is.

        Raises:
            TypeError: if it is no Cell.
            RuntimeError: if the source of its `construct` is not to be had.
        """
        return cls(network)

    # ---- reading
    def _new_variable(self, word: str) -> str:
        name = generating.unique(word, self._names)
        self._names.add(name)
        return name

    def _adopt(self, node: Node) -> Node:
        """Make a node one of this tree's, with a name no other has."""
        taken = {other._name for other in (*self._inputs, *self._nodes.values())} if hasattr(self, "_nodes") else set()
        node._name = generating.unique(node._name, taken)
        node._tree = self
        return node

    def _read(self, block: list[ast.stmt]) -> None:
        """Make the nodes of a block's statements, and of the blocks in it."""
        for statement in block:
            node = self._adopt(self._node_of(statement))
            node._block = block
            self._nodes[id(statement)] = node
            for field in flattening.BLOCKS:
                self._read(getattr(statement, field, []))

    def _node_of(self, statement: ast.stmt) -> Node:
        value = getattr(statement, "value", None)
        if isinstance(statement, ast.Return):
            return Node(NodeType.Output, "return", statement)
        if isinstance(statement, (ast.If, ast.For, ast.While, ast.With, ast.Try)):
            return Node(NodeType.ControlFlow, f"{type(statement).__name__.lower()}_node", statement)
        if not isinstance(statement, (ast.Assign, ast.Expr)):
            return Node(NodeType.Python, type(statement).__name__, statement)
        if isinstance(value, ast.Call):
            return self._call_node(statement, value.func)
        word = flattening.operator_name(value)
        if word:
            prefix = {ast.BinOp: "binop_", ast.UnaryOp: "unaryop_", ast.BoolOp: "boolop_"}.get(type(value))
            word = prefix + word if prefix else f"compare_{type(value.ops[0]).__name__.lower()}"
            return Node(NodeType.MathOps, word, statement)
        if isinstance(statement, ast.Expr):
            return Node(NodeType.Python, "Expr", statement)
        words = {ast.Name: "name_assign", ast.Attribute: "attribute_assign", ast.Subscript: "subscript_var"}
        words.update({ast.Tuple: "tuple", ast.List: "list", ast.Dict: "dict", ast.Constant: "constant_assign"})
        word = words.get(type(value))
        return Node(NodeType.CallMethod, word, statement) if word else Node(NodeType.Python, "Assign", statement)

    def _call_node(self, statement: ast.stmt, function: ast.expr) -> Node:
        called = construct_source.meaning(function, self._seen, self._network)
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "function")
        if isinstance(called, Primitive):
            kind = NodeType.CallPrimitive
        elif isinstance(called, Cell):
            framework = type(called).__module__.split(".")[0] == Cell.__module__.split(".")[0]
            container = framework and type(called).__module__.endswith("container")
            kind = NodeType.CellContainer if container else NodeType.CallCell if framework else NodeType.Tree
        else:
            kind = NodeType.CallFunction
        return Node(kind, name, statement, called)

    # ---- looking
    def _in_order(self) -> list[Node]:
        """Inputs and statements in the order of the source, those of inner blocks too."""
        found = list(self._inputs)

        def walk(block: list[ast.stmt]) -> None:
            for statement in block:
                found.append(self._nodes[id(statement)])
                for field in flattening.BLOCKS:
                    walk(getattr(statement, field, []))

        walk(self._function.body)
        return found

    def nodes(self, all_nodes: bool = False) -> Iterator[Node]:
        """Go over the inputs and the statements of `construct`.

        Args:
            all_nodes: also those inside control flow and inside the trees of sub-networks.

        Raises:
            TypeError: if `all_nodes` is no bool.
        """
        check_bool(all_nodes, "all_nodes", "SymbolTree")
        return self._listed(all_nodes)

    def _listed(self, all_nodes: bool) -> Iterator[Node]:
        for node in self._in_order():
            if all_nodes or node._block in (None, self._function.body):
                yield node
        for node in self._in_order() if all_nodes else ():
            sub = node.get_sub_tree()
            if sub is not None:
                yield from sub.nodes(True)

    def all_nodes(self, subtree_nodes: bool = True) -> Iterator[Node]:
        """Go over all nodes, also inside control flow and, by default, of the trees of sub-networks."""
        return self._listed(True) if subtree_nodes else iter(self._in_order())

    def get_node(self, node_name: str) -> Node | None:
        """Return the node of a name, or None.

        Raises:
            TypeError: if the name is no str.
        """
        check_string(node_name, "node_name", "SymbolTree")
        return next((node for node in self._in_order() if node._name == node_name), None)

    def get_inputs(self) -> list[Node]:
        """The nodes of the parameters of `construct`."""
        return list(self._inputs)

    def get_origin_network(self) -> Cell:
        """The network the tree was made of."""
        return self._network

    def unique_name(self, name: str = "output") -> str:
        """Return the name, with a number after it where a variable of the tree has it."""
        return generating.unique(name, self._names)

    def print_node_tabulate(self, all_nodes: bool = False) -> None:
        """Print the nodes as a table; the package `tabulate` draws it. Without it there is a warning only."""
        try:
            from tabulate import tabulate
        except ImportError:
            warnings.warn("print_node_tabulate needs the package 'tabulate': pip install tabulate", stacklevel=2)
            return
        rows = [
            [n.get_node_type(), n.get_name(), n.get_targets(), n.get_args(), n.get_kwargs(), n.get_inputs()]
            for n in self.nodes(all_nodes)
        ]
        print(tabulate(rows, headers=["node type", "name", "targets", "args", "kwargs", "inputs"]))

    # ---- changing
    def _own(self, node: Node | str, name: str = "node") -> Node:
        if isinstance(node, str):
            found = self.get_node(node)
        elif isinstance(node, Node):
            found = node if node._tree is self else None
        else:
            raise TypeError(complaint(name, "SymbolTree", "a Node or a str", type(node).__name__))
        if found is None:
            text = node if isinstance(node, str) else node._name
            raise RuntimeError(f"For 'SymbolTree', '{name}' must be a node of this tree, but got {text}.")
        return found

    def before(self, node: Node | str) -> Position:
        """The place right before a node, for `insert`."""
        return Position(self, self._own(node), True)

    def after(self, node: Node | str) -> Position:
        """The place right after a node, for `insert`."""
        return Position(self, self._own(node), False)

    def _name_of(self, value: Any, word: str) -> str:
        """The name under which the new network's code sees an object."""
        for name, other in self._values.items():
            if other is value:
                return name
        if self._seen.get(word) is value and word in self._names:
            return word
        name = generating.unique(word, self._names)
        self._names.add(name)
        self._values[name] = value
        return name

    def insert(self, position: Position, node: Node) -> Node:
        """Insert a node.

        Args:
            position: from `before` or `after`.
            node: a new one, from `Node.create_call_cell`, `create_call_function` or `create_input`.

        Returns:
            The node. Its name, and the attribute a cell gets, are unique now.

        Raises:
            TypeError: if an argument has the wrong type.
            RuntimeError: if the position belongs to another tree, or the node to any.
            ValueError: if an input is put beside a statement, or a statement beside an input.
        """
        if not isinstance(position, Position):
            raise TypeError(complaint("position", "SymbolTree", "from before() or after()", type(position).__name__))
        if not isinstance(node, Node):
            raise TypeError(complaint("node", "SymbolTree", "a Node", type(node).__name__))
        if position.symbol_tree is not self:
            raise RuntimeError("For 'SymbolTree', 'position' must be of this tree, but got one of another tree.")
        if node._tree is not None:
            raise RuntimeError(f"For 'SymbolTree', 'node' must be new, but {node._name} is in a tree already.")
        if node._kind is NodeType.Input:
            return self._insert_input(position, node)
        if position.node._kind is NodeType.Input:
            position = Position(self, self._nodes[id(self._function.body[0])], True)
        if node._kind is not NodeType.CallFunction:
            word = node._name or type(node._instance).__name__
            node._name = word
            while hasattr(self._network, node._name) or node._name in self._cells:
                node._name = generating.unique(word, {*self._cells, *dir(self._network)})
            self._adopt(node)
            self._cells[node._name] = node._instance
            function = ast.Attribute(ast.Name("self", ast.Load()), node._name, ast.Load())
        else:
            self._adopt(node)
            function = ast.Name(self._name_of(node._instance, node._name), ast.Load())
        node._statement.value.func = function
        renamed = {f"object_{i}": self._name_of(value, "object") for i, value in enumerate(node._objects)}
        for name in ast.walk(node._statement):
            if isinstance(name, ast.Name) and name.id in renamed:
                name.id = renamed[name.id]
        self._names |= construct_source.names_of(node._statement)
        block = position.node._block
        at = next(i for i, s in enumerate(block) if s is position.node._statement)
        block.insert(at + (not position.before_node), node._statement)
        node._block = block
        self._nodes[id(node._statement)] = node
        return node

    def _insert_input(self, position: Position, node: Node) -> Node:
        if position.node._kind is not NodeType.Input:
            raise ValueError("For 'SymbolTree', an input must be inserted beside an input, but got another place.")
        arguments, arg = self._function.args, node._statement
        if arg.arg in self._names:
            raise ValueError(f"For 'SymbolTree', 'param_name' must be a new name, but {arg.arg} is taken.")
        at = next((i for i, other in enumerate(arguments.args) if other is position.node._statement), None)
        if at is None:
            raise ValueError("For 'SymbolTree', an input must be inserted beside a positional one.")
        self._adopt(node)
        at += not position.before_node
        # Parameters that come after one with a default need one too.
        default = node._attributes["default"].to_ast(lambda value: self._name_of(value, "object"))
        after = len(arguments.args) - at
        while len(arguments.defaults) < after:
            arguments.defaults.insert(0, ast.Constant(None))
        arguments.args.insert(at, arg)
        arguments.defaults.insert(len(arguments.defaults) - after, default)
        self._inputs.insert(self._inputs.index(position.node) + (not position.before_node), node)
        self._names.add(arg.arg)
        return node

    def erase(self, node: Node | str) -> Node:
        """Take a statement out. What it computed must not be needed any more: see `Node.set_arg`.

        Returns:
            The node, which can be inserted nowhere else.

        Raises:
            TypeError: if `node` is no Node and no str.
            RuntimeError: if it is not in the tree.
            ValueError: if it is an input.
        """
        node = self._own(node)
        if node._kind is NodeType.Input:
            raise ValueError(f"For 'SymbolTree', 'node' must be a statement, but got the input {node._name}.")
        at = next(i for i, s in enumerate(node._block) if s is node._statement)
        del node._block[at]
        if not node._block:
            node._block.append(ast.Pass())
            self._read(node._block)
        del self._nodes[id(node._statement)]
        node._block = node._tree = None
        return node

    def replace(self, old_node: Node, new_nodes: list[Node]) -> Node:
        """Put new nodes in the place of one.

        Args:
            old_node: a statement of the tree.
            new_nodes: new nodes, in order.

        Returns:
            The last of them.

        Raises:
            TypeError: if an argument has the wrong type.
            RuntimeError: if `old_node` is not in the tree.
        """
        if not isinstance(old_node, Node):
            raise TypeError(complaint("old_node", "SymbolTree", "a Node", type(old_node).__name__))
        if not isinstance(new_nodes, list) or not new_nodes or not all(isinstance(n, Node) for n in new_nodes):
            raise TypeError(complaint("new_nodes", "SymbolTree", "a list of Nodes", new_nodes))
        last = self._own(old_node, "old_node")
        for node in new_nodes:
            last = self.insert(self.after(last), node)
        self.erase(old_node)
        return last

    def set_output(self, index: int, return_value: str) -> Node:
        """Return another variable from `construct`.

        Args:
            index: which of the returned values, from 0.
            return_value: the variable.

        Returns:
            The node of the return statement.
        """
        node = [n for n in self._in_order() if n._kind is NodeType.Output][-1]
        node.set_arg(index, return_value)
        return node

    def flatten_static_if_control_flow(self) -> None:
        """Put the branch that the network's attributes choose in the place of each `if` that depends on them alone."""
        changed = True
        while changed:
            changed = False
            for node in self._in_order():
                statement = node._statement
                if not isinstance(statement, ast.If):
                    continue
                names = construct_source.names_of(statement.test) - {self._function.args.args[0].arg}
                if names & {str(target) for other in self._in_order() for target in other.get_targets()}:
                    continue
                chosen = construct_source.meaning(statement.test, self._seen, self._network)
                if chosen is None and not (isinstance(statement.test, ast.Attribute)):
                    continue
                branch = statement.body if chosen else statement.orelse
                block, at = node._block, next(i for i, s in enumerate(node._block) if s is statement)
                block[at : at + 1] = branch
                for inner in self._nodes.values():
                    if inner._block is branch:
                        inner._block = block
                changed = True
                break

    # ---- writing
    def get_code(self) -> str:
        """Return the source of the new network, and of the sub-networks whose trees were asked for."""
        return generating.code(self)

    def get_network(self) -> Cell:
        """Make the new network. It shares cells and parameters with the old one.

        Returns:
            A Cell of a new class, under the old network's class.
        """
        return generating.network(self)

    def set_saved_file_name(self, file_name: str) -> None:
        """Say where `save_network_to_file` writes.

        Raises:
            TypeError: if it is no str.
        """
        check_string(file_name, "file_name", "SymbolTree")
        self._file_name = file_name if file_name.endswith(".py") else file_name + ".py"

    def get_saved_file_name(self) -> str:
        """Where `save_network_to_file` writes."""
        return self._file_name

    def save_network_to_file(self) -> None:
        """Write what `get_code` returns to the file of `set_saved_file_name`.

        Raises:
            RuntimeError: if that was not called.
        """
        if not self._file_name:
            raise RuntimeError("For 'SymbolTree', no file is named: call set_saved_file_name first.")
        with open(self._file_name, "w", encoding="utf-8") as file:
            file.write(self.get_code())


Node.make_tree = staticmethod(SymbolTree.create)
