"""Other files into MindRecord files; the rows are those of MindSpore 2.10's converters."""

import gzip
import pickle
import struct
from types import SimpleNamespace

import numpy as np
import pytest

import dist_ms.mindrecord as mr
from tests.tfrecords import example, framed


def rows(path):
    return list(mr.FileReader(str(path)).get_next())


def decoded(data):
    cv2 = pytest.importorskip("cv2")
    return cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)


def test_cifar(tmp_path):
    pytest.importorskip("cv2")
    image = np.zeros((3, 3, 32, 32), np.uint8)
    image[:, 0] = 200  # red
    content = {
        b"data": image.reshape(3, -1),
        b"labels": [3, 1, 2],
        b"fine_labels": [4, 5, 6],
        b"coarse_labels": [0, 1, 0],
    }
    for name in ("data_batch_1", "data_batch_2", "test_batch", "train", "test"):
        (tmp_path / name).write_bytes(pickle.dumps(content))
    mr.Cifar10ToMR(str(tmp_path), str(tmp_path / "ten")).transform(["label"])
    found = rows(tmp_path / "ten")
    assert [(row["id"], row["label"]) for row in found] == list(enumerate([3, 1, 2] * 2))
    assert abs(decoded(found[0]["data"]).astype(int) - [0, 0, 200]).max() <= 3
    assert len(rows(tmp_path / "ten_test")) == 3
    mr.Cifar100ToMR(str(tmp_path), str(tmp_path / "hundred")).transform()
    assert [(row["fine_label"], row["coarse_label"]) for row in rows(tmp_path / "hundred")] == [(4, 0), (5, 1), (6, 0)]
    (tmp_path / "train").write_bytes(pickle.dumps(pytest.raises))
    with pytest.raises(RuntimeError, match="train is no file of CIFAR"):
        mr.Cifar100ToMR(str(tmp_path), str(tmp_path / "other")).transform()
    (tmp_path / "test").unlink()
    with pytest.raises(mr.PathNotExistsError):
        mr.Cifar100ToMR(str(tmp_path), str(tmp_path / "other"))


def test_mnist(tmp_path):
    pytest.importorskip("cv2")
    images = np.full((3, 784), 100, np.uint8)
    for name in ("train", "t10k"):
        with gzip.open(tmp_path / f"{name}-images-idx3-ubyte.gz", "wb") as file:
            file.write(struct.pack(">4i", 2051, 3, 28, 28) + images.tobytes())
        with gzip.open(tmp_path / f"{name}-labels-idx1-ubyte.gz", "wb") as file:
            file.write(struct.pack(">2i", 2049, 3) + bytes([4, 5, 6]))
    mr.MnistToMR(str(tmp_path), str(tmp_path / "mnist")).transform()
    for part in ("train", "test"):
        found = rows(tmp_path / f"mnist_{part}.mindrecord")
        assert [row["label"] for row in found] == [4, 5, 6]
        assert decoded(found[0]["data"]).shape == (28, 28)


def test_imagenet(tmp_path):
    for name in ("n1", "n2"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.JPEG").write_bytes(name.encode())
        (tmp_path / name / "b.txt").write_bytes(b"no image")
    (tmp_path / "map").write_text("n1 0\nn2 1\nn3 2\n")
    mr.ImageNetToMR(str(tmp_path / "map"), str(tmp_path), str(tmp_path / "out")).transform()
    wanted = [
        {"label": k, "image": n.encode(), "file_name": f"{tmp_path}/{n}/a.JPEG"} for k, n in enumerate(("n1", "n2"))
    ]
    assert rows(tmp_path / "out") == wanted
    with pytest.raises(ValueError, match="partition_number"):
        mr.ImageNetToMR(str(tmp_path / "map"), str(tmp_path), str(tmp_path / "out"), "2")


def test_csv(tmp_path):
    pytest.importorskip("pandas")
    (tmp_path / "t.csv").write_text('a,b,s,k\n1,x,2.5,True\n2,"y, z",3.5,False\n')
    mr.CsvToMR(str(tmp_path / "t.csv"), str(tmp_path / "all")).transform()
    wanted = [{"a": 1, "b": "x", "k": 1, "s": 2.5}, {"a": 2, "b": "y, z", "k": 0, "s": 3.5}]
    assert rows(tmp_path / "all") == wanted
    mr.CsvToMR(str(tmp_path / "t.csv"), str(tmp_path / "some"), ["s"]).transform()
    assert rows(tmp_path / "some") == [{"s": 2.5}, {"s": 3.5}]
    with pytest.raises(RuntimeError, match="columns_list"):
        mr.CsvToMR(str(tmp_path / "t.csv"), str(tmp_path / "none"), ["q"]).transform()
    with pytest.raises(OSError, match="exist"):
        mr.CsvToMR(str(tmp_path / "q.csv"), str(tmp_path / "none")).transform()


def test_tfrecord(tmp_path):
    values = [{"n/x": [k], "f": [k + 0.5], "v": [k, k + 1], "s": [b"ab"], "b": [b"\xff"]} for k in range(3)]
    (tmp_path / "t.tfrecord").write_bytes(b"".join(framed(example(v)) for v in values))
    kinds = {"n/x": "int64", "f": "float32", "s": "string", "b": "string"}
    features = {name: SimpleNamespace(shape=[], dtype=kind) for name, kind in kinds.items()}
    features["v"] = SimpleNamespace(shape=[2], dtype=np.int64)
    mr.TFRecordToMR(str(tmp_path / "t.tfrecord"), str(tmp_path / "out"), features, ["b"]).transform()
    found = rows(tmp_path / "out")
    assert [row.pop("v").tolist() for row in found] == [[k, k + 1] for k in range(3)]
    assert found == [{"n_x": k, "f": k + 0.5, "s": "ab", "b": b"\xff"} for k in range(3)]
    features["v"].shape = [3]
    with pytest.raises(ValueError, match="record 0.*'v'"):
        mr.TFRecordToMR(str(tmp_path / "t.tfrecord"), str(tmp_path / "other"), features, ["b"]).transform()
    with pytest.raises(ValueError, match="bytes_fields"):
        mr.TFRecordToMR(str(tmp_path / "t.tfrecord"), str(tmp_path / "other"), features, ["f"])
