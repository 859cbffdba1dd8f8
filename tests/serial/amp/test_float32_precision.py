"""The switch that lets float32 products round their factors to bfloat16."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Tensor, nn, ops


@pytest.fixture
def medium():
    ms.amp.set_float32_matmul_precision("medium")
    yield
    ms.amp.set_float32_matmul_precision("highest")


def values():
    random = np.random.default_rng(0)
    return [Tensor(random.standard_normal((256, 256)).astype(np.float32)) for _ in range(2)]


def error(found, a, b):
    wanted = a.asnumpy().astype(np.float64) @ b.asnumpy().astype(np.float64)
    return np.abs(found.asnumpy() - wanted).max() / np.abs(wanted).max()


def test_products(medium):
    from dist_ms._ext import dnnl

    a, b = values()
    found = ops.matmul(a, b)
    assert found.dtype == ms.float32 and error(found, a, b) < 1e-2
    if dnnl.has_bfloat16():
        assert error(found, a, b) > 1e-5, "the factors are rounded"
    ms.amp.set_float32_matmul_precision("highest")
    assert error(ops.matmul(a, b), a, b) < 1e-6


def test_training_is_float32_outside(medium):
    net = nn.SequentialCell(nn.Dense(64, 64), nn.ReLU(), nn.Dense(64, 8))
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.CrossEntropyLoss()), nn.SGD(net.trainable_params(), 0.1))
    random = np.random.default_rng(1)
    x, y = (
        Tensor(random.standard_normal((64, 64)).astype(np.float32)),
        Tensor(random.integers(0, 8, 64).astype(np.int32)),
    )
    losses = [float(step(x, y).asnumpy()) for _ in range(20)]
    assert losses[-1] < 0.9 * losses[0] and all(p.dtype == ms.float32 for p in net.get_parameters())


def test_other_precisions_are_refused():
    with pytest.raises(ValueError, match="'precision' must be 'highest' or 'medium', but got 'low'"):
        ms.amp.set_float32_matmul_precision("low")
