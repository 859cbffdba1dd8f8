"""Model: gradients that are accumulated over parts of a batch, and clipped."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import nn
from dist_ms.amp import DynamicLossScaleManager, FixedLossScaleManager
from dist_ms.train import LambdaCallback, Model
from tests.serial.train.model_cases import batches, network


def trained(data, **options):
    net, losses = network(), []
    keep = LambdaCallback(on_train_step_end=lambda c: losses.append(c.original_args().net_outputs))
    Model(net, nn.MSELoss(), nn.Momentum(net.trainable_params(), 0.01, 0.9), **options).train(2, data, callbacks=keep)
    losses = [float((loss[0] if isinstance(loss, tuple) else loss).asnumpy()) for loss in losses]
    return [p.asnumpy() for p in net.trainable_params()], losses


@pytest.mark.parametrize("manager", [None, FixedLossScaleManager(8.0, False), DynamicLossScaleManager(16, 2, 100)])
@pytest.mark.parametrize("norm", [None, 0.25])
def test_parts_of_a_batch_train_like_the_whole(manager, norm):
    options = {"gradient_clip_norm": norm, "loss_scale_manager": manager}
    expected, losses = trained(batches(3), **options)
    found, found_losses = trained(batches(3), gradient_accumulation_steps=4, **options)
    for a, b in zip(found, expected):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(found_losses, losses, rtol=1e-5)


def test_a_step_is_no_longer_than_the_norm():
    net = network()
    before = [p.asnumpy().copy() for p in net.trainable_params()]
    model = Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 1.0), gradient_clip_norm=0.125)
    model.train(1, batches(1))
    moved = np.concatenate([(p.asnumpy() - old).ravel() for p, old in zip(net.trainable_params(), before)])
    assert np.linalg.norm(moved) == pytest.approx(0.125, rel=1e-5)


def test_the_norm_is_that_without_the_scale_of_the_loss():
    net = network()
    before = [p.asnumpy().copy() for p in net.trainable_params()]
    optimizer = nn.Momentum(net.trainable_params(), 1.0, 0.9, loss_scale=8.0)
    manager = FixedLossScaleManager(8.0, False)
    model = Model(net, nn.MSELoss(), optimizer, gradient_clip_norm=0.125, loss_scale_manager=manager)
    model.train(1, batches(1))
    moved = np.concatenate([(p.asnumpy() - old).ravel() for p, old in zip(net.trainable_params(), before)])
    assert np.linalg.norm(moved) == pytest.approx(0.125, rel=1e-5)


def test_mixed_precision_computes_the_loss_of_the_parts_in_float32():
    found = trained(batches(2), gradient_accumulation_steps=2, gradient_clip_norm=1.0, amp_level="O3")
    expected = trained(batches(2), gradient_clip_norm=1.0, amp_level="O3")
    for a, b in zip(found[0], expected[0]):
        np.testing.assert_allclose(a, b, rtol=0, atol=2e-2)


@pytest.mark.parametrize(
    "options, kind, words",
    [
        ({"gradient_accumulation_steps": 0}, ValueError, "'gradient_accumulation_steps'"),
        ({"gradient_accumulation_steps": 2.0}, TypeError, "'gradient_accumulation_steps'"),
        ({"gradient_clip_norm": 0}, ValueError, "'gradient_clip_norm' must be positive"),
        ({"gradient_clip_norm": "1"}, TypeError, "'gradient_clip_norm'"),
        ({"gradient_clip_norm": float("nan")}, ValueError, "'gradient_clip_norm' must be positive"),
        ({"gradient_clip_norm": float("inf")}, ValueError, "'gradient_clip_norm' must be positive"),
    ],
)
def test_values_that_are_refused(options, kind, words):
    net = network()
    with pytest.raises(kind, match=words):
        Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.1), **options)


@pytest.mark.parametrize("options", [{"gradient_accumulation_steps": 2}, {"gradient_clip_norm": 1.0}])
def test_what_they_cannot_be_combined_with(options, monkeypatch):
    net = network()
    with pytest.raises(ValueError, match="'optimizer' must not be None"):
        Model(net, nn.MSELoss(), **options)
    optimizer = nn.SGD(net.trainable_params(), 0.1)
    net.weight.is_param_ps = True
    monkeypatch.setattr("dist_ms.train.model.is_worker", lambda: True)
    with pytest.raises(ValueError, match="a server updates 'weight'"):
        Model(net, nn.MSELoss(), optimizer, **options)


def test_a_network_in_parts_is_not_cut_again():
    net = nn.GradAccumulationCell(nn.WithLossCell(network(), nn.MSELoss()), 2)
    with pytest.raises(ValueError, match="has a GradAccumulationCell already"):
        Model(net, None, nn.SGD(net.trainable_params(), 0.1), gradient_accumulation_steps=2)


def test_a_batch_that_cannot_be_cut_evenly():
    with pytest.raises(ValueError, match="must be a multiple of 3"):
        trained([(ms.ops.ones((4, 2)), ms.ops.ones((4, 1)))], gradient_accumulation_steps=3)
