"""How a rank ends: together with the others when all is well, and never leaving them waiting.

Without this an uncaught exception on one rank leaves the others waiting for ever: the rank's exit
enters MPI_Finalize, which waits for ranks that wait for it. Here its traceback is printed with
the rank's number, ranks that fail at the same time get a moment to print theirs, and the first of
them ends the job with MPI_Abort: Open MPI's mpirun may hang when ranks on several machines call it.
A rank that calls sys.exit with an error code ends the job with that code, but for STOPPED: ranks that
stop on request leave together, as those that end well do.
"""

from __future__ import annotations

import atexit
import os
import platform
import sys
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from types import TracebackType
from typing import Any, NoReturn

from dist_ms._ext.time_limit import TimeLimit
from dist_ms.communication.end import last_words
from dist_ms.communication.end.missing import missing_of
from dist_ms.communication.end.survivors import flush_output
from dist_ms.communication.rendezvous.control import Control
from dist_ms.communication.start.launched import launched_rank

_GRACE = 0.5  # seconds for other ranks to print their error
_LINE = 200  # characters of an exception that the launcher is told
STOPPED = 75  # EX_TEMPFAIL of sysexits.h: stopped on request, and worth starting again
_PATIENCE = 3.0  # seconds until a rank that another should have ended does it itself
_LIMIT = 20.0  # seconds for MPI_Finalize when all ranks have left


class _WatchedExit(SystemExit):
    """A SystemExit that notices when nobody caught it.

    An exception that ends the program is freed by the interpreter itself, with no Python frame
    below; one that was caught is freed in the frame that caught it.
    """

    ending: Ending | None = None

    def __del__(self) -> None:
        if self.ending is not None and sys._getframe().f_back is None:
            self.ending.exit_code = _exit_code(self.code)


def _exit_code(code: Any) -> int:
    """Return the process status that Python makes of a SystemExit's code."""
    if code is None:
        return 0
    return code & 0xFF if isinstance(code, int) else 1


def has_launcher() -> bool:
    """Whether `dist-ms run` waits for this rank's words, and hands signals on to it: as SIGUSR1, whichever came."""
    return _WatchedExit.ending is not None and bool(_WatchedExit.ending._report)


class Ending:
    """Watches how this process ends.

    Args:
        control: the rank's control channel.
        abort: ends all ranks at once, given the exit code.
        finalize: ends MPI when all ranks have left.

    Attributes:
        exit_code: what an uncaught sys.exit asked for.
    """

    def __init__(self, control: Control, abort: Callable[[int], None], finalize: Callable[[], None]) -> None:
        self.control, self.exit_code = control, 0
        self._abort, self._finalize, self._process = abort, finalize, os.getpid()
        # Taken out of the environment: what a rank starts is none.
        self._report = os.environ.pop("DIST_MS_REPORT", "")
        self._label = f"[rank {control.rank} of {control.size}]"
        self._lock = threading.Lock()

    def install(self) -> None:
        """Take the interpreter's hooks."""
        self._excepthook, self._threadhook = sys.excepthook, threading.excepthook
        self._exit = sys.exit
        sys.excepthook, threading.excepthook = self._uncaught, self._uncaught_in_thread
        _WatchedExit.ending = self
        sys.exit = self._watched_exit
        atexit.register(self._at_end)

    def follow(self, control: Control) -> None:
        """Go on for a smaller world.

        Args:
            control: the rank's control channel there.
        """
        self.control, self._label = control, f"[rank {control.rank} of {control.size}]"

    def _watched_exit(self, code: Any = None, /) -> NoReturn:
        if threading.current_thread() is not threading.main_thread():
            self._exit(code)  # ends only that thread
        raise _WatchedExit(code)

    def _uncaught(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        """Print the exception with the rank and end the job."""
        if os.getpid() != self._process:  # a forked child is no rank
            self._excepthook(kind, error, trace)
            return
        if self._excepthook is sys.__excepthook__:
            text = "".join(traceback.format_exception(kind, error, trace))
            self._say(f"uncaught exception\n{text}")
        else:
            self._say("uncaught exception\n")
            self._excepthook(kind, error, trace)
        self._end_job(130 if issubclass(kind, KeyboardInterrupt) else 1, error)

    def _uncaught_in_thread(self, args: Any) -> None:
        """The same for an exception that ends a thread, which the other ranks cannot see."""
        if os.getpid() != self._process or issubclass(args.exc_type, SystemExit):
            self._threadhook(args)
            return
        name = args.thread.name if args.thread is not None else "?"
        text = "".join(traceback.format_exception(args.exc_type, args.exc_value, args.exc_traceback))
        self._say(f"uncaught exception in thread {name}\n{text}")
        self._end_job(1, args.exc_value)

    def _at_end(self) -> None:
        """Leave together, or end the job when this rank did not end well."""
        if os.getpid() != self._process:
            return
        if self.exit_code not in (0, STOPPED):
            self._say(f"exit with code {self.exit_code}\n")
            self._end_job(self.exit_code)
        elif self.control.abandoned:
            self._say("ends with an operation that never completed\n")
            self._end_job(1)
        else:
            flush_output()
            try:
                self.control.farewell(last_words.words())
                last_words.hear(self.control.said)
            except KeyboardInterrupt:
                self._end_job(130)
            except Exception as error:
                self._say(f"{type(error).__qualname__}: {error}\n")
                self._end_job(1, error)
            sys.excepthook, threading.excepthook = self._excepthook, self._threadhook
            with self._limit():
                self._finalize()

    def _limit(self) -> AbstractContextManager:
        """Return what ends this process when MPI_Finalize, which cannot be interrupted, hangs: all has been done."""
        words = f"{self._label} MPI_Finalize has not returned within {_LIMIT:g} s; this process ends without it.\n"
        try:
            return TimeLimit(_LIMIT, self.exit_code, words.encode())
        except OSError:
            return nullcontext()

    def _say(self, text: str) -> None:
        """Write in one piece, so that the ranks' lines do not mix."""
        flush_output()
        try:
            sys.stderr.write(f"{self._label} {text}")
            sys.stderr.flush()
        except (OSError, ValueError, AttributeError):
            pass  # stderr is closed: there is nobody to tell, but the job must end all the same

    def _tell(self, code: int, error: BaseException | None) -> None:
        """Tell `dist-ms run` how the job ends, before mpirun says it in its own way."""
        if not self._report:
            return
        found = missing_of(error)
        rank, host = launched_rank(), platform.node()
        if found is not None:
            rank, host, how = found.rank, found.host, f"cause=missing what={found.doing}"
        elif error is not None:
            lines = "".join(traceback.format_exception_only(error)).splitlines()
            how = f"cause=exception what={type(error).__qualname__} said={(lines or [''])[0][:_LINE]}"
        else:
            how = f"cause=exit what={code}"
        rank = self.control.rank if rank is None else rank
        line = f"\x1edist-ms rank={rank} host={host} code={code} {how}\n".encode()
        try:
            if self._report == "stderr":
                os.write(2, line)
            else:
                with open(self._report, "wb", buffering=0) as file:
                    file.write(line)
        except OSError:
            pass  # the launcher is gone: there is nobody to tell

    def _end_job(self, code: int, error: BaseException | None = None) -> None:
        """Give others the time to print, then end all ranks, or wait for the first that failed to do so."""
        with self._lock:
            try:
                self._tell(code, error)
                self.control.fail(_GRACE)
                flush_output()
                if self.control.rank > min(self.control.failed, default=self.control.rank):
                    time.sleep(_PATIENCE)
            finally:
                flush_output()
                self._abort(code)
