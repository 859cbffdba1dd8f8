"""Checkpoints of PyTorch's names in networks of `nn` and `mint.nn` cells; what they give was recorded from PyTorch."""

import json
from pathlib import Path

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import mint, nn
from dist_ms.train import load_torch_checkpoint
from tests.serial.train.checkpoint.huggingface_networks import GPT2, Bert

FIXTURES = Path(__file__).parent / "fixtures"


def recorded(name):
    return json.loads((FIXTURES / f"torch_{name}.json").read_text())


def saved(folder, weights, files):
    """Write safetensors as Hugging Face lays them out; with several files an index names them."""
    parts = [dict(list(weights.items())[i::files]) for i in range(files)]
    names = ["model"] if files == 1 else [f"model-{i + 1:05d}-of-{files:05d}" for i in range(files)]
    for name, part in zip(names, parts, strict=True):
        header, end = {"__metadata__": {"format": "pt"}}, 0
        for key, array in part.items():
            header[key] = {"dtype": "F32", "shape": array.shape, "data_offsets": [end, end := end + array.nbytes]}
        text = json.dumps(header).encode()
        blob = len(text).to_bytes(8, "little") + text + b"".join(a.tobytes() for a in part.values())
        (folder / f"{name}.safetensors").write_bytes(blob)
    if files > 1:
        where = {key: f"{n}.safetensors" for n, part in zip(names, parts, strict=True) for key in part}
        (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": where}))


@pytest.mark.parametrize("files", [1, 3])
@pytest.mark.parametrize(("name", "network"), [("bert", Bert), ("gpt2", GPT2)])
def test_huggingface_checkpoints_give_pytorch_s_logits(tmp_path, name, network, files):
    record, rng = recorded(name), np.random.default_rng(7)
    weights = {key: rng.normal(0, 0.3, shape).astype(np.float32) for key, shape in record["shapes"].items()}
    ids, mask = rng.integers(0, 31, (2, 9)), np.ones((2, 9), np.int32)
    mask[1, 6:] = 0
    types = np.repeat([[0] * 4 + [1] * 5], 2, 0)
    saved(tmp_path, weights, files)
    net = network().set_train(False)
    assert load_torch_checkpoint(str(tmp_path), net, network.RENAME, network.TRANSPOSE) == ([], [])
    logits = net(*(ms.Tensor(x.astype(np.int32)) for x in (ids, mask, types))).asnumpy()
    np.testing.assert_allclose(logits, record["logits"], rtol=0, atol=1e-5)


LAYERS = {
    "conv1d": lambda: nn.Conv1d(2, 3, 3, pad_mode="valid", has_bias=True),
    "conv2d": lambda: nn.Conv2d(2, 3, 3, pad_mode="valid", has_bias=True),
    "conv2d_transpose": lambda: nn.Conv2dTranspose(2, 3, 3, pad_mode="valid", has_bias=True),
    "batch_norm": lambda: nn.BatchNorm2d(3),
    "group_norm": lambda: nn.GroupNorm(2, 4),
    "layer_norm": lambda: nn.LayerNorm((4,), epsilon=1e-5),
    "prelu": lambda: nn.PReLU(3),
    "lstm": lambda: nn.LSTM(3, 4, 2, batch_first=True, bidirectional=True),
    "gru": lambda: nn.GRU(3, 4, batch_first=True),
    "attention": lambda: nn.MultiheadAttention(4, 2, batch_first=True),
    "linear": lambda: nn.Dense(3, 2),
}


def layer_weights(name):
    """The weights the layer had when it was recorded, without its name before theirs."""
    rng, found = np.random.default_rng(7), {}
    for key, shape in recorded("layers")["shapes"].items():
        if key.endswith("num_batches_tracked"):
            array = np.asarray(3, np.int64)
        else:
            array = np.abs(rng.normal(1, 0.3, shape)).astype(np.float32)
        if key.startswith(name + "."):
            found[key.removeprefix(name + ".")] = array
    return found


@pytest.mark.parametrize("name", LAYERS)
def test_layers_take_pytorch_s_weights(name):
    record, net = recorded("layers"), nn.SequentialCell(LAYERS[name]()).set_train(False)
    assert load_torch_checkpoint(layer_weights(name), net, rename={"^": "0."})[0] == []
    shape = record["inputs"][name]
    x = ms.Tensor(np.sin(np.arange(np.prod(shape))).reshape(shape).astype(np.float32))
    y = net[0](x, x, x) if name == "attention" else net(x)
    y = (y[0] if isinstance(y, tuple) else y).asnumpy()
    np.testing.assert_allclose(y.ravel(), record["outputs"][name], rtol=1e-5, atol=2e-5)


def test_num_batches_tracked_is_cast_or_left_out():
    weights, net = layer_weights("batch_norm"), mint.nn.BatchNorm2d(3)
    assert load_torch_checkpoint(weights, net) == ([], [])
    assert net.num_batches_tracked.asnumpy() == 3
    assert load_torch_checkpoint(weights, nn.BatchNorm2d(3)) == ([], [])


def test_a_parameter_of_the_name_itself_comes_first():
    class Scaled(nn.Cell):
        def __init__(self):
            super().__init__()
            self.gamma, self.norm = ms.Parameter(ms.Tensor([0.0])), nn.LayerNorm((1,))

    net = Scaled()
    weights = {name: np.full(1, i + 1, np.float32) for i, name in enumerate(["gamma", "norm.weight", "norm.bias"])}
    assert load_torch_checkpoint(weights, net) == ([], [])
    assert [p.asnumpy()[0] for p in net.get_parameters()] == [1, 2, 3]


def test_names_left_over():
    net = nn.Dense(2, 1, has_bias=False)
    weights = {"weight": np.ones((1, 2), np.float32), "position_ids": np.arange(3)}
    with pytest.raises(RuntimeError, match=r"lacks \[\] and has \['position_ids'\]"):
        load_torch_checkpoint(weights, net)
    assert load_torch_checkpoint(weights, net, strict=False) == ([], ["position_ids"])
    drop = lambda name: None if name == "position_ids" else name  # noqa: E731
    assert load_torch_checkpoint(weights, net, drop) == ([], [])
    assert load_torch_checkpoint({"other": np.ones(1)}, net, strict=False) == (["weight"], ["other"])
    nested = nn.SequentialCell(nn.Dense(1, 1))
    nested.bias = ms.Parameter(ms.Tensor([5.0]), name="bias")
    assert load_torch_checkpoint({"0.bias": np.ones(1, np.float32)}, nested, strict=False)[0] == ["bias", "0.weight"]
    assert nested.bias.asnumpy() == 5
    with pytest.raises(RuntimeError, match="shape"):
        load_torch_checkpoint({"weight": np.ones((2, 2), np.float32)}, net)


@pytest.mark.parametrize(
    ("arguments", "error", "what"),
    [
        ((1,), TypeError, "'checkpoint' must be a str or a dict"),
        (({"weight": 1},), TypeError, "'checkpoint' must be a dict from str to arrays"),
        (({1: np.ones(1)},), TypeError, "'checkpoint' must be a dict from str to arrays"),
        (("model.bin",), ValueError, "safetensors.torch.save_file"),
        (("gone.safetensors",), ValueError, "does not exist"),
        (("/",), ValueError, "a folder with"),
        (({}, 1), TypeError, "'rename' must be"),
        (({}, {1: ""}), TypeError, "'rename' must be"),
        (({}, {"(": ""}), ValueError, "a regular expression"),
        (({"a": np.ones(1), "b": np.ones(1)}, lambda name: "c"), ValueError, "keeps names apart"),
        (({}, None, 1), TypeError, "'transpose' must be"),
        (({}, None, "("), ValueError, "a regular expression"),
        (({"weight": np.ones(1)}, None, "w"), ValueError, "names of matrices"),
        (({}, None, None, 1), TypeError, "'strict'"),
    ],
)
def test_wrong_arguments(arguments, error, what):
    checkpoint, *rest = arguments
    with pytest.raises(error, match=what):
        load_torch_checkpoint(checkpoint, nn.Dense(1, 1), *rest)
    with pytest.raises(TypeError, match="'net' must be a Cell"):
        load_torch_checkpoint({}, None)
