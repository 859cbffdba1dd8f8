"""experimental.optim.lr_scheduler: rates of MindSpore 2.10.0 over eight epochs, jumps, resuming, errors."""

import math

import numpy as np
import pytest

from dist_ms import Parameter, Tensor, float32, mint, ops
from dist_ms.experimental import optim
from dist_ms.experimental.optim import lr_scheduler as schedulers


def optimizer(groups=1, **more):
    params = [Parameter(Tensor([1.0]), name=f"p{i}") for i in range(2)]
    if groups == 1:
        return optim.SGD([{"params": params[:1], **more}], 0.1)
    return optim.SGD([{"params": params[:1]}, {"params": params[1:], "lr": 0.05}], 0.1)


def rates_of(scheduler):
    return [float(lr) for lr in scheduler.get_last_lr()]


# Each: the scheduler of an optimizer with the rate 0.1, and its rates in epochs 0 to 7.
MINDSPORE = [
    (lambda o, **k: schedulers.StepLR(o, 2, **k), [0.1, 0.1, 0.01, 0.01, 0.001, 0.001, 0.0001, 0.0001]),
    (lambda o, **k: schedulers.StepLR(o, 2, 0.5, **k), [0.1, 0.1, 0.05, 0.05, 0.025, 0.025, 0.0125, 0.0125]),
    (
        lambda o, **k: schedulers.MultiStepLR(o, [2, 2, 4], 0.5, **k),
        [0.1, 0.1, 0.025, 0.025, 0.0125, 0.0125, 0.0125, 0.0125],
    ),
    (
        lambda o, **k: schedulers.ExponentialLR(o, 0.5, **k),
        [0.1, 0.05, 0.025, 0.0125, 0.00625, 0.003125, 0.0015625, 0.00078125],
    ),
    (lambda o, **k: schedulers.ConstantLR(o, 0.5, 3, **k), [0.05, 0.05, 0.05, 0.1, 0.1, 0.1, 0.1, 0.1]),
    (lambda o, **k: schedulers.LinearLR(o, 0.5, 1.0, 3, **k), [0.05, 0.0666667, 0.0833333, 0.1, 0.1, 0.1, 0.1, 0.1]),
    (lambda o, **k: schedulers.PolynomialLR(o, 3, 2.0, **k), [0.1, 0.0444444, 0.0111111, 0, 0, 0, 0, 0]),
    (lambda o, **k: schedulers.PolynomialLR(o, **k), [0.1, 0.08, 0.06, 0.04, 0.02, 0, 0, 0]),
    (
        lambda o, **k: schedulers.LambdaLR(o, lambda epoch: 0.9**epoch, **k),
        [0.1, 0.09, 0.081, 0.0729, 0.06561, 0.059049, 0.0531441, 0.0478297],
    ),
    (
        lambda o, **k: schedulers.MultiplicativeLR(o, lambda epoch: 0.9, **k),
        [0.1, 0.09, 0.081, 0.0729, 0.06561, 0.059049, 0.0531441, 0.0478297],
    ),
    (
        lambda o, **k: schedulers.CosineAnnealingLR(o, 3, 0.01, **k),
        [0.1, 0.0775, 0.0325, 0.01, 0.0325, 0.0775, 0.1, 0.0775],
    ),
    (
        lambda o, **k: schedulers.CosineAnnealingWarmRestarts(o, 2, **k),
        [0.1, 0.05, 0.1, 0.05, 0.1, 0.05, 0.1, 0.05],
    ),
    (
        lambda o, **k: schedulers.CosineAnnealingWarmRestarts(o, 2, 2, 0.01, **k),
        [0.1, 0.055, 0.1, 0.0868198, 0.055, 0.0231802, 0.1, 0.0965746],
    ),
    (lambda o, **k: schedulers.CyclicLR(o, 0.01, 0.1, 3, **k), [0.01, 0.04, 0.07, 0.1, 0.07, 0.04, 0.01, 0.04]),
    (
        lambda o, **k: schedulers.CyclicLR(o, 0.01, 0.1, 2, 4, **k),
        [0.01, 0.055, 0.1, 0.0775, 0.055, 0.0325, 0.01, 0.055],
    ),
    (
        lambda o, **k: schedulers.CyclicLR(o, 0.01, 0.1, 2, None, "triangular2", **k),
        [0.01, 0.055, 0.1, 0.055, 0.01, 0.0325, 0.055, 0.0325],
    ),
    (
        lambda o, **k: schedulers.CyclicLR(o, 0.01, 0.1, 2, None, "exp_range", 0.9, **k),
        [0.01, 0.0505, 0.0829, 0.042805, 0.01, 0.036572, 0.0578297, 0.0315234],
    ),
    (
        lambda o, **k: schedulers.CyclicLR(
            o, 0.01, 0.1, 2, None, "triangular", 1.0, lambda x: 1 / (5 ** (x * 0.0001)), "iterations", **k
        ),
        [0.01, 0.0549928, 0.099971, 0.0549783, 0.01, 0.0549638, 0.0999131, 0.0549493],
    ),
]
NUMBERS = range(len(MINDSPORE))


