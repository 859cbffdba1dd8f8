"""Searches in sorted rows against NumPy's."""

import numpy as np
import pytest

from dist_ms._ext import sorted_search
from tests.serial.kernels.calls import call


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "i8"])
@pytest.mark.parametrize("columns", [0, 1, 2, 3, 16, 17, 1000])
@pytest.mark.parametrize("searched", [0, 1, 15, 16, 17, 5000])
@pytest.mark.parametrize("right", [False, True])
def test_search(dtype, columns, searched, right):
    rng = np.random.default_rng(columns)
    rows = (rng.standard_normal((3, columns)) * 20).round().astype(dtype)
    values = (rng.standard_normal((3, searched)) * 20).round().astype(dtype)
    if dtype[0] == "f":
        for array in (rows, values):
            for special in (np.nan, np.inf, -np.inf, -0.0):
                array[rng.random(array.shape) < 0.05] = special
    rows.sort(1)
    for index_type in (np.int32, np.int64):
        places = np.empty(values.shape, index_type)
        call(sorted_search.search, (rows, values, places, right), [places])
        for row, value, place in zip(rows, values, places, strict=True):
            assert np.array_equal(place, np.searchsorted(row, value, "right" if right else "left"))


def test_wrong_arguments():
    x, places = np.ones((2, 3)), np.ones((2, 3), np.int64)
    with pytest.raises(TypeError, match="'rows' must be float32, float64, int32 or int64, but got uint8"):
        sorted_search.search(x.astype(np.uint8), x, places, False)
    with pytest.raises(TypeError, match="'values' must be float64, but got float32"):
        sorted_search.search(x, x.astype(np.float32), places, False)
    with pytest.raises(ValueError, match="must have 2 rows of one length, but got shapes"):
        sorted_search.search(x, x[:1].copy(), places, False)
    with pytest.raises(TypeError, match="'places' must be int64"):
        sorted_search.search(x, x, x.copy(), False)
