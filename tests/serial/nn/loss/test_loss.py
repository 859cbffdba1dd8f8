"""Loss layers against the functions they wrap, and their arguments."""

import numpy as np
import pytest

from dist_ms import grad, nn, ops
from dist_ms.common.tensor import Tensor
from tests.precisions import normal, tensor

X, Y = tensor(normal(3, 4)), tensor(normal(3, 4, seed=1))
P, Q = tensor(np.full((3, 4), 0.3)), tensor(np.full((3, 4), 0.6))
LABELS, SIGNS = Tensor([0, 1, 3]), Tensor([1, -1, 1])
W = tensor([1, 2, 3, 4])


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize(
    "layer, function, inputs",
    [
        (nn.L1Loss, ops.l1_loss, (X, Y)),
        (nn.MAELoss, ops.l1_loss, (X, Y)),
        (nn.MSELoss, ops.mse_loss, (X, Y)),
        (nn.SmoothL1Loss, ops.smooth_l1_loss, (X, Y)),
        (nn.HuberLoss, ops.huber_loss, (X, Y)),
        (nn.BCELoss, ops.binary_cross_entropy, (P, Q)),
        (nn.BCEWithLogitsLoss, ops.binary_cross_entropy_with_logits, (X, Q)),
        (nn.KLDivLoss, ops.kl_div, (X, Q)),
        (nn.CrossEntropyLoss, ops.cross_entropy, (X, LABELS)),
        (nn.CrossEntropyLoss, ops.cross_entropy, (X, Q)),
        (nn.NLLLoss, ops.nll_loss, (X, LABELS)),
        (nn.CosineEmbeddingLoss, ops.cosine_embedding_loss, (X, Y, SIGNS)),
        (nn.MarginRankingLoss, ops.margin_ranking_loss, (X, Y, Y)),
        (nn.HingeEmbeddingLoss, ops.hinge_embedding_loss, (X, Q)),
        (nn.MultiMarginLoss, ops.multi_margin_loss, (X, LABELS)),
        (nn.MultiLabelSoftMarginLoss, ops.multilabel_soft_margin_loss, (X, Q)),
        (nn.MultilabelMarginLoss, ops.multilabel_margin_loss, (X, Tensor(np.full((3, 4), [1, 2, -1, 0], np.int32)))),
        (nn.SoftMarginLoss, ops.soft_margin_loss, (X, Y)),
        (nn.TripletMarginLoss, ops.triplet_margin_loss, (X, Y, P)),
        (nn.GaussianNLLLoss, ops.gaussian_nll_loss, (X, Y, Q)),
    ],
)
def test_wrappers(layer, function, inputs, reduction):
    made = layer(reduction=reduction)
    assert np.array_equal(made(*inputs).asnumpy(), function(*inputs, reduction=reduction).asnumpy())
    assert repr(made) == f"{layer.__name__}()"
    late = layer is nn.TripletMarginLoss  # whose arguments are looked at in the call
    with pytest.raises(ValueError, match=f"For '{function.__name__ if late else layer.__name__}', 'reduction' must be"):
        layer(reduction="foo")(*inputs)


def test_the_margin_of_triplets_is_that_of_the_call_where_the_layers_is_one():
    def with_margin(margin):
        return float(ops.triplet_margin_loss(X, Y, P, margin=margin))

    assert float(nn.TripletMarginLoss()(X, Y, P, margin=2.0)) == with_margin(2.0)
    assert float(nn.TripletMarginLoss(margin=3.0)(X, Y, P, margin=2.0)) == with_margin(3.0)


def test_options():
    assert np.array_equal(
        nn.CrossEntropyLoss(W, 1, "sum", 0.1)(X, LABELS).asnumpy(),
        ops.cross_entropy(X, LABELS, W, 1, "sum", 0.1).asnumpy(),
    )
    assert np.array_equal(nn.NLLLoss(W, 1)(X, LABELS).asnumpy(), ops.nll_loss(X, LABELS, W, 1).asnumpy())
    assert np.array_equal(
        nn.BCEWithLogitsLoss("sum", W, W)(X, Q).asnumpy(),
        ops.binary_cross_entropy_with_logits(X, Q, W, W, "sum").asnumpy(),
    )
    assert np.array_equal(nn.HuberLoss(delta=0.5)(X, Y).asnumpy(), ops.huber_loss(X, Y, delta=0.5).asnumpy())
    assert np.array_equal(nn.KLDivLoss("batchmean")(X, Q).asnumpy(), ops.kl_div(X, Q, "batchmean").asnumpy())
    assert nn.RMSELoss()(X, Y).asnumpy() == pytest.approx(nn.MSELoss()(X, Y).asnumpy() ** 0.5)
    assert repr(nn.RMSELoss()) == "RMSELoss(\n  (MSELoss): MSELoss()\n)"


