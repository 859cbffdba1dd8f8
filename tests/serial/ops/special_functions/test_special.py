"""Erf, Lgamma and other special functions: against math, identities and known values."""

import math

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import ops
from dist_ms.ops.special_functions.gamma_functions import digamma_array, lgamma_array, polygamma_array
from tests.serial.ops.compare import equal, same, tensor

X = np.concatenate([np.linspace(-6.5, 6.5, 131), [1e-300, 0.46875, -0.46875, 4.0, 26.5]])
EULER = 0.57721566490153286


@pytest.fixture(autouse=True)
def silence():
    """The array functions are called inside operations, which silence NumPy."""
    with np.errstate(all="ignore"):
        yield


def erf_array(x):
    return ops.erf(ms.Tensor(x)).asnumpy()


def erfc_array(x):
    return ops.erfc(ms.Tensor(x)).asnumpy()


def test_erf_and_erfc():
    np.testing.assert_allclose(erf_array(X), [math.erf(x) for x in X], rtol=4e-15)
    np.testing.assert_allclose(erfc_array(X), [math.erfc(x) for x in X], rtol=4e-15)
    assert erf_array(np.array([np.inf, -np.inf])).tolist() == [1, -1]
    assert np.isnan(erf_array(np.array([np.nan]))).all()


def test_erfinv():
    y = np.concatenate([np.linspace(-0.999, 0.999, 81), 1 - 10.0 ** -np.arange(3, 15), -1 + 10.0 ** -np.arange(3, 16)])
    x = ops.erfinv(ms.Tensor(y)).asnumpy()
    inner = np.abs(y) < 0.9
    np.testing.assert_allclose(erf_array(x[inner]), y[inner], rtol=1e-14, atol=1e-16)
    np.testing.assert_allclose(erfc_array(np.abs(x[~inner])), 1 - np.abs(y[~inner]), rtol=1e-12)
    equal(ops.erfinv(tensor([1.0, -1.0])), [np.inf, -np.inf])
    assert np.isnan(ops.erfinv(tensor([1.5])).asnumpy())


def test_lgamma():
    x = np.concatenate([np.linspace(0.05, 40, 200), [1e-9, 1e6, -0.5, -1.5, -7.3, 0.5, 3.0]])
    np.testing.assert_allclose(lgamma_array(x), [math.lgamma(v) for v in x], rtol=1e-13, atol=2e-14)
    equal(ops.lgamma(tensor([0.0, -1.0, -2.0, 1.0, 2.0, np.inf])), [np.inf, np.inf, np.inf, 0, 0, np.inf])
    equal(ops.lgamma(tensor([-np.inf, np.nan])), [np.inf, np.nan])
    whole = ops.lgamma(tensor(np.array([1, 3, 4], np.int32)))
    np.testing.assert_allclose(whole.asnumpy(), [0, math.log(2), math.log(6)], rtol=1e-6, atol=1e-6)
    assert whole.asnumpy().dtype == np.float32


def test_digamma_and_polygamma():
    np.testing.assert_allclose(digamma_array(np.array([1.0, 0.5])), [-EULER, -EULER - 2 * math.log(2)], rtol=1e-14)
    x = np.array([0.3, 1.7, 5.5, 30, -0.6, -2.4])
    np.testing.assert_allclose(digamma_array(x + 1), digamma_array(x) + 1 / x, rtol=1e-12)
    for dtype in ("float32", "float64", "float16"):
        equal(ops.digamma(tensor([0.0, -0.0, -3.0, np.inf, -np.inf], dtype)), [-np.inf, np.inf, np.nan, np.inf, np.nan])
    np.testing.assert_allclose(polygamma_array(1, np.array([1.0, 0.5])), [math.pi**2 / 6, math.pi**2 / 2], rtol=1e-14)
    np.testing.assert_allclose(polygamma_array(2, np.array([1.0])), [-2.4041138063191885], rtol=1e-14)
    np.testing.assert_allclose(polygamma_array(3, x + 1), polygamma_array(3, x) - 6 / x**4, rtol=1e-10)
    equal(ops.polygamma(ms.Tensor(0), tensor([1.0])), ops.digamma(tensor([1.0])).asnumpy())


