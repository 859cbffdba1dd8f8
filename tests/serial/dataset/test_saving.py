"""Dataset.save: what was written is read again."""

import numpy as np
import pytest

import dist_ms.dataset as ds

ROWS = [(np.arange(6, dtype=np.float32).reshape(2, 3) + i, np.int32(i), f"s{i}", np.float64(i) / 3) for i in range(5)]
NAMES = ["a", "b", "c", "d"]


def rows_of(data):
    return list(data.create_dict_iterator(num_epochs=1, output_numpy=True))


@pytest.mark.parametrize("files", [1, 3])
def test_rows_are_read_again(tmp_path, files):
    path = str(tmp_path / "x.mindrecord")
    ds.GeneratorDataset(ROWS, NAMES, shuffle=False).save(path, files)
    assert len(list(tmp_path.iterdir())) == 2 * files
    names = [path] if files == 1 else [f"{path}{k}" for k in range(files)]
    found = sorted(rows_of(ds.MindDataset(names, shuffle=False)), key=lambda row: int(row["b"]))
    for row, (a, b, c, d) in zip(found, ROWS, strict=True):
        assert row["a"].dtype == np.float32 and (row["a"] == a).all()
        assert row["b"].dtype == np.int32 and row["b"] == b and str(row["c"]) == c
        assert row["d"].dtype == np.float64 and row["d"] == d


def test_batches_and_narrow_types(tmp_path):
    path = str(tmp_path / "x.mindrecord")
    data = ds.NumpySlicesDataset(
        {"x": np.arange(5, dtype=np.uint8), "h": np.arange(5, dtype=np.float16)}, shuffle=False
    )
    data.batch(2).save(path)
    rows = rows_of(ds.MindDataset(path, shuffle=False))
    assert [row["x"].tolist() for row in rows] == [[0, 1], [2, 3], [4]] and rows[0]["x"].dtype == np.int32
    assert [row["h"].tolist() for row in rows] == [[0, 1], [2, 3], [4]] and rows[0]["h"].dtype == np.float32


def test_what_is_refused(tmp_path):
    data = ds.GeneratorDataset(ROWS, NAMES, shuffle=False)
    path = str(tmp_path / "x.mindrecord")
    data.save(path)
    with pytest.raises(RuntimeError, match="must not exist yet"):
        data.save(path)
    with pytest.raises(TypeError, match="'file_name'"):
        data.save(3)
    with pytest.raises(ValueError, match="'num_files'"):
        data.save(path, 0)
    with pytest.raises(ValueError, match="'file_type'"):
        data.save(path, file_type="tfrecord")
    with pytest.raises(RuntimeError, match="it has none"):
        data.filter(lambda *row: False).save(str(tmp_path / "y"))
    with pytest.raises(TypeError, match="complex128"):
        ds.NumpySlicesDataset([1j]).save(str(tmp_path / "z"))


@pytest.mark.parametrize("path", [3, b"plan.json", ["plan.json"]])
def test_a_description_s_file_is_a_path(path):
    """Not a number, which would be taken for a file that is open."""
    data = ds.NumpySlicesDataset([1, 2], shuffle=False)
    with pytest.raises(TypeError, match="'json_filepath' must be a str or PathLike"):
        ds.serialize(data, path)
    with pytest.raises(TypeError, match="'json_filepath' must be a str or PathLike"):
        ds.deserialize(json_filepath=path)


@pytest.mark.parametrize("data", [(None,), {"a": None}, ([1], None)])
def test_a_column_without_values_is_named(data):
    with pytest.raises(TypeError, match="'data' must be arrays or lists, but got None for '(a|column_[01])'"):
        ds.NumpySlicesDataset(data)


def test_unsigned_numbers_of_64_bits(tmp_path):
    path = str(tmp_path / "x")
    ds.NumpySlicesDataset(np.array([[1, 2**63 - 1]], np.uint64), ["a"]).save(path)
    ((found,),) = ds.MindDataset(path).create_tuple_iterator(num_epochs=1, output_numpy=True)
    assert found.dtype == np.int64 and found.tolist() == [1, 2**63 - 1]
    with pytest.raises(ValueError, match=r"For 'save', 'a' must be below 2\*\*63"):
        ds.NumpySlicesDataset(np.array([2**63], np.uint64), ["a"]).save(str(tmp_path / "y"))
