"""LGamma, DiGamma, IGamma, LBeta, Jvp and Vjp."""

import math

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Tensor, ops
from dist_ms.nn.layer.mathematics.jacobian_products import Jvp, Vjp
from dist_ms.nn.layer.mathematics.special_functions import DiGamma, IGamma, LBeta, LGamma

NUMBERS = [0.2, 0.5, 1.0, 2.0, 7.5, 50.0, 1e4]


def test_values():
    x = Tensor(NUMBERS, ms.float32)
    wanted = [math.lgamma(n) for n in NUMBERS]
    np.testing.assert_allclose(LGamma()(x).asnumpy(), wanted, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(ms.grad(LGamma())(x).asnumpy(), DiGamma()(x).asnumpy(), rtol=1e-6)
    assert abs(DiGamma()(Tensor([1.0], ms.float32)).asnumpy()[0] + 0.5772157) < 1e-6
    np.testing.assert_allclose(
        IGamma()(Tensor([1.0, 1.0]), Tensor([0.5, 2.0])).asnumpy(), 1 - np.exp([-0.5, -2.0]), rtol=1e-6
    )
    assert LGamma()(Tensor([0.0, -1.0])).asnumpy().tolist() == [np.inf, np.inf]


def test_lbeta_keeps_its_digits():
    a, b = [1.0, 2.0, 1e3, 0.1, 1e-3], [2.0, 1e3, 1e2, 0.2, 5.0]
    wanted = [math.lgamma(x) + math.lgamma(y) - math.lgamma(x + y) for x, y in zip(a, b)]
    np.testing.assert_allclose(LBeta()(Tensor(a, ms.float32), Tensor(b, ms.float32)).asnumpy(), wanted, rtol=1e-6)
    da, db = ms.grad(LBeta(), (0, 1))(Tensor([0.3], ms.float32), Tensor([1.3], ms.float32))
    digamma = DiGamma()(Tensor([0.3, 1.3, 1.6], ms.float32)).asnumpy()
    np.testing.assert_allclose([da.asnumpy()[0], db.asnumpy()[0]], digamma[:2] - digamma[2], rtol=1e-5)
    assert LBeta()(Tensor([1.0], ms.float16), Tensor([2.0], ms.float16)).dtype == ms.float16


def test_types_and_printed_form():
    x = Tensor([1.0], ms.float64)
    for layer, inputs in [
        (LGamma(), (x,)),
        (DiGamma(), (x,)),
        (LGamma(), (Tensor([1]),)),
        (IGamma(), (x, x)),
        (IGamma(), (Tensor([1.0]), Tensor([1.0], ms.float16))),
        (LBeta(), (x, x)),
        (LBeta(), (Tensor([1.0]), Tensor([1.0], ms.float16))),
    ]:
        with pytest.raises(TypeError, match=f"For '{layer.cls_name}'"):
            layer(*inputs)
    assert repr(IGamma()) == "IGamma(\n  (lgamma): LGamma()\n)" and repr(DiGamma()) == "DiGamma()"


def test_jacobian_products():
    x, v = Tensor([[4.0, 1.0], [1.0, 3.0]]), Tensor([[1.0, 2.0], [3.0, 4.0]])

    def cube(x, y):
        return x**3 + y

    # The same tensor twice is two arguments.
    out, product = Jvp(cube)(x, x, (v, v))
    assert (out == x**3 + x).all() and (product == (3 * x**2 + 1) * v).all()
    out, products = Vjp(cube)(x, x, v)
    assert (products[0] == 3 * x**2 * v).all() and (products[1] == v).all()
    out, product = Jvp(lambda x: x**3)(x, v)
    assert isinstance(product, Tensor) and (product == 3 * x**2 * v).all()
    out, product = Vjp(lambda x: (x**3, x))(x, (v, v))
    assert len(out) == 2 and (product == 3 * x**2 * v + v).all()
    second = ms.grad(lambda x: ops.sum(Vjp(lambda y: y**3)(x, v)[1]))(x)
    assert (second == 6 * x * v).all()


def test_digamma_at_zero():
    np.testing.assert_array_equal(DiGamma()(Tensor([0.0, -0.0, -1.0])).asnumpy(), [-np.inf, -np.inf, np.nan])
