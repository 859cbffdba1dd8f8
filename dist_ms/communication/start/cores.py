"""How many threads a rank may run: its fair part of the cores it may use."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

_CPUS = Path("/sys/devices/system/cpu")


def core_of(cpu: int, cpus: Path = _CPUS) -> int:
    """Return the lowest hardware thread of a CPU's core, which stands for the core."""
    try:
        text = (cpus / f"cpu{cpu}/topology/thread_siblings_list").read_text()
    except OSError:
        return cpu
    found = re.match(r"\d+", text)
    return cpu if found is None else int(found[0])


def my_cores() -> tuple[int, ...]:
    """Return the physical cores of this process's affinity mask.

    Examples:
        >>> from dist_ms.communication.start.cores import my_cores
        >>> len(my_cores()) >= 1
        True
    """
    return tuple(sorted({core_of(cpu) for cpu in os.sched_getaffinity(0)}))


def fair_share(mine: Iterable[int], on_node: Sequence[Iterable[int]], quota: float | None = None) -> int:
    """Return the number of threads for a rank: each core counts 1 / (ranks that may use it).

    Args:
        mine: the cores this rank may use.
        on_node: the same of every rank of the node, this one included.
        quota: CPUs' worth of time that all ranks of the node have together.

    Returns:
        At least 1.

    Examples:
        Two ranks bound to two cores each, and two ranks that may both use all four:

        >>> from dist_ms.communication.start.cores import fair_share
        >>> fair_share([0, 1], [[0, 1], [2, 3]])
        2
        >>> fair_share([0, 1, 2, 3], [[0, 1, 2, 3], [0, 1, 2, 3]])
        2
    """
    masks = [set(mask) for mask in on_node]
    share = sum(1 / max(1, sum(core in mask for mask in masks)) for core in set(mine))
    if quota is not None:
        share = min(share, quota / len(masks))
    return max(1, int(share + 1e-6))
