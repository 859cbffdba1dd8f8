"""MindSpore's softmax cross entropy primitives."""

import numpy as np
import pytest

from dist_ms import grad, ops
from dist_ms.common.tensor import Tensor
from tests.gradcheck import check_gradient
from tests.precisions import check_precisions, normal, outputs, tensor


def dense_loss(labels):
    labels = Tensor(labels)
    return lambda x: ops.SoftmaxCrossEntropyWithLogits()(x, ops.cast(labels, x.dtype))[0]


def test_dense_labels():
    x, p = normal(3, 4), np.abs(normal(3, 4, seed=1))
    p /= p.sum(1, keepdims=True)
    logp = x - np.log(np.exp(x).sum(1, keepdims=True))
    loss, gradient = outputs(ops.SoftmaxCrossEntropyWithLogits()(Tensor(x), Tensor(p)))
    np.testing.assert_allclose(loss, -(p * logp).sum(1), atol=1e-12)
    np.testing.assert_allclose(gradient, np.exp(logp) - p, atol=1e-12)
    check_gradient(dense_loss(p), x)
    check_precisions(dense_loss(p), x)


def test_gradient_of_labels_that_do_not_sum_to_one_is_mindspores():
    x = normal(2, 3)
    found = grad(dense_loss(np.ones((2, 3))))(Tensor(x)).asnumpy()
    np.testing.assert_allclose(found, np.exp(x) / np.exp(x).sum(1, keepdims=True) - 1, atol=1e-12)


def test_sparse_labels():
    x, labels = normal(3, 4), Tensor([0, 1, 3])
    loss = ops.SparseSoftmaxCrossEntropyWithLogits()
    wanted = ops.cross_entropy(Tensor(x), labels).asnumpy()
    assert loss(Tensor(x), labels).asnumpy() == pytest.approx(wanted)
    check_gradient(lambda x: loss(x, labels), x)
    gradient = ops.SparseSoftmaxCrossEntropyWithLogits(is_grad=True)(Tensor(x), labels).asnumpy()
    np.testing.assert_allclose(gradient, grad(lambda x: loss(x, labels))(Tensor(x)).asnumpy(), atol=1e-12)


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda x: ops.SoftmaxCrossEntropyWithLogits()(x, tensor(normal(3, 5))), ValueError),
        (lambda x: ops.SoftmaxCrossEntropyWithLogits()(tensor([1.0]), tensor([1.0])), ValueError),
        (lambda x: ops.SoftmaxCrossEntropyWithLogits()(x, Tensor(np.ones((3, 4), np.int32))), TypeError),
        (lambda x: ops.SparseSoftmaxCrossEntropyWithLogits()(x, Tensor([0, 1])), ValueError),
        (lambda x: ops.SparseSoftmaxCrossEntropyWithLogits()(x, Tensor([0, 1, 4])), RuntimeError),
        (lambda x: ops.SparseSoftmaxCrossEntropyWithLogits()(x, tensor([0, 1, 2])), TypeError),
        (lambda x: ops.SparseSoftmaxCrossEntropyWithLogits(is_grad=1), TypeError),
    ],
)
def test_errors(call, error):
    with pytest.raises(error, match="SoftmaxCrossEntropyWithLogits"):
        call(tensor(normal(3, 4)))
