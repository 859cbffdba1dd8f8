"""Checkpoints divided by MindSpore's strategy files; MindSpore's own results are beside."""

import json
from pathlib import Path

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import nn
from dist_ms.train.checkpoint.dividing import safetensors
from dist_ms.train.checkpoint.dividing.strategy import _message_class

FIXTURES = Path(__file__).parent / "fixtures"
OF_4, OF_2 = str(FIXTURES / "strategy_of_4.ckpt"), str(FIXTURES / "strategy_of_2.ckpt")
SHAPES = {"w": (4, 8), "v": (8, 3), "b": (8,), "o": (8, 4), "free": (3,)}
WHOLE = {name: np.arange(np.prod(s), dtype=np.float32).reshape(s) for name, s in SHAPES.items()}


@pytest.fixture
def source(tmp_path):
    (tmp_path / "src" / "rank_0").mkdir(parents=True)
    ms.save_checkpoint({n: ms.Tensor(a) for n, a in WHOLE.items()}, str(tmp_path / "src/rank_0/net.ckpt"))
    return tmp_path


def values(folder, ending="ckpt"):
    files = sorted(folder.glob(f"rank_*/*.{ending}"))
    return [{name: p.asnumpy() for name, p in ms.load_checkpoint(str(file)).items()} for file in files]


def test_the_parts_are_mindspore_s_and_come_together_again(source):
    recorded = np.load(FIXTURES / "divided.npz")
    steps = [("src", "A", None, OF_4, 4), ("A", "B", OF_4, OF_2, 2), ("B", "W", OF_2, None, 1)]
    for number, (old, new, before, after, ranks) in enumerate(steps):
        form = ("ckpt", "safetensors")[number % 2]
        ms.transform_checkpoints(str(source / old), str(source / new), "x_", before, after, 2, form)
        found = values(source / new, form)
        assert len(found) == ranks
        for rank, parts in enumerate(found):
            assert parts.keys() == WHOLE.keys()
            for name, array in parts.items():
                expected = WHOLE[name] if new == "W" else recorded[f"{new}.{rank}.{name}"]
                assert array.dtype == np.float32
                assert np.array_equal(array, expected)


def test_one_rank(source):
    ms.transform_checkpoints(str(source / "src"), str(source / "A"), "x_", None, OF_4)
    files = {rank: str(source / f"A/rank_{rank}/x_{rank}.ckpt") for rank in ms.rank_list_for_transform(1, OF_4, OF_2)}
    assert len(files) == 4
    ms.transform_checkpoint_by_rank(1, files, str(source / "one.ckpt"), OF_4, OF_2)
    assert np.array_equal(ms.load_checkpoint(str(source / "one.ckpt"))["w"].asnumpy(), WHOLE["w"][:, 4:])
    del files[3]
    with pytest.raises(ValueError, match="must hold all parts of 'w'"):
        ms.transform_checkpoint_by_rank(1, files, str(source / "one.ckpt"), OF_4, OF_2)


def test_into_a_whole_network(source):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = ms.Parameter(ms.Tensor(np.zeros((4, 8), np.float32)), name="w")

    ms.transform_checkpoints(str(source / "src"), str(source / "A"), "x_", None, OF_4)
    files, net = [str(source / f"A/rank_{rank}/x_{rank}.ckpt") for rank in range(4)], Net()
    assert ms.load_distributed_checkpoint(net, files, None, OF_4) is None
    assert np.array_equal(net.w.asnumpy(), WHOLE["w"])
    assert list(ms.load_distributed_checkpoint(net, files, None, OF_4, return_param_dict=True)) == list(WHOLE)
    with pytest.raises(ValueError, match="a list of 4 files"):
        ms.load_distributed_checkpoint(net, files[:2], None, OF_4)
    with pytest.raises(ValueError, match="'predict_strategy' must be None"):
        ms.load_distributed_checkpoint(net, files, {"w": 1}, OF_4)
    with pytest.raises(TypeError, match="a list of str"):
        ms.load_distributed_checkpoint(net)


def test_ranks_needed():
    assert ms.rank_list_for_transform(3, None, OF_4) == [0]
    assert sorted(ms.rank_list_for_transform(0, OF_2, OF_4)) == [0, 1]
    with pytest.raises(ValueError, match="a rank below 2"):
        ms.rank_list_for_transform(2, None, OF_2)
    with pytest.raises(TypeError, match="'rank_id' must be an int"):
        ms.rank_list_for_transform("0")


@pytest.mark.parametrize(
    ("arguments", "error", "what"),
    [
        (("src", "N", "x", "gone.ckpt"), ValueError, "an existing strategy file"),
        (("src", "N", "x", 1), TypeError, "must be a str or None"),
        (("src", "N", 1), TypeError, "ckpt_prefix"),
        (("gone", "N", "x", OF_4), ValueError, "rank_0, rank_1"),
        (("src", "N", "x"), ValueError, "both are None"),
        (("src", "N", "x", OF_4), ValueError, "must hold all parts"),
        (("src", "N", "x", None, OF_4, 0), ValueError, "process_num"),
        (("src", "N", "x", None, OF_4, 1, "pt"), ValueError, "output_format"),
    ],
)
def test_wrong_arguments(source, monkeypatch, arguments, error, what):
    monkeypatch.chdir(source)
    with pytest.raises(error, match=what):
        ms.transform_checkpoints(*arguments)


