"""One report of a failed job, whatever the MPI: rank, host, cause and code; and nothing of it is left behind.

Open MPI is the tests' own. DIST_MS_TEST_MPICH and DIST_MS_TEST_INTEL name the interpreters of environments with
`mpich` and `impi-rt` from PyPI.
"""

import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.jobs.conftest import OTHER_MPIS, command, environment, processes

QUICK = 10  # seconds
HOST = os.uname().nodename
HEAD = """
import os, signal, sys, time
import numpy as np
from dist_ms.communication import current, get_comm, init
init()
comm = get_comm()
rank, x = comm.rank, np.ones(3)
print(current().library, sorted(os.sched_getaffinity(0)), flush=True)
open("began", "w").close()
"""


@pytest.fixture(params=["openmpi", *OTHER_MPIS])
def python(request):
    """The interpreter of an environment with each MPI."""
    if request.param == "openmpi":
        return sys.executable
    if not OTHER_MPIS[request.param]:
        pytest.skip(f"DIST_MS_TEST_{request.param.upper()} names no interpreter")
    return OTHER_MPIS[request.param]


@pytest.mark.parametrize(
    ("end", "how", "code"),
    [
        ("os.kill(os.getpid(), signal.SIGKILL)", "was ended by signal 9 (SIGKILL) on {host}, exit code 137", 137),
        ("os.kill(os.getpid(), signal.SIGSEGV)", "was ended by signal 11 (SIGSEGV) on {host}, exit code 139", 139),
        ("os.kill(os.getpid(), signal.SIGTERM)", "was ended by signal 15 (SIGTERM) on {host}, exit code 143", 143),
        ("os._exit(4)", "ended with exit code 4 on {host}", 4),
        ("sys.exit(3)", "ended with exit code 3 on {host}", 3),
        ("1 / 0", "ended with an uncaught ZeroDivisionError on {host}, exit code 1", 1),
        ("raise KeyboardInterrupt", "ended with an uncaught KeyboardInterrupt on {host}, exit code 130", 130),
        (
            "os.kill(os.getpid(), signal.SIGSTOP)",
            "did not answer the others: it is stopped (SIGSTOP) on {host}, exit code 1",
            1,
        ),
        (
            "time.sleep(60)",
            "did not answer the others: it computes or waits for something else on {host}, exit code 1",
            1,
        ),
    ],
)
def test_the_last_line_says_who_where_why_and_with_what_code(run, tmp_path, python, end, how, code):
    done = run(HEAD + f"if rank == 1:\n    {end}\ncomm.all_reduce(x)\n", python=python, DIST_MS_TIMEOUT="2")
    assert done.code == code and done.seconds < QUICK, done.err
    last = done.err.rstrip().splitlines()[-1]
    assert last == f"dist-ms: rank 1 of 2 {how.format(host=HOST)}; the job was stopped."
    for words in ("BAD TERMINATION", "prterun", "\x1e", "Killed\n", "Terminated\n"):
        assert words not in done.err + done.out
    assert_nothing_is_left(tmp_path)


def test_ranks_without_init_are_named_too(run, python):
    code = "import os, sys, time\nrank = os.environ.get('OMPI_COMM_WORLD_RANK', os.environ.get('PMI_RANK'))\n"
    done = run(code + "if rank == '1':\n    sys.exit(5)\ntime.sleep(20)", python=python)
    assert done.code == 5
    assert done.err.rstrip().splitlines()[-1] == (
        f"dist-ms: rank 1 of 2 ended with exit code 5 on {HOST}; the job was stopped."
    )


def test_a_job_that_ends_well_says_nothing(run, tmp_path, python):
    done = run(HEAD + "comm.all_reduce(x)\n", python=python)
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert len(lines) == 2
    if len(os.sched_getaffinity(0)) > 1:  # each has cores of its own
        assert lines[0].rsplit("[", 1)[1] != lines[1].rsplit("[", 1)[1]
    assert_nothing_is_left(tmp_path)


def test_no_memory_keeps_its_name_while_or_after_the_job_runs(write, tmp_path, python):
    script = write(HEAD + "comm.barrier()\nprint('up', flush=True)\ntime.sleep(60)")
    before = named_memory()
    with subprocess.Popen(
        command("dist-ms", 2, script, python=python), stdout=subprocess.PIPE, env=environment(), cwd=tmp_path
    ) as process:
        assert sorted(process.stdout.readline().strip() == b"up" for _ in range(4)) == [False, False, True, True]
        assert named_memory() <= before
        process.send_signal(signal.SIGTERM)
        assert process.wait(QUICK) == 143


@pytest.mark.parametrize(
    ("end", "how", "code"),
    [
        ("os.kill(os.getpid(), signal.SIGKILL)", "was ended by signal 9 (SIGKILL) on node2, exit code 137", 137),
        ("1 / 0", "ended with an uncaught ZeroDivisionError on node2, exit code 1", 1),
        ("time.sleep(60)", "did not answer the others: it computes, is stopped or lost on node2, exit code 1", 1),
    ],
)
def test_between_machines_the_report_names_the_other_one(hosts, write, tmp_path, end, how, code):
    script = write(HEAD + f"if rank == 1:\n    {end}\ncomm.all_reduce(x)\n")
    options = [f"--mpi-args={shlex.join([*hosts.mpi_options((1, 1)), '--bind-to', 'none'])}"]
    words = [*hosts.on_first(), *command("dist-ms", 2, script, options=options)]
    env = environment(OMP_NUM_THREADS="1", DIST_MS_TIMEOUT="2")
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, env=env, cwd=tmp_path)
    last = done.stderr.rstrip().splitlines()[-1]
    assert "\x1e" not in done.stderr + done.stdout
    if code == 137 and "lost its connection" in last:  # the other machine's rank may be quicker to tell
        assert last.startswith("dist-ms: rank 0 of 2 lost its connection to ")
    else:
        assert last == f"dist-ms: rank 1 of 2 {how}; the job was stopped." and done.returncode == code, done.stderr


def named_memory():
    """MPICH's memory that has a name."""
    return {path.name for path in Path("/dev/shm").glob("mpich_shm_*")}


def assert_nothing_is_left(folder):
    """Wait until no process has the folder in its command line."""
    start = time.monotonic()
    while processes(str(folder)):
        assert time.monotonic() - start < QUICK, processes(str(folder))
        time.sleep(0.05)


def test_the_first_traceback_is_the_last(run):
    done = run("""
        import sys, time
        from dist_ms.communication import init, get_rank
        init()
        if get_rank() == 0:
            for _ in range(3000):  # until the job is stopped: some come behind the traceback, however late that is
                sys.stderr.write("other words\\n")
                time.sleep(0.01)
        raise ValueError("no such data")
    """)  # fmt: skip
    assert done.code == 1
    assert done.err.count("[rank 1 of 2] uncaught exception") == 2, done.err
    *_, again = done.err.split("dist-ms: what ended the job, again:\n")
    assert again.startswith("[rank 1 of 2] uncaught exception\nTraceback")
    assert again.splitlines()[-2] == "ValueError: no such data" and "other words" not in again
