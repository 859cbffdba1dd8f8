"""Trees built, shown, and places in them."""

import importlib

import pytest

import dist_ms.compat
from dist_ms import nn
from dist_ms.rewrite import SymbolTree
from dist_ms.rewrite.symbol_tree import Position, SymbolTreeBuilder, SymbolTreeDumper


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.relu = nn.ReLU()

    def construct(self, x):
        return self.relu(x)


def test_a_tree_is_built_and_shown():
    tree = SymbolTreeBuilder(Net()).build()
    assert type(tree) is SymbolTree
    lines = []
    SymbolTreeDumper(tree).dump(lines.append)
    names = [node.get_name() for node in tree.nodes()]
    assert [line.partition(":")[0] for line in lines[: len(names)]] == names
    assert any("self.relu(x)" in line for line in lines[len(names) :])
    with pytest.raises(ValueError, match="'network' must be a Cell, but got int"):
        SymbolTreeBuilder(3)


def test_places():
    tree = SymbolTreeBuilder(Net()).build()
    node = next(iter(tree.nodes()))
    place = Position.create(tree, node, False)
    assert (place.symbol_tree, place.node, place.before_node) == (tree, node, False)
    assert Position.create(None, node, True) is Position.create(tree, None, True) is None
    assert tree.before(node) == Position(tree, node, True) and tree.after(node) == place


def test_mindspores_path():
    dist_ms.compat.install()
    assert importlib.import_module("mindspore.rewrite.symbol_tree").SymbolTreeBuilder is SymbolTreeBuilder
