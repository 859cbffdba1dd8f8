"""Finding a group by its name, and the checks of the functions that do."""

from __future__ import annotations

from dist_ms.communication import world as _world
from dist_ms.communication.comm import Comm
from dist_ms.communication.world import WORLD_GROUP

HCCL_WORLD_COMM_GROUP = "hccl_world_group"
NCCL_WORLD_COMM_GROUP = "nccl_world_group"
MCCL_WORLD_COMM_GROUP = WORLD_GROUP
WORLD_NAMES = (HCCL_WORLD_COMM_GROUP, NCCL_WORLD_COMM_GROUP, MCCL_WORLD_COMM_GROUP)


def members(verb: str, group: str) -> list[int]:
    """Return the world ranks of a group."""
    world = check_inited(verb)
    if group in WORLD_NAMES:
        return list(world.comm.ranks)
    if group not in world.groups:
        raise RuntimeError(f"For '{verb}', The group {group} does not exist. Make it with create_group first.")
    return world.groups[group][0]


def comm_of(verb: str, group: str) -> Comm:
    """Return the communicator of a group that this rank is in."""
    world = check_inited(verb)
    if group in WORLD_NAMES:
        return world.comm
    ranks = members(verb, group)
    comm = world.groups[group][1]
    if comm is None:
        raise RuntimeError(
            f"For '{verb}', 'group' must include this rank {world.comm.rank}, but group '{group}' "
            f"has the ranks {ranks}."
        )
    return comm


def local_ranks(comm: Comm) -> list[int]:
    """Return the world ranks of the group's members on this node."""
    nodes = check_inited("local_ranks").nodes
    here = nodes[comm.ranks[comm.rank]]
    return [r for r in comm.ranks if nodes[r] == here]


def check_inited(verb: str) -> _world.World:
    """Raise unless init() was called."""
    world = _world.current()
    if world is None:
        raise RuntimeError(f"For '{verb}', Distributed Communication has not been inited. Call init() first.")
    return world


def check_group(group: str, verb: str) -> None:
    """Raise unless the group's name is a string."""
    if not isinstance(group, str):
        raise TypeError(f"For '{verb}', the argument 'group' must be type of string, but got {group!r}.")


def check_int(value: int, argument: str, verb: str) -> None:
    """Raise unless the value is an int."""
    if not isinstance(value, int):
        raise TypeError(f"For '{verb}', the argument '{argument}' must be type of int, but got {value!r}.")
