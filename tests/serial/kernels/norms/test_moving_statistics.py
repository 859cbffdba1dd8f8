"""BatchNorm's moving statistics against NumPy's, bit by bit."""

import numpy as np
import pytest

from dist_ms._ext import moving_statistics


def follow(mean, variance, batch_mean, rstd, eps, weight, correction):
    """The same in NumPy: the batch's variance in float64."""
    biased = np.maximum(1.0 / np.square(rstd, dtype=np.float64) - eps, 0)
    mean = mean * (1 - weight) + batch_mean * weight
    return mean, (variance * (1 - weight) + biased * correction * weight).astype(variance.dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("channels", [0, 1, 3, 64, 1000])
@pytest.mark.parametrize("weight", [0, 0.1, 0.25, 1])
@pytest.mark.parametrize("correction", [0.0, 1.0, 16 / 15])
def test_follow_batch(dtype, channels, weight, correction):
    rng = np.random.default_rng(channels)
    mean, variance, batch_mean = (rng.standard_normal(channels).astype(dtype) for _ in range(3))
    rstd = (1 / np.sqrt(rng.random(channels) + 1e-5)).astype(dtype)
    rstd[::5] = 1 / np.sqrt(1e-5)  # a variance of 0, or less by rounding
    wanted = follow(mean, variance, batch_mean, rstd, 1e-5, weight, correction)
    given = batch_mean.copy(), rstd.copy()
    assert moving_statistics.follow_batch(mean, variance, batch_mean, rstd, 1e-5, weight, correction)
    assert mean.tobytes() == wanted[0].tobytes()
    assert variance.tobytes() == wanted[1].tobytes()
    assert batch_mean.tobytes() == given[0].tobytes() and rstd.tobytes() == given[1].tobytes()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_is_not_finite(dtype):
    odd = np.array([np.nan, np.inf, -np.inf, 1, 1, 1], dtype)
    rstd = np.array([1, 1, 1, np.nan, np.inf, 0], dtype)
    mean, variance = np.zeros(6, dtype), np.ones(6, dtype)
    with np.errstate(all="ignore"):
        wanted = follow(mean, variance, odd, rstd, 1e-3, 0.5, 1.0)
    moving_statistics.follow_batch(mean, variance, odd, rstd, 1e-3, 0.5, 1.0)
    np.testing.assert_array_equal(mean, wanted[0])
    np.testing.assert_array_equal(variance, wanted[1])


@pytest.mark.parametrize("other", [np.ones(3), np.ones(6, np.float32)[::2], np.ones(3, np.float16)])
def test_statistics_it_leaves_to_numpy(other):
    batch, mean, before = np.full(3, 2, np.float32), np.ones(3, np.float32), other.copy()
    assert not moving_statistics.follow_batch(mean, other, batch, batch, 0, 0.5, 1)
    assert not moving_statistics.follow_batch(other, mean, batch, batch, 0, 0.5, 1)
    assert (mean == 1).all() and (other == before).all()


def test_what_is_refused():
    one = np.ones(3, np.float32)
    with pytest.raises(TypeError, match="'mean' must be float32 or float64, but got float16"):
        moving_statistics.follow_batch(one, one, one.astype(np.float16), one, 0, 0.5, 1)
    with pytest.raises(ValueError, match="'moving_variance' must have length 3, but got 2"):
        moving_statistics.follow_batch(one.copy(), np.ones(2, np.float32), one, one, 0, 0.5, 1)
    still = np.ones(3, np.float32)
    still.flags.writeable = False
    with pytest.raises(ValueError, match="'moving_mean' must be writeable"):
        moving_statistics.follow_batch(still, one, one, one, 0, 0.5, 1)
    with pytest.raises(ValueError, match="'rstd' must be C-contiguous"):
        moving_statistics.follow_batch(one.copy(), one.copy(), one, np.ones(6, np.float32)[::2], 0, 0.5, 1)
