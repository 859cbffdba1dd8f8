"""A rank's status in a file of its own, which `dist-ms run` and `dist-ms top` read while the rank trains.

`dist-ms run` names a folder of the user's (DIST_MS_STATUS); a thread writes a line of JSON there each second. Without
the variable there is neither file nor thread.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import threading
import time
from pathlib import Path
from typing import Any

from dist_ms.common.progress import progress
from dist_ms.common.settings.environment import value_of
from dist_ms.communication import current
from dist_ms.communication.world import World, on_init

_EVERY = 1.0  # seconds
_BYTES = 1024  # of a record, with the spaces that follow it: one write, so that readers find it whole


class StatusFile:
    """The file of one rank.

    Args:
        folder: of the job.
        rank: this one.

    Examples:
        >>> import json, pathlib, tempfile
        >>> from dist_ms.parallel.status_file import StatusFile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = StatusFile(folder, 0)
        ...     file.write()
        ...     print(json.loads(pathlib.Path(folder, "rank_0").read_text())["rank"])
        ...     file.close()
        0
    """

    def __init__(self, folder: str, rank: int) -> None:
        self.rank, self._path = rank, Path(folder) / f"rank_{rank}"
        self._begun = time.time()
        flags = os.O_CREAT | os.O_WRONLY | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
        self._file = os.open(self._path, flags, 0o600)

    def record(self) -> dict[str, Any]:
        """What there is to say."""
        world = current()
        first, last = progress.waits
        return {
            "rank": self.rank,
            "pid": os.getpid(),
            "begun": self._begun,
            "time": time.time(),
            "steps": progress.steps or progress.updates,
            "seconds": progress.last - progress.first,
            "updates": progress.updates,
            "samples": progress.samples,
            "epoch": [progress.epoch, progress.epochs],
            "batch": [progress.batch, progress.batches],
            "loss": progress.loss,
            "data": progress.data_seconds,
            "ranks": 0.0 if world is None else world.comm.waited,
            "waits": [last[0] - first[0], last[1] - first[1]],
            "awaited": progress.awaited,
        }

    def write(self) -> None:
        """Write the present status over the one before."""
        progress.wants_loss = True
        os.pwrite(self._file, json.dumps(self.record()).encode().ljust(_BYTES), 0)

    def close(self) -> None:
        """Close the file, which stays: the launcher removes its folder."""
        os.close(self._file)
        self._file = -1


def other_records(rank: int) -> list[dict[str, Any]]:
    """What the other ranks of this machine wrote last; nothing where no launcher wants it.

    Args:
        rank: this one.
    """
    folder, found = value_of("DIST_MS_STATUS"), []
    for path in Path(folder).glob("rank_*") if folder else ():
        with contextlib.suppress(OSError, ValueError):  # one that begins, or ends
            record = json.loads(path.read_text())
            if record["rank"] != rank:
                found.append(record)
    return found


def begin(rank: int) -> None:
    """Write this rank's status from now on, if the launcher wants it.

    Args:
        rank: of the job, servers included.
    """
    folder = value_of("DIST_MS_STATUS")
    if not folder or _begun or not Path(folder).is_dir():  # on another machine there is no such folder
        return
    try:
        file = StatusFile(folder, rank)
    except OSError:  # no room; the job goes on without
        return
    ended = threading.Event()

    def write_on() -> None:
        while not ended.wait(_EVERY):
            file.write()

    def end() -> None:
        ended.set()
        thread.join()
        file.write()
        file.close()

    thread = threading.Thread(target=write_on, name="dist_ms status", daemon=True)
    _begun.append(thread)
    file.write()
    thread.start()
    atexit.register(end)


_begun: list[threading.Thread] = []


def _joined(world: World) -> None:
    """Begin, where this process has become a rank of several; one that is alone begins when it trains."""
    if len(world.processes) > 1:
        begin(world.comm.ranks[world.comm.rank])


on_init(_joined)
