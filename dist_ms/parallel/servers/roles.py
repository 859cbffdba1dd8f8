"""What this process is in a job with parameter servers; a server leaves the script in init()."""

from __future__ import annotations

import sys

from dist_ms.common.ps_context import get_ps_context
from dist_ms.communication import World, current, roles


def is_worker() -> bool:
    """Whether this process is a worker of a job that has servers.

    Examples:
        >>> from dist_ms.parallel.servers.roles import is_worker
        >>> is_worker()
        False
    """
    world = current()
    return world is not None and world.roles is not None and bool(get_ps_context("enable_ps"))


def leave_script(world: World) -> None:
    """On a server serve until the workers have ended, on a scheduler wait for it; then end the process."""
    if world.roles is None:
        return
    from dist_ms.parallel.servers.watch import watch

    watch(world)
    if world.roles.role == roles.WORKER:
        return
    if world.roles.role == roles.SERVER:
        from dist_ms.parallel.servers.loop import serve

        serve(world)
    sys.exit(0)
