"""Philox's uniform and normal numbers and integers against their twins, and their moments."""

import numpy as np
import pytest

from dist_ms._ext import counted_numbers
from tests import reference_random
from tests.serial.kernels.calls import DTYPES, assert_close, call

SHAPES = [(), (0,), (1,), (255,), (3, 0, 2), (16, 16), (257,), (70_001,)]
SEEDS = [(0, 0), (2**62 + 12345, 2**40 + 3)]


def drawn(kernel, shape, dtype, *arguments, **options):
    out = np.empty(shape, dtype)
    return call(lambda: kernel(out, *arguments, **options), (), [out])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed, offset", SEEDS)
def test_uniform(dtype, shape, seed, offset):
    out = drawn(counted_numbers.uniform, shape, dtype, seed, offset)
    wanted = reference_random.counted_uniform(out.size, dtype, seed, offset)
    np.testing.assert_array_equal(out.reshape(-1), wanted)
    moved = drawn(counted_numbers.uniform, shape, dtype, seed, offset, -3.0, 4.0)
    assert_close(moved.reshape(-1), 4 * wanted - 3)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed, offset", SEEDS)
def test_normal(dtype, shape, seed, offset):
    out = drawn(counted_numbers.normal, shape, dtype, seed, offset)
    wanted = reference_random.counted_normal(out.size, dtype, seed, offset)
    assert_close(out.reshape(-1), wanted)
    moved = drawn(counted_numbers.normal, shape, dtype, seed, offset, -3.0, 4.0)
    assert_close(moved.reshape(-1), 4 * wanted - 3, 16)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("size", [0, 1, 127, 129, 70_001])
@pytest.mark.parametrize("low, span", [(0, 1), (-5, 10), (2, 2**31 - 3), (-(2**31), 2**32 - 1)])
def test_integers(dtype, size, low, span):
    out = drawn(counted_numbers.integers, (size,), dtype, low, span, 7, 2**35)
    wanted = reference_random.counted_integers(min(size, 300), low, span, 7, 2**35)
    np.testing.assert_array_equal(out[:300], wanted)
    if size > 1000:
        assert abs(out.mean() - (low + (span - 1) / 2)) <= 5 * span / (12 * size) ** 0.5


@pytest.mark.parametrize("size", [0, 1, 2, 127, 128, 129, 3001])
@pytest.mark.parametrize("seed, offset", SEEDS)
def test_permutation(size, seed, offset):
    out = np.empty(size, np.int64)
    counted_numbers.permutation(out, seed, offset)
    wanted = []
    for place in range(size):
        # The number that `integers` draws at this place for as many numbers as there are now.
        other = int(reference_random.counted_integers(place + 1, 0, place + 1, seed, offset)[place])
        wanted.append(place)
        wanted[place], wanted[other] = wanted[other], place
    assert out.tolist() == wanted


def test_all_orders_are_equally_likely():
    counts: dict = {}
    out = np.empty(4, np.int64)
    for seed in range(12_000):
        counted_numbers.permutation(out, seed)
        counts[tuple(out)] = counts.get(tuple(out), 0) + 1
    assert len(counts) == 24
    assert sum((n - 500) ** 2 / 500 for n in counts.values()) < 58  # a chance of 1e-4 with 23 degrees of freedom


@pytest.mark.parametrize("kernel", [counted_numbers.uniform, counted_numbers.normal])
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_part_gets_what_it_gets_within_the_whole(kernel, dtype):
    whole, part = np.empty(3000, dtype), np.empty(1000, dtype)
    kernel(whole, 5, 1)
    kernel(part, 5, 1, first=1024)
    np.testing.assert_array_equal(part, whole[1024:2024])


@pytest.mark.parametrize("dtype", DTYPES)
def test_moments(dtype):
    n = 400_000
    x = drawn(counted_numbers.normal, (n,), dtype, 11).astype(float)
    for power, wanted, spread in ((1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96)):
        assert abs((x**power).mean() - wanted) < 5 * (spread / n) ** 0.5
    assert abs(np.corrcoef(x[:-1], x[1:])[0, 1]) < 0.01
    u = drawn(counted_numbers.uniform, (n,), dtype, 11).astype(float)
    assert abs(u.mean() - 0.5) < 0.002
    assert abs(u.var() - 1 / 12) < 0.001
    other = drawn(counted_numbers.uniform, (n,), dtype, 11, 1).astype(float)
    assert abs(np.corrcoef(u, other)[0, 1]) < 0.01


def test_refusals():
    out = np.empty(10, np.float32)
    with pytest.raises(ValueError, match=r"'seed' must be in \[0, 2\*\*64\)"):
        counted_numbers.uniform(out, -1)
    with pytest.raises(TypeError, match="'offset' must be an int"):
        counted_numbers.normal(out, 1, 1.5)
    with pytest.raises(ValueError, match="'first' must be a multiple of 256"):
        counted_numbers.normal(out, 1, first=3)
    with pytest.raises(TypeError, match="'out' must be float32 or float64"):
        counted_numbers.uniform(np.empty(3, np.int64), 1)
    with pytest.raises(ValueError, match="'span' must be in"):
        counted_numbers.integers(np.empty(3, np.int64), 0, 2**32, 1)
