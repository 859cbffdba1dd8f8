"""Pow, Sqrt, Rsqrt, Reciprocal and their kin."""

import numpy as np
import pytest

from dist_ms import ops
from tests.serial.ops.compare import equal, same, tensor


def test_pow():
    x = np.array([0.5, 2, 3], "float32")
    for e in (0, 1, 2, 3, -1, 0.5, 2.5):
        same(ops.pow(tensor(x), e), x**e)
        same(ops.pow(tensor(x), tensor([e] * 3, "float32")), x ** np.float32(e))
    equal(tensor([2, 3], "int32") ** tensor([3, 2], "int32"), [8, 9])
    equal(tensor([1, -1, 2, -2]) ** -1, [1, -1, 0, 0])
    equal(tensor([1, -1, 2, -1]) ** -2, [1, 1, 0, 1])
    equal(2 ** tensor([1, 3]), [2, 8])
    equal(tensor([True, False]) ** tensor([True, True]), [True, False])
    assert (tensor([2]) ** 2.0).asnumpy().dtype == np.float32
    assert np.isnan((tensor([-3.0]) ** 0.5).asnumpy())


def test_float_power_is_double():
    same(ops.float_power(tensor([2, 3], "int32"), 2), np.array([4.0, 9.0]))
    with pytest.raises(TypeError, match="For 'float_power'"):
        ops.float_power(2, 2)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_roots(dtype):
    x = np.array([0.25, 1, 4], dtype)
    same(ops.sqrt(tensor(x)), np.sqrt(x))
    same(ops.rsqrt(tensor(x)), (1 / np.sqrt(x)).astype(dtype))
    same(ops.reciprocal(tensor(x)), (1 / x).astype(dtype))
    same(ops.hypot(tensor(x), tensor(x)), np.hypot(x, x))
    assert np.isinf(ops.rsqrt(tensor([0], dtype)).asnumpy())


def test_integers_become_floats_where_mindspore_has_it_so():
    same(ops.sqrt(tensor([4, 9], "int32")), np.array([2, 3], "float32"))
    same(ops.reciprocal(tensor([4], "int64")), np.array([0.25], "float32"))
    same(ops.inv(tensor([1, 4, -1], "int32")), np.array([1, 0, -1], "int32"))
    with pytest.raises(TypeError, match="For 'Rsqrt', the dtype of 'input' must be float or complex, but got Int64"):
        ops.rsqrt(tensor([4]))
    with pytest.raises(TypeError, match="For 'Sqrt', 'input' must be a Tensor, but got float"):
        ops.sqrt(4.0)
