"""Group normalisation and its gradient against NumPy's in float64."""

import numpy as np
import pytest

from dist_ms._ext import group_norm
from tests.serial.kernels.calls import DTYPES, NARROW, assert_close, call, random, wide

# Samples, groups, channels of a group, numbers of a channel.
SHAPES = [(1, 1, 1, 1), (2, 3, 1, 5), (3, 2, 4, 1), (2, 4, 2, 63), (5, 1, 3, 1000), (2, 8, 8, 196)]
EPS = 1e-3


def arrays(shape, dtype):
    """x, gamma, beta and dy."""
    samples, groups, channels, size = shape
    x = random((samples, groups * channels, size), dtype) * 2 + 3
    gamma, beta = random(groups * channels, dtype, 2), random(groups * channels, dtype, 3)
    return x, gamma, beta, random(x.shape, dtype, 4)


def normalised(x, shape):
    """xhat and 1 / sqrt(variance + eps), by groups."""
    grouped = wide(x).reshape(shape)
    centred = grouped - grouped.mean((2, 3), keepdims=True)
    rstd = 1 / np.sqrt((centred**2).mean((2, 3), keepdims=True) + EPS)
    return centred * rstd, rstd


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_against_numpy(dtype, shape):
    x, gamma, beta, dy = arrays(shape, dtype)
    out, mean, rstd = np.empty_like(x), np.empty(shape[0] * shape[1], dtype), np.empty(shape[0] * shape[1], dtype)
    call(group_norm.forward, (x, gamma, beta, EPS, out, mean, rstd), [out, mean, rstd])
    xhat, wanted_rstd = normalised(x, shape)
    assert_close(out, xhat.reshape(x.shape) * gamma[:, None] + beta[:, None], 10)
    assert_close(mean, wide(x).reshape(shape).mean((2, 3)).ravel(), 4)
    assert_close(rstd, wanted_rstd.ravel(), 10)

    dx, dgamma, dbeta = np.empty_like(x), np.empty_like(gamma), np.empty_like(beta)
    call(group_norm.backward, (dy, x, gamma, mean, rstd, dx, dgamma, dbeta), [dx, dgamma, dbeta])
    g = (wide(dy) * gamma[:, None]).reshape(shape)
    parts = g - g.mean((2, 3), keepdims=True) - xhat * (g * xhat).mean((2, 3), keepdims=True)
    assert_close(dx, (wanted_rstd * parts).reshape(x.shape), 10 * wanted_rstd.max())
    scale = 10 * (shape[0] * shape[3]) ** 0.5
    assert_close(dgamma, (wide(dy).reshape(shape) * xhat).reshape(x.shape).sum((0, 2)), scale)
    assert_close(dbeta, wide(dy).sum((0, 2)), scale)


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("shape", SHAPES)
def test_narrow_numbers_give_the_bits_of_float32_between_two_casts(dtype, shape):
    x, gamma, beta, dy = arrays(shape, np.float32)
    x, dy = x.astype(dtype), dy.astype(dtype)
    results = []
    for kind in (dtype, np.float32):
        given = x.astype(kind), dy.astype(kind)
        out, dx, dgamma, dbeta = *map(np.empty_like, given), np.empty_like(gamma), np.empty_like(beta)
        mean, rstd = np.empty(shape[0] * shape[1], np.float32), np.empty(shape[0] * shape[1], np.float32)
        call(group_norm.forward, (given[0], gamma, beta, EPS, out, mean, rstd), [out, mean, rstd])
        call(group_norm.backward, (given[1], given[0], gamma, mean, rstd, dx, dgamma, dbeta), [dx, dgamma, dbeta])
        results.append([out.astype(dtype), dx.astype(dtype), mean, rstd, dgamma, dbeta])
    for narrow, cast in zip(*results, strict=True):
        assert narrow.tobytes() == cast.tobytes()


def test_a_large_mean_does_not_cancel():
    x = (random((2, 4, 500), np.float32) + 1000).astype(np.float32)
    out, mean, rstd = np.empty_like(x), np.empty(4, np.float32), np.empty(4, np.float32)
    group_norm.forward(x, np.ones(4, np.float32), np.zeros(4, np.float32), 0.0, out, mean, rstd)
    grouped = wide(x).reshape(4, -1)
    wanted = (grouped - grouped.mean(1, keepdims=True)) / grouped.std(1, keepdims=True)
    np.testing.assert_allclose(out.reshape(4, -1), wanted, atol=2e-4)


def test_wrong_arguments():
    x, gamma, beta, _dy = arrays((2, 3, 2, 5), np.float32)
    out, mean, rstd = np.empty_like(x), np.empty(6, np.float32), np.empty(6, np.float32)
    with pytest.raises(ValueError, match="'mean' must have an element per sample and group of 'x'"):
        group_norm.forward(x, gamma, beta, EPS, out, mean[:5].copy(), rstd)
    with pytest.raises(ValueError, match="'rstd' must have length 6, but got 4"):
        group_norm.forward(x, gamma, beta, EPS, out, mean, rstd[:4].copy())
    with pytest.raises(TypeError, match="'x' must be float32, float64, bfloat16 or float16, but got int32"):
        group_norm.forward(x.astype(np.int32), gamma, beta, EPS, out, mean, rstd)
    with pytest.raises(TypeError, match="'out' must be float64, as 'x' is float64"):
        group_norm.forward(x.astype(np.float64), gamma, beta, EPS, out, mean, rstd)
    with pytest.raises(ValueError, match="'x' must not be empty"):
        group_norm.forward(x[:0].copy(), gamma, beta, EPS, out, mean, rstd)
    with pytest.raises(ValueError, match="'gamma' must have length 6, but got 5"):
        group_norm.forward(x, gamma[:5].copy(), beta, EPS, out, mean, rstd)
