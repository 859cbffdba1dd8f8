"""Cross entropy kernels against their twins."""

import numpy as np
import pytest

from dist_ms._ext import cross_entropy
from tests import reference
from tests.serial.kernels.calls import DTYPES, NARROW, STORED, assert_close, call, random, wide

SHAPES = [(0, 3), (3, 0), (0, 0), (1, 1), (5, 1), (1, 9), (7, 10), (5, 31), (5, 32), (3, 65), (4, 2500), (700, 70)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("label_dtype", [np.int32, np.int64, np.longlong])
@pytest.mark.parametrize("shape", [(0, 4), (1, 1), (6, 3), (5, 31), (5, 32), (5, 33), (400, 150)])
@pytest.mark.parametrize("ignore_index", [-100, 0])
def test_cross_entropy(dtype, label_dtype, shape, ignore_index):
    rng = np.random.default_rng(4)
    logits = random(shape, dtype, 5)
    labels = rng.integers(0, shape[1], shape[0]).astype(label_dtype)
    labels[::3] = ignore_index
    loss, totals = np.empty(shape[0], dtype), np.empty((shape[0], 2), dtype)
    arguments = (logits, labels, ignore_index, loss, totals)
    call(cross_entropy.cross_entropy_forward, arguments, [loss, totals])
    wanted_loss, logprob = reference.cross_entropy(wide(logits), labels, ignore_index)
    assert_close(loss, wanted_loss)
    assert_close(logits - totals[:, :1] - totals[:, 1:], logprob)

    dloss, dlogits = random(shape[0], dtype, 6), np.empty_like(logits)
    arguments = (dloss, logits, totals, labels, ignore_index, dlogits)
    call(cross_entropy.cross_entropy_backward, arguments, [dlogits])
    wanted = reference.cross_entropy_gradient(wide(dloss), logprob, labels, ignore_index)
    assert_close(dlogits, wanted)


@pytest.mark.parametrize("source", STORED)
@pytest.mark.parametrize("target", STORED)
@pytest.mark.parametrize("shape", [(0, 4), (1, 1), (6, 3), (5, 3000), (400, 150)])
def test_cross_entropy_of_narrow_logits(source, target, shape):
    logits = random(shape, np.float32, 5).astype(source)
    labels = np.random.default_rng(4).integers(0, shape[1], shape[0])
    labels[::3] = -100
    loss, totals = np.empty(shape[0], np.float32), np.empty((shape[0], 2), np.float32)
    plain_loss, plain_totals = np.empty_like(loss), np.empty_like(totals)
    call(cross_entropy.cross_entropy_forward, (logits, labels, -100, loss, totals), [loss, totals])
    cross_entropy.cross_entropy_forward(logits.astype(np.float32), labels, -100, plain_loss, plain_totals)
    assert loss.tobytes() == plain_loss.tobytes() and totals.tobytes() == plain_totals.tobytes()
    dloss, dlogits, plain = random(shape[0], np.float32, 6), np.empty(shape, target), np.empty(shape, np.float32)
    call(cross_entropy.cross_entropy_backward, (dloss, logits, totals, labels, -100, dlogits), [dlogits])
    cross_entropy.cross_entropy_backward(dloss, logits.astype(np.float32), totals, labels, -100, plain)
    assert dlogits.tobytes() == plain.astype(target).tobytes()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_dense_cross_entropy(dtype, shape):
    logits, labels = 3 * random(shape, dtype, 5), np.abs(random(shape, dtype, 6))
    loss, gradient = np.empty(shape[0], dtype), np.empty_like(logits)
    call(cross_entropy.dense_cross_entropy, (logits, labels, loss, gradient), [loss, gradient])
    logprob = reference.log_softmax(wide(logits)) if logits.size else wide(logits)
    wanted = -(wide(labels) * logprob).sum(1)
    assert_close(loss, wanted, scale=np.abs(wanted).max(initial=1))
    assert_close(gradient, np.exp(logprob) - labels)
    for target in (labels, logits):  # an output may be an input
        other = [logits.copy(), labels.copy()]
        to = other[1] if target is labels else other[0]
        cross_entropy.dense_cross_entropy(*other, loss, to)
        assert to.tobytes() == gradient.tobytes()


@pytest.mark.parametrize("kinds", [(a, b, c) for a in NARROW for b in STORED for c in STORED])
def test_dense_cross_entropy_of_narrow_numbers(kinds):
    logits, labels = (random((9, 1500), np.float32, 5 + i).astype(kinds[i]) for i in (0, 1))
    loss, gradient = np.empty(9, np.float32), np.empty(logits.shape, kinds[2])
    call(cross_entropy.dense_cross_entropy, (logits, labels, loss, gradient), [loss, gradient])
    plain_loss, plain = np.empty_like(loss), np.empty(logits.shape, np.float32)
    cross_entropy.dense_cross_entropy(logits.astype(np.float32), labels.astype(np.float32), plain_loss, plain)
    assert loss.tobytes() == plain_loss.tobytes()
    assert gradient.tobytes() == plain.astype(kinds[2]).tobytes()


@pytest.mark.parametrize("columns", [0, 4])
def test_the_rows_that_count_are_counted(columns):
    labels = np.array([-1, 2, 3, -1, 0])[: 5 if columns else 0]
    loss, totals = np.empty(len(labels)), np.empty((len(labels), 2))
    logits = np.zeros((len(labels), columns))
    assert cross_entropy.cross_entropy_forward(logits, labels, -1, loss, totals) == (3 if columns else 0)
    if columns:
        assert cross_entropy.cross_entropy_forward(logits, labels % 4, -1, loss, totals) == 5
        assert cross_entropy.cross_entropy_forward(logits, np.full(5, -7), -7, loss, totals) == 0


def test_a_label_out_of_range():
    logits = np.zeros((3, 4), np.float32)
    loss, totals = np.empty(3, np.float32), np.zeros((3, 2), np.float32)
    for label in (4, -1, 2**31 - 1):
        labels = np.array([0, -100, label], np.int32)
        message = rf"'labels' must be in \[0, 4\) or the ignore_index -100, but got {label} at"
        with pytest.raises(ValueError, match=message):
            cross_entropy.cross_entropy_forward(logits, labels, -100, loss, totals)
        with pytest.raises(ValueError, match=message):
            cross_entropy.cross_entropy_backward(loss, logits, totals, labels, -100, logits)


def test_large_and_infinite_numbers():
    logits = np.array(
        [[1e30, 0, -1e30], [-1000, -1001, -1002], [0, -np.inf, 3], [np.nan, 0, 0], [0, 0, np.nan], [np.inf, 0, 0]],
        np.float32,
    )
    for width in (3, 40, 70):
        rows = np.full((len(logits), width), -2000, np.float32)
        rows[:, :2], rows[:, -1] = logits[:, :2], logits[:, 2]
        labels, loss, totals = np.zeros(len(rows), int), np.empty(len(rows), "f4"), np.empty((len(rows), 2), "f4")
        cross_entropy.cross_entropy_forward(rows, labels, -100, loss, totals)
        with np.errstate(all="ignore"):
            wanted, logprob = reference.cross_entropy(wide(rows), labels, -100)
        assert_close(loss, wanted)
        dloss, dlogits = np.ones(len(rows), "f4"), np.empty_like(rows)
        cross_entropy.cross_entropy_backward(dloss, rows, totals, labels, -100, dlogits)
        assert_close(dlogits, reference.cross_entropy_gradient(wide(dloss), logprob, labels, -100))


def test_wrong_arguments():
    x, out = np.zeros((4, 6), np.float32), np.zeros((4, 6), np.float32)
    labels, loss, totals = np.zeros(4, np.int64), np.zeros(4, np.float32), np.zeros((4, 2), np.float32)
    with pytest.raises(TypeError, match="'labels' must be int32 or int64, but got uint8"):
        cross_entropy.cross_entropy_forward(x, labels.astype(np.uint8), -1, loss, totals)
    with pytest.raises(ValueError, match="'labels' must have length 4, but got 3"):
        cross_entropy.cross_entropy_forward(x, labels[:3], -1, loss, totals)
    with pytest.raises(ValueError, match="'labels' must be C-contiguous"):
        cross_entropy.cross_entropy_forward(x, np.zeros(8, np.int64)[::2], -1, loss, totals)
    with pytest.raises(ValueError, match="'loss' must have length 4, but got 2"):
        cross_entropy.cross_entropy_forward(x, labels, -1, loss[:2], totals)
    with pytest.raises(ValueError, match=r"'totals' must have shape \(4, 2\), but got \(4, 6\)"):
        cross_entropy.cross_entropy_forward(x, labels, -1, loss, out)
