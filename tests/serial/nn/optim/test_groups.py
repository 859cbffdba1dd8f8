"""Parameter groups: rates, decays, centralization and order of their own, as MindSpore 2.10.0 keeps them."""

import numpy as np
import pytest

from dist_ms import Parameter, Tensor, nn


def parameters():
    return Parameter(Tensor([1.0, 2.0]), name="a"), Parameter(Tensor([[1.0, 2.0]]), name="b")


def test_groups():
    a, b = parameters()
    optimizer = nn.Momentum(
        [{"params": [b], "lr": 0.5, "weight_decay": 0.2}, {"params": [a]}, {"order_params": [a, b]}], 0.1, 0.9
    )
    optimizer((Tensor([1.0, 1.0]), Tensor([[1.0, 3.0]])))
    np.testing.assert_allclose(a.asnumpy(), [0.9, 1.9], rtol=1e-6)
    np.testing.assert_allclose(b.asnumpy(), [[0.4, 0.3]], rtol=1e-6)
    assert optimizer.is_group and optimizer.is_group_lr and optimizer.is_group_params_ordered
    assert [r.name for r in optimizer.get_lr()] == ["learning_rate", "learning_rate_group_0"]
    assert optimizer.get_lr_parameter(b).name == "learning_rate_group_0"
    assert [p.name for p in optimizer.get_lr_parameter([a, b])] == ["learning_rate", "learning_rate_group_0"]
    np.testing.assert_allclose([float(d.asnumpy()) for d in optimizer.get_weight_decay()], [0.0, 0.2])
    assert optimizer.decay_flags == (False, True) and optimizer.group_params == [a, b]


def test_names_of_rates_count_all_dictionaries():
    a, b = parameters()
    c = Parameter(Tensor([0.0]), name="c")
    first = nn.Momentum([{"params": [a], "lr": 0.1}, {"params": [b]}, {"params": [c], "lr": 0.3}], 0.1, 0.9)
    assert [p.name for p in first.get_parameters()] == [
        *("global_step", "learning_rate_group_0", "learning_rate", "learning_rate_group_2", "a", "b", "c"),
        *("momentum", "moments.a", "moments.b", "moments.c"),
    ]
    second = nn.Momentum([{"order_params": [b, a]}, {"params": [a]}, {"params": [b], "lr": 0.1}], 0.1, 0.9)
    assert [p.name for p in second.get_parameters()] == [
        *("global_step", "learning_rate_group_2", "learning_rate", "b", "a", "momentum", "moments.b", "moments.a")
    ]


def test_one_changing_rate_makes_all_of_them_cells():
    a, b = parameters()
    optimizer = nn.Momentum([{"params": [a], "lr": [0.5, 0.25]}, {"params": [b]}], 0.1, 0.9)
    assert optimizer.dynamic_lr and [type(c).__name__ for c in optimizer.learning_rate] == [
        "_IteratorLearningRate",
        "_ConvertToCell",
    ]
    assert [float(r) for r in optimizer.get_lr()] == [0.5, np.float32(0.1)]
    assert [p.name for p in optimizer.get_parameters()][-2:] == ["learning_rate_group_0", "learning_rate"]
    assert optimizer.get_lr_parameter(a).shape == (2,) and optimizer.get_lr_parameter(b).shape == ()
    optimizer((Tensor([1.0, 1.0]), Tensor([[1.0, 1.0]])))
    assert [float(r) for r in optimizer.get_lr()] == [0.25, np.float32(0.1)]


def test_a_schedule_that_groups_share_runs_once_a_step():
    a, b = parameters()
    calls = []

    class Rate(nn.LearningRateSchedule):
        def construct(self, global_step):
            calls.append(int(global_step.asnumpy()[0]))
            return Tensor(0.5)

    rate = Rate()
    optimizer = nn.SGD([{"params": [a], "lr": rate}, {"params": [b], "lr": rate}], 0.1)
    optimizer((Tensor([1.0, 1.0]), Tensor([[1.0, 1.0]])))
    assert calls == [0] and optimizer.get_lr_parameter(b) is rate


