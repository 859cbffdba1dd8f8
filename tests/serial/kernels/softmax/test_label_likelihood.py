"""The negative log likelihood of labels and its gradient against NumPy's."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms._ext import label_likelihood
from tests.serial.kernels.calls import DTYPES, NARROW, call, random


@pytest.mark.parametrize("dtype", [*DTYPES, *NARROW])
@pytest.mark.parametrize("whole", [np.int32, np.int64])
@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (5, 7), (300, 200)])
def test_against_numpy(dtype, whole, shape):
    x, rng = random(shape, dtype), np.random.default_rng(5)
    labels = rng.integers(0, shape[1], shape[0]).astype(whole)
    labels[rng.random(shape[0]) < 0.3] = -100
    counts = labels != -100
    out, dx, dy = np.empty(shape[0], dtype), np.empty(shape, dtype), random(shape[0], dtype, 3)
    assert label_likelihood.forward(x, labels, -100, out) == counts.sum()
    assert np.array_equal(out, np.where(counts, -x[np.arange(shape[0]), np.maximum(labels, 0)], 0))
    call(label_likelihood.backward, (dy, labels, -100, dx), [dx])
    wanted = np.zeros(shape, dtype)
    wanted[np.arange(shape[0])[counts], labels[counts]] = -dy[counts]
    assert np.array_equal(dx, wanted)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_gradients_of_the_loss(reduction):
    x, labels = ms.Tensor(random((4, 3), np.float64)), ms.Tensor([2, 0, -100, 1], ms.int32)
    weight = ms.Tensor(random(4, np.float64, 6))

    def loss(x):
        out = ms.ops.nll_loss(x, labels, None, -100, reduction)
        return (out * weight).sum() if reduction == "none" else out

    found = ms.grad(loss)(x).asnumpy()
    for place in np.ndindex(4, 3):
        step = np.zeros((4, 3))
        step[place] = 1e-3
        slope = (loss(x + ms.Tensor(step)) - loss(x - ms.Tensor(step))).asnumpy() / 2e-3
        assert abs(found[place] - slope) < 1e-9
    second = ms.grad(lambda x: (ms.grad(lambda z: loss(z) * loss(z))(x) * x).sum())(x).asnumpy()
    g = found
    wanted = 2 * g * loss(x).asnumpy() + 2 * (g * x.asnumpy()).sum() * g
    np.testing.assert_allclose(second, wanted, atol=1e-9)


def test_wrong_arguments():
    x, labels, out = np.ones((2, 3), np.float32), np.zeros(2, np.int32), np.empty(2, np.float32)
    with pytest.raises(ValueError, match=r"'labels' must be in \[0, 3\) or -100, which is ignored, but got 3 in row 1"):
        label_likelihood.forward(x, np.int32([0, 3]), -100, out)
    with pytest.raises(ValueError, match="but got -1 in row 0"):
        label_likelihood.backward(out, np.int32([-1, 3]), -100, x)
    with pytest.raises(ValueError, match="'labels' must have length 2, but got 3"):
        label_likelihood.forward(x, np.zeros(3, np.int32), -100, out)
    with pytest.raises(TypeError, match="'labels' must be int32 or int64"):
        label_likelihood.forward(x, labels.astype(np.int16), -100, out)
    with pytest.raises(TypeError, match="'out' must be float32"):
        label_likelihood.forward(x, labels, -100, out.astype(np.float64))
