"""The layers for Thor: what they return, and the matrices they collect."""

import numpy as np

import dist_ms as ms
from dist_ms import Tensor, ops
from dist_ms.nn.layer.thor import DenseThor, EmbeddingLookupThor, EmbeddingThor

F = np.float32
IDS = Tensor(np.array([[1, 2, 2]], np.int32))


def rand(*shape):
    return np.random.RandomState(sum(shape)).randn(*shape).astype(F)


def test_dense():
    net, x = DenseThor(3, 4, activation="relu"), rand(2, 3)
    shapes = {"weight": (4, 3), "bias": (4,), "matrix_a": (3, 3), "matrix_g": (4, 4)}
    assert {p.name: p.shape for p in net.get_parameters()} == shapes
    assert [p.name for p in net.trainable_params()] == ["weight", "bias"]
    assert (net.matrix_a.asnumpy() == np.eye(3)).all() and (net.matrix_g.asnumpy() == np.eye(4)).all()
    before = x @ net.weight.asnumpy().T + net.bias.asnumpy()
    np.testing.assert_allclose(net(Tensor(x)).asnumpy(), np.maximum(before, 0), atol=1e-6)
    np.testing.assert_allclose(net.matrix_a.asnumpy(), x.T @ x / 3, rtol=1e-5, atol=1e-6)
    ms.grad(lambda x: ops.sum(net(x)))(Tensor(x))
    dout = (before > 0).astype(F)
    np.testing.assert_allclose(net.matrix_g.asnumpy(), dout.T @ dout / 2, rtol=1e-6)
    net.thor = False
    net(Tensor(x * 2))
    np.testing.assert_allclose(net.matrix_a.asnumpy(), x.T @ x / 3, rtol=1e-5, atol=1e-6)
    assert repr(net) == ("DenseThor(\n  input_channels=3, output_channels=4, has_bias=True\n  (activation): ReLU()\n)")


def test_embedding():
    net = EmbeddingThor(5, 4)
    assert {p.name: p.shape for p in net.get_parameters()} == {
        "embedding_table": (5, 4),
        "matrix_a": (5,),
        "matrix_g": (4, 4),
    }
    weights = rand(1, 3, 4)
    dtable = ms.grad(lambda: ops.sum(net(IDS) * Tensor(weights)), None, net.trainable_params())()
    np.testing.assert_array_equal(net.matrix_a.asnumpy(), [0, 1, 2, 0, 0])
    np.testing.assert_allclose(net.matrix_g.asnumpy(), weights[0].T @ weights[0] / 3, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(dtable[0].asnumpy()[2], weights[0, 1:].sum(0), rtol=1e-6)
    assert (net(IDS)[0, 1] == net.embedding_table[2]).all()
    hot = EmbeddingThor(5, 4, use_one_hot=True)
    assert (hot(IDS)[0, 1] == hot.embedding_table[2]).all() and (hot.matrix_a.asnumpy() == 0).all()


def test_embedding_lookup():
    net = EmbeddingLookupThor(5, 4)
    assert net(IDS).dtype == ms.float16 and net(IDS).shape == (1, 3, 4) and (net.matrix_a.asnumpy() == 0).all()
    net = EmbeddingLookupThor(5, 4, target="DEVICE")
    ms.grad(lambda: ops.sum(net(IDS)), None, net.trainable_params())()
    np.testing.assert_array_equal(net.matrix_a.asnumpy(), [0, 1, 2, 0, 0])
    np.testing.assert_array_equal(net.matrix_g.asnumpy(), np.full((4, 4), 3))
