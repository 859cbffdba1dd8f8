"""Where what ranks write goes: the launcher's streams, a file per rank, and memory for the last traceback."""

from __future__ import annotations

import os
from typing import BinaryIO

from dist_ms.launch.mpirun import LaunchError
from dist_ms.launch.output.labels import Labels

_KEPT_BYTES = 65536  # of a traceback


class RankOutput:
    """Takes the ranks' lines.

    Args:
        ranks: the number of ranks.
        prefix: whether lines begin with their rank, and equal ones are shown once.
        log_dir: where each rank's output goes as well, or None.
        log_name: how the names of these files begin.

    Raises:
        LaunchError: if these files cannot be written.
    """

    def __init__(self, ranks: int, prefix: bool = False, log_dir: str | None = None, log_name: str = "rank") -> None:
        self._tracebacks: dict[int, bytes] = {}
        self._last_error = -1
        self._labels = Labels(ranks, write_all) if prefix else None
        self._logs: list[BinaryIO] = []
        if log_dir is not None:
            paths = [os.path.join(log_dir, f"{log_name}_{rank}.log") for rank in range(ranks)]
            try:
                os.makedirs(log_dir, exist_ok=True)
                self._logs = [open(path, "ab", buffering=0) for path in paths]
            except OSError as error:
                raise LaunchError(
                    f"--log-dir must be a folder to write to, but got {log_dir!r}: {error.strerror}."
                ) from None

    @property
    def by_lines(self) -> bool:
        """Whether an incomplete line has to wait for its end."""
        return self._labels is not None

    def write(self, rank: int, target: int, data: bytes) -> None:
        """Take what a rank has written.

        Args:
            rank: whose.
            target: 1 for its output, 2 for its errors.
            data: whole lines, as far as there are any.
        """
        if self._logs and data:
            self._logs[rank].write(data)
        if target == 2 and data:
            self._last_error = rank
            begin = data.find(b"[rank %d of" % rank)
            if rank in self._tracebacks:
                self._tracebacks[rank] = (self._tracebacks[rank] + data)[:_KEPT_BYTES]
            elif begin >= 0 and b"] uncaught exception\n" in data[begin : begin + 80]:
                self._tracebacks[rank] = data[begin:]
        if self._labels is None:
            write_all(target, data)
        else:
            for line in data.splitlines(keepends=True):
                self._labels.add(rank, target, line)

    def flush(self, at_once: bool = False) -> None:
        """Show the lines that have waited long enough for other ranks to say the same."""
        if self._labels is not None:
            self._labels.flush(at_once)

    def buried_traceback(self, rank: int) -> str:
        """Return the traceback of a rank after which others have written other errors, "" where there are none.

        Args:
            rank: whose.
        """
        mine, last = (self._tracebacks.get(one, b"").rstrip() for one in (rank, self._last_error))
        if not mine or mine.rpartition(b"\n")[2] == last.rpartition(b"\n")[2]:
            return ""
        return mine.decode(errors="replace")

    def close(self) -> None:
        """Close the files."""
        for log in self._logs:
            log.close()


def write_all(target: int, data: bytes) -> None:
    """Write bytes to a descriptor."""
    while data:
        data = data[os.write(target, data) :]
