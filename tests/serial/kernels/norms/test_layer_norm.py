"""Layer normalisation against its twin."""

import numpy as np
import pytest

from dist_ms._ext import layer_norm
from tests import reference
from tests.serial.kernels.calls import DTYPES, STORED, assert_close, call, wide

SHAPES = [(1, 1), (0, 5), (5, 1), (1, 9), (3, 64), (7, 100), (130, 33), (601, 256)]


def arrays(shape, dtype, offset=0.0):
    """Return x, gamma, beta and dy."""
    rng = np.random.default_rng(1)
    x = rng.standard_normal(shape) + offset
    gamma, beta = rng.standard_normal((2, shape[1]))
    return [array.astype(dtype) for array in (x, gamma, beta, rng.standard_normal(shape))]


def forward(x, gamma, beta, eps=1e-5):
    out, mean, rstd = np.empty_like(x), *np.empty((2, len(x)), x.dtype)
    return call(layer_norm.forward, (x, gamma, beta, eps, out, mean, rstd), [out, mean, rstd])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_forward(dtype, shape):
    x, gamma, beta, _ = arrays(shape, dtype)
    out, mean, rstd = forward(x, gamma, beta)
    wanted_mean, wanted_rstd = reference.statistics(wide(x), 1, 1e-5)
    assert_close(mean, wanted_mean[:, 0])
    assert_close(rstd, wanted_rstd[:, 0])
    assert_close(out, reference.normalise(wide(x), wanted_mean, wanted_rstd, gamma, beta), scale=2)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_backward(dtype, shape):
    x, gamma, beta, dy = arrays(shape, dtype)
    _, mean, rstd = forward(x, gamma, beta)
    outputs = np.empty_like(x), np.empty_like(gamma), np.empty_like(gamma)
    dx, dgamma, dbeta = call(layer_norm.backward, (dy, x, gamma, mean, rstd, *outputs), outputs)
    kept = wide(mean)[:, None], wide(rstd)[:, None]
    wanted = reference.normalise_gradient(wide(dy), wide(x), *kept, wide(gamma), 1, 0)
    assert_close(dx, wanted[0], scale=rstd.max(initial=1))
    assert_close(dgamma, wanted[1], scale=len(x) ** 0.5)
    assert_close(dbeta, wanted[2], scale=len(x) ** 0.5)


@pytest.mark.parametrize("source", STORED)
@pytest.mark.parametrize("target", STORED)
@pytest.mark.parametrize("shape", SHAPES)
def test_narrow_numbers_are_those_of_float32_between_casts(source, target, shape):
    x, gamma, beta, dy = arrays(shape, np.float32)
    x, dy = x.astype(source), dy.astype(target)
    plain, plain_mean, plain_rstd = forward(x.astype(np.float32), gamma, beta)
    out, mean, rstd = np.empty(shape, target), *np.empty((2, len(x)), np.float32)
    call(layer_norm.forward, (x, gamma, beta, 1e-5, out, mean, rstd), [out, mean, rstd])
    assert out.tobytes() == plain.astype(target).tobytes()
    assert mean.tobytes() == plain_mean.tobytes() and rstd.tobytes() == plain_rstd.tobytes()
    for kind in (source, target):
        found = np.empty(shape, kind), np.empty_like(gamma), np.empty_like(gamma)
        wanted = np.empty(shape, np.float32), np.empty_like(gamma), np.empty_like(gamma)
        call(layer_norm.backward, (dy, x, gamma, mean, rstd, *found), found)
        layer_norm.backward(dy.astype(np.float32), x.astype(np.float32), gamma, mean, rstd, *wanted)
        for one, other in zip(found, wanted, strict=True):
            assert one.tobytes() == other.astype(one.dtype).tobytes()


def test_the_gradient_may_replace_what_it_is_of():
    x, gamma, _, dy = arrays((133, 40), np.float32)
    mean, rstd = x.mean(1), 1 / x.std(1)
    parts = np.empty_like(gamma), np.empty_like(gamma)
    dx = np.empty_like(x)
    layer_norm.backward(dy, x, gamma, mean, rstd, dx, *parts)
    layer_norm.backward(dy, x, gamma, mean, rstd, dy, *parts)
    assert dy.tobytes() == dx.tobytes()


def test_the_variance_survives_a_mean_a_hundred_thousand_times_larger():
    x, gamma, beta, _ = arrays((4, 5000), np.float32, offset=1e5)
    _, mean, rstd = forward(x, gamma, beta, eps=0.0)
    wanted_mean, wanted_rstd = reference.statistics(wide(x), 1, 0.0)
    np.testing.assert_allclose(mean, wanted_mean[:, 0], rtol=1e-7)
    np.testing.assert_allclose(rstd, wanted_rstd[:, 0], rtol=1e-6)


def test_constant_rows_and_nan_rows():
    x = np.array([[3.0] * 8, [np.nan] + [0.0] * 7], np.float32)
    gamma, beta = np.ones(8, np.float32), np.zeros(8, np.float32)
    out, _, rstd = forward(x, gamma, beta, eps=1e-6)
    assert (out[0] == 0).all()
    assert rstd[0] == np.float32(1000)
    assert np.isnan(out[1]).all()


def test_wrong_arguments():
    x, gamma, beta, dy = arrays((4, 6), np.float32)
    out, mean, rstd = np.zeros_like(x), np.zeros(4, np.float32), np.zeros(4, np.float32)
    with pytest.raises(ValueError, match="For 'layer_norm.forward', 'gamma' must have length 6"):
        layer_norm.forward(x, gamma[:5], beta, 1e-5, out, mean, rstd)
    with pytest.raises(ValueError, match="'mean' must have length 4, but got 3"):
        layer_norm.forward(x, gamma, beta, 1e-5, out, mean[:3], rstd)
    with pytest.raises(ValueError, match="'x' must be C-contiguous"):
        layer_norm.forward(x[:, ::-1], gamma, beta, 1e-5, out, mean, rstd)
    with pytest.raises(TypeError, match="'beta' must be float32, but got float64"):
        layer_norm.forward(x, gamma, wide(beta), 1e-5, out, mean, rstd)
    with pytest.raises(ValueError, match=r"'dy' must have the shape \(4, 6\) of 'x', but got"):
        layer_norm.backward(dy[:2], x, gamma, mean, rstd, out, gamma, beta)
    with pytest.raises(ValueError, match="'dbeta' must have 1 dimensions"):
        layer_norm.backward(dy, x, gamma, mean, rstd, out, gamma, beta[None])
