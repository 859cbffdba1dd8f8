"""save_checkpoint and load_checkpoint: what can be saved, what comes back, every option."""

import io
import os
import subprocess
import sys

import numpy as np
import pytest

from dist_ms.common.initializer import initializer
from dist_ms.common.parameter import Parameter, ParameterTuple, no_init_parameters
from dist_ms.common.random.generator import Generator
from dist_ms.common.tensor import Tensor
from dist_ms.train.serialization import (
    async_ckpt_thread_status,
    load_checkpoint,
    load_checkpoint_async,
    load_segmented_checkpoints,
    save_checkpoint,
)
from tests.serial.train.checkpoint.checkpoint_cases import (
    Net,
    arrays_of_every_kind,
    assert_same,
    net_values,
    parameter,
)


@pytest.fixture(autouse=True)
def in_tmp_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def save_w(name="a.ckpt", **options):
    save_checkpoint([parameter("w", [1, 2]), parameter("b", [3])], name, **options)


@pytest.mark.parametrize("options", [{}, {"crc_check": True}, {"enc_key": b"k" * 32}])
def test_every_kind_of_array_comes_back_to_the_bit(options):
    arrays = arrays_of_every_kind()
    save_checkpoint({name: Tensor(a) for name, a in arrays.items()}, "a.ckpt", **options)
    reading = {"dec_key" if k == "enc_key" else k: v for k, v in options.items()}
    loaded = load_checkpoint("a.ckpt", **reading)
    assert list(loaded) == list(arrays)
    for name, array in arrays.items():
        assert isinstance(loaded[name], Parameter) and loaded[name].name == name
        assert loaded[name].requires_grad
        assert_same(loaded[name], array)


@pytest.mark.parametrize("crc_check", [False, True])
def test_safetensors_come_back_to_the_bit_sorted_by_name(crc_check):
    arrays = {n: a for n, a in arrays_of_every_kind().items() if a.dtype.kind != "c"}
    options = {"format": "safetensors", "crc_check": crc_check}
    save_checkpoint({name: Tensor(a) for name, a in arrays.items()}, "a", **options)
    loaded = load_checkpoint("a.safetensors", **options)
    assert list(loaded) == sorted(arrays)
    for name, array in arrays.items():
        assert loaded[name].name == name
        assert_same(loaded[name], array)
    with open("a.safetensors", "rb") as file:
        in_memory = load_checkpoint(io.BytesIO(file.read()), **options)
    assert list(in_memory) == sorted(arrays)
    for name, array in arrays.items():
        assert_same(in_memory[name], array)


def test_loaded_parameters_can_be_written_to():
    save_w()
    loaded = load_checkpoint("a.ckpt")["w"]
    loaded.asnumpy()[0] = 9
    assert loaded.asnumpy().tolist() == [9, 2]


def test_a_cell_is_saved_under_its_parameters_names():
    net = Net()
    save_checkpoint(net, "net")
    assert list(load_checkpoint("net.ckpt")) == [p.name for _, p in net.parameters_and_names()]
    assert list(load_checkpoint("net.ckpt")) == ["scale", "count", "fc.weight", "fc.bias"]


def test_a_list_of_parameters_or_of_dicts():
    save_checkpoint(Net().trainable_params(), "a.ckpt")
    assert list(load_checkpoint("a.ckpt")) == ["scale", "fc.weight", "fc.bias"]
    items = [
        {"name": "x", "data": parameter("other", [1])},
        {"name": "y", "data": Tensor([2]), "further": "key"},
    ]
    save_checkpoint(items, "b.ckpt")
    assert list(load_checkpoint("b.ckpt")) == ["x", "y"]


def test_a_dict_is_saved_under_its_keys():
    save_checkpoint({"x.y": parameter("z", [1]), "t": Tensor([2]), "s": "text"}, "a.ckpt")
    loaded = load_checkpoint("a.ckpt")
    assert loaded["x.y"].name == "x.y" and loaded["s"] == "text"
    save_checkpoint(loaded, "b.ckpt")
    assert list(load_checkpoint("b.ckpt")) == ["x.y", "t", "s"]


