"""Which mpirun there is, and which MPI it belongs to."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

REMEDY = "Install one with pip install 'dist_ms[mpi]', or load the cluster's own (module load)."


class LaunchError(Exception):
    """The job cannot be started; the text says why and what helps."""


@dataclass(frozen=True)
class MpiRun:
    """A launcher of some MPI.

    Attributes:
        path: the program.
        vendor: "openmpi", "mpich", "intel", or "unknown".
        major: Open MPI's major version; 0 for the others.
        version: the first line of what it says of itself.
    """

    path: str
    vendor: str
    major: int = 0
    version: str = ""

    def environment(self, environ: Mapping[str, str]) -> dict[str, str]:
        """Return the variables that the launcher needs changed.

        Intel MPI's mpirun is a script, which looks for its mpiexec.hydra on PATH.

        Args:
            environ: the user's environment.
        """
        folder, search = Path(self.path).parent, environ.get("PATH", "")
        hydra = folder / "mpiexec.hydra"
        if not hydra.is_file() or shutil.which("mpiexec.hydra", path=search) == str(hydra):
            return {}
        return {"PATH": f"{folder}{os.pathsep}{search}" if search else str(folder)}


def identify(path: str, text: str) -> MpiRun:
    """Tell from the output of `mpirun --version` whose it is.

    Examples:
        >>> from dist_ms.launch.mpirun import identify
        >>> identify("/usr/bin/mpirun", "mpirun (Open MPI) 4.1.6").major
        4
        >>> identify("/usr/bin/mpirun", "HYDRA build details:").vendor
        'mpich'
    """
    first = text.strip().splitlines()[0].strip() if text.strip() else ""
    found = re.search(r"Open ?MPI\)? ?v?(\d+)", text, re.IGNORECASE)
    if found:
        return MpiRun(path, "openmpi", int(found[1]), first)
    if "Intel(R) MPI" in text:
        return MpiRun(path, "intel", 0, first)
    if "HYDRA" in text.upper():
        version = re.search(r"Version:\s*(\S+)", text)
        return MpiRun(path, "mpich", 0, f"MPICH {version[1]}" if version else first)
    return MpiRun(path, "unknown", 0, first)


def find_mpirun(
    given: str | None = None, python: str = sys.executable, environ: Mapping[str, str] | None = None
) -> MpiRun:
    """Find mpirun: the one given, the one beside the interpreter, the first on PATH.

    The one beside the interpreter comes first because it belongs to the libmpi.so that mpi4py
    finds there.

    Args:
        given: a path or the name of a program on PATH.
        python: the interpreter that runs the ranks.
        environ: where PATH is taken from, by default this process's environment.

    Raises:
        LaunchError: if there is none, or it does not run.
    """
    search = None if environ is None else environ.get("PATH", "")
    if given is not None:
        path = shutil.which(given, path=search)
        if path is None:
            raise LaunchError(f"--mpirun must be a program, but {given!r} is none.")
        return _ask(path)
    beside = Path(python).parent
    for name in ("mpirun", "mpiexec"):
        path = shutil.which(name, path=str(beside)) or shutil.which(name, path=search)
        if path is not None:
            return _ask(path)
    raise LaunchError(f"no mpirun was found beside {python} or on PATH, but several ranks need one. {REMEDY}")


def _ask(path: str) -> MpiRun:
    """Run `mpirun --version`."""
    try:
        env = {**os.environ, **MpiRun(path, "unknown").environment(os.environ)}
        done = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=30, env=env)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise LaunchError(f"{path} --version failed: {error}. {REMEDY}") from error
    return identify(path, done.stdout + done.stderr)
