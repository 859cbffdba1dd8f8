"""How a job is stopped from outside: politely at first, and then not.

The first SIGINT, SIGTERM or SIGUSR1 goes to the ranks as SIGUSR1, which the mpirun of every MPI hands on to the ranks
of all machines (SIGINT and SIGTERM Open MPI's takes for itself, and ends them): they finish the step, save and end. A
second signal, a lost terminal, or ranks that have not ended in time, and mpirun is told to end them.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1, signal.SIGHUP)
STOPPED = 75  # what ranks end with that stop on request; dist_ms.interruption.EXIT_CODE
GRACE = 30.0  # seconds by default; those of Slurm's KillWait and of Kubernetes
_PATIENCE = 5.0  # seconds for mpirun to end the ranks before it is killed
_LAST_PATIENCE = 1.0  # the same when the job is over, and it has not ended by itself
_SHOW_CURSOR = "\x1b[?25h"


class Stopping:
    """Ends mpirun when it is time.

    Args:
        grace: seconds that the ranks have to stop by themselves.
        say: shows a line to the user.

    Attributes:
        received: the signals that have come.
        killed: whether ranks were ended instead of ending by themselves.
    """

    def __init__(self, grace: float, say: Callable[[str], object]) -> None:
        self.grace, self._say = grace, say
        self.received: list[int] = []
        self.killed = False
        self._asked: float | None = None
        self._told: float | None = None
        self._over: float | None = None

    @property
    def first(self) -> int | None:
        """The first signal that came."""
        return self.received[0] if self.received else None

    def act(self, process: subprocess.Popen, over: bool) -> None:
        """Do what is due.

        Args:
            process: mpirun.
            over: whether a rank has told, or mpirun for it, that the job has failed, or all that they have stopped.
        """
        now = time.monotonic()
        if over and self._over is None:
            self._over = now
        if self._told is not None:
            if now - self._told > (_PATIENCE if self.received else _LAST_PATIENCE):
                process.kill()
            return
        if self.received and self._asked is None:
            self._asked = now
            if self.received[0] != signal.SIGHUP and self.grace > 0:
                name = signal.Signals(self.received[0]).name
                self._say(asked(name, self.grace))
                _ask(process)
            else:
                self._end(process, now)
        elif len(self.received) > 1:
            self._end(process, now)
        elif self._asked is not None and now - self._asked > self.grace:
            self._say(f"dist-ms: the ranks have not stopped within {self.grace:g} s and are ended.")
            self._end(process, now)
        elif self._over is not None and now - self._over > _PATIENCE:
            self._told = now
            process.send_signal(signal.SIGTERM)

    def _end(self, process: subprocess.Popen, now: float) -> None:
        self.killed, self._told = True, now
        process.send_signal(signal.SIGTERM)


def say(line: str) -> None:
    """Show a line to the user."""
    print(line, file=sys.stderr, flush=True)


def asked(name: str, grace: float) -> str:
    """Return what the user is told when ranks were asked to stop.

    Examples:
        >>> from dist_ms.launch.running.stopping import asked
        >>> asked("SIGINT", 30.0)
        'dist-ms: got SIGINT; the ranks have 30 s to finish their step and save, and a second signal ends them.'
    """
    return (
        f"dist-ms: got {name}; the ranks have {grace:g} s to finish their step and save, and a second signal ends them."
    )


def _ask(process: subprocess.Popen) -> None:
    """Send SIGUSR1 to mpirun. Intel MPI's is a script that would die of it, around the program that hands it on."""
    folder = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    try:
        for child in map(int, folder.read_text().split()):
            if Path(f"/proc/{child}/comm").read_text().startswith("mpiexec.hydra"):
                os.kill(child, signal.SIGUSR1)
                return
    except OSError:
        pass  # it ends just now, or the kernel has no such list
    process.send_signal(signal.SIGUSR1)


class Terminal:
    """The terminal as it was: modes and cursor, which ranks that were ended cannot give back themselves."""

    def __init__(self) -> None:
        self._modes: list | None = None
        if os.isatty(0):
            try:
                self._modes = termios.tcgetattr(0)
            except termios.error:
                pass

    def restore(self) -> None:
        """Give it back."""
        if self._modes is not None:
            try:
                if os.tcgetpgrp(0) == os.getpgrp():  # a background job would be stopped
                    termios.tcsetattr(0, termios.TCSADRAIN, self._modes)
            except (OSError, termios.error):
                pass
        for stream in (sys.stderr, sys.stdout):
            if stream.isatty():
                try:
                    stream.write(_SHOW_CURSOR)
                    stream.flush()
                except OSError:
                    pass
                return
