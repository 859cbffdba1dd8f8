"""Gradients of bfloat16 that pass in a range of x and stop elsewhere, at every number there is."""

import ml_dtypes
import numpy as np
import pytest

from dist_ms._ext import activation
from tests.serial.kernels.calls import call

BF16 = ml_dtypes.bfloat16
EVERY = np.arange(1 << 16, dtype=np.uint16).view(BF16)
# Bfloat16 numbers, and such that lie between two of them; the least ones lie below all but 0.
BOUNDS = [0.0, -0.0, 0.5, 1.0, 1.001, 6.0, -1.0, -1.001, 1e-45, -1e-45, 1e-38, -3e38, 3e38, np.inf, -np.inf]


def gradient(function, options, x, dy):
    dx = np.empty_like(dy)
    call(activation.backward, (dy, x, dx, function, *options), [dx])
    return dx


def check(function, options, slope):
    """Every number, and gradients that no product with 0 makes 0."""
    dy = np.resize(np.array([1.5, -2.0, np.inf, -np.inf, np.nan], BF16), EVERY.shape)
    dx = gradient(function, options, EVERY, dy)
    share = np.broadcast_to(np.float32(slope(EVERY.astype("f4"))), EVERY.shape)
    expected = (dy.astype("f4") * np.where(share == 0, 1, share)).astype(BF16)
    np.testing.assert_array_equal(dx.astype("f4"), np.where(share == 0, 0, expected.astype("f4")))
    wide = gradient(function, options, EVERY.astype("f4"), dy.astype("f4"))
    np.testing.assert_array_equal(dx.astype("f4"), wide)


@pytest.mark.parametrize("bound", BOUNDS)
def test_above_a_bound(bound):
    a = np.float32(bound)
    check("threshold", (bound, 7.0), lambda x: x > a)
    check("hard_shrink", (bound,), lambda x: np.abs(x) > a)
    check("soft_shrink", (bound,), lambda x: np.abs(x) > a)


@pytest.mark.parametrize("at_lower", [0, 0.5, 1])
@pytest.mark.parametrize("at_upper", [0, 0.5, 1])
def test_between_two(at_lower, at_upper):
    for low in BOUNDS:
        for high in BOUNDS:
            a, b = np.float32(low), np.float32(high)
            if a < b:
                check(
                    "clip",
                    (low, high, at_lower, at_upper),
                    lambda x, a=a, b=b: ((x > a) & (x < b)) + (x == a) * at_lower + (x == b) * at_upper,
                )


@pytest.mark.parametrize("corner", [0, 1])
def test_half_of_every_gradient_at_a_corner(corner):
    slopes = (0.5, 0) if corner == 0 else (1, 0.5)
    at = np.full(EVERY.shape, [-2.0, 3.0][corner], BF16)
    dx = gradient("clip", (-2.0, 3.0, *slopes), at, EVERY)
    with np.errstate(invalid="ignore"):  # signalling NaNs
        half = (EVERY.astype("f4") * np.float32(0.5)).astype(BF16)
    np.testing.assert_array_equal(dx.astype("f4"), half.astype("f4"))


def test_other_slopes_at_the_corners():
    dx = gradient("clip", (-1.0, 1.0, 0.5, 0.25), np.array([-2, -1, 0, 1, 2], BF16), np.ones(5, BF16))
    np.testing.assert_array_equal(dx.astype("f4"), [0, 0.5, 1, 0.25, 0])


def test_relu_stops_below_and_at_0_alone():
    dy = np.resize(np.array([1.5, -2.0, np.inf, -np.inf, np.nan], BF16), EVERY.shape)
    dx = np.empty_like(dy)
    call(activation.relu_backward, (dy, EVERY, dx), [dx])
    np.testing.assert_array_equal(dx.astype("f4"), np.where(EVERY.astype("f4") <= 0, 0, dy.astype("f4")))
