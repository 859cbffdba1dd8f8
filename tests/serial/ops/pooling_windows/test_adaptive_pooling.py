"""Adaptive pooling, and the resampling it shares with interpolation."""

import numpy as np
import pytest

from dist_ms import ops
from tests.gradcheck import check_gradient
from tests.precisions import check_precisions, tensor

FUNCTIONS = {
    "mean, even": (lambda x: ops.adaptive_avg_pool2d(x, (3, 2)), (2, 2, 6, 4)),
    "mean, uneven": (lambda x: ops.adaptive_avg_pool2d(x, (3, None)), (2, 2, 7, 5)),
    "mean, larger": (lambda x: ops.adaptive_avg_pool2d(x, 9), (1, 2, 5, 7)),
    "mean, line": (lambda x: ops.adaptive_avg_pool1d(x, 3), (2, 2, 6)),
    "mean, block": (lambda x: ops.adaptive_avg_pool3d(x, 2), (1, 2, 4, 5, 3)),
    "max, even": (lambda x: ops.adaptive_max_pool2d(x, (3, 2)), (2, 2, 6, 4)),
    "max, uneven": (lambda x: ops.adaptive_max_pool2d(x, 3), (2, 2, 7, 5)),
    "max, indices": (lambda x: ops.adaptive_max_pool2d(x, 3, True)[0], (2, 2, 7, 5)),
    "max, line": (lambda x: ops.adaptive_max_pool1d(x, 3), (2, 2, 6)),
    "max, block": (lambda x: ops.adaptive_max_pool3d(x, 2), (1, 2, 4, 5, 3)),
}


def spaced(*shape):
    return np.random.default_rng(0).permutation(int(np.prod(shape))).reshape(shape) / 20.0


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients(name):
    function, shape = FUNCTIONS[name]
    check_gradient(function, spaced(*shape))
    check_precisions(function, spaced(*shape))


@pytest.mark.parametrize("sizes, counts", [((6, 4), (3, 2)), ((7, 5), (3, 3)), ((5, 7), (9, 9)), ((4, 4), (1, 4))])
def test_windows(sizes, counts):
    x = spaced(1, 1, *sizes)
    mean = ops.adaptive_avg_pool2d(tensor(x), counts).asnumpy()[0, 0]
    largest, index = (t.asnumpy()[0, 0] for t in ops.adaptive_max_pool2d(tensor(x), counts, True))
    for i, j in np.ndindex(*counts):
        edges = [(k * n // m, -((k + 1) * -n // m)) for k, n, m in zip((i, j), sizes, counts)]
        part = x[0, 0, slice(*edges[0]), slice(*edges[1])]
        assert mean[i, j] == pytest.approx(part.mean(), abs=1e-6)
        assert largest[i, j] == pytest.approx(part.max(), abs=1e-6)
        assert x.ravel()[index[i, j]] == part.max()


def test_zero_windows_and_index_types():
    assert ops.adaptive_avg_pool2d(tensor(spaced(1, 1, 5, 7)), 0).shape == (1, 1, 0, 0)
    assert ops.adaptive_max_pool2d(tensor(spaced(1, 1, 5, 7)), 2, True)[1].asnumpy().dtype == np.int64
    assert ops.adaptive_max_pool3d(tensor(spaced(1, 1, 5, 7, 3)), 2, True)[1].asnumpy().dtype == np.int32


@pytest.mark.parametrize("size", [1, 2, 3])
def test_maxima_of_no_images(size):
    none = ops.zeros((0, 3, 3, 3))
    for found in (ops.adaptive_max_pool2d(none, size), *ops.adaptive_max_pool2d(none, size, True)):
        assert found.shape == (0, 3, size, size)


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda x: ops.adaptive_avg_pool2d(x, (-1, 2)), ValueError),
        (lambda x: ops.adaptive_avg_pool2d(x, (1, 2, 3)), ValueError),
        (lambda x: ops.adaptive_avg_pool2d(x, "a"), TypeError),
        (lambda x: ops.adaptive_avg_pool2d(x, 2.0), TypeError),
        (lambda x: ops.adaptive_avg_pool2d(ops.reshape(x, (5, 7)), 2), ValueError),
        (lambda x: ops.adaptive_avg_pool1d(ops.reshape(x, (1, 5, 7)), 3), ValueError),
        (lambda x: ops.adaptive_avg_pool1d(ops.reshape(x, (1, 5, 7)), 0), ValueError),
        (lambda x: ops.adaptive_max_pool2d(x, 2, 1), TypeError),
        (lambda x: ops.adaptive_max_pool2d(x, None), TypeError),
    ],
)
def test_errors(call, error):
    with pytest.raises(error, match="For 'adaptive"):
        call(tensor(spaced(1, 1, 5, 7)))