@pytest.mark.parametrize("make, expected", MINDSPORE, ids=NUMBERS)
def test_rates_equal_mindspore(make, expected):
    o = optimizer()
    scheduler = make(o)
    found = [rates_of(scheduler)[0]]
    for _ in range(7):
        scheduler.step()
        found.append(rates_of(scheduler)[0])
        assert float(o.param_groups[0]["lr"]) == found[-1]
    np.testing.assert_allclose(found, expected, atol=1e-7)
    assert scheduler.last_epoch.dtype == float32 and float(scheduler.last_epoch) == 7


@pytest.mark.parametrize("make, expected", [m for i, m in enumerate(MINDSPORE) if i < 13], ids=range(13))
def test_each_group_from_its_own_rate(make, expected):
    scheduler = make(optimizer(2))
    low = getattr(scheduler, "eta_min", 0.0)
    for value in expected:
        np.testing.assert_allclose(rates_of(scheduler)[1], low + (value - low) * (0.05 - low) / (0.1 - low), atol=1e-7)
        scheduler.step()


@pytest.mark.parametrize("make, expected", MINDSPORE, ids=NUMBERS)
def test_jumps(make, expected):
    scheduler = make(optimizer())
    if isinstance(scheduler, schedulers.MultiplicativeLR):
        expected = {5: 0.09, 0: 0.09, 3: 0.081, 2: 0.0729}  # has no closed form: a factor per call, as in MindSpore
    for epoch in (5, 0, 3, 2):
        scheduler.step(epoch)
        np.testing.assert_allclose(rates_of(scheduler)[0], expected[epoch], atol=1e-7)


def test_warm_restarts_take_fractions_of_epochs():
    scheduler = schedulers.CosineAnnealingWarmRestarts(optimizer(), 2, 2)
    for epoch, part in ((0.5, 0.25), (1.5, 0.75), (4.0, 0.5), (6.0, 0.0), (10.0, 0.5)):
        scheduler.step(epoch)
        np.testing.assert_allclose(rates_of(scheduler)[0], 0.05 * (1 + math.cos(math.pi * part)), atol=1e-7)
        assert float(scheduler.last_epoch) == math.floor(epoch)
    with pytest.raises(ValueError, match="epoch"):
        scheduler.step(-1)


@pytest.mark.parametrize(
    "make, expected",
    [
        (MINDSPORE[0][0], [0.01, 0.01, 0.001, 0.001]),
        (MINDSPORE[3][0], [0.05, 0.025, 0.0125, 0.00625]),
        (MINDSPORE[8][0], [0.06561, 0.059049, 0.0531441, 0.0478297]),
        (MINDSPORE[7][0], [0.05, 0.0, 0.0, 0.0]),
    ],
)
def test_resuming(make, expected):
    """From epoch 3, with the present rate 0.1."""
    scheduler = make(optimizer(initial_lr=0.1), last_epoch=3)
    for value in expected:
        np.testing.assert_allclose(rates_of(scheduler)[0], value, atol=1e-7)
        scheduler.step()


