"""Fewer BatchNorms: the last Dense is normalised, and the network noted."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import boost, nn
from tests.serial.boost.recorded import HEAD


def test_the_normalised_head_gives_what_mindspore_gives():
    net = boost.CommonHeadLastFN(3, 2, weight_init=ms.Tensor(HEAD["weight"]), bias_init="ones")
    x = ms.Tensor(HEAD["x"])
    np.testing.assert_allclose(net(x).asnumpy(), HEAD["out"], rtol=1e-6)
    grads = ms.grad(lambda x: net(x).sum(), None, net.trainable_params())(x)
    assert [p.name for p in net.trainable_params()] == ["weight", "multiplier", "bias"]
    for found, wanted in zip(grads, HEAD["grads"]):
        np.testing.assert_allclose(found.asnumpy(), wanted, rtol=1e-5, atol=1e-6)


def test_the_last_dense_of_each_level_is_replaced():
    inner = nn.SequentialCell(nn.Dense(3, 3), nn.Dense(3, 3))
    net = nn.SequentialCell(nn.Dense(2, 3), inner, nn.Dense(3, 2), nn.ReLU())
    weight = net[2].weight.asnumpy().copy()
    made = boost.LessBN(net, fn_flag=True)
    assert [type(c).__name__ for c in net] == ["Dense", "SequentialCell", "CommonHeadLastFN", "ReLU"]
    assert [type(c).__name__ for c in inner] == ["Dense", "CommonHeadLastFN"]
    np.testing.assert_array_equal(net[2].weight.asnumpy(), weight)
    assert net[2].weight.name == "2.weight" and not net[2].has_bias
    assert made.network is net and net[0].get_flags()["less_bn"] is True
    x = np.array([[1.0, 2.0]], np.float32)
    hidden = inner(net[0](ms.Tensor(x))).asnumpy()
    unit = lambda a: a / np.linalg.norm(a, axis=1, keepdims=True)  # noqa: E731
    wanted = np.maximum(unit(hidden) @ unit(weight).T, 0)
    np.testing.assert_allclose(made(ms.Tensor(x)).asnumpy(), wanted, rtol=1e-5)


def test_a_network_is_changed_once():
    net = nn.SequentialCell(nn.Dense(2, 2))
    boost.LessBN(net)
    assert type(net[0]) is nn.Dense
    boost.LessBN(net, fn_flag=True)
    assert type(net[0]) is nn.Dense
    with pytest.raises(TypeError, match="'network' .*LessBN|For 'LessBN', 'network'"):
        boost.LessBN(None)
