"""Jobs that fail and are started again."""

import os
import re
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

from dist_ms.launch.running.restarts import Outcome, with_restarts
from dist_ms.launch.running.stopping import say
from tests.jobs.conftest import environment, processes
from tests.jobs.stopping.test_interruption import Started, command

FAILS = """
import os, sys, time
import numpy as np
from dist_ms.communication import init, get_rank, get_comm
init()
count = int(os.environ["DIST_MS_RESTARTS"])
print("attempt", count, get_rank(), flush=True)
if count < {fails}:
    if get_rank() == get_comm().size - 1:
        {how}
    get_comm().all_reduce(np.ones(3))
"""
PAUSES = re.compile(r"dist-ms: restart (\d) of 3 in (\d) s")


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ("raise ValueError('no such data')", "(ValueError: no such data)"),
        ("os.kill(os.getpid(), 9)", "was ended by signal 9 (SIGKILL)"),
        ("os.kill(os.getppid(), 0); sys.exit(3)", "ended with exit code 3"),
    ],
)
def test_a_failed_job_comes_back(run, how, reason):
    done = run(FAILS.replace("{how}", how).replace("{fails}", "1"), options=["--restarts", "3"])
    assert done.code == 0, done.err
    assert sorted(done.out.splitlines()) == [f"attempt {n} {rank}" for n in range(2) for rank in range(2)]
    assert PAUSES.findall(done.err) == [("1", "1")]
    assert reason in done.err


def test_one_process_comes_back(run):
    done = run(FAILS.replace("{how}", "sys.exit(3)").replace("{fails}", "2"), options=["--restarts", "3"], ranks=1)
    assert done.code == 0 and "dist-ms: rank 0 of 1 ended with exit code 3." in done.err
    assert PAUSES.findall(done.err) == [("1", "1"), ("2", "2")]


def test_a_killed_mpirun_leaves_no_rank_behind_and_the_job_comes_back(write, tmp_path):
    script = write("""
        import os, time
        from dist_ms.communication import init
        init()
        print("pid", os.environ["OMPI_COMM_WORLD_RANK"], os.getpid(), flush=True)
        time.sleep(0 if os.environ["DIST_MS_RESTARTS"] == "1" else 60)
    """)
    job = Started(command("dist-ms", 2, script, options=["--restarts", "1"]), tmp_path)
    job.wait_for_ranks(2)
    children = subprocess.run(
        ["ps", "-o", "pid=,comm=", "--ppid", str(job.process.pid)], capture_output=True, text=True
    )
    mpirun = int(re.search(r"(\d+) (mpirun|prterun)", children.stdout)[1])
    maps = "".join(Path(f"/proc/{pid}/maps").read_text() for pid in job.pids.values())
    used = set(re.findall(r"/dev/shm/(sm_segment\S+)", maps))
    os.kill(mpirun, signal.SIGKILL)
    code, out, err = job.end()
    assert code == 0, err
    assert "dist-ms: mpirun was ended by signal 9 (SIGKILL); the job was stopped." in err
    assert out.count("pid ") == 4 and "restart 1 of 1 in 1 s." in err
    assert set(os.listdir("/dev/shm")) & used == set() and not os.path.exists(f"{tempfile.gettempdir()}/ompi.{mpirun}")
    assert processes(str(tmp_path)) == []


def test_a_signal_ends_the_pause(write, tmp_path):
    job = Started(command("dist-ms", 1, write("raise SystemExit(3)"), options=["--restarts", "9"]), tmp_path)
    assert "ended with exit code 3" in job.process.stderr.readline()
    assert "restart 1 of 9 in 1 s" in job.process.stderr.readline()
    assert "ended with exit code 3" in job.process.stderr.readline()
    assert "restart 2 of 9 in 2 s" in job.process.stderr.readline()
    start = time.monotonic()
    job.process.send_signal(signal.SIGTERM)
    code, _, err = job.end()
    assert code == 75 and err == "dist-ms: got SIGTERM; the job is not started again.\n"
    assert time.monotonic() - start < 2


@pytest.mark.parametrize("end", [Outcome(0), Outcome(75), Outcome(143, asked=True)])
def test_what_is_no_failure(end):
    counts = []
    assert with_restarts(lambda count: counts.append(count) or end, 5) == end.code
    assert counts == [0]


def test_pauses_double_and_chances_end(monkeypatch, capsys):
    monkeypatch.setattr("dist_ms.launch.running.restarts._pause", lambda seconds, why: say(why))
    assert with_restarts(lambda count: Outcome(7, "ValueError: bad"), 8) == 7
    lines = capsys.readouterr().err.splitlines()
    assert [int(re.search(r"in (\d+) s \(ValueError: bad\)", line)[1]) for line in lines[:-1]] == [
        1, 2, 4, 8, 16, 32, 60, 60,
    ]  # fmt: skip
    assert lines[-1] == "dist-ms: given up after 8 restarts."


RESUMES = """
import os, sys
import numpy as np
import dist_ms as ms
from dist_ms import nn
from dist_ms.communication import get_group_size, get_rank, init
init()
folder, kill = sys.argv[1], sys.argv[2] == "kill" and os.environ["DIST_MS_RESTARTS"] == "0"
ms.set_seed(1)
ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
net = nn.SequentialCell(nn.Dense(8, 16), nn.ReLU(), nn.Dropout(p=0.3), nn.Dense(16, 2))
model = ms.train.Model(net, nn.MSELoss(), nn.Adam(net.trainable_params(), 0.01))

class Kills(ms.train.Callback):
    def on_train_step_end(self, run_context):
        if kill and get_rank() == 1 and run_context.original_args().cur_step_num == 33:
            os.kill(os.getpid(), 9)

x = np.random.RandomState(0).rand(160, 8).astype(np.float32)
data = ms.dataset.NumpySlicesDataset(
    (x, 2 * x[:, :2]), shuffle=True, num_shards=get_group_size(), shard_id=get_rank()
).batch(4)
save = ms.train.RunCheckpoint(folder, every_steps=5)
model.train(3, data, callbacks=[save, Kills()], resume=folder)
if get_rank() == 0:
    print(b"".join(p.asnumpy().tobytes() for p in net.get_parameters()).hex())
"""


def test_a_job_that_came_back_ends_with_the_bits_of_the_unbroken_one(run):
    unbroken = run(RESUMES, "whole", "no", options=["--restarts", "1"])
    broken = run(RESUMES, "killed", "kill", options=["--restarts", "1"])
    assert (unbroken.code, broken.code) == (0, 0), broken.err
    assert "restart 1 of 1" in broken.err and "restart" not in unbroken.err
    assert len(unbroken.out) > 1000 and broken.out == unbroken.out


def test_a_job_of_two_machines_comes_back(hosts, write, tmp_path):
    words = hosts.mpi_options([1, 1])
    at = words.index("--host")
    options = ["--restarts", "1", "--hosts", words[at + 1], "--mpi-args", " ".join(words[:at] + words[at + 2 :])]
    script = write(FAILS.replace("{how}", "raise ValueError('no such data')").replace("{fails}", "1"))
    program = command("dist-ms", 2, script, options=options)
    done = subprocess.run(
        [*hosts.on_first(), *program[:4], *program[6:]], capture_output=True, text=True, env=environment(), timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert re.search(r"dist-ms: rank 1 of 2 ended with an uncaught ValueError on node[12], ", done.stderr), done.stderr
    assert "dist-ms: restart 1 of 1 in 1 s (ValueError: no such data)." in done.stderr
    assert sorted(line for line in done.stdout.splitlines() if "attempt 1" in line) == ["attempt 1 0", "attempt 1 1"]
