"""Softmax and its kin."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import ops, set_seed
from dist_ms.common.tensor import Tensor
from tests.gradcheck import check_gradient
from tests.precisions import check_precisions, normal, tensor


@pytest.mark.parametrize("axis", [-1, 0, 1])
@pytest.mark.parametrize("function", [ops.softmax, ops.log_softmax, ops.softmin])
def test_values_and_gradients(function, axis):
    x = normal(3, 4, 2) * 3
    e = np.exp(-x if function is ops.softmin else x)
    wanted = e / e.sum(axis, keepdims=True)
    found = function(Tensor(x), axis).asnumpy()
    np.testing.assert_allclose(found, np.log(wanted) if function is ops.log_softmax else wanted, atol=1e-12)
    check_gradient(lambda x: function(x, axis), x)
    check_precisions(lambda x: function(x, axis), x)


def test_large_numbers():
    assert ops.softmax(tensor([1e4, 1e4])).asnumpy().tolist() == [0.5, 0.5]
    np.testing.assert_allclose(ops.log_softmax(tensor([1e4, 0])).asnumpy(), [0, -1e4])


def test_shapes_and_types():
    assert ms.mint.nn.functional.softmax(tensor(2.0), 0).asnumpy() == 1
    assert ops.softmax(tensor(np.zeros((0, 4)))).shape == (0, 4)
    assert ops.softmax(tensor(np.zeros((4, 0)))).shape == (4, 0)
    assert ops.softmax(tensor([1, 2], np.float16)).asnumpy().dtype == np.float16
    assert ops.softmax(Tensor([1, 2]), dtype=ms.float64).dtype == ms.float64


@pytest.mark.parametrize("length", [300, 70_000])
def test_lines_of_bfloat16_side_by_side(length):
    x = np.random.default_rng(0).standard_normal((length, 16), np.float32)
    narrow = ms.Tensor(x).astype(ms.bfloat16)
    wanted = ops.softmax(narrow.astype(ms.float32), 0).astype(ms.bfloat16)
    assert (
        ops.softmax(narrow, 0).astype(ms.float32).asnumpy().tobytes() == wanted.astype(ms.float32).asnumpy().tobytes()
    )
    gradient = ms.grad(lambda x: ops.log_softmax(x, 0)[0].sum())(narrow)
    assert gradient.dtype == ms.bfloat16
    terms = -np.exp(x) / np.exp(x.astype(np.float64)).sum(0)
    terms[0] += 1
    np.testing.assert_allclose(gradient.astype(ms.float32).asnumpy(), terms, rtol=0.1)


def test_gumbel_softmax():
    set_seed(1)
    logits = tensor(np.log([[0.2, 0.8]] * 2000))
    hard = ops.gumbel_softmax(logits, hard=True).asnumpy()
    assert set(np.unique(hard.round(6))) == {0, 1} and 0.75 < hard[:, 1].mean() < 0.85
    np.testing.assert_allclose(ops.gumbel_softmax(logits).asnumpy().sum(1), 1, rtol=1e-5)


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda x: ops.softmax(x, 2), ValueError),
        (lambda x: ops.softmax(tensor(2.0)), ValueError),
        (lambda x: ops.softmax(x, (0, 1)), TypeError),
        (lambda x: ops.softmax(Tensor([1, 2])), TypeError),
        (lambda x: ops.softmax(3), TypeError),
        (lambda x: ops.Softmax((0, 1))(x), RuntimeError),
        (lambda x: ops.Softmax("a"), TypeError),
        (lambda x: ops.log_softmax(x, 2), ValueError),
        (lambda x: ops.gumbel_softmax(x, 0.0), ValueError),
    ],
)
def test_errors(call, error):
    with pytest.raises(error, match="For '"):
        call(tensor(normal(3, 4)))
