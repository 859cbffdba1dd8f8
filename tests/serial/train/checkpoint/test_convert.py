"""Conversion of files between `.ckpt` and safetensors."""

import os

import pytest

from dist_ms.train.serialization import (
    ckpt_to_safetensors,
    load_checkpoint,
    safetensors_to_ckpt,
    save_checkpoint,
)
from tests.serial.train.checkpoint.checkpoint_cases import (
    KEY,
    arrays_of_every_kind,
    assert_same,
    parameter,
)


@pytest.fixture(autouse=True)
def in_tmp_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def save(name, **options):
    save_checkpoint([parameter("w", [1, 2]), parameter("b", [3])], name, **options)


def files(folder="."):
    return sorted(os.path.join(d, f)[len(folder) + 1 :] for d, _, fs in os.walk(folder) for f in fs)


def test_there_and_back():
    arrays = {n: a for n, a in arrays_of_every_kind().items() if a.dtype.kind != "c"}
    save_checkpoint({n: parameter(n, a, a.dtype) for n, a in arrays.items()}, "a.ckpt", append_dict={"s": "t"})
    ckpt_to_safetensors("a.ckpt", "there")
    safetensors_to_ckpt("there/a.safetensors", "back")
    loaded = load_checkpoint("back/a.ckpt")
    assert loaded.keys() == {*arrays, "s"} and loaded["s"] == "t"
    for name, array in arrays.items():
        assert_same(loaded[name], array)


def test_names_and_places():
    save("one.ckpt", crc_check=True)
    ckpt_to_safetensors("one.ckpt")
    ckpt_to_safetensors("one.ckpt", "out/deep", {"w": "W", "none": "x"})
    assert files() == ["one.ckpt", "one.safetensors", "out/deep/one.safetensors"]
    assert list(load_checkpoint("out/deep/one.safetensors", format="safetensors")) == ["W", "b"]
    assert os.stat("one.safetensors").st_mode & 0o777 == 0o400


@pytest.mark.parametrize("processes", [1, 3])
def test_folders_of_ranks(processes):
    for folder in ("rank_0", "rank_1", "rankfoo", "other", "rank_0/deep"):
        os.makedirs(f"in/{folder}")
        for name in ("a", "b_1"):
            save(f"in/{folder}/{name}.ckpt")
    ckpt_to_safetensors("in", "all", processes_num=processes)
    assert files("all") == [f"{r}/{n}.safetensors" for r in ("rank_0", "rank_1", "rankfoo") for n in ("a", "b_1")]
    ckpt_to_safetensors("in", "some", file_name_regex="b.1")
    assert files("some") == [f"{r}/b_1.safetensors" for r in ("rank_0", "rank_1", "rankfoo")]
    safetensors_to_ckpt("some")
    assert "rank_1/b_1.ckpt" in files("some")


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"file_path": "none.ckpt"}, ValueError, "'file_path' must be an existing file or folder"),
        ({"file_path": 3}, ValueError, "'file_path' must be an existing file or folder, but got 3"),
        ({"file_path": "notes.txt"}, ValueError, "'file_path' must end with '.ckpt'"),
        ({"file_path": "empty"}, ValueError, "must have sub-folders named 'rank...'"),
        ({"save_path": "notes.txt"}, ValueError, "'save_path' must be a folder"),
        ({"save_path": "x.ckpt"}, ValueError, "'save_path' must be a folder"),
        ({"save_path": 5}, TypeError, "'save_path' must be a str"),
        ({"name_map": [1]}, ValueError, "'name_map' must be None or a dict, but got list"),
        ({"name_map": {"w": "b"}}, ValueError, "two parameters of .*one.ckpt become 'b'"),
        ({"file_name_regex": "two"}, ValueError, "'two' is not found in 'one.ckpt'"),
        ({"file_name_regex": 5}, TypeError, "'file_name_regex' must be a str"),
        ({"processes_num": 0}, ValueError, "'processes_num' must be a positive int"),
        ({"file_path": "secret.ckpt"}, ValueError, "it is encrypted with AES-GCM"),
    ],
)
def test_arguments(arguments, error, text):
    save("one.ckpt")
    save("secret.ckpt", enc_key=KEY)
    os.mkdir("empty")
    with open("notes.txt", "w") as file:
        file.write("x")
    before = files()
    with pytest.raises(error, match=text):
        ckpt_to_safetensors(**{"file_path": "one.ckpt", **arguments})
    assert files() == before
