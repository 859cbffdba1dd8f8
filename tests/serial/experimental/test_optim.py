"""experimental.optim: numbers of MindSpore 2.10.0 after four steps, groups, states, errors."""

import numpy as np
import pytest

from dist_ms import Parameter, Tensor, float32, ops
from dist_ms.experimental import optim
from tests.serial.nn.optim.steps import WEIGHTS, four_steps, gradients, parameters

# Each: a name, the optimizer, and w and m as MindSpore 2.10.0 leaves them on the CPU.
MINDSPORE = [
    (
        "adadelta",
        lambda p: optim.Adadelta(p),
        [0.98225909, -2.0016844, 3.0177467, 0.49207062, -0.99207121, 1.9920737, -0.25792953],
    ),
    (
        "adadelta all",
        lambda p: optim.Adadelta(p, 0.5, 0.8, 1e-3, 0.1, maximize=True),
        [1.1166195, -1.946853, 2.8149326, 0.57911301, -1.0188943, 1.8589873, -0.1562372],
    ),
    (
        "adagrad",
        lambda p: optim.Adagrad(p, 0.1),
        [0.65734917, -1.982294, 3.3426507, 0.3057543, -0.8057543, 1.8057542, -0.4442457],
    ),
    (
        "adagrad all",
        lambda p: optim.Adagrad(p, 0.1, 0.2, 0.1, 0.3, 1e-3, maximize=True),
        [1.0668379, -1.9242663, 2.7734668, 0.60118514, -1.0227776, 1.9311711, -0.097202264],
    ),
    (
        "adam",
        lambda p: optim.Adam(p, 0.1),
        [0.61164159, -1.9255401, 3.3883588, 0.1373428, -0.63734293, 1.6373433, -0.61265731],
    ),
    (
        "adam all",
        lambda p: optim.Adam(p, 0.1, (0.8, 0.95), 1e-3, 0.1, maximize=True),
        [1.2514268, -1.8596755, 2.6004705, 0.83128834, -1.2015895, 1.6124055, 0.10390712],
    ),
    (
        "adamw",
        lambda p: optim.AdamW(p, 0.1),
        [0.60823554, -1.9178131, 3.3757885, 0.13591896, -0.63392198, 1.6299281, -0.61108559],
    ),
    (
        "adamw all",
        lambda p: optim.AdamW(p, 0.1, (0.8, 0.95), 1e-3, 0.1, maximize=True),
        [1.3471948, -1.9859049, 2.4936254, 0.82942557, -1.3087825, 2.2675118, 0.1094511],
    ),
    (
        "adamw amsgrad",
        lambda p: optim.AdamW(p, 0.1, (0.8, 0.5), 1e-3, 0.1, True),
        [0.61201149, -1.8532653, 3.2317264, 0.16107413, -0.64213932, 1.6042585, -0.55975789],
    ),
    (
        "adamax",
        lambda p: optim.Adamax(p, 0.1),
        [0.68889838, -1.9201516, 3.3111017, 0.21821481, -0.71821475, 1.7182148, -0.53178519],
    ),
    (
        "adamax all",
        lambda p: optim.Adamax(p, 0.1, (0.8, 0.95), 1e-3, 0.1, maximize=True),
        [1.1719831, -1.9033232, 2.6601002, 0.76783931, -1.1761445, 1.6475167, 0.041418295],
    ),
    (
        "asgd",
        lambda p: optim.ASGD(p, 0.1),
        [0.89996243, -2.0399191, 3.2998722, 0.39581618, -0.94787806, 1.973879, -0.45831752],
    ),
    (
        "asgd all",
        lambda p: optim.ASGD(p, 0.05, 0.01, 0.6, 1.0, 0.1, True),
        [1.0278865, -1.9362954, 2.7854831, 0.54057151, -1.0039287, 1.9692502, -0.14159516],
    ),
    (
        "nadam",
        lambda p: optim.NAdam(p, 0.1),
        [0.60303134, -1.9840164, 3.3969686, 0.26390934, -0.7639094, 1.7639093, -0.48609066],
    ),
    (
        "nadam all",
        lambda p: optim.NAdam(p, 0.1, (0.8, 0.95), 1e-3, 0.1, 0.01),
        [0.58762538, -1.8933722, 3.342869, 0.22953875, -0.70498747, 1.669066, -0.50392276],
    ),
    (
        "radam",
        lambda p: optim.RAdam(p, 0.1),
        [0.92772287, -1.9894871, 3.2168314, 0.35927674, -0.92963839, 1.9648192, -0.53144652],
    ),
    (
        "radam rectified",
        lambda p: optim.RAdam(p, 0.1, (0.8, 0.95), 1e-3, 0.1),
        [0.88600755, -1.9136924, 3.1040587, 0.34459582, -0.89255804, 1.8867993, -0.51124197],
    ),
    (
        "rmsprop",
        lambda p: optim.RMSprop(p),
        [0.65684378, -1.9824554, 3.3431561, 0.30506781, -0.80506784, 1.805068, -0.44493219],
    ),
    (
        "rmsprop all",
        lambda p: optim.RMSprop(p, 0.1, 0.8, 1e-3, 0.1, 0.5, True, True),
        [2.0281351, -1.5660925, 1.5228173, 1.2285279, -1.2111053, 0.69158345, 0.64300561],
    ),
    (
        "rmsprop momentum",
        lambda p: optim.RMSprop(p, 0.1, 0.8, 1e-3, 0.1, 0.5),
        [-0.15488318, -1.6297407, 3.8766508, -0.26800513, -0.18065561, 1.0765128, -0.98835891],
    ),
    (
        "rprop",
        lambda p: optim.Rprop(p, 0.1),
        [0.46319997, -1.85, 3.5367999, -0.036800027, -0.46319997, 1.4631999, -0.78680003],
    ),
    (
        "rprop all",
        lambda p: optim.Rprop(p, 0.05, (0.4, 1.3), (1e-3, 0.08), maximize=True),
        [1.2750001, -2.0699999, 2.7250001, 0.77499998, -1.2750001, 2.2749999, 0.024999991],
    ),
    (
        "sgd",
        lambda p: optim.SGD(p, 0.1),
        [0.90000004, -2.04, 3.2999997, 0.39583331, -0.94791669, 1.9739583, -0.45833334],
    ),
    (
        "sgd all",
        lambda p: optim.SGD(p, 0.1, 0.9, 0.3, 0.1, maximize=True),
        [1.0662861, -1.8702991, 2.3643665, 0.71020091, -1.0505035, 1.9160579, 0.26139653],
    ),
    (
        "sgd nesterov",
        lambda p: optim.SGD(p, 0.1, 0.9, 0, 0.1, True),
        [0.62006485, -1.8110662, 3.4315352, 0.094549879, -0.70874119, 1.6773031, -0.91334391],
    ),
    (
        "groups",
        lambda p: optim.Adam(
            [{"params": p[0], "lr": 0.3, "betas": (0.5, 0.6), "maximize": True}, {"params": p[1:]}], 0.1
        ),
        [2.1933892, -2.1392193, 1.8066106, 0.1373428, -0.63734293, 1.6373433, -0.61265731],
    ),
]
IDS = [row[0] for row in MINDSPORE]


