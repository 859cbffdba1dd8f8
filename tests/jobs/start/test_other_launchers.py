"""Processes that torchrun, msrun or srun without MPI started as several: each says so, and none trains alone."""

import subprocess
import sys

import pytest

from tests.jobs.conftest import environment
from tests.serial.communication.start.test_launched import MSRUN, SRUN, TORCHRUN

TRAINING = """
import sys
import numpy as np
import dist_ms as ms
from dist_ms import nn
from dist_ms.communication import init, get_rank, get_group_size
if "init" in sys.argv:
    init()
ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
net = nn.Dense(3, 2)
step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params()))
step(ms.Tensor(np.ones((4, 3), np.float32)), ms.Tensor(np.ones((4, 2), np.float32)))
print("trained", get_rank(), get_group_size())
"""

LAUNCHERS = {
    "torchrun": ("torchrun has started", [TORCHRUN | {"RANK": str(r), "LOCAL_RANK": str(r)} for r in range(2)]),
    # By the scheduler's numbers, with the ranks given, and the scheduler, which runs the script as well.
    "msrun": ("msrun has started", [MSRUN | {"MS_NODE_ID": str(r), "DEVICE_ID": str(r)} for r in range(2)]),
    "msrun, ranks given": (
        "msrun has started",
        [MSRUN | {"MS_NODE_ID": str(r), "MS_NODE_RANK": str(r), "RANK_ID": str(r)} for r in range(2)],
    ),
    "msrun's scheduler": ("msrun has started", [MSRUN | {"MS_ROLE": "MS_SCHED", "MS_NODE_ID": "sched"}]),
    "srun": ("srun without MPI has started", [SRUN | {"SLURM_PROCID": str(r)} for r in range(2)]),
}


@pytest.fixture
def start(write, tmp_path):
    """Start the script once per environment, as the launcher would, and return how each process ended."""

    def start_all(environs, *arguments):
        words = [sys.executable, str(write(TRAINING)), *arguments]
        processes = [
            subprocess.Popen(
                words, env=environment(**environ), cwd=tmp_path, text=True,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            )
            for environ in environs
        ]  # fmt: skip
        return [(*process.communicate(timeout=60), process.returncode) for process in processes]

    return start_all


@pytest.mark.parametrize("arguments", [("init",), ()], ids=["init", "no init"])
@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_several_processes_without_mpi_are_refused_on_each(start, launcher, arguments):
    name, environs = LAUNCHERS[launcher]
    for out, err, code in start(environs, *arguments):
        assert code == 1 and out == "", (out, err)
        last = err.rstrip().splitlines()[-1]
        assert last.startswith("RuntimeError: [rank ") and name in last
        assert f"For '{'init' if arguments else 'data_parallel'}'" in last
        assert "'dist-ms run -n " in last and "script.py'" in last


@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_each_may_be_meant_to_train_alone(start, launcher):
    for out, err, code in start([e | {"DIST_MS_ALONE": "1"} for e in LAUNCHERS[launcher][1]], "init"):
        assert (out, code) == ("trained 0 1\n", 0), err


@pytest.mark.parametrize("ranks", [1, 2])
def test_a_job_of_mpi_s_passes_whatever_is_left_over(run, how, ranks):
    left_over = {k: v for k, v in TORCHRUN.items() if k != "RANK"} | {"RANK": "0", "SLURM_PROCID": "0"}
    if how == "mpirun" and ranks == 1:
        left_over["WORLD_SIZE"] = "1"
    done = run(TRAINING, "init", how=how, ranks=ranks, **left_over)
    assert done.code == 0, done.err
    assert sorted(done.out.splitlines()) == [f"trained {r} {ranks}" for r in range(ranks)]


def test_a_number_of_workers_is_for_mpirun(run):
    done = run(TRAINING, "init", how="mpirun", MS_WORKER_NUM="2", MS_ROLE="MS_WORKER")
    assert done.code == 0, done.err
    assert sorted(done.out.splitlines()) == ["trained 0 2", "trained 1 2"]
