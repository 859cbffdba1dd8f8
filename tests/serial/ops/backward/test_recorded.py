"""Gradients as operations return what MindSpore's do (recorded by tests/parity/gradient_primitives.py)."""

from pathlib import Path

import numpy as np
import pytest

import dist_ms as ms
from dist_ms.ops import backward
from tests.parity.gradient_primitives import given
from tests.serial.ops.backward.cases import CASES

RECORDED = np.load(Path(__file__).parent / "recorded.npz")


@pytest.mark.parametrize("number", range(len(CASES)), ids=lambda i: f"{CASES[i][0]}-{i}")
def test_mindspore_returns_the_same(number):
    name, options, inputs = CASES[number]
    op = getattr(backward, name, None) or getattr(ms.ops.operations, name)
    outputs = op(**options)(*given(inputs, ms.Tensor))
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    assert len(outputs) == sum(key.startswith(f"{number}.") for key in RECORDED)
    for k, output in enumerate(outputs):
        got, wanted = output.asnumpy(), RECORDED[f"{number}.{k}"]
        assert got.dtype == wanted.dtype and got.shape == wanted.shape
        assert np.allclose(got, wanted, rtol=2e-4, atol=2e-5)
