"""Dropout of elements and channels."""

import numpy as np
import pytest

from dist_ms import grad, ops, recompute, set_seed
from dist_ms.common.random import seed
from dist_ms.common.tensor import Tensor
from tests.gradcheck import check_gradient
from tests.precisions import normal, tensor


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_share_and_scale(dtype):
    found = ops.dropout(tensor(np.ones((100, 100)), dtype), 0.3).asnumpy()
    assert found.dtype == dtype
    kept = found != 0
    assert 0.68 < kept.mean() < 0.72
    np.testing.assert_allclose(found[kept], 1 / 0.7, rtol=1e-3)


def test_seeds():
    x = tensor(np.ones(100))
    set_seed(3)
    first, second = ops.dropout(x).asnumpy(), ops.dropout(x).asnumpy()
    assert not np.array_equal(first, second)
    set_seed(3)
    assert np.array_equal(ops.dropout(x).asnumpy(), first)
    own = [ops.dropout(x, seed=12345).asnumpy() for _ in range(2)]
    assert not np.array_equal(*own)


@pytest.mark.parametrize("layout", ["first", "last"])
def test_gradient_drops_the_same_elements(layout):
    x = tensor(normal(2, 3, 4, 5))
    if layout == "last":
        x._data = np.moveaxis(np.ascontiguousarray(np.moveaxis(x._data, 1, -1)), -1, 1)
    set_seed(5)
    out = ops.dropout(x).asnumpy()
    set_seed(5)
    found = grad(lambda x: ops.dropout(x).sum())(x).asnumpy()
    assert np.array_equal(found != 0, out != 0)
    np.testing.assert_allclose(found[out != 0], 2)


def test_gradient_twice():
    def function(x):
        set_seed(7)
        return ops.dropout(x * x, 0.5)

    check_gradient(function, normal(4, 5))


def test_primitive_returns_the_mask():
    out, mask = (t.asnumpy() for t in ops.Dropout(0.5)(tensor(np.ones(50))))
    assert mask.dtype == np.float32 and np.array_equal(out, 2 * mask)
    out, mask = (t.asnumpy() for t in ops.Dropout(1.0)(tensor(np.ones(5))))
    assert out.tolist() == mask.tolist() == [1] * 5


@pytest.mark.parametrize("primitive, shape", [(ops.Dropout2D, (20, 5, 2, 3)), (ops.Dropout3D, (20, 5, 2, 2, 2))])
def test_channels(primitive, shape):
    out, mask = (t.asnumpy() for t in primitive(0.8)(tensor(np.ones(shape))))
    assert mask.dtype == bool and mask.shape == shape
    flat = mask.reshape(20, 5, -1)
    assert (flat.all(-1) | ~flat.any(-1)).all() and 0.6 < mask.mean() < 0.95
    np.testing.assert_allclose(out, mask / 0.8, rtol=1e-6)
    for keep, share in ((0.0, 0), (1.0, 1)):
        assert primitive(keep)(tensor(np.ones(shape)))[0].asnumpy().mean() == share


@pytest.mark.parametrize(
    "function, shape",
    [
        (ops.dropout1d, (6, 4, 3)),
        (ops.dropout1d, (8, 3)),
        (ops.dropout2d, (6, 4, 3, 2)),
        (ops.dropout3d, (6, 4, 3, 2, 2)),
    ],
)
def test_channel_functions(function, shape):
    x = tensor(np.ones(shape))
    found = function(x, 0.5).asnumpy()
    flat = found.reshape(-1, int(np.prod(shape[2:])) if len(shape) > 2 else shape[1])
    assert set(np.unique(flat)) == {0, 2} and (flat == flat[..., :1]).all()
    assert function(x, training=False) is x
    assert function(x, 1.0).asnumpy().sum() == 0
    check_gradient(lambda x: (set_seed(1), function(x, 0.5))[1], normal(*shape), order=1)


def test_nothing_to_do():
    x = tensor([1, 2])
    assert ops.dropout(x, training=False) is x
    assert ops.dropout(x, 0.0).asnumpy().tolist() == [1, 2]
    assert ops.dropout(tensor(np.zeros((0, 3)))).shape == (0, 3)


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda x: ops.dropout(x, 1.0), RuntimeError),
        (lambda x: ops.dropout(x, "a"), TypeError),
        (lambda x: ops.dropout(x, training=1), TypeError),
        (lambda x: ops.dropout(Tensor([1, 2])), TypeError),
        (lambda x: ops.dropout(3), TypeError),
        (lambda x: ops.Dropout(0.0)(x), RuntimeError),
        (lambda x: ops.Dropout(1.5), ValueError),
        (lambda x: ops.Dropout2D(1.5), ValueError),
        (lambda x: ops.Dropout2D()(x), ValueError),
        (lambda x: ops.dropout1d(tensor([1])), ValueError),
        (lambda x: ops.dropout2d(x), ValueError),
        (lambda x: ops.dropout2d(x, 1.5), ValueError),
    ],
)
def test_errors(call, error):
    with pytest.raises(error, match="(?i)for 'dropout"):
        call(tensor([[1, 2]]))


@pytest.fixture
def no_seed():
    """As in a process that has drawn nothing and set no seed."""
    before = seed.counts()
    seed.set_counts((None, 0, []))
    yield
    seed.set_counts(before)


def channels(out):
    """The kept channels as text."""
    return "".join("01"[bool(kept)] for kept in out.asnumpy().reshape(*out.shape[:2], -1)[:, :, 0].ravel())


def test_without_a_seed_the_channels_are_mindspores(no_seed):
    x, y, z = (tensor(np.ones(shape)) for shape in ((3, 7, 2, 2), (2, 9, 1, 2, 1), (4, 5, 3)))
    assert channels(ops.dropout2d(x, 0.3)) == "111101111110110011010"
    assert channels(ops.Dropout2D(keep_prob=0.7)(x)[0]) == "010111101111111011011"
    assert channels(ops.dropout2d(x, 0.8)) == "100000101100000010000"
    assert channels(ops.dropout3d(y, 0.4)) == "111001111100100011"
    assert channels(ops.dropout3d(y, 0.4)) == "010010111101111111"
    rows = [channels(ops.dropout1d(z, 0.25)) for _ in range(2)]
    assert rows == ["11110111111011101101", "00101111011111110110"]
    assert channels(ops.dropout2d(tensor(np.ones((4, 5, 3, 1))), 0.25)) == "11110110011111110011"
    set_seed(3)
    seeded = channels(ops.dropout2d(x, 0.3))
    set_seed(4)
    assert channels(ops.dropout2d(x, 0.3)) != seeded
    set_seed(3)
    assert channels(ops.dropout2d(x, 0.3)) == seeded


def test_without_a_seed_a_recomputed_block_drops_the_same_channels(no_seed):
    x = tensor(np.ones((6, 50, 1, 1)))
    slope = grad(lambda x: recompute(lambda x: ops.dropout2d(x * x, 0.5), x, use_reentrant=False))(x).asnumpy()
    seed.set_counts((None, 0, []))
    np.testing.assert_array_equal(slope, 2 * ops.dropout2d(x, 0.5).asnumpy())
