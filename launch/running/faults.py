"""What ended an attempt, where it was not the program: only then is a machine blamed."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from dataclasses import dataclass

from dist_ms.launch.banner import LOST
from dist_ms.launch.reports import Report, named

# Signals that come from outside of the program, as of a system that is out of memory (SIGKILL) or out of room for a
# mapped file (SIGBUS), or of a CPU that has not what the program was compiled for. What a program does to itself, like
# SIGSEGV and SIGABRT, it would do on any machine.
_FROM_OUTSIDE = (signal.SIGKILL, signal.SIGBUS, signal.SIGILL)
_SILENT = ("is stopped", "has died")  # of what a rank is doing that others have given up


@dataclass(frozen=True)
class Fault:
    """What failed besides the program.

    Attributes:
        rank: which one; None where that is not known.
        host: its machine, as that calls itself; "" where that is not known.
        why: what happened to it, as a verb and more.
    """

    rank: int | None = None
    host: str = ""
    why: str = ""


def fault_of(first: Report | None, failure: Mapping[str, str]) -> Fault | None:
    """Tell what failed, of an attempt that did; None where it was the program.

    An exception or an exit code is the program's, and would come on every machine. A rank that the others gave up
    may just compute: then no machine is named, and those that answer no more are to be found.

    Args:
        first: how the rank that ended the job ended, None if none has told.
        failure: what mpirun said of it.

    Examples:
        >>> from dist_ms.launch.reports import parse
        >>> from dist_ms.launch.running.faults import fault_of
        >>> fault_of(parse("rank=3 host=node2 status=137"), {})
        Fault(rank=3, host='node2', why='was ended by signal 9 (SIGKILL)')
        >>> print(fault_of(parse("rank=3 host=node2 status=1"), {}))
        None
    """
    if first is None or (first.code == LOST and "lost" in failure):
        if "daemon" in failure:
            return Fault(None, failure["daemon"], "lost mpirun's daemon")
        number = int(failure.get("signal", 0))
        if not number:
            # A lost connection names a machine; where mpirun itself has failed, none is known.
            host = failure.get("lost", "").removeprefix("a rank on ")
            return Fault(None, "" if " " in host else host, "lost its connections")
        if number not in _FROM_OUTSIDE:
            return None
        rank = int(failure["rank"]) if "rank" in failure else None
        return Fault(rank, failure.get("node", ""), f"was ended by {named(number)}")
    if first.cause == "signal" and int(first.what) in _FROM_OUTSIDE:
        return Fault(first.rank, first.host, f"was ended by {named(int(first.what))}")
    if first.cause == "signal" and int(first.what) == signal.SIGTERM:  # of a machine that shuts down, or mpirun's
        return Fault()
    if first.cause == "missing":
        if first.what.startswith(_SILENT):
            return Fault(first.rank, first.host, f"did not answer: it {first.what}")
        return Fault()
    return None
