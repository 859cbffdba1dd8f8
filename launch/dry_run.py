"""`dist-ms run --dry-run`: the command that a job would be, to read or to run by hand."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from dist_ms.launch.command import Job, mpirun_command, rank_environment
from dist_ms.launch.machine import this_machine
from dist_ms.launch.mpirun import find_mpirun


def show_command(job: Job, mpirun: str | None, environ: Mapping[str, str]) -> int:
    """Print a job's command, after the variables that differ from this environment; return 0.

    Args:
        job: what would be started.
        mpirun: the mpirun to use; default: as `find_mpirun` finds.
        environ: the user's environment.

    Raises:
        LaunchError: if there is no mpirun.
    """
    machine = this_machine()
    if job.alone:
        command, env = [job.python, *job.program], rank_environment(job, machine, environ)
    else:
        command, env = mpirun_command(find_mpirun(mpirun, job.python, environ), job, machine, environ, plain=True)
    changed = [f"{name}={value}" for name, value in sorted(env.items()) if environ.get(name) != value]
    print(shlex.join(["env", *changed, *command] if changed else command))
    return 0
