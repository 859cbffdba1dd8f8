"""What the launcher's environment variables say about this process."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from dist_ms.communication.start.roles import copy_role

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

# Of these one is there when the launcher's daemon helps MPI to start: PMIx, and PMI 1 and 2.
_PMI = ("PMIX_RANK", "PMIX_NAMESPACE", "PMI_RANK", "PMI_FD", "PMI_PORT")
ALONE = "DIST_MS_ALONE"  # "1": no MPI launcher, and this process is meant to be a world of one


@dataclass(frozen=True)
class OtherLauncher:
    """A launcher of several processes that does not start MPI.

    Attributes:
        name: what errors call it.
        sizes: the variables whose numbers add up to the number of processes.
        signs: each a set of variables that are all there where it started this process; one set is enough.
        ranks: the variables that may hold the process's number.
        remedy: another command than dist-ms's and mpirun's.
    """

    name: str
    sizes: tuple[str, ...]
    signs: tuple[tuple[str, ...], ...]
    ranks: tuple[str, ...]
    remedy: str = ""

    def size(self, environ: Mapping[str, str]) -> int:
        """Return how many processes it says it started, 0 if it did not start this one."""
        numbers = [_number(name, environ) for name in self.sizes]
        size = sum(n for n in numbers if n)
        signs = {name for name in environ if environ[name] and name not in self.ranks}
        signs |= {name for name in self.ranks if (n := _number(name, environ)) is not None and n < size}
        started = numbers[0] is not None and any(signs.issuperset(sign) for sign in self.signs)
        return size if started else 0

    def rank(self, environ: Mapping[str, str]) -> int | None:
        """Return the process's number, None where it is not known yet."""
        return next((n for n in (_number(name, environ) for name in self.ranks) if n is not None), None)

    def seen(self, environ: Mapping[str, str]) -> list[str]:
        """Return the variables that gave it away, with their values."""
        names = dict.fromkeys((*self.ranks, *self.sizes, *(name for sign in self.signs for name in sign)))
        return [f"{name}={environ[name]}" for name in names if environ.get(name)]


# The more telling first. A number alone proves nothing: RANK or WORLD_SIZE may be left over in a shell.
OTHER_LAUNCHERS = (
    OtherLauncher("torchrun", ("WORLD_SIZE",), (("RANK", "TORCHELASTIC_RUN_ID"),), ("RANK",)),
    OtherLauncher("horovodrun", ("HOROVOD_SIZE",), (("HOROVOD_RANK",),), ("HOROVOD_RANK",)),
    OtherLauncher(
        "msrun",
        ("MS_WORKER_NUM", "MS_SERVER_NUM"),
        (("MS_ROLE",), ("MS_SCHED_HOST",), ("MS_NODE_ID",)),
        ("RANK_ID",),
    ),
    OtherLauncher(
        "srun without MPI",
        ("SLURM_STEP_NUM_TASKS",),
        (("SLURM_PROCID",),),
        ("SLURM_PROCID",),
        "srun --mpi=pmix -n {size} python {script}",
    ),
    OtherLauncher("a launcher that sets what torchrun does", ("WORLD_SIZE",), (("RANK",),), ("RANK",)),
)


def _number(name: str, environ: Mapping[str, str]) -> int | None:
    """Return a variable's number, None where it holds none."""
    text = environ.get(name, "")
    return int(text) if text.isdigit() else None


def _first(names: tuple[str, ...], environ: Mapping[str, str]) -> tuple[str, int] | None:
    """Return the first variable that holds a number, with the number."""
    for name in names:
        number = _number(name, environ)
        if number is not None:
            return name, number
    return None


