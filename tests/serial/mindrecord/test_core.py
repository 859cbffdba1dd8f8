"""The parts of MindRecord's reader and writer; what is expected was recorded from MindSpore."""

import importlib
import json

import numpy as np
import pytest

import dist_ms.compat
from dist_ms.mindrecord import FileReader, FileWriter
from dist_ms.mindrecord.core.shardheader import ShardHeader
from dist_ms.mindrecord.core.shardindexgenerator import ShardIndexGenerator
from dist_ms.mindrecord.core.shardreader import ShardReader
from dist_ms.mindrecord.core.shardsegment import ShardSegment
from dist_ms.mindrecord.core.shardwriter import ShardWriter
from dist_ms.mindrecord.exceptions import MRMDefineIndexError, MRMGenerateIndexError, MRMGetMetaError, MRMOpenError
from dist_ms.mindrecord.status import SUCCESS

FIELDS = {
    "label": {"type": "int32"},
    "name": {"type": "string"},
    "data": {"type": "bytes"},
    "v": {"type": "float32", "shape": [-1]},
}
ROWS = [
    {"label": np.int32(i), "name": str(i), "data": b"x" * i, "v": np.arange(i + 1, dtype=np.float32)} for i in range(3)
]


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "a.mindrecord")


def header():
    made = ShardHeader()
    assert made.add_schema(made.build_schema(FIELDS, "d")) == 0
    assert made.add_index_fields(["label"]) is SUCCESS
    return made


def written(path):
    writer = ShardWriter()
    assert not writer.is_open and writer.open([path], False) is SUCCESS and writer.is_open
    assert writer.set_header_size(1 << 20) is writer.set_page_size(1 << 20) is SUCCESS
    head = header()
    assert writer.set_shard_header(head) is SUCCESS and writer.get_shard_header() is head
    assert writer.write_raw_data(ROWS) is writer.commit() is SUCCESS
    return path


def test_headers():
    made = header()
    assert made.blob_fields == ["data", "v"] and made.schema == FIELDS
    assert ShardHeader(made).schema == FIELDS and made.header is made
    with pytest.raises(MRMGetMetaError):
        _ = ShardHeader().schema
    with pytest.raises(MRMDefineIndexError, match="'data' must be a number or text"):
        made.add_index_fields(["data"])


def indexed(path, append=False):
    index = ShardIndexGenerator(path, append)
    index.build(), index.write_to_db()


def test_rows_are_written_and_read(path):
    written(path)
    indexed(path)
    reader = ShardReader()
    assert reader.open(path, 2, ["label", "data"]) is reader.launch() is SUCCESS
    assert reader.len() == 3 and reader.get_blob_fields() == ["data", "v"]
    assert reader.get_next() == [({"data": []}, {"label": 0})]
    assert reader.get_next() == [({"data": [120]}, {"label": 1})]
    assert reader.get_header().schema == FIELDS and reader.get_header().index_fields == ["label"]
    assert [len(reader.get_next()) for _ in range(3)] == [1, 0, 0]
    reader.close()
    reader.open([path])
    reader.launch()
    blob, raw = reader.get_next()[0]
    assert blob == {"data": [], "v": [0, 0, 0, 0]} and raw == {"label": 0, "name": "0"}


def test_the_index_is_written_apart(path, tmp_path):
    written(path)
    assert [p.name for p in tmp_path.iterdir()] == ["a.mindrecord"]
    index = ShardIndexGenerator(path)
    with pytest.raises(MRMGenerateIndexError, match="'build' must be called first"):
        index.write_to_db()
    assert index.build() is index.write_to_db() is SUCCESS
    assert (tmp_path / "a.mindrecord.db").exists()
    with pytest.raises(MRMGenerateIndexError, match="exists"):
        ShardIndexGenerator(path).build()
    assert ShardIndexGenerator(path, append=True).build() is SUCCESS


def test_pages_of_rows(path):
    written(path)
    indexed(path)
    pages = ShardSegment()
    assert pages.open(path) is SUCCESS and pages.get_category_fields() == ["label_0"]
    assert pages.set_category_field("label") is pages.set_category_field("label_0") is SUCCESS
    assert json.loads(pages.read_category_info())["categories"][2] == {"count": 1, "id": 2, "name": "2"}
    row = pages.read_at_page_by_id(1, 0, 5)[0]
    assert (row["label"], row["name"], row["data"], row["v"].tolist()) == (1, "1", b"x", [0, 1])
    assert pages.read_at_page_by_name("2", 0, 1)[0]["data"] == b"xx"
    pages.open(path, columns=["name"])
    pages.set_category_field("label")
    assert pages.read_at_page_by_name("2", 0, 1) == [{"name": "2"}]


def test_several_files_and_appending(tmp_path):
    paths = [str(tmp_path / f"{n}.mindrecord") for n in ("one", "two")]
    writer = ShardWriter()
    writer.open(paths, False), writer.set_shard_header(header())
    writer.write_raw_data(ROWS), writer.commit()
    indexed(paths[0])
    assert FileReader(paths).len() == 3 and FileReader(paths[:1]).len() in (1, 2)
    writer = ShardWriter()
    assert writer.open_for_append(paths[0]) is SUCCESS and writer.get_shard_header().schema == FIELDS
    writer.write_raw_data(ROWS[:1])
    writer.commit()
    indexed(paths[0], append=True)
    assert sorted(row["label"] for row in FileReader(paths).get_next()) == [0, 0, 1, 2]


def test_wrong_use(path):
    for unopened in (
        lambda: ShardWriter().commit(),
        lambda: ShardReader().len(),
        lambda: ShardSegment().read_category_info(),
    ):
        with pytest.raises(MRMOpenError, match="'open' must be called first"):
            unopened()
    writer = ShardWriter()
    writer.open([path], False), writer.set_shard_header(header())
    with pytest.raises(RuntimeError, match="row 0 must fit the schema"):
        writer.write_raw_data([{"label": "a"}], validate=False)
    assert ShardWriter.convert_np_types(np.int64(3)) == 3 and type(ShardWriter.convert_np_types(np.int64(3))) is int


def test_mindspores_paths():
    dist_ms.compat.install()
    for cls in (ShardHeader, ShardIndexGenerator, ShardReader, ShardSegment, ShardWriter):
        module = importlib.import_module(f"mindspore.mindrecord.core.{cls.__name__.lower()}")
        assert getattr(module, cls.__name__) is cls
    assert FileWriter is not ShardWriter
