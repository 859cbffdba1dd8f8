"""Column sums against NumPy's in float64."""

import numpy as np
import pytest

from dist_ms._ext import column_sum
from dist_ms.common.dtype import bfloat16
from dist_ms.ops.layers.bias_add import row_sum
from tests.serial.kernels.calls import DTYPES, assert_close, call, wide


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(0, 5), (5, 0), (1, 1), (3, 7), (4, 64), (9, 65), (1023, 130), (514, 256)])
def test_column_sums(dtype, shape):
    x = np.random.default_rng(8).standard_normal(shape).astype(dtype)
    out = np.empty(shape[1], dtype)
    assert_close(call(column_sum.column_sums, (x, out), [out]), wide(x).sum(0), max(1, shape[0]) ** 0.5)


def test_special_values_stay_in_their_column():
    x = np.zeros((9, 70), np.float32)
    x[2, 3], x[8, 4], x[5, 66] = np.nan, np.inf, -np.inf
    out = np.empty(70, np.float32)
    column_sum.column_sums(x, out)
    assert np.isnan(out[3]) and out[4] == np.inf and out[66] == -np.inf
    assert not np.delete(out, [3, 4, 66]).any()


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int32, bfloat16.np])
def test_row_sum_takes_any_layout_and_type(dtype):
    whole = np.random.default_rng(9).integers(-4, 5, (400, 96)).astype(dtype)
    for x in (whole, whole.T, whole[::2], whole[:, 3:70]):
        found = row_sum(x)
        assert found.dtype == x.sum(axis=0).dtype
        assert np.array_equal(found.astype(np.float64), x.astype(np.float64).sum(0).astype(dtype).astype(np.float64))


def test_wrong_arguments():
    x = np.zeros((4, 6), np.float32)
    with pytest.raises(TypeError, match="'x' must be float32 or float64, but got int32"):
        column_sum.column_sums(x.astype(np.int32), x[0])
    with pytest.raises(ValueError, match="'x' must be C-contiguous"):
        column_sum.column_sums(x.T, np.zeros(4, np.float32))
    with pytest.raises(ValueError, match="'out' must have length 6, but got 5"):
        column_sum.column_sums(x, np.zeros(5, np.float32))
    with pytest.raises(TypeError, match="'out' must be float32"):
        column_sum.column_sums(x, np.zeros(6))