def test_damaged_strategies_are_refused(tmp_path):
    rng, whole = np.random.default_rng(1), Path(OF_4).read_bytes()
    path = tmp_path / "s.ckpt"
    for _ in range(300):
        mutated = bytearray(whole)
        for place in rng.integers(0, len(mutated), 3):
            mutated[place] = rng.integers(256)
        path.write_bytes(bytes(mutated[: rng.integers(1, len(mutated) + 1)]))
        try:
            ms.rank_list_for_transform(0, str(path))
        except ValueError as error:
            assert "'src_strategy_file'" in str(error)


def test_safetensors_of_all_ranks_as_one(source):
    ms.transform_checkpoints(str(source / "src"), str(source / "A"), "x_", None, OF_4, output_format="safetensors")
    ms.unified_safetensors(str(source / "A"), OF_4, str(source / "U"), choice_func=lambda name: name != "b")
    found = ms.load_checkpoint(str(source / "U" / "part0.safetensors"))
    assert found.keys() == WHOLE.keys() - {"b"}
    for name, parameter in found.items():
        assert np.array_equal(parameter.asnumpy(), WHOLE[name])
    index = json.loads((source / "U" / "param_name_map.json").read_text())
    assert index["metadata"] == {"total_size": 364}
    assert index["weight_map"] == dict.fromkeys(found, "part0.safetensors")
    ms.unified_safetensors(str(source / "A"), OF_4, str(source / "V"), choice_func=lambda name: f"net.{name}")
    assert "net.w" in ms.load_checkpoint(str(source / "V" / "part0.safetensors"))
    for options, error, what in (
        ({"choice_func": lambda name: "one"}, ValueError, "keeps names apart"),
        ({"choice_func": lambda name: 1}, TypeError, "a bool or a str"),
        ({"choice_func": 1}, TypeError, "a function or None"),
        ({"split_dst_file": (1, 2)}, ValueError, "'split_dst_file'"),
        ({"file_suffix": "gone"}, ValueError, "rank_0, rank_1"),
    ):
        with pytest.raises(error, match=what):
            ms.unified_safetensors(str(source / "A"), OF_4, str(source / "W"), **options)


def test_safetensors_of_one_rank(source):
    """As `transform_checkpoint_by_rank`; MindSpore 2.10's own of this name fails at each array (no dtype of .data)."""
    ms.transform_checkpoints(str(source / "src"), str(source / "A"), "x_", None, OF_4, output_format="safetensors")
    files = {rank: str(source / f"A/rank_{rank}/x_{rank}.safetensors") for rank in range(4)}
    recorded = np.load(FIXTURES / "divided.npz")
    for rank in range(2):
        path = str(source / f"one_{rank}.safetensors")
        safetensors.transform_safetensors_by_rank(rank, files, path, OF_4, OF_2)
        found = ms.load_checkpoint(path)
        assert found.keys() == WHOLE.keys()
        for name, parameter in found.items():
            assert np.array_equal(parameter.asnumpy(), recorded[f"B.{rank}.{name}"])
    for arguments, what in (
        ((2, files, "a.safetensors", OF_4, OF_2), "a rank below 2"),
        ((0, files, "a.ckpt", OF_4, OF_2), "ends with '.safetensors'"),
        ((0, {"0": "a"}, "a.safetensors", OF_4, OF_2), "'safetensor_files_map' must be a dict from int to str"),
        ((0, files, "a.safetensors"), "both are None"),
    ):
        with pytest.raises(ValueError, match=what):
            safetensors.transform_safetensors_by_rank(*arguments)


def test_safetensors_of_a_stage(source):
    """The ranks 4 to 7 are those of the second stage."""
    strategy = str(source / "stage_1.ckpt")
    message = _message_class()()
    message.ParseFromString(Path(OF_4).read_bytes())
    for item in message.parallel_strategy_item:
        item.parallel_strategys.stage = 1
    Path(strategy).write_bytes(message.SerializeToString())
    ms.transform_checkpoints(str(source / "src"), str(source / "A"), "x_", None, OF_4, output_format="safetensors")
    for rank in range(4):
        (source / "A" / f"rank_{rank}").rename(source / "A" / f"rank_{rank + 4}")
    recorded = np.load(FIXTURES / "divided.npz")
    safetensors.transform_safetensors_by_stage(str(source / "A"), str(source / "S"), "y_", strategy, OF_2)
    for rank in range(2):
        found = ms.load_checkpoint(str(source / "S" / f"rank_{rank}" / f"y_{rank}_part1.safetensors"))
        assert found.keys() == WHOLE.keys()
        for name, parameter in found.items():
            assert np.array_equal(parameter.asnumpy(), recorded[f"B.{rank}.{name}"])
    safetensors.transform_safetensors_by_stage(str(source / "A"), str(source / "W"), "y_", strategy)
    whole = ms.load_checkpoint(str(source / "W" / "rank_0" / "y_0_part1.safetensors"))
    assert all(np.array_equal(parameter.asnumpy(), WHOLE[name]) for name, parameter in whole.items())
    with pytest.raises(ValueError, match="none of the ranks meant"):  # 0 to 3 are no more
        safetensors.transform_safetensors_by_stage(str(source / "A"), str(source / "S"), "y_", OF_4, OF_2)
    with pytest.raises(ValueError, match="a part of a file's name"):
        safetensors.transform_safetensors_by_stage(str(source / "A"), str(source / "S"), "../y", strategy, OF_2)


def test_mindspore_s_paths():
    assert ms.parallel.convert_checkpoints is ms.transform_checkpoints is ms.parallel.transform_checkpoints
    assert ms.parallel.unified_safetensors is ms.unified_safetensors
    assert ms.parallel.load_segmented_checkpoints is ms.load_segmented_checkpoints
    assert "rank_list_for_convert" in dir(ms.parallel)
