"""Batch normalisation: values, statistics, gradients."""

import numpy as np
import pytest

from dist_ms import Parameter, grad, ops
from dist_ms.common.tensor import Tensor
from tests.gradcheck import check_gradient
from tests.precisions import check_precisions, normal, tensor

SHAPES = [(4, 3), (2, 3, 5), (3, 2, 4, 3), (2, 3, 2, 3, 2)]


def vectors(channels):
    return [normal(channels, seed=1), normal(channels, seed=2)]


def train(x, gamma, beta):
    d = x.asnumpy().dtype
    mean, variance = (Tensor(np.full(x.shape[1], v, d)) for v in (0, 1))
    return ops.batch_norm(x, mean, variance, gamma, beta, training=True)


@pytest.mark.parametrize("shape", SHAPES)
class TestTraining:
    def test_formula(self, shape):
        x, (gamma, beta) = normal(*shape), vectors(shape[1])
        axes, column = (0, *range(2, len(shape))), (1, -1, *(1,) * (len(shape) - 2))
        mean, variance = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
        wanted = (x - mean) / np.sqrt(variance + 1e-5) * gamma.reshape(column) + beta.reshape(column)
        np.testing.assert_allclose(train(Tensor(x), Tensor(gamma), Tensor(beta)).asnumpy(), wanted, atol=1e-12)

    def test_gradients(self, shape):
        check_gradient(train, normal(*shape), *vectors(shape[1]), tolerance=1e-5)
        check_precisions(train, normal(*shape), *vectors(shape[1]))


def test_inference():
    x, gamma, beta, mean = normal(3, 2, 4, 3), *vectors(2), normal(2, seed=3)
    variance = normal(2, seed=4) ** 2 + 0.5

    def infer(x, gamma, beta, mean, variance):
        return ops.batch_norm(x, mean, variance, gamma, beta)

    at = (slice(None), None, None)
    wanted = (x - mean[at]) / np.sqrt(variance[at] + 1e-5) * gamma[at] + beta[at]
    found = infer(*map(Tensor, (x, gamma, beta, mean, variance))).asnumpy()
    np.testing.assert_allclose(found, wanted, atol=1e-12)
    check_gradient(infer, x, gamma, beta, mean, variance)
    check_precisions(infer, x, gamma, beta, mean, variance)


@pytest.mark.parametrize("layout", ["first", "last"])
def test_memory_layout_stays(layout):
    x = normal(2, 3, 4, 5).astype(np.float32)
    given = Tensor(x)
    if layout == "last":
        given._data = np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 1, -1)), -1, 1)
    one, zero = tensor(np.ones(3)), tensor(np.zeros(3))
    found = train(given, one, zero).asnumpy()
    assert found.flags.c_contiguous == (layout == "first")
    np.testing.assert_allclose(found, train(Tensor(x), one, zero).asnumpy(), atol=1e-6)


class TestStatistics:
    def test_moving_statistics_follow_in_place(self):
        x = normal(3, 2, 2, 2)
        mean, variance = Parameter(tensor([0, 0]), name="m"), Parameter(tensor([1, 1]), name="v")
        arrays = mean.asnumpy(), variance.asnumpy()
        one = tensor([1, 1])
        ops.batch_norm(tensor(x), mean, variance, one, one, True, momentum=0.3)
        assert mean.asnumpy() is arrays[0] and variance.asnumpy() is arrays[1]
        np.testing.assert_allclose(mean.asnumpy(), 0.3 * x.mean((0, 2, 3)), atol=1e-6)
        np.testing.assert_allclose(variance.asnumpy(), 0.7 + 0.3 * x.var((0, 2, 3), ddof=1), atol=1e-6)

    def test_one_element_per_channel_keeps_the_variance_finite(self):
        variance = tensor([1, 1])
        ops.batch_norm(tensor(normal(1, 2)), tensor([0, 0]), variance, tensor([1, 1]), tensor([0, 0]), True)
        np.testing.assert_allclose(variance.asnumpy(), 0.9)

    def test_evaluation_leaves_them(self):
        mean, variance = tensor([0.5, 1]), tensor([1, 2])
        ops.batch_norm(tensor(normal(3, 2)), mean, variance, tensor([1, 1]), tensor([0, 0]))
        assert mean.asnumpy().tolist() == [0.5, 1] and variance.asnumpy().tolist() == [1, 2]

    def test_primitive_returns_the_batch_statistics(self):
        x = normal(3, 2, 4)
        one, zero = tensor([1, 1]), tensor([0, 0])
        _, mean, variance, again, rstd = ops.BatchNorm(True)(tensor(x), one, zero, tensor([0, 0]), tensor([1, 1]))
        np.testing.assert_allclose(mean.asnumpy(), x.mean((0, 2)), atol=1e-6)
        np.testing.assert_allclose(variance.asnumpy(), x.var((0, 2)), atol=1e-6)
        np.testing.assert_allclose(rstd.asnumpy(), 1 / np.sqrt(x.var((0, 2)) + 1e-5), rtol=1e-5)
        assert np.array_equal(mean.asnumpy(), again.asnumpy())

    def test_a_frozen_scale_gets_no_gradient_but_the_input_does(self):
        x, one = Tensor(normal(3, 2)), Tensor(np.ones(2))
        found = grad(lambda x: (train(x, one, one) * x).sum())(x)
        assert np.abs(found.asnumpy()).max() > 0


def test_float16_and_empty():
    one, zero = tensor(np.ones(2)), tensor(np.zeros(2))
    half = train(tensor(normal(3, 2, 2, 2), np.float16), one, zero)
    assert half.asnumpy().dtype == np.float16
    np.testing.assert_allclose(half.asnumpy(), train(tensor(normal(3, 2, 2, 2)), one, zero).asnumpy(), atol=5e-3)
    assert train(tensor(normal(0, 2, 2, 2)), one, zero).shape == (0, 2, 2, 2)


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda v: ops.batch_norm(tensor(normal(3, 3)), v, v, v, v), ValueError),
        (lambda v: ops.batch_norm(tensor(normal(2)), v, v, v, v), ValueError),
        (lambda v: ops.batch_norm(tensor(np.ones((3, 2)), np.int32), v, v, v, v), TypeError),
        (lambda v: ops.batch_norm(3, v, v, v, v), TypeError),
        (lambda v: ops.batch_norm(tensor(normal(3, 2)), v, v, v, v, training=1), TypeError),
        (lambda v: ops.BatchNorm(epsilon=0.0), ValueError),
        (lambda v: ops.BatchNorm(momentum=2.0), ValueError),
        (lambda v: ops.BatchNorm(data_format="NHWC"), ValueError),
    ],
)
def test_errors(call, error):
    with pytest.raises(error, match="For 'BatchNorm'"):
        call(tensor([1, 1]))


def test_no_batch_has_statistics_in_inference():
    out = ops.BatchNorm()(tensor([[2.0, 4.0]]), *[tensor([1.0, 3.0]) for _ in range(4)])
    assert out[0].shape == (1, 2)
    for found in out[1:]:
        np.testing.assert_array_equal(found.asnumpy(), [0, 0])
