"""Layers with distributed weights; the formulas are what MindSpore 2.10 gives on a CPU."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import nn, ops
from dist_ms.nn.probability import bnn_layers as bnn

X = ops.ones((4, 3))


def fix(layer, weight, bias=-20.0):
    for posterior, value in ((layer.weight_posterior, weight), (layer.bias_posterior, bias)):
        posterior.untransformed_std.set_data(ops.full(posterior.mean.shape, value))


def test_names_and_shapes():
    names = [(p.name, p.shape) for p in bnn.DenseReparam(3, 2).get_parameters()]
    assert names == [
        ("weight_posterior.mean", (2, 3)),
        ("weight_posterior.untransformed_std", (2, 3)),
        ("bias_posterior.mean", (2,)),
        ("bias_posterior.untransformed_std", (2,)),
    ]
    convolution = bnn.ConvReparam(1, 2, 3, has_bias=True)
    assert convolution(ops.ones((1, 1, 4, 4))).shape == (1, 2, 4, 4)
    assert [p.name for p in convolution.get_parameters()][:3] == ["weight", "bias", "weight_posterior.mean"]
    assert [p.name for p in bnn.NormalPosterior("w", (2, 3)).get_parameters()] == ["w_mean", "w_untransformed_std"]


@pytest.mark.parametrize("kind", [bnn.DenseReparam, bnn.DenseLocalReparam])
def test_spread_and_divergence(kind):
    ms.set_seed(3)
    layer = kind(3, 2)
    wanted = 0.0
    for q in (layer.weight_posterior, layer.bias_posterior):
        m, s = q.mean.asnumpy().astype(float), np.log1p(np.exp(q.untransformed_std.asnumpy().astype(float))) + 1e-6
        assert np.allclose(q("sd").asnumpy(), s)
        wanted += (np.log(s / 0.1) + (0.01 + m * m) / (2 * s * s) - 0.5).sum()
    assert np.isclose(float(layer.compute_kl_loss()), wanted, rtol=1e-3)
    fix(layer, -20.0)
    mean = layer.weight_posterior.mean.asnumpy().sum(1) + layer.bias_posterior.mean.asnumpy()
    assert np.allclose(layer(X).asnumpy(), mean, atol=1e-4)
    fix(layer, 0.0)
    drawn = np.stack([layer(X).asnumpy() for _ in range(400)])
    assert np.allclose(drawn.std(0), np.sqrt(3) * np.log(2), atol=0.2)
    assert (abs(np.corrcoef(drawn[:, 0, 0], drawn[:, 1, 0])[0, 1]) < 0.2) == (kind is bnn.DenseLocalReparam)


def test_a_loss_with_divergences_trains():
    layer = bnn.DenseReparam(3, 2, activation="relu")
    net = bnn.WithBNNLossCell(nn.SequentialCell(layer), nn.MSELoss(), 3.0, 0.5)
    fix(layer, -20.0)
    plain = nn.MSELoss()(net.backbone_network(X), ops.ones((4, 2))) * 3 + layer.compute_kl_loss() * 0.5
    assert np.isclose(float(net(X, ops.ones((4, 2)))), float(plain), rtol=1e-3)
    gradients = ms.grad(net, None, layer.trainable_params())(X, ops.ones((4, 2)))
    assert all(np.isfinite(g.asnumpy()).all() for g in gradients)
    assert bnn.NormalPrior()("log_prob", ms.Tensor([0.5])).asnumpy() == pytest.approx(-11.116353)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: bnn.DenseReparam(0, 2), ValueError),
        (lambda: bnn.DenseReparam(3, 2, has_bias=1), TypeError),
        (lambda: bnn.DenseReparam(3, 2, weight_posterior_fn=3), TypeError),
        (lambda: bnn.NormalPosterior("w", 3), TypeError),
        (lambda: bnn.NormalPosterior(3, (2,)), TypeError),
        (lambda: bnn.WithBNNLossCell(nn.ReLU(), nn.MSELoss(), "a"), TypeError),
    ],
)
def test_errors(call, error):
    with pytest.raises(error):
        call()
