"""Dropout layers."""

import numpy as np
import pytest

from dist_ms import nn, set_seed
from tests.precisions import tensor

LAYERS = [
    (nn.Dropout(p=0.5), (40, 50)),
    (nn.Dropout(0.5), (40, 50)),
    (nn.Dropout1d(0.5), (50, 40, 2)),
    (nn.Dropout2d(0.5), (50, 40, 2, 2)),
    (nn.Dropout3d(0.5), (50, 40, 2, 2, 1)),
]


@pytest.mark.parametrize("layer, shape", LAYERS, ids=lambda p: type(p).__name__)
def test_acts_in_training_only(layer, shape):
    x = tensor(np.ones(shape))
    assert layer.set_train(False)(x) is x
    layer.set_train()
    set_seed(1)
    first = layer(x).asnumpy()
    assert set(np.unique(first)) == {0, 2} and 0.45 < (first > 0).mean() < 0.55
    assert not np.array_equal(layer(x).asnumpy(), first)
    set_seed(1)
    assert np.array_equal(layer(x).asnumpy(), first)


def test_keep_prob_and_p():
    x = tensor(np.ones(20000))
    for layer in (nn.Dropout(keep_prob=0.9), nn.Dropout(p=0.1), nn.Dropout(keep_prob=0.2, p=0.1)):
        assert 0.88 < (layer.set_train()(x).asnumpy() > 0).mean() < 0.92
    assert nn.Dropout(p=0).set_train()(x) is x
    assert nn.Dropout(1.0).set_train()(x) is x


def test_text():
    texts = [
        repr(layer)
        for layer in (nn.Dropout(p=0.3), nn.Dropout(0.3), nn.Dropout(), nn.Dropout1d(), nn.Dropout2d(), nn.Dropout3d())
    ]
    assert texts == [
        "Dropout(p=0.3)",
        "Dropout(keep_prob=0.3)",
        "Dropout(keep_prob=0.5)",
        "Dropout1d()",
        "Dropout2d(p=0.5)",
        "Dropout3d(p=0.5)",
    ]


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda: nn.Dropout(p=1.0), ValueError),
        (lambda: nn.Dropout(p=-0.1), ValueError),
        (lambda: nn.Dropout(p="a"), TypeError),
        (lambda: nn.Dropout(keep_prob=0), TypeError),
        (lambda: nn.Dropout(keep_prob=0.0), ValueError),
        (lambda: nn.Dropout(keep_prob=2.0), ValueError),
        (lambda: nn.Dropout1d(1), TypeError),
        (lambda: nn.Dropout1d(-1.0), ValueError),
        (lambda: nn.Dropout2d("a"), TypeError),
        (lambda: nn.Dropout2d(1.5), ValueError),
        (lambda: nn.Dropout(p=0.3).set_train()(tensor([1, 2], np.int32)), TypeError),
        (lambda: nn.Dropout1d().set_train()(tensor([1, 2])), ValueError),
        (lambda: nn.Dropout2d().set_train()(tensor(np.ones((2, 2, 2)))), ValueError),
    ],
)
def test_errors(call, error):
    with pytest.raises(error, match="(?i)for 'dropout"):
        call()
