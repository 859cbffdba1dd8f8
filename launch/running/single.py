"""A job of one process that is started again when it fails."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence

from dist_ms.launch.reports import named
from dist_ms.launch.running.restarts import Outcome
from dist_ms.launch.running.stopping import SIGNALS, STOPPED, Stopping, Terminal, say
from dist_ms.launch.running.supervision import die_with_parent


def run_single(command: Sequence[str], env: Mapping[str, str], grace: float) -> Outcome:
    """Run a program as a child with this process's streams.

    Args:
        command: the interpreter and its arguments.
        env: its environment.
        grace: seconds that it has to stop after a signal.
    """
    stopping, terminal = Stopping(grace, say), Terminal()
    old = {s: signal.signal(s, lambda number, _: stopping.received.append(number)) for s in SIGNALS}
    try:
        sys.stdout.flush()
        # In the terminal's group it may read what is typed; it then gets ^C twice, and takes that for once.
        group = None if os.isatty(0) else 0
        process = subprocess.Popen(command, env=env, process_group=group, preexec_fn=die_with_parent)
        while process.poll() is None:
            stopping.act(process, over=False)
            time.sleep(0.05)
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)
    code = process.returncode
    if code or stopping.received:
        terminal.restore()
    if code in (0, STOPPED):
        return Outcome(code, asked=stopping.first is not None)
    if stopping.first is not None and (code < 0 or stopping.killed):
        return Outcome(128 + stopping.first, asked=True)
    how = f"was ended by {named(-code)}" if code < 0 else f"ended with exit code {code}"
    say(f"dist-ms: rank 0 of 1 {how}.")
    return Outcome(128 - code if code < 0 else code, asked=stopping.first is not None)
