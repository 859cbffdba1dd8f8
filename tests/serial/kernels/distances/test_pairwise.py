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
    np.testing.assert_allclose(ms.ops.cdist(ms.Tensor(x), ms.Tensor(x), float(p)).asnumpy(), wanted, rtol=1e-6)


@pytest.mark.parametrize("dtype", NARROW)
def test_narrow_numbers_are_rounded_once(dtype):
    x = random((2, 9, 17), np.float32).astype(dtype)
    found = ms.ops.cdist(ms.Tensor(x), ms.Tensor(x)).asnumpy()
    x = x.astype(np.float32)
    np.testing.assert_array_equal(
        found.astype(np.float32), twin(x, x, 2).astype(np.float32).astype(dtype).astype(np.float32)
    )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("p", [1, 2])
def test_weighted_slopes(p, dtype):
    for b, m, n, k in SHAPES:
        x, y, weights = random((b, m, k), dtype), random((b, n, k), dtype, 2), random((b, m, n), dtype, 3)
        out = np.empty((b, m, k), dtype)
        call(pairwise.weighted_slopes, (x, y, weights, out, p), [out])
        d = wide(x[:, :, None, :] - y[:, None, :, :])
        parts = wide(weights)[..., None] * (d if p == 2 else np.sign(d))
        limit = 4 * np.finfo(dtype).eps * np.abs(parts).sum(2) + 1e-300
        assert (np.abs(wide(out) - parts.sum(2)) <= limit).all()


def composed(p):
    """cdist in plain operations."""

    def distances(x, y):
        d = x.expand_dims(-2) - y.expand_dims(-3)
        return ms.ops.abs(d).sum(-1) if p == 1 else ms.ops.sqrt((d * d).sum(-1))

    return distances


@pytest.mark.parametrize("p", [1, 2])
def test_gradients_of_two_orders(p):
    x, y = (ms.Tensor(random((2, 5, 3), np.float64, seed)) for seed in (4, 5))
    dy = ms.Tensor(random((2, 5, 5), np.float64, 6))

    def first(function):
        return lambda x, y: sum((g * g).sum() for g in ms.vjp(function, x, y)[1](dy))

    for own, other in (
        (lambda x, y: (ms.ops.cdist(x, y, float(p)) * dy).sum(), lambda x, y: (composed(p)(x, y) * dy).sum()),
        (first(lambda x, y: ms.ops.cdist(x, y, float(p))), first(composed(p))),
    ):
        found, wanted = (ms.grad(f, grad_position=(0, 1))(x, y) for f in (own, other))
        for a, b in zip(found, wanted, strict=True):
            np.testing.assert_allclose(a.asnumpy(), b.asnumpy(), rtol=1e-11, atol=1e-13)


def test_a_distance_of_zero_has_no_slope():
    x = ms.Tensor(np.array([[1.0, 2.0], [4.0, 6.0]]))
    grad = ms.grad(lambda x: ms.ops.cdist(x, x).sum())(x).asnumpy()
    np.testing.assert_allclose(grad, [[-1.2, -1.6], [1.2, 1.6]])


def test_arguments():
    x, out = np.zeros((1, 2, 3)), np.zeros((1, 2, 2))
    with pytest.raises(ValueError, match="'p'"):
        pairwise.distances(x, np.zeros((1, 3, 2)), out, 3)
    with pytest.raises(ValueError, match="'y'"):
        pairwise.distances(x, x, out, 2)
    with pytest.raises(ValueError, match="'weights'"):
        pairwise.weighted_slopes(x, x, x, np.zeros((1, 2, 3)), 2)
