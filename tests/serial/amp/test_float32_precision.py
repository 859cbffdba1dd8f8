"""The switch that lets float32 products round their factors to bfloat16."""

import os
import subprocess
import sys

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Tensor, nn, ops
from dist_ms._ext import cpu, dnnl
from tests.precisions import sums_bound


@pytest.fixture
def medium():
    ms.amp.set_float32_matmul_precision("medium")
    yield
    ms.amp.set_float32_matmul_precision("highest")


def values():
    random = np.random.default_rng(0)
    return [Tensor(random.standard_normal((256, 256)).astype(np.float32)) for _ in range(2)]


def error(found, a, b):
    """How far a product is from the exact one, by what sums of exact factors allow: arrays."""
    a, b = (x.asnumpy().astype(np.float64) for x in (a, b))
    wanted = a @ b
    return np.abs(found.asnumpy() - wanted), sums_bound(a.shape[1], a**2 @ b**2, wanted)


def test_products(medium):
    a, b = values()
    found = ops.matmul(a, b)
    assert found.dtype == ms.float32
    off, allowed = error(found, a, b)
    if dnnl.rounds_factors():
        assert (off > allowed).any(), "the factors are rounded"
        # A rounded factor is off by up to 2^-8 of itself, a product of two by hardly more than twice that.
        allowed = allowed + 2.0**-6.99 * (np.abs(a.asnumpy()) @ np.abs(b.asnumpy()))
    assert (off <= allowed).all()
    ms.amp.set_float32_matmul_precision("highest")
    off, allowed = error(ops.matmul(a, b), a, b)
    assert (off <= allowed).all()


def test_factors_are_rounded_where_it_is_faster(medium):
    """With AMX alone; elsewhere Winograd's convolutions, say, stay in use."""
    code = (
        "from dist_ms._ext import amx, dnnl; dnnl.round_factors(True);"
        "assert dnnl.rounds_factors() == amx.available(); print(amx.available())"
    )
    unlimited = {name: value for name, value in os.environ.items() if not name.endswith("_ISA")}
    for limit in ({}, {"ONEDNN_MAX_CPU_ISA": "AVX512_CORE_BF16"}, {"DIST_MS_MAX_ISA": "v4"}):
        if limit.get("DIST_MS_MAX_ISA", "") <= cpu.level():
            found = subprocess.run(
                [sys.executable, "-c", code], env={**unlimited, **limit}, capture_output=True, text=True, timeout=60
            )
            assert found.returncode == 0, found.stderr
            assert not limit or found.stdout == "False\n"


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
