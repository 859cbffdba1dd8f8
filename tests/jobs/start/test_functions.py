"""dist_ms.run, and msrun's command line."""

import os
import signal
import subprocess
import sys
import time

import pytest

import dist_ms as ms
from dist_ms.launch.msrun import main
from tests.jobs.conftest import MPIRUN, environment, processes

pytestmark = pytest.mark.skipif(MPIRUN is None, reason="there is no mpirun")


def test_a_function_on_two_ranks(capfd):
    factor = 3

    def work(x, more=0):
        import numpy as np

        from dist_ms.communication import get_comm, get_rank, init

        init()
        print("here", get_rank())
        return get_rank(), factor * x + more, float(get_comm().all_reduce(np.ones(1))[0])

    assert ms.run(work, n=2, args=[2], kwargs={"more": 1}) == [(0, 7, 2.0), (1, 7, 2.0)]
    assert sorted(capfd.readouterr().out.splitlines()) == ["here 0", "here 1"]


def test_errors_come_back():
    class Bad(Exception):
        pass

    def fail():
        raise Bad("no such data")

    with pytest.raises(RuntimeError, match="For 'run', rank 0 of 1 raised Bad: no such data") as caught:
        ms.run(fail, n=1)
    assert type(caught.value.__cause__).__name__ == "Bad"
    with pytest.raises(RuntimeError, match="the job of 1 ranks ended with exit code 3"):
        ms.run(lambda: os._exit(3), n=1)
    for wrong, kind in (((print, 0), ValueError), ((print, True), ValueError), ((3, 1), TypeError)):
        with pytest.raises(kind, match="For 'run'"):
            ms.run(*wrong)


SCRIPT = """
import sys, time
from dist_ms.communication import init, get_rank, get_group_size
init()
print("rank", get_rank(), get_group_size(), sys.argv[1:])
"""


def msrun(*words, folder):
    words = [sys.executable, "-m", "dist_ms.compat.msrun", *map(str, words)]
    return subprocess.run(words, capture_output=True, text=True, env=environment(), cwd=folder, timeout=60)


@pytest.mark.parametrize("ranks", [1, 2])
def test_msrun_joined(write, tmp_path, ranks):
    script = write(SCRIPT)
    done = msrun(
        f"--worker_num={ranks}", f"--local_worker_num={ranks}", "--master_addr=127.0.0.1", "--master_port=8118",
        "--join=True", "--log_dir=logs", "--cluster_time_out=60", "--bind_core=True", script, "--lr", "1",
        folder=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = [f"rank {rank} {ranks} ['--lr', '1']" for rank in range(ranks)]
    assert sorted(done.stdout.splitlines()) == lines
    assert [(tmp_path / "logs" / f"worker_{rank}.log").read_text() for rank in range(ranks)] == [
        f"{x}\n" for x in lines
    ]


def test_msrun_in_the_background(write, tmp_path):
    done = msrun("--worker_num=2", "--local_worker_num=2", "--log_dir=logs", write(SCRIPT), folder=tmp_path)
    assert done.returncode == 0 and "the job runs as process" in done.stdout
    until = time.monotonic() + 30
    files = [tmp_path / "logs" / f"worker_{rank}.log" for rank in range(2)]
    while not all(file.exists() and file.read_text().endswith("[]\n") for file in files):
        assert time.monotonic() < until
        time.sleep(0.1)
    while found := processes(str(tmp_path)):
        if time.monotonic() > until:
            for process in found:
                os.kill(process, signal.SIGKILL)
            raise AssertionError("the job has not ended")
        time.sleep(0.1)


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ("--worker_num=8 --local_worker_num=4", "MPI starts the ranks of all machines from one"),
        ("--worker_num=4 --local_worker_num=4 --node_rank=1", "'dist-ms run -n 4 --hosts A:4,B:... x.py' on the first"),
        ("--sim_level=1", "--sim_level must be -1, but got 1: there are no simulated runs"),
        ("--rank_table_file=a.json", "--rank_table_file must be '', but got 'a.json'"),
        ("--bind_core={'device0':['0-1']}", "--bind_core must be True or False, but got {'device0'"),
        ("--join=maybe", "must be True or False, but got 'maybe'"),
        ("--worker_num=0 --local_worker_num=0", "--worker_num must be 1 or more"),
        ("--cluster_time_out=0", "--cluster_time_out must be 1 or more"),
    ],
)
def test_what_msrun_refuses(words, error, capsys):
    with pytest.raises(SystemExit) as left:
        main([*words.split(), "x.py"])
    assert left.value.code == 2 and error in " ".join(capsys.readouterr().err.split())
