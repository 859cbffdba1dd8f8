"""NumPy's functions of angles, exponentials and logarithms in float32, against NumPy in float64."""

import numpy as np
import pytest

from dist_ms._ext import cpu, pointwise
from tests.serial.kernels.elementwise.test_ufunc_loops import by_numpy, run
from tests.serial.kernels.pointwise.test_pointwise import LENGTHS, SPECIAL, WIDE, assert_units, numbers, pairs

MOST = {"arccos": 1.2, "arcsin": 1.7, "exp2": 1.1, "log2": 1.9, "log10": 1.9}
if cpu.level() != "v2":
    MOST |= {"cos": 0.85, "sin": 0.85}
if WIDE:
    MOST |= {"log2": 0.6, "log10": 0.6}
NAMES = sorted(set(pointwise.OF_NUMPY) - {"arctan2"})
ANGLES = ("sin", "cos", "tan")


def most(name):
    """The units in the last place that a function may be off: with AVX-512 most are NumPy's own."""
    return 4 if getattr(pointwise, name) is getattr(np, name) else MOST.get(name, 0.51)


def arguments(name):
    """Numbers of all sizes and signs, those around the bends of the formulas, and what is special."""
    rng = np.random.default_rng(3)
    yield np.concatenate([SPECIAL, -SPECIAL]).astype(np.float32)
    yield np.concatenate([sign * 10.0 ** np.linspace(-44, 38, 40_000) for sign in (1, -1)]).astype(np.float32)
    yield np.linspace(-1.01, 1.01, 50_001).astype(np.float32)
    yield np.linspace(-130, 130, 50_001).astype(np.float32)
    yield (np.arange(-2000, 2000) * (np.pi / 4)).astype(np.float32)
    yield rng.uniform(-2e6, 2e6, 5000).astype(np.float32)
    for size in LENGTHS:
        yield numbers(size)
        yield numbers(2 * size)[::2]


@pytest.mark.parametrize("name", NAMES)
def test_functions_of_one_number(name):
    for x in arguments(name):
        wanted = by_numpy(getattr(np, name), x.astype(np.float64))
        with np.errstate(all="ignore"):
            found = run(getattr(pointwise, name), x)
            assert_units(found, wanted, most(name))
        kept = ~np.isnan(wanted)
        np.testing.assert_array_equal(np.signbit(found[kept]), np.signbit(wanted[kept]))


def test_the_angle_of_a_point():
    around = [np.random.default_rng(seed).standard_normal(20_000).astype(np.float32) for seed in (0, 1)]
    for x, y in [*pairs(), around]:
        wanted = by_numpy(np.arctan2, x.astype(np.float64), y.astype(np.float64))
        with np.errstate(all="ignore"):
            found = run(pointwise.arctan2, x, y)
            assert_units(found, wanted, most("arctan2"))
        kept = ~np.isnan(wanted)
        np.testing.assert_array_equal(np.signbit(found[kept]), np.signbit(wanted[kept]))


@pytest.mark.parametrize("name", ANGLES)
def test_one_large_angle_changes_no_other_result(name):
    x = np.linspace(-9, 9, 3000).astype(np.float32)
    mixed = x.copy()
    mixed[::700] = 3e9
    found, wanted = run(getattr(pointwise, name), mixed), run(getattr(pointwise, name), x)
    kept = mixed == x
    np.testing.assert_array_max_ulp(found[kept], wanted[kept], 1)
    exact = by_numpy(getattr(np, name), mixed.astype(np.float64))
    assert_units(found, exact, max(most(name), 1))


@pytest.mark.parametrize("name", ["log2", "log10", "exp2"])
def test_whole_powers_are_exact(name):
    whole = np.arange(-37, 39)
    if name == "exp2":
        np.testing.assert_array_equal(run(pointwise.exp2, whole.astype(np.float32)), np.exp2(whole, dtype=np.float32))
    else:
        base = {"log2": 2.0, "log10": 10.0}[name]
        np.testing.assert_array_equal(run(getattr(pointwise, name), (base**whole).astype(np.float32)), whole)
