"""Loss primitives against the functions they wrap."""

import numpy as np
import pytest

from dist_ms import ops
from dist_ms.common.tensor import Tensor
from tests.precisions import normal, tensor

X, P, Q = tensor(normal(3, 4)), tensor(np.full((3, 4), 0.25)), tensor(np.full((3, 4), 0.5))


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_pairs(reduction):
    pairs = [
        (ops.BinaryCrossEntropy(reduction)(P, Q, Q), ops.binary_cross_entropy(P, Q, Q, reduction)),
        (ops.BCEWithLogitsLoss(reduction)(X, Q, P, Q), ops.binary_cross_entropy_with_logits(X, Q, P, Q, reduction)),
        (ops.KLDivLoss(reduction)(X, Q), ops.kl_div(X, Q, reduction)),
        (ops.SmoothL1Loss(0.5, reduction)(X, Q), ops.smooth_l1_loss(X, Q, 0.5, reduction)),
        (ops.SoftMarginLoss(reduction)(X, Q), ops.soft_margin_loss(X, Q, reduction)),
        (
            ops.MultiMarginLoss(2, 0.5, reduction)(X, Tensor([0, 1, 3])),
            ops.multi_margin_loss(X, Tensor([0, 1, 3]), 2, 0.5, None, reduction),
        ),
        (
            ops.TripletMarginLoss(reduction=reduction)(X, P, Q, Tensor(0.5)),
            ops.triplet_margin_loss(X, P, Q, 0.5, reduction=reduction),
        ),
    ]
    for found, wanted in pairs:
        assert np.array_equal(found.asnumpy(), wanted.asnumpy())


def test_second_outputs():
    w = tensor([1, 2, 3, 4])
    loss, total = ops.NLLLoss()(X, Tensor([0, 1, 3]), w)
    assert total.asnumpy() == 7
    assert loss.asnumpy() == ops.nll_loss(X, Tensor([0, 1, 3]), w).asnumpy()
    listed = Tensor(np.array([[1, 2, -1, 3], [0, -1, 2, 2], [3, 2, 1, 0]], np.int32))
    loss, mask = ops.MultilabelMarginLoss()(X, listed)
    assert mask.asnumpy().tolist() == [[0, 1, 1, 0], [1, 0, 0, 0], [1, 1, 1, 1]]
    assert mask.asnumpy().dtype == np.int32
    assert loss.asnumpy() == ops.multilabel_margin_loss(X, listed).asnumpy()


def test_plain_ones():
    assert ops.L2Loss()(tensor([3, 4])).asnumpy() == 12.5
    found = ops.SigmoidCrossEntropyWithLogits()(X, Q).asnumpy()
    assert np.array_equal(found, ops.binary_cross_entropy_with_logits(X, Q, reduction="none").asnumpy())


@pytest.mark.parametrize(
    "call",
    [
        lambda: ops.BinaryCrossEntropy("foo"),
        lambda: ops.KLDivLoss("foo"),
        lambda: ops.SmoothL1Loss(reduction="foo"),
        lambda: ops.NLLLoss("foo"),
        lambda: ops.MultiMarginLoss(3),
        lambda: ops.MultilabelMarginLoss(None),
    ],
)
def test_bad_attributes(call):
    with pytest.raises(ValueError, match="For '"):
        call()
