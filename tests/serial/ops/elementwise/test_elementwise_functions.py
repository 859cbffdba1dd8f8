"""exponentials.py and trigonometry.py: values against NumPy, types refused."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import ops
from tests.serial.ops.compare import equal, same, tensor

FUNCTIONS = {
    "exp": np.exp,
    "expm1": np.expm1,
    "log": np.log,
    "log1p": np.log1p,
    "log2": np.log2,
    "log10": np.log10,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64"])
def test_values(name, dtype):
    x = np.array([[1.25, 2.5, 1]] if name == "acosh" else [[0.25, 0.5, 0.75]], dtype)
    same(getattr(ops, name)(ms.Tensor(x)), FUNCTIONS[name](x), {"float16": 1e-2}.get(dtype, 1e-5))
    assert getattr(ms.Tensor(x), name)().shape == (1, 3)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_bfloat16(name):
    x = ms.Tensor(np.array([1.25, 2.5] if name == "acosh" else [0.25, 0.5], "float32")).astype(ms.bfloat16)
    out = getattr(ops, name)(x)
    assert out.dtype == ms.bfloat16
    wanted = FUNCTIONS[name](x.asnumpy().astype("float32"))
    np.testing.assert_allclose(out.asnumpy().astype("float32"), wanted, rtol=1e-2)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_integers_are_refused(name):
    for bad in (tensor([1, 2]), tensor([True])):
        with pytest.raises(TypeError, match="the dtype of 'input' must be float or complex, but got (Int64|Bool)"):
            getattr(ops, name)(bad)
    with pytest.raises(TypeError, match="'input' must be a Tensor, but got float"):
        getattr(ops, name)(1.0)


def test_outside_their_range_they_are_nan_and_silent():
    for name in ("log", "log1p", "asin", "acos", "atanh", "log2"):
        assert np.isnan(getattr(ops, name)(tensor([-2.0])).asnumpy())
    equal(ops.log(tensor([0.0])), [-np.inf])
    equal(ops.exp(tensor([1000.0])), [np.inf])


def test_exp2_and_sinc_take_integers():
    same(ops.exp2(tensor([0, 3])), np.array([1, 8], "float32"))
    same(ops.sinc(tensor([0.0, 0.5], "float32")), np.sinc(np.array([0, 0.5], "float32")))
    same(ops.sinc(tensor([0, 1])), np.array([1, 0], "float32"))


def test_two_operands():
    x, y = np.array([0.5, -1, 0.0]), np.array([1.5, 2, -3.0])
    same(ops.atan2(tensor(x), tensor(y)), np.arctan2(x, y))
    same(ops.atan2(tensor([1]), tensor([1])), np.array([np.pi / 4], "float32"))
    same(ops.logaddexp(tensor(x), tensor(y)), np.logaddexp(x, y))
    same(ops.logaddexp2(tensor(x), tensor(y)), np.logaddexp2(x, y))
    equal(ops.logaddexp(tensor([1000.0]), tensor([-1000.0])), [1000])
    equal(ops.xlogy(tensor([0.0, 0.0, 2.0]), tensor([0.0, 5.0, 1.0])), [0, 0, 0])
    assert np.isnan(ops.xlogy(tensor([0.0]), tensor([np.nan])).asnumpy())
    with pytest.raises(TypeError, match="For 'Xlogy'"):
        ops.xlogy(tensor([1]), tensor([1]))


def test_logit():
    same(ops.logit(tensor([0.25, 0.5])), np.log([1 / 3, 1]))
    same(ops.logit(tensor([-1.0, 2.0]), eps=0.25), np.log([1 / 3, 3]))
    assert np.isnan(ops.logit(tensor([2.0])).asnumpy())


def test_angles():
    same(ops.rad2deg(tensor([np.pi])), np.array([180.0]))
    same(ops.deg2rad(tensor([90.0])), np.array([np.pi / 2]))
    with pytest.raises(TypeError, match="For 'rad2deg'"):
        ops.rad2deg(tensor([1]))
