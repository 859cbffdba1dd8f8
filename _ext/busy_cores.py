"""Fewer kernel threads while other processes keep the cores busy.

A kernel ends when the last of its threads does, and one that has no core holds up all others for milliseconds: on
cores that are taken, more threads are slower, not faster. Now and then, between two operations, this looks at how
long threads have waited for a core (Linux counts that), and gives back as many threads as waited; when cores are
idle again it takes them up again. `OMP_DYNAMIC=false` keeps the number as it is.
"""

import os
import threading
import time
from collections.abc import Mapping

from dist_ms._ext import tape, threads

SECONDS = 0.1  # between two looks while threads are given back, as idleness is counted in ticks
_SOON = 0.02  # while all run: taken cores cost more than idle ones
_COST = 200  # a look may take this part of the time until the next, however many threads it looks at
_USUAL = 0.15  # of the time: what a thread may wait for a core without being late
_LATE = 0.015  # seconds beyond that, from which on a thread counts as one without a core; several slices of Linux's
_IDLE_LOOKS = 5  # in a row, before they are taken up again
_TICK = os.sysconf("SC_CLK_TCK")


class Team:
    """Decides how many threads run, from what each interval showed."""

    def __init__(self) -> None:
        self._idle = 0
        self._late: dict[str, float] = {}

    def decide(self, now: int, asked: int, waits: Mapping[str, float], passed: float, idle: float) -> int:
        """Return how many threads to run from now on.

        Args:
            now: how many run.
            asked: how many the user, or the number of cores, asks for.
            waits: the seconds that each of them was without a core in this interval.
            passed: the seconds of the interval.
            idle: how many cores had nothing to do.

        >>> team = Team()
        >>> [team.decide(4, 4, {"1": 0.01, "2": 0.001}, 0.02, 0.0) for _ in range(3)]
        [4, 4, 3]
        >>> [team.decide(3, 4, {}, 0.1, 1.0) for _ in range(5)]
        [3, 3, 3, 3, 4]
        """
        usual = _USUAL * passed
        self._late = {task: max(0.0, self._late.get(task, 0.0) + wait - usual) for task, wait in waits.items()}
        late = sum(seconds > _LATE for seconds in self._late.values())
        if late and now > 1:
            self._idle, self._late = 0, {}
            return max(1, now - late)
        room = int(idle + 0.1)
        self._idle = self._idle + 1 if room and now < asked else 0
        if self._idle < _IDLE_LOOKS:
            return now
        self._idle = 0
        return min(asked, now + room)


class Watch:
    """Looks at the threads of this process and at its cores, and changes the number of threads of one of them."""

    def __init__(self) -> None:
        self._team = Team()
        self._owner = threading.get_ident()
        self._cores = sorted(os.sched_getaffinity(0))
        self._time = time.monotonic()
        self._waits = waiting_times()
        self._idle: float | None = None

    def look(self) -> None:
        """Look at the last interval and decide; only the thread that has made this counts."""
        asked = threads.asked_num_threads()
        if asked < 2 or threading.get_ident() != self._owner:
            return
        began = time.monotonic()
        before, waits, passed = self._waits, waiting_times(), began - self._time
        self._time, self._waits = began, waits
        since = {task: wait - before.get(task, wait) for task, wait in waits.items()}
        now = threads.get_num_threads()
        count = self._team.decide(now, asked, since, passed, self._idle_cores(passed) if now < asked else 0.0)
        if count != now:
            threads.use_fewer_threads(count)
            seconds = _SOON if count == asked else SECONDS
            tape.look_every(max(seconds, _COST * (time.monotonic() - began)), self.look)

    def _idle_cores(self, passed: float) -> float:
        """How many of this process's cores had nothing to do, while it runs fewer threads than it might."""
        before, self._idle = self._idle, idle_seconds(self._cores)
        return 0.0 if before is None or self._idle is None else (self._idle - before) / passed


def waiting_times() -> dict[str, float]:
    """Return how many seconds each thread of this process has waited for a core so far; {} where Linux does not tell.

    >>> all(seconds >= 0 for seconds in waiting_times().values())
    True
    """
    found = {}
    for task in os.listdir("/proc/self/task"):
        try:
            with open(f"/proc/self/task/{task}/schedstat", "rb") as file:
                found[task] = int(file.read().split()[1]) * 1e-9
        except (OSError, IndexError, ValueError):  # it has ended, or Linux was built without this
            continue
    return found


def idle_seconds(cores: list[int]) -> float | None:
    """Return how many seconds some cores have been idle so far; None where Linux does not tell.

    Args:
        cores: their numbers.

    >>> idle_seconds([]) in (0.0, None)
    True
    """
    names, found = {b"cpu%d" % core for core in cores}, 0
    try:
        with open("/proc/stat", "rb") as file:
            for line in file:
                words = line.split()
                if words[0] in names:
                    found += int(words[4]) + int(words[5])  # idle, and idle with input or output under way
                elif not words[0].startswith(b"cpu"):
                    break
    except (OSError, IndexError, ValueError):
        return None
    return found / _TICK


_fixed_for: set[str] = set()


def watch() -> None:
    """Look after the threads of the kernels that this Python thread calls, from now on.

    Nothing is done where the user has said `OMP_DYNAMIC=false`, where the number is fixed for a reason, or where Linux
    does not tell how long threads wait.
    """
    fixed = os.environ.get("OMP_DYNAMIC", "true").strip().lower() == "false"
    if fixed or _fixed_for or not waiting_times():
        tape.look_every(0.0, None)
    else:
        tape.look_every(_SOON, Watch().look)


def keep_number(reason: str, on: bool = True) -> None:
    """Run as many threads as were asked for, busy cores or not: oneDNN's last bits depend on the number.

    Args:
        reason: who wants it.
        on: False: who does so no more.

    >>> keep_number("an example")
    >>> keep_number("an example", False)
    """
    (_fixed_for.add if on else _fixed_for.discard)(reason)
    if on:
        threads.use_fewer_threads(threads.asked_num_threads())
    watch()
