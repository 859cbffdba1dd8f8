"""MindRecord files: those MindSpore 2.10 wrote, our own, damaged and encrypted ones."""

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

import dist_ms.mindrecord as mr
from dist_ms.mindrecord.msgpack import packed, unpacked
from dist_ms.mindrecord.narrow_integers import narrowed, widened
from dist_ms.mindrecord.shards import Shards

KINDS = {
    "i": {"type": "int32"},
    "l": {"type": "int64"},
    "f": {"type": "float32"},
    "d": {"type": "float64"},
    "s": {"type": "string"},
    "b": {"type": "bytes"},
    "a": {"type": "float32", "shape": [2, 2]},
    "v": {"type": "int64", "shape": [-1]},
    "w": {"type": "int32", "shape": [-1]},
}
ROWS = [
    {
        "i": k - 2,
        "l": (k - 2) * 10**10,
        "f": k + 0.5,
        "d": k + 0.1,
        "s": f"é{k}",
        "b": bytes([k]) * k,
        "a": np.full((2, 2), k, np.float32),
        "v": (-1) ** k * 10 ** (3 * np.arange(k)),
        "w": np.arange(-k, 100 * k + 1, 99, dtype=np.int32),
    }
    for k in range(5)
]


@pytest.fixture
def recorded(tmp_path):
    """Files that MindSpore 2.10 wrote."""
    with zipfile.ZipFile(Path(__file__).with_name("recorded.zip")) as files:
        files.extractall(tmp_path)
    return tmp_path


@pytest.fixture
def key():
    mr.set_enc_key("0123456789012345")
    yield
    mr.set_enc_key(None)
    mr.set_enc_mode()
    mr.set_dec_mode(None)


def same(found, wanted):
    assert found.keys() == wanted.keys()
    for name, value in wanted.items():
        assert type(found[name]) is type(value)
        if isinstance(value, np.ndarray):
            assert found[name].dtype == value.dtype
        np.testing.assert_array_equal(found[name], value)


def write(path, rows, schema=KINDS, files=1, index=None, page=1 << 15):
    writer = mr.FileWriter(str(path), files)
    writer.set_header_size(1 << 15)
    writer.set_page_size(page)
    writer.add_schema(schema, "rows")
    if index:
        writer.add_index(index)
    writer.write_raw_data(rows)
    writer.commit()
    return str(path)


def read(path, **options):
    reader = mr.FileReader(path, **options)
    rows = list(reader.get_next())
    reader.close()
    return rows


def test_files_of_mindspore_with_all_kinds(recorded):
    for name in ("kinds0", "kinds1"):
        reader = mr.FileReader(str(recorded / name))
        assert reader.len() == 5 and reader.schema() == KINDS
        for found, wanted in zip(reader.get_next(), ROWS):
            same(found, wanted)
    (some,) = read([str(recorded / "kinds1")], columns=["w", "i"])[-1:]
    same(some, {"i": 2, "w": ROWS[4]["w"]})


def test_pages_of_mindspore(recorded):
    rows = read(str(recorded / "pages"))
    assert [row["k"] for row in rows] == list(range(20))
    assert all(row["b"] == bytes([row["k"] % 10]) * 9000 and row["n"] == "z" * 7000 for row in rows)


@pytest.mark.parametrize("files", [1, 2, 3])
@pytest.mark.parametrize("page", [1 << 15, 1 << 20])
def test_all_kinds_come_back(tmp_path, files, page):
    path = write(tmp_path / "rows", ROWS * 20, files=files, page=page)
    names = [path] if files == 1 else [f"{path}{k}" for k in range(files)]
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(
        Path(n).name + end for n in names for end in ("", ".db")
    )
    found = read(names[-1])
    assert len(found) == 100
    for a, b in zip(found, ROWS * 20):
        same(a, b)
    assert [len(read([n])) for n in names] == [[100], [50, 50], [34, 33, 33]][files - 1]


def test_many_pages(tmp_path):
    rows = [{"b": bytes([k % 256]) * (k * 37 % 20000), "n": "z" * (k * 91 % 15000), "k": k} for k in range(100)]
    schema = {"b": {"type": "bytes"}, "n": {"type": "string"}, "k": {"type": "int32"}}
    path = write(tmp_path / "rows", rows, schema)
    assert [r["k"] for r in read(path)] == list(range(100)) and all(a == b for a, b in zip(read(path), rows))


def test_rows_that_are_given_one_by_one_are_dealt_to_the_files(tmp_path):
    writer = mr.FileWriter(str(tmp_path / "rows"), 2)
    writer.add_schema({"k": {"type": "int64"}})
    for k in range(5):
        writer.write_raw_data([{"k": k}])
    writer.commit()
    assert [r["k"] for r in read(str(tmp_path / "rows0"))] == [0, 2, 4, 1, 3]


