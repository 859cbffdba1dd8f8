"""Joining the world and leaving it; scripts import all communication functions from here too."""

from __future__ import annotations

import os

from dist_ms.communication import world as _world
from dist_ms.communication.groups.creation import (
    create_group,
    destroy_group,
    get_comm,
    get_comm_name,
    get_process_group_ranks,
)
from dist_ms.communication.groups.lookup import (
    HCCL_WORLD_COMM_GROUP,
    MCCL_WORLD_COMM_GROUP,
    NCCL_WORLD_COMM_GROUP,
    local_ranks,
)
from dist_ms.communication.groups.ranks import (
    get_group_rank_from_world_rank,
    get_group_size,
    get_local_rank,
    get_local_rank_size,
    get_rank,
    get_world_rank_from_group_rank,
)
from dist_ms.communication.start.launched import copy_rank_variables

__all__ = [
    "HCCL_WORLD_COMM_GROUP",
    "MCCL_WORLD_COMM_GROUP",
    "NCCL_WORLD_COMM_GROUP",
    "GlobalComm",
    "create_group",
    "destroy_group",
    "get_comm",
    "get_comm_name",
    "get_group_rank_from_world_rank",
    "get_group_size",
    "get_local_rank",
    "get_local_rank_size",
    "get_process_group_ranks",
    "get_rank",
    "get_world_rank_from_group_rank",
    "init",
    "release",
]

copy_rank_variables()


class GlobalComm:
    """What scripts read about the world.

    Attributes:
        BACKEND: the communication backend, "mccl" on CPUs once init() was called.
        WORLD_COMM_GROUP: the name of the group of all ranks.
        INITED: whether init() was called.
    """

    BACKEND = "hccl"
    WORLD_COMM_GROUP = HCCL_WORLD_COMM_GROUP
    INITED = False
    CHECK_ENVS = True


def init(backend_name: str | None = None) -> None:
    """Join the world: all ranks that mpirun or `dist-ms run` started, or this process alone.

    Afterwards RANK_ID, DEVICE_ID (the rank on its node) and RANK_SIZE are in os.environ. Calling
    it again does nothing.

    Args:
        backend_name: None or "mccl".

    Raises:
        TypeError: if `backend_name` is not a string.
        RuntimeError: if it is another backend, or several ranks were started and MPI is missing
            or not the launcher's.

    Examples:
        >>> from dist_ms.communication import init, get_rank, get_group_size
        >>> init()
        >>> get_rank(), get_group_size()
        (0, 1)
    """
    if backend_name is not None and not isinstance(backend_name, str):
        raise TypeError(f"For 'init', the argument 'backend_name' must be a string, but got {backend_name!r}.")
    if backend_name not in (None, "mccl"):
        raise RuntimeError(
            "For 'init', the argument 'backend_name' must be 'mccl' or None, as dist_ms runs on "
            f"CPUs, but got {backend_name!r}."
        )
    world = _world.join()
    GlobalComm.BACKEND, GlobalComm.WORLD_COMM_GROUP = "mccl", MCCL_WORLD_COMM_GROUP
    GlobalComm.INITED = True
    tell_scripts(world)


def tell_scripts(world: _world.World) -> None:
    """Write into the environment where this rank stands.

    Args:
        world: of all ranks.
    """
    os.environ["RANK_ID"] = str(world.comm.rank)
    os.environ["RANK_SIZE"] = str(world.comm.size)
    os.environ["DEVICE_ID"] = str(local_ranks(world.comm).index(world.comm.rank))


def shrink() -> str:
    """Have the ranks that are left of an elastic job go on as a smaller world; each calls it after `rank_has_died`.

    Their numbers are new. Whoever holds the world's communicator holds that of the smaller world afterwards; groups
    are gone. Where fewer are left than may go on the process ends, and so does the job.

    Returns:
        Who has died, as words.
    """
    words = _world.shrink()
    world = _world.current()
    assert world is not None
    tell_scripts(world)
    return words


def release() -> None:
    """Give up the groups and leave the world; init() may be called again.

    Examples:
        >>> from dist_ms.communication import init, release
        >>> init()
        >>> release()
    """
    _world.leave()
    GlobalComm.INITED = False
