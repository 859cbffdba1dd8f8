"""What this process is in a job with parameter servers."""

from __future__ import annotations

from dist_ms.common.settings.ps_context import get_ps_context
from dist_ms.communication import current


def is_worker() -> bool:
    """Whether this process is a worker of a job that has servers.

    Examples:
        >>> from dist_ms.parallel.servers.roles import is_worker
        >>> is_worker()
        False
    """
    world = current()
    return world is not None and world.roles is not None and bool(get_ps_context("enable_ps"))
