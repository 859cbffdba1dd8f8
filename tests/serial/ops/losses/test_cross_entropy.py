"""Cross entropy and negative log likelihood. Numbers not derived here are MindSpore 2.10's."""

import numpy as np
import pytest

from dist_ms import ops
from dist_ms.common.tensor import Tensor
from tests.gradcheck import check_gradient
from tests.precisions import check_precisions, normal, tensor

LABELS = np.array([0, -100, 3], np.int32)


def mindspores():
    """The logits and probabilities the quoted numbers belong to."""
    return np.random.RandomState(0).randn(3, 4), np.random.RandomState(1).rand(3, 4)


def reference(x, labels, weight, ignore_index, reduction, smoothing):
    """The definition, a row at a time; classes come second."""
    x = np.moveaxis(x, 1, -1).reshape(-1, x.shape[1])
    logp = x - np.log(np.exp(x).sum(1, keepdims=True))
    weight = np.ones(x.shape[1]) if weight is None else weight
    losses, total = [], 0.0
    for row, label in zip(logp, labels.ravel()):
        if label == ignore_index:
            losses.append(0.0)
            continue
        total += weight[label]
        losses.append(-(1 - smoothing) * weight[label] * row[label] - smoothing / len(row) * (weight * row).sum())
    if reduction == "none":
        return np.reshape(losses, labels.shape)
    return np.sum(losses) / (total if reduction == "mean" else 1)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shape", [(5, 4), (2, 3, 4), (2, 3, 2, 2)])
def test_labels(shape, weighted, smoothing, reduction):
    x = normal(*shape)
    labels = np.random.default_rng(1).integers(0, shape[1], shape[:1] + shape[2:])
    labels.flat[1] = 1 if smoothing else -7
    weight = np.abs(normal(shape[1], seed=2)) + 0.1 if weighted else None
    given = None if weight is None else Tensor(weight)
    wanted = reference(x, labels, weight, -7, reduction, smoothing)

    def function(x):
        w = given if given is None else ops.cast(given, x.dtype)
        return ops.cross_entropy(x, Tensor(labels), w, -7, reduction, smoothing)

    np.testing.assert_allclose(function(Tensor(x)).asnumpy(), wanted, atol=1e-12)
    check_gradient(function, x)
    check_precisions(function, x)

    def likelihood(logp):
        w = given if given is None else ops.cast(given, logp.dtype)
        return ops.nll_loss(logp, Tensor(labels), w, -7, reduction, smoothing)

    logp = x - np.log(np.exp(x).sum(1, keepdims=True))
    np.testing.assert_allclose(likelihood(Tensor(logp)).asnumpy(), wanted, atol=1e-12)
    check_gradient(likelihood, logp)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("shape", [(3, 4), (2, 3, 4), (4,)])
def test_probabilities(shape, reduction):
    x, p, w = normal(*shape), np.abs(normal(*shape, seed=1)), np.abs(normal(shape[min(1, len(shape) - 1)], seed=2))

    def function(x, p, w):
        return ops.cross_entropy(x, p, w, reduction=reduction, label_smoothing=0.2)

    axis = min(1, len(shape) - 1)
    classes = shape[axis]
    column = w.reshape(-1, *(1,) * (len(shape) - 1 - axis))
    logp = x - np.log(np.exp(x).sum(axis, keepdims=True))
    rows = -((0.8 * p + 0.2 / classes) * column * logp).sum(axis)
    wanted = {"none": rows, "sum": rows.sum(), "mean": rows.mean()}[reduction]
    np.testing.assert_allclose(function(Tensor(x), Tensor(p), Tensor(w)).asnumpy(), wanted, atol=1e-12)
    check_gradient(function, x, p, w)


class TestValuesOfMindSpore:
    @pytest.mark.parametrize(
        "arguments, wanted",
        [
            ({}, 0.9032),
            ({"label_smoothing": 0.1}, 0.9730),
            ({"weight": [1, 2, 3, 4]}, 0.7247),
            ({"reduction": "sum"}, 1.8065),
        ],
    )
    def test_labels(self, arguments, wanted):
        if "weight" in arguments:
            arguments = {**arguments, "weight": tensor(arguments["weight"])}
        found = ops.cross_entropy(tensor(mindspores()[0]), Tensor(LABELS), **arguments)
        assert found.asnumpy() == pytest.approx(wanted, abs=1e-4)

    def test_probabilities(self):
        x, p = map(tensor, mindspores())
        assert ops.cross_entropy(x, p).asnumpy() == pytest.approx(2.3405, abs=1e-4)
        found = ops.cross_entropy(x, p, tensor([1, 2, 3, 4]), label_smoothing=0.2).asnumpy()
        assert found == pytest.approx(5.2756, abs=1e-4)

    def test_nothing_counts(self):
        x = tensor(mindspores()[0])
        assert np.isnan(ops.cross_entropy(x, Tensor(np.full(3, -100))).asnumpy())
        assert np.isnan(ops.cross_entropy(tensor(np.zeros((0, 4))), Tensor(np.zeros(0, np.int32))).asnumpy())
        assert ops.cross_entropy(x, Tensor(np.full(3, -100)), reduction="sum").asnumpy() == 0


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("labels", [np.int32, np.int64])
def test_types(dtype, labels):
    found = ops.cross_entropy(tensor(mindspores()[0], dtype), Tensor(np.array([0, 1, 3], labels))).asnumpy()
    assert found.dtype == dtype and found == pytest.approx(1.7051, abs=2e-3)


def test_a_single_sample():
    assert ops.cross_entropy(tensor([0.0, 0.0]), Tensor(1)).asnumpy() == pytest.approx(np.log(2))


@pytest.mark.parametrize(
    "arguments, error",
    [
        ((Tensor([0, 1]),), ValueError),
        ((Tensor([0, 1, 4]),), RuntimeError),
        ((Tensor([0, 1, -2]),), RuntimeError),
        ((tensor([0, 1, 3], np.int8),), TypeError),
        ((tensor(np.ones((3, 3))),), ValueError),
        ((3,), TypeError),
        ((Tensor([0, 1, 3]), tensor([1, 2])), ValueError),
        ((Tensor([0, 1, 3]), None, 1.0), TypeError),
        ((Tensor([0, 1, 3]), None, -100, "foo"), ValueError),
        ((Tensor([0, 1, 3]), None, -100, "mean", "a"), TypeError),
    ],
)
def test_errors(arguments, error):
    with pytest.raises(error, match="cross_entropy"):
        ops.cross_entropy(tensor(normal(3, 4)), *arguments)


def test_integer_logits_are_refused():
    with pytest.raises(TypeError, match="float"):
        ops.cross_entropy(Tensor([[1, 2]]), Tensor([0]))