class TestSoftmaxCrossEntropyWithLogits:
    @pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
    def test_sparse(self, reduction):
        loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction=reduction)
        wanted = ops.cross_entropy(X, LABELS, reduction=reduction).asnumpy()
        np.testing.assert_allclose(loss(X, LABELS).asnumpy(), wanted, rtol=1e-6)
        np.testing.assert_allclose(
            grad(lambda x: loss(x, LABELS))(X).asnumpy(),
            grad(lambda x: ops.cross_entropy(x, LABELS, reduction=reduction))(X).asnumpy(),
            atol=1e-7,
        )

    @pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
    def test_dense(self, reduction):
        loss = nn.SoftmaxCrossEntropyWithLogits(reduction=reduction)(X, Q)
        np.testing.assert_allclose(loss.asnumpy(), ops.cross_entropy(X, Q, reduction=reduction).asnumpy(), rtol=1e-6)

    def test_default_is_none(self):
        assert nn.SoftmaxCrossEntropyWithLogits(True)(X, LABELS).shape == (3,)

    @pytest.mark.parametrize(
        "sparse, labels, error",
        [
            (True, tensor([0, 1, 2]), TypeError),
            (True, Tensor([0, 1]), ValueError),
            (True, Tensor([0, 1, 4]), RuntimeError),
            (False, LABELS, TypeError),
            (False, tensor([[1.0]]), ValueError),
            (1, LABELS, TypeError),
        ],
    )
    def test_errors(self, sparse, labels, error):
        with pytest.raises(error, match="For 'SoftmaxCrossEntropyWithLogits'"):
            nn.SoftmaxCrossEntropyWithLogits(sparse)(X, labels)


class TestFocalLoss:
    logits = normal(2, 3, 4)

    @pytest.mark.parametrize("gamma", [0.0, 1.0, 2.0])
    def test_class_numbers(self, gamma):
        labels = np.array([[[0, 1, 2, 1]], [[2, 2, 0, 1]]], np.int32)
        logp = self.logits - np.log(np.exp(self.logits).sum(1, keepdims=True))
        picked = np.take_along_axis(logp, labels, 1)[:, 0]
        w = np.array([1, 2, 3.0])[labels[:, 0]]
        wanted = -w * (1 - np.exp(picked)) ** gamma * picked
        loss = nn.FocalLoss(tensor([1, 2, 3]), gamma, "none")(tensor(self.logits), Tensor(labels))
        np.testing.assert_allclose(loss.asnumpy(), wanted.mean(-1), rtol=1e-5)

    def test_probabilities(self):
        p = np.abs(normal(2, 3, 4, seed=3))
        logp = self.logits - np.log(np.exp(self.logits).sum(1, keepdims=True))
        wanted = -((1 - np.exp(logp)) ** 2) * logp * p
        found = nn.FocalLoss()(tensor(self.logits), tensor(p)).asnumpy()
        assert found == pytest.approx(wanted.mean(), rel=1e-5)

    @pytest.mark.parametrize(
        "call, error",
        [
            (lambda x: nn.FocalLoss(gamma=25.0), ValueError),
            (lambda x: nn.FocalLoss(weight=3), TypeError),
            (lambda x: nn.FocalLoss()(x, Tensor(np.ones((2, 4), np.int32))), ValueError),
        ],
    )
    def test_errors(self, call, error):
        with pytest.raises(error, match="For 'FocalLoss'"):
            call(tensor(self.logits))


