"""Mistakes in a model end the job on every rank with one clear error, exit code not 0, and no hang."""

import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

DIST_MS = Path(sys.executable).with_name("dist-ms")

HEAD = """
import numpy as np
import dist_ms as ms
from dist_ms import Parameter, Tensor, nn
from dist_ms.communication import init, get_rank
init()
rank = get_rank()
ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
ms.set_seed(1)
def step(net, x, y, loss=None):
    params = net.trainable_params()
    return nn.TrainOneStepCell(nn.WithLossCell(net, loss or nn.MSELoss()), nn.SGD(params, 0.1))(x, y)
x, y = Tensor(np.ones((4, 3), np.float32)), Tensor(np.ones((4, 2), np.float32))
"""

CASES = {
    "another layer size": (
        "step(nn.SequentialCell(nn.Dense(3, 8 + rank), nn.Dense(8 + rank, 2)), x, y)",
        ["PlanMismatchError", "0.weight", "(8, 3)", "(9, 3)"],
        2,
    ),
    "another type": (
        "net = nn.Dense(3, 2)\nif rank: net.bias.set_dtype(ms.float64)\nstep(net, x, y)",
        ["PlanMismatchError", "bias"],
        2,
    ),
    "one parameter more": (
        "net = nn.Dense(3, 2)\nif rank: net.extra = Parameter(Tensor([1.0]), name='extra')\nstep(net, x, y)",
        ["PlanMismatchError", "extra"],
        2,
    ),
    "a wrong shape on all ranks": ("step(nn.Dense(5, 2), x, y)", ["Error"], 2),
    "a wrong shape on one rank": (
        "step(nn.Dense(3, 2), x if rank else Tensor(np.ones((4, 7), np.float32)), y)",
        ["Error", "[rank 0 of 2]"],
        1,
    ),
    "a wrong label type": (
        "step(nn.Dense(3, 2), x, Tensor(np.ones(4, np.float32)), nn.SoftmaxCrossEntropyWithLogits(sparse=True))",
        ["Error"],
        2,
    ),
    "datasets of different length": (
        "net = nn.Dense(3, 2)\n"
        "data = [(np.ones((4, 3), np.float32), np.ones((4, 2), np.float32))] * (3 + rank)\n"
        "ms.train.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.1)).train(1, data)",
        ["ValueError", "rank 0: 3", "rank 1: 4"],
        2,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_mistakes(name, tmp_path):
    body, texts, tracebacks = CASES[name]
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(HEAD) + body + "\n")
    start = time.monotonic()
    done = subprocess.run(
        [str(DIST_MS), "run", "-n", "2", str(script)], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode != 0
    assert time.monotonic() - start < 20
    for text in texts:
        assert text in done.stderr, done.stderr
    assert done.stderr.count("Traceback (most recent call last)") >= tracebacks, done.stderr


def test_negative_strides_are_no_mistake(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        HEAD + "print('loss', step(nn.Dense(3, 2), Tensor(np.ones((4, 3), np.float32)[::-1, ::-1]), y))\n"
    )
    done = subprocess.run(
        [str(DIST_MS), "run", "-n", "2", str(script)], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("loss") == 2
