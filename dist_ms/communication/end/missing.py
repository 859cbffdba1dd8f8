"""A rank that did not come: who it is, on which machine, and what it is doing as far as that can be seen."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

_STATES = {"T": "is stopped (SIGSTOP)", "t": "is stopped by a debugger", "Z": "has died", "X": "has died"}
SILENT = "computes, is stopped or lost"


@dataclass(frozen=True)
class Missing:
    """A rank that others have given up.

    Attributes:
        rank: which.
        host: its machine, "?" where it is not known.
        doing: what is known of it, as a verb and more.
    """

    rank: int
    host: str
    doing: str


def late(text: str, missing: Missing | None) -> TimeoutError:
    """Return the error of a wait that has lasted too long; it carries whom it waited for.

    Args:
        text: what it says.
        missing: the rank that the waiting one did not hear of, None if all have answered.
    """
    error = TimeoutError(text)
    vars(error)["missing"] = missing
    return error


@dataclass(frozen=True)
class Place:
    """Where a rank runs.

    Attributes:
        machine: tells machines apart, containers of one host and hosts of one name too; its name comes first.
        process: its process id there.
    """

    machine: tuple[str, str]
    process: int

    @property
    def host(self) -> str:
        """The machine's name."""
        return self.machine[0]


def doing(place: Place | None, here: Place | None) -> str:
    """Say what a rank that does not answer is doing; from another machine that cannot be seen.

    Args:
        place: of the rank that does not answer, None where it is not known.
        here: of this one.

    Examples:
        >>> from dist_ms.communication.end.missing import doing
        >>> doing(None, None)
        'computes, is stopped or lost'
    """
    if place is None or here is None or place.machine != here.machine:
        return SILENT
    state = process_state(place.process)
    return _STATES.get(state, "computes or waits for something else") if state else "has died"


def process_state(process: int) -> str:
    """Return the letter that the kernel has for a process's state, "" when there is no such process."""
    try:
        text = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return ""
    return text.rsplit(")", 1)[1].split()[0]


def missing_of(error: BaseException | None) -> Missing | None:
    """Return whom an error, or one that caused it, names as missing."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        found = getattr(error, "missing", None)
        if isinstance(found, Missing):
            return found
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return None
