"""Where marks fall in rows of weights, against np.searchsorted."""

import numpy as np
import pytest

from dist_ms._ext import weighted_places
from tests.serial.kernels.calls import call


@pytest.mark.parametrize("rows, size, count", [(0, 3, 2), (1, 1, 5), (3, 7, 0), (5, 300, 40), (400, 129, 10)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_places(rows, size, count, dtype):
    rng = np.random.default_rng(1)
    weights = (rng.random((rows, size)) * (rng.random((rows, size)) < 0.7)).astype(dtype)
    weights[:, -1] = 1
    marks, out = rng.random((rows, count)), np.empty((rows, count), np.int64)
    marks[:, :1] = 0
    call(weighted_places.places, (weights, marks, out), [out])
    for row in range(rows):
        ends = np.cumsum(weights[row], dtype=np.float64)
        np.testing.assert_array_equal(out[row], np.searchsorted(ends, marks[row] * ends[-1], side="right"))


def test_weights_of_zero_are_never_drawn():
    weights, out = np.array([[0.0, 1.0, 0.0, 1.0, 0.0]]), np.empty((1, 1000), np.int64)
    weighted_places.places(weights, np.linspace(0, 1, 1000, endpoint=False)[None], out)
    assert set(out[0].tolist()) == {1, 3}


@pytest.mark.parametrize("wrong", [-1.0, np.nan, np.inf])
@pytest.mark.parametrize("place", [(0, 0), (2, 7), (9, 8), (11, 18)])
def test_wrong_weights_are_told(place, wrong):
    weights, marks, out = np.ones((12, 19)), np.zeros((12, 1)), np.empty((12, 1), np.int64)
    assert weighted_places.places(weights, marks, out)
    weights[place] = wrong
    assert not weighted_places.places(weights, marks, out)
    weights[place] = 0
    assert weighted_places.places(weights, marks, out)
    weights[place[0]] = 0
    assert not weighted_places.places(weights, marks, out)


def test_refusals():
    weights, marks = np.ones((2, 3)), np.zeros((2, 4))
    with pytest.raises(ValueError, match=r"must have the shape \(2, count\)"):
        weighted_places.places(weights, np.zeros((3, 4)), np.empty((2, 4), np.int64))
    with pytest.raises(TypeError, match="'weights' must be float32 or float64"):
        weighted_places.places(weights.astype(np.float16), marks, np.empty((2, 4), np.int64))
