"""Kronecker products against NumPy's."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms._ext import kronecker
from tests.serial.kernels.calls import DTYPES, call, random

SHAPES = (
    ((1, 1), (1, 1)),
    ((2, 3), (5, 7)),
    ((2, 2), (128, 128)),
    ((40, 1), (3, 33)),
    ((0, 2), (3, 4)),
    ((2, 2), (3, 0)),
)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("first, second", SHAPES)
def test_products(first, second, dtype):
    x, y = random(first, dtype), random(second, dtype, 2)
    out = np.empty((first[0], second[0], first[1], second[1]), dtype)
    call(kronecker.product, (x, y, out), [out])
    np.testing.assert_array_equal(out, x[:, None, :, None] * y[None, :, None, :])


@pytest.mark.parametrize("dtype", [*DTYPES, np.float16, np.int32])
@pytest.mark.parametrize("first, second", [*SHAPES, ((2, 2), (2, 3, 20)), ((3,), (2, 32))])
def test_what_takes_them(first, second, dtype):
    x, y = (random(first, np.float32) * 9).astype(dtype), (random(second, np.float32, 2) * 9).astype(dtype)
    for a, b in ((x, y), (x.T, y.T), (np.asfortranarray(x), np.asfortranarray(y))):
        found = ms.ops.kron(ms.Tensor(a), ms.Tensor(b)).asnumpy()
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, np.kron(a, b).astype(dtype))


def test_refusals():
    with pytest.raises(ValueError, match=r"'out' must have the shape \(1, 3, 2, 4\)"):
        kronecker.product(np.ones((1, 2)), np.ones((3, 4)), np.empty((3, 1, 2, 4)))
    with pytest.raises(TypeError, match="'y' must be float64, but got float32"):
        kronecker.product(np.ones((1, 2)), np.ones((3, 4), np.float32), np.empty((1, 3, 2, 4)))
