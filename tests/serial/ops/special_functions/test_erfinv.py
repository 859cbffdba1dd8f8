"""The inverse of the error function against that of SciPy in float64."""

import ml_dtypes
import numpy as np
import pytest
import scipy.special

import dist_ms as ms

LAST = np.nextafter(np.float32(1), np.float32(0))


def numbers():
    rng = np.random.default_rng(0)
    near_one = 1 - np.geomspace(6e-8, 0.1, 20_000)
    near_zero = np.geomspace(1e-38, 0.1, 20_000)
    ends = [0.0, -0.0, 1.0, -1.0, LAST, -LAST, 1.5, -2.0, np.nan, np.inf, 0.5, -0.5]
    return np.concatenate([rng.uniform(-1, 1, 60_001), near_one, -near_one, near_zero, -near_zero, ends])


@pytest.mark.parametrize("dtype", (np.float32, np.float16, ml_dtypes.bfloat16))
def test_values(dtype):
    x = numbers().astype(dtype)
    wanted = scipy.special.erfinv(x.astype(np.float64))
    found = ms.ops.erfinv(ms.Tensor(x)).asnumpy()
    assert found.dtype == dtype
    limits = ml_dtypes.finfo(dtype)
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(
            found.astype(float),
            wanted.astype(dtype).astype(float),
            rtol=2 * float(limits.eps),
            atol=float(limits.tiny),
        )
    assert np.signbit(found[x == 0]).tolist() == np.signbit(x[x == 0]).tolist()


def test_shapes():
    for shape in ((), (0,), (3, 0), (2, 3, 4)):
        for dtype in (np.float32, np.float64):
            x = np.full(shape, 0.5, dtype)
            for array in (x, x.T):
                found = ms.ops.erfinv(ms.Tensor(array)).asnumpy()
                assert found.shape == array.shape and found.dtype == dtype
                np.testing.assert_allclose(found, 0.4769362762044699, rtol=2e-7)