def test_groups_decay_gamma_and_beta_too():
    gamma = Parameter(Tensor([1.0]), name="bn.gamma")
    nn.SGD([{"params": [gamma]}], 0.5, weight_decay=0.5)((Tensor([0.0]),))
    np.testing.assert_allclose(gamma.asnumpy(), [0.75])


def test_weight_decays_of_groups_that_change():
    a, b = parameters()
    schedule = nn.ExponentialDecayLR(0.5, 0.5, 1)
    optimizer = nn.Momentum([{"params": [a], "weight_decay": schedule}, {"params": [b]}], 1.0, 0.0, 0.0, 2.0)
    first, second = optimizer.get_weight_decay()
    assert float(first) == 1.0 and float(second) == 0.0 and optimizer.decay_flags == (True, False)
    for _ in range(2):
        optimizer((Tensor([0.0, 0.0]), Tensor([[0.0, 0.0]])))
    np.testing.assert_allclose(a.asnumpy(), [0.375, 0.75])
    np.testing.assert_array_equal(b.asnumpy(), [[1.0, 2.0]])


def test_gradient_centralization_takes_the_mean_off():
    w = Parameter(Tensor(np.zeros((2, 3), np.float32)), name="w")
    optimizer = nn.SGD([{"params": [w], "grad_centralization": True}], 1.0)
    optimizer((Tensor([[1.0, 2.0, 3.0], [0.0, 0.0, 6.0]]),))
    np.testing.assert_allclose(w.asnumpy(), [[1, 0, -1], [2, 2, -4]])


@pytest.mark.parametrize("make", [lambda p: nn.SGD(p, 1.0), lambda p: nn.LARS(nn.SGD(p, 1.0), lars_filter=lambda q: 0)])
def test_centralization_of_kernels_and_vectors(make):
    g = np.random.default_rng(0).standard_normal((3, 2, 2, 2)).astype(np.float32)
    w, v = Parameter(Tensor(np.zeros_like(g)), name="w"), Parameter(Tensor([0.0, 0.0]), name="v")
    make([{"params": [w, v], "grad_centralization": True}])((Tensor(g), Tensor([1.0, 2.0])))
    np.testing.assert_allclose(w.asnumpy(), g.mean((1, 2, 3), keepdims=True) - g, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(v.asnumpy(), [-1.0, -2.0])


def test_centralization_includes_the_weight_decay_in_the_gradient():
    """Decay comes first, so a constant weight decays to nothing; apart from the gradient it does decay."""
    groups = lambda w: [{"params": [w], "grad_centralization": True, "weight_decay": 0.5}]  # noqa: E731
    w = Parameter(Tensor([[2.0, 2.0]]), name="w")
    nn.Momentum(groups(w), 0.1, 0.9)((Tensor([[1.0, 1.0]]),))
    np.testing.assert_array_equal(w.asnumpy(), [[2.0, 2.0]])
    nn.AdamWeightDecay(groups(w), 0.1)((Tensor([[1.0, 1.0]]),))
    np.testing.assert_allclose(w.asnumpy(), [[1.9, 1.9]], rtol=1e-6)


@pytest.mark.parametrize("form", [list, tuple, iter])
def test_params_of_a_group_may_be_any_iterable(form):
    a, b = parameters()
    optimizer = nn.SGD([{"params": form([a, b])}], 1.0)
    optimizer((Tensor([1.0, 1.0]), Tensor([[1.0, 1.0]])))
    np.testing.assert_array_equal(a.asnumpy(), [0.0, 1.0])


def test_printed_form():
    a, b = parameters()
    assert repr(nn.SGD([a])) == "SGD()"
    optimizer = nn.SGD([{"params": [a], "lr": nn.WarmUpLR(0.1, 2)}, {"params": [b]}], 0.1)
    assert (
        repr(optimizer)
        == """SGD(
  (learning_rate): CellList(
    (0): WarmUpLR()
    (1): _ConvertToCell()
  )
)"""
    )
