"""Jobs that are asked to stop: all ranks end after the same step, saved, with the documented code."""

import os
import re
import signal
import subprocess
import time

import pytest

from tests.jobs.conftest import command, environment, processes

TRAINING = """
import os, sys, time
import numpy as np
import dist_ms as ms
from dist_ms import nn
from dist_ms.communication import init, get_rank
init()
ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
net = nn.Dense(3, 2)
model = ms.train.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.01))

class Says(ms.train.Callback):
    def on_train_step_end(self, run_context):
        if run_context.original_args().cur_step_num == 3:
            print("pid", get_rank(), os.getpid(), flush=True)
        time.sleep(0.001 * (1 + get_rank()))

    def on_train_interrupted(self, run_context):
        print("saved", get_rank(), run_context.original_args().cur_step_num, flush=True)

    def on_train_end(self, run_context):
        print("end", get_rank(), flush=True)

data = [(np.ones((4, 3), np.float32), np.ones((4, 2), np.float32))] * 1000
model.train(100, data, callbacks=Says())
print("not reached")
"""


class Started:
    """A job whose ranks train."""

    def __init__(self, words, folder, **options):
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "env": environment(), **options}
        self.process = subprocess.Popen(words, cwd=folder, text=True, **options)
        self.said, self.pids = "", {}

    def wait_for_ranks(self, ranks):
        while len(self.pids) < ranks:
            line = self.process.stdout.readline()
            assert line, self.process.communicate(timeout=10)
            self.said += line
            if found := re.search(r"pid (\d+) (\d+)", line):
                self.pids[int(found[1])] = int(found[2])

    def end(self):
        out, err = self.process.communicate(timeout=30)
        return self.process.returncode, self.said + out, err


def check_saved(out, ranks):
    """All ranks saved at one step, and ended after it."""
    saved = re.findall(r"saved (\d+) (\d+)", out)
    assert sorted(rank for rank, _ in saved) == [str(r) for r in range(ranks)], out
    assert len({step for _, step in saved}) == 1
    assert sorted(re.findall(r"end (\d+)", out)) == [str(r) for r in range(ranks)]
    assert "not reached" not in out


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_to_one_rank_stops_all_after_one_step(write, tmp_path, number):
    job = Started(command("mpirun", 2, write(TRAINING)), tmp_path)
    job.wait_for_ranks(2)
    start = time.monotonic()
    os.kill(job.pids[1], number)
    code, out, err = job.end()
    check_saved(out, 2)
    assert code == 75 and time.monotonic() - start < 5
    assert err.count("dist_ms: stopped on request (") == 1 and "[rank" not in err
    assert processes(str(tmp_path)) == []
