"""Inverses and determinants by elimination, against NumPy's in float64."""

import numpy as np
import pytest

from dist_ms._ext import elimination
from tests.serial.kernels.calls import DTYPES, call, random, wide

# (count, n): below, at and above the 16 columns of a panel and the columns of a tile.
SHAPES = ((1, 1), (3, 2), (2, 15), (2, 16), (5, 17), (1, 33), (40, 48), (2, 100), (1, 129), (0, 3), (2, 0))


def condition(x):
    """How many times its own size a matrix's error may have in an inverse."""
    return max(1, *np.linalg.cond(wide(x)))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("count, n", SHAPES)
def test_invert(count, n, dtype):
    x, out = random((count, n, n), dtype), np.empty((count, n, n), dtype)
    kept = x.copy()
    call(elimination.invert, (x, out), [out])
    np.testing.assert_array_equal(x, kept)
    if not x.size:
        assert elimination.invert(x, out)
        return
    wanted = np.linalg.inv(wide(x))
    error = np.abs(wide(out) - wanted).max((1, 2)) / np.abs(wanted).max((1, 2))
    assert error.max() <= 4 * np.finfo(dtype).eps * condition(x)


@pytest.mark.parametrize("count, n", SHAPES)
def test_determinants(count, n):
    x, parts, powers = random((count, n, n), np.float64), np.empty(count), np.empty(count, np.int32)
    call(elimination.determinants, (x, parts, powers), [parts, powers])
    sign, log = np.linalg.slogdet(x)
    np.testing.assert_array_equal(np.sign(parts), sign)
    np.testing.assert_allclose(np.log(np.abs(parts)) + powers * np.log(2), log, rtol=1e-11, atol=1e-11)
    assert (abs(parts) >= 0.5).all() and (abs(parts) < 1).all()


@pytest.mark.parametrize("n", [5, 40])
@pytest.mark.parametrize("dtype", DTYPES)
def test_rows_are_exchanged(n, dtype):
    """Zeros on the diagonal, and a permutation whose inverse is exact."""
    order = np.random.default_rng(3).permutation(n)
    x, out = np.eye(n, dtype=dtype)[None, order] * 2, np.empty((1, n, n), dtype)
    assert elimination.invert(x, out)
    np.testing.assert_array_equal(out[0], x[0].T / 4)
    assert not np.signbit(out).any()
    parts, powers = np.empty(1), np.empty(1, np.int32)
    elimination.determinants(wide(x), parts, powers)
    assert np.ldexp(parts, powers).item() == round(np.linalg.det(np.eye(n)[order])) * 2.0**n


def test_determinants_beyond_float64():
    x = np.stack([np.diag([1e300] * 40), np.diag([1e300, 1e-300] * 20)])
    parts, powers = np.empty(2), np.empty(2, np.int32)
    elimination.determinants(x, parts, powers)
    np.testing.assert_allclose(np.log10(parts) + powers * np.log10(2), [12000, 0], rtol=1e-12, atol=1e-9)


@pytest.mark.parametrize("n", [4, 37])
def test_what_has_no_inverse(n):
    x = random((3, n, n), np.float64)
    x[1, :, 2] = 0
    out, parts, powers = np.full((3, n, n), 7.0), np.empty(3), np.empty(3, np.int32)
    assert not elimination.invert(x, out)
    assert (out[1] == 7).all() and (out[0] != 7).all()
    elimination.determinants(x, parts, powers)
    assert parts[1] == 0 and parts[0] != 0
    x[1, 0, 2] = np.nan
    assert elimination.invert(x, out)
    elimination.determinants(x, parts, powers)
    assert np.isnan(out[1]).any() and np.isnan(parts[1])


def test_refusals():
    x = np.ones((2, 3, 3))
    with pytest.raises(ValueError, match="'x' must hold square matrices"):
        elimination.invert(np.ones((2, 3, 4)), x)
    with pytest.raises(TypeError, match="'x' must be float32 or float64, but got int64"):
        elimination.invert(x.astype(np.int64), x)
    with pytest.raises(TypeError, match="'x' must be float64, but got float32"):
        elimination.determinants(x.astype(np.float32), np.empty(2), np.empty(2, np.int32))
    with pytest.raises(ValueError, match=r"'parts' and 'powers' must have the shape \(2,\)"):
        elimination.determinants(x, np.empty(2), np.empty(3, np.int32))
    with pytest.raises(ValueError, match="'out' must have the shape"):
        elimination.invert(x, np.empty((1, 3, 3)))
