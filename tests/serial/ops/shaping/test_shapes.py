"""reshaping.py, transposing.py, expanding.py: shapes, shared memory, errors."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import ops
from tests.serial.ops.compare import equal, same, tensor

C = np.arange(24.0).reshape(2, 3, 4)


def x():
    return ms.Tensor(C)


def test_reshape():
    for shape in ((4, 6), (4, -1), [24], (-1,), (2, 3, 4, 1), ms.Tensor([6, 4])):
        wanted = shape.asnumpy() if isinstance(shape, ms.Tensor) else shape
        same(ops.reshape(x(), shape), C.reshape(tuple(wanted)))
    equal(x().reshape(6, -1), C.reshape(6, -1))
    equal(x().view(6, 4), C.reshape(6, 4))
    assert ops.reshape(tensor([]), (-1, 0)).shape == (0, 0)
    assert ops.reshape(tensor([]), (0, 3)).shape == (0, 3)
    assert tensor([1.0], "float32").view(ms.int32).asnumpy() == 1065353216


@pytest.mark.parametrize(
    "shape, error",
    [
        ((5, 5), ValueError),
        ((-1, -1), ValueError),
        ((-2, 12), ValueError),
        ((2.0, 12), TypeError),
        ("ab", TypeError),
        (None, TypeError),
    ],
)
def test_reshape_errors(shape, error):
    with pytest.raises(error, match="For 'Reshape', 'shape' must"):
        ops.reshape(x(), shape)


def test_no_tensor():
    for fn in (
        lambda: ops.reshape([1], (1,)),
        lambda: ops.transpose(1, (0,)),
        lambda: ops.expand_dims(1, 0),
        lambda: ops.squeeze(1),
        lambda: ops.flatten([1]),
        lambda: ops.broadcast_to(1, (2,)),
    ):
        with pytest.raises(TypeError, match="must be a Tensor, but got (int|list)"):
            fn()


def test_dimensions_of_length_1():
    assert ops.expand_dims(x(), -1).shape == (2, 3, 4, 1)
    assert ops.unsqueeze(x(), 0).shape == x().unsqueeze(0).shape == (1, 2, 3, 4)
    y = ms.Tensor(C[:1, :1])
    assert ops.squeeze(y).shape == (4,)
    assert ops.squeeze(y, 0).shape == ops.Squeeze(-2)(y).shape == (1, 4)
    assert ops.squeeze(y, (0, 1)).shape == y.squeeze((0, 1)).shape == (4,)
    assert ops.squeeze(y, 2).shape == y.shape
    for fn in (lambda: ops.expand_dims(y, 5), lambda: ops.squeeze(y, 3), lambda: ops.squeeze(y, (0, 7))):
        with pytest.raises(ValueError, match="'axis' must be in the range"):
            fn()
    with pytest.raises(TypeError):
        ops.expand_dims(y, 1.0)


def test_flatten():
    equal(ops.flatten(x()), C.reshape(2, 12))
    equal(ops.flatten(x(), start_dim=0), C.reshape(-1))
    equal(ops.flatten(x(), start_dim=0, end_dim=1), C.reshape(6, 4))
    equal(ops.flatten(x(), "F"), C.transpose(2, 1, 0).reshape(4, 6))
    equal(x().flatten(), C.reshape(-1))
    equal(x().flatten(1), C.reshape(2, 12))
    equal(x().flatten("F"), C.flatten("F"))
    equal(ops.Flatten()(x()), C.reshape(2, 12))
    assert ops.flatten(ms.Tensor(1.0)).shape == ops.ravel(ms.Tensor(1.0)).shape == (1,)
    with pytest.raises(ValueError, match="'order' must be one of"):
        ops.flatten(x(), "K")
    with pytest.raises(TypeError, match="'order' must be a str"):
        ops.flatten(x(), 1)
    with pytest.raises(ValueError, match="'start_dim' must not come after 'end_dim'"):
        ops.flatten(x(), start_dim=2, end_dim=1)


def test_transpose():
    equal(ops.transpose(x(), (2, 0, 1)), C.transpose(2, 0, 1))
    equal(ops.Transpose()(x(), [-1, 0, 1]), C.transpose(2, 0, 1))
    equal(x().transpose(), C.T)
    equal(x().T, C.T)
    equal(x().transpose(0, 1), C.swapaxes(0, 1))
    equal(x().permute((1, 2, 0)), C.transpose(1, 2, 0))
    equal(x().mT, C.swapaxes(1, 2))
    equal(x().swapaxes(0, -1), C.swapaxes(0, -1))
    equal(ops.swapdims(x(), 1, 1), C)
    equal(ops.movedim(x(), 0, 2), np.moveaxis(C, 0, 2))
    equal(ops.moveaxis(x(), (0, 1), (-1, 0)), np.moveaxis(C, (0, 1), (-1, 0)))
    equal(ops.t(ms.Tensor(C[0])), C[0].T)
    equal(ops.t(ms.Tensor(C[0, 0])), C[0, 0])
    equal(ops.adjoint(tensor([[1j, 2]])), [[-1j], [2]])
    equal(tensor([[1j, 2]]).H, [[-1j], [2]])


@pytest.mark.parametrize(
    "fn",
    [
        lambda: ops.transpose(x(), (0, 1)),
        lambda: ops.transpose(x(), (0, 0, 1)),
        lambda: ops.transpose(x(), (0, 1, 3)),
        lambda: ops.swapaxes(x(), 0, 3),
        lambda: ops.movedim(x(), 0, 4),
        lambda: ops.movedim(x(), (0, 0), (1, 2)),
        lambda: ops.movedim(x(), (0, 1), 0),
        lambda: x().H,
        lambda: ops.adjoint(tensor([1.0])),
    ],
)
def test_transpose_errors(fn):
    with pytest.raises(ValueError, match="For '"):
        fn()


def test_expanding():
    b = np.array([1.0, 2, 3])
    equal(ops.broadcast_to(ms.Tensor(b), (2, 3)), np.broadcast_to(b, (2, 3)))
    equal(ops.BroadcastTo((2, -1))(ms.Tensor(b)), np.broadcast_to(b, (2, 3)))
    equal(ms.Tensor(b).expand(2, 3), np.broadcast_to(b, (2, 3)))
    equal(ops.expand(ms.Tensor(b), ms.Tensor([2, 3])), np.broadcast_to(b, (2, 3)))
    equal(ops.expand_as(ms.Tensor(b), tensor(np.zeros((2, 3)))), np.broadcast_to(b, (2, 3)))
    for shape in ((-1, 3), (2, 4), ()):
        with pytest.raises(ValueError, match="For 'BroadcastTo'"):
            ops.broadcast_to(ms.Tensor(b), shape)
    equal(ms.Tensor([[1.0, 2], [3, 4]]).sum_to_size(1, 2), [[4, 6]])


def test_memory_is_shared():
    for view in (
        lambda t: t.reshape(-1),
        lambda t: t.T,
        lambda t: t[0],
        lambda t: t.squeeze(),
        lambda t: t.expand_dims(0),
        lambda t: t.swapaxes(0, 1),
        lambda t: t.split(1)[0],
        lambda t: t.diagonal(),
        lambda t: t.flatten(),
        lambda t: ops.stop_gradient(t),
        lambda t: t.unbind()[0],
        lambda t: t.chunk(2)[0],
        lambda t: t.view(4, 1),
    ):
        t = tensor([[1.0, 2], [3, 4]])
        view(t)[..., 0] = 9
        assert t.asnumpy()[0, 0] == 9
    t = tensor([[1.0, 2], [3, 4]])
    for copy in (
        lambda t: t.copy(),
        lambda t: t.clone(),
        lambda t: ops.Identity()(t),
        lambda t: t.flip((0,)),
        lambda t: t + 0,
    ):
        copy(t)[0, 0] = 9
        assert t.asnumpy()[0, 0] == 1


def test_at_least():
    assert [
        ops.atleast_1d(ms.Tensor(1)).shape,
        ops.atleast_2d(tensor([1])).shape,
        ops.atleast_3d(tensor([[1, 2]])).shape,
    ] == [(1,), (1, 1), (1, 2, 1)]
    assert [t.shape for t in ops.atleast_2d([ms.Tensor(1), tensor([[1]])])] == [(1, 1), (1, 1)]
    assert ops.view_as(x(), tensor(np.zeros((6, 4)))).shape == (6, 4)
