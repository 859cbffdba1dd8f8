"""Normalisation over the last dimensions."""

import numpy as np
import pytest

from dist_ms import ops
from dist_ms.common.tensor import Tensor
from tests.gradcheck import check_gradient
from tests.precisions import check_precisions, normal, outputs, tensor


@pytest.mark.parametrize("shape, last", [((4, 5), 1), ((2, 3, 4), 1), ((2, 3, 4), 2), ((3,), 1)])
class TestFunction:
    def test_formula(self, shape, last):
        x, gamma, beta = normal(*shape), normal(*shape[-last:], seed=1), normal(*shape[-last:], seed=2)
        axes = tuple(range(-last, 0))
        wanted = (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + 1e-3) * gamma + beta
        found = ops.layer_norm(Tensor(x), shape[-last:], Tensor(gamma), Tensor(beta), 1e-3).asnumpy()
        np.testing.assert_allclose(found, wanted, atol=1e-12)

    def test_gradients(self, shape, last):
        def function(x, gamma, beta):
            return ops.layer_norm(x, shape[-last:], gamma, beta)

        inputs = normal(*shape), normal(*shape[-last:], seed=1), normal(*shape[-last:], seed=2)
        check_gradient(function, *inputs, tolerance=1e-5)
        check_precisions(function, *inputs, tolerance=1e-4)


class TestPrimitive:
    def test_mean_and_variance(self):
        x = normal(2, 3)
        one = tensor(np.ones(3))
        out, mean, variance = outputs(ops.LayerNorm(1, 1)(tensor(x), one, one))
        np.testing.assert_allclose(mean, x.mean(1, keepdims=True), atol=1e-6)
        np.testing.assert_allclose(variance, x.var(1, keepdims=True), atol=1e-5)
        assert out.shape == (2, 3)

    def test_parameters_of_fewer_axes(self):
        x, gamma, beta = normal(2, 3, 4), normal(4, seed=1), normal(4, seed=2)
        wanted = (x - x.mean((1, 2), keepdims=True)) / np.sqrt(x.var((1, 2), keepdims=True) + 1e-7) * gamma + beta
        found = ops.LayerNorm(1, 2)(Tensor(x), Tensor(gamma), Tensor(beta))[0].asnumpy()
        np.testing.assert_allclose(found, wanted, atol=1e-9)
        check_gradient(lambda *a: ops.LayerNorm(1, -1)(*a)[0], x, gamma, beta, order=1)

    def test_types(self):
        gamma, beta = tensor(np.ones(3)), tensor(np.zeros(3))
        for dtype in (np.float16, np.float32, np.float64):
            out = ops.LayerNorm()(tensor(normal(2, 3), dtype), gamma, beta)[0].asnumpy()
            assert out.dtype == dtype

    def test_empty(self):
        assert ops.layer_norm(tensor(normal(0, 3)), (3,)).shape == (0, 3)


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda x, v: ops.layer_norm(x, (2,)), ValueError),
        (lambda x, v: ops.layer_norm(x, ()), ValueError),
        (lambda x, v: ops.layer_norm(x, "a"), TypeError),
        (lambda x, v: ops.layer_norm(x, (3,), tensor([1, 1])), ValueError),
        (lambda x, v: ops.LayerNorm()(x, tensor([1, 1]), v), ValueError),
        (lambda x, v: ops.LayerNorm(5, 1)(x, v, v), RuntimeError),
        (lambda x, v: ops.LayerNorm("a"), TypeError),
        (lambda x, v: ops.LayerNorm(epsilon=1.0), ValueError),
        (lambda x, v: ops.LayerNorm()(tensor(np.ones((2, 3)), np.int32), v, v), TypeError),
    ],
)
def test_errors(call, error):
    with pytest.raises(error, match="(?i)layer_?norm"):
        call(tensor(normal(2, 3)), tensor(np.ones(3)))