@pytest.mark.parametrize("name, make, expected", MINDSPORE, ids=IDS)
def test_four_steps_equal_mindspore(name, make, expected):
    _, result, found = four_steps(make)
    np.testing.assert_allclose(found, expected, rtol=3e-6, atol=5e-7)
    assert result is True


@pytest.mark.parametrize("name, make, expected", MINDSPORE, ids=IDS)
@pytest.mark.parametrize("dtype, tolerance", [(np.float64, 2e-5), (np.float16, 2e-2)])
def test_other_float_types(name, make, expected, dtype, tolerance):
    optimizer, _, found = four_steps(make, dtype)
    assert all(p.asnumpy().dtype == dtype for p in optimizer.parameters)
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


def test_adam_amsgrad_by_its_formula():
    """MindSpore's CPU ignores the option."""
    out = []
    for k, w in enumerate(WEIGHTS.values()):
        m = v = top = np.zeros(w.shape)
        for t in range(1, 5):
            g = gradients(t, np.float64)[k] + 0.1 * w
            m, v = 0.8 * m + 0.2 * g, 0.5 * v + 0.5 * g * g
            top = np.maximum(top, v)
            w = w - 0.1 * np.sqrt(1 - 0.5**t) / (1 - 0.8**t) * m / (np.sqrt(top) + 1e-3)
        out.append(w.reshape(-1))
    found = four_steps(lambda p: optim.Adam(p, 0.1, (0.8, 0.5), 1e-3, 0.1, True))[2]
    np.testing.assert_allclose(found, np.concatenate(out), rtol=2e-6)


