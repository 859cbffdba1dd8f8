"""Learning-rate schedules: numbers of MindSpore 2.10.0 for steps 0 to 6."""

import numpy as np
import pytest

from dist_ms import Parameter, Tensor, float32, int32, int64, nn

MINDSPORE = [
    (lambda: nn.ExponentialDecayLR(0.1, 0.9, 4), [0.1, 0.0974, 0.094868, 0.092402, 0.09, 0.08766, 0.085382]),
    (lambda: nn.ExponentialDecayLR(0.1, 0.9, 4, True), [0.1, 0.1, 0.1, 0.1, 0.09, 0.09, 0.09]),
    (lambda: nn.NaturalExpDecayLR(0.1, 0.9, 4), [0.1, 0.040657, 0.01653, 0.006721, 0.002732, 0.001111, 0.000452]),
    (lambda: nn.NaturalExpDecayLR(0.1, 0.9, 4, True), [0.1, 0.1, 0.1, 0.1, 0.002732, 0.002732, 0.002732]),
    (lambda: nn.InverseDecayLR(0.1, 0.9, 4, True), [0.1, 0.1, 0.1, 0.1, 0.052632, 0.052632, 0.052632]),
    (lambda: nn.InverseDecayLR(0.1, 0.9, 4), [0.1, 0.081633, 0.068966, 0.059701, 0.052632, 0.047059, 0.042553]),
    (lambda: nn.CosineDecayLR(0.01, 0.1, 4), [0.1, 0.08682, 0.055, 0.02318, 0.01, 0.01, 0.01]),
    (lambda: nn.PolynomialDecayLR(0.1, 0.01, 4, 0.5), [0.1, 0.087942, 0.07364, 0.055, 0.01, 0.01, 0.01]),
    (lambda: nn.PolynomialDecayLR(0.1, 0.01, 4, 0.5, True), [0.1, 0.087942, 0.07364, 0.055, 0.01, 0.065114, 0.055]),
    (lambda: nn.WarmUpLR(0.1, 4), [0.0, 0.025, 0.05, 0.075, 0.1, 0.1, 0.1]),
]


@pytest.mark.parametrize("make, expected", MINDSPORE, ids=range(len(MINDSPORE)))
def test_rates_equal_mindspore(make, expected):
    schedule = make()
    rates = [schedule(Tensor(i, int32)) for i in range(7)]
    assert all(r.shape == () and r.dtype == float32 for r in rates)
    np.testing.assert_allclose([float(r.asnumpy()) for r in rates], expected, atol=6e-7)


@pytest.mark.parametrize("make, expected", MINDSPORE, ids=range(len(MINDSPORE)))
def test_steps_of_any_form(make, expected):
    schedule = make()
    np.testing.assert_allclose(schedule(Tensor([0, 3, 6], int64)).asnumpy(), np.array(expected)[::3], atol=6e-7)
    step = Parameter(Tensor([5], int32), name="global_step")
    assert schedule(step).shape == (1,) and abs(float(schedule(step)) - expected[5]) < 6e-7
    assert abs(float(schedule(Tensor(2.0))) - expected[2]) < 6e-7


@pytest.mark.parametrize(
    "call, error, text",
    [
        (lambda: nn.ExponentialDecayLR(1, 0.9, 4), TypeError, "learning_rate"),
        (lambda: nn.ExponentialDecayLR(-0.1, 0.9, 4), ValueError, "learning_rate"),
        (lambda: nn.NaturalExpDecayLR(0.1, 1, 4), TypeError, "decay_rate"),
        (lambda: nn.InverseDecayLR(0.1, 0.0, 4), ValueError, "decay_rate"),
        (lambda: nn.ExponentialDecayLR(0.1, 0.9, 0), ValueError, "decay_steps"),
        (lambda: nn.ExponentialDecayLR(0.1, 0.9, 4.0), TypeError, "decay_steps"),
        (lambda: nn.ExponentialDecayLR(0.1, 0.9, True), TypeError, "decay_steps"),
        (lambda: nn.ExponentialDecayLR(0.1, 0.9, 4, 1), TypeError, "is_stair"),
        (lambda: nn.CosineDecayLR(0.2, 0.1, 4), ValueError, "max_lr"),
        (lambda: nn.CosineDecayLR(0, 0.1, 4), TypeError, "min_lr"),
        (lambda: nn.PolynomialDecayLR(0.1, 0, 4, 0.5), TypeError, "end_learning_rate"),
        (lambda: nn.PolynomialDecayLR(0.1, 0.01, 4, 0.0), ValueError, "power"),
        (lambda: nn.PolynomialDecayLR(0.1, 0.01, 4, 0.5, 1), TypeError, "update_decay_steps"),
        (lambda: nn.WarmUpLR(-0.1, 4), ValueError, "learning_rate"),
        (lambda: nn.WarmUpLR(0.1, 0), ValueError, "warmup_steps"),
        (lambda: nn.LearningRateSchedule()(Tensor(0)), NotImplementedError, "construct"),
    ],
)
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_schedules_follow_each_other_in_an_optimizer():
    rate = nn.WarmUpLR(0.1, 2).then(nn.ExponentialDecayLR(0.1, 0.5, 1), after=2).then(nn.WarmUpLR(0.8, 8), after=4)
    net = nn.Dense(1, 1, weight_init="zeros", has_bias=False)
    optimizer, before, moved = nn.SGD(net.trainable_params(), rate), 0.0, []
    for _ in range(7):
        optimizer((Tensor([[-1.0]], float32),))
        moved.append(float(net.weight[0, 0]) - before)
        before = float(net.weight[0, 0])
    np.testing.assert_allclose(moved, [0.0, 0.05, 0.1, 0.05, 0.0, 0.1, 0.2], atol=1e-6)
    np.testing.assert_allclose(rate(Tensor([1, 3, 6], int32)).asnumpy(), [0.05, 0.05, 0.2], rtol=1e-6)
    assert float(rate(3)) == pytest.approx(0.05)


@pytest.mark.parametrize(
    ("other", "after", "error", "text"),
    [
        (0.1, 4, TypeError, "'schedule' must be a LearningRateSchedule, but got float"),
        (nn.WarmUpLR(0.1, 2), 0, ValueError, "'after' must be a positive int, but got 0"),
    ],
)
def test_what_cannot_follow_is_refused(other, after, error, text):
    with pytest.raises(error, match=text):
        nn.WarmUpLR(0.1, 2).then(other, after)
