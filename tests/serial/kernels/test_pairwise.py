"""Distances between rows, against NumPy."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms._ext import pairwise
from tests.serial.kernels.calls import DTYPES, NARROW, assert_close, call, random, wide

SHAPES = ((1, 1, 1, 1), (2, 3, 5, 7), (3, 40, 70, 33), (1, 65, 130, 1), (2, 4, 3, 0), (0, 2, 2, 2), (2, 0, 3, 4))


def twin(x, y, p):
    """The distances in float64."""
    d = np.abs(wide(x[..., :, None, :] - y[..., None, :, :]))
    return d.sum(-1) if p == 1 else np.sqrt((d * d).sum(-1))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("p", [1, 2])
def test_distances(p, dtype):
    for b, m, n, k in SHAPES:
        x, y = random((b, m, k), dtype), random((b, n, k), dtype, 2)
        out = np.empty((b, m, n), dtype)
        call(pairwise.distances, (x, np.swapaxes(y, 1, 2).copy(), out, p), [out])
        assert_close(out, twin(x, y, p))


@pytest.mark.parametrize("p", [1, 2])
def test_what_is_no_number(p):
    x = np.array([[0.0, 1.0], [np.nan, 0.0], [np.inf, 0.0]], np.float32)
    with np.errstate(invalid="ignore"):
        wanted = twin(x, x, p)
    np.testing.assert_allclose(ms.ops.cdist(ms.Tensor(x), ms.Tensor(x), p).asnumpy(), wanted, rtol=1e-6)


@pytest.mark.parametrize("dtype", NARROW)
def test_narrow_numbers_are_rounded_once(dtype):
    x = random((2, 9, 17), np.float32).astype(dtype)
    found = ms.ops.cdist(ms.Tensor(x), ms.Tensor(x)).asnumpy()
    x = x.astype(np.float32)
    np.testing.assert_array_equal(
        found.astype(np.float32), twin(x, x, 2).astype(np.float32).astype(dtype).astype(np.float32)
    )


def test_arguments():
    x, out = np.zeros((1, 2, 3)), np.zeros((1, 2, 2))
    with pytest.raises(ValueError, match="'p'"):
        pairwise.distances(x, np.zeros((1, 3, 2)), out, 3)
    with pytest.raises(ValueError, match="'y'"):
        pairwise.distances(x, x, out, 2)
