"""Floating-point types of 8 bits: values as ml_dtypes has them, casts, and files that bring them back."""

import copy
import pickle

import ml_dtypes
import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Tensor

TYPES = [(ms.float8_e4m3fn, ml_dtypes.float8_e4m3fn), (ms.float8_e5m2, ml_dtypes.float8_e5m2)]


@pytest.mark.parametrize(("dtype", "np_type"), TYPES)
def test_values_and_casts(dtype, np_type):
    values = np.array([1.3, -200.0, 0.01, 0.0, np.nan], np.float32)
    wanted = values.astype(np_type)
    x = Tensor(values, dtype)
    assert x.dtype == dtype and (x.itemsize, x.nbytes) == (1, 5) and x.asnumpy().dtype == np_type
    assert dtype.is_floating_point and ms.dtype_to_nptype(dtype) is np_type
    for cast in (ms.float16, ms.bfloat16, ms.float32, ms.float64):
        assert np.array_equal(x.astype(cast).astype(ms.float32).asnumpy(), wanted.astype(np.float32), equal_nan=True)
    assert np.array_equal(Tensor(values).astype(dtype).asnumpy().view(np.uint8), wanted.view(np.uint8))
    assert Tensor(wanted).dtype == dtype and x[1:3].shape == (2,)
    gradient = ms.grad(lambda a: a.astype(dtype).astype(ms.float32).sum())(Tensor(values[:4]))
    assert gradient.asnumpy().tolist() == [1, 1, 1, 1]


def test_names():
    assert [repr(d) for d, _ in TYPES] == ["mindspore.float8_e4m3fn", "mindspore.float8_e5m2"]
    assert [str(d) for d, _ in TYPES] == ["Float8E4M3FN", "Float8E5M2"]
    assert all(pickle.loads(pickle.dumps(d)) is d and copy.deepcopy(d) is d for d, _ in TYPES)


@pytest.mark.parametrize("form", ["ckpt", "safetensors"])
def test_files(tmp_path, form):
    wanted = {str(d): Tensor(np.array([[1.5, -3.0]], np.float32), d) for d, _ in TYPES}
    path = str(tmp_path / f"a.{form}")
    ms.save_checkpoint([{"name": name, "data": value} for name, value in wanted.items()], path, format=form)
    found = ms.load_checkpoint(path, format=form)
    assert {name: (p.dtype, p.asnumpy().tolist()) for name, p in found.items()} == {
        name: (value.dtype, value.asnumpy().tolist()) for name, value in wanted.items()
    }


def test_types_without_values_of_their_own():
    for name in ("hifloat8", "qint4x2"):
        with pytest.raises(NotImplementedError, match=f"'{name}' is not available"):
            getattr(ms, name)()
