"""Who died: when mpirun ends a job because a process was killed, a survivor says what that one was and held.

mpirun tells all processes to end with SIGTERM before it kills them. The first survivor that notices
looks which process of its machine is gone without having said that it failed.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from typing import Any

from dist_ms.communication import World
from dist_ms.communication.end.missing import process_state
from dist_ms.communication.start.roles import Roles
from dist_ms.parallel.servers.client import started

_GRACE = 0.3  # seconds in which all survivors look before one of them ends


def watch(world: World) -> None:
    """Have this process look who died when it is told to end, unless the script has its own handler."""
    if signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        return

    def told_to_end(number: int, frame: Any) -> None:
        try:
            tell(world)
        finally:
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)

    try:
        signal.signal(signal.SIGTERM, told_to_end)
    except ValueError:
        pass  # init() was called in another thread than the main one: Python allows no handler there


def tell(world: World) -> None:
    """Write who died, if this is the process to say it."""
    assert world.mail is not None and world.roles is not None
    control = world.mail.control
    if control.owner.forked:
        return
    here = [r for r, node in enumerate(world.nodes) if node == world.nodes[control.rank]]
    alive = {r: is_alive(world.processes[r]) for r in here}
    control.listen()
    dead = [r for r in here if not alive[r] and r not in control.failed and r not in control.left]
    first = next((r for r in here if alive[r]), None)
    if dead and control.rank == first:
        for rank in dead:
            sys.stderr.write(f"[rank {control.rank} of {control.size}] {in_words(world.roles, rank)}; the job ends.\n")
        sys.stderr.flush()
    time.sleep(_GRACE)


def is_alive(process: int) -> bool:
    """Whether a process of this machine runs."""
    return process_state(process) not in ("", "Z", "X")


def in_words(roles: Roles, rank: int) -> str:
    """Name a dead process and what it held."""
    if rank < roles.workers:
        return f"worker {rank} of {roles.workers} (rank {rank}) was killed"
    number = rank - roles.workers
    line = started()
    held = f"; it held {line.held_by(number)}" if line is not None else ""
    return f"server {number} of {roles.servers} (rank {rank}) was killed{held}"
