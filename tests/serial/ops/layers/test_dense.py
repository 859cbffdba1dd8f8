"""Fully connected products, bias addition."""

import numpy as np
import pytest

from dist_ms import ops
from dist_ms.common.tensor import Tensor
from tests.gradcheck import check_gradient
from tests.precisions import check_precisions, normal, tensor


@pytest.mark.parametrize("lead", [(), (3,), (2, 5)])
@pytest.mark.parametrize("with_bias", [True, False])
def test_dense(lead, with_bias):
    inputs = [normal(*lead, 4), normal(6, 4, seed=1)] + [normal(6, seed=2)] * with_bias
    wanted = inputs[0] @ inputs[1].T + (inputs[2] if with_bias else 0)
    np.testing.assert_allclose(ops.dense(*map(Tensor, inputs)).asnumpy(), wanted, atol=1e-12)
    check_gradient(ops.dense, *inputs)
    check_precisions(ops.dense, *inputs)


def test_dense_of_odd_layouts():
    x, w = normal(6, 8).astype(np.float32), normal(4, 3, seed=1).astype(np.float32)
    for view, weight in ((x[::2, ::-1][:, :3], w), (np.broadcast_to(x[:1, :3], (5, 3)), w), (x.T[:, :3], w[::-1])):
        a, b = tensor(0), tensor(0)
        a._data, b._data = view, weight
        np.testing.assert_allclose(ops.dense(a, b).asnumpy(), view @ weight.T, atol=1e-5)


def test_dense_float16_and_empty():
    found = ops.dense(tensor(normal(2, 3), np.float16), tensor(normal(4, 3), np.float16)).asnumpy()
    assert found.dtype == np.float16
    np.testing.assert_allclose(found, normal(2, 3) @ normal(4, 3).T, atol=2e-2)
    assert ops.dense(tensor(normal(0, 3)), tensor(normal(4, 3))).shape == (0, 4)
    assert ops.dense(tensor(normal(2, 0)), tensor(normal(4, 0)), tensor(np.ones(4))).asnumpy().sum() == 8


@pytest.mark.parametrize("shape", [(3, 4), (2, 4, 3), (2, 4, 3, 2), (1, 4, 2, 2, 2)])
def test_bias_add(shape):
    x, b = normal(*shape), normal(4, seed=1)
    wanted = x + b.reshape(-1, *(1,) * (len(shape) - 2))
    np.testing.assert_allclose(ops.bias_add(Tensor(x), Tensor(b)).asnumpy(), wanted)
    check_gradient(ops.bias_add, x, b)


def test_bidense():
    a, b, w, bias = normal(5, 2), normal(5, 3, seed=1), normal(4, 2, 3, seed=2), normal(4, seed=3)
    wanted = np.einsum("ni,kij,nj->nk", a, w, b) + bias
    np.testing.assert_allclose(ops.bidense(*map(Tensor, (a, b, w, bias))).asnumpy(), wanted, atol=1e-12)
    check_gradient(ops.bidense, a, b, w, bias)


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda x, w: ops.dense(x, tensor(normal(4, 5))), ValueError),
        (lambda x, w: ops.dense(x, tensor(normal(3))), ValueError),
        (lambda x, w: ops.dense(x, tensor(normal(4, 3), np.float64)), TypeError),
        (lambda x, w: ops.dense(tensor(np.ones((2, 3)), np.int32), w), TypeError),
        (lambda x, w: ops.dense(x, w, tensor([1])), ValueError),
        (lambda x, w: ops.dense(x, w, tensor(np.ones(4), np.float64)), TypeError),
        (lambda x, w: ops.dense(3, w), TypeError),
        (lambda x, w: ops.bias_add(x, tensor([1, 2])), ValueError),
        (lambda x, w: ops.bias_add(x, tensor([1, 2, 3], np.float16)), TypeError),
        (lambda x, w: ops.bidense(x, x, w), ValueError),
    ],
)
def test_errors(call, error):
    with pytest.raises(error, match="(?i)for '(dense|bias_?add|bidense)'"):
        call(tensor(normal(2, 3)), tensor(normal(4, 3)))
