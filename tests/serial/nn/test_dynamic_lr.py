"""Lists of learning rates: numbers of MindSpore 2.10.0."""

import numpy as np
import pytest

from dist_ms import Parameter, Tensor, nn

# Two steps an epoch; decay_epoch, or the like, is 2.
MINDSPORE = [
    (nn.piecewise_constant_lr, ([2, 5, 7], [0.1, 0.05, 0.01]), {}, [0.1, 0.1, 0.05, 0.05, 0.05, 0.01, 0.01]),
    (nn.piecewise_constant_lr, ((2, 2, 3), (0.1, 0.05, 0.01)), {}, [0.1, 0.1, 0.01]),
    (nn.exponential_decay_lr, (0.1, 0.9, 7, 2, 2), {}, [0.1, 0.1, 0.09486833, 0.09486833, 0.09, 0.09, 0.08538150]),
    (nn.exponential_decay_lr, (0.1, 0.9, 7, 2, 2), {"is_stair": True}, [0.1, 0.1, 0.1, 0.1, 0.09, 0.09, 0.09]),
    (nn.natural_exp_decay_lr, (0.1, 0.9, 6, 2, 2), {}, [0.1, 0.1, 0.04065697, 0.04065697, 0.01652989, 0.01652989]),
    (nn.natural_exp_decay_lr, (0.1, 0.9, 5, 2, 2), {"is_stair": True}, [0.1, 0.1, 0.1, 0.1, 0.01652989]),
    (nn.inverse_decay_lr, (0.1, 0.5, 6, 2, 2), {}, [0.1, 0.1, 0.08, 0.08, 0.06666667, 0.06666667]),
    (nn.inverse_decay_lr, (0.1, 0.5, 6, 2, 2), {"is_stair": True}, [0.1, 0.1, 0.1, 0.1, 0.06666667, 0.06666667]),
    (nn.cosine_decay_lr, (0.01, 0.1, 7, 2, 2), {}, [0.1, 0.1, 0.055, 0.055, 0.01, 0.01, 0.01]),
    (nn.polynomial_decay_lr, (0.1, 0.01, 6, 2, 2, 0.5), {}, [0.1, 0.1, 0.07363961, 0.07363961, 0.01, 0.01]),
    (
        nn.polynomial_decay_lr,
        (0.1, 0.01, 8, 2, 2, 0.5),
        {"update_decay_epoch": True},
        [0.1, 0.1, 0.07363961, 0.07363961, 0.01, 0.01, 0.055, 0.055],
    ),
    (nn.warmup_lr, (0.1, 7, 2, 2), {}, [0.0, 0.0, 0.05, 0.05, 0.1, 0.1, 0.1]),
]


@pytest.mark.parametrize("make, args, options, expected", MINDSPORE, ids=range(len(MINDSPORE)))
def test_rates_equal_mindspore(make, args, options, expected):
    rates = make(*args, **options)
    assert isinstance(rates, list) and all(isinstance(r, float) for r in rates)
    np.testing.assert_allclose(rates, expected, atol=5e-9)


def test_optimizers_take_them():
    w = Parameter(Tensor([1.0]), name="w")
    optimizer = nn.SGD([w], nn.piecewise_constant_lr([1, 2], [0.5, 0.25]))
    for _ in range(2):
        optimizer((Tensor([1.0]),))
    assert w.asnumpy()[0] == 0.25


DECAYS = [nn.exponential_decay_lr, nn.natural_exp_decay_lr, nn.inverse_decay_lr]


@pytest.mark.parametrize("make", DECAYS)
@pytest.mark.parametrize(
    "args, error, text",
    [
        ((1, 0.9, 6, 2, 2), TypeError, "learning_rate"),
        ((0.0, 0.9, 6, 2, 2), ValueError, "learning_rate"),
        ((0.1, 1, 6, 2, 2), TypeError, "decay_rate"),
        ((0.1, -0.5, 6, 2, 2), ValueError, "decay_rate"),
        ((0.1, 0.9, 6.0, 2, 2), TypeError, "total_step"),
        ((0.1, 0.9, 0, 2, 2), ValueError, "total_step"),
        ((0.1, 0.9, 6, True, 2), TypeError, "step_per_epoch"),
        ((0.1, 0.9, 6, 2, -1), ValueError, "decay_epoch"),
        ((0.1, 0.9, 6, 2, 2, 1), TypeError, "is_stair"),
    ],
)
def test_errors_of_decays(make, args, error, text):
    with pytest.raises(error, match=f"For '{make.__name__}'.*{text}"):
        make(*args)


@pytest.mark.parametrize(
    "call, error, text",
    [
        (lambda: nn.piecewise_constant_lr(2, [0.1]), TypeError, "milestone"),
        (lambda: nn.piecewise_constant_lr([2], 0.1), TypeError, "learning_rates"),
        (lambda: nn.piecewise_constant_lr([2, 3], [0.1]), ValueError, "one entry per milestone"),
        (lambda: nn.piecewise_constant_lr([3, 2], [0.1, 0.2]), ValueError, r"milestone\[1\]"),
        (lambda: nn.piecewise_constant_lr([0, 2], [0.1, 0.2]), ValueError, r"milestone\[0\]"),
        (lambda: nn.piecewise_constant_lr([2.0], [0.1]), TypeError, r"milestone\[0\]"),
        (lambda: nn.piecewise_constant_lr([2], [1]), TypeError, r"learning_rates\[0\]"),
        (lambda: nn.cosine_decay_lr(0, 0.1, 6, 2, 2), TypeError, "min_lr"),
        (lambda: nn.cosine_decay_lr(0.2, 0.1, 6, 2, 2), ValueError, "max_lr"),
        (lambda: nn.cosine_decay_lr(0.0, 0.1, 6, 2, 0), ValueError, "decay_epoch"),
        (lambda: nn.polynomial_decay_lr(0.1, -0.1, 6, 2, 2, 0.5), ValueError, "end_learning_rate"),
        (lambda: nn.polynomial_decay_lr(0.1, 0.01, 6, 2, 2, 1), TypeError, "power"),
        (lambda: nn.polynomial_decay_lr(0.1, 0.01, 6, 2, 2, 0.5, 1), TypeError, "update_decay_epoch"),
        (lambda: nn.warmup_lr(-0.1, 6, 2, 2), ValueError, "learning_rate"),
        (lambda: nn.warmup_lr(0.1, 6, 2, 2.0), TypeError, "warmup_epoch"),
    ],
)
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call()
