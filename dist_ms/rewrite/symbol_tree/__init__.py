"""Build trees of a network's statements, show them, and name places in them."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from dist_ms.common.checks import check_type
from dist_ms.nn.cell import Cell
from dist_ms.rewrite.api.symbol_tree import Position, SymbolTree

__all__ = ["Position", "SymbolTree", "SymbolTreeBuilder", "SymbolTreeDumper"]


class SymbolTreeBuilder:
    """Builds the tree of a network.

    Args:
        network: the network.

    Raises:
        ValueError: if it is no Cell.
    """

    def __init__(self, network: Cell) -> None:
        if not isinstance(network, Cell):
            raise ValueError(f"For 'SymbolTreeBuilder', 'network' must be a Cell, but got {type(network).__name__}.")
        self._network = network

    def build(self) -> SymbolTree:
        """Return the tree."""
        return SymbolTree.create(self._network)


class SymbolTreeDumper:
    """Shows a tree: each node with its statement, and the source that they make.

    Args:
        symbol_tree: the tree.
    """

    def __init__(self, symbol_tree: SymbolTree) -> None:
        self._symbol_tree = check_type(symbol_tree, "symbol_tree", "SymbolTreeDumper", SymbolTree)

    def dump(self, write: Callable[[str], Any] = print) -> None:
        """Write what there is, a line at a time.

        Args:
            write: takes a line.
        """
        for node in self._symbol_tree.nodes():
            write(f"{node.get_name()}: {node.get_node_type().name}")
        for line in ast.unparse(ast.parse(self._symbol_tree.get_code())).splitlines():
            write(line)
