"""Status of the jobs on this machine: a folder per job in one of the user's own, with a file per rank.

The launcher makes the job's folder and removes it; ranks write what they have done (dist_ms/parallel/status_file.py).
When the launcher is killed, a shell that waits for its end removes it; what both leave, as where a machine is switched
off, the next launcher removes.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import stat
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

VARIABLE = "DIST_MS_STATUS"  # of the ranks: their job's folder
_JOB = "job.json"
# Reads until the launcher's end of the pipe is closed. A rank that starts just now may put a file into the folder.
_REMOVES = 'trap "" INT TERM HUP; read -r _; rm -rf "$1" || { sleep 1; rm -rf "$1"; }; rmdir "${1%/*}"'


@dataclass(frozen=True)
class JobStatus:
    """A job as it was when it was looked at.

    Attributes:
        process: of its launcher.
        command: the program and its arguments.
        ranks: how many there are, servers included.
        servers: how many of them, the last ones, are parameter servers.
        began: when, in seconds since 1970.
        restarts: how often it was started again.
        records: what the ranks of this machine wrote, in their order.
    """

    process: int
    command: Sequence[str]
    ranks: int
    servers: int
    began: float
    restarts: int = 0
    records: Sequence[Mapping[str, Any]] = field(default_factory=tuple)


def user_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the folder of this user's jobs; where there is a runtime directory of the session, in it.

    Args:
        environ: the environment.

    Examples:
        >>> from dist_ms.launch.monitoring.status import user_folder
        >>> user_folder({"XDG_RUNTIME_DIR": "/run/user/7"}).as_posix()
        '/run/user/7/dist_ms'
    """
    runtime = environ.get("XDG_RUNTIME_DIR")
    return Path(runtime, "dist_ms") if runtime else Path(tempfile.gettempdir(), f"dist_ms-{os.getuid()}")


class StatusFolder:
    """The folder of one job, from its beginning to its end.

    Args:
        command: the program and its arguments.
        ranks, servers: how many.
        folder: of the user's jobs.

    Attributes:
        path: its place; None where there can be none, as in a folder that belongs to somebody else.
    """

    def __init__(self, command: Sequence[str], ranks: int, servers: int, folder: Path | None = None) -> None:
        parent = user_folder() if folder is None else folder
        self.path: Path | None = None
        self._remover: subprocess.Popen | None = None
        self._status = JobStatus(os.getpid(), list(command), ranks, servers, time.time())
        try:
            self.path = _new_folder(parent)
            if self.path is not None:
                self._remover = _remover(self.path)
            self.begin_attempt(0)
        except OSError:
            self.remove()

    def begin_attempt(self, restarts: int, ranks: int | None = None) -> None:
        """Note that the job begins, or begins again.

        Args:
            restarts: how often it was started before.
            ranks: how many there are now; None: as many as before.
        """
        if self.path is None:
            return
        if ranks is not None:
            self._status = replace(self._status, ranks=ranks)
        for old in self.path.glob("rank_*"):
            old.unlink(missing_ok=True)
        facts = {name: value for name, value in vars(self._status).items() if name != "records"}
        whole = self.path / f".{_JOB}"
        whole.write_text(json.dumps({**facts, "restarts": restarts}))
        whole.replace(self.path / _JOB)

    def read(self) -> JobStatus | None:
        """Return what there is to see now."""
        return None if self.path is None else read_job(self.path)

    def remove(self) -> None:
        """Remove the folder."""
        if self.path is not None:
            shutil.rmtree(self.path, ignore_errors=True)
            with contextlib.suppress(OSError):  # other jobs are there
                self.path.parent.rmdir()
        if self._remover is not None:
            self._remover.communicate()
        self.path = self._remover = None


def _remover(folder: Path) -> subprocess.Popen | None:
    """Start what removes a folder when this process ends, however it does; None where there is no shell."""
    words = ["/bin/sh", "-c", _REMOVES, "dist-ms", str(folder)]
    pipe, null = subprocess.PIPE, subprocess.DEVNULL
    with contextlib.suppress(OSError):
        return subprocess.Popen(words, stdin=pipe, stdout=null, stderr=null, start_new_session=True)
    return None


def _new_folder(parent: Path) -> Path | None:
    """Make a folder in the user's; None where that belongs to somebody else."""
    for last in (False, True):
        parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _is_own(parent):
            return None
        remove_left(parent)
        try:
            return Path(tempfile.mkdtemp(prefix=f"{os.getpid()}-", dir=parent))
        except FileNotFoundError:  # another job was the last to end, just now
            if last:
                raise
    return None


def read_job(path: Path) -> JobStatus | None:
    """Read the folder of a job; None if it is none any more.

    Args:
        path: the folder.
    """
    try:
        facts = json.loads((path / _JOB).read_text())
        records = sorted(filter(None, map(_record, path.glob("rank_*"))), key=lambda record: record["rank"])
        return JobStatus(**facts, records=records)
    except (OSError, ValueError, TypeError):
        return None


def _record(path: Path) -> dict[str, Any] | None:
    """Read what a rank wrote; None while it has written nothing."""
    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) and isinstance(found.get("rank"), int) else None


def read_jobs(folder: Path | None = None) -> list[JobStatus]:
    """Return the jobs of this user that run on this machine, the oldest first.

    Args:
        folder: of the user's jobs.
    """
    parent = user_folder() if folder is None else folder
    if not _is_own(parent):
        return []
    found = [read_job(path) for path in parent.iterdir() if _lives(path)]
    return sorted((job for job in found if job is not None), key=lambda job: job.began)


def remove_left(parent: Path) -> None:
    """Remove the folders of launchers that are gone.

    Args:
        parent: of the user's jobs.
    """
    for path in parent.iterdir():
        if path.name.partition("-")[0].isdecimal() and not _lives(path):
            shutil.rmtree(path, ignore_errors=True)


def _lives(path: Path) -> bool:
    """Whether the launcher of a job's folder is there."""
    process = path.name.partition("-")[0]
    return process.isdecimal() and Path("/proc", process).exists()


def _is_own(folder: Path) -> bool:
    """Whether a folder is this user's, and nobody else may look into it or write there."""
    try:
        found = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077
