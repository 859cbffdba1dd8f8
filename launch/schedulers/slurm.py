"""Slurm: what its variables say of a job's nodes and tasks."""

from __future__ import annotations

import re
from collections.abc import Mapping

from dist_ms.launch.hosts import Host
from dist_ms.launch.mpirun import LaunchError
from dist_ms.launch.schedulers.allocation import Allocation


def read_slurm(environ: Mapping[str, str]) -> Allocation | None:
    """Return the allocation of a Slurm job, None outside of one.

    Args:
        environ: the environment.

    Raises:
        LaunchError: if the variables contradict each other.

    Examples:
        >>> from dist_ms.launch.schedulers.slurm import read_slurm
        >>> environ = {"SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "a,b", "SLURM_TASKS_PER_NODE": "2,1"}
        >>> [(host.name, host.slots) for host in read_slurm(environ).hosts]
        [('a', 2), ('b', 1)]
    """
    listed = environ.get("SLURM_JOB_NODELIST") or environ.get("SLURM_NODELIST")
    if "SLURM_JOB_ID" not in environ or not listed:
        return None
    names = node_names(listed)
    threads = int(environ["SLURM_CPUS_PER_TASK"]) if environ.get("SLURM_CPUS_PER_TASK") else None
    cpus = _counts("SLURM_JOB_CPUS_PER_NODE", environ, len(names))
    slots = _counts("SLURM_TASKS_PER_NODE", environ, len(names))
    each = environ.get("SLURM_NTASKS_PER_NODE")
    if not slots:
        slots = (int(each),) * len(names) if each else tuple(max(1, count // (threads or 1)) for count in cpus)
    slots = slots or (1,) * len(names)
    return Allocation("Slurm", tuple(map(Host, names, slots)), cpus, threads)


def node_names(text: str) -> list[str]:
    """Return the names in a node list.

    Examples:
        >>> from dist_ms.launch.schedulers.slurm import node_names
        >>> node_names("gpu1,node[08-10,12]-ib,r[1-2]n[1-2]")
        ['gpu1', 'node08-ib', 'node09-ib', 'node10-ib', 'node12-ib', 'r1n1', 'r1n2', 'r2n1', 'r2n2']
    """
    names = []
    for part in re.findall(r"(?:[^,\[]|\[[^\]]*\])+", text):
        found = [""]
        for plain, ranges in re.findall(r"([^\[\]]+)|\[([^\]]*)\]", part):
            ends = [plain] if plain else _numbers(ranges)
            found = [begin + end for begin in found for end in ends]
        names += found
    return names


def _numbers(text: str) -> list[str]:
    """Return the numbers of a list of ranges, as wide as their first."""
    found = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        found += [str(n).zfill(len(first)) for n in range(int(first), int(last or first) + 1)]
    return found


def _counts(name: str, environ: Mapping[str, str], nodes: int) -> tuple[int, ...]:
    """Return the numbers per node of a variable of the form 4(x2),3; none where it is not set."""
    text = environ.get(name, "")
    counts: list[int] = []
    for count, times in re.findall(r"(\d+)(?:\(x(\d+)\))?", text):
        counts += [int(count)] * int(times or 1)
    if text and len(counts) != nodes:
        raise LaunchError(f"{name} must have a number for each of the job's {nodes} nodes, but is {text!r}.")
    return tuple(counts)