STATES = [
    (lambda p: optim.Adadelta(p), ["accum", "accum_update"], None),
    (lambda p: optim.Adagrad(p), ["accum"], "step_t"),
    (lambda p: optim.Adam(p), ["exp_avg", "exp_avg_sq", "max_exp_avg_sq"], "state_step"),
    (lambda p: optim.AdamW(p), ["exp_avg", "exp_avg_sq", "max_exp_avg_sq"], "state_step"),
    (lambda p: optim.ASGD(p), ["ax"], "step_t"),
    (lambda p: optim.RMSprop(p), ["mean_grad", "mean_square", "moment"], None),
    (lambda p: optim.Rprop(p), ["prev", "step_size"], "step_t"),
    (lambda p: optim.SGD(p, 0.1), ["accum", "stat"], None),
]
COUNT_FIRST = [
    (lambda p: optim.Adamax(p), ["exp_avg", "exp_inf"], "step_t"),
    (lambda p: optim.NAdam(p), ["exp_avg", "exp_avg_sq"], "step_t"),
    (lambda p: optim.RAdam(p), ["exp_avg", "exp_avg_sq"], "step_t"),
]


@pytest.mark.parametrize("make, states, count", [*STATES, *COUNT_FIRST])
def test_state_names_are_mindspores(make, states, count):
    optimizer = make(parameters())
    names = [f"{state}.{p}" for state in states for p in ("w", "m")]
    counts = [count] if count else []
    first = any(make is row[0] for row in COUNT_FIRST)
    assert [p.name for p in optimizer.get_parameters()] == [
        *("w", "m"),
        *([*counts, *names] if first else [*names, *counts]),
    ]


@pytest.mark.parametrize("make", [row[0] for row in (*STATES, *COUNT_FIRST)])
def test_a_loaded_state_goes_on_where_it_stopped(make):
    together = four_steps(make)[2]
    first = make(parameters())
    for i in (1, 2):
        first(tuple(Tensor(g) for g in gradients(i)))
    params = parameters()
    second = make(params)
    saved = {p.name: p.asnumpy().copy() for p in first.get_parameters()}
    for p in second.get_parameters():
        p.set_data(Tensor(saved[p.name]))
    for i in (3, 4):
        second(tuple(Tensor(g) for g in gradients(i)))
    np.testing.assert_allclose(np.concatenate([p.asnumpy().reshape(-1) for p in params]), together, rtol=1e-7)


# ---- groups
def test_groups_have_all_settings():
    w, m = parameters()
    given = {"params": w, "lr": 0.25}
    optimizer = optim.Adam([given, {"params": [m], "weight_decay": 1}], 0.5, betas=(0.5, 0.5))
    first, second = optimizer.param_groups
    assert first is given and first["params"] == [w] and first["betas"] == (0.5, 0.5)
    assert isinstance(first["lr"], Parameter) and first["lr"].name == "learning_rate_group_0"
    assert first["lr"].dtype == float32 and optimizer.lrs == [first["lr"], second["lr"]]
    assert second["weight_decay"] == 1.0 and optimizer.group_start_id == [0, 1, 2]
    assert optimizer.parameters == (w, m) and optimizer.defaults["lr"] == 0.5


