"""Clipping and loss scales inside the optimizer's pass: the bits of clipping first, and nothing made."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Tensor, nn, ops
from dist_ms.common.tensor import wrap
from dist_ms.common.tensor.scaled import pending

SHAPES = [(40, 30), (7,), (1,), (0, 3), (2, 3, 3, 3), (20000,)]
OPTIMIZERS = {
    "Momentum": lambda p, s: nn.Momentum(p, 0.05, 0.9, weight_decay=1e-3, loss_scale=s),
    "SGD": lambda p, s: nn.SGD(p, 0.05, loss_scale=s),
    "Adam": lambda p, s: nn.Adam(p, 1e-2, weight_decay=1e-3, loss_scale=s),
    "AdamWeightDecay": lambda p, s: nn.AdamWeightDecay(p, 1e-2, weight_decay=1e-2),
    "Adagrad": lambda p, s: nn.Adagrad(p, learning_rate=0.05, loss_scale=s),
    "RMSProp": lambda p, s: nn.RMSProp(p, 0.01, centered=True, loss_scale=s),
    "FTRL": lambda p, s: nn.FTRL(p, learning_rate=0.05, loss_scale=s),
    "Lamb": lambda p, s: nn.Lamb(p, 0.01),
    "LazyAdam": lambda p, s: nn.LazyAdam(p, 1e-2, loss_scale=s),
    "ProximalAdagrad": lambda p, s: nn.ProximalAdagrad(p, learning_rate=0.05, loss_scale=s),
    "Adadelta, a rule in NumPy": lambda p, s: nn.Adadelta(p, 0.5, loss_scale=s),
    "centralized": lambda p, s: nn.Adam([{"params": p, "grad_centralization": True}], 1e-2, loss_scale=s),
}


def parameters(dtype=np.float32):
    random = np.random.default_rng(0)
    return [ms.Parameter(random.standard_normal(s).astype(dtype), name=f"w{i}") for i, s in enumerate(SHAPES)]


def gradients(seed):
    random = np.random.default_rng(seed)
    return [random.standard_normal(s).astype(np.float32) for s in SHAPES]


@pytest.mark.parametrize("loss_scale", [1.0, 1024.0])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_steps_have_the_bits_of_clipping_first(name, loss_scale):
    late, first = parameters(), parameters()
    late_step, first_step = (OPTIMIZERS[name](p, loss_scale) for p in (late, first))
    for seed in range(4):
        grads = gradients(seed)
        norm = np.sqrt(sum((g.astype(np.float64) ** 2).sum() for g in grads))
        factor = np.float32(3) / np.maximum(np.float32(norm), np.float32(3))
        clipped = ops.clip_by_global_norm([Tensor(g) for g in grads], 3.0)
        assert all(pending(g) is not None for g in clipped)
        late_step(clipped)
        first_step(tuple(wrap(g * factor) for g in grads))
    for a, b in zip(late, first):
        assert a.asnumpy().tobytes() == b.asnumpy().tobytes()


def test_an_optimizer_makes_nothing():
    weights = parameters()
    for make in (lambda: nn.Adam(weights, 1e-3), lambda: nn.Momentum(weights, 0.1, 0.9, loss_scale=8.0)):
        clipped = ops.clip_by_global_norm([Tensor(g) for g in gradients(1)], 1.0)
        make()(clipped)
        assert all(pending(g) is not None for g in clipped)
        np.testing.assert_allclose(np.sqrt(sum((g.asnumpy() ** 2).sum() for g in clipped)), 1, rtol=1e-6)


def test_gradients_of_another_type_and_layout():
    whole = parameters()
    half = [ms.Parameter(p.asnumpy().astype(np.float16), name=p.name) for p in whole]
    grads = gradients(2)
    nn.SGD(whole, 1.0)(ops.clip_by_global_norm([Tensor(g) for g in grads], 1.0))
    nn.SGD(half, 1.0)(ops.clip_by_global_norm([Tensor(g) for g in grads], 1.0))
    for a, b in zip(whole, half):
        np.testing.assert_allclose(a.asnumpy(), b.asnumpy(), atol=4e-3)
    last, weight = Tensor(np.moveaxis(grads[4], 1, -1).copy()), whole[4].asnumpy().copy()
    channels_last = wrap(np.moveaxis(last.asnumpy(), -1, 1))
    del last
    nn.SGD([whole[4]], 1.0)(ops.clip_by_global_norm([channels_last], 1.0))
    np.testing.assert_allclose(whole[4].asnumpy(), weight - grads[4] / np.linalg.norm(grads[4]), rtol=1e-5, atol=1e-7)


def test_weights_that_are_not_contiguous_take_the_clipped_gradient():
    weight = ms.Parameter(np.ones((4, 6), np.float32), name="w")
    weight._data = np.ones((6, 4), np.float32).T
    nn.SGD([weight], 1.0)(ops.clip_by_global_norm([Tensor(np.full((4, 6), 2.0, np.float32))], 24**0.5))
    np.testing.assert_allclose(weight.asnumpy(), np.zeros((4, 6)), atol=1e-6)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_norm_that_is_not_finite_spoils_what_it_spoiled_before(bad):
    grads = [np.array([1.0, bad], np.float32), np.ones(2, np.float32)]
    a, b = ops.clip_by_global_norm([Tensor(g) for g in grads], 1.0)
    assert np.isnan(a.asnumpy()[1]) and b.asnumpy().tolist() == (
        [0, 0] if bad == np.inf else pytest.approx([bad] * 2, nan_ok=True)
    )


def step_with_loss_scale(scale):
    net = nn.Dense(3, 2, weight_init="ones", bias_init="zeros")
    update = nn.DynamicLossScaleUpdateCell(scale, 2, 1000)
    step = nn.TrainOneStepWithLossScaleCell(
        nn.WithLossCell(net, nn.MSELoss()), nn.Adam(net.trainable_params(), 0.1), update
    )
    return net, step


def test_a_loss_scale_is_taken_off_in_the_pass(monkeypatch):
    seen = []
    before = nn.Adam.construct
    monkeypatch.setattr(nn.Adam, "construct", lambda self, g: (seen.extend(map(pending, g)), before(self, g))[1])
    x, y = Tensor(np.ones((4, 3), np.float32)), Tensor(np.zeros((4, 2), np.float32))
    found = []
    for scale in (1.0, 2.0**12):
        net, step = step_with_loss_scale(scale)
        for _ in range(3):
            _, overflow, _ = step(x, y)
            assert not overflow.asnumpy()
        found.append([p.asnumpy().tobytes() for p in net.trainable_params()])
    assert found[0] == found[1]
    assert {factor for _, factor in seen} == {1.0, 2.0**-12}


@pytest.mark.parametrize("scale", [2.0**12, 1e-30])
def test_an_overflow_is_found_before_and_after_the_division(scale):
    _, step = step_with_loss_scale(scale)
    grads = [Tensor([1e20]), Tensor([1.0])]
    unscaled = [step._unscaled(g, Tensor(np.float32(scale))) for g in grads]
    assert bool(step.get_overflow_status(None, unscaled).asnumpy()) == (scale < 1)
    assert bool(step.get_overflow_status(None, [Tensor([np.inf])]).asnumpy())
