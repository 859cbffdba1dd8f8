"""The inverse of the error function: the shorter way of float32 against the one of float64, bit for bit."""

import ml_dtypes
import numpy as np
import pytest

import dist_ms as ms
from dist_ms.ops.special_functions.error_function import erfinv_array, erfinv_of_single

LAST = np.nextafter(np.float32(1), np.float32(0))


def numbers():
    rng = np.random.default_rng(0)
    near_one = 1 - np.geomspace(6e-8, 0.1, 20_000)
    near_zero = np.geomspace(1e-38, 0.1, 20_000)
    ends = [0.0, -0.0, 1.0, -1.0, LAST, -LAST, 1.5, -2.0, np.nan, np.inf, 0.5, -0.5]
    return np.concatenate([rng.uniform(-1, 1, 60_001), near_one, -near_one, near_zero, -near_zero, ends])


@pytest.mark.parametrize("dtype", (np.float32, np.float16, ml_dtypes.bfloat16))
def test_short_way(dtype):
    x = numbers().astype(dtype)
    wanted = erfinv_array(x.astype(np.float64))
    found = erfinv_of_single(x)
    np.testing.assert_allclose(found, wanted, rtol=1e-13, atol=0)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(
            ms.ops.erfinv(ms.Tensor(x)).asnumpy().astype(float), wanted.astype(dtype).astype(float)
        )


def test_shapes():
    for shape in ((), (0,), (3, 0), (2, 3, 4)):
        x = np.full(shape, 0.5, np.float32)
        for array in (x, x.T):
            found = erfinv_of_single(array)
            assert found.shape == array.shape
            np.testing.assert_allclose(found, 0.4769362762044699, rtol=1e-14)
