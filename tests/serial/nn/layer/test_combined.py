"""Conv2dBnAct and DenseBnAct are their parts one after the other."""

import numpy as np
import pytest

from dist_ms import Tensor, nn, ops
from dist_ms.nn.layer.combined import Conv2dBnAct, DenseBnAct

F = np.float32


def rand(*shape):
    return Tensor(np.random.RandomState(sum(shape)).randn(*shape).astype(F))


def test_conv():
    x = rand(2, 3, 5, 5)
    plain = Conv2dBnAct(3, 4, 3, stride=2, pad_mode="pad", padding=1)
    assert [p.name for p in plain.get_parameters()] == ["conv.weight"]
    assert (plain(x) == plain.conv(x)).all() and plain(x).shape == (2, 4, 3, 3)
    assert not plain.has_bn and not plain.has_act
    assert 0.005 < plain.conv.weight.asnumpy().std() < 0.02
    net = Conv2dBnAct(3, 4, 3, has_bias=True, has_bn=True, momentum=0.9, eps=1e-3, activation="relu").set_train()
    names = [
        "conv.weight",
        "conv.bias",
        *(f"batchnorm.{n}" for n in ("moving_mean", "moving_variance", "gamma", "beta")),
    ]
    assert [p.name for p in net.get_parameters()] == names
    norm = nn.BatchNorm2d(4, 1e-3, 0.9).set_train()
    wanted = ops.relu(norm(net.conv(x)))
    assert (net(x) == wanted).all() and (net.batchnorm.moving_mean == norm.moving_mean).all()


def test_dense():
    x = rand(6, 3)
    for activation, function in [
        (None, lambda y: y),
        ("leakyrelu", lambda y: ops.leaky_relu(y, 0.3)),
        ("sigmoid", ops.sigmoid),
        (nn.Tanh(), ops.tanh),
        (ops.ReLU(), ops.relu),
    ]:
        net = DenseBnAct(3, 4, activation=activation, alpha=0.3)
        np.testing.assert_allclose(net(x).asnumpy(), function(net.dense(x)).asnumpy(), rtol=1e-6)
        assert net.has_act == (activation is not None)
    net = DenseBnAct(3, 4, has_bias=False, has_bn=True, weight_init="ones")
    assert [p.name for p in net.trainable_params()] == ["dense.weight", "batchnorm.gamma", "batchnorm.beta"]
    np.testing.assert_allclose(net(x).asnumpy(), np.repeat(x.asnumpy().sum(1, keepdims=True), 4, 1), rtol=1e-4)
    assert np.abs(net.set_train()(x).asnumpy().mean(0)).max() < 1e-5


@pytest.mark.parametrize("make", [DenseBnAct, lambda *a, **k: Conv2dBnAct(*a, 3, **k)], ids=["dense", "conv"])
def test_errors(make):
    for error, text, options in [
        (TypeError, "has_bn", {"has_bn": 1}),
        (TypeError, "after_fake", {"after_fake": 1}),
        (TypeError, "has_bias", {"has_bias": 1}),
        (TypeError, "activation", {"activation": 3}),
        (KeyError, "zz", {"activation": "zz"}),
    ]:
        with pytest.raises(error, match=text):
            make(3, 4, **options)
    with pytest.raises(ValueError, match="in_channels"):
        make(0, 4)
