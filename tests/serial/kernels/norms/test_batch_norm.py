"""Batch normalisation against its twin, in both memory layouts."""

import numpy as np
import pytest

from dist_ms._ext import batch_norm
from tests import reference
from tests.serial.kernels.calls import DTYPES, assert_close, call, channels_last, wide

SHAPES = [
    (1, 1),
    (5, 3),
    (700, 40),
    (2, 1, 4),
    (3, 5, 1, 1),
    (1, 6, 3, 5),
    (4, 17, 9, 7),
    (9, 64, 14, 15),
    (2, 3, 2, 3, 4),
    (2, 4, 130, 130),
    (37, 9, 2, 2),
    (70, 11, 7, 7),
    (40, 8, 8, 8),
    (3, 8, 48, 50),
]
LAYOUTS = {"NCHW": np.ascontiguousarray, "NHWC": channels_last}


def arrays(shape, dtype, offset=0.0):
    """Return x, gamma, beta and dy."""
    rng = np.random.default_rng(1)
    x = rng.standard_normal(shape) + offset
    gamma, beta = rng.standard_normal((2, shape[1]))
    return [array.astype(dtype) for array in (x, gamma, beta, rng.standard_normal(shape))]


def forward_train(x, gamma, beta, eps=1e-5):
    out, mean, rstd = np.empty_like(x), *np.empty((2, x.shape[1]), x.dtype)
    arguments = (x, gamma, beta, eps, out, mean, rstd)
    return call(batch_norm.forward_train, arguments, [out, mean, rstd])


def per_channel(values, x):
    """Return values (C,) in float64, shaped to be combined with x."""
    return wide(values).reshape(-1, *[1] * (x.ndim - 2))


def other_axes(x):
    return (0, *range(2, x.ndim))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", SHAPES)
def test_forward_train(dtype, layout, shape):
    x, gamma, beta, _ = arrays(shape, dtype)
    x = LAYOUTS[layout](x)
    out, mean, rstd = forward_train(x, gamma, beta)
    wanted_mean, wanted_rstd = reference.statistics(wide(x), other_axes(x), 1e-5)
    assert_close(mean, wanted_mean.ravel())
    assert_close(rstd, wanted_rstd.ravel())
    scale, shift = per_channel(gamma, x), per_channel(beta, x)
    assert_close(out, reference.normalise(wide(x), wanted_mean, wanted_rstd, scale, shift), scale=2)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", SHAPES)
def test_forward_eval(dtype, layout, shape):
    x, gamma, beta, _ = arrays(shape, dtype)
    x = LAYOUTS[layout](x)
    mean, variance = beta[::-1].copy(), gamma[::-1] ** 2 + dtype(0.5)
    out = np.empty_like(x)
    call(batch_norm.forward_eval, (x, gamma, beta, mean, variance, 1e-3, out), [out])
    rstd = 1 / np.sqrt(per_channel(variance, x) + 1e-3)
    statistics = per_channel(mean, x), rstd
    wanted = reference.normalise(wide(x), *statistics, per_channel(gamma, x), per_channel(beta, x))
    assert_close(out, wanted, scale=2)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", SHAPES)
