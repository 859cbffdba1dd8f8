"""How ranks ended, told by themselves and by their first program, whatever the MPI.

What mpirun says of a failed job depends on the MPI: Open MPI names the rank and the signal, MPICH a
process and an exit code of its own, Intel MPI the ranks that it killed itself. So a rank's first
program stays and waits for the interpreter, and tells the launcher's pipe how it ended before mpirun
can notice; between machines the line travels in the error output, behind a control character. A rank
that ends the job by itself (end/failure.py in dist_ms.communication) says why, in the same form.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from dataclasses import dataclass

VARIABLE = "DIST_MS_REPORT"  # a path, or STDERR
STDERR = "stderr"
STOPPED = 75  # the code of ranks that stop on request
_MARK = b"\x1edist-ms "
_FOLLOWED = ("exit", "14")
_LAST = (  # how ranks end because another has ended, by SIGTERM and with Open MPI's code, or because all were asked to
    ("signal", "15"),
    _FOLLOWED,
    ("exit", "75"),
)

# A rank's first program, its last part. Of 75, which is for ranks that stop on request, mpirun need not hear: it would
# end those that are not as far yet. mpirun's SIGTERM is for the interpreter, which may still have a word to say;
# the shell's own words ("Killed") go nowhere, and the error output stays open beside it, under a free number. In an
# elastic job it ends by the interpreter's signal: of an exit code mpirun does not tell the other ranks.
WAITING = (
    'trap : INT HUP TERM USR1; e=3; while [ -e "/proc/$$/fd/$e" ]; do e=$((e + 1)); done; '
    'eval "exec $e>&2 2>/dev/null"; '
    'eval "(exec \\"\\$@\\" 2>&$e $e>&-)"; code=$?; if [ $code != 0 ]; then read -r host </proc/sys/kernel/hostname; '
    'line="rank=${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-$PMIX_RANK}} host=$host status=$code"; '
    f'case "${VARIABLE}" in {STDERR}) eval "exec >&$e";; ?*) exec >"${VARIABLE}";; *) exec >/dev/null;; esac; '
    'printf "\\036dist-ms %s\\n" "$line"; fi; [ $code != 75 ] || exit 0; '
    'if [ -n "$DIST_MS_ELASTIC" ] && [ $code -gt 128 ]; then trap - INT HUP TERM USR1; '
    "kill -$((code - 128)) $$ 2>/dev/null; fi; exit $code"
)


def waiting(program: Sequence[str]) -> list[str]:
    """Return the command of a rank that waits for the program and tells how it ended."""
    return ["/bin/sh", "-c", WAITING, "dist-ms", *program]


@dataclass(frozen=True)
class Report:
    """How a rank ended.

    Attributes:
        rank: which.
        host: its machine.
        cause: "signal", "exit", "exception", or "missing": it did not come, and the others gave it up.
        what: the signal's number, the exit code, the exception's type, or what the missing rank is doing.
        code: the job's exit code: 128 + the signal's number for a signal.
        said: the exception's line.
    """

    rank: int
    host: str
    cause: str
    what: str
    code: int
    said: str = ""

    def describe(self, ranks: int, servers: int = 0) -> str:
        """Say it in one line.

        Args:
            ranks: the number of ranks.
            servers: how many of them, the last ones, are parameter servers.

        Examples:
            >>> from dist_ms.launch.reports import parse
            >>> parse("rank=3 host=node2 status=137").describe(4, servers=2)
            'dist-ms: rank 3 of 4 (server 1 of 2) was ended by signal 9 (SIGKILL) on node2, exit code 137; the job was stopped.'
        """  # noqa: E501
        how = {
            "signal": "was ended by {1} on {0.host}, exit code {0.code}",
            "exit": "ended with exit code {0.what} on {0.host}",
            "exception": "ended with an uncaught {0.what} on {0.host}, exit code {0.code}",
            "missing": "did not answer the others: it {0.what} on {0.host}, exit code {0.code}",
        }[self.cause]
        name = named(int(self.what)) if self.cause == "signal" else ""
        return f"dist-ms: {who(self.rank, ranks, servers)} {how.format(self, name)}; the job was stopped."


def named(number: int) -> str:
    """Name a signal.

    Examples:
        >>> from dist_ms.launch.reports import named
        >>> named(9), named(99)
        ('signal 9 (SIGKILL)', 'signal 99')
    """
    try:
        return f"signal {number} ({signal.Signals(number).name})"
    except ValueError:
        return f"signal {number}"


def who(rank: int, ranks: int, servers: int = 0) -> str:
    """Name a rank, with its role where there are servers.

    Examples:
        >>> from dist_ms.launch.reports import who
        >>> who(1, 4), who(1, 4, 2)
        ('rank 1 of 4', 'rank 1 of 4 (worker 1 of 2)')
    """
    name, workers = f"rank {rank} of {ranks}", ranks - servers
    if not servers:
        return name
    return (
        f"{name} (worker {rank} of {workers})" if rank < workers else f"{name} (server {rank - workers} of {servers})"
    )


def parse(line: str) -> Report | None:
    """Read a report; None if it is none.

    Args:
        line: name=value words, without the mark. From a rank's first program they end with `status`, the shell's
            number for how the interpreter ended, from the rank with `code`, `cause`, `what` and perhaps `said`, which
            may have spaces.
    """
    head, _, what = line.strip().partition(" what=")
    what, _, said = what.partition(" said=")
    words = dict(word.partition("=")[::2] for word in head.split())
    try:
        rank, host = int(words["rank"]), words["host"]
        if "status" not in words:
            return Report(rank, host, words["cause"], what, int(words["code"]), said)
        code = int(words["status"])
    except (KeyError, ValueError):
        return None
    number = code - 128
    if number in {s.value for s in signal.Signals}:
        return Report(rank, host, "signal", str(number), code)
    return Report(rank, host, "exit", str(code), code)


class Reports:
    """What the ranks of a job have told.

    Args:
        pipe: whether they tell it through a pipe, not with the error output.
        ranks: how many there are.

    Attributes:
        reader: the reading end of the pipe, None where the lines come with the error output.
        told: the reports, as they came.
    """

    def __init__(self, pipe: bool, ranks: int) -> None:
        self.reader: int | None = None
        self._writer: int | None = None
        self._ranks = ranks
        if pipe:
            self.reader, self._writer = os.pipe()
        self.told: list[Report] = []
        self._held = b""

    @property
    def path(self) -> str:
        """What the ranks find in VARIABLE."""
        return STDERR if self._writer is None else f"/proc/{os.getpid()}/fd/{self._writer}"

    def strip(self, data: bytes) -> bytes:
        """Take the reports out of what was written, and return the rest.

        Args:
            data: the next bytes; a mark that is cut in two is held back.
        """
        data, self._held, rest = self._held + data, b"", b""
        while data:
            before, found, after = data.partition(_MARK[:1])
            rest += before
            if not found:
                break
            data = found + after
            if not data.startswith(_MARK[: len(data)]):
                rest, data = rest + found, after
                continue
            line, end, following = data[len(_MARK) :].partition(b"\n")
            if not end:
                self._held = data
                break
            report = parse(line.decode(errors="replace"))
            if report is not None:
                self.told.append(report)
            data = following
        return rest

    def last(self) -> bytes:
        """Return what was held back and is no report."""
        rest, self._held = self._held, b""
        return rest

    def first(self, elastic: bool = False) -> Report | None:
        """Return the report of the rank that ended the job: the first but for those that only followed another.

        Args:
            elastic: the job goes on without ranks that were killed, unless all the others followed.
        """
        told = self.told
        if elastic and any(r.cause != "signal" and (r.cause, r.what) != _FOLLOWED for r in told):
            told = [r for r in told if r.cause != "signal"]
        leading = [r for r in told if (r.cause, r.what) not in _LAST]
        return next(iter([*leading, *told]), None)

    def failed(self, elastic: bool) -> bool:
        """Whether a rank has told of a failure that ends the job.

        Args:
            elastic: the job goes on without ranks that were killed.
        """
        return any(r.code != STOPPED and not (elastic and r.cause == "signal") for r in self.told)

    @property
    def all_stopped(self) -> bool:
        """Whether every rank has told that it stopped on request: mpirun, which may hang then, is not needed."""
        return len({r.rank for r in self.told if r.code == STOPPED}) == self._ranks

    def close(self) -> None:
        """Close the pipe."""
        for fd in (self.reader, self._writer):
            if fd is not None:
                os.close(fd)
