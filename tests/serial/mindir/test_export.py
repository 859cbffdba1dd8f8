"""Networks as files of MINDIR, which `load` reads back; tests/parity/mindir_files.py has MindSpore read them."""

import os
import threading

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import nn, ops
from dist_ms.exporting import requests
from dist_ms.mindir.entry import write_mindir
from dist_ms.mindir.messages import FUNCTION, parsed
from tests.serial.mindir.networks import built, flat, networks, values
from tests.serial.onnx import networks as larger
from tests.serial.train.rank_threads import run_ranks

IDS = np.random.RandomState(0).randint(0, 29, (2, 6)).astype(np.int32)
NETWORKS = networks(ms) | {
    "ResNet18": (larger.ResNet18, (2, 3, 64, 64)),
    "GPT": (larger.GPT, IDS),
    "Words": (larger.Words, IDS),
    "WideDeep": (larger.WideDeep, IDS, (2, 5)),
}
ROWS = ms.Tensor(values((2, 3)))


class Of(nn.Cell):
    """A function as a network."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def construct(self, *inputs):
        return self.function(*inputs)


def exported(net, *inputs, folder, **options):
    path = str(folder / "net.mindir")
    ms.export(net, *inputs, file_name=path, file_format="MINDIR", **options)
    return path


@pytest.mark.parametrize("name", NETWORKS)
def test_a_network(name, tmp_path):
    make, *forms = NETWORKS[name]
    net, inputs = built(ms, make), [ms.Tensor(values(form)) for form in forms]
    again = nn.GraphCell(ms.load(exported(net, *inputs, folder=tmp_path)))
    found, wanted = flat(again(*inputs)), flat(net(*inputs))
    assert len(found) == len(wanted)
    for a, b in zip(found, wanted):
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        largest = max(1.0, np.abs(b.asnumpy()).max())
        np.testing.assert_allclose(a.asnumpy() / largest, b.asnumpy() / largest, atol=1e-5)
    assert {p.name for p in again.get_parameters()} <= {p.name for p in net.get_parameters()}


def test_a_matrix_times_a_vector(tmp_path):
    net, inputs = Of(ops.matmul), (ROWS, ROWS[0])
    again = nn.GraphCell(ms.load(exported(net, *inputs, folder=tmp_path)))
    np.testing.assert_allclose(again(*inputs).asnumpy(), net(*inputs).asnumpy(), rtol=1e-6)


@pytest.mark.parametrize("name", ["LeNet", "ResNet18", "WideDeep"])
def test_an_open_batch(name, tmp_path):
    make, *forms = NETWORKS[name]
    net, arrays = built(ms, make), [values(form) for form in forms]
    unknown = [ms.Tensor(shape=[None, *a.shape[1:]], dtype=ms.Tensor(a).dtype) for a in arrays]
    again = nn.GraphCell(ms.load(exported(net, *unknown, folder=tmp_path)))
    for times in (1, 3):
        inputs = [ms.Tensor(np.concatenate([a] * times)) for a in arrays]
        wanted = net(*inputs).asnumpy()
        np.testing.assert_allclose(again(*inputs).asnumpy(), wanted, atol=1e-5 * max(1.0, np.abs(wanted).max()))


def test_the_gradients_are_those_of_the_network(tmp_path):
    net, x = built(ms, NETWORKS["LeNet"][0]), ms.Tensor(values((2, 1, 14, 14)))
    again = nn.GraphCell(ms.load(exported(net, x, folder=tmp_path)))
    found, wanted = (
        dict(
            zip(
                [p.name for p in n.trainable_params()],
                ms.grad(lambda x, n=n: n(x).sum(), None, n.trainable_params())(x),
            )
        )
        for n in (again, net)
    )
    assert found.keys() == wanted.keys()
    for name, gradient in wanted.items():
        np.testing.assert_allclose(found[name].asnumpy(), gradient.asnumpy(), rtol=1e-5, atol=1e-5)


def test_what_a_file_holds(tmp_path):
    with open(exported(nn.Dense(3, 2), ROWS, folder=tmp_path), "rb") as file:
        model = parsed(file.read())
    assert (model.mind_ir_version, model.little_endian, model.graph.name) == (3, True, "Dense")
    assert [(p.name, p.ref_key, list(p.dims)) for p in model.graph.parameter] == [
        ("Dense:weight", "weight", [2, 3]),
        ("Dense:bias", "bias", [2]),
    ]
    assert [(p.op_type, p.prim_type) for p in model.primitives] == [("MatMul", FUNCTION), ("BiasAdd", FUNCTION)]
    assert [list(v.tensor[0].dims) for v in (*model.graph.input, *model.graph.output)] == [[2, 3], [2, 2]]
    assert os.stat(tmp_path / "net.mindir").st_mode & 0o777 == 0o400


def test_what_mindspores_cpu_lacks_is_other_operations(tmp_path):
    net = Of(lambda x: ops.roll(x, (1, -1), (0, 1)))
    path = exported(net, ROWS, folder=tmp_path)
    assert {p.op_type for p in ms.load_mindir(path).primitives} == {"Gather"}
    np.testing.assert_array_equal(nn.GraphCell(ms.load(path))(ROWS).asnumpy(), net(ROWS).asnumpy())


def test_the_ending_is_added(tmp_path):
    ms.export(nn.ReLU(), ROWS, file_name=str(tmp_path / "new" / "relu"), file_format="MINDIR")
    assert os.listdir(tmp_path / "new") == ["relu.mindir"]


def test_the_message_can_be_changed(tmp_path):
    def change(model):
        model.producer_name, model.producer_version = "mine", "2"
        model.user_info["note"] = "of the user"

    path = exported(nn.ReLU(), ROWS, folder=tmp_path, custom_func=change)
    model = ms.load_mindir(path)
    assert (model.producer_name, model.producer_version, dict(model.user_info)) == (
        "mine",
        "2",
        {"note": "of the user"},
    )
    model.user_info["more"] = "1"
    ms.save_mindir(model, str(tmp_path / "second"))
    again = str(tmp_path / "second.mindir")
    assert dict(ms.load_mindir(again).user_info) == {"note": "of the user", "more": "1"}
    assert nn.GraphCell(ms.load(again))(ROWS).shape == (2, 3)


@pytest.mark.parametrize("mode", ["AES-GCM", "AES-CBC", "SM4-CBC"])
def test_an_encrypted_file(mode, tmp_path):
    key = b"0123456789abcdef"
    path = exported(nn.ReLU(), ROWS, folder=tmp_path, enc_key=key, enc_mode=mode)
    np.testing.assert_array_equal(nn.GraphCell(ms.load(path, dec_key=key, dec_mode=mode))(ROWS), ops.relu(ROWS))
    for options, text in (
        ({}, "give 'dec_key'"),
        ({"dec_key": key[::-1], "dec_mode": mode}, "cannot be decrypted|must be a whole file"),
        ({"dec_key": key, "dec_mode": "AES-CBC" if mode == "AES-GCM" else "AES-GCM"}, "'dec_mode' must be that"),
    ):
        with pytest.raises(RuntimeError, match=text):
            ms.load(path, **options)


def test_encryption_by_functions(tmp_path):
    def unsealed(path, key):
        with open(path, "rb") as file:
            return file.read().removeprefix(key)[::-1]

    path = exported(nn.ReLU(), ROWS, folder=tmp_path, enc_key=b"k", enc_mode=lambda content, key: key + content[::-1])
    assert nn.GraphCell(ms.load(path, dec_key=b"k", dec_mode=unsealed))(ROWS).shape == (2, 3)


@pytest.mark.parametrize(
    "net, text",
    [
        (Of(ops.nonzero), "'NonZero' .*size depends on the values"),
        (Of(ops.erfinv), "must have a form in MINDIR, but 'Erfinv' .*test_export.py.* has none here"),
        (Of(lambda x: x + ms.Tensor(x.asnumpy())), "computed from the inputs outside of operations"),
    ],
)
def test_what_a_file_cannot_hold(net, text, tmp_path):
    path = tmp_path / "net.mindir"
    path.write_bytes(b"old")
    with pytest.raises(RuntimeError, match=text):
        exported(net, ROWS, folder=tmp_path)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["net.mindir"]


def test_lower_precision(tmp_path):
    net = nn.Dense(3, 2).to_float(ms.float16)
    again = nn.GraphCell(ms.load(exported(net, ROWS, folder=tmp_path)))
    np.testing.assert_allclose(again(ROWS).asnumpy(), net(ROWS).asnumpy(), rtol=2e-3, atol=2e-3)


def test_lengths_that_must_be_fixed(tmp_path):
    with pytest.raises(RuntimeError, match="'BroadcastTo' .*depends on the inputs"):
        net = Of(lambda x: ops.broadcast_to(x, (2, *x.shape)))
        exported(net, ms.Tensor(shape=[None, 3], dtype=ms.float32), folder=tmp_path)
    with pytest.raises(RuntimeError, match="'Mul' .*has a setting that depends on the inputs"):
        net = Of(lambda x: x * x.shape[0])
        exported(net, ms.Tensor(shape=[None, 3], dtype=ms.float32), folder=tmp_path)


@pytest.mark.parametrize(
    "options, error, text",
    [
        ({"obf_func": 1}, NotImplementedError, "'obf_func' must be left out"),
        ({"incremental": True}, NotImplementedError, "'incremental' must be left out"),
        ({"custom_func": 1}, TypeError, "'custom_func' must be a function"),
        ({"input_names": ["x"]}, ValueError, "options for MINDIR must be among .* but got 'input_names'"),
        ({"enc_key": b"1"}, ValueError, "'enc_key' must have 16 or 24 or 32 bytes"),
        ({"file_name": ""}, TypeError, "'file_name'"),
    ],
)
def test_options(options, error, text):
    with pytest.raises(error, match=text):
        ms.export(nn.ReLU(), ROWS, **{"file_name": "x", "file_format": "MINDIR", **options})


def test_too_many_parameters(tmp_path, monkeypatch):
    from dist_ms.mindir import exporting

    monkeypatch.setattr(exporting, "MOST_BYTES", 20)
    with pytest.raises(ValueError, match="below 2 GB, but the parameters have 32 bytes: export to ONNX"):
        exported(nn.Dense(3, 2), ROWS, folder=tmp_path)


def test_a_rank_alone_asks_no_other(tmp_path, monkeypatch):
    monkeypatch.setattr(requests, "data_parallel_comm", None)
    write_mindir("export", nn.ReLU(), (ROWS,), str(tmp_path / "net"), alone=True)
    assert os.listdir(tmp_path) == ["net.mindir"]


def test_rank_0_writes(tmp_path, monkeypatch):
    comms, written = {}, []
    monkeypatch.setattr(requests, "data_parallel_comm", lambda: comms[threading.get_ident()])

    def seal(content, key):
        written.append(comms[threading.get_ident()].rank)
        return content

    def work(comm):
        comms[threading.get_ident()] = comm
        exported(nn.Dense(3, 2), ROWS, folder=tmp_path, enc_key=b"k", enc_mode=seal)

    run_ranks(2, work)
    assert (written, os.listdir(tmp_path)) == ([0], ["net.mindir"])