def test_backward(dtype, layout, shape):
    x, gamma, beta, dy = arrays(shape, dtype)
    x, dy = LAYOUTS[layout](x), LAYOUTS[layout](dy)
    _, mean, rstd = forward_train(x, gamma, beta)
    outputs = np.empty_like(x), np.empty_like(gamma), np.empty_like(gamma)
    dx, dgamma, dbeta = call(batch_norm.backward, (dy, x, gamma, mean, rstd, *outputs), outputs)
    axes = other_axes(x)
    kept = per_channel(mean, x), per_channel(rstd, x), per_channel(gamma, x)
    wanted = reference.normalise_gradient(wide(dy), wide(x), *kept, axes, axes)
    numbers = x.size // x.shape[1]
    assert_close(dx, wanted[0], scale=max(1, np.abs(wide(rstd)).max()))
    assert_close(dgamma, wanted[1], scale=numbers**0.5 * np.abs(rstd).max())
    assert_close(dbeta, wanted[2], scale=numbers**0.5)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_variance_survives_a_mean_a_hundred_thousand_times_larger(layout):
    x, gamma, beta, _ = arrays((8, 20, 30, 31), np.float32, offset=1e5)
    _, mean, rstd = forward_train(LAYOUTS[layout](x), gamma, beta, eps=0.0)
    wanted_mean, wanted_rstd = reference.statistics(wide(x), (0, 2, 3), 0.0)
    np.testing.assert_allclose(mean, wanted_mean.ravel(), rtol=1e-7)
    np.testing.assert_allclose(rstd, wanted_rstd.ravel(), rtol=1e-6)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_nan_spoils_its_channel_only(layout):
    x, gamma, beta, _ = arrays((3, 2, 4, 4), np.float32)
    x[1, 1, 2, 2] = np.nan
    out, mean, rstd = forward_train(LAYOUTS[layout](x), gamma, beta)
    assert np.isfinite(out[:, 0]).all()
    assert np.isnan(out[:, 1]).all()
    assert np.isnan(mean).tolist() == np.isnan(rstd).tolist() == [False, True]


@pytest.mark.parametrize("shape", [(0, 3), (0, 3, 4, 4), (2, 3, 0, 4), (2, 0), (2, 0, 4, 4)])
def test_empty_arrays_have_no_statistics_and_no_gradient(shape):
    x, gamma, beta, dy = arrays(shape, np.float32)
    _, mean, rstd = forward_train(x, gamma, beta)
    assert np.isnan(mean).all()
    assert np.isnan(rstd).all()
    outputs = np.empty_like(x), np.empty_like(gamma), np.empty_like(gamma)
    call(batch_norm.backward, (dy, x, gamma, gamma, gamma, *outputs), outputs)
    assert not outputs[1].any()
    assert not outputs[2].any()
    call(batch_norm.forward_eval, (x, gamma, beta, beta, gamma**2, 1e-5, outputs[0]), outputs[:1])


def test_wrong_arguments():
    x, gamma, beta, dy = arrays((4, 3, 5, 6), np.float32)
    out, mean, rstd = np.zeros_like(x), np.zeros_like(gamma), np.zeros_like(gamma)

    def train(x=x, gamma=gamma, beta=beta, out=out, mean=mean, rstd=rstd):
        batch_norm.forward_train(x, gamma, beta, 1e-5, out, mean, rstd)

    with pytest.raises(ValueError, match=r"'x' must have 2 or more dimensions, but got shape \(9"):
        train(x=np.zeros(9, np.float32))
    with pytest.raises(ValueError, match="'x' must be contiguous in NCHW or NHWC order, but got"):
        train(x=x[:, :, :, ::-1])
    with pytest.raises(ValueError, match="'x' must be contiguous in NCHW or NHWC order, but got"):
        train(x=x.transpose(0, 1, 3, 2))
    with pytest.raises(ValueError, match="'out' must have the strides .* of 'x', but got"):
        train(x=channels_last(x))
    with pytest.raises(TypeError, match="'x' must be float32, float64, bfloat16 or float16, but got int32"):
        train(x=x.astype(np.int32))
    with pytest.raises(TypeError, match="'out' must be float32, but got float64"):
        train(out=wide(out))
    with pytest.raises(ValueError, match="'gamma' must have length 3, but got 2"):
        train(gamma=gamma[:2])
    read_only = rstd.copy()
    read_only.flags.writeable = False
    with pytest.raises(ValueError, match="'rstd' must be writeable"):
        train(rstd=read_only)
    with pytest.raises(ValueError, match="For 'batch_norm.backward', 'dy' must have the shape"):
        batch_norm.backward(dy[:3], x, gamma, mean, rstd, out, gamma.copy(), beta.copy())
    with pytest.raises(ValueError, match="For 'batch_norm.forward_eval', 'var' must have length 3"):
        batch_norm.forward_eval(x, gamma, beta, mean, rstd[:1], 1e-5, out)
