"""What the launcher's environment variables say about this process."""

from __future__ import annotations

import os
from collections.abc import Mapping

from dist_ms.communication.roles import copy_role

# Open MPI, MPICH and its family, Intel MPI, MVAPICH2, Flux, IBM's jsrun, and srun last: a rank
# that mpirun started inside a Slurm job inherits Slurm's variables, which then count its daemons.
_SIZES = (
    "OMPI_COMM_WORLD_SIZE",
    "PMI_SIZE",
    "MV2_COMM_WORLD_SIZE",
    "FLUX_JOB_SIZE",
    "JSM_NAMESPACE_SIZE",
    "MPI_LOCALNRANKS",
    "SLURM_STEP_NUM_TASKS",
)
_RANKS = (
    "OMPI_COMM_WORLD_RANK",
    "PMI_RANK",
    "MV2_COMM_WORLD_RANK",
    "FLUX_TASK_RANK",
    "JSM_NAMESPACE_RANK",
    "PMIX_RANK",
    "SLURM_PROCID",
)
_LOCAL_RANKS = (
    "OMPI_COMM_WORLD_LOCAL_RANK",
    "MPI_LOCALRANKID",
    "MV2_COMM_WORLD_LOCAL_RANK",
    "FLUX_TASK_LOCAL_ID",
    "JSM_NAMESPACE_LOCAL_RANK",
    "SLURM_LOCALID",
)
_LOCAL_SIZES = (
    "OMPI_COMM_WORLD_LOCAL_SIZE",
    "MPI_LOCALNRANKS",
    "MV2_COMM_WORLD_LOCAL_SIZE",
    "JSM_NAMESPACE_LOCAL_SIZE",
)


def _first(names: tuple[str, ...], environ: Mapping[str, str]) -> tuple[str, int] | None:
    """Return the first variable that holds a number, with the number."""
    for name in names:
        if environ.get(name, "").isdigit():
            return name, int(environ[name])
    return None


def launched_size(environ: Mapping[str, str] | None = None) -> tuple[str, int] | None:
    """Return the variable that tells how many ranks were started, and the number.

    Args:
        environ: the environment, by default this process's.

    Returns:
        None when no launcher started this process.

    Examples:
        >>> from dist_ms.communication.launched import launched_size
        >>> launched_size({"OMPI_COMM_WORLD_SIZE": "4"})
        ('OMPI_COMM_WORLD_SIZE', 4)
        >>> launched_size({}) is None
        True
    """
    return _first(_SIZES, os.environ if environ is None else environ)


def launched_rank(environ: Mapping[str, str] | None = None) -> int | None:
    """Return the rank that the launcher gave this process, None when there is none.

    Examples:
        >>> from dist_ms.communication.launched import launched_rank
        >>> launched_rank({"PMI_RANK": "3", "PMI_SIZE": "4"})
        3
    """
    environ = os.environ if environ is None else environ
    found = _first(_RANKS, environ)
    # SLURM_PROCID is 0 in a batch script too, where srun has not started anything.
    return None if found is None or launched_size(environ) is None else found[1]


def launched_local(environ: Mapping[str, str] | None = None) -> tuple[int | None, int | None]:
    """Return this process's rank on its node and the number of ranks there, None where unknown.

    Examples:
        >>> from dist_ms.communication.launched import launched_local
        >>> launched_local({"MPI_LOCALRANKID": "1", "MPI_LOCALNRANKS": "2"})
        (1, 2)
    """
    environ = os.environ if environ is None else environ
    rank, size = _first(_LOCAL_RANKS, environ), _first(_LOCAL_SIZES, environ)
    return (rank[1] if rank else None), (size[1] if size else None)


def copy_rank_variables() -> None:
    """Give scripts RANK_ID, DEVICE_ID and RANK_SIZE before `init()`, as MindSpore does."""
    size, rank, local = launched_size(), launched_rank(), launched_local()[0]
    if size is None or rank is None:
        return
    os.environ["RANK_ID"], os.environ["RANK_SIZE"] = str(rank), str(copy_role(rank, size[1]))
    if local is not None:
        os.environ["DEVICE_ID"] = str(local)
