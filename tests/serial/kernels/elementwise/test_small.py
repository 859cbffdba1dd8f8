"""Sums, differences and products of small arrays against NumPy's, bit by bit, and when they leave the work to it."""

import warnings

import ml_dtypes
import numpy as np
import pytest

from dist_ms._ext import small

KERNELS = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply}
SHAPES = [(), (0,), (1,), (5,), (3, 0, 2), (7, 13), (2, 3, 4, 5), (1024,)]
NUMBERS = [2.5, -0.0, 0.1, 1e300, float("inf"), float("nan"), 3, -(2**53), 2**24 + 1]


def random(shape, dtype, seed):
    return np.asarray(3 * np.random.default_rng(seed).standard_normal(shape)).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("shape", SHAPES)
def test_two_arrays(name, dtype, shape):
    x, y = random(shape, dtype, 0), random(shape, dtype, 1)
    out = getattr(small, name)(x, y)
    assert out.shape == shape and out.dtype == dtype
    assert out.tobytes() == KERNELS[name](x, y).tobytes()
    assert not np.shares_memory(out, x) and not np.shares_memory(out, y)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("number", NUMBERS)
def test_an_array_and_a_number(name, dtype, number):
    x = random((3, 5), dtype, 2)
    with np.errstate(all="ignore"):
        one = np.asarray(number, dtype)
        wanted, swapped = KERNELS[name](x, one), KERNELS[name](one, x)
    np.testing.assert_array_equal(getattr(small, name)(x, number), wanted)
    np.testing.assert_array_equal(getattr(small, name)(number, x), swapped)


def test_nothing_warns():
    x = np.array([np.inf, 3e38], np.float32)
    with warnings.catch_warnings(), np.errstate(all="warn"):
        warnings.simplefilter("error")
        assert np.isnan(small.subtract(x, x)[0])
        assert np.isinf(small.multiply(x, x)).all()
        assert np.isinf(small.add(x, x)).all()
        np.add(np.ones(2), 1)  # what the loops above raised is not seen here


@pytest.mark.parametrize(
    ("x", "y"),
    [
        (np.ones(1025, np.float32), np.ones(1025, np.float32)),
        (np.ones((2, 3), np.float32), np.ones((3, 2), np.float32)),
        (np.ones((2, 3), np.float32), np.ones(3, np.float32)),
        (np.ones((3, 4), np.float32).T, np.ones((4, 3), np.float32)),
        (np.ones(8, np.float32)[::2], np.ones(4, np.float32)),
        (np.ones(4, np.float32), np.ones(4, np.float64)),
        (np.ones(4, ">f4"), np.ones(4, ">f4")),
        (np.ones(4, np.float16), np.ones(4, np.float16)),
        (np.ones(4, np.int32), np.ones(4, np.int32)),
        (np.ones(4, np.complex64), 2.0),
        (np.ones(4, np.float32), True),
        (np.ones(4, np.float32), 2**53 + 1),
        (np.ones(4, np.float32), 2**70),
        (np.ones(4, np.float32), 1j),
        (np.ones(4, np.float32), None),
        (2.0, 3.0),
        (np.float32(2), np.float32(3)),
        (np.ma.masked_array([1.0], [True]), np.ones(1)),
    ],
)
def test_the_rest_is_numpys(x, y):
    for name in KERNELS:
        assert getattr(small, name)(x, y) is None
        assert getattr(small, name)(y, x) is None


@pytest.mark.parametrize("size", [0, 1, 15, 16, 17, 1000, 8192])
def test_dot_of_bfloat16(size):
    rng = np.random.default_rng(size)
    x, y = (rng.standard_normal(size).astype(ml_dtypes.bfloat16) for _ in range(2))
    found, products = small.dot(x, y), x.astype(np.float64) * y.astype(np.float64)
    assert found.dtype == x.dtype and found.shape == ()
    assert abs(float(found) - products.sum()) <= 2**-8 * abs(products.sum()) + 1e-6 * abs(products).sum()
    if size:
        x[0] = np.nan
        assert np.isnan(float(small.dot(x, y)))


def test_dot_leaves_the_rest_to_numpy():
    x = np.ones(20, ml_dtypes.bfloat16)
    for a, b in ((x, x[:10]), (x[::2], x[::2]), (x.astype(np.float32), x), (x.reshape(4, 5), x.reshape(4, 5)), (x, 1)):
        assert small.dot(a, b) is None
    assert small.dot(*[np.ones(8193, ml_dtypes.bfloat16)] * 2) is None


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [0, 1, 2, 7, 8, 9, 100, 128, 129, 136, 200, 300, 1111])
def test_trace_has_the_bits_of_numpys_sum(size, dtype):
    whole = np.random.default_rng(size).standard_normal((size + 3, size + 5)).astype(dtype)
    for x in (whole[:size, :size], whole[:size], whole[:, :size], whole[: size + 1, :size].T, whole[::-1, ::-1]):
        found = small.trace(x)
        assert found.dtype == dtype and found.shape == ()
        assert found.tobytes() == np.asarray(x.diagonal().sum()).tobytes()


@pytest.mark.parametrize("size", [0, 1, 8, 1000])
def test_trace_of_bfloat16_is_rounded_once(size):
    x = np.random.default_rng(size).standard_normal((size, size + 1)).astype(ml_dtypes.bfloat16)
    numbers = x.diagonal().astype(np.float64)
    found = small.trace(x)
    assert found.dtype == x.dtype
    assert abs(float(found) - numbers.sum()) <= 2**-8 * abs(numbers.sum()) + 1e-6 * abs(numbers).sum()


def test_trace_leaves_the_rest_to_numpy():
    for x in (
        np.ones(3, np.float32),
        np.ones((2, 2), np.int32),
        np.ones((2, 2), np.complex64),
        np.ones((2, 2), ">f4"),
        np.ones((2, 2, 2)),
        np.broadcast_to(np.float32(1), (8193, 8193)),
        1.0,
    ):
        assert small.trace(x) is None
