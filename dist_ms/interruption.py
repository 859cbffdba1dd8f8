"""Stopping politely: a signal asks a job to stop, its ranks agree on the step after which they do, and end resumable.

While training runs, the first SIGINT, SIGTERM or SIGUSR1 only sets a flag; a second one, a second or more later, ends
the process at once. Signals reach ranks at different steps, so they ask each other about five times a second, and after
every 32nd step at least, whether any was told. `Model.train` and `Model.fit` then call `on_train_interrupted` of their
callbacks, where the run is saved, then `on_train_end`, where files are completed, and leave with `EXIT_CODE`. A loop of
one's own does the same with three calls:

    with interruption.watch() as told:
        for step, batch in enumerate(batches):
            train(batch)
            if told.agreed():      # on all ranks after the same step; all must ask
                save(step)
                interruption.leave()

`interruption.requested()` is this process's flag alone: for work between steps that is better cut short.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterable
from types import FrameType
from typing import Any, NoReturn

import numpy as np

from dist_ms.communication import Comm
from dist_ms.communication.end.failure import STOPPED as EXIT_CODE
from dist_ms.communication.end.failure import has_launcher
from dist_ms.parallel.job import data_parallel_comm

__all__ = ["EXIT_CODE", "SIGNALS", "Watch", "leave", "request", "requested", "watch"]

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1)
_APART = 1.0  # seconds: a signal that follows sooner is the same one, sent twice (to a group, and by a launcher)
_EVERY = 0.2  # seconds between two questions
_STEPS = 32  # steps between two questions, at most
_UNSET: Any = object()

_came: dict[str, Any] = {"signal": None, "time": 0.0}


def requested() -> int | None:
    """Return the signal that asked this process to stop, 0 for `request()`, None if nobody did.

    Examples:
        >>> from dist_ms import interruption
        >>> with interruption.watch():
        ...     interruption.request()
        ...     interruption.requested()
        0
        >>> interruption.requested() is None
        True
    """
    return _came["signal"]


def request(number: int = 0) -> None:
    """Ask this job to stop, as a signal does: a budget of time is used up, a loss is good enough.

    Args:
        number: the signal's, 0 for none.
    """
    if _came["signal"] is None:
        _came["time"] = time.monotonic()
        _came["signal"] = number


def leave(saved: str | None = None, where: str = "") -> NoReturn:
    """End this process after `Watch.agreed`: one line from rank 0, and the exit code `EXIT_CODE` (75, EX_TEMPFAIL).

    At an interactive prompt and in a notebook KeyboardInterrupt is raised instead, which keeps the session.

    Args:
        saved: where the run was saved.
        where: the step, as words: "after step 7 of epoch 2".

    Raises:
        SystemExit: always, or KeyboardInterrupt.
    """
    comm = data_parallel_comm()
    if comm is None or comm.rank == 0:
        told = _came["signal"] and not has_launcher()  # which has named it already
        name = f" ({signal.Signals(_came['signal']).name})" if told else ""
        kept = f"; saved to {saved}" if saved else ""
        line = f"dist_ms: stopped on request{name}{' ' + where if where else ''}{kept}.\n"
        try:
            sys.stdout.flush()
            sys.stderr.write(line)
            sys.stderr.flush()
        except (OSError, ValueError, AttributeError):
            pass  # nobody reads any more: the run is saved all the same
    if hasattr(sys, "ps1") or "ipykernel" in sys.modules:
        raise KeyboardInterrupt(f"stopped on request {where}".rstrip())
    sys.exit(EXIT_CODE)


class Watch:
    """Waits for a request to stop, from its `with` to its end.

    Handlers are set in the main thread only, and not in the place of the script's own; the old ones come back at the
    end, where the request is forgotten as well. Watches may be nested: the outermost has the handlers.

    Args:
        comm: the ranks that agree; by default those of the data-parallel job, or this process alone.
        signals: which ask.

    Attributes:
        comm: the ranks that agree, None for this process alone.

    Examples:
        >>> from dist_ms import interruption
        >>> with interruption.watch() as told:
        ...     steps = []
        ...     for step in range(9):
        ...         steps.append(step)
        ...         if step == 3:
        ...             interruption.request()
        ...         if told.agreed():
        ...             break
        >>> steps
        [0, 1, 2, 3]
    """

    _depth = 0

    def __init__(self, comm: Comm | None = _UNSET, signals: Iterable[int] = SIGNALS) -> None:
        self._given, self._signals = comm, tuple(signals)
        self.comm: Comm | None = None
        self._old: dict[int, Any] = {}
        self._steps = self._asked = 0
        self._next = 1
        self._time = 0.0
        self._reached = False

    def __enter__(self) -> Watch:
        self.comm = data_parallel_comm() if self._given is _UNSET else self._given
        self.begin_anew()
        Watch._depth += 1
        if Watch._depth == 1 and threading.current_thread() is threading.main_thread():
            for number in self._signals:
                if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
                    self._old[number] = signal.signal(number, _told)
        return self

    def __exit__(self, *exc: Any) -> None:
        Watch._depth -= 1
        for number, handler in self._old.items():
            if signal.getsignal(number) is _told:
                signal.signal(number, handler)
        self._old = {}
        if Watch._depth == 0:
            _came["signal"] = None

    def begin_anew(self) -> None:
        """Count steps from here; all ranks come here together."""
        self._steps, self._asked, self._next, self._reached = 0, 0, 1, False
        self._time = time.monotonic()

    def agreed(self) -> bool:
        """Return whether all ranks stop here. Every rank asks after each step; mostly that is one comparison.

        Raises:
            TimeoutError: if a rank does not come, as from every collective.
        """
        self._steps += 1
        if self.comm is None or self.comm.size == 1:
            return _came["signal"] is not None
        if self._steps < self._next and not self._reached:
            return False
        return self.agreed_now()

    def agreed_now(self) -> bool:
        """Ask at once: for the moments between steps, where all ranks come together anyway."""
        if self.comm is None or self.comm.size == 1:
            return _came["signal"] is not None
        now = time.monotonic()
        each = (now - self._time) / max(1, self._steps - self._asked)
        told = -1 if _came["signal"] is None else _came["signal"]
        found = self.comm.all_reduce(np.array([told, int(each * 1e9)], np.int64), "max")
        if found[0] >= 0:
            request(int(found[0]))  # the ranks that were not told know by which signal
            self._reached = True
            return True
        # Every rank computes the same number, from the slowest rank's time; it grows twofold at most.
        wanted = int(_EVERY * 1e9 / max(1, int(found[1])))
        steps = max(1, min(wanted, _STEPS, 2 * max(1, self._steps - self._asked)))
        self._asked, self._next, self._time = self._steps, self._steps + steps, now
        return False


def watch(comm: Comm | None = _UNSET, signals: Iterable[int] = SIGNALS) -> Watch:
    """Return a `Watch`, for `with`.

    Args:
        comm: the ranks that agree; by default those of the data-parallel job, or this process alone.
        signals: which ask.
    """
    return Watch(comm, signals)


def _told(number: int, frame: FrameType | None) -> None:
    """Remember the first signal; end the process on a second."""
    if _came["signal"] is None:
        request(number)
    elif time.monotonic() - _came["time"] > _APART:
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
