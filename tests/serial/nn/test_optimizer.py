"""Optimizers: numbers of MindSpore 2.10.0 after three steps, groups, rates that change, errors."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Parameter, Tensor, nn

# Each: three steps from w = [1, -2, 3] with gradients [.1, .2, -.3] * step, as MindSpore 2.10.0 leaves w.
MINDSPORE = [
    ("momentum", lambda p: nn.Momentum(p, 0.1, 0.9), [0.9049, -2.1902, 3.2852998]),
    # By the documented formula; MindSpore's CPU kernel ignores use_nesterov.
    (
        "momentum nesterov decay",
        lambda p: nn.Momentum(p, 0.1, 0.9, weight_decay=0.1, use_nesterov=True),
        [0.7770489, -2.1294782, 3.194217],
    ),
    (
        "momentum decay scale",
        lambda p: nn.Momentum(p, 0.1, 0.9, weight_decay=0.1, loss_scale=4.0),
        [0.9207488, -1.9360185, 2.9040277],
    ),
    ("sgd", lambda p: nn.SGD(p, 0.1), [0.94000006, -2.12, 3.1799998]),
    ("sgd dampening", lambda p: nn.SGD(p, 0.1, momentum=0.9, dampening=0.3), [0.9253, -2.1494, 3.2240999]),
    (
        "sgd nesterov decay",
        lambda p: nn.SGD(p, 0.1, momentum=0.9, weight_decay=0.1, nesterov=True),
        [0.7770489, -2.1294782, 3.194217],
    ),
    (
        "sgd decay scale",
        lambda p: nn.SGD(p, 0.1, weight_decay=0.1, loss_scale=4.0),
        [0.95539874, -1.9703985, 2.9555976],
    ),
    (
        "sgd all",
        lambda p: nn.SGD(p, 0.1, momentum=0.9, weight_decay=0.1, loss_scale=4.0, dampening=0.2),
        [0.9298002, -1.9406691, 2.9110036],
    ),
    ("adam", lambda p: nn.Adam(p, 0.1), [0.7076832, -2.2923172, 3.2923172]),
    (
        "adam nesterov decay scale",
        lambda p: nn.Adam(p, 0.1, use_nesterov=True, weight_decay=0.1, loss_scale=4.0),
        [0.5364235, -1.6110837, 2.601208],
    ),
    ("adam amsgrad", lambda p: nn.Adam(p, 0.1, use_amsgrad=True), [0.7076832, -2.2923172, 3.2923172]),
    ("adam weight decay", lambda p: nn.AdamWeightDecay(p, 0.1, weight_decay=0.1), [-0.21974277, -3.1307373, 4.101069]),
    ("rates per step", lambda p: nn.Momentum(p, [0.1, 0.2, 0.3], 0.9), [0.7637, -2.4726, 3.7089]),
    ("schedule", lambda p: nn.Momentum(p, nn.ExponentialDecayLR(0.1, 0.5, 2), 0.9), [0.9414439, -2.1171122, 3.1756682]),
    (
        "decay schedule",
        lambda p: nn.Momentum(p, 0.1, 0.9, weight_decay=nn.ExponentialDecayLR(0.1, 0.5, 2)),
        [0.85995835, -2.0990007, 3.1485012],
    ),
]


def three_steps(make, name="w", dtype=np.float32):
    p = Parameter(Tensor(np.array([1.0, -2.0, 3.0], dtype)), name=name)
    optimizer = make([p])
    for i in range(1, 4):
        result = optimizer((Tensor(np.array([0.1, 0.2, -0.3], dtype) * dtype(i)),))
    return p, optimizer, result


@pytest.mark.parametrize("make, expected", [m[1:] for m in MINDSPORE], ids=[m[0] for m in MINDSPORE])
def test_three_steps_equal_mindspore(make, expected):
    p, optimizer, result = three_steps(make)
    np.testing.assert_allclose(p.asnumpy(), expected, rtol=3e-7, atol=1e-7)
    assert result == (True,) and int(optimizer.global_step.asnumpy()[0]) == 3


@pytest.mark.parametrize("dtype, rtol", [(np.float64, 1e-6), (np.float16, 5e-3)])
@pytest.mark.parametrize("make, expected", [m[1:] for m in MINDSPORE], ids=[m[0] for m in MINDSPORE])
def test_other_float_types(make, expected, dtype, rtol):
    p, _, _ = three_steps(make, dtype=dtype)
    assert p.asnumpy().dtype == dtype
    np.testing.assert_allclose(p.asnumpy(), expected, rtol=rtol)


def test_beta_and_gamma_do_not_decay():
    p, _, _ = three_steps(lambda q: nn.Momentum(q, 0.1, 0.9, weight_decay=0.1), name="bn.gamma")
    np.testing.assert_allclose(p.asnumpy(), [0.9049, -2.1902, 3.2852998], rtol=3e-7)


def test_state_names():
    _, optimizer, _ = three_steps(MINDSPORE[0][1])
    assert [p.name for p in optimizer.get_parameters()] == [
        "global_step",
        "learning_rate",
        "w",
        "momentum",
        "moments.w",
    ]
    _, optimizer, _ = three_steps(lambda p: nn.Adam(p, 0.1))
    assert list(optimizer.parameters_dict()) == [
        "global_step",
        "learning_rate",
        "w",
        "beta1_power",
        "beta2_power",
        "moment1.w",
        "moment2.w",
    ]
    _, optimizer, _ = three_steps(lambda p: nn.SGD(p, 0.1))
    assert list(optimizer.parameters_dict())[3:] == ["momentum", "accum.w", "stat.w"]


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


def test_gradient_centralization_takes_the_mean_off():
    w = Parameter(Tensor(np.zeros((2, 3), np.float32)), name="w")
    optimizer = nn.SGD([{"params": [w], "grad_centralization": True}], 1.0)
    optimizer((Tensor([[1.0, 2.0, 3.0], [0.0, 0.0, 6.0]]),))
    np.testing.assert_allclose(w.asnumpy(), [[1, 0, -1], [2, 2, -4]])


def test_learning_rate_can_be_assigned():
    a, _ = parameters()
    optimizer = nn.SGD([a], 0.1)
    optimizer.learning_rate.set_data(Tensor(1.0))
    optimizer((Tensor([1.0, 1.0]),))
    np.testing.assert_allclose(a.asnumpy(), [0.0, 1.0])
    ms.ops.assign(optimizer.learning_rate, 0.5)
    optimizer((Tensor([1.0, 1.0]),))
    np.testing.assert_allclose(a.asnumpy(), [-0.5, 0.5])


def test_list_of_rates_ends():
    a, _ = parameters()
    optimizer = nn.SGD([a], [0.1, 0.2])
    for _ in range(2):
        optimizer((Tensor([1.0, 1.0]),))
    with pytest.raises(IndexError, match="2 entries"):
        optimizer((Tensor([1.0, 1.0]),))


def test_the_update_is_in_place():
    a, _ = parameters()
    held = a.asnumpy()
    nn.Adam([a], 0.1)((Tensor([1.0, 1.0]),))
    assert held is a.asnumpy() and held[0] != 1.0


def test_gradients_are_not_changed():
    a, _ = parameters()
    g = Tensor([1.0, 1.0])
    nn.SGD([a], 0.1, weight_decay=0.5, loss_scale=2.0)((g,))
    np.testing.assert_array_equal(g.asnumpy(), [1.0, 1.0])


A, B = parameters()
ERRORS = [
    (lambda: nn.SGD(None), ValueError, "can not be None"),
    (lambda: nn.SGD([]), ValueError, "must not be empty"),
    (lambda: nn.SGD(A), TypeError, "must be 'Parameter' or 'dict'"),
    (lambda: nn.SGD([Tensor([1.0])]), TypeError, "must be 'Parameter' or 'dict'"),
    (lambda: nn.SGD([A, {"params": [B]}]), TypeError, "must be 'Parameter' or 'dict'"),
    (lambda: nn.SGD([A], -1.0), ValueError, "must >= 0"),
    (lambda: nn.SGD([A], "x"), ValueError, "could not convert"),
    (lambda: nn.SGD([A], None), TypeError, "learning_rate"),
    (lambda: nn.SGD([A], Tensor([[1.0]])), ValueError, "0 or 1, but got 2"),
    (lambda: nn.SGD([A], 0.1, weight_decay=-1.0), ValueError, "weight_decay"),
    (lambda: nn.Momentum([A], 0.1, 1), TypeError, "'float', but got type 'int'"),
    (lambda: nn.Momentum([A], 0.1, -1.0), ValueError, "at least 0.0"),
    (lambda: nn.SGD([A], 0.1, nesterov=True), ValueError, "nesterov"),
    (lambda: nn.SGD([A], 0.1, loss_scale=0.0), ValueError, "loss_scale"),
    (lambda: nn.SGD([A, Parameter(Tensor([1.0]), name="a")]), ValueError, "its name 'a' already exists"),
    (lambda: nn.SGD([{"params": [A], "zz": 1}]), KeyError, "zz"),
    (lambda: nn.SGD([{"lr": 0.1}]), KeyError, "params"),
    (lambda: nn.SGD([{"params": [A]}, {"params": [A]}]), RuntimeError, "already exists"),
    (lambda: nn.SGD([{"params": [A]}, {"order_params": [A, B]}]), ValueError, "order parameters"),
    (
        lambda: nn.SGD([{"params": [A], "lr": [0.1, 0.2]}, {"params": [B], "lr": [0.1, 0.2, 0.3]}]),
        ValueError,
        "same size",
    ),
    (lambda: nn.Adam([A], 0.1, beta1=1.0), ValueError, "beta1"),
    (lambda: nn.Adam([A], 0.1, beta1=1), TypeError, "beta1"),
    (lambda: nn.Adam([A], 0.1, eps=0.0), ValueError, "eps"),
    (lambda: nn.Adam([A], 0.1, zz=True), ValueError, "zz"),
    (lambda: nn.Optimizer(0.1, [A])((Tensor([1.0, 1.0]),)), NotImplementedError, "update rule"),
    (lambda: nn.SGD([A])(Tensor([1.0])), TypeError, "tuple"),
    (lambda: nn.SGD([A])((Tensor([1.0, 1.0]),) * 2), ValueError, "one entry per parameter"),
    (lambda: nn.SGD([A])((Tensor([1.0]),)), ValueError, r"the gradient of a must have its shape \(2,\)"),
    (lambda: setattr(nn.SGD([A]), "target", "GPU"), NotImplementedError, "CPU"),
]


@pytest.mark.parametrize("call, error, text", ERRORS, ids=range(len(ERRORS)))
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call()
