"""`dist-ms plan`: the plan of a script, printed in place of its first step."""

import subprocess
import sys

import pytest

SCRIPT = """
import numpy as np, sys
import dist_ms as ms
from dist_ms import nn
if {init}:
    from dist_ms.communication import init
    init()
ms.set_auto_parallel_context({context})
net = nn.Dense(200, 100)
own = ms.Parameter(ms.Tensor([1.0]), name="own", layerwise_parallel=True)
step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.Adam([*net.trainable_params(), own], 0.1))
print("before the step")
step(ms.Tensor(np.ones((4, 200), np.float32)), ms.Tensor(np.ones((4, 100), np.float32)))
print("after the step")
"""


def plan(path, *options, context="parallel_mode='data_parallel', gradients_mean=True", init=False):
    script = path / "script.py"
    script.write_text(SCRIPT.format(context=context, init=init))
    command = [sys.executable, "-m", "dist_ms.launch", "plan", *options, str(script)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def rows(text):
    return {line.split()[0]: line.split() for line in text.splitlines() if line}


def test_the_table_of_one_process(tmp_path):
    done = plan(tmp_path)
    assert done.returncode == 0, done.stderr
    assert "before the step" in done.stdout and "after the step" not in done.stdout
    found = rows(done.stdout)
    assert found["weight"][4:6] == ["broadcast", "all_reduce"]
    assert found["own"][3:5] == ["keep", "keep"]
    assert found["moment1.weight"][4:6] == ["broadcast", "none"]


@pytest.mark.parametrize("ranks", ["2", "3"])
def test_with_ranks_the_parallel_optimizer_shows(tmp_path, ranks):
    context = "parallel_mode='data_parallel', gradients_mean=True, enable_parallel_optimizer=True"
    done = plan(tmp_path, "-n", ranks, context=context, init=True)
    assert done.returncode == 0, done.stderr
    assert rows(done.stdout)["weight"][5] == "reduce_scatter"
    assert f"in {ranks} slices of" in done.stdout and "after the step" not in done.stdout


def test_without_a_data_parallel_step_there_is_no_plan(tmp_path):
    done = plan(tmp_path, context="parallel_mode='stand_alone'")
    assert done.returncode == 2
    assert "ended without a data-parallel train step" in done.stderr and "after the step" in done.stdout


def test_a_script_that_fails(tmp_path):
    done = plan(tmp_path, context="no_such_key=1")
    assert done.returncode == 1 and "no_such_key" in done.stderr