def test_append_dict():
    appended = {
        "i": 3, "neg": -(2**63), "f": 1.5, "huge": 1e300, "inf": float("inf"), "b": True,
        "s": "h\u00e9llo \U0001f600\n", "empty": "", "nul": "tail\0",
        "t": Tensor([1, 2]), "p": parameter("q", [4.0]), "g": Generator().manual_seed(5),
    }  # fmt: skip
    save_checkpoint([], "a.ckpt", append_dict=appended)
    loaded = load_checkpoint("a.ckpt")
    assert list(loaded) == list(appended)
    for name, wanted in [
        ("i", np.array(3, np.int64)), ("neg", np.array(-(2**63))), ("f", np.array(1.5, np.float32)),
        ("huge", np.array(1e300)), ("inf", np.array(np.inf, np.float32)), ("b", np.array(True)),
        ("g", np.array([5, 0]).view(np.uint8)),
        ("t", np.array([1, 2])), ("p", np.array([4], np.float32)),
    ]:  # fmt: skip
        assert_same(loaded[name], wanted)
    for name in ("s", "empty", "nul"):
        assert type(loaded[name]) is str and loaded[name] == appended[name]


def test_texts_in_safetensors():
    save_w("a", append_dict={"note": "h\u00e9llo\n", "n": 3}, format="safetensors", crc_check=True)
    loaded = load_checkpoint("a.safetensors", format="safetensors", crc_check=True)
    assert list(loaded) == ["b", "n", "note", "w"] and loaded["note"] == "h\u00e9llo\n"


def test_append_dict_replaces_a_parameter_and_choice_func_does_not_see_it():
    seen = []
    save_w(append_dict={"w": 7, "step": 1}, choice_func=lambda n: seen.append(n) or n == "w")
    loaded = load_checkpoint("a.ckpt")
    assert seen == ["w", "b"]
    assert {n: v.asnumpy().tolist() for n, v in loaded.items()} == {"w": 7, "step": 1}


def test_saving_again_replaces_a_read_only_file():
    save_w()
    assert os.stat("a.ckpt").st_mode & 0o777 == 0o400
    save_checkpoint([parameter("c", [1])], "a.ckpt")
    assert list(load_checkpoint("a.ckpt")) == ["c"]
    assert os.listdir() == ["a.ckpt"]


def test_a_full_disk_leaves_the_old_file():
    save_w()
    script = """
import resource, signal
from dist_ms.common.tensor import Tensor
from dist_ms.train.serialization import save_checkpoint
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
save_checkpoint({"w": Tensor([1.0] * 100_000)}, "a.ckpt")
"""
    failed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert failed.returncode == 1 and "OSError: [Errno 27] File too large" in failed.stderr
    assert list(load_checkpoint("a.ckpt")) == ["w", "b"]
    assert os.listdir() == ["a.ckpt"]


@pytest.mark.parametrize(
    ("name", "format", "written"),
    [
        ("a", "ckpt", "a.ckpt"),
        ("a.safetensors", "ckpt", "a.safetensors.ckpt"),
        ("a.ckpt", "safetensors", "a.ckpt.safetensors"),
        ("folder/a.v1", "ckpt", "folder/a.v1.ckpt"),
    ],
)
def test_the_extension_is_added(name, format, written):
    os.mkdir("folder")
    save_w(name, format=format)
    assert os.path.isfile(written)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"save_obj": 5}, TypeError, "'save_obj' must be a Cell, a list or a dict, but got int"),
        ({"save_obj": (parameter("w", [1]),)}, TypeError, "but got tuple"),
        ({"save_obj": ParameterTuple([parameter("w", [1])])}, TypeError, "ParameterTuple"),
        ({"save_obj": None}, TypeError, "NoneType"),
        ({"save_obj": ["w"]}, TypeError, r"'save_obj\[0\]' must be a Parameter, but got str"),
        ({"save_obj": [Tensor([1])]}, TypeError, "must be a Parameter, but got Tensor"),
        ({"save_obj": [{"nam": "w", "data": Tensor([1])}]}, TypeError, "'name' and 'data'"),
        ({"save_obj": [{"name": 3, "data": Tensor([1])}]}, TypeError, "'name' must be a str"),
        ({"save_obj": [{"name": "w", "data": np.ones(2)}]}, TypeError, "'data' must be a Param"),
        ({"save_obj": [parameter("w", [1]), {}]}, TypeError, r"\[1\]' must be a Parameter"),
        ({"save_obj": {3: Tensor([1])}}, TypeError, "must map str to Parameter"),
        ({"save_obj": {"w": [1]}}, TypeError, "but got str to list"),
        ({"ckpt_file_name": 5}, TypeError, "'ckpt_file_name' must be a str, but got int"),
        ({"ckpt_file_name": ""}, IsADirectoryError, "is a folder"),
        ({"ckpt_file_name": "no/folder/a.ckpt"}, FileNotFoundError, "no/folder"),
        ({"integrated_save": 1}, TypeError, "'integrated_save' must be a bool"),
        ({"async_save": 1}, TypeError, "'async_save' must be a bool or a str, but got int"),
        ({"async_save": "x"}, ValueError, "'thread' or 'process', but got 'x'"),
        ({"append_dict": [1]}, TypeError, "'append_dict' must be None or a dict, but got list"),
        ({"append_dict": {"a": [1]}}, TypeError, "but got str to list"),
        ({"append_dict": {1: 1}}, TypeError, "but got int to int"),
        ({"append_dict": {"a": None}}, TypeError, "NoneType"),
        ({"append_dict": {"a": 2**63}}, ValueError, "must fit into 64 bits"),
        ({"append_dict": {"a" * 1025: 1}}, ValueError, "at most 1024 characters, but got 1025"),
        ({"crc_check": 1}, ValueError, "'crc_check' must be a bool, but got 1"),
        ({"format": "zip"}, ValueError, "'format' must be one of"),
        ({"remove_redundancy": 3}, ValueError, "'remove_redundancy' must be a bool"),
        ({"global_step_num": "x"}, TypeError, "'global_step_num' must be an int"),
        ({"incremental": 1}, TypeError, "'incremental' must be a bool"),
        ({"choice_func": 5}, TypeError, "not callable"),
        ({"unknown": 5}, TypeError, "unknown"),
    ],
)
def test_save_arguments(arguments, error, text):
    with pytest.raises(error, match=text):
        save_checkpoint(**{"save_obj": Net(), "ckpt_file_name": "a.ckpt", **arguments})
    assert os.listdir() == []


