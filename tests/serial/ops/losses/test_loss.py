"""Losses of pairs of values, and likelihood losses."""

import math

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import grad, ops
from dist_ms.common.tensor import Tensor
from tests.gradcheck import check_gradient
from tests.precisions import check_precisions, normal, tensor

P, Q = np.random.default_rng(0).uniform(0.1, 0.9, (2, 3, 4))
X, Y = normal(3, 4), normal(3, 4, seed=1)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


ABSOLUTE = abs(X - Y)
LOSSES = {
    "mse": (ops.mse_loss, X, Y, (X - Y) ** 2),
    "l1": (ops.l1_loss, X, Y, ABSOLUTE),
    "smooth l1": (
        lambda x, y, reduction: ops.smooth_l1_loss(x, y, 0.5, reduction),
        X,
        Y,
        np.where(ABSOLUTE < 0.5, ABSOLUTE**2, ABSOLUTE - 0.25),
    ),
    "huber": (
        lambda x, y, reduction: ops.huber_loss(x, y, reduction, 0.7),
        X,
        Y,
        np.where(ABSOLUTE <= 0.7, ABSOLUTE**2 / 2, 0.7 * (ABSOLUTE - 0.35)),
    ),
    "bce": (
        lambda x, y, reduction: ops.binary_cross_entropy(x, y, None, reduction),
        P,
        Q,
        -(Q * np.log(P) + (1 - Q) * np.log(1 - P)),
    ),
    "bce with logits": (
        lambda x, y, reduction: ops.binary_cross_entropy_with_logits(x, y, reduction=reduction),
        X,
        Q,
        -(Q * np.log(sigmoid(X)) + (1 - Q) * np.log(1 - sigmoid(X))),
    ),
    "kl": (ops.kl_div, np.log(P), Q, Q * (np.log(Q) - np.log(P))),
    "gaussian": (
        lambda x, v, reduction: ops.gaussian_nll_loss(x, ops.zeros_like(x), v, True, 1e-6, reduction),
        X,
        P,
        0.5 * (np.log(P) + X**2 / P + math.log(2 * math.pi)),
    ),
}


@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
@pytest.mark.parametrize("name", LOSSES)
def test_values_and_gradients(name, reduction):
    loss, x, y, elements = LOSSES[name]
    wanted = elements if reduction == "none" else getattr(elements, reduction)()

    def function(x, y):
        return loss(x, y, reduction=reduction)

    np.testing.assert_allclose(function(Tensor(x), Tensor(y)).asnumpy(), wanted, atol=1e-10)
    check_gradient(function, x, y)
    check_precisions(function, x, y)


def test_weights():
    w, pos = P[0], Q[0]
    found = ops.binary_cross_entropy(Tensor(P), Tensor(Q), Tensor(w), "none").asnumpy()
    np.testing.assert_allclose(found, -w * (Q * np.log(P) + (1 - Q) * np.log(1 - P)), atol=1e-10)
    found = ops.binary_cross_entropy_with_logits(Tensor(X), Tensor(Q), Tensor(w), Tensor(pos), "none").asnumpy()
    wanted = -w * (pos * Q * np.log(sigmoid(X)) + (1 - Q) * np.log(1 - sigmoid(X)))
    np.testing.assert_allclose(found, wanted, atol=1e-10)


def test_broadcasting_and_mixed_types():
    assert ops.mse_loss(tensor(X), tensor(Y[0])).asnumpy() == pytest.approx(((X - Y[0]) ** 2).mean(), rel=1e-5)
    assert ops.mse_loss(tensor(X), Tensor(Y)).asnumpy().dtype == np.float64


@pytest.mark.parametrize(
    "dtype, tolerance", [("float64", 1e-13), ("float32", 4e-7), ("float16", 1e-3), ("bfloat16", 8e-3)]
)
def test_binary_cross_entropy_of_any_size(dtype, tolerance):
    """Probabilities next to 0 and to 1: relatively right, too."""
    rng = np.random.default_rng(5)
    kind = getattr(ms, dtype)
    x = Tensor(np.concatenate([10.0 ** rng.uniform(-12, 0, 2000), 1 - 10.0 ** rng.uniform(-8, 0, 2000)])).astype(kind)
    y = Tensor(rng.choice([0, 1, 0.25], 4000)).astype(kind)
    p, q = (t.astype(ms.float64).asnumpy() for t in (x, y))
    low = np.log(1e-12)
    with np.errstate(divide="ignore"):
        wanted = -(q * np.maximum(np.log(p), low) + (1 - q) * np.maximum(np.log1p(-p), low))
    found = ops.binary_cross_entropy(x, y, reduction="none")
    assert found.dtype == kind
    np.testing.assert_allclose(
        found.astype(ms.float64).asnumpy(), wanted, rtol=tolerance, atol=1e-7 if dtype == "float16" else 0
    )


def test_edges():
    found = ops.binary_cross_entropy(tensor([0, 1]), tensor([1, 0])).asnumpy()
    assert found == pytest.approx(27.631, abs=1e-3)
    assert np.isfinite(grad(lambda x: ops.binary_cross_entropy(x, tensor([1, 0])))(tensor([0, 1])).asnumpy()).all()
    huge = ops.binary_cross_entropy_with_logits(tensor([1000, -1000]), tensor([0, 1]), reduction="none").asnumpy()
    assert huge.tolist() == [1000, 1000]
    assert ops.kl_div(tensor([1, 2]), tensor([0, 0])).asnumpy() == 0
    zero = grad(lambda y: ops.kl_div(tensor([1, 2]), y))(tensor([0, 1])).asnumpy()
    assert np.isfinite(zero).all()
    assert ops.smooth_l1_loss(tensor([1]), tensor([3]), 0.0).asnumpy().tolist() == [2]


def test_batch_mean():
    found = ops.kl_div(Tensor(np.log(P)), Tensor(Q), "batchmean").asnumpy()
    assert found == pytest.approx((Q * (np.log(Q) - np.log(P))).sum() / 3)


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda x, y: ops.mse_loss(x, 3), TypeError),
        (lambda x, y: ops.mse_loss(x, y, "foo"), ValueError),
        (lambda x, y: ops.mse_loss(x, tensor(np.ones(5))), ValueError),
        (lambda x, y: ops.l1_loss(3, y), TypeError),
        (lambda x, y: ops.smooth_l1_loss(x, y, -1.0), RuntimeError),
        (lambda x, y: ops.smooth_l1_loss(x, tensor(Y[0])), ValueError),
        (lambda x, y: ops.huber_loss(x, y, delta=0.0), ValueError),
        (lambda x, y: ops.binary_cross_entropy(x, y), RuntimeError),
        (lambda x, y: ops.binary_cross_entropy(x, tensor(Y[0])), ValueError),
        (lambda x, y: ops.binary_cross_entropy_with_logits(x, tensor(Y[0])), ValueError),
        (lambda x, y: ops.kl_div(x, y, "foo"), ValueError),
        (lambda x, y: ops.kl_div(x, tensor(Y[0])), ValueError),
        (lambda x, y: ops.gaussian_nll_loss(x, y, y), ValueError),
        (lambda x, y: ops.gaussian_nll_loss(x, y, x, eps=0.0), ValueError),
    ],
)
def test_errors(call, error):
    with pytest.raises(error, match="For '"):
        call(tensor(X), tensor(Y))
