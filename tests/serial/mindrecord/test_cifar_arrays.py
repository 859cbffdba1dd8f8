"""Cifar10 and Cifar100: what MindSpore's converters read the files with, at its paths."""

import importlib
import pickle

import numpy as np
import pytest


@pytest.fixture
def folder(tmp_path):
    draw = np.random.default_rng(3)
    data = {name: draw.integers(0, 256, (4, 3072)).astype(np.uint8) for name in ("a", "b", "test")}
    for name, key in (("data_batch_1", "a"), ("data_batch_2", "b"), ("test_batch", "test")):
        content = {b"data": data[key], b"labels": [1, 9, 0, 4]}
        (tmp_path / name).write_bytes(pickle.dumps(content, protocol=2))
    for name, key in (("train", "a"), ("test", "test")):
        content = {b"data": data[key], b"fine_labels": [1, 99, 0, 4], b"coarse_labels": [19, 0, 1, 2]}
        (tmp_path / name).write_bytes(pickle.dumps(content, protocol=2))
    return str(tmp_path), data


def _images(data):
    return data.reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)


def test_cifar10(folder):
    path, data = folder
    reader = importlib.import_module("dist_ms.mindrecord.tools.cifar10").Cifar10(path, one_hot=False)
    images, labels, test_images, test_labels = reader.load_data()
    assert np.array_equal(images, _images(np.concatenate([data["a"], data["b"]])))
    assert labels.tolist() == [[1], [9], [0], [4]] * 2 and test_labels.tolist() == [[1], [9], [0], [4]]
    assert np.array_equal(test_images, _images(data["test"])) and reader.Test.labels is test_labels


def test_cifar100(folder):
    path, data = folder
    reader = importlib.import_module("dist_ms.mindrecord.tools.cifar100").Cifar100(path)
    images, fine, coarse, test_images, test_fine, test_coarse = reader.load_data()
    assert fine.shape == (4, 100) and coarse.shape == test_coarse.shape == (4, 20)
    assert fine.argmax(1).tolist() == test_fine.argmax(1).tolist() == [1, 99, 0, 4] and fine.sum() == 4
    assert coarse.argmax(1).tolist() == [19, 0, 1, 2] and np.array_equal(images, _images(data["a"]))
    assert np.array_equal(test_images, _images(data["test"]))


def test_errors(tmp_path):
    tools = importlib.import_module("dist_ms.mindrecord.tools.cifar10")
    with pytest.raises(ValueError, match="'one_hot' must be a bool"):
        tools.Cifar10(str(tmp_path), one_hot=1)
    with pytest.raises(RuntimeError, match="no file data_batch"):
        tools.Cifar10(str(tmp_path)).load_data()
    (tmp_path / "data_batch_1").write_bytes(pickle.dumps(print))
    with pytest.raises(RuntimeError, match="asks for builtins.print"):
        tools.Cifar10(str(tmp_path)).load_data()
