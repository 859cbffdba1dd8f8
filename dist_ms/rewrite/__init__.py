"""Change a network's `construct` as a list of named nodes: look, insert, replace, erase, get a new network.

`SymbolTree.create(net)` reads the source of `net.construct` and splits nested calls, so that each
statement is one node with one operation; `get_network()` compiles what the tree has become.
"""

from dist_ms.rewrite.api.node import Node
from dist_ms.rewrite.api.node_type import NodeType
from dist_ms.rewrite.api.scoped_value import ScopedValue, ValueType
from dist_ms.rewrite.api.symbol_tree import SymbolTree

__all__ = ["Node", "NodeType", "ScopedValue", "SymbolTree", "ValueType"]
