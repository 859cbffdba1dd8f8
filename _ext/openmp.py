"""Settings of the OpenMP library that kernels and oneDNN share, made before it is loaded.

It reads them from the environment when it is loaded and never again, so they are there just then. What the user
has set stays.
"""

import ctypes
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

SONAME = "libgomp.so.1"
BROUGHT = Path(__file__).with_name(SONAME)  # by a wheel, for systems without one
# How often a thread that waits asks before it sleeps: 0.1 to 0.5 ms, by CPU. That covers what lies between two kernels
# of a step. The library's own 300,000 are 5 to 14 ms, in which threads take from each other the cores they wait for.
SPINS = "10000"
_CGROUPS = Path("/sys/fs/cgroup")
_OWN_CGROUP = Path("/proc/self/cgroup")


def cpu_quota(root: Path = _CGROUPS, own: Path = _OWN_CGROUP) -> float | None:
    """Return how many CPUs' time this process's control groups allow; None when they set no limit.

    Args:
        root: where control groups are mounted (version 2, or version 1 with its `cpu` controller).
        own: says which groups this process is in.
    """
    found = [quota for folder in _groups(root, own) if (quota := _quota_of(folder)) is not None]
    return min(found, default=None)


def _groups(root: Path, own: Path) -> Iterator[Path]:
    """The folders of the groups that this process is in, and of those around them."""
    yield from (root, root / "cpu")
    try:
        lines = own.read_text().splitlines()
    except OSError:
        return
    for line in lines:
        number, controllers, path = (line.split(":", 2) + ["", ""])[:3]
        if number != "0" and "cpu" not in controllers.split(","):
            continue
        mounted = root if number == "0" else root / "cpu"
        parts = Path(path.lstrip("/")).parts
        if ".." in parts:
            continue
        yield from (mounted.joinpath(*parts[:n]) for n in range(1, len(parts) + 1))


def _quota_of(folder: Path) -> float | None:
    """The limit of one group."""
    try:
        if (folder / "cpu.max").exists():
            quota, period = (folder / "cpu.max").read_text().split()
        else:
            quota, period = ((folder / f"cpu.cfs_{what}_us").read_text() for what in ("quota", "period"))
        return None if quota.strip() == "max" or int(quota) <= 0 else int(quota) / int(period)
    except (OSError, ValueError):
        return None


def defaults(environ: Mapping[str, str], cores: int, quota: float | None) -> dict[str, str]:
    """Return what to set where the user has set nothing.

    Args:
        environ: the environment.
        cores: how many CPUs this process may run on.
        quota: how many CPUs' time it may use.

    >>> defaults({}, 8, 2.5)
    {'GOMP_SPINCOUNT': '10000', 'OMP_NUM_THREADS': '2'}
    >>> defaults({"OMP_WAIT_POLICY": "active", "OMP_NUM_THREADS": "4"}, 8, 2.5)
    {}
    """
    found = {}
    if "OMP_WAIT_POLICY" not in environ and "GOMP_SPINCOUNT" not in environ:
        found["GOMP_SPINCOUNT"] = SPINS
    if "OMP_NUM_THREADS" not in environ and quota is not None and quota < cores:
        found["OMP_NUM_THREADS"] = str(max(1, int(quota)))
    return found


@contextmanager
def _added(settings: Mapping[str, str]) -> Iterator[None]:
    """Have settings in the environment for a while."""
    os.environ.update(settings)
    try:
        yield
    finally:
        for name in settings:
            del os.environ[name]


def load() -> None:
    """Load the OpenMP library with these settings: the system's, else the one that a wheel brings.

    Where something has loaded it before, nothing changes.

    Raises:
        ImportError: There is none.
    """
    with _added(defaults(os.environ, len(os.sched_getaffinity(0)), cpu_quota())):
        try:
            ctypes.CDLL(SONAME)
        except OSError as error:
            if not BROUGHT.exists():
                raise ImportError(
                    f"OpenMP could not be loaded ({error}); install GCC's library, as by 'apt-get install libgomp1'."
                ) from error
            ctypes.CDLL(str(BROUGHT), mode=ctypes.RTLD_GLOBAL)  # who needs the library by its soname finds this one
