"""Whole networks give the same in onnxruntime, with open batches and lengths."""

import numpy as np
import pytest

import dist_ms as ms
from tests.serial.onnx.exported import check, run, runtime
from tests.serial.onnx.networks import GPT, LeNet, ResNet18, WideDeep, Words, settled

DRAWS = np.random.RandomState(2)


def floats(*shape):
    return ms.Tensor(DRAWS.randn(*shape).astype(np.float32))


def ids(limit, *shape):
    return ms.Tensor(DRAWS.randint(0, limit, shape), ms.int32)


NETWORKS = {
    "lenet": (LeNet, [floats(2, 1, 28, 28)]),
    "resnet18": (lambda: settled(ResNet18()), [floats(2, 3, 64, 64)]),
    "gpt": (GPT, [ids(40, 2, 7)]),
    "lstm": (Words, [ids(30, 2, 7)]),
    "wide and deep": (WideDeep, [ids(200, 2, 6), floats(2, 5)]),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_a_network(name, tmp_path):
    make, inputs = NETWORKS[name]
    check(make(), inputs, tmp_path)


def test_a_decoder_whose_length_is_open(tmp_path):
    net, path = GPT(), tmp_path / "gpt.onnx"
    axes = {"ids": {0: "batch", 1: "time"}}
    ms.onnx.export(net, ids(40, 2, 7), file_name=str(path), dynamic_axes=axes, output_names=["logits"])
    for shape in ((1, 1), (3, 11), (2, 64)):
        given = ids(40, *shape)
        np.testing.assert_allclose(run(path, [given.asnumpy()])[0], net(given).asnumpy(), rtol=1e-5, atol=1e-5)


def test_images_whose_size_is_open(tmp_path):
    net, path = settled(ResNet18()).set_train(False), tmp_path / "images.onnx"
    net.stem[3] = ms.nn.MaxPool2d(3, 2, pad_mode="pad", padding=1)
    ms.export(net, ms.Tensor(shape=[None, 3, None, None], dtype=ms.float32), file_name=str(path))
    for shape in ((1, 3, 64, 64), (2, 3, 96, 128)):
        given = floats(*shape)
        np.testing.assert_allclose(run(path, [given.asnumpy()])[0], net(given).asnumpy(), rtol=1e-5, atol=1e-5)


def test_int8_weights_give_nearly_the_same(tmp_path):
    quantization = pytest.importorskip("onnxruntime.quantization")
    net, path, small = LeNet(), tmp_path / "lenet.onnx", tmp_path / "small.onnx"
    ms.export(net, ms.Tensor(shape=[None, 1, 28, 28], dtype=ms.float32), file_name=str(path))
    quantization.quantize_dynamic(str(path), str(small), weight_type=quantization.QuantType.QUInt8)
    images = floats(4, 1, 28, 28)
    exact, close = net(images).asnumpy(), run(small, [images.asnumpy()])[0]
    assert small.stat().st_size < 0.4 * path.stat().st_size
    assert np.abs(exact - close).max() < 0.1 * np.abs(exact).max()
    assert runtime.get_available_providers()
