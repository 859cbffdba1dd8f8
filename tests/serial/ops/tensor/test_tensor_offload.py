"""Tensor.offload and tensors on the device "meta"."""

import copy

import ml_dtypes
import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Parameter, Tensor, nn


@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.bool_, np.complex64, ml_dtypes.bfloat16])
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (0, 2)])
def test_values_come_from_the_file(tmp_path, dtype, shape):
    values = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)
    x, path = Tensor(values.copy()), str(tmp_path / "x")
    assert x.offload_file_path() == "" and x.offload(path) is True and x.offload_file_path() == path
    assert np.array_equal(np.fromfile(path, np.uint8), np.frombuffer(values.tobytes(), np.uint8))
    assert x.shape == shape and np.array_equal(x.asnumpy(), values) and np.array_equal(copy.copy(x).asnumpy(), values)


def test_a_view_is_written_in_its_own_order(tmp_path):
    values = np.arange(6, dtype=np.float32).reshape(2, 3)
    x = Tensor(values).swapaxes(0, 1)
    x.offload(str(tmp_path / "x"))
    assert np.array_equal(x.asnumpy(), values.T)


def test_changes_stay_in_memory(tmp_path):
    x, path = Tensor(np.ones(3, np.float32)), str(tmp_path / "x")
    x.offload(path)
    x += 1
    x[0] = 5
    assert x.asnumpy().tolist() == [5, 2, 2] and np.fromfile(path, np.float32).tolist() == [1, 1, 1]
    x.offload(path)
    assert np.fromfile(path, np.float32).tolist() == [5, 2, 2] and x.asnumpy().tolist() == [5, 2, 2]


def test_a_parameter_trains_on(tmp_path):
    net = nn.Dense(2, 1, weight_init="ones", has_bias=False)
    net.weight.offload(str(tmp_path / "w"))
    step = nn.TrainOneStepCell(net, nn.SGD(net.trainable_params(), 0.5))
    step(Tensor(np.ones((1, 2), np.float32)))
    assert net.weight.asnumpy().tolist() == [[0.5, 0.5]]


def test_offload_errors(tmp_path):
    with pytest.raises(TypeError, match="'file_path' must be a str"):
        Tensor([1]).offload(3)
    for path in ("", str(tmp_path / "none" / "x")):
        with pytest.raises(ValueError, match="a file in a folder that exists"):
            Tensor([1]).offload(path)


def test_meta_tensors_have_a_shape_and_a_dtype_only():
    x = Tensor(np.ones((2, 1), np.int32), device="meta")
    assert x.is_meta and x.shape == (2, 1) and x.dtype == ms.int32 and not Tensor([1]).is_meta
    assert Tensor(shape=(2, 3), dtype=ms.float16, device="meta").shape == (2, 3)
    for use in (x.asnumpy, lambda: x + x):
        with pytest.raises(RuntimeError, match="device 'meta'"):
            use()
    with pytest.raises(ValueError, match="'CPU' or 'meta', but got 'GPU'"):
        Tensor([1], device="GPU")
    assert not Parameter(Tensor([1.0]), name="w").is_meta