def test_appending(tmp_path):
    path = write(tmp_path / "rows", ROWS, files=2, index=["s"])
    writer = mr.FileWriter.open_for_append(path + "1")
    writer.write_raw_data(ROWS[:3])
    writer.commit()
    writer.write_raw_data(ROWS[3:4])
    writer.commit()
    assert sorted(r["i"] for r in read(path + "0")) == [-2, -2, -1, -1, 0, 0, 1, 1, 2]


def test_parallel_writing_fills_independent_files(tmp_path):
    writer = mr.FileWriter(str(tmp_path / "rows"), 2)
    writer.add_schema({"k": {"type": "int64"}})
    for k in range(3):
        writer.write_raw_data([{"k": k}, {"k": k}], True)
    writer.commit()
    assert [r["k"] for r in read(str(tmp_path / "rows0"))] == [0, 0, 2, 2]
    assert [r["k"] for r in read([str(tmp_path / f"rows{k}") for k in range(2)])] == [0, 0, 2, 2, 1, 1]


def test_only_bytes_only_numbers_and_no_rows(tmp_path):
    assert read(write(tmp_path / "a", [{"b": b"x"}], {"b": {"type": "bytes"}})) == [{"b": b"x"}]
    assert read(write(tmp_path / "b", [{"k": 1}], {"k": {"type": "int32"}})) == [{"k": 1}]
    writer = mr.FileWriter(str(tmp_path / "c"))
    writer.add_schema({"k": {"type": "int32"}})
    writer.commit()
    assert read(str(tmp_path / "c")) == []


def test_categories(recorded):
    pages = mr.MindPage(str(recorded / "kinds0"))
    assert pages.candidate_fields == ["i", "s"]
    pages.category_field = "i"
    counts = [{"count": 1, "id": k, "name": name} for k, name in enumerate(["-1", "-2", "0", "1", "2"])]
    assert json.loads(pages.read_category_info()) == {"categories": counts, "key": "i_0"}
    same(pages.read_at_page_by_id(0, 0, 5)[0], ROWS[1])
    same(pages.read_at_page_by_name("2", 0, 1)[0], ROWS[4])
    for ask in (
        lambda: pages.read_at_page_by_id(5, 0, 1),
        lambda: pages.read_at_page_by_id(0, 1, 1),
        lambda: pages.read_at_page_by_name("9", 0, 1),
    ):
        with pytest.raises(RuntimeError, match="categor"):
            ask()
    with pytest.raises(mr.MRMDefineCategoryError):
        pages.category_field = "l"
    with pytest.raises(mr.ParamValueError):
        pages.read_at_page_by_id(0, 0, 0)


def test_encrypted_files(tmp_path, key):
    path = write(tmp_path / "rows", ROWS)
    content = Path(path).read_bytes()
    assert content[4:8] == b"\xd8\x5e\x3a\x7f" and content.endswith(b"\0\0\0\0AES-GCMENCRYPT")
    same(read(path)[3], ROWS[3])
    writer = mr.FileWriter.open_for_append(path)
    writer.write_raw_data(ROWS[:1])
    writer.commit()
    assert len(read(path)) == 6
    assert sorted(p.name for p in tmp_path.iterdir()) == ["rows", "rows.db"]
    mr.set_enc_key("another key 1234")
    with pytest.raises(RuntimeError, match="rows.*key"):
        read(path)
    mr.set_enc_key(None)
    with pytest.raises(RuntimeError, match="set_enc_key"):
        read(path)


def test_encryption_by_functions(tmp_path, key):
    def turned(source, size, target, key):
        target.write(bytes(255 - b for b in source.read(size)))

    mr.set_enc_mode(turned)
    path = write(tmp_path / "rows", ROWS[:2])
    with pytest.raises(RuntimeError, match="set_dec_mode"):
        read(path)

    def back(source, size, target, key):
        target.write(bytes(255 - b for b in source.read(size - 11)))

    mr.set_dec_mode(back)
    assert len(read(path)) == 2


def test_damaged_files(tmp_path):
    path = Path(write(tmp_path / "rows", ROWS))
    content = path.read_bytes()
    for place in Shards(str(path))._places[4][[0, 2]].tolist():
        for at, byte in ((place, b"\x07"), (place + 8, b"\xc1")):
            path.write_bytes(content[:at] + byte + content[at + 1 :])
            with pytest.raises(RuntimeError, match="rows: row 4 is damaged"):
                read(str(path))
    path.write_bytes(content[:-10])
    with pytest.raises(RuntimeError, match="row 4 ends after"):
        read(str(path))
    path.write_bytes(b"abc" * 10000)
    with pytest.raises(RuntimeError, match="no MindRecord file"):
        read(str(path))
    path.write_bytes(content)
    (tmp_path / "rows.db").write_bytes(b"nothing" * 1000)
    with pytest.raises(RuntimeError, match="no index"):
        read(str(path))
    (tmp_path / "rows.db").unlink()
    with pytest.raises(RuntimeError, match="no index file"):
        read(str(path))


