"""The ranks' standard streams, past mpirun.

Open MPI 5 holds back lines until they are complete, reads its own stdin although no rank asks for
it, and does not tell rank 0 where stdin ends. On one machine none of that is needed: each rank
opens a stream of the launcher as /proc/PID/fd/N, and rank 0 its stdin as well.
"""

from __future__ import annotations

import fcntl
import os
import resource
import stat
import threading
import time
from collections.abc import Sequence

from dist_ms.launch.output.rank_output import RankOutput
from dist_ms.launch.reports import WAITING

# A rank's first program: it opens its streams, runs the interpreter and tells how that ended. Rank r's writing ends
# have the numbers $2 + 2 r and $2 + 2 r + 1; 0 for $2 means the launcher's own stdout and stderr.
_OPEN_STREAMS = (
    'fds=$1 first=$2 in=$3 rank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}; shift 3; case "$rank:$in" in '
    '0:?*) exec <"$in";; esac; out=1 err=2; if [ "$first" != 0 ]; then '
    "out=$((first + 2 * rank)) err=$((first + 2 * rank + 1)); fi; "
    'exec >"$fds/$out" 2>"$fds/$err"; '
)
_HOLD = 0.05  # seconds that an incomplete line is held back, so that ranks do not mix in lines
_HOLD_BYTES = 65536
_SPARE = 64  # descriptors below this number are left to others


def opening_streams(arguments: Sequence[str], program: Sequence[str]) -> list[str]:
    """Return the command of a rank that opens its streams and then runs the program.

    Args:
        arguments: what `Streams.arguments` says.
        program: the interpreter and its arguments.
    """
    return ["/bin/sh", "-c", _OPEN_STREAMS + WAITING, "dist-ms", *arguments, *program]


class Streams:
    """Where the ranks write to and rank 0 reads from.

    At a terminal the ranks open it themselves, so they know that it is one. Otherwise each rank
    writes to pipes of its own, and `pump` copies what comes, whole lines at a time.

    Args:
        ranks: the number of ranks.
        prefix: whether lines begin with their rank, and equal ones are shown once.
        log_dir: where each rank's output goes as well, or None.
        log_name: how the names of these files begin.

    Attributes:
        readers: the pipes' reading ends.
        terminal: whether the ranks write to a terminal.
        output: takes what they write.
    """

    def __init__(self, ranks: int, prefix: bool = False, log_dir: str | None = None, log_name: str = "rank") -> None:
        self.output = RankOutput(ranks, prefix, log_dir, log_name)
        self.terminal = os.isatty(1) and os.isatty(2) and not prefix and log_dir is None
        self.readers: list[int] = []
        self._writers: list[int] = []
        self._held: dict[int, bytes] = {}
        self._since: dict[int, float] = {}
        self._typed: tuple[int, int] | None = None
        self._input = self._readable_path()
        if not self.terminal:
            self._open_pipes(2 * ranks)

    def _open_pipes(self, count: int) -> None:
        """Open pipes whose writing ends have numbers in a row."""
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = _SPARE + 2 * count + _SPARE
        if soft < wanted:
            resource.setrlimit(resource.RLIMIT_NOFILE, (min(wanted, hard), hard))
        first = _SPARE
        for i in range(count):
            reader, writer = os.pipe()
            fixed = fcntl.fcntl(writer, fcntl.F_DUPFD_CLOEXEC, first + i)
            os.close(writer)
            if i == 0:
                first = fixed
            if fixed != first + i:
                raise OSError(f"descriptor {first + i} is taken")
            high = fcntl.fcntl(reader, fcntl.F_DUPFD_CLOEXEC, _SPARE + count)
            os.close(reader)
            os.set_blocking(high, False)
            self.readers.append(high)
            self._writers.append(fixed)
            self._held[high] = b""

    @property
    def arguments(self) -> tuple[str, str, str]:
        """What `opening_streams` needs."""
        first = self._writers[0] if self._writers else 0
        return f"/proc/{os.getpid()}/fd", str(first), self._input

    def pump(self, reader: int) -> None:
        """Copy the complete lines that have come through a pipe."""
        try:
            data = os.read(reader, 65536)
        except BlockingIOError:
            return
        held = self._held[reader] + data
        end = held.rfind(b"\n") + 1
        if len(held) - end > _HOLD_BYTES:
            end = len(held)
        self._write(reader, held[:end])
        self._held[reader] = held[end:]
        if end or len(held) == len(data):
            self._since[reader] = time.monotonic()

    def flush(self, at_once: bool = False) -> None:
        """Copy incomplete lines that have waited long enough."""
        now = time.monotonic()
        for reader, held in self._held.items():
            if held and (at_once or (not self.output.by_lines and now - self._since[reader] >= _HOLD)):
                self._held[reader] = b""
                self._write(reader, held)
        self.output.flush(at_once)

    def _write(self, reader: int, data: bytes) -> None:
        """Write to the stream that a pipe stands for."""
        number = self.readers.index(reader)
        self.output.write(number // 2, 1 + number % 2, data)

    def _readable_path(self) -> str:
        """Return the path that rank 0 opens as its stdin.

        A pipe is opened as it is, and a file that nobody has read from; the rest is copied, as a
        terminal can be read by its foreground processes only.
        """
        try:
            mode = os.fstat(0).st_mode
        except OSError:
            return os.devnull
        at_start = stat.S_ISREG(mode) and os.lseek(0, 0, os.SEEK_CUR) == 0
        if at_start or stat.S_ISFIFO(mode):
            return f"/proc/{os.getpid()}/fd/0"
        if stat.S_ISCHR(mode) and not os.isatty(0):
            return os.devnull
        self._typed = os.pipe()
        return f"/proc/{os.getpid()}/fd/{self._typed[0]}"

    def start_input(self) -> None:
        """Begin to copy what is typed, where stdin has to be copied."""
        if self._typed is not None:
            threading.Thread(target=_copy_input, args=(self._typed[1],), daemon=True).start()

    def close(self) -> None:
        """Close the pipes."""
        for fd in (*self.readers, *self._writers):
            os.close(fd)
        self.output.close()


def _copy_input(writer: int) -> None:
    """Copy stdin to a pipe until it ends."""
    try:
        while True:
            # A background job that reads from its terminal would be stopped.
            while os.isatty(0) and os.tcgetpgrp(0) != os.getpgrp():
                time.sleep(0.2)
            data = os.read(0, 65536)
            if not data:
                break
            while data:
                data = data[os.write(writer, data) :]
    except OSError:
        pass  # rank 0 has ended, or the terminal is gone
    finally:
        os.close(writer)