def test_a_group_added_later_is_trained_with_new_states():
    w, m = parameters()
    optimizer = optim.Adam([w], 0.5)
    optimizer((Tensor([1.0, 1.0, 1.0]),))
    optimizer.add_param_group({"params": [m], "lr": 0.25})
    assert [p.name for p in optimizer.exp_avg] == ["exp_avg.w", "exp_avg.m"]
    assert "max_exp_avg_sq.m" in optimizer.parameters_dict()
    before = m.asnumpy().copy()
    optimizer((Tensor([1.0, 1.0, 1.0]), Tensor([[1.0, 1.0], [1.0, 1.0]])))
    assert np.all(m.asnumpy() < before)


def test_rates_can_be_assigned():
    w = Parameter(Tensor([1.0]), name="w")
    optimizer = optim.SGD([w], 1.0)
    ops.assign(optimizer.param_groups[0]["lr"], 0.5)
    optimizer((Tensor([1.0]),))
    assert w.asnumpy()[0] == 0.5
    optimizer.param_groups[0]["lr"] = 0.25
    optimizer((Tensor([1.0]),))
    assert w.asnumpy()[0] == 0.25


def test_printed_form():
    w, m = parameters()
    assert (
        repr(optim.Adam([{"params": [w], "lr": 0.3}, {"params": [m]}], 0.1))
        == """Adam (
Parameter Group 0
    amsgrad: False
    betas: (0.9, 0.999)
    eps: 1e-08
    lr: 0.3
    maximize: False
    weight_decay: 0.0

Parameter Group 1
    amsgrad: False
    betas: (0.9, 0.999)
    eps: 1e-08
    lr: 0.1
    maximize: False
    weight_decay: 0.0
)"""
    )


class _Mine(optim.Optimizer):
    """A user's optimizer with its own loop."""

    def __init__(self, params, lr):
        super().__init__(params, {"lr": lr})

    def construct(self, gradients):
        for group, start in zip(self.param_groups, self.group_start_id):
            for p, g in zip(group["params"], gradients[start:]):
                ops.assign_sub(p, group["lr"] * g)
        return True


def test_a_subclass_equals_the_built_in_rule():
    groups = lambda p: [{"params": p[:1], "lr": 0.3}, {"params": p[1:]}]  # noqa: E731
    found = four_steps(lambda p: _Mine(groups(p), 0.1))[2]
    np.testing.assert_allclose(found, four_steps(lambda p: optim.SGD(groups(p), 0.1))[2], rtol=1e-6)


