"""Sums of squares and the search for what is not finite, over many arrays, against NumPy."""

import numpy as np
import pytest

from dist_ms._ext import norms, threads
from tests.serial.kernels.calls import DTYPES

SHAPES = [(0,), (), (1,), (15,), (16, 1), (3, 0, 2), (16385,), (70, 1000), (1,)]


def arrays(seed, dtypes=DTYPES):
    random = np.random.default_rng(seed)
    return [
        np.array(random.standard_normal(s) * 3, random.choice(dtypes))
        for s in random.permutation(len(SHAPES))
        for s in [SHAPES[s]]
    ]


@pytest.mark.parametrize("seed", range(6))
def test_square_sums(seed):
    given = arrays(seed)
    before, found = threads.get_num_threads(), []
    for number in (1, 2):
        threads.set_num_threads(number)
        try:
            found.append(norms.square_sums(given))
        finally:
            threads.set_num_threads(before)
    assert found[0].tobytes() == found[1].tobytes()
    np.testing.assert_allclose(found[0], [(a.astype(np.float64) ** 2).sum() for a in given], rtol=1e-13)


def test_squares_of_float32_do_not_overflow():
    assert norms.square_sums([np.full(40, 1e30, np.float32)])[0] == pytest.approx(4e61, rel=1e-6)


def test_special_values_stay_in_their_array():
    given = [np.zeros(20), np.full(3, np.nan, np.float32), np.ones(2), np.array([np.inf, 1.0])]
    assert norms.square_sums(given).tolist()[::2] == [0, 2]
    assert np.isnan(norms.square_sums(given)[1]) and norms.square_sums(given)[3] == np.inf


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("seed", range(4))
def test_first_not_finite(seed, bad):
    given = arrays(seed)
    random = np.random.default_rng(seed)
    assert norms.first_not_finite(given) == -1
    at = sorted(random.choice([i for i, a in enumerate(given) if a.size], 2, replace=False))
    for place in at:
        given[place].reshape(-1)[random.integers(given[place].size)] = bad
    assert norms.first_not_finite(given) == at[0]


def test_the_largest_numbers_are_finite():
    for dtype in DTYPES:
        assert (
            norms.first_not_finite([np.full(100, np.finfo(dtype).max, dtype), np.full(9, -np.finfo(dtype).max)]) == -1
        )
    assert norms.first_not_finite([]) == -1 and norms.square_sums([]).shape == (0,)


@pytest.mark.parametrize("kernel", [norms.square_sums, norms.first_not_finite])
def test_wrong_arguments(kernel):
    with pytest.raises(TypeError, match="'arrays' must be float32 or float64, but got int32"):
        kernel([np.zeros(3, np.int32)])
    with pytest.raises(ValueError, match="'arrays' must be C-contiguous"):
        kernel([np.zeros((3, 4)).T])
