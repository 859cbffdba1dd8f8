"""The generators of the C++ standard library against their twins: no word more or less is used up."""

import numpy as np
import pytest

from dist_ms._ext import sequences, threads
from tests import reference_random

ENGINES = ("MersenneTwister", "MinimalStandard")
COUNTS = (0, 1, 2, 3, 17, 5000, 70_001)


def both(name, seed=77):
    return getattr(sequences, name)(seed), getattr(reference_random, name)(seed)


def drawn(engine, method, count, dtype, *arguments):
    out = np.empty(count, dtype)
    getattr(engine, method)(*arguments, out)
    return out


def assert_at_one_place(engine, twin):
    np.testing.assert_array_equal(drawn(engine, "words", 3, np.uint32), twin.words(3))


@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize("seed", [0, 1, 2**31 - 1, 2**32 + 5, 2**64 - 1])
def test_words(name, seed):
    engine, twin = both(name, seed)
    for count in COUNTS:
        np.testing.assert_array_equal(drawn(engine, "words", count, np.uint32), twin.words(count))


@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize("threads_used", [1, 2])
def test_real_numbers(name, threads_used):
    before = threads.get_num_threads()
    threads.set_num_threads(threads_used)
    try:
        engine, twin = both(name)
        for count in COUNTS:
            np.testing.assert_array_equal(drawn(engine, "doubles", count, np.float64), twin.doubles(count))
            np.testing.assert_array_equal(drawn(engine, "floats", count, np.float32), twin.floats(count))
            rounded = np.minimum(twin.doubles(count).astype(np.float32), np.nextafter(np.float32(1), np.float32(0)))
            np.testing.assert_array_equal(drawn(engine, "rounded", count, np.float32), rounded)
            normals = drawn(engine, "normals", count, np.float32)
            np.testing.assert_allclose(normals, twin.normals(count), rtol=1e-6)
            assert_at_one_place(engine, twin)
    finally:
        threads.set_num_threads(before)


@pytest.mark.parametrize("name", ENGINES)
def test_integers(name):
    engine, twin = both(name)
    for span in (1, 2, 10, 1_000_003, 3 * engine.top // 5, engine.top):
        for count in COUNTS[:-1]:
            np.testing.assert_array_equal(drawn(engine, "integers", count, np.int64, span), twin.integers(span, count))
        assert_at_one_place(engine, twin)


@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize("count", [0, 1, 2, 3, 8, 1001, 46_342, 65_537])  # beyond a word's root: a draw for each swap
def test_permutations(name, count):
    engine, twin = both(name)
    np.testing.assert_array_equal(drawn(engine, "permutation", count, np.int64), twin.permutation(count))
    assert_at_one_place(engine, twin)


def test_poisson():
    engine, twin = both("MersenneTwister")
    rates, out = np.array([0.5, 9.0, 3.0]), np.empty((40, 3))
    engine.poisson(rates, out)
    np.testing.assert_array_equal(out, reference_random.poisson(twin, rates, 40))
    assert_at_one_place(engine, twin)


def test_moments_of_large_poisson_rates_and_special_ones():
    out = np.empty((20_000, 4))
    sequences.MersenneTwister(3).poisson(np.array([10.0, 400.0, np.inf, np.nan]), out)
    for column, rate in ((0, 10), (1, 400)):
        assert abs(out[:, column].mean() - rate) < 5 * (rate / 20_000) ** 0.5
        assert abs(out[:, column].var() / rate - 1) < 0.06
    assert np.isinf(out[:, 2]).all()
    assert np.isnan(out[:, 3]).all()


def test_refusals():
    engine = sequences.MersenneTwister(1)
    with pytest.raises(TypeError, match="'out' must be uint32"):
        engine.words(np.empty(3))
    with pytest.raises(ValueError, match="'span' must be in"):
        engine.integers(0, np.empty(3, np.int64))
    with pytest.raises(ValueError, match="a column for each of 2 rates"):
        engine.poisson(np.ones(2), np.empty((3, 3)))
    with pytest.raises(ValueError, match="C-contiguous"):
        engine.normals(np.empty(8, np.float32)[::2])
