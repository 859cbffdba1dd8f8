"""The ranks of a data-parallel job."""

from __future__ import annotations

from dist_ms.communication import current
from dist_ms.communication.comm import Comm
from dist_ms.parallel.mode import trains_together


def data_parallel_comm() -> Comm | None:
    """The communicator of a data-parallel job, None alone or in another mode."""
    world = current()
    if world is None or world.comm.size == 1:
        return None
    return world.comm if trains_together() else None
