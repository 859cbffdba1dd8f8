"""MindDataset: orders and values are MindSpore 2.10's."""

import pickle

import numpy as np
import pytest

import dist_ms.dataset as ds
from dist_ms.mindrecord import FileWriter

SCHEMA = {
    "i": {"type": "int32"},
    "f": {"type": "float32"},
    "s": {"type": "string"},
    "b": {"type": "bytes"},
    "v": {"type": "int64", "shape": [-1]},
}


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    writer = FileWriter(str(folder / "rows"), 2)
    writer.add_schema(SCHEMA)
    writer.write_raw_data(
        [{"i": k, "f": k + 0.1, "s": f"x{k}", "b": bytes([k + 65] * k), "v": np.arange(k)} for k in range(5)]
    )
    writer.commit()
    return str(folder / "rows0")


def numbers(data, epochs=1):
    found = [[int(i) for (i,) in data.create_tuple_iterator(num_epochs=1, output_numpy=True)] for _ in range(epochs)]
    return found if epochs > 1 else found[0]


def test_values(path):
    data = ds.MindDataset(path, shuffle=False)
    assert data.get_col_names() == ["b", "f", "i", "s", "v"] and data.get_dataset_size() == 5
    rows = list(data.create_dict_iterator(num_epochs=1, output_numpy=True))
    row = rows[3]
    assert {k: (v.dtype.str, v.shape) for k, v in row.items()} == {
        "b": ("|S3", (1,)),
        "f": ("<f4", ()),
        "i": ("<i4", ()),
        "s": ("<U2", ()),
        "v": ("<i8", (3,)),
    }
    assert row["b"].tolist() == [b"DDD"] and row["s"] == "x3" and row["f"] == np.float32(3.1)
    assert rows[0]["b"].tolist() == [b""] and rows[0]["v"].shape == (0,)
    assert [v.tolist() for v in data[3][1:4]] == [row["f"], 3, "x3"]
    for error, index in ((ValueError, -1), (IndexError, 5), (TypeError, "1")):
        with pytest.raises(error, match="index"):
            data[index]
    assert ds.MindDataset(path, ["v", "i"]).get_col_names() == ["v", "i"]
    assert numbers(ds.MindDataset([path], ["i"], shuffle=False)) == [0, 1, 2]


def test_shards_and_padding(path):
    def shard(count, which, **options):
        return numbers(ds.MindDataset(path, ["i"], shuffle=False, num_shards=count, shard_id=which, **options))

    assert [shard(2, k) for k in range(2)] == [[0, 2, 4], [1, 3, 0]]
    assert [shard(3, k) for k in range(3)] == [[0, 3], [1, 4], [2, 0]]
    padding = {"padded_sample": {"i": -1}, "num_padded": 3}
    assert [shard(4, k, **padding) for k in range(4)] == [[0, 4], [1, -1], [2, -1], [3, -1]]
    assert numbers(ds.MindDataset(path, ["i"], shuffle=False, **padding)) == [0, 1, 2, 3, 4, -1, -1, -1]
    assert numbers(ds.MindDataset(path, ["i"], shuffle=False, num_samples=3)) == [0, 1, 2]


def test_shuffles(path):
    for shuffle in (None, True, *ds.Shuffle):
        for rows in numbers(ds.MindDataset(path, ["i"], shuffle=shuffle), 3):
            assert sorted(rows) == list(range(5))
    files = numbers(ds.MindDataset(path, ["i"], shuffle=ds.Shuffle.FILES), 20)
    assert sorted(set(map(tuple, files))) == [(0, 1, 2, 3, 4), (3, 4, 0, 1, 2)]
    within = numbers(ds.MindDataset(path, ["i"], shuffle=ds.Shuffle.INFILE), 50)
    # From seeds that follow each other MindSpore's generator turns three rows round, but exchanges no two of them.
    assert len(set(map(tuple, within))) == 6 and all(set(rows[:3]) == {0, 1, 2} for rows in within)


