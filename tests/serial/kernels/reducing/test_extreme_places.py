"""Places of extremes against NumPy's."""

import numpy as np
import pytest

from dist_ms._ext import extreme_places
from tests.serial.kernels.calls import call

SHAPES = [(1, 1, 1), (4, 3, 1), (5, 70, 1), (2, 1000, 1), (1, 40000, 1), (3, 9, 5), (1, 100, 513), (2, 600, 64)]
DTYPES = [np.dtype(t) for t in ("f4", "f8", "i4", "i8")]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [*SHAPES, (0, 3, 2), (3, 3, 0)])
@pytest.mark.parametrize("smallest", [False, True])
def test_extreme_places(dtype, shape, smallest):
    rng = np.random.default_rng(4)
    for special in (False, True):
        x = (rng.standard_normal(shape) * 5).round(1 if special else 9 * (dtype.kind == "f")).astype(dtype)
        if special and dtype.kind == "f":
            for value in (np.inf, -np.inf, 0.0, -0.0):
                x[rng.random(shape) < 0.1] = value
            for value in (np.nan, -np.nan):
                x[rng.random(shape) < 0.3 / shape[1]] = value
        elif special:
            x[rng.random(shape) < 0.1] = np.iinfo(dtype).min
            x[rng.random(shape) < 0.1] = np.iinfo(dtype).max
        out = np.empty((shape[0], shape[2]), np.int64)
        call(extreme_places.extreme_places, (x, out, smallest), [out])
        assert np.array_equal(out, (np.argmin if smallest else np.argmax)(x, 1))


def test_lines_of_one_value():
    for value in (-np.inf, np.inf, np.nan, 0.0):
        out = np.empty((1, 1), np.int64)
        for smallest in (False, True):
            extreme_places.extreme_places(np.full((1, 100, 1), value), out, smallest)
            assert out[0, 0] == 0


def test_wrong_arguments():
    x, out = np.ones((2, 3, 1), np.float32), np.empty((2, 1), np.int64)
    with pytest.raises(TypeError, match="'x' must be float32, float64, int32 or int64, but got float16"):
        extreme_places.extreme_places(x.astype(np.float16), out)
    with pytest.raises(ValueError, match=r"'out' must have the shape \(2, 1\), but got \(1, 1\)"):
        extreme_places.extreme_places(x, out[:1])
    with pytest.raises(TypeError, match="'out' must be int64"):
        extreme_places.extreme_places(x, out.astype(np.int32))
    with pytest.raises(ValueError, match="the middle axis of 'x' must have 1 to 2"):
        extreme_places.extreme_places(x[:, :0].copy(), out)
