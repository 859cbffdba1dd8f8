"""Which machines answer: on those that do, mpirun can start a program."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from dist_ms.launch.command import Job, mpirun_command
from dist_ms.launch.hosts import Host
from dist_ms.launch.machine import Machine
from dist_ms.launch.mpirun import MpiRun

_LIMIT = 15.0  # seconds to answer
_AT_ONCE = 32


def silent_hosts(
    hosts: Sequence[Host], launcher: MpiRun, job: Job, machine: Machine, environ: Mapping[str, str]
) -> set[str]:
    """Return the names of the machines on which nothing can be started now; none if that holds for all of them.

    Args:
        hosts: the machines.
        launcher: the mpirun, which is asked to start `true` on each.
        job: whose options for mpirun are used.
        machine: this one.
        environ: the user's environment.
    """

    def answers(host: Host) -> bool:
        if host.local:
            return True
        one = replace(job, ranks=1, servers=0, python="true", program=(), hosts=(Host(host.name, 1),), prefix=False)
        one = replace(one, least=None)
        command, env = mpirun_command(launcher, one, machine, environ, plain=True)
        try:
            done = subprocess.run(
                command, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=_LIMIT, check=False,
                process_group=0,
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired):
            return False
        return done.returncode == 0

    if not hosts:
        return set()
    with ThreadPoolExecutor(min(len(hosts), _AT_ONCE)) as pool:
        found = list(pool.map(answers, hosts))
    # Where no machine seems to answer, it is the question that fails here.
    return {host.name for host, fine in zip(hosts, found, strict=True) if not fine} if any(found) else set()
