"""The gated linear unit and its gradient against their formulas in float64."""

import numpy as np
import pytest

from dist_ms._ext import gated
from tests.serial.kernels.calls import DTYPES, NARROW, call, random, wide

SHAPES = [(0, 3), (4, 0), (1, 1), (3000, 1), (7, 5), (40, 63), (33, 64), (5, 1023), (3, 1025), (2, 9000)]
TOLERANCE = {2: 1e-2, 4: 1e-6, 8: 1e-13}


def case(rows, half, dtype):
    """Rows whose gates go through all of the sigmoid, and a gradient."""
    x = random((rows, 2 * half), np.float64)
    x[:, half:] *= 25
    return x.astype(dtype), random((rows, half), dtype, 2)


def twins(x, dy):
    """The result and its gradient in float64."""
    (a, b), dy = np.split(wide(x), 2, 1), wide(dy)
    with np.errstate(over="ignore"):
        share = 1 / (1 + np.exp(-b))
        fall = 1 / (1 + np.exp(b))
    return a * share, np.concatenate([dy * share, dy * a * share * fall], 1)


def assert_near(found, wanted):
    """float32's sigmoid is 0 below -88."""
    tolerance = TOLERANCE[found.dtype.itemsize]
    np.testing.assert_allclose(wide(found), wanted, rtol=tolerance, atol=1e-35 if found.dtype.itemsize == 4 else 1e-30)


@pytest.mark.parametrize("dtype", [*DTYPES, *NARROW])
@pytest.mark.parametrize("rows, half", SHAPES)
def test_forward_and_backward(rows, half, dtype):
    x, dy = case(rows, half, dtype)
    out, dx = np.empty_like(dy), np.empty_like(x)
    wanted, wanted_gradient = twins(x, dy)
    call(gated.forward, (x, out), [out])
    call(gated.backward, (dy, x, dx), [dx])
    if dtype != np.dtype(np.float16):  # which has no numbers so small
        assert_near(out, wanted)
        assert_near(dx, wanted_gradient)
    else:
        np.testing.assert_allclose(wide(out), wanted, rtol=1e-3, atol=1e-7)
        np.testing.assert_allclose(wide(dx), wanted_gradient, rtol=1e-3, atol=1e-7)


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("rows, half", SHAPES)
def test_narrow_numbers_give_the_bits_of_wide_ones(rows, half, dtype):
    x, dy = case(rows, half, dtype)
    out, dx = np.empty_like(dy), np.empty_like(x)
    gated.forward(x, out)
    gated.backward(dy, x, dx)
    x, dy = x.astype(np.float32), dy.astype(np.float32)
    wide_out, wide_dx = np.empty_like(dy), np.empty_like(x)
    gated.forward(x, wide_out)
    gated.backward(dy, x, wide_dx)
    assert out.tobytes() == wide_out.astype(dtype).tobytes()
    assert dx.tobytes() == wide_dx.astype(dtype).tobytes()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("half", [5, 70])
def test_extremes(half, dtype):
    b = np.array([np.inf, -np.inf, np.nan, 800, -800], dtype)
    x = np.concatenate([np.full(half, 2), np.resize(b, half)]).astype(dtype)[None]
    out, dx = np.empty((1, half), dtype), np.empty_like(x)
    gated.forward(x, out)
    gated.backward(np.ones((1, half), dtype), x, dx)
    np.testing.assert_array_equal(out[0, :5], np.array([2, 0, np.nan, 2, 0], dtype))
    np.testing.assert_array_equal(dx[0, :5], np.array([1, 0, np.nan, 1, 0], dtype))
    np.testing.assert_allclose(dx[0, half : half + 5], np.array([0, 0, np.nan, 0, 0], dtype), atol=1e-36)
    x[0, 0] = np.nan
    gated.forward(x, out)
    assert np.isnan(out[0, 0])


def test_wrong_arguments():
    x, y = np.ones((3, 4)), np.ones((3, 2))
    with pytest.raises(ValueError, match="'out' must have the rows of 'x' .3, 4. and half of its columns"):
        gated.forward(x, np.ones((3, 4)))
    with pytest.raises(ValueError, match="'dx' must have the shape .3, 4. of 'x'"):
        gated.backward(y, x, np.ones((4, 4)))
    with pytest.raises(TypeError, match="'dy' must be float64"):
        gated.backward(y.astype(np.float32), x, np.ones((3, 4)))
    with pytest.raises(ValueError, match="'x' must be C-contiguous"):
        gated.forward(np.ones((4, 3)).T, y)
    y.flags.writeable = False
    with pytest.raises(ValueError, match="'out' must be writeable"):
        gated.forward(x, y)
