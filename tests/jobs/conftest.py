"""Jobs that tests start themselves: a script, run by mpirun or by dist-ms."""

import os
import shutil
import subprocess
import sys
import textwrap
import time
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

HERE = Path(sys.executable).parent
MPIRUN = shutil.which("mpirun", path=str(HERE)) or shutil.which("mpirun")
DIST_MS = [sys.executable, "-m", "dist_ms.launch", "run"]


# Interpreters of other MPIs: of a `python -m venv` with mpich or impi-rt that finds the packages of this one as well.
OTHER_MPIS = {vendor: os.environ.get(f"DIST_MS_TEST_{vendor.upper()}") for vendor in ("mpich", "intel")}


@dataclass
class Done:
    """A job that has ended.

    Attributes:
        seconds: from the moment the script touched the file "began", else from the start.
    """

    code: int
    out: str
    err: str
    seconds: float


def environment(**changes):
    """The environment without what this process got from make, pytest or a launcher."""
    prefixes = ("OMP_", "DIST_MS_", "RANK_", "DEVICE_ID", "PYTEST_", "PYTHONUNBUFFERED", "SLURM_")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(prefixes)}
    return {**kept, **changes}


@cache
def is_open_mpi():
    """Whether mpirun is Open MPI's."""
    return "Open MPI" in subprocess.run([MPIRUN, "--version"], capture_output=True, text=True).stdout


def command(how, ranks, script, *arguments, options=(), python=sys.executable):
    """The argument list that starts a script on some ranks."""
    if how == "dist-ms":
        return [python, *DIST_MS[1:], "-n", str(ranks), *options, str(script), *arguments]
    words = [MPIRUN, "-n", str(ranks), *options]
    if is_open_mpi():
        words[1:1] = ["--allow-run-as-root", "--oversubscribe"]
    return [*words, sys.executable, str(script), *arguments]


@pytest.fixture
def write(tmp_path):
    """Write a script."""
    if MPIRUN is None:
        pytest.skip("there is no mpirun")

    def write_script(code, name="script.py"):
        path = tmp_path / name
        path.write_text(textwrap.dedent(code))
        return path

    return write_script


@pytest.fixture(params=["mpirun", "dist-ms"])
def how(request):
    """The two ways to start a job."""
    return request.param


@pytest.fixture
def run(write, tmp_path):
    """Run a script as a job, to its end."""

    def run_job(
        code, *arguments, how="dist-ms", ranks=2, options=(), input=None, limit=60, python=sys.executable, **env
    ):
        words = command(how, ranks, write(code), *arguments, options=options, python=python)
        start, began = time.time(), tmp_path / "began"
        began.unlink(missing_ok=True)
        env = environment(**env)
        done = subprocess.run(words, input=input, capture_output=True, timeout=limit, env=env, cwd=tmp_path)
        seconds = time.time() - (began.stat().st_mtime if began.exists() else start)
        return Done(done.returncode, done.stdout.decode(), done.stderr.decode(), seconds)

    return run_job


@pytest.fixture(scope="module")
def hosts(tmp_path_factory):
    """Three machines."""
    from tests.jobs.hosts import missing, up

    reason = missing()
    if reason is not None:
        pytest.skip(reason)
    with ExitStack() as stack:
        try:
            found = stack.enter_context(up(tmp_path_factory.mktemp("hosts"), 3))
        except OSError as error:
            pytest.skip(str(error))
        yield found


def processes(text):
    """The processes whose command line contains a text."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if text.encode() in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def wait_for(job, *files, limit=60):
    """Wait for files that a job makes.

    Args:
        job: its process; that it ends before they are there is an error.
        limit: seconds.
    """
    until = time.monotonic() + limit
    while missing := [file for file in files if not file.exists()]:
        assert job.poll() is None, f"{missing[0].name} is not there, and the job has ended with code {job.returncode}"
        assert time.monotonic() < until, f"{missing[0].name} is not there after {limit} s"
        time.sleep(0.02)
