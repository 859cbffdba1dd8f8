"""What `dist-ms run` says at the end of a job, and what `dist-ms top` shows while it runs."""

import os
import signal
import subprocess
import sys
import time

from tests.jobs.conftest import command, environment

TRAIN = """
import sys, time
import numpy as np
import dist_ms as ms
from dist_ms import nn, train
from dist_ms.communication import get_rank, init
init()
ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
net = nn.Dense(4, 2)
model = train.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.01))
slow, steps = sys.argv[1], int(sys.argv[2])

class Slow(train.Callback):
    def on_train_step_begin(self, run_context):
        if slow == "rank" and get_rank() == 1:
            time.sleep(0.02)

class Rows:
    def __iter__(self):
        for _ in range(steps):
            if slow == "data":
                time.sleep(0.02)
            yield ms.Tensor(np.ones((8, 4), np.float32)), ms.Tensor(np.zeros((8, 2), np.float32))

model.train(1, Rows(), callbacks=[Slow()])
if get_rank() == 0:
    open("done", "w").close()
"""


def test_the_closing_line_names_what_bounds_a_job(run, tmp_path):
    env = {"XDG_RUNTIME_DIR": str(tmp_path / "run")}
    line = run(TRAIN, "rank", "50", **env).err.splitlines()[-1]
    assert line.startswith("dist-ms: ") and " 50 steps on 2 ranks, " in line and " samples/s; waited " in line
    assert "(rank 1 least, " in line
    line = run(TRAIN, "data", "50", **env).err.splitlines()[-1]
    assert int(line.partition("waited ")[2].partition(" % for data")[0]) > 50
    assert run(TRAIN, "none", "50", options=["--no-summary"], **env).err == ""
    done = run(TRAIN, "none", "50", options=["--summary-on", "stdout"], **env)
    assert done.err == "" and " 50 steps on 2 ranks, " in done.out.splitlines()[-1]
    assert not (tmp_path / "run" / "dist_ms").exists()


def test_top_shows_a_job_until_it_has_ended(write, tmp_path):
    env = environment(XDG_RUNTIME_DIR=str(tmp_path / "run"), COLUMNS="80")
    job = subprocess.Popen(command("dist-ms", 2, write(TRAIN), "rank", "100000"), cwd=tmp_path, env=env)
    words = [sys.executable, "-m", "dist_ms.launch", "top", "--once", "--interval", "1.5"]
    try:
        deadline, text = time.monotonic() + 30, ""
        while text.count("1/1") < 2:  # both ranks train
            assert time.monotonic() < deadline, text
            text = subprocess.run(words, env=env, capture_output=True, text=True, timeout=30, check=True).stdout
        assert "script.pyrank100000:2ranks" in "".join(text.split())  # the folder's name may break the line anywhere
        os.kill(job.pid, signal.SIGKILL)  # and mpirun with it
        job.wait(10)
        text = subprocess.run(words, env=env, capture_output=True, text=True, timeout=30, check=True).stdout
        assert "No job of yours runs here" in text
    finally:
        job.kill()
        job.wait()