@pytest.mark.parametrize("dtype, tolerance", [("float32", 2e-7), ("float64", 1e-12)])
def test_betainc(dtype, tolerance):
    def of(*values):
        return ops.Betainc()(*(tensor(v, dtype) for v in values)).asnumpy()

    x = np.array([0.0, 1e-6, 0.25, 0.5, 0.999, 1.0], dtype)
    ones = np.ones(6)
    wide = x.astype(float)
    np.testing.assert_allclose(of(ones, ones, x), x, rtol=tolerance)
    np.testing.assert_allclose(of(3 * ones, ones, x), wide**3, rtol=tolerance)
    np.testing.assert_allclose(of(ones, 3 * ones, x), -np.expm1(3 * np.log1p(-wide)), rtol=tolerance)
    np.testing.assert_allclose(of(ones / 2, ones / 2, x), 2 / np.pi * np.arcsin(np.sqrt(wide)), rtol=tolerance)
    assert np.isnan(of([0, 1, -1, np.nan, 1, 1, 1], [1, 0, 1, 1, np.nan, 1, 1], [0.5] * 5 + [-0.1, 1.1])).all()
    assert of(np.zeros((0, 2)), np.zeros((0, 2)), np.zeros((0, 2))).shape == (0, 2)


@pytest.mark.parametrize("name", ["erf", "erfc", "erfinv", "lgamma", "digamma", "i0"])
def test_dtypes(name):
    op = getattr(ops, name)
    for dtype, tolerance in (("float16", 2e-3), ("float32", 1e-6)):
        x = tensor([0.25, 0.5], dtype)
        same(op(x), op(x.astype(ms.float64)).asnumpy().astype(dtype), tolerance)
    for bad in (tensor([1]), tensor([1j])):
        with pytest.raises(TypeError, match="must be float, but got"):
            op(bad)


def test_errors_of_polygamma():
    with pytest.raises(ValueError, match="'n' must not be negative, but got -1"):
        ops.polygamma(tensor(-1), tensor([1.0]))
    with pytest.raises(TypeError, match="'n' must be a Tensor, but got int"):
        ops.polygamma(1, tensor([1.0]))
    with pytest.raises(ValueError, match="For 'mvlgamma'"):
        ops.mvlgamma(tensor([0.4]), 2)


def test_the_rest():
    same(ops.i0(tensor([0.0, 2.0])), np.i0([0.0, 2.0]))
    equal(ops.heaviside(tensor([-1.0, 0.0, 1.0]), tensor(0.5)), [0, 0.5, 1])
    same(ops.nextafter(tensor([1], "float32"), tensor([2], "float32")), np.nextafter(np.float32([1]), np.float32(2)))
    equal(ops.gcd(tensor([4, 9]), tensor([6])), [2, 3])
    equal(ops.lcm(tensor([4, 9]), tensor([6])), [12, 18])
    equal(ops.copysign(tensor([1.0, -2.0]), tensor([-1.0, 1.0])), [-1, 2])
    same(ops.copysign(tensor([3]), -1), np.array([-3], "float32"))
    with pytest.raises(TypeError, match="For 'copysign', 'input' must be a Tensor"):
        ops.copysign(0.5, 2)
    with pytest.raises(TypeError, match="For 'Gcd'"):
        ops.gcd(tensor([1.0]), tensor([1.0]))


@pytest.mark.parametrize("fn", [ops.igamma, ops.igammac])
@pytest.mark.parametrize("dtype", [ms.float16, ms.bfloat16, ms.int32])
def test_incomplete_gamma_functions_of_narrow_types_are_refused(fn, dtype):
    x = ms.Tensor([1, 2], dtype)
    with pytest.raises(TypeError, match="must be"):
        fn(x, x)