class TestLikelihoodAndDice:
    def test_poisson(self):
        x, t = np.full((2, 2), 0.5), np.array([[0.5, 1], [2, 3.0]])
        stirling = np.where(t > 1, t * np.log(t) - t + 0.5 * np.log(2 * np.pi * t), 0)
        found = nn.PoissonNLLLoss(full=True, reduction="none")(tensor(x), tensor(t)).asnumpy()
        np.testing.assert_allclose(found, np.exp(x) - t * x + stirling, rtol=1e-5)
        found = nn.PoissonNLLLoss(log_input=False)(tensor(x), tensor(t)).asnumpy()
        assert found == pytest.approx((x - t * np.log(x)).mean(), rel=1e-5)

    def test_dice(self):
        x, y = P.asnumpy(), Q.asnumpy()
        wanted = 1 - 2 * (x * y).sum() / ((x**2).sum() + (y**2).sum() + 1e-5)
        assert nn.DiceLoss()(P, Q).asnumpy() == pytest.approx(wanted, rel=1e-5)
        with pytest.raises(TypeError, match="'smooth' must be a float"):
            nn.DiceLoss(1)

    def test_dice_of_classes(self):
        x = np.exp(X.asnumpy()) / np.exp(X.asnumpy()).sum(1, keepdims=True)
        dice = [1 - 2 * (a * b).sum() / ((a**2).sum() + (b**2).sum() + 1e-5) for a, b in zip(x.T, Q.asnumpy().T)]
        assert nn.MultiClassDiceLoss()(X, Q).asnumpy() == pytest.approx(np.mean(dice), rel=1e-5)
        found = nn.MultiClassDiceLoss(W, 0)(X, Q).asnumpy()
        assert found == pytest.approx(np.sum(np.array(dice)[1:] * [2, 3, 4]) / 4, rel=1e-5)


def test_ctc():
    logp = ops.log_softmax(tensor(normal(5, 2, 4)))
    targets, inputs, lengths = Tensor([[1, 2], [2, 2]]), Tensor([5, 4]), Tensor([2, 2])
    wanted = ops.ctc_loss(logp, targets, inputs, lengths)[0].asnumpy()
    assert nn.CTCLoss()(logp, targets, inputs, lengths).asnumpy() == wanted
    one = nn.CTCLoss(reduction="none")(logp[:, 0], Tensor([1, 2]), Tensor([5]), Tensor([2])).asnumpy()
    assert one.shape == ()
    assert one == pytest.approx(nn.CTCLoss(reduction="none")(logp, targets, inputs, lengths).asnumpy()[0])


class TestLossBase:
    def test_get_loss(self):
        x = tensor(np.arange(6).reshape(2, 3))
        assert nn.LossBase().get_loss(x).asnumpy() == 2.5
        assert nn.LossBase("sum").get_loss(x, 2.0).asnumpy() == 30
        assert nn.LossBase("none").get_loss(x, tensor([1, 2, 3])).asnumpy().tolist() == [[0, 2, 6], [3, 8, 15]]
        half = nn.LossBase().get_loss(tensor(x.asnumpy(), np.float16))
        assert half.asnumpy().dtype == np.float16
        assert nn.LossBase().get_axis(x) == (0, 1)

    @pytest.mark.parametrize("reduction", ["foo", 1, None])
    def test_errors(self, reduction):
        with pytest.raises(ValueError, match="For 'LossBase', 'reduction' must be one of"):
            nn.LossBase(reduction)


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda: nn.CrossEntropyLoss()(3, LABELS), TypeError),
        (lambda: nn.CrossEntropyLoss()(X, 3), TypeError),
        (lambda: nn.CrossEntropyLoss(ignore_index=1.0), TypeError),
        (lambda: nn.CrossEntropyLoss(weight=3), TypeError),
        (lambda: nn.CrossEntropyLoss(label_smoothing=-1.0), ValueError),
        (lambda: nn.CrossEntropyLoss(label_smoothing=1), TypeError),
        (lambda: nn.MSELoss()(3, X), TypeError),
        (lambda: nn.CosineEmbeddingLoss(1), TypeError),
        (lambda: nn.CosineEmbeddingLoss(2.0), ValueError),
        (lambda: nn.GaussianNLLLoss(eps=0), TypeError),
        (lambda: nn.GaussianNLLLoss(full=1), TypeError),
        (lambda: nn.HuberLoss(delta=0.0)(X, Y), ValueError),
        (lambda: nn.SmoothL1Loss(-1.0)(X, Y), RuntimeError),
        (lambda: nn.BCELoss()(X, Q), RuntimeError),
        (lambda: nn.MultiMarginLoss(3), ValueError),
        (lambda: nn.MarginRankingLoss(margin="a"), TypeError),
        (lambda: nn.CTCLoss(zero_infinity=1), TypeError),
    ],
)
def test_errors(call, error):
    with pytest.raises(error, match="For '"):
        call()