def test_renamed_and_missing_files(tmp_path):
    path = write(tmp_path / "rows", ROWS, files=2)
    for end in ("", ".db"):
        Path(path + "1" + end).rename(tmp_path / ("other" + end))
    with pytest.raises(RuntimeError, match="rows1, which does not exist"):
        read(path + "0")
    with pytest.raises(RuntimeError, match="keep its name"):
        read([str(tmp_path / "other")])
    with pytest.raises(RuntimeError, match="does not exist"):
        read(str(tmp_path / "none"))


def test_rows_that_do_not_fit_are_left_out(tmp_path):
    rows = [{"k": 1}, {"k": 1.5}, {"k": True}, {"k": 2**31}, {}, {"k": np.int32(7)}]
    assert read(write(tmp_path / "rows", rows, {"k": {"type": "int32"}})) == [{"k": 1}, {"k": 7}]
    with pytest.raises(RuntimeError, match="no row fits"):
        write(tmp_path / "more", [{"k": "a"}], {"k": {"type": "int32"}})
    with pytest.raises(RuntimeError, match="no row fits"):
        write(tmp_path / "last", [{"k": np.zeros(3, np.int64)}], {"k": {"type": "int32", "shape": [3]}})


def test_wrong_arguments(tmp_path):
    path = str(tmp_path / "rows")
    writer = mr.FileWriter(path)
    for schema in (
        {},
        {"a b": {"type": "int32"}},
        {"a": {"type": "int8"}},
        {"a": {"type": "bytes", "shape": [1]}},
        [1],
    ):
        with pytest.raises(mr.MRMInvalidSchemaError):
            writer.add_schema(schema)
    with pytest.raises(mr.MRMGetMetaError):
        writer.add_index(["k"])
    writer.add_schema({"k": {"type": "int32"}, "b": {"type": "bytes"}})
    with pytest.raises(mr.MRMDefineIndexError):
        writer.add_index(["b"])
    for rows in ({}, [1]):
        with pytest.raises(mr.ParamTypeError):
            writer.write_raw_data(rows)
    for name, number in ((path + "/", 1), (path, 0), (path, "1"), (path + "?", 1)):
        with pytest.raises(mr.ParamValueError):
            mr.FileWriter(name, number)
    with pytest.raises(mr.MRMInvalidPageSizeError):
        writer.set_page_size(5)
    with pytest.raises(mr.MRMInvalidHeaderSizeError):
        writer.set_header_size(1 << 28)
    with pytest.raises(RuntimeError, match="set_page_size"):
        write(tmp_path / "big", [{"b": bytes(40000)}], {"b": {"type": "bytes"}})
    write(tmp_path / "rows", ROWS)
    with pytest.raises(RuntimeError, match="overwrite"):
        write(tmp_path / "rows", ROWS)
    for wrong in (5, "short"):
        with pytest.raises(ValueError, match="enc_key"):
            mr.set_enc_key(wrong)
    assert mr.ParamValueError("x").error_code == 0x50541002


def test_numbers_in_as_few_bytes_as_they_need():
    rng = np.random.default_rng(0)
    for kind in ("int32", "int64"):
        for bits in range(1, np.iinfo(kind).bits):
            for n in (0, 1, 3, 4, 5, 31):
                values = rng.integers(-(2**bits), 2**bits, n).astype(kind)
                values[: n // 2] >>= bits // 2
                stored = narrowed(values)
                np.testing.assert_array_equal(widened(stored, kind), values)
    with pytest.raises(ValueError, match="announced"):
        widened(stored[:-1], "int64")
    assert narrowed(np.array([1, -200, 40000])).hex() == "00000003" + "18" + "01" + "38ff" + "409c0000"


def test_numbers_and_text_as_one_map():
    numbers = [s * (2**b + d) for b in range(63) for d in (-1, 0, 1) for s in (1, -1)]
    row = {f"k{i}": v for i, v in enumerate([*numbers, 0.1, float("inf"), "", "é" * 20, "x" * 300, "y" * 70000])}
    assert unpacked(packed(row)) == row
    for cut in (1, 5, 100):
        with pytest.raises(ValueError, match="numbers and text"):
            unpacked(packed(row)[:-cut])


def test_what_a_writer_refuses(tmp_path):
    path = str(tmp_path / "rows")
    writer = mr.FileWriter(path)
    with pytest.raises(mr.MRMInvalidSchemaError, match="begin with no digit"):
        writer.add_schema({"1a": {"type": "int32"}})
    writer.add_schema({"a": {"type": "int32"}})
    with pytest.raises(mr.MRMAddSchemaError):
        writer.add_schema({"a": {"type": "int32"}})
    writer.write_raw_data([{"a": 1}])
    writer.commit()
    (tmp_path / "rows.db").unlink()
    with pytest.raises(RuntimeError, match=r"rows.db does not exist"):  # so all of MindRecord's errors are caught
        mr.FileWriter.open_for_append(path)
    with pytest.raises(mr.ParamValueError, match="file"):
        mr.FileReader([])