A, B = parameters()
G = Tensor([1.0, 1.0, 1.0])
ERRORS = [
    (lambda: optim.Adam(None), ValueError, "can not be None"),
    (lambda: optim.Adam([]), ValueError, "must not be empty"),
    (lambda: optim.Adam(3), TypeError, "Iterable"),
    (lambda: optim.Adam([3]), TypeError, "Parameters"),
    (lambda: optim.Adam(A), TypeError, "Parameter"),
    (lambda: optim.Adam([{"params": {A}}]), TypeError, "order"),
    (lambda: optim.Adam([{"lr": 0.1}]), KeyError, "params"),
    (lambda: optim.Adam([A, {"params": [B]}]), TypeError, "Parameters"),
    (lambda: optim.Adam([{"params": [A]}, 3]), TypeError, "must be a dict"),
    (lambda: optim.Adam([{"params": [A]}, {"params": [A]}]), ValueError, "more than one"),
    (lambda: optim.Adam([A, A]), ValueError, "already exists"),
    (lambda: optim.Adam([{"params": [A], "lr": Tensor([0.1])}]), ValueError, "scalar"),
    (lambda: optim.Adam([{"params": [A], "lr": -1.0}]), ValueError, "learning rate"),
    (lambda: optim.Adam([{"params": [A], "lr": "x"}]), TypeError, "lr"),
    (lambda: optim.Adam([{"params": [A], "weight_decay": "x"}]), TypeError, "weight_decay"),
    (lambda: optim.Adam([{"params": [A], "weight_decay": -1.0}]), ValueError, "weight_decay"),
    (lambda: optim.Optimizer([A], {}), TypeError, "lr"),
    (lambda: optim.Optimizer([A], {"lr": 0.1})((G,)), NotImplementedError, "update rule"),
    (lambda: optim.Adam([A])(G), TypeError, "tuple"),
    (lambda: optim.Adam([A])((G, G)), ValueError, "one entry per parameter"),
    (lambda: optim.Adam([A])((Tensor([1.0]),)), ValueError, "shape"),
    (lambda: optim.Adam([A], -1.0), ValueError, "lr"),
    (lambda: optim.Adam([A], None), TypeError, "lr"),
    (lambda: optim.Adam([A], eps=-1.0), ValueError, "eps"),
    (lambda: optim.AdamW([A], betas=(1.0, 0.9)), ValueError, r"betas\[0\]"),
    (lambda: optim.AdamW([A], betas=(0.9,)), ValueError, "betas"),
    (lambda: optim.AdamW([A], betas=0.9), TypeError, "betas"),
    (lambda: optim.AdamW([A], weight_decay=-1.0), ValueError, "weight_decay"),
    (lambda: optim.Adamax([A], 0.0), ValueError, "lr"),
    (lambda: optim.Adamax([A], betas=(0, 0.9)), TypeError, r"betas\[0\]"),
    (lambda: optim.Adamax([A], eps=0.0), ValueError, "eps"),
    (lambda: optim.Adadelta([A], rho=1.5), ValueError, "rho"),
    (lambda: optim.Adadelta([A], rho=1), TypeError, "rho"),
    (lambda: optim.Adagrad([A], lr_decay=-1.0), ValueError, "lr_decay"),
    (lambda: optim.Adagrad([A], initial_accumulator_value=-1.0), ValueError, "initial_accumulator_value"),
    (lambda: optim.ASGD([A], lambd=1), TypeError, "lambd"),
    (lambda: optim.ASGD([A], t0=1), TypeError, "t0"),
    (lambda: optim.NAdam([A], momentum_decay=-1.0), ValueError, "momentum_decay"),
    (lambda: optim.RAdam([A], betas=(0.9, 1.0)), ValueError, r"betas\[1\]"),
    (lambda: optim.RMSprop([A], alpha=-1.0), ValueError, "alpha"),
    (lambda: optim.RMSprop([A], momentum=-1.0), ValueError, "momentum"),
    (lambda: optim.Rprop([A], etas=(0.5, 1.0)), ValueError, r"etas\[1\]"),
    (lambda: optim.Rprop([A], etas=(5.0, 2.0)), ValueError, r"etas\[0\]"),
    (lambda: optim.Rprop([A], etas=0.5), TypeError, "etas"),
    (lambda: optim.SGD([A]), TypeError, "lr"),
    (lambda: optim.SGD([A], "x"), TypeError, "lr"),
    (lambda: optim.SGD([A], -1.0), ValueError, "lr"),
    (lambda: optim.SGD([A], 0.1, True), TypeError, "momentum"),
    (lambda: optim.SGD([A], 0.1, -1.0), ValueError, "momentum"),
    (lambda: optim.SGD([A], 0.1, 0.9, "x"), TypeError, "dampening"),
    (lambda: optim.SGD([A], 0.1, nesterov=True), ValueError, "nesterov"),
    (lambda: optim.SGD([A], 0.1, 0.9, 0.1, nesterov=True), ValueError, "nesterov"),
    (lambda: optim.SGD([A], 0.1, nesterov=1), TypeError, "nesterov"),
    (lambda: optim.SGD([A], 0.1, maximize=1), TypeError, "maximize"),
]


@pytest.mark.parametrize("call, error, text", ERRORS)
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call()