def test_accepted_options_without_effect():
    save_w(integrated_save=False, incremental=True, global_step_num=5, remove_redundancy=True)
    assert list(load_checkpoint("a.ckpt")) == ["w", "b"]


def test_complex_tensors_are_refused_in_safetensors():
    with pytest.raises(ValueError, match="'c' of type Complex64 .* use format='ckpt'"):
        save_checkpoint({"c": Tensor(np.ones(2, np.complex64))}, "a", format="safetensors")
    assert os.listdir() == []


@pytest.mark.parametrize(
    ("options", "left"),
    [
        ({"filter_prefix": "a"}, ["b"]),
        ({"filter_prefix": ("a.b", "ab")}, ["a", "b"]),
        ({"specify_prefix": "a."}, ["a.b"]),
        ({"specify_prefix": ["ab", "b"]}, ["ab.c", "b"]),
        ({"specify_prefix": "a", "filter_prefix": "a."}, ["ab.c", "a"]),
        ({"specify_prefix": "b", "choice_func": lambda name: False}, ["b"]),
        ({"filter_prefix": "q", "choice_func": lambda name: False}, ["a.b", "ab.c", "a", "b"]),
        ({"choice_func": lambda name: "." in name}, ["a.b", "ab.c"]),
        ({"choice_func": lambda name: len(name) - 1}, ["a.b", "ab.c"]),
    ],
)
def test_which_names_are_loaded(options, left):
    save_checkpoint({name: Tensor([1]) for name in ("a.b", "ab.c", "a", "b")}, "a.ckpt")
    assert list(load_checkpoint("a.ckpt", **options)) == left


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"ckpt_file_name": 5}, TypeError, "'ckpt_file_name' must be a str, but got int"),
        ({"ckpt_file_name": "none.ckpt"}, ValueError, "does not exist"),
        ({"ckpt_file_name": "a"}, ValueError, "must end with '.ckpt'"),
        ({"ckpt_file_name": "a.CKPT"}, ValueError, "must end with '.ckpt'"),
        ({"format": "safetensors"}, ValueError, "must end with '.safetensors'"),
        ({"format": "zip"}, ValueError, "'format' must be one of"),
        ({"ckpt_file_name": io.BytesIO(b"")}, TypeError, "io.BytesIO must hold safetensors"),
        ({"filter_prefix": 3}, TypeError, "'filter_prefix' must be a str"),
        ({"specify_prefix": [3]}, TypeError, "each prefix in 'specify_prefix' must be a str"),
        ({"filter_prefix": ""}, ValueError, "'filter_prefix' must not be ''"),
        ({"specify_prefix": []}, ValueError, "'specify_prefix' must hold at least one"),
        ({"filter_prefix": ["w", "b"]}, ValueError, "is empty after filter or specify"),
        ({"choice_func": lambda name: False}, ValueError, "is empty after filter or specify"),
        ({"choice_func": lambda name: 1 / 0}, ValueError, "failed for 'w' .* ZeroDivisionError"),
        ({"choice_func": 5}, ValueError, "'choice_func' must be a function, but got 5"),
        ({"crc_check": "x"}, ValueError, "'crc_check' must be a bool"),
        ({"remove_redundancy": 3}, ValueError, "'remove_redundancy' must be a bool"),
        ({"net": 5}, TypeError, "'net' should be a Cell"),
    ],
)
def test_load_arguments(arguments, error, text):
    save_w()
    with pytest.raises(error, match=text):
        load_checkpoint(**{"ckpt_file_name": "a.ckpt", **arguments})


