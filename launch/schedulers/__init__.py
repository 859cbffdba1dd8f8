"""What batch systems say of the machines that a job was given."""

from __future__ import annotations

from collections.abc import Mapping

from dist_ms.launch.schedulers.allocation import Allocation
from dist_ms.launch.schedulers.pbs import read_pbs
from dist_ms.launch.schedulers.slurm import read_slurm

_READERS = (read_slurm, read_pbs)


def find_allocation(environ: Mapping[str, str]) -> Allocation | None:
    """Return what the batch system has given to this job, None outside of one.

    Args:
        environ: the environment.

    Examples:
        >>> from dist_ms.launch.schedulers import find_allocation
        >>> find_allocation({}) is None
        True
        >>> slurm = {"SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "n[1-2]", "SLURM_TASKS_PER_NODE": "4(x2)"}
        >>> [(host.name, host.slots) for host in find_allocation(slurm).hosts]
        [('n1', 4), ('n2', 4)]
    """
    return next(filter(None, (read(environ) for read in _READERS)), None)
