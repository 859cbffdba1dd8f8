"""Triangles against NumPy's."""

import numpy as np
import pytest

from dist_ms._ext import triangles
from tests.serial.kernels.calls import call


@pytest.mark.parametrize("shape", [(0, 2, 3), (3, 0, 4), (2, 3, 0), (1, 1, 1), (5, 7, 4), (2, 300, 250), (1, 250, 300)])
@pytest.mark.parametrize("dtype", [np.bool_, np.float16, np.int32, np.float64, np.complex128])
def test_triangles(shape, dtype):
    x = np.random.default_rng(1).integers(1, 2 if dtype is np.bool_ else 50, shape).astype(dtype)
    out = np.empty_like(x)
    for diagonal in (-400, -3, -1, 0, 1, 100, 400):
        np.testing.assert_array_equal(call(triangles.cut, (x, diagonal, True, out), [out]), np.tril(x, diagonal))
        np.testing.assert_array_equal(call(triangles.cut, (x, diagonal, False, out), [out]), np.triu(x, diagonal))


@pytest.mark.parametrize(
    "x, out, error",
    [
        (np.zeros((2, 2)), np.zeros((2, 2)), ValueError),
        (np.zeros((1, 2, 2)), np.zeros((1, 2, 3)), ValueError),
        (np.zeros((1, 2, 2)), np.zeros((1, 2, 2), np.float32), TypeError),
        (np.zeros((1, 2, 2), object), np.zeros((1, 2, 2), object), TypeError),
    ],
)
def test_errors(x, out, error):
    with pytest.raises(error, match="For 'cut'"):
        triangles.cut(x, 0, True, out)