@pytest.mark.parametrize(
    ("shuffle", "epochs"),
    [
        (True, [[8, 0, 4, 7, 10, 9, 6, 5, 2, 11, 1, 3], [7, 10, 3, 11, 4, 2, 9, 1, 5, 0, 8, 6]]),
        (ds.Shuffle.FILES, [[8, 9, 10, 11, 0, 1, 2, 3, 4, 5, 6, 7], [4, 5, 6, 7, 8, 9, 10, 11, 0, 1, 2, 3]]),
        (ds.Shuffle.INFILE, [[2, 0, 1, 3, 6, 4, 5, 7, 10, 8, 9, 11], [3, 1, 2, 0, 7, 5, 6, 4, 11, 9, 10, 8]]),
    ],
)
def test_the_orders_of_seed_1(tmp_path, monkeypatch, shuffle, epochs):
    monkeypatch.setitem(ds.config._settings, "seed", 1)
    writer = FileWriter(str(tmp_path / "rows"), 3)
    writer.add_schema({"i": {"type": "int32"}})
    writer.write_raw_data([{"i": k} for k in range(12)])
    writer.commit()
    files = [str(tmp_path / f"rows{k}") for k in range(3)]
    assert numbers(ds.MindDataset(files, shuffle=shuffle), 2) == epochs
    shards = [ds.MindDataset(files, shuffle=shuffle, num_shards=2, shard_id=k) for k in range(2)]
    dealt = list(zip(*(numbers(shard) for shard in shards), strict=True))
    assert [i for pair in dealt for i in pair] == epochs[0]


def test_samplers(path):
    def chosen(sampler):
        return numbers(ds.MindDataset(path, ["i"], sampler=sampler))

    assert chosen(ds.SequentialSampler(1, 3)) == [1, 2, 3]
    assert chosen(ds.SubsetSampler([4, 1])) == [4, 1]
    assert sorted(chosen(ds.SubsetRandomSampler([4, 1]))) == [1, 4]
    assert chosen(ds.DistributedSampler(2, 1, False)) == [1, 3, 0]
    assert chosen(ds.PKSampler(1, class_column="i")) == [0, 1, 2, 3, 4]
    assert sorted(chosen(ds.RandomSampler())) == list(range(5))
    for sampler in (ds.WeightedRandomSampler([1, 2]), [1, 2]):
        with pytest.raises(ValueError, match="sampler"):
            chosen(sampler)


def test_other_processes_read_too(path):
    data = pickle.loads(pickle.dumps(ds.MindDataset(path, ["i"], shuffle=False)))
    assert [int(data.read(k)[0]) for k in range(5)] == list(range(5))


def test_an_epoch_goes_on_in_its_middle(path):
    data = ds.MindDataset(path, ["i"], shuffle=False)
    rows = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
    assert [int(next(rows)[0]) for _ in range(2)] == [0, 1]
    again = ds.MindDataset(path, ["i"], shuffle=False, num_shards=2, shard_id=1)
    again.load_state_dict(data.state_dict())
    assert data.state_dict()["rows"] == 2 and numbers(again) == [3, 0]  # of 2, 3, 4 and, to fill up, 0
    assert data.shards() == 1 and again.shards() == 2


def test_wrong_arguments(path):
    with pytest.raises(ValueError, match="'dataset_files' must be a path or a list of paths, but got an empty list"):
        ds.MindDataset([])
    for error, options in (
        (RuntimeError, {"columns_list": ["q"]}),
        (RuntimeError, {"num_padded": 2}),
        (RuntimeError, {"padded_sample": {"i": 1}}),
        (RuntimeError, {"columns_list": ["i", "s"], "padded_sample": {"i": 1}, "num_padded": 1}),
        (TypeError, {"shuffle": "x"}),
        (TypeError, {"columns_list": "i"}),
        (ValueError, {"num_shards": 2}),
        (ValueError, {"shuffle": ds.Shuffle.FILES, "num_samples": 2}),
        (RuntimeError, {"sampler": ds.RandomSampler(), "num_samples": 2}),
    ):
        with pytest.raises(error):
            ds.MindDataset(path, **options)
    with pytest.raises(ValueError, match="exist"):
        ds.MindDataset(path + "none")
    with pytest.raises(TypeError):
        ds.MindDataset(5)
    with pytest.raises(NotImplementedError):
        ds.OBSMindDataset("obs://x", "server", "key", "secret", "folder")
