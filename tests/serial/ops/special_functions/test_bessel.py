"""Bessel, incomplete gamma and zeta functions: known values, identities, gradients."""

import math

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import ops
from dist_ms.ops.special_functions.incomplete_gamma_functions import zeta_array
from tests.gradcheck import check_gradient
from tests.serial.ops.compare import same, tensor


@pytest.fixture(autouse=True)
def silence():
    """The array functions are called inside operations, which silence NumPy."""
    with np.errstate(all="ignore"):
        yield


def value(name, *arrays):
    """What an operation makes of arrays."""
    return getattr(ops, name)(*map(ms.Tensor, arrays)).asnumpy()


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
            value(f"bessel_j{n}", one),
            value(f"bessel_y{n}", one),
            value(f"bessel_i{n}e", one) * math.e,
            value(f"bessel_k{n}e", one) / math.e,
        ]
        np.testing.assert_allclose(np.ravel(found), values, rtol=1e-14)


def test_identities():
    j0, j1, y0, y1 = (value(f"bessel_{f}", X) for f in ("j0", "j1", "y0", "y1"))
    np.testing.assert_allclose((j1 * y0 - j0 * y1) * np.pi * X / 2, 1, rtol=1e-11)
    i0, i1, k0, k1 = (value(f"bessel_{f}", X) for f in ("i0e", "i1e", "k0e", "k1e"))
    np.testing.assert_allclose((i0 * k1 + i1 * k0) * X, 1, rtol=1e-12)
    np.testing.assert_allclose(i0[X < 30], (np.i0(X) * np.exp(-X))[X < 30], rtol=1e-13)
    np.testing.assert_allclose(value("bessel_j1", -X), -j1)
    np.testing.assert_allclose(value("bessel_i1e", -X), -i1)


def test_ends():
    zero = np.zeros(1)
    assert value("bessel_y0", zero) == -np.inf and value("bessel_k1e", zero) == np.inf
    assert np.isnan(value("bessel_y1", zero - 1)) and np.isnan(value("bessel_k0e", zero - 1))
    ends = np.array([np.inf, -np.inf, np.nan])
    for dtype in (np.float32, np.float64, np.float16):
        for name in ("j0", "j1"):
            np.testing.assert_array_equal(value("bessel_" + name, ends.astype(dtype)), [0, 0, np.nan])
        for name in ("y0", "y1", "k0", "k1", "k0e", "k1e"):
            np.testing.assert_array_equal(value("bessel_" + name, ends.astype(dtype)), [0, np.nan, np.nan])
        assert value("bessel_i0", np.zeros((2, 0), dtype)).shape == (2, 0)


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
    a, b = np.ones(5), x
    p, q = value("igamma", a, b), value("igammac", a, b)
    np.testing.assert_allclose(p, -np.expm1(-x), rtol=1e-13)
    np.testing.assert_allclose(q, np.exp(-x), rtol=1e-12)
    a, b = np.full(5, 0.5), x
    p, q = value("igamma", a, b), value("igammac", a, b)
    np.testing.assert_allclose(p, [math.erf(math.sqrt(v)) for v in x], rtol=1e-13)
    np.testing.assert_allclose(q, [math.erfc(math.sqrt(v)) for v in x], rtol=1e-12)
    a, b = np.array([1.0, 0.0, -1.0, 2.0]), np.array([0.0, 1.0, 1.0, np.inf])
    p, q = value("igamma", a, b), value("igammac", a, b)
    np.testing.assert_array_equal(p, [0, np.nan, np.nan, 1])
    for edge, wanted in (((0.0, 0.0), np.nan), ((np.nan, 1.0), np.nan), ((1.0, np.nan), np.nan), ((np.inf, 1.0), 0)):
        found = [value(name, *map(np.array, edge)) for name in ("igamma", "igammac")]
        np.testing.assert_array_equal(found, [wanted, 1 - wanted])
    # exp(-x) times a of E1(x), nearly
    np.testing.assert_allclose(value("igammac", np.float32(1e-10), np.float32(1.0)), 0.21938393e-10, rtol=1e-6)
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
