"""The scripts of examples/cluster in a real Slurm: ranks, the warning signal, requeueing, resuming."""

import re
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.jobs.start.slurm import missing, up

EXAMPLES = Path(__file__).parents[3] / "examples" / "cluster"
TRAINING = """
import sys, time
import numpy as np
import dist_ms as ms
from dist_ms import nn
from dist_ms.communication import init, get_rank, get_group_size
init()
ms.set_seed(1)
ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
net = nn.Dense(3, 2)
model = ms.train.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.01))

class Steps(ms.train.Callback):
    def on_train_step_end(self, run_context):
        step = run_context.original_args().cur_step_num
        if step % 50 == 5:
            print("rank", get_rank(), get_group_size(), step, flush=True)
        time.sleep(0.01)

data = [(np.ones((4, 3), np.float32), np.ones((4, 2), np.float32))] * 100
save = ms.train.RunCheckpoint(sys.argv[1], every_steps=1000)
model.train(2, data, callbacks=[Steps(), save], resume=sys.argv[1])
print("finished", get_rank(), flush=True)
"""


@pytest.fixture(scope="module")
def slurm():
    reason = missing()
    if reason is not None:
        pytest.skip(reason)
    with ExitStack() as stack:
        try:
            found = stack.enter_context(up())
        except OSError as error:
            pytest.skip(str(error))
        yield found


@pytest.mark.parametrize("script", ["slurm_one_node.sh", "slurm_srun.sh"])
def test_the_warning_saves_and_requeueing_resumes(slurm, write, tmp_path, script):
    if "srun" in script:
        try:
            slurm.call("srun", "-n", "1", "--mpi=pmix", "true")
        except OSError as error:
            pytest.skip(f"srun --mpi=pmix does not work here (apt-get install libpmix-dev): {error}")
    options = ["--nodes=1", "--ntasks-per-node=2", "--cpus-per-task=1"] if "srun" in script else []
    out = tmp_path / "out"
    names = {"DIST_MS": f"{Path(sys.executable).parent}/dist-ms", "PYTHON": sys.executable}
    words = ["sbatch", "--parsable", "-o", out, "-D", tmp_path, *options, EXAMPLES / script, write(TRAINING), "state"]
    job = slurm.call(*words, **names)
    until = time.monotonic() + 30
    while not (out.exists() and len(re.findall(r"rank \d 2 55", out.read_text())) == 2):
        assert time.monotonic() < until, slurm.facts(job)
        time.sleep(0.05)
    slurm.call("scancel", "--signal=USR1", *(["--batch"] if "srun" not in script else []), job)
    facts = slurm.wait(job, "PENDING")
    assert facts["Restarts"] == "1", out.read_text()
    # The signal is named once: by the launcher, or by the ranks where there is none.
    told = ["stopped on request (SIGUSR1) after step"]
    if "srun" not in script:
        told = ["got SIGUSR1; the ranks have 50 s", "stopped on request after step"]
    assert all(words in out.read_text() for words in told) and "finished" not in out.read_text()
    slurm.wait_until_idle()
    time.sleep(2)  # slurmd refuses a start in the second in which it revoked the job's last credential
    slurm.call("scontrol", "update", f"jobid={job}", "StartTime=now")  # Slurm waits two minutes before it requeues
    slurm.wait(job, "COMPLETED")
    text = out.read_text()
    assert sorted(re.findall(r"finished (\d)", text)) == ["0", "1"]
    assert len(re.findall(r"rank 0 2 (\d+)", text)) == 4, text  # no step was made twice
