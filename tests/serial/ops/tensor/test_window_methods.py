"""Tensor's methods of windows, of order and of places over the whole tensor."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Tensor, ops

X = np.array([[1.0, 0, -2], [3, 4, 0.5]], np.float32)


def test_windows():
    x = Tensor(np.arange(32, dtype=np.float32).reshape(1, 2, 4, 4))
    size = Tensor([4, 4], ms.int32)
    np.testing.assert_array_equal(x.unfold(2).asnumpy(), ops.unfold(x, 2).asnumpy())
    np.testing.assert_array_equal(x.unfold(2).fold(size, 2).asnumpy(), ops.fold(ops.unfold(x, 2), size, 2).asnumpy())
    columns = ops.ones((1, 1, 4, 1)).col2im(Tensor([2, 2], ms.int32), [2, 2], [1, 1], [0, 0], [1, 1])
    np.testing.assert_array_equal(columns.asnumpy(), np.ones((1, 1, 2, 2)))


def test_order_and_places():
    x = Tensor(X)
    values, places = x.kthvalue(2)
    np.testing.assert_array_equal(values.asnumpy(), [0, 3])
    np.testing.assert_array_equal(places.asnumpy(), [1, 0])
    assert x.kthvalue(1, 0, True)[0].shape == (1, 3)
    np.testing.assert_array_equal(x.index([Tensor([0, 1]), Tensor([2, 0])]).asnumpy(), [-2, 3])
    with pytest.raises(TypeError, match="'indices' must be a tuple or list"):
        x.index(Tensor([0]))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int32])
def test_put(dtype):
    x = Tensor(X.astype(dtype))
    assert x.put_(Tensor([0, -1]), Tensor(np.array([9, 8], dtype))) is x
    wanted = X.astype(dtype)
    np.put(wanted, [0, -1], [9, 8])
    np.testing.assert_array_equal(x.asnumpy(), wanted)
    x.put_(Tensor([1, 1], ms.int32), Tensor(np.array([2, 3], dtype)), accumulate=True)
    wanted[0, 1] += 5
    np.testing.assert_array_equal(x.asnumpy(), wanted)


def test_put_has_a_gradient():
    def f(x, source):
        y = x * 2
        y.put_(Tensor([0, 5]), source)
        return (y * y).sum()

    by_x, by_source = ms.grad(f, (0, 1))(Tensor(X), Tensor([5.0, 7.0]))
    np.testing.assert_array_equal(by_x.asnumpy(), [[0, 0, -16], [24, 32, 0]])
    np.testing.assert_array_equal(by_source.asnumpy(), [10, 14])


@pytest.mark.parametrize(
    "index, source, accumulate, error",
    [
        (Tensor([0.5]), Tensor([1.0]), False, TypeError),
        (Tensor([0]), Tensor([1]), False, TypeError),
        (Tensor([0]), Tensor([1.0]), 1, TypeError),
        (Tensor([0, 1]), Tensor([1.0]), False, ValueError),
        (Tensor([6]), Tensor([1.0]), False, ValueError),
    ],
)
def test_put_refuses(index, source, accumulate, error):
    with pytest.raises(error, match="For 'put_'"):
        Tensor(X).put_(index, source, accumulate)


def test_fill_diagonal():
    x = Tensor(X.copy())
    assert x.fill_diagonal_(7.0) is x
    wanted = X.copy()
    np.fill_diagonal(wanted, 7)
    np.testing.assert_array_equal(x.asnumpy(), wanted)


def test_requires_grad():
    p = ms.Parameter(Tensor([1.0]), name="p")
    assert p.requires_grad_(False) is None and not p.requires_grad
    p.requires_grad_()
    assert p.requires_grad and Tensor([1.0]).requires_grad_() is None
    with pytest.raises(TypeError, match="must be bool, but got str"):
        p.requires_grad_("yes")
    assert Tensor([1.0]).wait_pipeline() is None
