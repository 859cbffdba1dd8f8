"""SymbolTree: nodes of a construct, changes to them, and the networks that come out."""

import math

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import nn, ops
from dist_ms.rewrite import Node, NodeType, ScopedValue, SymbolTree


class Inner(nn.Cell):
    def __init__(self):
        super().__init__()
        self.relu, self.dense = nn.ReLU(), nn.Dense(4, 4)

    def construct(self, x, y=None):
        x = self.relu(x)
        return self.dense(x)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.inner, self.first, self.add = Inner(), nn.Dense(4, 4), ops.Add()
        self.listed = nn.SequentialCell(nn.ReLU(), nn.Dense(4, 4))
        self.flag = True
        self.__scale = 2.0

    def twice(self, a):
        return a * 2

    def construct(self, x, y, z=3):
        """Named operations, functions, methods, branches."""
        a = self.first(x)
        c = a + self.add(a, y) * z
        total = ops.relu(c).sum(axis=1, keepdims=True)
        left, right = ops.split(c, 2, 1)
        if self.flag:
            h = self.inner(c, y=a)
        else:
            h = c
        h = self.twice(h) * self.__scale
        for _ in range(2):
            h = self.listed(h)
        pair = (h, total)
        return pair[0] + ops.concat((left, right), axis=1), math.pi * total if z > 2 and total.sum() > -1 else total


class Chain(nn.Cell):
    def __init__(self):
        super().__init__()
        self.one, self.relu, self.two = nn.Dense(4, 4), nn.ReLU(), nn.Dense(4, 2)

    def construct(self, x):
        return self.two(self.relu(self.one(x)))


def same(a, b):
    for x, y in zip(a, b, strict=True):
        assert np.array_equal(x.asnumpy(), y.asnumpy())


def batch():
    return ms.Tensor(np.random.default_rng(0).random((3, 4)).astype(np.float32))


def named(tree, **options):
    return [node.get_name() for node in tree.nodes(**options)]


def test_an_unchanged_tree_gives_an_equal_network_of_a_subclass():
    net, x = Net(), batch()
    made = SymbolTree.create(net).get_network()
    assert isinstance(made, Net) and type(made).__name__ == "NetOpt" and made.first is net.first
    same(made(x, x), net(x, x))
    assert [p.name for p in made.trainable_params()] == [p.name for p in net.trainable_params()]
    again = SymbolTree.create(made).get_network()
    same(again(x, x, z=1), net(x, x, z=1))


def test_gradients_pass_through_the_new_network():
    net, x = Chain(), batch()
    made = SymbolTree.create(net).get_network()
    weights = net.trainable_params()
    assert all(a is b for a, b in zip(made.trainable_params(), weights))
    same(ms.grad(made, None, weights)(x), ms.grad(net, None, weights)(x))


def test_nested_calls_are_nodes_of_their_own():
    tree = SymbolTree.create(Chain())
    assert named(tree) == ["input_x", "one", "relu", "two", "return"]
    one, relu, two = (tree.get_node(name) for name in ("one", "relu", "two"))
    assert [str(n.get_args()) for n in (one, relu, two)] == ["[x]", "[one_var]", "[relu_var]"]
    assert str(two.get_targets()) == "[two_var]" and str(tree.get_node("return").get_args()) == "[two_var]"
    assert one.get_users() == [relu] and two.get_inputs() == [relu] and one.get_inputs() == tree.get_inputs()
    assert relu.get_arg_providers() == {0: (one, 0)} and one.get_target_users() == {0: [(relu, 0)]}
    assert one.get_node_type() is NodeType.CallCell and one.get_instance_type() is nn.Dense
    assert one.get_symbol_tree() is tree and one.get_sub_tree() is None and tree.get_node("none") is None


def test_kinds_of_nodes():
    tree = SymbolTree.create(Net())
    kinds = {node.get_name(): node.get_node_type() for node in tree.all_nodes(False)}
    assert kinds["add"] is NodeType.CallPrimitive and kinds["listed"] is NodeType.CellContainer
    assert kinds["if_node"] is kinds["for_node"] is NodeType.ControlFlow and kinds["inner"] is NodeType.Tree
    assert kinds["split"] is kinds["twice"] is kinds["sum"] is NodeType.CallFunction
    assert kinds["binop_mult"] is kinds["binop_add"] is NodeType.MathOps
    assert kinds["tuple"] is kinds["subscript_var"] is NodeType.CallMethod and kinds["relu"] is NodeType.CallFunction
    assert str(tree.get_node("sum").get_kwargs()) == "{'axis': 1, 'keepdims': True}"
    assert str(tree.get_node("split").get_args()) == "[c, 2, 1]"
    assert str(tree.get_node("split").get_targets()) == "[left, right]"
    assert tree.get_node("concat").get_kwargs()["axis"].value == 1
    assert "inner" not in named(tree) and "inner" in named(tree, all_nodes=True)
    assert [n.get_name() for n in tree.all_nodes(False)] == [n.get_name() for n in tree._in_order()]


