"""DropoutExt, Dropout2dExt, LayerNormExt, PReLUExt, and the layers on sparse tensors."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Tensor, ops
from dist_ms.nn.layer.extended.layers import Dropout2dExt, DropoutExt, LayerNormExt, PReLUExt
from dist_ms.nn.layer.mathematics.sparse_products import SparseTensorDenseMatmul, SparseToDense

F = np.float32


def rand(*shape):
    return Tensor(np.random.RandomState(sum(shape)).randn(*shape).astype(F))


def test_dropout():
    x = ops.ones((20, 30, 4, 4))
    for layer in (DropoutExt(0.25), Dropout2dExt(0.25)):
        assert layer(x) is x
        out = layer.set_train()(x).asnumpy()
        assert set(np.unique(out)) == {F(0), F(1) / F(0.75)} and abs((out == 0).mean() - 0.25) < 0.06
        whole = (out == out[:, :, :1, :1]).all(axis=(2, 3)).mean()
        assert whole == 1 if isinstance(layer, Dropout2dExt) else whole < 0.1
        layer.p = 1
        assert (layer(x).asnumpy() == 0).all()
        layer.p = 2
        with pytest.raises(ValueError, match="'p'"):
            layer(x)
    kept = ops.ones((100,))
    assert DropoutExt(0.5, inplace=True).set_train()(kept) is kept and (kept == 0).any()
    assert repr(DropoutExt()) == "DropoutExt()" and repr(Dropout2dExt(0.3)) == "Dropout2dExt()"


def test_layer_norm():
    x = rand(2, 3, 4)
    y = x.asnumpy()
    net = LayerNormExt((3, 4), eps=1e-3)
    wanted = (y - y.mean((1, 2), keepdims=True)) / np.sqrt(y.var((1, 2), keepdims=True) + 1e-3)
    np.testing.assert_allclose(net(x).asnumpy(), wanted, atol=1e-5)
    net.weight.set_data(rand(3, 4))
    net.bias.set_data(rand(4, 3).reshape((3, 4)))
    scaled = wanted * net.weight.asnumpy() + net.bias.asnumpy()
    np.testing.assert_allclose(net(x).asnumpy(), scaled, atol=1e-5)
    assert [(p.name, p.shape) for p in net.get_parameters()] == [("weight", (3, 4)), ("bias", (3, 4))]
    assert [p.name for p in LayerNormExt([4], bias=False).get_parameters()] == ["weight"]
    bare = LayerNormExt(4, elementwise_affine=False)
    assert list(bare.get_parameters()) == [] and bare(x).shape == x.shape
    assert repr(bare) == "LayerNormExt(normalized_shape=(4,), eps=1e-05, elementwise_affine=False)"
    for error, shape in [(TypeError, "a"), (ValueError, ()), (TypeError, (2.0,))]:
        with pytest.raises(error):
            LayerNormExt(shape)


def test_prelu():
    x = rand(2, 3, 4)
    y = x.asnumpy()
    np.testing.assert_allclose(PReLUExt()(x).asnumpy(), np.where(y > 0, y, 0.25 * y), rtol=1e-6)
    net = PReLUExt(3, 0.1)
    np.testing.assert_allclose(net(x).asnumpy(), np.where(y > 0, y, 0.1 * y), rtol=1e-6)
    assert [(p.name, p.shape) for p in net.get_parameters()] == [("weight", (3,))] and repr(net) == "PReLUExt()"


def test_sparse_products():
    indices, values = Tensor([[0, 1], [1, 2]], ms.int32), Tensor([1.0, 2.0])
    dense = np.zeros((3, 4), F)
    dense[0, 1], dense[1, 2] = 1, 2
    assert (SparseToDense()(ms.COOTensor(indices, values, (3, 4))).asnumpy() == dense).all()
    other = rand(4, 2)
    found = SparseTensorDenseMatmul()(indices, values, (3, 4), other)
    np.testing.assert_allclose(found.asnumpy(), dense @ other.asnumpy(), rtol=1e-6)
    found = SparseTensorDenseMatmul(True, True)(indices, values, (3, 4), rand(2, 3))
    np.testing.assert_allclose(found.asnumpy(), dense.T @ rand(2, 3).asnumpy().T, rtol=1e-6)
