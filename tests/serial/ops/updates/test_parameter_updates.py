"""The primitives that take an optimizer's step, against the formulas in float64."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import ops

RNG = np.random.RandomState(3)
W, S, U, Z = (RNG.rand(3, 2).astype(np.float32) + 0.3 for _ in range(4))
G = RNG.randn(3, 2).astype(np.float32)


def par(a):
    return ms.Parameter(ms.Tensor(a.copy()))


def close(found, wanted):
    np.testing.assert_allclose(found.asnumpy(), wanted, rtol=2e-5, atol=2e-6)


def test_adam_updates_in_place_and_returns_all():
    w, m, v = par(W), par(S), par(U)
    memory = w.asnumpy()
    out = ops.Adam()(w, m, v, 0.8, 0.9, 0.1, 0.8, 0.9, 1e-3, ms.Tensor(G))
    m2, v2 = 0.8 * S + 0.2 * G, 0.9 * U + 0.1 * G * G
    close(w, W - 0.1 * np.sqrt(0.1) / 0.2 * m2 / (np.sqrt(v2) + 1e-3))
    close(out[1], m2), close(v, v2)
    np.testing.assert_array_equal(memory, w.asnumpy())


def test_adam_no_update_param_returns_the_step():
    w, m, v = par(W), par(S), par(U)
    numbers = (0.8, 0.9, 0.1, 0.8, 0.9, 1e-3, ms.Tensor(G))
    step = ops.AdamNoUpdateParam()(par(S), par(U), *numbers)
    ops.Adam()(w, m, v, *numbers)
    close(step, w.asnumpy() - W)


def test_amsgrad_keeps_the_largest_mean():
    w, m, v, h = par(W), par(S), par(U), par(Z)
    ops.ApplyAdamWithAmsgradV2()(w, m, v, h, 0.8, 0.9, 0.1, 0.8, 0.9, 1e-3, ms.Tensor(G))
    close(h, np.maximum(Z, v.asnumpy()))


@pytest.mark.parametrize(("stat", "wanted"), [(1.0, G + 0.2 * W), (0.0, 0.9 * S + 0.9 * (G + 0.2 * W))])
def test_sgd_velocity(stat, wanted):
    w, a, s = par(W), par(S), par(np.full_like(W, stat))
    out = ops.SGD(dampening=0.1, weight_decay=0.2)(w, ms.Tensor(G), ms.Tensor(0.1), a, ms.Tensor(0.9), s)
    close(a, wanted), close(out, W - 0.1 * wanted)
    assert not s.asnumpy().any()


def test_sgd_clears_what_was_positive_of_stat():
    w, a, s = par(W[:, 0]), par(S[:, 0]), par(np.array([1.5, -0.3, 0])[: len(W)])
    ops.SGD()(w, ms.Tensor(G[:, 0]), ms.Tensor(0.1), a, ms.Tensor(0.5), s)
    (
        close(s, np.array([0, -0.3, 0])[: len(W)]),
        close(a, np.where(np.arange(len(W)) == 0, G[:, 0], 0.5 * S[:, 0] + G[:, 0])),
    )


def test_momentum_and_rmsprop_return_the_weights():
    w, a = par(W), par(S)
    close(ops.ApplyMomentum()(w, a, 0.1, ms.Tensor(G), 0.9), W - 0.1 * (0.9 * S + G))
    w, s, a = par(W), par(S), par(U)
    close(
        ops.ApplyRMSProp()(w, s, a, 0.1, ms.Tensor(G), 0.9, 0.8, 1e-3),
        W - (0.8 * U + 0.1 * G / np.sqrt(0.9 * S + 0.1 * G * G + 1e-3)),
    )


@pytest.mark.parametrize("slots", [True, False])
def test_adagrad_update_slots(slots):
    w, a = par(W), par(S)
    ops.ApplyAdagradV2(0.1, update_slots=slots)(w, a, 0.5, ms.Tensor(G))
    total = S + G * G * slots
    close(a, total), close(w, W - 0.5 * G / (np.sqrt(total) + 0.1))


def test_proximal_step_stops_at_zero():
    w = par(np.array([0.1, -1.0], np.float32))
    ops.ApplyProximalGradientDescent()(w, 0.5, 1.0, 2.0, ms.Tensor(np.zeros(2, np.float32)))
    close(w, [0.0, -0.25])


def test_ftrl_is_zero_where_the_linear_term_is_small():
    w, a, z = par(W), par(S), par(np.zeros_like(S))
    ops.ApplyFtrl()(w, a, z, ms.Tensor(G * 0.01), 1.0, 100.0, 0.0, -0.5)
    assert not w.asnumpy().any()


ROWS = np.array([2, 0, 2], np.int32)


def test_fused_rows_add_gradients_and_sparse_rows_take_turns():
    w, a, w2, a2 = par(W), par(S), par(W), par(S)
    ops.FusedSparseProximalAdagrad()(w, a, 0.1, 0.0, 0.0, ms.Tensor(G), ms.Tensor(ROWS))
    close(a, S + [G[1] ** 2, [0, 0], (G[0] + G[2]) ** 2])
    ops.SparseApplyAdagradV2(0.1, 1e-6)(w2, a2, ms.Tensor(G), ms.Tensor(ROWS))
    close(a2, S + [G[1] ** 2, [0, 0], G[0] ** 2 + G[2] ** 2])
    np.testing.assert_array_equal(w.asnumpy()[1], W[1])


def test_lazy_adam_leaves_other_rows_alone_and_adam_does_not():
    numbers = (0.8, 0.9, 0.1, 0.8, 0.9, 1e-3)
    lazy, full, plain = ([par(W), par(S), par(U)] for _ in range(3))
    ops.FusedSparseLazyAdam()(*lazy, *numbers, ms.Tensor(G), ms.Tensor(ROWS))
    ops.FusedSparseAdam()(*full, *numbers, ms.Tensor(G), ms.Tensor(ROWS))
    dense = np.stack([G[1], np.zeros(2, np.float32), G[0] + G[2]])
    ops.Adam()(*plain, *numbers, ms.Tensor(dense))
    for a, b, c, old in zip(lazy, full, plain, (W, S, U)):
        close(b, c.asnumpy())
        close(a, np.stack([c.asnumpy()[0], old[1], c.asnumpy()[2]]))


def test_arguments_are_checked():
    with pytest.raises(ValueError, match="'grad' must have shape"):
        ops.ApplyAdagrad()(par(W), par(S), 0.1, ms.Tensor(G[:2]))
    with pytest.raises(TypeError, match="'lr'"):
        ops.ApplyAdagrad()(par(W), par(S), "fast", ms.Tensor(G))
    with pytest.raises(TypeError, match="'accum' must be a Tensor"):
        ops.ApplyAdagrad()(par(W), 1.0, 0.1, ms.Tensor(G))
    with pytest.raises(IndexError, match="indices"):
        ops.SparseApplyAdagradV2(0.1, 1e-6)(par(W), par(S), ms.Tensor(G), ms.Tensor([0, 1, 3]))
    with pytest.raises(ValueError, match="lr_power"):
        ops.SparseApplyFtrl(0.1, 0.0, 0.0, 0.5)


FTRL = {"lr": 0.1, "l1": 0.0, "l2": 0.0, "lr_power": -0.5}
ADAM = (0.8, 0.9, 0.1, 0.8, 0.9, 1e-3)


@pytest.mark.parametrize(
    ("op", "numbers", "states"),
    [
        (ops.SparseApplyFtrl(**FTRL), (), 3),
        (ops.FusedSparseFtrl(**FTRL), (), 3),
        (ops.FusedSparseProximalAdagrad(), (0.1, 0.0, 0.0), 2),
        (ops.FusedSparseLazyAdam(), ADAM, 3),
        (ops.FusedSparseAdam(), ADAM, 3),
    ],
)
def test_rows_beyond_the_last_are_left_out(op, numbers, states):
    found, wanted = ([par(a) for a in (W, S, U)[:states]] for _ in range(2))
    op(*found, *numbers, ms.Tensor(G), ms.Tensor(np.array([5, 0, 3], np.int32)))
    op(*wanted, *numbers, ms.Tensor(G[1:2]), ms.Tensor(np.array([0], np.int32)))
    for a, b in zip(found, wanted):
        np.testing.assert_array_equal(a.asnumpy(), b.asnumpy())
    with pytest.raises(IndexError, match="must be 0 or more"):
        op(*found, *numbers, ms.Tensor(G), ms.Tensor(np.array([0, -1, 1], np.int32)))