def launched_size(environ: Mapping[str, str] | None = None) -> tuple[str, int] | None:
    """Return the variable that tells how many ranks were started, and the number.

    Args:
        environ: the environment, by default this process's.

    Returns:
        None when no launcher started this process.

    Examples:
        >>> from dist_ms.communication.start.launched import launched_size
        >>> launched_size({"OMPI_COMM_WORLD_SIZE": "4"})
        ('OMPI_COMM_WORLD_SIZE', 4)
        >>> launched_size({}) is None
        True
    """
    environ = os.environ if environ is None else environ
    alone = environ.get(ALONE) == "1" and not _started_by_mpi(environ)
    return None if alone else _first(_SIZES, environ)


def launched_rank(environ: Mapping[str, str] | None = None) -> int | None:
    """Return the rank that the launcher gave this process, None when there is none.

    Examples:
        >>> from dist_ms.communication.start.launched import launched_rank
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
        >>> from dist_ms.communication.start.launched import launched_local
        >>> launched_local({"MPI_LOCALRANKID": "1", "MPI_LOCALNRANKS": "2"})
        (1, 2)
    """
    environ = os.environ if environ is None else environ
    rank, size = _first(_LOCAL_RANKS, environ), _first(_LOCAL_SIZES, environ)
    return (rank[1] if rank else None), (size[1] if size else None)


def _started_by_mpi(environ: Mapping[str, str]) -> bool:
    """Whether a launcher of MPI's has started this process, srun with PMI among them."""
    return _first(_SIZES[:-1], environ) is not None or any(environ.get(name) for name in _PMI)


def check_launcher(verb: str, environ: Mapping[str, str] | None = None) -> None:
    """Raise if a launcher that starts no MPI has started this process as one of several.

    They would not meet, and each would train a model of its own.

    Args:
        verb: what needs to know the ranks.
        environ: the environment, by default this process's.

    Raises:
        RuntimeError: naming the launcher, what gave it away and the right command; DIST_MS_ALONE=1 prevents it.

    Examples:
        >>> from dist_ms.communication.start.launched import check_launcher
        >>> check_launcher("init", {"WORLD_SIZE": "1", "RANK": "0"})
        >>> check_launcher("init", {"OMPI_COMM_WORLD_SIZE": "2", "WORLD_SIZE": "2", "RANK": "0"})
    """
    environ = os.environ if environ is None else environ
    if _started_by_mpi(environ) or environ.get(ALONE) == "1":
        return
    for launcher in OTHER_LAUNCHERS:
        size = launcher.size(environ)
        if size > 1:
            raise RuntimeError(_refusal(verb, launcher, size, environ))


def _refusal(verb: str, launcher: OtherLauncher, size: int, environ: Mapping[str, str]) -> str:
    """Say who started this process, and how it should be started."""
    rank = launcher.rank(environ)
    script = Path(sys.argv[0]).name if sys.argv else ""
    if not script.endswith(".py") or script == "__main__.py":
        script = "script.py"
    servers = _number("MS_SERVER_NUM", environ) or 0
    number = f"-n {size - servers} --servers {servers}" if 0 < servers < size else f"-n {size}"
    commands = (f"dist-ms run {number} {script}", f"mpirun -n {size} python {script}", launcher.remedy)
    shown = " or ".join(f"'{c.format(size=size, script=script)}'" for c in commands if c)
    return (
        f"[rank {'?' if rank is None else rank} of {size}] For '{verb}', several processes must be started by an MPI "
        f"launcher, but {launcher.name} has started this one ({', '.join(launcher.seen(environ))}): the {size} would "
        f"not meet, and each would train a model of its own. Start them with {shown}; {ALONE}=1 says that this "
        "process is to train alone."
    )


def copy_rank_variables() -> None:
    """Give scripts RANK_ID, DEVICE_ID and RANK_SIZE before `init()`, as MindSpore does."""
    size, rank, local = launched_size(), launched_rank(), launched_local()[0]
    if size is None or rank is None:
        return
    os.environ["RANK_ID"], os.environ["RANK_SIZE"] = str(rank), str(copy_role(rank, size[1]))
    if local is not None:
        os.environ["DEVICE_ID"] = str(local)
