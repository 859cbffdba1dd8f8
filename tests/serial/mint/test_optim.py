"""mint.optim: numbers of PyTorch 2 after four steps (MindSpore 2.10.0's own leave the weights alone on the CPU)."""

import numpy as np
import pytest

from dist_ms import Tensor
from dist_ms.mint import optim
from tests.serial.nn.optim.steps import four_steps, parameters

# Each: a name, the optimizer, and w and m as torch.optim leaves them.
TORCH = [
    (
        "adam",
        lambda p: optim.Adam(p, 0.1),
        [0.61164063, -1.9255403, 3.3883593, 0.13734229, -0.63734233, 1.6373423, -0.61265767],
    ),
    (
        "adam all",
        lambda p: optim.Adam(p, 0.1, (0.8, 0.95), 1e-3, 0.1, maximize=True),
        [1.2554448, -1.8591433, 2.5993118, 0.8333689, -1.2052022, 1.6036849, 0.10486398],
    ),
    (
        "adam amsgrad",
        lambda p: optim.Adam(p, 0.1, (0.8, 0.5), 1e-3, 0.1, True),
        [0.62881178, -1.8196731, 3.2118387, 0.16811289, -0.6411472, 1.6030688, -0.56639528],
    ),
    (
        "adamw",
        lambda p: optim.AdamW(p, 0.1),
        [0.60823518, -1.9178133, 3.3757889, 0.13591865, -0.63392168, 1.6299279, -0.61108583],
    ),
    (
        "adamw all",
        lambda p: optim.AdamW(p, 0.1, (0.8, 0.95), 1e-3, 0.1, maximize=True),
        [1.3471948, -1.9859049, 2.4936254, 0.82942557, -1.3087825, 2.2675118, 0.10945111],
    ),
    (
        "adamw amsgrad",
        lambda p: optim.AdamW(p, 0.1, (0.8, 0.5), 1e-3, 0.1, True),
        [0.61201155, -1.8532653, 3.2317264, 0.16107413, -0.64213932, 1.6042584, -0.55975789],
    ),
    ("sgd", lambda p: optim.SGD(p, 0.1), [0.89999998, -2.04, 3.3, 0.39583331, -0.94791669, 1.9739583, -0.45833334]),
    (
        "sgd dampening",
        lambda p: optim.SGD(p, 0.1, 0.9, 0.3, 0.1, maximize=True),
        [1.0662862, -1.8702991, 2.3643665, 0.71020091, -1.0505035, 1.9160579, 0.26139656],
    ),
    (
        "sgd nesterov",
        lambda p: optim.SGD(p, 0.1, 0.9, 0, 0.1, True),
        [0.62006485, -1.8110662, 3.4315352, 0.094549894, -0.70874119, 1.677303, -0.91334385],
    ),
    (
        "groups",
        lambda p: optim.SGD([{"params": p[:1], "lr": 0.3, "weight_decay": 0.2}, {"params": p[1:]}], 0.1, 0.9),
        [-0.016847454, -1.0428492, 3.083025, 0.21613333, -0.85806668, 1.9290333, -0.81773329],
    ),
]
IDS = [row[0] for row in TORCH]


@pytest.mark.parametrize("name, make, expected", TORCH, ids=IDS)
@pytest.mark.parametrize("dtype, tolerance", [(np.float32, 2e-6), (np.float64, 2e-5), (np.float16, 2e-2)])
def test_four_steps_equal_torch(name, make, expected, dtype, tolerance):
    _, result, found = four_steps(make, dtype)
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=max(tolerance, 5e-7))
    assert result is True


@pytest.mark.parametrize("amsgrad", [False, True])
def test_fused_adamw_is_adamw(amsgrad):
    fused = four_steps(lambda p: optim.FusedAdamW(p, 0.1, [0.8, 0.5], 1e-3, 0.1, amsgrad))[2]
    np.testing.assert_array_equal(fused, four_steps(lambda p: optim.AdamW(p, 0.1, (0.8, 0.5), 1e-3, 0.1, amsgrad))[2])


@pytest.mark.parametrize(
    "make, names",
    [
        (lambda p: optim.Adam(p), ["exp_avg.w", "exp_avg.m", "exp_avg_sq.w", "exp_avg_sq.m", "state_step"]),
        (lambda p: optim.AdamW(p), ["exp_avg.w", "exp_avg.m", "exp_avg_sq.w", "exp_avg_sq.m", "state_step"]),
        (lambda p: optim.SGD(p, 0.1), ["momentum_buf.w", "momentum_buf.m", "step_t"]),
    ],
)
def test_state_names_are_mindspores(make, names):
    assert [p.name for p in make(parameters()).get_parameters()] == ["w", "m", *names]


def test_counts_of_steps_are_mindspores():
    assert optim.Adam(parameters()).state_step.asnumpy()[0] == 0
    assert optim.AdamW(parameters()).state_step.asnumpy()[0] == -1
    assert four_steps(lambda p: optim.AdamW(p))[0].state_step.asnumpy()[0] == 3


def test_maxima_live_in_the_groups_that_ask_for_them():
    w, m = parameters()
    optimizer = optim.Adam([{"params": [w]}, {"params": [m], "amsgrad": True}], 0.1)
    assert "max_exp_avg_sq" not in optimizer.param_groups[0]
    optimizer((Tensor([1.0, 1.0, 1.0]), Tensor([[1.0, 2.0], [3.0, 4.0]])))
    assert np.all(optimizer.param_groups[1]["max_exp_avg_sq"][0].asnumpy() > 0)


A, B = parameters()


@pytest.mark.parametrize("make", [optim.Adam, optim.AdamW, optim.FusedAdamW])
@pytest.mark.parametrize(
    "options, error",
    [
        ({"lr": 1}, TypeError),
        ({"lr": Tensor(0.1)}, TypeError),
        ({"lr": -1.0}, ValueError),
        ({"eps": 1}, TypeError),
        ({"eps": -1.0}, ValueError),
        ({"weight_decay": 1}, TypeError),
        ({"weight_decay": -1.0}, ValueError),
        ({"betas": 0.9}, TypeError),
        ({"betas": (0.9,)}, ValueError),
        ({"betas": (0, 0.9)}, TypeError),
        ({"betas": (0.9, 1.0)}, ValueError),
        ({"amsgrad": 1}, TypeError),
        ({"maximize": 1}, TypeError),
    ],
)
def test_errors_of_the_adam_family(make, options, error):
    with pytest.raises(error, match=next(iter(options))):
        make([A], **options)


@pytest.mark.parametrize(
    "call, error, text",
    [
        (lambda: optim.Adam([A], betas=[0.9, 0.9]), TypeError, "betas"),
        (lambda: optim.SGD([A]), TypeError, "lr"),
        (lambda: optim.SGD([A], -1.0), ValueError, "lr"),
        (lambda: optim.SGD([A], 0.1, "x"), TypeError, "momentum"),
        (lambda: optim.SGD([A], 0.1, dampening="x"), TypeError, "dampening"),
        (lambda: optim.SGD([A], 0.1, weight_decay=-1.0), ValueError, "weight_decay"),
        (lambda: optim.SGD([A], 0.1, nesterov=True), ValueError, "nesterov"),
        (lambda: optim.SGD([A], 0.1, maximize=1), TypeError, "maximize"),
        (
            lambda: optim.FusedAdamW([{"params": [A]}, {"params": [B], "amsgrad": True}], 0.1),
            ValueError,
            "same in all groups",
        ),
    ],
)
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call()
