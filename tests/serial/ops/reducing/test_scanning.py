"""CumSum, CumProd, Cummax and their kin."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import ops
from tests.serial.ops.compare import FLOATS, INTEGERS, equal, same, tensor

A = np.random.default_rng(0).standard_normal((3, 4))


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_values(axis):
    a = ms.Tensor(A)
    same(ops.cumsum(a, axis), A.cumsum(axis))
    same(ops.cumprod(a, axis), A.cumprod(axis))
    same(ops.logcumsumexp(a, axis), np.log(np.exp(A).cumsum(axis)))
    for name, numpy_op in (("cummax", np.maximum), ("cummin", np.minimum)):
        values, places = getattr(ops, name)(a, axis)
        same(values, numpy_op.accumulate(A, axis))
        np.testing.assert_array_equal(np.take_along_axis(A, places.asnumpy().astype(int), axis), values.asnumpy())


def test_exclusive_and_reverse():
    x = tensor([1.0, 2.0, 3.0])
    for op, wanted in (
        (ops.CumSum, {(0, 0): [1, 3, 6], (1, 0): [0, 1, 3], (0, 1): [6, 5, 3], (1, 1): [5, 3, 0]}),
        (ops.CumProd, {(0, 0): [1, 2, 6], (1, 0): [1, 1, 2], (0, 1): [6, 6, 3], (1, 1): [6, 3, 1]}),
    ):
        for (exclusive, reverse), values in wanted.items():
            equal(op(bool(exclusive), bool(reverse))(x, 0), values)
    equal(ops.CumulativeLogsumexp(exclusive=True)(tensor([0.0, 0.0]), 0), [np.finfo("float64").min, 0])


@pytest.mark.parametrize("dtype", INTEGERS + FLOATS)
def test_dtypes(dtype):
    x = np.array([100, 100, 3], dtype)
    same(ops.cumsum(ms.Tensor(x), 0), x.cumsum(dtype=dtype))
    same(
        ops.cumprod(ms.Tensor(np.array([2, 3], dtype)), 0),
        np.array([2, 6], dtype if dtype.startswith("float") else "int64"),
    )
    assert ops.cumsum(ms.Tensor(x), 0, ms.float64).dtype == ms.float64


def test_places_of_equal_elements_and_nan():
    values, places = ops.cummax(tensor([1.0, 3.0, 3.0, np.nan, 5.0]), 0)
    equal(values, [1, 3, 3, np.nan, np.nan])
    equal(places, [0, 1, 2, 3, 3])
    values, places = ops.cummin(tensor([2.0, 3.0, 1.0, 1.0, np.nan, 0.0, np.nan]), 0)
    equal(values, [2, 2, 1, 1, np.nan, np.nan, np.nan])
    equal(places, [0, 0, 2, 3, 4, 4, 6])


def test_running_extremes_of_views():
    x = np.random.default_rng(1).standard_normal((4, 5, 6)).astype("float32")
    for view in (x.transpose(2, 0, 1), x[:, ::2], x[:, :, ::-1], x[:0], x[:, :1]):
        for axis in range(3):
            values, places = ops.cummax(ms.Tensor(view), axis)
            equal(values, np.maximum.accumulate(view, axis))
            equal(values, np.take_along_axis(view, places.asnumpy(), axis))


def test_large_exponents():
    equal(ops.logcumsumexp(tensor([1000.0, -1000.0]), 0), [1000, 1000])


def test_method():
    same(ms.Tensor(A).cumsum(), A.reshape(-1).cumsum())
    same(ms.Tensor(A).cumsum(dim=1), A.cumsum(1))


def test_errors():
    with pytest.raises(TypeError, match="For 'CumSum', .* but got Bool"):
        ops.cumsum(tensor([True]), 0)
    with pytest.raises(ValueError, match="'axis' must be in the range"):
        ops.cumsum(ms.Tensor(A), 2)
    for scan in (ops.cumsum, ops.cumprod, ops.cummax, ops.cummin, ops.logcumsumexp):
        with pytest.raises(ValueError, match="at least 1 dimension"):
            scan(ms.Tensor(2.0), 0)
    with pytest.raises(TypeError):
        ops.cumprod(ms.Tensor(A), 1.0)
    with pytest.raises(TypeError, match="exclusive"):
        ops.CumSum(exclusive=1)
    with pytest.raises(TypeError, match="must be float"):
        ops.logcumsumexp(tensor([1]), 0)
