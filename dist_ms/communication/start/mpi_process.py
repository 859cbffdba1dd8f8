"""Starting MPI, checking that it is the launcher's, and ending the job."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from dist_ms.communication.mpi import load_mpi
from dist_ms.communication.start.launched import launched_rank


def prepare_environment(local_size: int | None, size: int) -> None:
    """Set what Open MPI reads when it starts, unless the user has set it.

    Its UCX one-sided component fails on shared windows. On one machine its ofi component takes a second to
    start and its tcp component listens on all interfaces, and both serve other networks than that machine's
    memory. Waiting ranks must let others run when there are more ranks than cores.
    """
    os.environ.setdefault("OMPI_MCA_osc", "^ucx")
    if local_size == size:
        os.environ.setdefault("OMPI_MCA_btl", "^ofi,tcp")
    if local_size is not None and local_size > (os.cpu_count() or 1):
        os.environ.setdefault("OMPI_MCA_mpi_yield_when_idle", "1")


def running_size() -> int:
    """Return the number of ranks if the program itself has started MPI, else 0."""
    module = sys.modules.get("mpi4py.MPI")
    if module is None or not module.Is_initialized() or module.Is_finalized():
        return 0
    return module.COMM_WORLD.Get_size()


def start(variable: str, size: int) -> tuple[str, Any, Any]:
    """Start MPI.

    Args:
        variable: the environment variable that tells how many ranks were started.
        size: that number, 0 if unknown.

    Returns:
        The library's name and version, and two communicators of all ranks for dist_ms alone.

    Raises:
        RuntimeError: if there is no MPI, or another one than the launcher's.
    """
    rank = launched_rank()
    label = f"[rank {'?' if rank is None else rank} of {size}]"
    try:
        module = load_mpi()
    except (ImportError, RuntimeError) as error:
        raise RuntimeError(
            f"{label} For 'init', MPI must be installed, as {variable} says that {size} ranks were "
            f"started, but loading it failed: {str(error).splitlines()[0]}. Install it with "
            "pip install 'dist_ms[mpi]', or make the cluster's own MPI known (module load, or "
            "LD_LIBRARY_PATH to its libmpi.so)."
        ) from error
    library = module.Get_library_version().splitlines()[0].strip("\0 ,")
    world = module.COMM_WORLD
    if size and world.Get_size() != size:
        raise RuntimeError(
            f"{label} For 'init', the launcher and the MPI library must be of the same MPI: "
            f"{variable} says that {size} ranks were started, but {library} sees "
            f"{world.Get_size()}. Start with the mpirun that belongs to this library "
            "('dist-ms run' takes it), or point MPI4PY_LIBMPI to the launcher's libmpi.so."
        )
    return library, world.Dup(), world.Dup()


def forget_memory(folder: str = "/dev/shm", maps: str = "/proc/self/maps") -> None:
    """Take the names from MPICH's memory on this machine, once all ranks have it.

    MPICH keeps the name until it ends well, so the memory outlives a job that is killed or aborted. It
    lives as long as a process maps it, whatever its name; nobody opens it by name any more.

    Args:
        folder: where memory has names.
        maps: what this process maps: the names of no other job are among these.
    """
    try:
        lines = Path(maps).read_text().splitlines()
    except OSError:
        return
    mapped = {line.split(maxsplit=5)[-1] for line in lines}
    for path in mapped:
        if path.startswith(f"{folder}/mpich_shm_") and not path.endswith(" (deleted)"):
            Path(path).unlink(missing_ok=True)


def abort(code: int) -> None:
    """End all ranks of the job at once."""
    load_mpi().COMM_WORLD.Abort(code)


def stay_unfinished() -> None:
    """Leave the end of MPI to that of the process: MPI_Finalize waits for ever where a machine has no rank left."""


def finalize() -> None:
    """End MPI, unless the program has done so itself."""
    module = load_mpi()
    if not module.Is_finalized():
        module.Finalize()
