"""Connectionist temporal classification."""

import itertools

import numpy as np
import pytest

from dist_ms import grad, ops
from dist_ms.common.tensor import Tensor
from tests.gradcheck import check_gradient
from tests.precisions import check_precisions, normal, tensor


def collapse(path):
    """An alignment without repetitions and blanks."""
    return [label for label, _ in itertools.groupby(path) if label]


def likelihood(logp, wanted):
    """The sum over all alignments, one by one."""
    steps, classes = logp.shape
    paths = itertools.product(range(classes), repeat=steps)
    return sum(np.exp(sum(logp[t, c] for t, c in enumerate(path))) for path in paths if collapse(path) == wanted)


TARGETS = np.array([[1, 2], [2, 2], [1, 0], [0, 0]], np.int32)
INPUTS, LENGTHS = (4, 3, 4, 2), (2, 2, 1, 0)


def losses(x, reduction="none"):
    return ops.ctc_loss(ops.log_softmax(x), Tensor(TARGETS), INPUTS, LENGTHS, 0, reduction)[0]


def test_against_all_alignments():
    x = normal(4, 4, 3)
    logp = x - np.log(np.exp(x).sum(-1, keepdims=True))
    wanted = [
        -np.log(likelihood(logp[:t, n], TARGETS[n, :s].tolist())) for n, (t, s) in enumerate(zip(INPUTS, LENGTHS))
    ]
    np.testing.assert_allclose(losses(Tensor(x)).asnumpy(), wanted, atol=1e-10)
    np.testing.assert_allclose(losses(Tensor(x), "sum").asnumpy(), np.sum(wanted))
    np.testing.assert_allclose(losses(Tensor(x), "mean").asnumpy(), np.mean(wanted / np.maximum(LENGTHS, 1)))


def test_gradient():
    check_gradient(losses, normal(4, 4, 3), order=1)
    check_precisions(losses, normal(4, 4, 3))


def test_values_of_mindspore():
    x = ops.log_softmax(tensor(np.random.RandomState(0).randn(5, 2, 4)))
    loss, alpha = ops.ctc_loss(x, Tensor([[1, 2], [2, 2]]), Tensor([5, 4]), Tensor([2, 2]), 0, "none")
    np.testing.assert_allclose(loss.asnumpy(), [3.80386, 3.83415], atol=1e-5)
    np.testing.assert_allclose(alpha.asnumpy()[1, 2], [-5.6635, -1.5434, -5.31378, -3.16354, -np.inf], atol=1e-4)


def test_impossible_targets():
    x = tensor(normal(5, 1, 4))

    def loss(x, zero):
        return ops.ctc_loss(ops.log_softmax(x), Tensor([[2, 2]]), (2,), (2,), zero_infinity=zero)[0]

    assert loss(x, False).asnumpy() == np.inf
    assert loss(x, True).asnumpy() == 0
    assert np.abs(grad(lambda x: loss(x, True))(x).asnumpy()).max() == 0


@pytest.mark.parametrize(
    "arguments, error",
    [
        (([[1, 2]], (6,), (2,)), RuntimeError),
        (([[1, 2]], (5,), (3,)), RuntimeError),
        (([[1, 7]], (5,), (2,)), RuntimeError),
        (([[1, 2]], (5, 5), (2,)), ValueError),
        (([1, 2], (5,), (2,)), ValueError),
        (([[1, 2]], (5,), (2,), 4), ValueError),
        (([[1, 2]], (5,), (2,), 0, "foo"), ValueError),
        (([[1, 2]], (5,), (2,), 0, "mean", 1), TypeError),
        (([[1.0, 2.0]], (5,), (2,)), TypeError),
        (([[1, 2]], (5.0,), (2,)), TypeError),
    ],
)
def test_errors(arguments, error):
    with pytest.raises(error, match="For 'ctc_loss'"):
        ops.ctc_loss(tensor(normal(5, 1, 4)), Tensor(arguments[0]), *arguments[1:])
