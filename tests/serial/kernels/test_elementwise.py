"""Elementwise kernels against NumPy's and ml_dtypes' own, bit by bit."""

import ml_dtypes
import numpy as np
import pytest

from dist_ms._ext import elementwise
from tests.serial.kernels.calls import call, layouts

BF16 = np.dtype(ml_dtypes.bfloat16)
KERNELS = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply}
SHAPES = [(), (0,), (1,), (5,), (3, 0, 2), (7, 13), (2, 3, 4, 5), (300, 211)]


def random(shape, dtype, seed):
    return np.asarray(3 * np.random.default_rng(seed).standard_normal(shape)).astype(dtype)


def bits(x):
    return np.ascontiguousarray(x).tobytes()


@pytest.mark.parametrize("dtype", [np.float32, np.float64, BF16, np.float16])
@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("shape", SHAPES)
def test_same_shape(name, dtype, shape):
    for x, y in zip(layouts(random(shape, dtype, 0)), layouts(random(shape, dtype, 1)), strict=True):
        out = np.empty_like(x)
        assert bits(call(getattr(elementwise, name), (x, y, out), [out])) == bits(KERNELS[name](x, y))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, BF16, np.float16])
@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("last", [(), (1,), (211,), (3, 211)])
def test_repeated(name, dtype, last):
    x, y = random((200, 3, 211), dtype, 2), random(last, dtype, 3)
    out = np.empty_like(x)
    assert bits(call(getattr(elementwise, name), (x, y, out), [out])) == bits(KERNELS[name](x, y))


def test_an_output_may_be_an_input():
    x = random((50_000,), np.float32, 4)
    wanted = x + x
    elementwise.add(x, x, x)
    np.testing.assert_array_equal(x, wanted)


def test_wrong_arguments():
    x = np.zeros((4, 6), np.float32)
    with pytest.raises(TypeError, match="'x' must be float32, float64, bfloat16 or float16, but got int32"):
        elementwise.add(x.astype(np.int32), x, x)
    with pytest.raises(TypeError, match="'y' and 'out' must be float32 as 'x' is"):
        elementwise.add(x, x.astype(float), x.copy())
    with pytest.raises(ValueError, match="the last lengths of 'x'"):
        elementwise.add(x, np.zeros(4, np.float32), x.copy())
    with pytest.raises(ValueError, match="the last lengths of 'x'"):
        elementwise.add(x, np.zeros((1, 4, 6, 2), np.float32), x.copy())
    with pytest.raises(ValueError, match="must fill one piece of memory"):
        elementwise.add(x[:, ::2], x[:, ::2], x[:, :3].copy())
    with pytest.raises(ValueError, match="must have the strides"):
        elementwise.add(x, np.asfortranarray(x), x.copy())
