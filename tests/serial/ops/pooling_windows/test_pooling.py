"""Maximum and mean over sliding windows."""

import numpy as np
import pytest

from dist_ms import grad, ops
from dist_ms.common.tensor import Tensor
from dist_ms.ops.capabilities import Capabilities
from dist_ms.ops.pooling_windows import pooling
from tests.gradcheck import check_gradient
from tests.precisions import check_precisions, normal, outputs, tensor

FUNCTIONS = {
    "max": lambda x: ops.max_pool2d(x, 2),
    "max, padded": lambda x: ops.max_pool2d(x, 3, 2, 1),
    "max, dilated, ceil": lambda x: ops.max_pool2d(x, 3, 2, 1, 2, ceil_mode=True),
    "max, indices": lambda x: ops.max_pool2d(x, (2, 3), 2, return_indices=True)[0],
    "max, same": lambda x: ops.MaxPool(3, 2, "same")(x),
    "mean": lambda x: ops.avg_pool2d(x, 2, 2),
    "mean, padded": lambda x: ops.avg_pool2d(x, 3, 2, 1),
    "mean without padding": lambda x: ops.avg_pool2d(x, 3, 2, 1, count_include_pad=False),
    "mean, ceil": lambda x: ops.avg_pool2d(x, 3, 2, 1, ceil_mode=True),
    "mean, ceil, without padding": lambda x: ops.avg_pool2d(x, 3, 2, 1, True, False),
    "mean, divisor": lambda x: ops.avg_pool2d(x, 3, 2, 1, divisor_override=2),
    "mean, same": lambda x: ops.AvgPool(2, 2, "same")(x),
    "power mean": lambda x: ops.lp_pool2d(x * x + 1, 2, 3, 2),
}
VOLUMES = {
    "max": lambda x: ops.max_pool3d(x, 2),
    "max, same": lambda x: ops.MaxPool3D(3, 2, "same")(x),
    "mean": lambda x: ops.avg_pool3d(x, 2, 2, 1),
    "mean, same": lambda x: ops.AvgPool3D(2, 2, "same")(x),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_planes(name):
    # Numbers a good way apart, so that finite differences change no maximum.
    x = np.random.default_rng(0).permutation(2 * 3 * 7 * 6).reshape(2, 3, 7, 6) / 20.0
    check_gradient(FUNCTIONS[name], x)
    check_precisions(FUNCTIONS[name], x)


@pytest.mark.parametrize("name", VOLUMES)
def test_volumes(name):
    x = np.random.default_rng(0).permutation(2 * 2 * 4 * 5 * 3).reshape(2, 2, 4, 5, 3) / 20.0
    check_gradient(VOLUMES[name], x)
    check_precisions(VOLUMES[name], x)


def ramp(*shape):
    return tensor(np.arange(np.prod(shape)).reshape(shape))


class TestValuesOfMindSpore:
    """Numbers printed by MindSpore 2.10."""

    def test_max_with_ceil_and_dilation(self):
        found = ops.max_pool2d(ramp(1, 1, 6, 6), 3, 2, 1, 2, ceil_mode=True)
        assert found.asnumpy().ravel().tolist() == [21, 23, 23, 33, 35, 35, 33, 35, 35]

    def test_max_never_takes_the_padding(self):
        found = ops.max_pool2d(-ramp(1, 1, 4, 4), 3, 2, 1)
        assert found.asnumpy().ravel().tolist() == [0, -1, -4, -5]

    def test_indices(self):
        _, index = ops.max_pool2d(ramp(1, 1, 5, 5), 3, 2, 1, return_indices=True)
        assert index.asnumpy().ravel().tolist() == [6, 8, 9, 16, 18, 19, 21, 23, 24]
        assert index.asnumpy().dtype == np.int64
        _, flat = ops.MaxPoolWithArgmax(2, 2)(ramp(1, 2, 2, 2))
        assert flat.asnumpy().ravel().tolist() == [3, 7] and flat.asnumpy().dtype == np.int32

    def test_columns_are_pooled_as_rows(self):
        column = np.random.default_rng(0).standard_normal((2, 3, 9, 1)).astype(np.float32)
        for kernel, step in (((3, 1), 2), ((9, 1), 9)):
            found = ops.max_pool2d(Tensor(column), kernel, (step, 1), return_indices=True)
            wanted = ops.max_pool2d(Tensor(column.transpose(0, 1, 3, 2)), kernel[::-1], (1, step), return_indices=True)
            for one, other in zip(found, wanted):
                np.testing.assert_array_equal(one.asnumpy(), other.asnumpy().transpose(0, 1, 3, 2))

    def test_mean_with_ceil(self):
        found = ops.avg_pool2d(ramp(1, 1, 6, 6), 3, 2, 1, ceil_mode=True).asnumpy().ravel()[:5]
        np.testing.assert_allclose(found, [14 / 9, 10 / 3, 14 / 3, 8 / 3, 25 / 3], rtol=1e-6)

    def test_mean_of_same_padding(self):
        plane = ops.AvgPool(2, 2, "same")(ramp(1, 1, 5, 5)).asnumpy().ravel().tolist()
        assert plane == [3, 5, 6.5, 13, 15, 16.5, 20.5, 22.5, 24]
        block = ops.AvgPool3D(2, 2, "same")(ramp(1, 1, 3, 3, 3)).asnumpy().ravel().tolist()
        assert block == [6.5, 4, 5.5, 3.125, 10, 5.375, 6.125, 3.25]

    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_first_of_equal_maxima_gets_the_gradient(self, dtype):
        found = grad(lambda x: ops.max_pool2d(x, 2, 1))(tensor(np.ones((1, 1, 3, 3)), dtype))
        assert found.asnumpy().ravel().tolist() == [1, 1, 0, 1, 1, 0, 0, 0, 0]


@pytest.mark.parametrize(
    ("shape", "pool"), [((2, 3, 9, 8), (3, 2, 1)), ((1, 2, 6, 6), (2, 2)), ((3, 1, 7, 7), (5, 1, 2))]
)
def test_the_gradient_of_maxima_is_the_same_without_avx2(shape, pool, monkeypatch):
    x = tensor(normal(*shape))
    dy = tensor(normal(*ops.max_pool2d(x, *pool).shape))
    gradient = grad(lambda x: (ops.max_pool2d(x, *pool) * dy).sum())
    found = {}
    for avx2 in (True, False):
        cpu = Capabilities(avx2=avx2)
        monkeypatch.setattr(pooling, "capabilities", lambda cpu=cpu: cpu)
        found[avx2] = gradient(x).asnumpy().copy()
    np.testing.assert_allclose(found[True], found[False], rtol=1e-6, atol=1e-6)


def test_lines():
    x = normal(2, 3, 8)
    assert outputs(ops.avg_pool1d(tensor(x), 2, 2))[0] == pytest.approx(x.reshape(2, 3, 4, 2).mean(-1), abs=1e-6)
    check_gradient(lambda x: ops.avg_pool1d(x, 3, 2, 1), x)
    np.testing.assert_allclose(ops.lp_pool1d(ramp(1, 2, 7), 2, 3).asnumpy()[0, 0], [5**0.5, 50**0.5], rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.float16, np.float64])
