"""Rows in order against NumPy's stable sort."""

import ml_dtypes
import numpy as np
import pytest

from dist_ms._ext import ordering
from tests.serial.kernels.calls import call

DTYPES = [np.dtype(t) for t in ("f4", "f8", "f2", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "?")]
DTYPES.append(np.dtype(ml_dtypes.bfloat16))


def order(x, descending):
    """Where the elements of rows in order were; equal ones stay in order, NaN counts as largest."""
    if x.dtype.kind == "V":
        x = x.astype(np.float32)
    if not descending:
        return np.argsort(x, 1, kind="stable")
    return x.shape[1] - 1 - np.flip(np.argsort(np.flip(x, 1), 1, kind="stable"), 1)


def numbers(rng, shape, dtype):
    """Numbers with repetitions and, of floats, all special values."""
    if dtype.kind not in "fV":
        return (rng.integers(0, int(rng.choice([2, 5, 100])), shape) - 3 * (dtype.kind == "i")).astype(dtype)
    x = (rng.standard_normal(shape) * 10).round(int(rng.integers(0, 3))).astype(dtype)
    for special in (np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0):
        x[rng.random(shape) < 0.05] = special
    return x


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("columns", [0, 1, 2, 15, 16, 17, 40, 300, 1000, 5000])
def test_sort_first(dtype, descending, columns):
    rng = np.random.default_rng(columns)
    for rows, kept in ((3, columns), (2, min(columns, 3)), (2, columns // 3), (9, min(columns, 1)), (0, columns)):
        x = numbers(rng, (rows, columns), dtype)
        if kept == 3:
            x = np.take_along_axis(x, order(x, True), 1)  # the worst case of a selection
        values, places = np.empty((rows, kept), dtype), np.empty((rows, kept), np.int32)
        call(ordering.sort_first, (x, values, places, descending), [values, places])
        wanted = order(x, descending)[:, :kept]
        assert np.array_equal(places, wanted)
        assert values.tobytes() == np.take_along_axis(x, wanted, 1).tobytes()


def test_wrong_arguments():
    x, values, places = np.ones((2, 3), np.float32), np.ones((2, 3), np.float32), np.ones((2, 3), np.int32)
    with pytest.raises(TypeError, match="'x' must hold real numbers or bools, but got complex64"):
        ordering.sort_first(x.astype(np.complex64), values.astype(np.complex64), places, False)
    with pytest.raises(ValueError, match="'values' must have 2 rows of at most 3 numbers, but got shape"):
        ordering.sort_first(x, np.ones((2, 4), np.float32), np.ones((2, 4), np.int32), False)
    with pytest.raises(ValueError, match="'places' must have the shape"):
        ordering.sort_first(x, values, places[:1], False)
    with pytest.raises(TypeError, match="'places' must be int32"):
        ordering.sort_first(x, values, places.astype(np.int64), False)
    with pytest.raises(ValueError, match="'x' must be C-contiguous"):
        ordering.sort_first(np.asfortranarray(x), values, places, False)
