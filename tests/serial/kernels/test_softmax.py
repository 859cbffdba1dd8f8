"""Softmax and cross entropy kernels against their twins."""

import numpy as np
import pytest

from dist_ms._ext import softmax
from tests import reference
from tests.serial.kernels.calls import DTYPES, assert_close, call, wide

SHAPES = [(0, 3), (3, 0), (0, 0), (1, 1), (5, 1), (1, 9), (7, 10), (3, 65), (4, 2500), (700, 70)]
FORWARD = {
    softmax.softmax_forward: reference.softmax,
    softmax.log_softmax_forward: reference.log_softmax,
}
BACKWARD = {
    softmax.softmax_backward: (reference.softmax_gradient, reference.softmax),
    softmax.log_softmax_backward: (reference.log_softmax_gradient, reference.log_softmax),
}


def random(shape, dtype, seed=1):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kernel", FORWARD)
def test_forward(kernel, dtype, shape):
    x = 5 * random(shape, dtype)
    out = np.empty_like(x)
    wanted = FORWARD[kernel](wide(x)) if x.size else wide(x)
    assert_close(call(kernel, (x, out), [out]), wanted)
    kernel(x, x)
    assert x.tobytes() == out.tobytes()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kernel", BACKWARD)
def test_backward(kernel, dtype, shape):
    twin, forward = BACKWARD[kernel]
    dy, x = random(shape, dtype, 2), random(shape, dtype, 3)
    y = forward(wide(x)).astype(dtype) if x.size else x
    dx = np.empty_like(dy)
    wanted = twin(wide(dy), wide(y))
    assert_close(call(kernel, (dy, y, dx), [dx]), wanted, scale=np.abs(wanted).max(initial=1))


@pytest.mark.parametrize("kernel", FORWARD)
def test_large_and_infinite_numbers(kernel):
    x = np.array(
        [[1e30, 0, -1e30], [-1000, -1001, -1002], [0, -np.inf, 3], [np.nan, 0, 0], [np.inf, 0, 0]],
        np.float32,
    )
    out = np.empty_like(x)
    kernel(x, out)
    with np.errstate(all="ignore"):
        wanted = FORWARD[kernel](wide(x))
    assert_close(out, wanted)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("label_dtype", [np.int32, np.int64, np.longlong])
@pytest.mark.parametrize("shape", [(0, 4), (1, 1), (6, 3), (400, 150)])
@pytest.mark.parametrize("ignore_index", [-100, 0])
def test_cross_entropy(dtype, label_dtype, shape, ignore_index):
    rng = np.random.default_rng(4)
    logits = random(shape, dtype, 5)
    labels = rng.integers(0, shape[1], shape[0]).astype(label_dtype)
    labels[::3] = ignore_index
    loss, totals = np.empty(shape[0], dtype), np.empty((shape[0], 2), dtype)
    arguments = (logits, labels, ignore_index, loss, totals)
    call(softmax.cross_entropy_forward, arguments, [loss, totals])
    wanted_loss, logprob = reference.cross_entropy(wide(logits), labels, ignore_index)
    assert_close(loss, wanted_loss)
    assert_close(logits - totals[:, :1] - totals[:, 1:], logprob)

    dloss, dlogits = random(shape[0], dtype, 6), np.empty_like(logits)
    arguments = (dloss, logits, totals, labels, ignore_index, dlogits)
    call(softmax.cross_entropy_backward, arguments, [dlogits])
    wanted = reference.cross_entropy_gradient(wide(dloss), logprob, labels, ignore_index)
    assert_close(dlogits, wanted)


def test_a_label_out_of_range():
    logits = np.zeros((3, 4), np.float32)
    loss, totals = np.empty(3, np.float32), np.zeros((3, 2), np.float32)
    for label in (4, -1, 2**31 - 1):
        labels = np.array([0, -100, label], np.int32)
        message = rf"'labels' must be in \[0, 4\) or the ignore_index -100, but got {label} at"
        with pytest.raises(ValueError, match=message):
            softmax.cross_entropy_forward(logits, labels, -100, loss, totals)
        with pytest.raises(ValueError, match=message):
            softmax.cross_entropy_backward(loss, logits, totals, labels, -100, logits)


def test_wrong_arguments():
    x, out = np.zeros((4, 6), np.float32), np.zeros((4, 6), np.float32)
    with pytest.raises(ValueError, match=r"'x' must have 2 dimensions, but got shape \(24,\)"):
        softmax.softmax_forward(x.ravel(), out)
    with pytest.raises(ValueError, match="'x' must be C-contiguous"):
        softmax.softmax_forward(np.asfortranarray(x), out)
    with pytest.raises(TypeError, match="'out' must be float32, but got float64"):
        softmax.log_softmax_forward(x, out.astype(np.float64))
    with pytest.raises(ValueError, match="For 'softmax_backward', 'y' must have the shape"):
        softmax.softmax_backward(x, x[:3], out)
    labels, loss, totals = np.zeros(4, np.int64), np.zeros(4, np.float32), np.zeros((4, 2), np.float32)
    with pytest.raises(TypeError, match="'labels' must be int32 or int64, but got uint8"):
        softmax.cross_entropy_forward(x, labels.astype(np.uint8), -1, loss, totals)
    with pytest.raises(ValueError, match="'labels' must have length 4, but got 3"):
        softmax.cross_entropy_forward(x, labels[:3], -1, loss, totals)
    with pytest.raises(ValueError, match="'labels' must be C-contiguous"):
        softmax.cross_entropy_forward(x, np.zeros(8, np.int64)[::2], -1, loss, totals)
    with pytest.raises(ValueError, match="'loss' must have length 4, but got 2"):
        softmax.cross_entropy_forward(x, labels, -1, loss[:2], totals)
    with pytest.raises(ValueError, match=r"'totals' must have shape \(4, 2\), but got \(4, 6\)"):
        softmax.cross_entropy_forward(x, labels, -1, loss, out)
