"""A rank that is stopped or cut off is named in seconds; one that is busy, asleep or kept by a lock is waited for.

With DIST_MS_TEST_LONG=1 by default's 10 seconds: within 15, and no pause of a minute, no 2 GB are an alarm.
"""

import os
import shlex
import signal
import subprocess
import sys
import time

import pytest

from tests.jobs.conftest import command, environment, processes, wait_for

LONG = os.environ.get("DIST_MS_TEST_LONG") == "1"
SILENCE = 10 if LONG else 2
BEAT = {} if LONG else {"DIST_MS_HEARTBEAT": str(SILENCE)}
HEAD = """
import ctypes, os, signal, sys, time
import numpy as np
from dist_ms.communication import get_comm, init
init()
comm = get_comm()
rank = comm.rank
comm.barrier()
time.sleep(0.6)  # until each has heard of the one behind it
open("began", "w").close()
def meet():
    try:
        comm.barrier()
    except TimeoutError:
        open(f"named by {rank}", "w").close()
        raise
"""


def named_after(folder, began, ranks):
    """The seconds after which the last of some ranks had named the silent one."""
    return max((folder / f"named by {rank}").stat().st_mtime for rank in ranks) - began


def test_a_stopped_rank_is_named_on_every_other(run, tmp_path):
    done = run(HEAD + "if rank == 1:\n    os.kill(os.getpid(), signal.SIGSTOP)\nmeet()\n", ranks=3, **BEAT)
    assert done.code == 1
    assert named_after(tmp_path, (tmp_path / "began").stat().st_mtime, (0, 2)) < min(15, 5 + 2 * SILENCE)
    for rank in (0, 2):
        line = f"rank {rank} of 3 waits at script.py:13: rank 1 of 3 has fallen silent for {SILENCE} s "
        assert f"{line}(DIST_MS_HEARTBEAT): it is stopped (SIGSTOP)" in done.err
    assert "dist-ms: rank 1 of 3 did not answer the others: it is stopped (SIGSTOP)" in done.err


def test_a_rank_that_is_stopped_at_its_end_is_named(run):
    done = run(HEAD + "if rank == 1:\n    os.kill(os.getpid(), signal.SIGSTOP)\n", DIST_MS_HEARTBEAT="1")
    assert done.code == 1 and done.seconds < 10
    assert "Rank 0 of 2 cannot end with the others: rank 1 of 2 has fallen silent" in done.err


def test_a_busy_rank_is_waited_for(run):
    code = """
    if rank == 1:
        ctypes.PyDLL(None).usleep(4_000_000)  # with the interpreter's lock
    if rank == 0:
        time.sleep(3)
    comm.barrier()
    print("together")
    """
    done = run(HEAD + code.replace("\n    ", "\n"), DIST_MS_HEARTBEAT="1")
    assert done.code == 0 and done.out.count("together") == 2, done.err


SLEEPS = "if rank == 1:\n    time.sleep({})\n"
SAVES = """
import dist_ms as ms
if rank == 1:
    ms.save_checkpoint({{"w": ms.Tensor(np.ones({} << 18, np.float32))}}, "large.ckpt")
"""
COMPUTES = """
until, left = time.monotonic() + {}, np.ones(1)
while True:
    np.linalg.svd(np.ones((200, 200)))
    left[0] = time.monotonic() < until
    comm.all_reduce(left)
    if left[0] < comm.size:
        break
"""
PAUSES = {"sleep": SLEEPS, "save": SAVES, "busy": COMPUTES}
AMOUNTS = {"sleep": (60, 5), "save": (2048, 64), "busy": (40, 5)}  # seconds, MB; the second where it shall not last


@pytest.mark.parametrize("what", ["sleep", "save", "busy"])
def test_a_long_pause_is_no_alarm(run, what):
    """One that sleeps, one that saves, and those beside six busy processes."""
    code = HEAD + PAUSES[what].format(AMOUNTS[what][not LONG]) + "comm.barrier()\nprint('together')\n"
    words = [sys.executable, "-c", "while True: pass"]
    others = [subprocess.Popen(words) for _ in range(6 if what == "busy" else 0)]
    try:
        done = run(code, limit=600 if LONG else 60, **BEAT)
    finally:
        for other in others:
            other.kill()
            other.wait()
    assert done.code == 0 and done.out.count("together") == 2, done.err
    assert done.err == ""


def test_a_job_that_was_stopped_whole_goes_on(write, tmp_path):
    script = write(HEAD + "for i in range(40):\n    time.sleep(0.05)\n    comm.barrier()\nprint('together')\n")
    words = [sys.executable, "-m", "dist_ms.launch", "run", "-n", "2", str(script)]
    job = subprocess.Popen(
        words, cwd=tmp_path, env=environment(DIST_MS_HEARTBEAT="1"), stdout=subprocess.PIPE, text=True
    )
    wait_for(job, tmp_path / "began")
    ranks = [p for p in processes(str(script)) if p != job.pid]
    for number, pause in ((signal.SIGSTOP, 2.5), (signal.SIGCONT, 0)):
        for process in ranks:
            os.kill(process, number)
        time.sleep(pause)
    out, _ = job.communicate(timeout=30)
    assert job.returncode == 0 and out.count("together") == 2


def test_a_machine_that_is_cut_off_is_named_and_all_ranks_end(write, hosts, tmp_path):
    script = write(HEAD + "for i in range(4000):\n    time.sleep(0.01)\n    meet()\n")
    options = [f"--mpi-args={shlex.join([*hosts.mpi_options((2, 1)), '--bind-to', 'none'])}"]
    words = [*hosts.on_first(), *command("dist-ms", 3, script, options=options)]
    env = environment(OMP_NUM_THREADS="1", **BEAT)
    with open(tmp_path / "err", "wb") as err:
        job = subprocess.Popen(words, cwd=tmp_path, env=env, stderr=err)
    wait_for(job, tmp_path / "began")
    time.sleep(1)
    began, until = time.time(), time.monotonic() + 60
    with hosts.cut_off(2):
        code = job.wait(60)
        while processes(str(script)):
            assert time.monotonic() < until
            time.sleep(0.1)
    said = (tmp_path / "err").read_text()
    line = f"rank 2 of 3 has fallen silent for {SILENCE} s (DIST_MS_HEARTBEAT): it is stopped or cut off (on node2)"
    assert line in said
    assert code == 1 and named_after(tmp_path, began, (0, 1)) < min(15, 5 + 2 * SILENCE), said
