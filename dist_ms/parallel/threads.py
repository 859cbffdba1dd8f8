"""What lower floors ask for and this one can tell: kernel threads of a rank, and the rank itself.

Each rank runs as many threads as its part of the machine has cores.
"""

from __future__ import annotations

from dist_ms._ext import threads
from dist_ms.common.tensor import slices
from dist_ms.communication import World, get_rank, on_init


def use_share(world: World) -> None:
    """Set the number of kernel threads to this rank's fair share, where one was worked out."""
    if world.threads is not None:
        threads.set_num_threads(world.threads)


on_init(use_share)
slices.set_rank_source(get_rank)
