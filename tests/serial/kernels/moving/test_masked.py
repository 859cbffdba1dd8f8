"""Places where a mask is true, and the elements there, against NumPy's."""

import numpy as np
import pytest

from dist_ms._ext import masked, threads

SHAPES = [(0,), (1,), (7,), (40000,), (3, 0), (300, 200), (5, 1, 7000), (2, 3, 4, 5), (33, 1, 1, 1000, 2)]


def on_threads(kernel, *arguments):
    """The result, the same on 1 and 2 threads."""
    before, found = threads.get_num_threads(), []
    for number in (1, 2):
        threads.set_num_threads(number)
        try:
            found.append(kernel(*arguments))
        finally:
            threads.set_num_threads(before)
    assert np.array_equal(*found)
    return found[0]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("share", [0, 0.01, 0.5, 1])
def test_against_numpy(shape, share):
    rng = np.random.default_rng(1)
    mask = rng.random(shape) < share
    found = on_threads(masked.true_places, mask)
    assert found.dtype == np.int64 and np.array_equal(found, np.argwhere(mask))
    for dtype in ("?", "i2", "f4", "f8", "c8"):
        x = rng.integers(0, 100, shape).astype(dtype)
        found = on_threads(masked.take_where, x, mask)
        assert found.dtype == x.dtype and np.array_equal(found, x[mask])


def test_wrong_arguments():
    x, mask = np.ones(3), np.ones(3, bool)
    with pytest.raises(TypeError, match="'mask' must be bool, but got float64"):
        masked.true_places(x)
    with pytest.raises(ValueError, match="'mask' must have an axis"):
        masked.true_places(np.array(True))
    with pytest.raises(ValueError, match="'mask' must have 3 elements, but got 2"):
        masked.take_where(x, mask[:2].copy())
    with pytest.raises(TypeError, match="'x' must hold elements of 1, 2, 4 or 8 bytes, but got complex128"):
        masked.take_where(x.astype(complex), mask)
    with pytest.raises(ValueError, match="'x' must be C-contiguous"):
        masked.take_where(np.ones(6)[::2], mask)
