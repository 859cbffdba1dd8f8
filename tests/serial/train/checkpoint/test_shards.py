"""Safetensors told by their names, and checkpoints in several files with an index."""

import json

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import nn


@pytest.fixture
def index(tmp_path):
    for number, names in ((1, "ab"), (2, "c")):
        values = {name: ms.Tensor(np.full(3, ord(name), np.float32)) for name in names}
        ms.save_checkpoint(values, str(tmp_path / f"model-0000{number}-of-00002"), format="safetensors")
    weight_map = {name: f"model-0000{1 + (name == 'c')}-of-00002.safetensors" for name in "cab"}
    path = tmp_path / "model.safetensors.index.json"
    path.write_text(json.dumps({"metadata": {"total_size": 36}, "weight_map": weight_map}))
    return path


def test_the_name_tells_safetensors(index):
    loaded = ms.load_checkpoint(str(index.parent / "model-00001-of-00002.safetensors"))
    assert {name: value.asnumpy()[0] for name, value in loaded.items()} == {"a": 97, "b": 98}


@pytest.mark.parametrize("options", [{}, {"format": "safetensors"}])
def test_an_index_names_all_files(index, options):
    loaded = ms.load_checkpoint(str(index), **options)
    assert {name: value.asnumpy()[0] for name, value in loaded.items()} == {"a": 97, "b": 98, "c": 99}
    assert list(ms.load_checkpoint(str(index), choice_func=lambda name: name == "c")) == ["c"]
    assert list(ms.load_checkpoint_async(str(index)).result()) == ["a", "b", "c"]


def test_into_a_network(tmp_path):
    net = nn.Dense(2, 1)
    ms.save_checkpoint(net, str(tmp_path / "a"), format="safetensors")
    other = nn.Dense(2, 1)
    ms.load_checkpoint(str(tmp_path / "a.safetensors"), other)
    assert np.array_equal(other.weight.asnumpy(), net.weight.asnumpy())


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("{", "no JSON"),
        ("[" * 100000, "no JSON"),
        ("[]", "no 'weight_map'"),
        ('{"weight_map": {}}', "no 'weight_map'"),
        ('{"weight_map": {"a": 1}}', "beside it"),
        ('{"weight_map": {"a": "../model-00001-of-00002.safetensors"}}', "beside it"),
        ('{"weight_map": {"a": "/etc/passwd"}}', "beside it"),
        ('{"weight_map": {"a": "gone.safetensors"}}', "is missing"),
        ('{"weight_map": {"z": "model-00001-of-00002.safetensors"}}', "lacks"),
    ],
)
def test_a_wrong_index_is_refused(index, text, what):
    index.write_text(text)
    with pytest.raises(ValueError, match=what):
        ms.load_checkpoint(str(index))


def test_a_key_does_not_go_with_safetensors(index):
    with pytest.raises(ValueError, match="no encryption"):
        ms.load_checkpoint(str(index), dec_key=b"0" * 16)
