"""PBS and Torque: the file that names a machine once per rank."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from dist_ms.launch.hosts import Host, merged
from dist_ms.launch.mpirun import LaunchError
from dist_ms.launch.schedulers.allocation import Allocation


def read_pbs(environ: Mapping[str, str]) -> Allocation | None:
    r"""Return the allocation of a PBS job, None outside of one.

    Args:
        environ: the environment.

    Raises:
        LaunchError: if the file of the nodes cannot be read or is empty.

    Examples:
        >>> import tempfile
        >>> from dist_ms.launch.schedulers.pbs import read_pbs
        >>> file = tempfile.NamedTemporaryFile("w+")
        >>> _ = file.write("a\na\nb\n"), file.flush()
        >>> [(host.name, host.slots) for host in read_pbs({"PBS_NODEFILE": file.name}).hosts]
        [('a', 2), ('b', 1)]
    """
    path = environ.get("PBS_NODEFILE")
    if not path:
        return None
    try:
        lines = Path(path).read_text().split()
    except OSError as error:
        raise LaunchError(
            f"PBS_NODEFILE must be a file that can be read, but is {path!r}: {error.strerror}."
        ) from error
    if not lines:
        raise LaunchError(f"PBS_NODEFILE must name a machine, but {path} is empty.")
    threads = environ.get("OMP_NUM_THREADS", "")  # PBS sets it from ompthreads, or ncpus
    return Allocation(
        "PBS", merged([Host(name, 1) for name in lines]), threads=int(threads) if threads.isdigit() else None
    )
