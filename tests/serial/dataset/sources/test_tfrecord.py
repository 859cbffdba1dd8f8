"""TFRecordDataset and Schema: values, shapes and orders are MindSpore 2.10's."""

import gzip
import json
import zlib

import pytest

import dist_ms as ms
import dist_ms.dataset as ds
from tests.tfrecords import example, framed

EXAMPLES = [{"i": [k, k + 1, -k], "f": [k + 0.5], "s": [b"ab%d" % k], "l": [k]} for k in range(5)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("records")
    five, three = (b"".join(framed(example(e)) for e in EXAMPLES[:n]) for n in (5, 3))
    (place / "a").write_bytes(five)
    (place / "b").write_bytes(three)
    (place / "gzip").write_bytes(gzip.compress(five))
    (place / "zlib").write_bytes(zlib.compress(five))
    return place


def labels(files, **options):
    data = ds.TFRecordDataset(files, columns_list=["l"], shuffle=False, **options)
    return [int(row[0][0]) for row in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]


def columns(data):
    row = next(iter(data.create_dict_iterator(num_epochs=1, output_numpy=True)))
    return {k: (v.dtype.str, v.tolist()) for k, v in row.items()}


def schema(*entries):
    made = ds.Schema()
    for entry in entries:
        made.add_column(*entry)
    return made


def test_all_features(folder):
    data = ds.TFRecordDataset(str(folder / "a"), shuffle=False)
    assert data.get_dataset_size() == 5
    assert columns(data) == {
        "f": ("<f4", [0.5]),
        "i": ("<i8", [0, 1, 0]),
        "l": ("<i8", [0]),
        "s": ("|u1", [97, 98, 48]),
    }


@pytest.mark.parametrize(
    ("column", "wanted"),
    [
        (("i", "int32", [3]), ("<i4", [0, 1, 0])),
        (("i", "int64", [3, 1]), ("<i8", [[0], [1], [0]])),
        (("i", "int64", [-1]), ("<i8", [0, 1, 0])),
        (("f", "float64", [1]), ("<f8", [0.5])),
        (("f", "float16", []), ("<f2", 0.5)),
        (("f", "float32"), ("<f4", [0.5])),
        (("l", "uint8", []), ("|u1", 0)),
        (("l", ms.int64), ("<i8", [0])),
        (("s", "string", []), ("<U3", "ab0")),
        (("s", "string"), ("<U3", ["ab0"])),
        (("s", "uint8"), ("|u1", [97, 98, 48])),
    ],
)
def test_schemas(folder, column, wanted):
    data = ds.TFRecordDataset(str(folder / "a"), schema(column), shuffle=False)
    assert columns(data) == {column[0]: wanted}


def test_orders_and_shards(folder):
    both = [str(folder / "b"), str(folder / "a")]
    assert labels(both) == [0, 0, 1, 1, 2, 2, 3, 4]
    assert [labels(both, num_shards=2, shard_id=k) for k in range(2)] == [[0, 1, 2, 3, 4], [0, 1, 2]]
    equal = [labels(both, num_shards=2, shard_id=k, shard_equal_rows=True) for k in range(2)]
    assert equal == [[0, 1, 2, 3], [4, 0, 1, 2]]
    one = [labels(both[1], num_shards=2, shard_id=k, shard_equal_rows=True) for k in range(2)]
    assert one == [[0, 1, 2], [3, 0, 4]]
    with pytest.raises(RuntimeError, match="shard_equal_rows"):
        labels(both[1], num_shards=2, shard_id=0)
    assert labels(both[1], num_samples=2) == [0, 1]
    shuffled = ds.TFRecordDataset(both, columns_list=["l"])
    assert sorted(int(row[0][0]) for row in shuffled.create_tuple_iterator(output_numpy=True)) == sorted(labels(both))


def test_compressed_files(folder):
    for kind in ("GZIP", "ZLIB"):
        path = str(folder / kind.lower())
        assert labels(path, compression_type=kind) == [0, 1, 2, 3, 4]
        with pytest.raises(RuntimeError, match="compression_type"):
            labels(path)
    with pytest.raises(RuntimeError, match="no GZIP file"):
        labels(str(folder / "a"), compression_type="GZIP")
    with pytest.raises(ValueError, match="compression_type"):
        labels(str(folder / "a"), compression_type="LZ4")


def test_damaged_files(folder, tmp_path):
    content = (folder / "a").read_bytes()
    (tmp_path / "x").write_bytes(content[:40] + b"\xff" + content[41:])
    with pytest.raises(RuntimeError, match="record 0 is damaged"):
        labels(str(tmp_path / "x"))
    (tmp_path / "x").write_bytes(content[:-10])
    with pytest.raises(RuntimeError, match="record 4 ends after"):
        labels(str(tmp_path / "x"))
    (tmp_path / "x").write_bytes(framed(b"\xff\xff"))
    with pytest.raises(RuntimeError, match="no example"):
        labels(str(tmp_path / "x"))
    with pytest.raises(RuntimeError, match="columns_list"):
        ds.TFRecordDataset(str(folder / "a"), columns_list=["q"])
    for column in (("q", "int64"), ("i", "int64", [2])):
        with pytest.raises(RuntimeError, match=column[0]):
            columns(ds.TFRecordDataset(str(folder / "a"), schema(column), shuffle=False))


def test_schema_files(folder, tmp_path):
    entries = {"l": {"type": "int64", "rank": 1, "t_impl": "flex"}, "i": {"type": "int32", "rank": 1, "shape": [3]}}
    path = tmp_path / "schema.json"
    path.write_text(json.dumps({"datasetType": "TF", "numRows": 2, "columns": entries}))
    data = ds.TFRecordDataset(str(folder / "a"), str(path), shuffle=False)
    assert data.get_dataset_size() == 2 and columns(data) == {"i": ("<i4", [0, 1, 0]), "l": ("<i8", [0])}
    made = ds.Schema(str(path))
    assert ds.Schema.get_num_rows(made) == 2 and str(made) == made.to_json()
    assert json.loads(made.to_json())["datasetType"] == "TF"
    made = ds.Schema()
    made.parse_columns([{"name": "a", "type": "int8", "shape": [3, 3]}, {"name": "label", "type": "int8"}])
    assert json.loads(made.to_json())["columns"] == [
        {"name": "a", "rank": 2, "shape": [3, 3], "type": "int8"},
        {"name": "label", "rank": 0, "shape": [], "type": "int8"},
    ]
    for wrong in ({"columns": []}, {"datasetType": "TF"}, {"columns": [{"name": "a", "type": "int8"}], "z": 1}):
        with pytest.raises(RuntimeError):
            ds.Schema().from_json(wrong)
    for wrong in ([{"name": "a"}], [{"type": "int8"}]):
        with pytest.raises(RuntimeError, match="missing"):
            ds.Schema().parse_columns(wrong)
    for entry in (("a", "foo"), (3, "int8"), ("a", 5), ("a", "int8", "x")):
        with pytest.raises(TypeError):
            schema(entry)
    with pytest.raises(ValueError, match="exist"):
        ds.Schema(str(tmp_path / "none"))
