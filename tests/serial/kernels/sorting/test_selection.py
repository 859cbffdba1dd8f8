"""Places of medians and other numbers of sorted rows against NumPy's stable sort."""

import ml_dtypes
import numpy as np
import pytest

from dist_ms._ext import selection
from tests.serial.kernels.calls import call

DTYPES = [np.dtype(t) for t in ("f4", "f8", "f2", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "?")]
DTYPES.append(np.dtype(ml_dtypes.bfloat16))


def twin(x, k):
    """Where number k of each row in order is."""
    wide = x.astype(np.float32) if x.dtype.kind == "V" else x
    order = np.argsort(wide, 1, kind="stable")
    columns = x.shape[1]
    missing = (wide != wide).sum(1)
    if k == selection.MEDIAN:
        k = np.where(missing > 0, columns - 1, (columns - 1) // 2)
    elif k == selection.MEDIAN_OF_NUMBERS:
        k = np.maximum(columns - missing - 1, 0) // 2
    return order[np.arange(len(x)), k]


def numbers(rng, shape, dtype, share):
    """Numbers with repetitions and, of floats, all special values."""
    if dtype.kind not in "fV":
        return (rng.integers(0, int(rng.choice([2, 5, 100])), shape) - 3 * (dtype.kind == "i")).astype(dtype)
    x = (rng.standard_normal(shape) * 10).round(int(rng.integers(0, 4))).astype(dtype)
    for special in (np.inf, -np.inf, 0.0, -0.0):
        x[rng.random(shape) < 0.05] = special
    x[rng.random(shape) < share] = np.nan
    return x


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("columns", [1, 2, 3, 15, 16, 17, 40, 300, 1000, 5000])
def test_select(dtype, columns):
    rng = np.random.default_rng(columns)
    for share in (0, 0.001, 0.3, 1):
        for order in ("random", "rising", "falling"):
            x = numbers(rng, (9, columns), dtype, share)
            if order != "random":
                x = np.sort(x.astype(np.float64), 1)[:, :: 1 if order == "rising" else -1].astype(dtype)
                x = np.ascontiguousarray(x)
            for k in (0, columns - 1, columns // 3, selection.MEDIAN, selection.MEDIAN_OF_NUMBERS):
                places = np.empty(9, np.int64)
                call(selection.select, (x, k, places), [places])
                assert np.array_equal(places, twin(x, k))


@pytest.mark.parametrize("dtype", ["u4", "u8", "i8", "f8"])
def test_rows_against_the_sample(dtype):
    """What is sampled is always the least, so that every round drops next to nothing."""
    x = np.zeros((1, 4000), dtype)
    for turn in range(200):
        x[0, turn::200] = (np.arange(20) + turn) % 4000
    x[0] = np.sort(x[0])[np.argsort(np.abs(np.sin(np.arange(4000.0))))]
    for k in (0, 1999, 3999):
        places = np.empty(1, np.int64)
        selection.select(x, k, places)
        assert np.array_equal(places, twin(x, k))


def test_no_rows():
    selection.select(np.ones((0, 3), np.float32), 1, np.empty(0, np.int64))


def test_wrong_arguments():
    x, places = np.ones((2, 3), np.float32), np.ones(2, np.int64)
    with pytest.raises(TypeError, match="'x' must hold real numbers or bools, but got complex64"):
        selection.select(x.astype(np.complex64), 0, places)
    with pytest.raises(ValueError, match="'k' must be one of 3 places, but got 3"):
        selection.select(x, 3, places)
    with pytest.raises(ValueError, match="'k' must be one of 0 places"):
        selection.select(x[:, :0].copy(), selection.MEDIAN, places)
    with pytest.raises(ValueError, match="'places' must have length 2"):
        selection.select(x, 0, places[:1])
    with pytest.raises(TypeError, match="'places' must be int64"):
        selection.select(x, 0, places.astype(np.int32))
