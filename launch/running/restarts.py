"""Starting a failed job again: after a pause that doubles, until it ends well, is stopped, or has had its chances."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from dataclasses import dataclass

from dist_ms.launch.running.faults import Fault
from dist_ms.launch.running.stopping import SIGNALS, STOPPED, say

COUNT = "DIST_MS_RESTARTS"  # how often the job was started again, for the ranks
_FIRST, _LONGEST = 1.0, 60.0  # seconds of a pause
_LONG = 300.0  # seconds after which a failure is a new one: the pauses begin anew


@dataclass(frozen=True)
class Outcome:
    """How one attempt ended.

    Attributes:
        code: the exit code.
        reason: the failed rank's last words.
        asked: whether the job was stopped from outside.
        fault: what failed besides the program.
        changed: whether the next attempt has other machines or fewer ranks, so that there is nothing to wait for.
    """

    code: int
    reason: str = ""
    asked: bool = False
    fault: Fault | None = None
    changed: bool = False


def with_restarts(attempt: Callable[[int], Outcome], restarts: int) -> int:
    """Attempt a job, again after a failure; return the last exit code.

    Args:
        attempt: runs the job once, given how often it was started before, and says how it ended.
        restarts: how often it may be started again.

    Examples:
        >>> from dist_ms.launch.running.restarts import Outcome, with_restarts
        >>> with_restarts(lambda count: Outcome(0), 3)
        0
    """
    quick = 0
    for count in range(restarts + 1):
        start = time.monotonic()
        outcome = attempt(count)
        if outcome.code in (0, STOPPED) or outcome.asked:
            break
        if count == restarts:
            if restarts:
                say(f"dist-ms: given up after {restarts} restart{'s' * (restarts > 1)}.")
            break
        quick = 0 if time.monotonic() - start > _LONG else quick + 1
        pause = min(_LONGEST, _FIRST * 2 ** max(0, quick - 1))
        if outcome.changed and quick == 1:
            pause = 0.0
        reason = f" ({outcome.reason})" if outcome.reason else ""
        number = _pause(pause, f"dist-ms: restart {count + 1} of {restarts} in {pause:g} s{reason}.")
        if number is not None:
            say(f"dist-ms: got {signal.Signals(number).name}; the job is not started again.")
            return STOPPED if number != signal.SIGHUP else 128 + number
    return outcome.code


def _pause(seconds: float, why: str) -> int | None:
    """Say why, and wait; return the signal that came meanwhile."""
    came: list[int] = []
    old = {s: signal.signal(s, lambda number, _: came.append(number)) for s in SIGNALS}
    until = time.monotonic() + seconds
    try:
        say(why)
        while not came and (left := until - time.monotonic()) > 0:
            time.sleep(min(left, 0.1))
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)
    return came[0] if came else None
