"""Files that are none of MINDIR, damaged, or hold what does not run here."""

import contextlib
import random

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import nn, ops
from dist_ms.mindir.graph import Graph
from dist_ms.mindir.messages import ATTRIBUTE, message
from dist_ms.mindir.values import attribute
from tests.serial.mindir.networks import built, networks, values

FLOAT = np.dtype(np.float32)


def made(folder, fill, outputs=None):
    """A file whose graph has one input `x`; `fill(graph)` gives the name of its result."""
    graph = Graph("net")
    graph.ends("input", "net:x", (2, 3), FLOAT)
    name = fill(graph)
    graph.ends("output", outputs or name, (2, 3), FLOAT)
    path = folder / "net.mindir"
    path.write_bytes(graph.model.SerializeToString())
    return path, graph.model


def rewritten(path, model):
    path.write_bytes(model.SerializeToString())
    return str(path)


@pytest.mark.parametrize(
    "kind", ["NoSuchOperation", "PyExecute", "TensorDump", "Assign", "AllReduce", "Print", "Custom"]
)
def test_operations_that_are_not_available(kind, tmp_path):
    path, _ = made(tmp_path, lambda g: g.primitive(kind, "net:x"))
    with pytest.raises(NotImplementedError, match=f"net.mindir cannot be run: it has the operation {kind}, which is"):
        ms.load(str(path))


def test_graphs_that_call_graphs(tmp_path):
    path, model = made(tmp_path, lambda g: g.function("ReLU", "net:x"))
    model.functions.add(name="other")
    with pytest.raises(NotImplementedError, match="1 graphs that others call"):
        ms.load(rewritten(path, model))


@pytest.mark.parametrize(
    "change, text",
    [
        (lambda m: m.graph.node[-1].input.__setitem__(0, "y"), "reads 'y', which no node before it gives"),
        (lambda m: m.ClearField("primitives"), "the primitive 'ReLU:0', which is missing"),
        (lambda m: m.ClearField("graph"), "it holds no graph"),
        (lambda m: m.graph.ClearField("output"), "does not say what it returns"),
        (lambda m: setattr(m, "little_endian", False), "big-endian"),
        (lambda m: m.graph.node[-1].output.append("z"), "2 results"),
        (lambda m: m.graph.parameter.add(name="net:w", dims=[3], data_type=1), "0 bytes for the shape"),
        (lambda m: m.graph.parameter.add(name="net:w", dims=[-3], data_type=1), "the shape"),
        (lambda m: m.graph.parameter.add(name="net:w", dims=[1], data_type=99), "unknown type 99"),
        (lambda m: setattr(m.graph.parameter.add(name="net:w").external_data, "location", "w"), "a file of their own"),
        (lambda m: setattr(m.graph.input[0].tensor[0], "data_type", 77), "unknown type 77"),
    ],
)
def test_incomplete_files(change, text, tmp_path):
    path, model = made(tmp_path, lambda g: g.function("ReLU", "net:x"))
    change(model)
    with pytest.raises(RuntimeError, match=f"must be a whole file of MINDIR, but .*{text}"):
        ms.load(rewritten(path, model))


def test_settings_of_an_operation(tmp_path):
    path, _ = made(tmp_path, lambda g: g.primitive("MaxPool", "net:x", kernel_size=-1))
    with pytest.raises(RuntimeError, match="its operation MaxPool cannot be made: .*kernel_size"):
        ms.load(str(path))


def test_a_setting_that_is_computed(tmp_path):
    path, _ = made(tmp_path, lambda g: g.function("MatMul", "net:x", "net:x", False, "net:x"))
    with pytest.raises(RuntimeError, match="settings transpose_a, transpose_b of MatMul must be constants"):
        ms.load(str(path))


def test_values_of_unknown_kinds(tmp_path):
    def fill(g):
        name = g.function("Reshape", "net:x", (3, 2))
        g.model.graph.node[0].attribute[0].type = 40
        return name

    path, _ = made(tmp_path, fill)
    with pytest.raises(RuntimeError, match="a value of the unknown kind 40"):
        ms.load(str(path))


