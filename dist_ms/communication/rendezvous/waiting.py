"""Waiting without burning a core: spin, then give the core away, then sleep."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from dist_ms.communication.environment import value_of

_SPIN = 0.002  # seconds; covers every message between ranks that are in step


def default_timeout(environ: dict[str, str] | None = None) -> float:
    """Return the seconds a wait may last: DIST_MS_TIMEOUT, 600 by default, 0 for no limit.

    Raises:
        ValueError: if the variable is no number of 0 or more.

    Examples:
        >>> from dist_ms.communication.rendezvous.waiting import default_timeout
        >>> default_timeout({"DIST_MS_TIMEOUT": "30"}), default_timeout({})
        (30.0, 600.0)
    """
    text = value_of("DIST_MS_TIMEOUT", environ)
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not seconds >= 0:  # NaN too
        raise ValueError(f"The environment variable DIST_MS_TIMEOUT must be seconds, 0 for no limit, but got {text!r}.")
    return seconds if seconds > 0 else float("inf")


def pause(waited: float, longest: float = 0.001) -> None:
    """Wait a little, in proportion to the seconds waited already.

    A sleep is at most a fiftieth of the wait so far, so waking up late costs 2 % of it.
    """
    if waited < _SPIN:
        os.sched_yield()
    else:
        time.sleep(min(longest, waited / 50))


def wait_until(
    done: Callable[[], bool],
    seconds: float,
    listen: Callable[[float], None] | None = None,
    longest: float = 0.001,
) -> bool:
    """Wait until `done()` is true.

    Args:
        done: polled; also what drives the operation.
        seconds: the longest wait.
        listen: called now and then with the seconds waited, once the wait is long.
        longest: the longest sleep between two polls, in seconds.

    Returns:
        False when the time ran out.
    """
    if done():
        return True
    started = last = time.monotonic()
    while not done():
        now = time.monotonic()
        if now - started > seconds:
            return False
        if listen is not None and now - last > 0.2:
            last = now
            listen(now - started)
        pause(now - started, longest)
    return True