def test_a_cell_is_inserted():
    net, x = Chain(), batch()
    tree = SymbolTree.create(net)
    new = Node.create_call_cell(nn.Tanh(), ["bent"], [ScopedValue.create_naming_value("one_var")], name="one")
    assert tree.insert(tree.after("one"), new) is new and new.get_name() == "one_1"
    tree.get_node("relu").set_arg_by_node(0, new)
    made = tree.get_network()
    same([made(x)], [net.two(net.relu(ops.tanh(net.one(x))))])
    assert not hasattr(net, "one_1") and isinstance(made.one_1, nn.Tanh)
    assert "self.one_1(one_var)" in tree.get_code()


def test_a_parameter_of_an_inserted_cell_trains():
    tree = SymbolTree.create(Chain())
    new = Node.create_call_cell(nn.Dense(2, 2), ["out"], [ScopedValue.create_naming_value("two_var")], name="last")
    tree.insert(tree.before("return"), new)
    tree.set_output(0, "out")
    names = [p.name for p in tree.get_network().trainable_params()]
    assert names == ["one.weight", "one.bias", "two.weight", "two.bias", "last.weight", "last.bias"]


def scaled(x, by, offset=None):
    return x * by + (offset["add"] if offset else 0)


def test_a_function_is_inserted_with_constants_and_objects():
    net, x = Chain(), batch()
    tree = SymbolTree.create(net)
    value = ScopedValue.create_variable_value
    args = [ScopedValue.create_naming_value("relu_var"), value(np.float32(3))]
    new = Node.create_call_function(scaled, ["y"], args, {"offset": value({"add": 5})})
    tree.replace(tree.get_node("two"), [new])
    tree.set_output(0, "y")
    same([tree.get_network()(x)], [net.relu(net.one(x)) * 3 + 5])
    lower = Node.create_call_function(ops.abs, ["y"], [ScopedValue.create_naming_value("y")])
    assert tree.insert(tree.after(new), lower).get_name() == "abs" and new.get_instance() is scaled
    same([tree.get_network()(x)], [net.relu(net.one(x)) * 3 + 5])


def test_nodes_are_replaced_and_erased():
    net, x = Chain(), batch()
    tree = SymbolTree.create(net)
    naming = ScopedValue.create_naming_value
    first = Node.create_call_cell(nn.Sigmoid(), ["s"], [naming("one_var")], name="gate")
    last = Node.create_call_cell(nn.Tanh(), ["relu_var"], [naming("s")], name="gate")
    assert tree.replace(tree.get_node("relu"), [first, last]) is last
    assert named(tree) == ["input_x", "one", "gate", "gate_1", "two", "return"]
    same([tree.get_network()(x)], [net.two(ops.tanh(ops.sigmoid(net.one(x))))])
    assert tree.erase("gate_1") is last
    tree.get_node("two").set_arg(0, "s")
    same([tree.get_network()(x)], [net.two(ops.sigmoid(net.one(x)))])
    assert last.get_symbol_tree() is None and last.get_users() == [] and first.get_users() == [tree.get_node("two")]


def test_an_input_is_inserted():
    net, x = Chain(), batch()
    tree = SymbolTree.create(net)
    tree.insert(tree.after("input_x"), Node.create_input("more", ScopedValue.create_variable_value(1.0)))
    naming = ScopedValue.create_naming_value
    tree.insert(tree.after("one"), Node.create_call_function(ops.mul, ["one_var"], [naming("one_var"), naming("more")]))
    made = tree.get_network()
    same([made(x)], [net(x)])
    same([made(x, 2.0)], [net.two(net.relu(net.one(x) * 2))])
    assert [n.get_name() for n in tree.get_inputs()] == ["input_x", "input_more"]


def test_a_sub_network_is_changed_too():
    net, x = Net(), batch()
    tree = SymbolTree.create(net)
    inner = tree.get_node("inner").get_sub_tree()
    assert isinstance(inner, SymbolTree) and tree.get_node("inner").get_sub_tree() is inner
    inner.erase("relu")
    made = tree.get_network()
    assert type(made.inner).__name__ == "InnerOpt" and isinstance(net.inner, Inner) and type(net.inner) is Inner
    same([made.inner(x)], [net.inner.dense(x)])
    assert "class InnerOpt(Inner, nn.Cell)" in tree.get_code()


