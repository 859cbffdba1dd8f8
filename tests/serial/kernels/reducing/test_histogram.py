"""The numbers of elements in bins against NumPy's."""

import numpy as np
import pytest

from dist_ms._ext import histogram
from tests.serial.kernels.calls import DTYPES, call, random


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", [0, 1, 7, 1000, 70_001])
@pytest.mark.parametrize("bins, low, high", [(1, -1, 1), (10, -2.5, 0.3), (97, -4, 4), (1000, 0.1, 0.7)])
@pytest.mark.parametrize("parts", [1, 8])
def test_count(size, bins, low, high, parts, dtype):
    x = random(size, dtype)
    edges = np.linspace(low, high, bins + 1)
    x[: min(size, len(edges))] = edges[: min(size, len(edges))]  # the edges themselves, rounded
    x[size // 2 : size // 2 + 2] = np.nan
    counts = np.zeros((parts, bins), np.int64)

    def kernel():
        counts[...] = 0
        histogram.count(x, edges, counts)

    call(kernel, (), [counts])
    wanted = np.histogram(x.astype(np.float64), bins, (low, high))[0]
    np.testing.assert_array_equal(counts.sum(0), wanted)


def test_each_part_has_counts_of_its_own():
    x, counts = np.arange(10.0), np.zeros((3, 1), np.int64)
    histogram.count(x, np.array([0.0, 9.0]), counts)
    assert counts.tolist() == [[4], [4], [2]]


def test_wrong_arguments():
    x, edges, out = np.zeros(3), np.array([0.0, 1.0]), np.zeros((1, 1), np.int64)
    with pytest.raises(TypeError, match="'x' must be float32 or float64, but got int64"):
        histogram.count(np.zeros(3, np.int64), edges, out)
    with pytest.raises(ValueError, match="'edges' one edge more than bins"):
        histogram.count(x, edges, np.zeros((1, 2), np.int64))
    with pytest.raises(ValueError, match="a part and a bin at least"):
        histogram.count(x, edges[:1], np.zeros((1, 0), np.int64))
