"""Maximum pooling with dilated windows, in every floating type."""

import ml_dtypes
import numpy as np
import pytest

import dist_ms as ms
from dist_ms.ops.convolutions.windows import windows
from dist_ms.ops.pooling_windows import pooling


@pytest.mark.parametrize("dtype", (np.float32, np.float16, ml_dtypes.bfloat16), ids=str)
@pytest.mark.parametrize("case", range(6))
def test_dilated_maxima(case, dtype):
    """Against the maximum over NumPy's windows; the first of equal ones and the first NaN win."""
    rng = np.random.default_rng(case)
    x = rng.integers(-3, 4, (2, 3, 11, 9)).astype(np.float32)
    x[rng.random(x.shape) < 0.05 * (case % 3)] = (np.nan, -np.inf)[case % 2]
    if case == 5:
        x[...] = -np.inf
    kernel, stride, dilation = ((2, 3), (2, 1), (2, 3)) if case % 2 else ((3, 2), (1, 3), (1, 4))
    padding = ((1, 1), (1, 0))
    tensor = ms.Tensor(x.astype(dtype))
    pool = pooling.Pool(kernel, stride, padding, dilation)
    view = windows(x, kernel, stride, padding, dilation, fill=-np.inf)
    wanted = view.reshape(*view.shape[:4], -1)
    found = pooling.MaxPooling(pool)(tensor)
    np.testing.assert_array_equal(found.asnumpy().astype(np.float32), wanted.max(-1))
    dx = ms.grad(lambda x: pooling.MaxPooling(pool)(x).sum())(tensor)
    assert float(dx.asnumpy().astype(np.float32).sum()) == wanted[..., 0].size
