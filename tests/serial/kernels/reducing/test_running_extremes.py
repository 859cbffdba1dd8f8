"""Running maxima and minima, and their places, against NumPy's."""

import ml_dtypes
import numpy as np
import pytest

from dist_ms._ext import running_extremes
from tests.serial.kernels.calls import call

SHAPES = [(1, 1, 1), (3, 0, 2), (0, 4, 1), (5, 7, 1), (4, 64, 1), (9, 1000, 1), (2, 9, 5), (1, 300, 200), (3, 40, 129)]
DTYPES = [np.dtype(t) for t in ("f4", "f8", "f2", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "?")]
DTYPES.append(np.dtype(ml_dtypes.bfloat16))


def twin(x, smallest):
    """The last place so far of the running extreme, by NumPy."""
    wide = x.astype(np.float32) if x.dtype.kind == "V" else x
    values = (np.minimum if smallest else np.maximum).accumulate(wide, 1)
    hit = (wide == values) | ((wide != wide) & (values != values))
    places = np.maximum.accumulate(np.where(hit, np.arange(x.shape[1])[:, None], 0), 1)
    return values, places


def numbers(rng, shape, dtype):
    """Numbers with repetitions and, of floats, all special values."""
    if dtype.kind not in "fV":
        return (rng.integers(0, int(rng.choice([2, 5, 100])), shape) - 3 * (dtype.kind == "i")).astype(dtype)
    x = (rng.standard_normal(shape) * 10).round(int(rng.integers(0, 3))).astype(dtype)
    for special, share in ((np.nan, 0.002), (-np.nan, 0.002), (np.inf, 0.01), (-np.inf, 0.02), (0.0, 0.1), (-0.0, 0.1)):
        x[rng.random(shape) < share] = special
    return x


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("smallest", [False, True])
def test_running_extremes(dtype, shape, smallest):
    rng = np.random.default_rng(3)
    for order in ("random", "rising", "falling"):
        x = numbers(rng, shape, dtype)
        if order != "random":
            x = np.sort(x.astype(np.float64), 1).astype(dtype)
        if order == "falling":
            x = np.ascontiguousarray(np.flip(x, 1))
        wanted_values, wanted = twin(x, smallest)
        for index_type in (np.int32, np.int64):
            values, places = np.empty_like(x), np.empty(shape, index_type)
            call(running_extremes.running_extremes, (x, values, places, smallest), [values, places])
            assert np.array_equal(places, wanted)
            assert values.tobytes() == np.take_along_axis(x, wanted, 1).tobytes()
            np.testing.assert_array_equal(values.astype(wanted_values.dtype), wanted_values)


@pytest.mark.parametrize("dtype", ["f4", "i8", "u8", "i1"])
def test_limits(dtype):
    limits = (np.finfo if dtype == "f4" else np.iinfo)(dtype)
    x = np.array([0, limits.max, limits.min, limits.max], dtype).reshape(1, 4, 1)
    for smallest in (False, True):
        values, places = np.empty_like(x), np.empty(x.shape, np.int32)
        running_extremes.running_extremes(x, values, places, smallest)
        assert np.array_equal(places, twin(x, smallest)[1])


def test_wrong_arguments():
    x, places = np.ones((2, 3, 1), np.float32), np.ones((2, 3, 1), np.int64)
    with pytest.raises(TypeError, match="'x' must hold real numbers or bools, but got complex64"):
        running_extremes.running_extremes(x.astype(np.complex64), x.astype(np.complex64), places, False)
    with pytest.raises(TypeError, match="'places' must be int64, but got float32"):
        running_extremes.running_extremes(x, x.copy(), x.copy(), False)
    with pytest.raises(ValueError, match="'values' must have the shape"):
        running_extremes.running_extremes(x, x[:1].copy(), places, False)
    with pytest.raises(ValueError, match="'x' must have 3 dimensions"):
        running_extremes.running_extremes(x[0], x.copy(), places, False)
