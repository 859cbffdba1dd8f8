"""Running sums and products against NumPy's in float64."""

import numpy as np
import pytest

from dist_ms._ext import scan
from tests.serial.kernels.calls import call

SHAPES = [(1, 1, 1), (3, 0, 2), (5, 7, 1), (4, 64, 1), (9, 1000, 1), (2, 9, 5), (1, 300, 200), (3, 40, 129)]
LONG = [(1, 32768, 1), (3, 40001, 1), (17, 33000, 1)]
DTYPES = [np.dtype(t) for t in ("f4", "f8", "i4", "i8")]


def twin(x, op, reverse, exclusive):
    """The same by NumPy."""
    work = x.astype(np.float64) if x.dtype.kind == "f" else x
    work = np.flip(work, 1) if reverse else work
    out = (np.cumsum if op == "sum" else np.cumprod)(work, 1, dtype=work.dtype)
    if exclusive and x.shape[1]:
        out = np.concatenate([np.full_like(out[:, :1], op == "prod"), out[:, :-1]], 1)
    return np.flip(out, 1) if reverse else out


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", SHAPES + LONG)
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("exclusive", [False, True])
def test_scan(dtype, shape, reverse, exclusive):
    rng = np.random.default_rng(3)
    for op in ("sum", "prod"):
        if dtype.kind == "i":
            x = rng.integers(-3, 9, shape).astype(dtype)
        else:
            x = rng.standard_normal(shape) if op == "sum" else np.exp(rng.standard_normal(shape) * 0.01)
            x = x.astype(dtype)
        out = np.empty_like(x)
        call(scan.scan, (x, out, op, reverse, exclusive), [out])
        wanted = twin(x, op, reverse, exclusive)
        if dtype.kind == "i":
            assert np.array_equal(out, wanted)
        else:
            near = {4: 1e-6, 8: 1e-12}[dtype.itemsize]
            np.testing.assert_allclose(out, wanted, rtol=near, atol=near)


def test_special_values_go_on():
    x = np.ones((5, 6, 1), np.float32)
    x[1, 2], x[4, 3] = np.nan, np.inf
    out = np.empty_like(x)
    scan.scan(x, out, "sum")
    assert np.isnan(out[1, 2:]).all() and np.isinf(out[4, 3:]).all() and np.isfinite(out[[0, 2, 3]]).all()


def test_wrong_arguments():
    x = np.ones((2, 3, 1), np.float32)
    with pytest.raises(ValueError, match="'op' must be sum or prod, but got 'max'"):
        scan.scan(x, x.copy(), "max")
    with pytest.raises(TypeError, match="'x' must be float32, float64, int32 or int64, but got float16"):
        scan.scan(x.astype(np.float16), x.astype(np.float16), "sum")
    with pytest.raises(ValueError, match="'out' must have the shape"):
        scan.scan(x, x[:1].copy(), "sum")
    with pytest.raises(ValueError, match="'x' must have 3 dimensions"):
        scan.scan(x[0], x[0].copy(), "sum")