def test_branches_that_the_network_decides_are_flattened():
    net, x = Net(), batch()
    tree = SymbolTree.create(net)
    tree.flatten_static_if_control_flow()
    assert "if_node" not in named(tree) and "inner" in named(tree) and "name_assign" not in named(tree)
    same(tree.get_network()(x, x), net(x, x))


def test_operands_that_may_not_be_evaluated_stay():
    code = SymbolTree.create(Net()).get_code()
    assert "if z > 2 and total.sum() > -1 else total" in code


def test_the_source_is_written_and_runs_alone(tmp_path):
    tree = SymbolTree.create(Chain())
    with pytest.raises(RuntimeError, match="set_saved_file_name"):
        tree.save_network_to_file()
    tree.set_saved_file_name(str(tmp_path / "chain"))
    tree.save_network_to_file()
    assert tree.get_saved_file_name() == str(tmp_path / "chain.py")
    names = {}
    exec((tmp_path / "chain.py").read_text(), names)
    net, x = tree.get_origin_network(), batch()
    same([names["ChainOpt"](net, {})(x)], [net(x)])


def test_a_class_of_a_function_is_rewritten():
    factor = 3.0

    class Local(nn.Cell):
        def construct(self, x):
            return x * factor

    made = SymbolTree.create(Local()).get_network()
    same([made(batch())], [batch() * 3.0])


def test_super_is_the_class_that_was_meant():
    class Base(nn.Cell):
        def construct(self, x):
            return x + 1

    class Above(Base):
        def construct(self, x):
            return super().construct(x) * 2

    same([SymbolTree.create(Above()).get_network()(batch())], [(batch() + 1) * 2])


def test_values():
    assert ScopedValue.create_name_values(["a", "b"]) == [ScopedValue.create_naming_value(n) for n in "ab"]
    assert str(ScopedValue.create_variable_value(("a", [1, None]))) == "(a, [1, None])"
    assert str(Node.create_call_cell(nn.ReLU(), ["self.y"]).get_targets()) == "[self.y]"
    assert ScopedValue.create_naming_value("a") != ScopedValue.create_variable_value("a")
    node = Node.create_call_cell(nn.ReLU(), ["y"])
    node.set_attribute("key", 1)
    assert node.get_attribute("key") == 1 and node.get_attributes() == {"key": 1} and node.get_inputs() == []


def test_a_table_needs_its_package(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "tabulate", None)
    with pytest.warns(UserWarning, match="pip install tabulate"):
        SymbolTree.create(Chain()).print_node_tabulate()


@pytest.mark.parametrize(
    "call, error, text",
    [
        (lambda t: SymbolTree.create(3), TypeError, "'network' must be a Cell"),
        (lambda t: t.get_node(3), TypeError, "'node_name' must be a str"),
        (lambda t: t.nodes(1), TypeError, "'all_nodes' must be a bool"),
        (lambda t: t.after("zzz"), RuntimeError, "a node of this tree, but got zzz"),
        (lambda t: t.before(3), TypeError, "'node' must be a Node or a str"),
        (lambda t: t.erase("input_x"), ValueError, "must be a statement"),
        (lambda t: t.insert(3, None), TypeError, "'position' must be from"),
        (lambda t: t.insert(t.after("one"), t.get_node("two")), RuntimeError, "two is in a tree already"),
        (lambda t: t.insert(t.after("one"), Node.create_input("z")), ValueError, "beside an input"),
        (lambda t: t.insert(t.after("input_x"), Node.create_input("x")), ValueError, "x is taken"),
        (lambda t: t.replace("one", []), TypeError, "'old_node' must be a Node"),
        (lambda t: t.replace(t.get_node("one"), []), TypeError, "'new_nodes' must be a list of Nodes"),
        (lambda t: t.get_node("one").set_arg(1, "x"), ValueError, r"'index' must be in \[0, 1\), but got 1"),
        (lambda t: t.get_node("one").set_arg("0", "x"), TypeError, "'index' must be an int"),
        (lambda t: t.get_node("one").set_arg(0, 3), TypeError, "'arg' must be a ScopedValue or a str"),
        (lambda t: t.get_node("two").set_arg_by_node(0, t.get_node("one"), 2), ValueError, "'out_idx'"),
        (lambda t: Node.create_call_cell(3, ["x"]), TypeError, "'cell' must be a Cell or a Primitive"),
        (lambda t: Node.create_call_cell(nn.ReLU(), "x"), TypeError, "'targets' must be a list"),
        (lambda t: Node.create_call_function(nn.ReLU(), ["x"]), TypeError, "'function' must be a function"),
        (lambda t: ScopedValue.create_naming_value(2), TypeError, "'name' must be a str"),
        (lambda t: ScopedValue.create_name_values(["a"], []), ValueError, "one entry for each name"),
    ],
)
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call(SymbolTree.create(Chain()))
