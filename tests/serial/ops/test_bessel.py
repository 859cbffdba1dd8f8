"""Bessel, incomplete gamma and zeta functions: known values, identities, gradients."""

import math

import numpy as np
import pytest

from dist_ms import ops
from dist_ms.ops.special_functions.bessel_functions import (
    bessel_ie_array,
    bessel_j_array,
    bessel_ke_array,
    bessel_y_array,
)
from dist_ms.ops.special_functions.incomplete_gamma_functions import igamma_arrays, zeta_array
from tests.gradcheck import check_gradient
from tests.serial.ops.compare import same, tensor


@pytest.fixture(autouse=True)
def silence():
    """The array functions are called inside operations, which silence NumPy."""
    with np.errstate(all="ignore"):
        yield


X = np.concatenate([[1e-6, 1e-3], np.linspace(0.05, 60, 97)])


def test_known_values():
    for n, values in enumerate(
        [
            (0.76519768655796655, 0.08825696421567696, 1.2660658777520083, 0.42102443824070833),
            (0.44005058574493351, -0.78121282130028871, 0.56515910399248503, 0.60190723019723457),
        ]
    ):
        one = np.ones(1)
        found = [
            bessel_j_array(n, one),
            bessel_y_array(n, one),
            bessel_ie_array(n, one) * math.e,
            bessel_ke_array(n, one) / math.e,
        ]
        np.testing.assert_allclose(np.ravel(found), values, rtol=1e-14)


def test_identities():
    j0, j1, y0, y1 = (f(n, X) for f in (bessel_j_array, bessel_y_array) for n in (0, 1))
    np.testing.assert_allclose((j1 * y0 - j0 * y1) * np.pi * X / 2, 1, rtol=1e-11)
    i0, i1, k0, k1 = (f(n, X) for f in (bessel_ie_array, bessel_ke_array) for n in (0, 1))
    np.testing.assert_allclose((i0 * k1 + i1 * k0) * X, 1, rtol=1e-12)
    np.testing.assert_allclose(i0[X < 30], (np.i0(X) * np.exp(-X))[X < 30], rtol=1e-13)
    np.testing.assert_allclose(bessel_j_array(1, -X), -j1)
    np.testing.assert_allclose(bessel_ie_array(1, -X), -i1)


def test_ends():
    zero = np.zeros(1)
    assert bessel_y_array(0, zero) == -np.inf and bessel_ke_array(1, zero) == np.inf
    assert np.isnan(bessel_y_array(1, zero - 1)) and np.isnan(bessel_ke_array(0, zero - 1))
    assert bessel_j_array(0, np.array([np.inf])) == 0


@pytest.mark.parametrize("name", "j0 j1 y0 y1 i0 i1 i0e i1e k0 k1 k0e k1e".split())
def test_gradients(name):
    op = getattr(ops, "bessel_" + name)
    check_gradient(op, np.array([0.3, 1.7, 4.0, 12.5]))
    x = tensor([0.5, 2.0], "float32")
    same(getattr(ops, "Bessel" + name[0].upper() + name[1:])()(x), op(x).asnumpy())
    with pytest.raises(TypeError, match="must be float, but got Int64"):
        op(tensor([1]))


def test_incomplete_gamma():
    x = np.array([0.1, 1.0, 3.0, 12.0, 100.0])
    p, q = igamma_arrays(np.ones(5), x)
    np.testing.assert_allclose(p, -np.expm1(-x), rtol=1e-13)
    np.testing.assert_allclose(q, np.exp(-x), rtol=1e-12)
    p, q = igamma_arrays(np.full(5, 0.5), x)
    np.testing.assert_allclose(p, [math.erf(math.sqrt(v)) for v in x], rtol=1e-13)
    np.testing.assert_allclose(q, [math.erfc(math.sqrt(v)) for v in x], rtol=1e-12)
    p, q = igamma_arrays(np.array([1.0, 0.0, -1.0, 2.0]), np.array([0.0, 1.0, 1.0, np.inf]))
    np.testing.assert_array_equal(p, [0, np.nan, np.nan, 1])
    a = np.array([0.7, 2.5, 9.0])
    check_gradient(lambda v: ops.igamma(tensor(a), v), np.array([0.5, 3.0, 8.0]))
    check_gradient(ops.igamma, a, np.array([0.5, 3.0, 8.0]), order=1)
    check_gradient(ops.igammac, a, np.array([0.5, 3.0, 60.0]), order=1)
    same(ops.Igammac()(tensor([2.0]), tensor([[1.0], [2.0]])), [[2 / math.e], [3 / math.e**2]])
    with pytest.raises(TypeError, match="must have the same dtype"):
        ops.igamma(tensor([1.0], "float32"), tensor([1.0]))


def test_zeta():
    found = zeta_array(np.array([2.0, 4.0, 2.0, 1.0, 0.5, 3.5]), np.array([1.0, 1.0, 0.5, 1.0, 1.0, 1.0]))
    np.testing.assert_allclose(
        found, [np.pi**2 / 6, np.pi**4 / 90, np.pi**2 / 2, np.inf, np.nan, 1.1267338673170566], rtol=1e-14
    )
    assert zeta_array(np.array([2.0]), np.array([0.0])) == np.inf
    check_gradient(lambda q: ops.zeta(tensor([2.5, 3.0]), q), np.array([0.4, 7.0]))
    same(ops.Mvlgamma(3)(tensor([3.5])), ops.mvlgamma(tensor([3.5]), 3).asnumpy())
