"""Small agreements between the ranks of a data-parallel job; in a world of one they cost nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.communication import current
from dist_ms.communication.comm import Comm
from dist_ms.parallel.mode import trains_together


def data_parallel_comm() -> Comm | None:
    """The communicator of a data-parallel job, None alone or in another mode."""
    world = current()
    if world is None or world.comm.size == 1:
        return None
    return world.comm if trains_together() else None


def same_on_all_ranks(what: str, value: Any) -> None:
    """Check that a value is the same on all ranks of a data-parallel job.

    Raises:
        ValueError: on every rank, naming each rank's value, if they differ.
    """
    comm = data_parallel_comm()
    if comm is None:
        return
    values = comm.gather_objects(value)
    if any(v != values[0] for v in values):
        found = ", ".join(f"rank {r}: {v}" for r, v in enumerate(values))
        raise ValueError(
            f"[rank {comm.rank} of {comm.size}] {what} must be the same on all ranks, but got {found}. "
            "Give every rank an equal shard of the data."
        )


def sum_over_ranks(array: np.ndarray) -> np.ndarray:
    """The sum of an array over the ranks of a data-parallel job; the array itself elsewhere."""
    comm = data_parallel_comm()
    return array if comm is None else comm.all_reduce(np.ascontiguousarray(array))