def test_rates_reach_the_optimizer():
    w = Parameter(Tensor([1.0]), name="w")
    for make in (optim.SGD, mint.optim.SGD):
        w.set_data(Tensor([1.0]))
        o = make([w], 0.5)
        scheduler = schedulers.ExponentialLR(o, 0.5)
        o((Tensor([1.0]),))
        scheduler.step()
        o((Tensor([1.0]),))
        assert w.asnumpy()[0] == 0.25


def test_lambdas_get_a_tensor():
    seen = []
    scheduler = schedulers.LambdaLR(optimizer(), lambda epoch: seen.append(epoch) or ops.exp(-epoch))
    scheduler.step()
    assert isinstance(seen[0], Tensor)
    np.testing.assert_allclose(rates_of(scheduler)[0], 0.1 * math.exp(-1), rtol=1e-6)


def test_one_lambda_per_group():
    scheduler = schedulers.MultiplicativeLR(optimizer(2), [lambda e: 0.9, lambda e: 0.5])
    scheduler.step()
    np.testing.assert_allclose(rates_of(scheduler), [0.09, 0.025], rtol=1e-6)


def test_bounds_of_groups():
    scheduler = schedulers.CyclicLR(optimizer(2), [0.01, 0.02], [0.1, 0.2], 2)
    assert [round(r, 6) for r in rates_of(scheduler)] == [0.01, 0.02]
    scheduler.step()
    np.testing.assert_allclose(rates_of(scheduler), [0.055, 0.11], rtol=1e-6)


def test_sequence():
    o = optimizer()
    parts = [schedulers.ConstantLR(o, 0.1, 2), schedulers.ExponentialLR(o, 0.9)]
    scheduler = schedulers.SequentialLR(o, parts, [4])
    found = []
    for _ in range(8):
        found += rates_of(scheduler)
        scheduler.step()
    np.testing.assert_allclose(found, [0.01, 0.01, 0.1, 0.1, 0.1, 0.09, 0.081, 0.0729], rtol=1e-6)


METRICS = [1.0, 0.9, 0.9, 0.9, 0.9, 0.8, 0.8, 0.8, 0.8, 0.8, 0.8]


@pytest.mark.parametrize(
    "options, expected",
    [
        ({"patience": 1}, [0.1, 0.1, 0.1, 0.01, 0.01, 0.01, 0.01, 1e-3, 1e-3, 1e-4, 1e-4]),
        ({"patience": 1, "mode": "max"}, [0.1, 0.1, 0.01, 0.01, 1e-3, 1e-3, 1e-4, 1e-4, 1e-5, 1e-5, 1e-6]),
        ({"patience": 1, "cooldown": 2}, [0.1, 0.1, 0.1, 0.01, 0.01, 0.01, 0.01, 1e-3, 1e-3, 1e-3, 1e-3]),
        (
            {"patience": 0, "threshold_mode": "abs", "threshold": 0.05, "factor": 0.5},
            [0.1, 0.1, 0.05, 0.025, 0.0125, 0.0125, 0.00625, 0.003125, 0.0015625, 0.00078125, 0.000390625],
        ),
        ({"patience": 1, "min_lr": 0.02}, [0.1, 0.1, 0.1, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02]),
        ({"patience": 1, "eps": 0.095}, [0.1] * 11),
    ],
    ids=range(6),
)
def test_plateau(options, expected):
    scheduler = schedulers.ReduceLROnPlateau(optimizer(), **options)
    found = []
    for i, metric in enumerate(METRICS):
        assert scheduler.step(Tensor(metric) if i % 2 else metric) is True
        found += rates_of(scheduler)
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    assert int(scheduler.last_epoch) == len(METRICS)


def test_lowest_rates_of_groups():
    scheduler = schedulers.ReduceLROnPlateau(optimizer(2), patience=0, min_lr=[0.02, 0.001])
    for metric in (1.0, 1.0, 1.0):
        scheduler.step(metric)
    np.testing.assert_allclose(rates_of(scheduler), [0.02, 0.001], rtol=1e-6)


