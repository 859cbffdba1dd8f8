"""Gradients as operations: their arguments, their own gradients, and where they are called."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms.ops.backward import EluGrad, GeLUGrad, HShrinkGrad, MaximumGrad, ReluGrad


def test_they_are_primitives_with_options():
    op = HShrinkGrad(lambd=1.0)
    assert isinstance(op, ms.ops.Primitive) and op.name == "HShrinkGrad" and op.lambd == 1 == HShrinkGrad(1.0).lambd
    assert not hasattr(ms.ops, "HShrinkGrad")


def test_wrong_arguments_are_named():
    x = ms.Tensor([1.0, 2.0])
    with pytest.raises(TypeError, match=r"For 'HShrinkGrad', the arguments must be among \(lambd\), each once"):
        HShrinkGrad(lam=1.0)
    with pytest.raises(TypeError, match=r"For 'ReluGrad', the arguments must be among \(\), each once"):
        ReluGrad(1)
    with pytest.raises(TypeError, match="For 'ReluGrad', missing a required argument: 'x'"):
        ReluGrad()(x)
    with pytest.raises(TypeError, match="For 'ReluGrad', 'y_backprop' must be a Tensor, but got int"):
        ReluGrad()(1, x)
    with pytest.raises(ValueError, match=r"For 'GeLUGrad', 'dout' must be of the shape \(2,\)"):
        GeLUGrad()(ms.Tensor([1.0]), x, x)


def test_inside_no_grad():
    x = ms.Tensor([0.5, -0.5])
    wanted = GeLUGrad()(x, x, x).asnumpy()
    with ms._no_grad():
        assert np.array_equal(GeLUGrad()(x, x, x).asnumpy(), wanted)
        with pytest.raises(RuntimeError, match="no_grad"):
            ms.grad(ms.ops.relu)(x)


@pytest.mark.parametrize("op, forward", [(GeLUGrad(), ms.ops.GeLU()), (HShrinkGrad(), ms.ops.HShrink())])
def test_their_own_gradients(op, forward):
    x, dy = ms.Tensor(np.float64([0.7, -1.5])), ms.Tensor(np.float64([2.0, 3.0]))
    arguments = (dy, x, x) if isinstance(op, GeLUGrad) else (dy, x)
    got = ms.grad(lambda *a: op(*a).sum(), (0, 1))(*arguments)
    wanted = ms.grad(lambda d, v: (ms.grad(forward)(v) * d).sum(), (0, 1))(dy, x)
    for a, b in zip(got, wanted):
        assert np.allclose(a.asnumpy(), b.asnumpy())


def test_one_tensor_given_twice_gets_two_gradients():
    x = ms.Tensor([1.0, 2.0])
    dx, dy = MaximumGrad()(x, x, ms.Tensor([4.0, 2.0]))
    assert dx.asnumpy().tolist() == dy.asnumpy().tolist() == [2, 1]


def test_an_output_s_gradient():
    assert EluGrad()(ms.Tensor([2.0, 2.0]), ms.Tensor([-0.5, 0.5])).asnumpy().tolist() == [1, 2]
