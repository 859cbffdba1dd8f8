"""Jobs that come back without the machine that failed, or with fewer ranks."""

import re
import subprocess
import sys
import time

from tests.jobs.conftest import environment, processes

WAITS = """
import os, time
import numpy as np
from dist_ms.communication import init, get_rank, get_comm
init()
count, comm = os.environ["DIST_MS_RESTARTS"], get_comm()
comm.barrier()
print("attempt", count, comm.rank, "of", comm.size, os.uname().nodename, flush=True)
if count == "0":
    HOW
    open("began", "w").close()
    for _ in range(4000):
        time.sleep(0.01)
        comm.barrier()
"""


def words_of(hosts, slots, script, *options):
    """The command that starts a job from the first machine on all of them."""
    given = hosts.mpi_options(slots)
    at = given.index("--host")
    options = ["--hosts", given[at + 1], "--mpi-args", " ".join(given[:at] + given[at + 2 :]), *options]
    return [*hosts.on_first(), sys.executable, "-m", "dist_ms.launch", "run", *options, str(script)]


def addresses(words):
    return [part.rpartition(":")[0] for part in words[words.index("--hosts") + 1].split(",")]


def places(out, attempt):
    return sorted(re.findall(rf"attempt {attempt} (\d) of (\d) (\w+)", out))


def test_a_spare_machine_takes_the_place_of_one_whose_rank_was_killed(hosts, write, tmp_path):
    script = write(WAITS.replace("HOW", "if comm.rank == 1: os.kill(os.getpid(), 9)"))
    words = words_of(hosts, (1, 1, 1), script, "-n", "2", "--restarts", "1")
    done = subprocess.run(words, cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert places(done.stdout, 0) == [("0", "2", "node1"), ("1", "2", "node2")]
    assert places(done.stdout, 1) == [("0", "2", "node1"), ("1", "2", "node3")]
    a, b, c = addresses(words)
    line = f"dist-ms: {b} left out, 2 ranks on {a}:1,{c}:1: rank 1 was ended by signal 9 (SIGKILL) on {b}.\n"
    assert line in done.stderr


def test_a_machine_that_is_cut_off_is_left_out(hosts, write, tmp_path):
    script = write(WAITS.replace("HOW", ""))
    words = words_of(hosts, (2, 1), script, "-n", "3", "--restarts", "1", "--min-ranks", "2")
    env = environment(DIST_MS_HEARTBEAT="1", OMP_NUM_THREADS="1")
    with open(tmp_path / "out", "w") as out, open(tmp_path / "err", "w") as err:
        job = subprocess.Popen(words, cwd=tmp_path, env=env, stdout=out, stderr=err)
    while not (tmp_path / "began").exists():
        assert job.poll() is None, (tmp_path / "err").read_text()
        time.sleep(0.05)
    time.sleep(0.6)
    with hosts.cut_off(2):
        code = job.wait(40)
        said, told = (tmp_path / "err").read_text(), (tmp_path / "out").read_text()
        assert code == 0, said
        a, b = addresses(words)
        assert f"dist-ms: {b} left out, 2 ranks instead of 3 on {a}:2: {b} does not answer.\n" in said
        assert places(told, 1) == [("0", "2", "node1"), ("1", "2", "node1")]
    until = time.monotonic() + 20
    while processes(str(script)):
        assert time.monotonic() < until
        time.sleep(0.1)
