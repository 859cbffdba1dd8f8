"""A server leaves the script in init(), and a scheduler too."""

from __future__ import annotations

import signal
import sys

from dist_ms.communication import World
from dist_ms.communication.start import roles
from dist_ms.parallel.servers.loop import serve
from dist_ms.parallel.servers.watch import watch


def leave_script(world: World) -> None:
    """On a server serve until the workers have ended, on a scheduler wait for it; then end the process."""
    if world.roles is None:
        return
    watch(world)
    if world.roles.role == roles.WORKER:
        return
    try:
        signal.signal(signal.SIGUSR1, signal.SIG_IGN)  # the launcher asks the workers to stop, and the servers follow
    except ValueError:
        pass  # init() was called in another thread than the main one
    if world.roles.role == roles.SERVER:
        serve(world)
    sys.exit(0)
