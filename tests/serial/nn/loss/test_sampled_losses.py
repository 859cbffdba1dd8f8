"""SampledSoftmaxLoss and TripletMarginWithDistanceLoss: values of MindSpore 2.10, gradients, errors."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Tensor, nn, ops
from dist_ms.nn.loss.sampled_softmax import SampledSoftmaxLoss
from dist_ms.nn.loss.triplet_distance import TripletMarginWithDistanceLoss
from tests.gradcheck import check_gradient

F = np.float32


def rand(*shape):
    return Tensor(np.random.RandomState(sum(shape)).randn(*shape).astype(F))


def by_hand(weights, biases, labels, logits, sampled, true_count, sampled_count):
    """The loss row by row in NumPy."""
    losses = []
    for row, true in enumerate(labels):
        scores = [logits[row] @ weights[c] + biases[c] - np.log(n) for c, n in zip(true, true_count[row])]
        scores += [logits[row] @ weights[c] + biases[c] - np.log(n) for c, n in zip(sampled, sampled_count)]
        chances = np.exp(scores) / np.exp(scores).sum()
        losses.append(-np.log(chances[: len(true)]).mean())
    return losses


@pytest.mark.parametrize("labels", [[[0], [1], [6]], [[0, 2], [1, 3], [6, 4]]], ids=["one", "two"])
def test_sampled_softmax_is_the_loop(labels):
    labels = np.array(labels, np.int32)
    rng = np.random.RandomState(0)
    sampled, true_count, sampled_count = np.array([5, 3, 1]), rng.rand(*labels.shape), rng.rand(3)
    weights, biases, logits = (x.asnumpy().astype(np.float64) for x in (rand(7, 4), rand(7), rand(3, 4)))
    loss = SampledSoftmaxLoss(3, 7, labels.shape[1], tuple(Tensor(x) for x in (sampled, true_count, sampled_count)))
    found = loss(Tensor(weights), Tensor(biases), Tensor(labels), Tensor(logits))
    wanted = by_hand(weights, biases, labels, logits, sampled, true_count, sampled_count)
    np.testing.assert_allclose(found.asnumpy(), wanted, rtol=1e-10)
    check_gradient(lambda w, b, x: loss(w, b, Tensor(labels), x), weights, biases, logits)


def test_value_of_mindspore():
    r = np.random.RandomState(0)
    weights, biases, logits = (Tensor(r.randn(*s).astype(F)) for s in ((7, 4), (7,), (3, 4)))
    values = (Tensor(np.array([5, 3, 1], np.int32)), Tensor(r.rand(3, 1).astype(F)), Tensor(r.rand(3).astype(F)))
    for reduction in ("none", "mean"):
        loss = SampledSoftmaxLoss(3, 7, 1, values, reduction=reduction)
        found = loss(weights, biases, Tensor([0, 1, 6]), logits).asnumpy()
        np.testing.assert_allclose(found, [1.0418656, 1.0879091, 0.9689722], rtol=1e-5)


def test_sampled_classes_are_drawn():
    ms.set_seed(2)
    loss = SampledSoftmaxLoss(4, 50, seed=0)
    inputs = rand(50, 4), rand(50), Tensor([3, 7]), rand(2, 4)
    first, second = loss(*inputs).asnumpy(), loss(*inputs).asnumpy()
    assert first.shape == (2,) and (first != second).any() and (first > 0).all()
    everything = SampledSoftmaxLoss(48, 50)(*inputs)
    assert np.isfinite(everything.asnumpy()).all()


def test_sampled_softmax_errors():
    for error, options in [
        (ValueError, {"num_true": 0}),
        (ValueError, {"num_true": 8}),
        (ValueError, {"seed": -1}),
        (ValueError, {"num_sampled": 8}),
        (ValueError, {"num_sampled": 0}),
        (TypeError, {"num_sampled": "a"}),
        (TypeError, {"sampled_values": 3}),
        (ValueError, {"sampled_values": (1, 2)}),
        (ValueError, {"reduction": "x"}),
        (TypeError, {"remove_accidental_hits": 3}),
    ]:
        with pytest.raises(error):
            SampledSoftmaxLoss(**{"num_sampled": 3, "num_classes": 7, **options})
    good = [rand(7, 4), rand(7), Tensor([0, 1, 6]), rand(3, 4)]
    for place, wrong in enumerate([1, 1, Tensor([0.0, 1.0, 6.0]), 1]):
        with pytest.raises(TypeError):
            SampledSoftmaxLoss(3, 7)(*good[:place], wrong, *good[place + 1 :])


def manhattan(x, y):
    return ops.sum(ops.abs(x - y), 1)


@pytest.mark.parametrize("distance, order", [(None, 2), (manhattan, 1)], ids=["euclidean", "manhattan"])
@pytest.mark.parametrize("swap", [False, True])
def test_triplet_is_the_formula(distance, order, swap):
    x, positive, negative = (rand(3, 5).asnumpy() * k for k in (1, 0.5, -0.2))
    near, far, between = (
        np.linalg.norm(a - b, order, axis=1) for a, b in ((x, positive), (x, negative), (positive, negative))
    )
    wanted = np.maximum(near - (np.minimum(far, between) if swap else far) + 1.5, 0)
    tensors = [Tensor(t) for t in (x, positive, negative)]
    for reduction, reduce in (("none", lambda v: v), ("mean", np.mean), ("sum", np.sum)):
        loss = TripletMarginWithDistanceLoss(distance, swap, reduction, 1.5)
        np.testing.assert_allclose(loss(*tensors).asnumpy(), reduce(wanted), rtol=1e-5)
    check_gradient(TripletMarginWithDistanceLoss(distance, swap, "none", 1.5), x, positive, negative)


def test_triplet_errors():
    x = rand(3, 5)
    for error, options in [
        (TypeError, {"swap": 1}),
        (TypeError, {"margin": 1}),
        (TypeError, {"margin": "a"}),
        (ValueError, {"reduction": "x"}),
    ]:
        with pytest.raises(error, match=next(iter(options))):
            TripletMarginWithDistanceLoss(**options)
    for inputs in [(1, x, x), (x, 1, x), (x, x, 1)]:
        with pytest.raises(TypeError, match="For 'TripletMarginWithDistanceLoss', "):
            TripletMarginWithDistanceLoss()(*inputs)
    with pytest.raises(ValueError):
        TripletMarginWithDistanceLoss()(x, x, x[:2])
    assert isinstance(TripletMarginWithDistanceLoss(), nn.LossBase)