def test_attributes_at_the_node(tmp_path):
    """So MindSpore wrote them before primitives had a table of their own."""

    def fill(g):
        name = g.primitive("ReduceSum", "net:x", (0,))
        node = g.model.graph.node[-1]
        node.op_type = "ReduceSum"
        node.attribute.append(attribute(True, "keep_dims"))
        return name

    net = nn.GraphCell(ms.load(str(made(tmp_path, fill)[0])))
    np.testing.assert_array_equal(net(ops.ones((2, 3))).asnumpy(), [[2, 2, 2]])


def test_the_order_of_nodes_is_no_input(tmp_path):
    """MindSpore reads parameters by nodes that wait for others."""

    def fill(g):
        g.parameter("w", np.ones((2, 3), np.float32))
        order = message("Attribute", name="value", type=ATTRIBUTE["memory"])
        g.model.graph.node.add(output=["u"], name="u", op_type="Constant").attribute.append(order)
        read = g.primitive("Load", "net:w", "u")
        out = g.function("Add", "net:x", read, "u")
        return g.primitive("Depend", out, g.primitive("UpdateState", "u", read))

    net = nn.GraphCell(ms.load(str(made(tmp_path, fill)[0])))
    np.testing.assert_array_equal(net(ops.ones((2, 3))).asnumpy(), np.full((2, 3), 2, np.float32))


def test_an_error_while_it_runs_names_the_node(tmp_path):
    path, _ = made(tmp_path, lambda g: g.function("Reshape", "net:x", (5, 5)))
    with pytest.raises(ValueError) as caught:
        nn.GraphCell(ms.load(str(path)))(ops.ones((2, 3)))
    assert caught.value.__notes__[0].startswith("In the graph's operation Reshape (net:CNode_")


@pytest.mark.parametrize(
    "name, options, text",
    [
        ("net", {}, "ends in '.mindir'"),
        (1, {}, "ends in '.mindir'"),
        ("missing.mindir", {}, "there is none at missing.mindir"),
        ("net.mindir", {"key": 1}, "must be among .* but got 'key'"),
    ],
)
def test_arguments(name, options, text):
    with pytest.raises(ValueError, match=text):
        ms.load(name, **options)
    with pytest.raises(NotImplementedError, match="obf_func"):
        ms.load(name, obf_func=len)


def test_arguments_of_messages(tmp_path):
    damaged = tmp_path / "net.mindir"
    damaged.write_bytes(b"\xff" * 9)
    for name, text in (
        ("missing.mindir", "must be the name of a file"),
        (str(damaged), "must be a file of MINDIR, but"),
    ):
        with pytest.raises(ValueError, match=text):
            ms.load_mindir(name)
    with pytest.raises(TypeError, match="must be what `load_mindir` returned, but got int"):
        ms.save_mindir(1, "x")
    with pytest.raises(ValueError, match="'file_name' must be the name"):
        ms.save_mindir(message("Model"), "")


@pytest.mark.parametrize("content", [b"", b"\xff" * 50, b"text that is no file of MINDIR", b"\x00" * 100])
def test_what_is_no_file_of_mindir(content, tmp_path):
    path = tmp_path / "net.mindir"
    path.write_bytes(content)
    with pytest.raises(RuntimeError, match="must be a whole file of MINDIR, but"):
        ms.load(str(path))


@pytest.mark.filterwarnings("ignore")  # numbers that are infinite now
def test_damaged_files_raise_errors(tmp_path):
    """A thousand files with bytes cut off or changed: they run, or raise an error."""
    name = "LeNet"
    make, form = networks(ms)[name]
    x, path = ms.Tensor(values(form)), tmp_path / "net.mindir"
    ms.export(built(ms, make), x, file_name=str(path), file_format="MINDIR")
    whole, draws, ran = path.read_bytes(), random.Random(1), 0
    path.chmod(0o600)
    for i in range(1000):
        content = bytearray(whole)
        if i % 4 == 0:
            del content[draws.randrange(len(content)) :]
        else:
            # Most bytes are weights: half of the changes go where the nodes are.
            end = 2000 if i % 2 else len(content)
            for _ in range(draws.randint(1, 4)):
                content[draws.randrange(end)] = draws.randrange(256)
        path.write_bytes(content)
        try:
            net = nn.GraphCell(ms.load(str(path)))
        except (RuntimeError, NotImplementedError):
            continue
        with contextlib.suppress(Exception):
            net(x)
            ran += 1
    assert 100 < ran < 800