def test_a_folder_and_an_empty_file_are_refused():
    os.mkdir("d.ckpt")
    with pytest.raises(ValueError, match=r"d.ckpt: Is a directory"):
        load_checkpoint("d.ckpt")
    save_checkpoint([], "empty.ckpt")
    assert os.path.getsize("empty.ckpt") == 0
    with pytest.raises(ValueError, match="is empty after filter or specify"):
        load_checkpoint("empty.ckpt")


def test_load_into_a_network_at_once():
    save_checkpoint(net_values(), "a.ckpt")
    net = Net()
    loaded = load_checkpoint("a.ckpt", net=net)
    assert list(loaded) == list(net_values())
    assert net.fc.bias.asnumpy().tolist() == [1, 2, 3]
    with pytest.raises(TypeError, match="strict_load"):
        load_checkpoint("a.ckpt", net=net, strict_load=1)


def test_load_in_a_thread():
    save_w()
    assert list(load_checkpoint_async("a.ckpt", choice_func=lambda n: n == "b").result()) == ["b"]
    save_w("s", format="safetensors")
    net = Net()
    assert list(load_checkpoint_async("s.safetensors", net=net).result()) == ["b", "w"]
    missing = load_checkpoint_async("none.ckpt")
    with pytest.raises(ValueError, match="does not exist"):
        missing.result()
    with pytest.raises(TypeError, match="'ckpt_file_name' must be a str"):
        load_checkpoint_async(3)


def test_segments_of_a_folder():
    os.makedirs("parts/deeper")
    for name in ("a", "b"):
        save_checkpoint([parameter(name, [1])], f"parts/{name}.ckpt", enc_key=b"k" * 16)
    save_checkpoint([parameter("c", [1])], "parts/deeper/c.ckpt")
    with open("parts/notes.txt", "w") as file:
        file.write("no checkpoint")
    assert list(load_segmented_checkpoints("parts", dec_key=b"k" * 16)) == ["a", "b"]
    only = load_segmented_checkpoints("parts", dec_key=b"k" * 16, choice_func=lambda n: n == "b")
    assert list(only) == ["b"]
    save_checkpoint([parameter("a", [1])], "parts/z.ckpt", enc_key=b"k" * 16)
    with pytest.raises(ValueError, match=r"z.ckpt repeats \['a'\]"):
        load_segmented_checkpoints("parts", dec_key=b"k" * 16)
    os.mkdir("empty")
    with pytest.raises(ValueError, match="is empty after filter or specify"):
        load_segmented_checkpoints("empty")
    with pytest.raises(ValueError, match="must be an existing folder"):
        load_segmented_checkpoints("none")
    with pytest.raises(TypeError, match="'ckpt_file_dir' must be a str"):
        load_segmented_checkpoints(3)


def test_no_asynchronous_save_is_going_on():
    assert async_ckpt_thread_status() is False


def test_packages_are_imported_only_when_they_are_used():
    heavy = ("google.protobuf", "safetensors", "cryptography", "mpi4py")
    script = (
        "import sys; from dist_ms.train.serialization import save_checkpoint; "
        "save_checkpoint({'t': 'text'}, 'a.ckpt'); "
        f"print([m for m in {heavy!r} if m in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, text=True)
    assert found.stdout == "[]\n"


def test_parameters_that_hold_no_values_yet():
    with no_init_parameters():
        lazy = Parameter(initializer("ones", [2, 3]), name="lazy")
    assert lazy.has_init
    save_checkpoint([lazy], "a.ckpt")
    assert load_checkpoint("a.ckpt")["lazy"].asnumpy().tolist() == [[1, 1, 1]] * 2
