"""Functions of each element that NumPy has not, or has slower, against a twin in float64."""

import math

import ml_dtypes
import numpy as np
import pytest

from dist_ms._ext import pointwise
from tests.serial.kernels.elementwise.test_ufunc_loops import assert_same, by_numpy, random, run

BF16 = np.dtype(ml_dtypes.bfloat16)
FLOATS = (np.dtype(np.float32), np.dtype(np.float64))
SPECIAL = np.array(
    [0.0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 2, -2, 3, -3, 0.5, -0.5, 6, 1e-45, -1e-45, 1e38, -1e38, 16777215]
)
# With AVX-512 some functions are computed in float32, not in float64.
WIDE = pointwise.arctan is np.arctan
LENGTHS = (0, 1, 63, 64, 65, 40_001)


def numbers(size, dtype=np.float32, seed=0):
    """Numbers of all sizes, whole ones among them."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(size) * 10.0 ** rng.integers(-9, 9, size)
    x[::3] = np.round(x[::3])
    return x.astype(dtype)


def pairs(dtype=np.float32):
    """Two arrays: the special numbers with each other, then numbers of many sizes."""
    x, y = (a.ravel().astype(dtype) for a in np.meshgrid(SPECIAL, SPECIAL))
    yield x, y
    for size in LENGTHS:
        yield numbers(size, dtype), numbers(size, dtype, 1)
        yield numbers(2 * size, dtype)[::2], numbers(2 * size, dtype, 1)[::2]
        yield numbers(size, dtype), np.asarray(3, dtype)


def assert_units(found, wanted, most):
    """Assert that `found` is right to so many units in the last place, special numbers included."""
    nearest = wanted.astype(found.dtype)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(nearest))
    np.testing.assert_array_equal(np.isinf(found), np.isinf(nearest))
    kept = np.isfinite(nearest)
    error = np.abs(found[kept].astype(np.float64) - wanted[kept]) / np.spacing(np.abs(nearest[kept]))
    assert error.max(initial=0) <= most


def assert_equal(found, wanted):
    """Assert equal numbers, NaN where NaN is, and zeros of the same sign."""
    np.testing.assert_array_equal(found, wanted)
    kept = ~np.isnan(wanted)
    np.testing.assert_array_equal(np.signbit(found[kept]), np.signbit(wanted[kept]))


@pytest.mark.parametrize("name", ["fmod", "remainder"])
def test_remainders_are_exact(name):
    for x, y in pairs():
        assert_equal(run(getattr(pointwise, name), x, y), by_numpy(getattr(np, name), x, y))
    x = (numbers(5000).astype(np.float64) * np.random.default_rng(2).integers(1, 2**20, 5000)).astype(np.float32)
    y = numbers(5000)
    assert_equal(run(getattr(pointwise, name), x, y), by_numpy(getattr(np, name), x, y))


def test_power():
    for x, y in pairs():
        wanted = by_numpy(np.power, x.astype(np.float64), y.astype(np.float64))
        with np.errstate(all="ignore"):
            found = run(pointwise.power, x, y)
            assert_units(found, wanted, 0.51)
        kept = ~np.isnan(wanted)
        np.testing.assert_array_equal(np.signbit(found[kept]), np.signbit(wanted[kept]))


@pytest.mark.parametrize("dtype", FLOATS)
def test_erf_and_erfc(dtype):
    x = np.concatenate([np.linspace(-12, 12, 20_001), 10.0 ** np.arange(-40, 3), SPECIAL]).astype(dtype)
    for name in ("erf", "erfc"):
        wanted = np.array([getattr(math, name)(v) for v in x.astype(np.float64)])
        most = 1 if dtype == np.float64 else 1.6 if name == "erf" else 0.85 if WIDE else 3.7
        with np.errstate(all="ignore"):
            assert_units(run(getattr(pointwise, name), x), wanted, most)
            assert_units(run(getattr(pointwise, name), x[::2]), wanted[::2], most)


def test_hypot():
    for x, y in pairs():
        wanted = by_numpy(np.hypot, x.astype(np.float64), y.astype(np.float64))
        with np.errstate(all="ignore"):
            assert_units(run(pointwise.hypot, x, y), wanted, 0.5)


@pytest.mark.parametrize("name", ["sqrt", "square", "reciprocal"])
def test_roots_and_squares_have_the_bits_of_numpy(name):
    for x, _ in pairs():
        assert_equal(run(getattr(pointwise, name), x), by_numpy(getattr(np, name), x))


@pytest.mark.parametrize("dtype", FLOATS)
def test_fractions_bounds_and_quotients(dtype):
    largest = np.asarray(np.finfo(dtype).max)
    for x, y in pairs(dtype):
        with np.errstate(all="ignore"):
            assert_equal(run(pointwise.frac, x), x - np.trunc(x))
            assert_equal(run(pointwise.divide_add, x, x, y), x + x / y)
        found = run(pointwise.finite, x, np.asarray(5, dtype), largest)
        assert_equal(found, np.nan_to_num(x, nan=5.0))


@pytest.mark.parametrize("dtype", FLOATS)
def test_roots_cubes_and_signs(dtype):
    x = np.concatenate([SPECIAL, numbers(40_001, np.float64)]).astype(dtype)
    for part in (x, x[::2], x[:37]):
        assert_equal(run(pointwise.sign, part), np.sign(part))
        assert_same(run(pointwise.rsqrt, part), by_numpy(np.divide, dtype.type(1), by_numpy(np.sqrt, part)))
        with np.errstate(all="ignore"):
            assert_units(run(pointwise.cube, part), np.power(part.astype(np.longdouble), 3), 1.5)


@pytest.mark.parametrize("dtype", [*FLOATS, np.dtype(np.int32), np.dtype(np.int64)])
@pytest.mark.parametrize("limits", [(-1, 2), (2, -1)])
def test_clamp(dtype, limits):
    low, high = (np.asarray(v, dtype) for v in limits)
    x = random((300, 211), dtype)
    if dtype.kind == "f":
        x[0, :3] = np.nan, np.inf, -np.inf
    for part in (x, x.T, x[:, ::2]):
        assert_equal(run(pointwise.clamp, part, low, high), np.minimum(np.maximum(part, low), high))
    lows, highs = random((300, 211), dtype, 1), random((300, 211), dtype, 2)
    assert_equal(run(pointwise.clamp, x, lows, highs), np.minimum(np.maximum(x, lows), highs))


@pytest.mark.parametrize("dtype", [*FLOATS, *map(np.dtype, ("?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"))])
def test_select(dtype):
    x, y = random((300, 211), dtype), random((300, 211), dtype, 1)
    condition = np.random.default_rng(3).random((300, 211)) < 0.5
    for shape in ((), (211,), (300, 1)):
        other = random(shape, dtype, 4)
        assert_same(run(pointwise.select, condition, x, other), np.where(condition, x, other))
        assert_same(run(pointwise.select, condition, other, y), np.where(condition, other, y))
        assert_same(run(pointwise.select, condition, other, other), np.where(condition, other, other))
    assert_same(run(pointwise.select, condition, x, y), np.where(condition, x, y))
    assert_same(run(pointwise.select, condition[0], x, y), np.where(condition[0], x, y))
    assert_same(run(pointwise.select, condition[::2], x[::2], y[::2]), np.where(condition[::2], x[::2], y[::2]))


@pytest.mark.parametrize("dtype", [*FLOATS, BF16, np.dtype(np.float16)])
def test_lerp_and_multiply_add(dtype):
    x, y = random((300, 211), dtype), random((300, 211), dtype, 1)
    for shape in ((300, 211), (), (211,), (300, 1)):
        z = random(shape, dtype, 2)
        a, b, c = (v.astype(np.float64) for v in (x, y, z))
        tolerance = {2: 0.02, 4: 1e-5, 8: 1e-13}[dtype.itemsize]
        for found, wanted in (
            (run(pointwise.lerp, x, y, z), a + c * (b - a)),
            (run(pointwise.multiply_add, x, y, z), a + b * c),
        ):
            assert found.dtype == dtype
            np.testing.assert_allclose(found.astype(np.float64), wanted, rtol=tolerance, atol=10 * tolerance)


def test_exp_and_log():
    x = np.concatenate([np.linspace(-110, 100, 30_001), SPECIAL, random(1000, np.float64)]).astype(np.float32)
    for part in (x, x[::2], x[:37], random(40_001, np.float32)):
        with np.errstate(all="ignore"):
            assert_units(run(pointwise.exp, part), np.exp(part.astype(np.float64)), 1.1)
    x = np.concatenate([np.exp(np.linspace(-103, 88, 30_001)), SPECIAL, np.abs(random(1000, np.float64))])
    x = x.astype(np.float32)
    for part in (x, x[::2], x[:37], np.abs(random(40_001, np.float32)) + np.float32(1e-3)):
        with np.errstate(all="ignore"):
            assert_units(run(pointwise.log, part), np.log(part.astype(np.float64)), 0.6 if WIDE else 0.9)


@pytest.mark.parametrize("name", ["exp", "log", "log2", "log10"])
def test_a_result_may_lie_over_its_operand(name):
    x = np.exp(np.linspace(-100, 88, 3001)).astype(np.float32)
    x = np.log(x) if name == "exp" else x
    with np.errstate(all="ignore"):
        wanted = run(getattr(pointwise, name), x)
        assert_same(getattr(pointwise, name)(x, out=x), wanted)


def test_logical_not():
    x = random((300, 211), np.float32) > 0
    for part in (x, x.T, x[:, ::2], x[:0]):
        assert_same(run(pointwise.logical_not, part), ~part)


CASTS = {"to_float": "f4", "to_double": "f8", "to_int": "i4", "to_long": "i8", "to_bool": "?"}


@pytest.mark.parametrize("found", ["f4", "f8", "i4", "i8", "u1", "?"])
@pytest.mark.parametrize("name", CASTS)
def test_casts(name, found):
    wanted = np.dtype(CASTS[name])
    if found == wanted.str[1:] or (name, found) in {("to_bool", "?"), ("to_bool", "u1")}:
        return
    x = (40 * random((300, 211), np.float64)).astype(found)
    if x.dtype.kind == "f" and wanted.kind in "fb":
        x[0, :4] = np.nan, np.inf, -np.inf, -0.0
    if x.dtype.kind == "f" and wanted.kind == "i":
        x[0, :4] = np.nan, np.inf, -np.inf, 3e38
    with np.errstate(all="ignore"):
        for part in (x, x.T, x[:, ::2], x[:0], x[:, :1]):
            assert_same(run(getattr(pointwise, name), part), part.astype(wanted))


@pytest.mark.parametrize("name", ["sqrt", "square", "reciprocal", "rsqrt"])
def test_functions_of_bits(name):
    x = np.arange(1 << 16).astype(np.uint16)
    for part in (x, x[::3], x[5:37], x.reshape(256, 256).T):
        found = run(getattr(pointwise, f"bits_{name}"), part).view(BF16)
        wanted = run(getattr(pointwise, name), part.view(BF16))
        assert_equal(found.astype(np.float32), wanted.astype(np.float32))


def test_casts_of_bits():
    x = (300 * random((300, 211), np.float64)).astype(BF16)
    x[0, :4] = np.nan, np.inf, -np.inf, 3e38
    with np.errstate(all="ignore"):
        for part in (x, x.T, x[:, ::2], x[:0], x[:, :1]):
            for name, wanted in (("bits_to_int", np.int32), ("bits_to_long", np.int64)):
                assert_same(run(getattr(pointwise, name), part.view(np.uint16)), part.astype(np.float32).astype(wanted))


LOSSES = {
    "squared_difference": lambda x, y: (x - y) ** 2,
    "absolute_difference": lambda x, y: np.abs(x - y),
    "parametric_relu": lambda x, y: np.where(x > 0, x, y * x),
    "squared_difference_gradient": lambda x, y, z: 2 * (x - y) * z,
    "absolute_difference_gradient": lambda x, y, z: np.sign(x - y) * z,
    "parametric_relu_gradient": lambda x, y, z: np.where(x > 0, z, y * z),
    "smooth_l1": lambda x, y, z: np.where(
        np.abs(x - y) < z, (x - y) ** 2 * 0.5 / np.where(z == 0, 1, z), np.abs(x - y) - 0.5 * z
    ),
    "smooth_l1_slope": lambda x, y, z: np.clip((x - y) / z, -1, 1),
}


@pytest.mark.parametrize("dtype", [*FLOATS, BF16])
@pytest.mark.parametrize("name", LOSSES)
def test_losses_of_differences(name, dtype):
    x, y = random((300, 211), dtype), random((300, 211), dtype, 1)
    x[0, 0], x[1] = np.nan, y[1]
    tolerance = {2: 0.02, 4: 1e-5, 8: 1e-13}[dtype.itemsize]
    for shape in ((300, 211), (), (300, 1)):
        z = np.abs(random(shape, dtype, 2)) + dtype.type(0.1)
        arguments = (x, y, z) if LOSSES[name].__code__.co_argcount == 3 else (x, z)
        found = run(getattr(pointwise, name), *arguments)
        wanted = LOSSES[name](*[a.astype(np.float64) for a in arguments])
        assert found.dtype == dtype
        np.testing.assert_allclose(found.astype(np.float64), wanted, rtol=tolerance, atol=tolerance)
        assert_same(run(getattr(pointwise, name), *[a.T for a in arguments]), found.T)
