"""The different numbers of a vector against Python's dictionary."""

import ml_dtypes
import numpy as np
import pytest

from dist_ms._ext import unique

DTYPES = [np.dtype(t) for t in ("f4", "f8", "f2", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "?")]
DTYPES.append(np.dtype(ml_dtypes.bfloat16))


def twin(x):
    """Where each different element first comes, and which one each is; NaNs are one."""
    seen, places = {}, []
    first = []
    for i, value in enumerate(x.astype(np.float64) if x.dtype.kind in "fV" else x.tolist()):
        key = "nan" if value != value else value
        if key not in seen:
            seen[key] = len(first)
            first.append(i)
        places.append(seen[key])
    return first, places


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("size", [0, 1, 5, 600, 20000])
@pytest.mark.parametrize("spread", [2, 100, 10**6])
def test_unique(dtype, size, spread):
    rng = np.random.default_rng(size)
    x = rng.integers(-spread, spread, size)
    if dtype.kind in "fV":
        x = np.clip(x, -60000, 60000).astype(dtype)
        for special in (np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0):
            x[rng.random(size) < 0.05] = special
    x = x.astype(dtype)
    places = np.empty(size, np.int32)
    first = unique.unique(x, places)
    wanted = twin(x)
    assert first.tolist() == wanted[0]
    assert places.tolist() == wanted[1]


def test_wrong_arguments():
    x, places = np.ones(3, np.float32), np.empty(3, np.int32)
    with pytest.raises(TypeError, match="'x' must hold real numbers or bools, but got complex64"):
        unique.unique(x.astype(np.complex64), places)
    with pytest.raises(ValueError, match="'places' must have length 3, but got 2"):
        unique.unique(x, places[:2].copy())
    with pytest.raises(ValueError, match="'x' must be C-contiguous"):
        unique.unique(np.ones(6)[::2], places)
