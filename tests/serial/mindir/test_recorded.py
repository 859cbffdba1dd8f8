"""Files that MindSpore 2.10 wrote run here as they ran there (tests/parity/mindir_files.py records them)."""

import io
import zipfile
from pathlib import Path

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import nn
from tests.serial.mindir.networks import flat, networks, values

ARCHIVE = zipfile.ZipFile(Path(__file__).parent / "recorded.zip")
KEY = b"0123456789abcdef"
SEALED = ("AES-GCM", "AES-CBC", "SM4-CBC")
NAMES = [name for name in networks(ms) if f"{name}.mindir" in ARCHIVE.namelist()]


def recorded(name, folder):
    """The path of a file, and the outputs MindSpore had."""
    held = np.load(io.BytesIO(ARCHIVE.read(f"{name}.npz")))
    return ARCHIVE.extract(f"{name}.mindir", folder), [held[k] for k in held.files]


def inputs(name):
    return [ms.Tensor(values(form)) for form in networks(ms)[name][1:]]


def check(graph, given, wanted):
    found = [t.asnumpy() for t in flat(nn.GraphCell(graph)(*given))]
    assert len(found) == len(wanted)
    for a, b in zip(found, wanted):
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)


def test_there_are_files():
    assert len(NAMES) > 30


@pytest.mark.parametrize("name", NAMES)
def test_a_network(name, tmp_path):
    path, wanted = recorded(name, tmp_path)
    check(ms.load(path), inputs(name), wanted)


@pytest.mark.parametrize("mode", SEALED)
def test_an_encrypted_file(mode, tmp_path):
    path, wanted = recorded(mode, tmp_path)
    check(ms.load(path, dec_key=KEY, dec_mode=mode), inputs("relu"), wanted)
    with pytest.raises(RuntimeError, match=f"is encrypted with {mode}: give 'dec_key'"):
        ms.load(path)


def test_a_network_is_trained_further(tmp_path):
    path, _ = recorded("LeNet", tmp_path)
    net, given = nn.GraphCell(ms.load(path)), inputs("LeNet")[0]
    assert [p.name for p in net.trainable_params()][:3] == ["conv1.weight", "conv2.weight", "fc1.weight"]
    labels = ms.Tensor([1, 3], ms.int32)
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.CrossEntropyLoss()), nn.Adam(net.trainable_params(), 1e-2))
    before = [p.asnumpy().copy() for p in net.trainable_params()]
    losses = [float(step(given, labels)) for _ in range(10)]
    assert losses[-1] < 0.5 * losses[0]
    assert all((p.asnumpy() != b).any() for p, b in zip(net.trainable_params(), before))


def test_values_take_the_place_of_the_files(tmp_path):
    path, wanted = recorded("LeNet", tmp_path)
    graph, given = ms.load(path), inputs("LeNet")[0]
    zeros = {"fc2.weight": ms.ops.zeros((5, 12)), "not there": ms.Tensor(1.0)}
    net = nn.GraphCell(graph, zeros)
    np.testing.assert_array_equal(net(given).asnumpy(), np.broadcast_to(net.parameters_dict()["fc2.bias"], (2, 5)))
    check(graph, [given], wanted)  # the graph and its other cells keep theirs


@pytest.mark.parametrize(
    "options, error, text",
    [
        ({"graph": nn.ReLU()}, TypeError, "'graph' must be what `load` returned"),
        ({"params_init": [1]}, TypeError, "'params_init' must be a dict"),
        ({"params_init": {"fc2.bias": 1}}, TypeError, "Tensors or Parameters by name, but got int for 'fc2.bias'"),
        (
            {"params_init": {"fc2.bias": ms.Tensor([1.0])}},
            ValueError,
            r"the shape \(5,\) for 'fc2.bias', but got \(1,\)",
        ),
        ({"obf_random_seed": 1}, NotImplementedError, "obfuscated"),
    ],
)
def test_arguments_of_a_graphs_cell(options, error, text, tmp_path):
    graph = ms.load(recorded("LeNet", tmp_path)[0])
    with pytest.raises(error, match=text):
        nn.GraphCell(**{"graph": graph, **options})


def test_other_inputs_than_the_graphs(tmp_path):
    net = nn.GraphCell(ms.load(recorded("LeNet", tmp_path)[0]))
    for given, text in (
        ([], "takes 1 inputs, but got 0"),
        ([ms.ops.ones((3, 1, 14, 14))], r"must have the shape \(2, 1, 14, 14\) .* got \(3, 1, 14, 14\)"),
        ([ms.ops.ones((2, 1, 14, 14), ms.float16)], "and float16"),
    ):
        with pytest.raises(ValueError, match=text):
            net(*given)
    with pytest.raises(TypeError, match="input 0 must be a Tensor"):
        net(1)