def test_types_stay(dtype):
    x = ramp(1, 1, 4, 4).asnumpy().astype(dtype)
    for found in (ops.max_pool2d(Tensor(x), 2), ops.avg_pool2d(Tensor(x), 2)):
        assert found.asnumpy().dtype == dtype


def test_without_batch_and_empty_batch():
    assert ops.max_pool2d(ramp(3, 4, 4), 2).shape == (3, 2, 2)
    assert ops.avg_pool2d(ramp(3, 4, 4), 2).shape == (3, 3, 3)
    assert ops.max_pool2d(ramp(0, 1, 4, 4), 2).shape == (0, 1, 2, 2)
    assert ops.avg_pool2d(ramp(0, 1, 4, 4), 2).shape == (0, 1, 3, 3)


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda: ops.max_pool2d(ramp(1, 1, 5, 5), 0), ValueError),
        (lambda: ops.max_pool2d(ramp(1, 1, 5, 5), 2.0), TypeError),
        (lambda: ops.max_pool2d(ramp(1, 1, 5, 5), 2, (1, 1, 1)), ValueError),
        (lambda: ops.max_pool2d(ramp(1, 1, 5, 5), 3, 2, 2), ValueError),
        (lambda: ops.max_pool2d(ramp(5, 5), 2), ValueError),
        (lambda: ops.max_pool2d(ramp(1, 1, 5, 5), 6), ValueError),
        (lambda: ops.max_pool2d(tensor(np.ones((1, 1, 5, 5)), np.int32), 2), TypeError),
        (lambda: ops.max_pool2d(3, 2), TypeError),
        (lambda: ops.MaxPool(2, 2, "pad"), ValueError),
        (lambda: ops.MaxPool((2, 2, 2)), ValueError),
        (lambda: ops.MaxPool(2, data_format="NHWC"), ValueError),
        (lambda: ops.AvgPool(6)(ramp(1, 1, 5, 5)), RuntimeError),
        (lambda: ops.avg_pool2d(ramp(1, 1, 5, 5), 2, divisor_override=-1), ValueError),
        (lambda: ops.avg_pool2d(ramp(1, 1, 5, 5), 2, ceil_mode=1), TypeError),
        (lambda: ops.lp_pool1d(ramp(1, 1, 5), 0, 2), ValueError),
    ],
)
def test_errors(call, error):
    with pytest.raises(error, match="For '"):
        call()