ERRORS = [
    (lambda o: schedulers.StepLR(3, 2), TypeError, "optimizer"),
    (lambda o: schedulers.LRScheduler(o), NotImplementedError, "get_lr"),
    (lambda o: schedulers.StepLR(o, 2, last_epoch=-2), ValueError, "last_epoch"),
    (lambda o: schedulers.StepLR(o, 2, last_epoch=1.0), TypeError, "last_epoch"),
    (lambda o: schedulers.StepLR(o, 2, last_epoch=3), KeyError, "initial_lr"),
    (lambda o: schedulers.StepLR(o, 2.0), TypeError, "step_size"),
    (lambda o: schedulers.StepLR(o, 2, 1), TypeError, "gamma"),
    (lambda o: schedulers.MultiStepLR(o, (2,)), TypeError, "milestones"),
    (lambda o: schedulers.MultiStepLR(o, [2.0]), TypeError, r"milestones\[0\]"),
    (lambda o: schedulers.MultiStepLR(o, [2], "x"), TypeError, "gamma"),
    (lambda o: schedulers.ExponentialLR(o, 1), TypeError, "gamma"),
    (lambda o: schedulers.ConstantLR(o, 1.5), ValueError, "factor"),
    (lambda o: schedulers.ConstantLR(o, 0.5, 3.0), TypeError, "total_iters"),
    (lambda o: schedulers.LinearLR(o, 0.0), ValueError, "start_factor"),
    (lambda o: schedulers.LinearLR(o, 0.5, 1.5), ValueError, "end_factor"),
    (lambda o: schedulers.LinearLR(o, 0.5, 1.0, 3.0), TypeError, "total_iters"),
    (lambda o: schedulers.PolynomialLR(o, 3, 2), TypeError, "power"),
    (lambda o: schedulers.PolynomialLR(o, 3, -1.0), ValueError, "power"),
    (lambda o: schedulers.PolynomialLR(o, 3.0), TypeError, "total_iters"),
    (lambda o: schedulers.LambdaLR(o, [len, len]), ValueError, "lr_lambda"),
    (lambda o: schedulers.LambdaLR(o, 3), TypeError, "lr_lambda"),
    (lambda o: schedulers.MultiplicativeLR(3, len), TypeError, "optimizer"),
    (lambda o: schedulers.CosineAnnealingLR(o, 3.0), TypeError, "T_max"),
    (lambda o: schedulers.CosineAnnealingLR(o, 3, "x"), TypeError, "eta_min"),
    (lambda o: schedulers.CosineAnnealingWarmRestarts(o, 0), ValueError, "T_0"),
    (lambda o: schedulers.CosineAnnealingWarmRestarts(o, 2.0), ValueError, "T_0"),
    (lambda o: schedulers.CosineAnnealingWarmRestarts(o, 2, 0), ValueError, "T_mult"),
    (lambda o: schedulers.CosineAnnealingWarmRestarts(o, 2, 1, "x"), TypeError, "eta_min"),
    (lambda o: schedulers.CyclicLR(o, 0.01, 0.1, mode="zz"), ValueError, "mode"),
    (lambda o: schedulers.CyclicLR(o, [0.01, 0.02], 0.1), ValueError, "base_lr"),
    (lambda o: schedulers.CyclicLR(o, 0.01, [0.1, 0.2]), ValueError, "max_lr"),
    (lambda o: schedulers.SequentialLR(o, [schedulers.StepLR(optimizer(), 2)], []), ValueError, "same optimizer"),
    (lambda o: schedulers.SequentialLR(o, [schedulers.StepLR(o, 2)], [1]), ValueError, "milestones"),
    (lambda o: schedulers.ReduceLROnPlateau(3), TypeError, "optimizer"),
    (lambda o: schedulers.ReduceLROnPlateau(o, factor=1.0), ValueError, "factor"),
    (lambda o: schedulers.ReduceLROnPlateau(o, "zz"), ValueError, "mode"),
    (lambda o: schedulers.ReduceLROnPlateau(o, threshold_mode="zz"), ValueError, "threshold_mode"),
    (lambda o: schedulers.ReduceLROnPlateau(o, min_lr=[0.1, 0.2]), ValueError, "min_lr"),
]


@pytest.mark.parametrize("call, error, text", ERRORS)
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call(optimizer())
