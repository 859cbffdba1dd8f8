"""`dist-ms plan`: the table of what happens to each parameter."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from dist_ms.launch.command import Job
from dist_ms.launch.mpirun import LaunchError
from dist_ms.launch.run import run_job

VARIABLE = "DIST_MS_PLAN"  # the training session writes its plan to the file it names, and ends


def show_plan(ranks: int, program: list[str]) -> int:
    """Run a program until its plan is made; print the plan and return the exit code.

    Args:
        ranks: how many ranks to start.
        program: Python's arguments.

    Raises:
        LaunchError: if the program cannot be started, or ends well without a plan.
    """
    with tempfile.TemporaryDirectory(prefix="dist-ms-plan-") as folder:
        file = Path(folder) / "plan"
        environ = {**os.environ, VARIABLE: str(file)}
        if ranks == 1:
            code = _alone(program, environ)
        else:
            code = run_job(Job(ranks=ranks, python=sys.executable, program=program), environ=environ)
        if code == 0 and file.exists():
            print(file.read_text(), end="", flush=True)
            return 0
    if code == 0:
        raise LaunchError(
            "the program ended without a data-parallel train step, so there is no plan: it needs "
            "set_auto_parallel_context(parallel_mode='data_parallel') and a first step."
        )
    return code


def _alone(program: list[str], environ: dict[str, str]) -> int:
    """Run a program as one process."""
    if program[0] not in ("-m", "-c") and not Path(program[0]).is_file():
        raise LaunchError(f"the script must be a file, but {program[0]!r} is none.")
    return subprocess.run([sys.executable, *program], env=environ, check=False).returncode
