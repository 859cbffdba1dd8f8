"""Operators as functions, and products with a Jacobian as Cells: the results of MindSpore 2.10."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Tensor, nn
from dist_ms.compat.inner import operators
from dist_ms.compat.inner.gradient_cells import Jvp, Vjp


@pytest.mark.parametrize(
    "name, arguments, wanted",
    [
        ("getitem", ([1, 2, 3], 1), 2),
        ("getitem", ({"a": 3}, "a"), 3),
        ("getitem", ("abc", 1), "b"),
        ("in_", (1, (1, 2)), True),
        ("not_in_", (1, [1, 2]), False),
        ("left_shift", (3, 2), 12),
        ("right_shift", (12, 2), 3),
        ("mod", (7, 3), 1),
        ("pow_", (2, 3), 8),
        ("setitem", ([1, 2], 0, 5), [5, 2]),
        ("setitem", ({"a": 1}, "a", 2), {"a": 2}),
    ],
)
def test_of_numbers_and_containers(name, arguments, wanted):
    assert getattr(operators, name)(*arguments) == wanted


def test_of_tensors():
    x = Tensor([1.0, 2.0, 3.0])
    np.testing.assert_array_equal(operators.mod(x, 2.0).asnumpy(), [1, 0, 1])
    np.testing.assert_array_equal(operators.pow_(x, 2).asnumpy(), [1, 4, 9])
    assert operators.setitem(x, 0, 9.0) is x
    np.testing.assert_array_equal(operators.uadd(x).asnumpy(), [9, 2, 3])


class Two(nn.Cell):
    """x^3 + y and x y."""

    def construct(self, x, y):
        return x**3 + y, x * y


def test_products_with_a_jacobian():
    x = Tensor([1.0, 2.0, 3.0])
    results, tangents = Jvp(Two())(x, x, (x, x))
    np.testing.assert_allclose([r.asnumpy() for r in results], [[2, 10, 30], [1, 4, 9]])
    np.testing.assert_allclose([t.asnumpy() for t in tangents], [[4, 26, 84], [2, 8, 18]])
    results, gradients = Vjp(Two())(x, x, (x, x))
    np.testing.assert_allclose([g.asnumpy() for g in gradients], [[4, 28, 90], [2, 6, 12]])
    for product in (Jvp, Vjp):
        result, other = product(nn.ReLU())(x, x)
        np.testing.assert_allclose([result.asnumpy(), other.asnumpy()], [[1, 2, 3], [1, 2, 3]])
    assert ms.grad(lambda x: Vjp(nn.ReLU())(x, x)[1].sum())(x).shape == (3,)
