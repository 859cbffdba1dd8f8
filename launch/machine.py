"""What this machine offers to a job."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from dist_ms._ext.openmp import cpu_quota


@dataclass(frozen=True)
class Machine:
    """The part of the machine that a job may use.

    Attributes:
        cpus: hardware threads of the affinity mask.
        cores: physical cores they belong to, each as its hardware threads within the mask.
        whole: whether the mask is all that this machine (or container) has.
        root: whether the user is root.
        quota: how many CPUs' time the container allows; None: all of theirs.
    """

    cpus: tuple[int, ...]
    cores: tuple[tuple[int, ...], ...]
    whole: bool
    root: bool
    quota: float | None = None

    def threads_of(self, ranks: int) -> int:
        """Return how many threads each of some ranks may run: its share of the cores, or of the quota.

        Args:
            ranks: how many there are.

        Examples:
            >>> from dist_ms.launch.machine import Machine
            >>> cores = tuple((cpu,) for cpu in range(8))
            >>> Machine(tuple(range(8)), cores, True, False).threads_of(3)
            2
            >>> Machine(tuple(range(8)), cores, True, False, quota=3.0).threads_of(2)
            1
        """
        share = len(self.cores) if self.quota is None else min(len(self.cores), self.quota)
        return max(1, int(share / ranks))


def cpu_list(text: str) -> tuple[int, ...]:
    """Return the numbers of a kernel list.

    Examples:
        >>> from dist_ms.launch.machine import cpu_list
        >>> cpu_list("0-2,8")
        (0, 1, 2, 8)
    """
    numbers: list[int] = []
    for part in re.findall(r"\d+(?:-\d+)?", text):
        first, _, last = part.partition("-")
        numbers.extend(range(int(first), int(last or first) + 1))
    return tuple(numbers)


def this_machine() -> Machine:
    """Look at this process's affinity mask and the kernel's topology."""
    cpus = tuple(sorted(os.sched_getaffinity(0)))
    cores: dict[tuple[int, ...], list[int]] = {}
    for cpu in cpus:
        siblings = _read(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
        cores.setdefault(cpu_list(siblings) or (cpu,), []).append(cpu)
    offered = _read("/sys/fs/cgroup/cpuset.cpus.effective") or _read("/sys/devices/system/cpu/online")
    whole = not offered.strip() or set(cpu_list(offered)) <= set(cpus)
    return Machine(cpus, tuple(map(tuple, cores.values())), whole, os.geteuid() == 0, cpu_quota())


def _read(path: str) -> str:
    """Return a file's text, "" where there is none."""
    try:
        return Path(path).read_text()
    except OSError:
        return ""
