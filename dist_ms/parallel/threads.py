"""Kernel threads of a rank: as many as its part of the machine has cores."""

from __future__ import annotations

from dist_ms._ext import threads
from dist_ms.communication import World, on_init


def use_share(world: World) -> None:
    """Set the number of kernel threads to this rank's fair share, where one was worked out."""
    if world.threads is not None:
        threads.set_num_threads(world.threads)


on_init(use_share)
