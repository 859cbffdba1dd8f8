"""Losses with a margin."""

import numpy as np
import pytest

from dist_ms import ops
from dist_ms.common.tensor import Tensor
from tests.gradcheck import check_gradient
from tests.precisions import check_precisions, normal, tensor

X, Y, Z = normal(3, 4), normal(3, 4, seed=1), normal(3, 4, seed=2)
SIGNS = np.array([1, -1, 1], np.int32)
LABELS = np.array([0, 1, 3])
LISTED = np.array([[1, 2, -1, 3], [0, -1, 2, 2], [3, 2, 1, 0]])


def cosine():
    c = (X * Y).sum(1) / np.sqrt((X**2).sum(1) * (Y**2).sum(1))
    return np.where(SIGNS == 1, 1 - c, np.maximum(c - 0.1, 0))


def multi_margin(p):
    gap = np.maximum(1 - X[np.arange(3), LABELS][:, None] + X, 0) ** p
    gap[np.arange(3), LABELS] = 0
    return gap.sum(1) / 4


def multilabel():
    rows = []
    for x, labels in zip(X, ([1, 2], [0], [3, 2, 1, 0])):
        others = [i for i in range(4) if i not in labels]
        rows.append(sum(max(0, 1 - (x[j] - x[i])) for j in labels for i in others) / 4)
    return np.array(rows)


def triplet(p, swap):
    def distance(a, b):
        return (abs(a - b + 1e-6) ** p).sum(1) ** (1 / p)

    far = distance(X, Z)
    if swap:
        far = np.minimum(far, distance(Y, Z))
    return np.maximum(distance(X, Y) - far + 1, 0)


def at(function, *targets):
    return lambda *inputs: function(*inputs, *map(Tensor, targets), reduction="none")


LOSSES = {
    "cosine": (lambda x, y: ops.cosine_embedding_loss(x, y, Tensor(SIGNS), 0.1, "none"), (X, Y), cosine()),
    "ranking": (
        lambda x, y: ops.margin_ranking_loss(x, y, Tensor(np.sign(Z).astype(x.asnumpy().dtype)), 0.5, "none"),
        (X, Y),
        np.maximum(0.5 - np.sign(Z) * (X - Y), 0),
    ),
    "hinge": (
        lambda x: ops.hinge_embedding_loss(x, Tensor(np.sign(Y).astype(x.asnumpy().dtype)), 1.0, "none"),
        (X,),
        np.where(Y > 0, X, np.maximum(1 - X, 0)),
    ),
    "multi margin": (at(ops.multi_margin_loss, LABELS), (X,), multi_margin(1)),
    "multi margin, squared": (
        lambda x: ops.multi_margin_loss(x, Tensor(LABELS), 2, reduction="none"),
        (X,),
        multi_margin(2),
    ),
    "multilabel": (at(ops.multilabel_margin_loss, LISTED), (X,), multilabel()),
    "soft multilabel": (
        lambda x, y: ops.multilabel_soft_margin_loss(x, y, reduction="none"),
        (X, abs(Y)),
        ((1 - abs(Y)) * X + np.log1p(np.exp(-X))).mean(1),
    ),
    "soft": (
        lambda x: ops.soft_margin_loss(x, Tensor(np.sign(Y).astype(x.asnumpy().dtype)), "none"),
        (X,),
        np.log1p(np.exp(-np.sign(Y) * X)),
    ),
    "triplet": (lambda x, y, z: ops.triplet_margin_loss(x, y, z, reduction="none"), (X, Y, Z), triplet(2, False)),
    "triplet, swap": (
        lambda x, y, z: ops.triplet_margin_loss(x, y, z, swap=True, p=3, reduction="none"),
        (X, Y, Z),
        triplet(3, True),
    ),
    "triplet, p 1": (
        lambda x, y, z: ops.triplet_margin_loss(x, y, z, p=1, reduction="none"),
        (X, Y, Z),
        triplet(1, False),
    ),
}


@pytest.mark.parametrize("name", LOSSES)
def test_values_and_gradients(name):
    function, inputs, wanted = LOSSES[name]
    np.testing.assert_allclose(function(*map(Tensor, inputs)).asnumpy(), wanted, atol=1e-7)
    check_gradient(function, *inputs)
    check_precisions(function, *inputs, tolerance=2e-5)


@pytest.mark.parametrize("reduction", ["sum", "mean"])
def test_reductions(reduction):
    found = ops.multi_margin_loss(Tensor(X), Tensor(LABELS), reduction=reduction).asnumpy()
    assert found == pytest.approx(getattr(multi_margin(1), reduction)())


def test_class_weights():
    w = np.array([1.0, 2, 3, 4])
    found = ops.multi_margin_loss(Tensor(X), Tensor(LABELS), weight=Tensor(w), reduction="none").asnumpy()
    np.testing.assert_allclose(found, multi_margin(1) * w[LABELS])


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda x, y: ops.cosine_embedding_loss(x, y, Tensor(SIGNS), 1.5), ValueError),
        (lambda x, y: ops.cosine_embedding_loss(x, y, Tensor(SIGNS[:2])), ValueError),
        (lambda x, y: ops.margin_ranking_loss(x, tensor(Y[0, :2]), x), ValueError),
        (lambda x, y: ops.margin_ranking_loss(x, y, x, "a"), TypeError),
        (lambda x, y: ops.hinge_embedding_loss(x, 3), AttributeError),
        (lambda x, y: ops.multi_margin_loss(x, Tensor([0, 1, 4])), RuntimeError),
        (lambda x, y: ops.multi_margin_loss(x, Tensor([0, 1])), ValueError),
        (lambda x, y: ops.multi_margin_loss(x, tensor([0, 1, 2])), TypeError),
        (lambda x, y: ops.multi_margin_loss(x, Tensor(LABELS), 3), ValueError),
        (lambda x, y: ops.multilabel_margin_loss(x, Tensor(LISTED + 1)), RuntimeError),
        (lambda x, y: ops.multilabel_margin_loss(x, tensor(LISTED)), TypeError),
        (lambda x, y: ops.soft_margin_loss(x, tensor(Y[0])), ValueError),
        (lambda x, y: ops.triplet_margin_loss(x, y, x, p=0), ValueError),
        (lambda x, y: ops.triplet_margin_loss(x, y, x, swap=1), TypeError),
        (lambda x, y: ops.triplet_margin_loss(x, y, x, reduction="foo"), ValueError),
    ],
)
def test_errors(call, error):
    with pytest.raises(error, match="For '"):
        call(tensor(X), tensor(Y))
