"""Which rank this is, and of how many."""

from __future__ import annotations

from dist_ms.communication.environment import value_of
from dist_ms.communication.groups.lookup import (
    check_group,
    check_inited,
    check_int,
    comm_of,
    local_ranks,
    members,
)
from dist_ms.communication.world import WORLD_GROUP, current


def get_rank(group: str = WORLD_GROUP) -> int:
    """Return this process's rank in a group.

    Before init() it is RANK_ID from the environment, or 0.

    Args:
        group: the group's name; all ranks by default.

    Raises:
        TypeError: if `group` is not a string.
        RuntimeError: if there is no such group, or this rank is not in it.

    Examples:
        >>> from dist_ms.communication import init, get_rank
        >>> init()
        >>> get_rank()
        0
    """
    check_group(group, "get_rank")
    if current() is None:
        return int(value_of("RANK_ID"))
    return comm_of("get_rank", group).rank


def get_group_size(group: str = WORLD_GROUP) -> int:
    """Return the number of ranks in a group.

    Before init() it is RANK_SIZE from the environment, or 1.

    Args:
        group: the group's name; all ranks by default.

    Raises:
        TypeError: if `group` is not a string.
        RuntimeError: if there is no such group.

    Examples:
        >>> from dist_ms.communication import init, get_group_size
        >>> init()
        >>> get_group_size()
        1
    """
    check_group(group, "get_group_size")
    if current() is None:
        return int(value_of("RANK_SIZE"))
    return len(members("get_group_size", group))


def get_local_rank(group: str = WORLD_GROUP) -> int:
    """Return this process's rank among the group's ranks on its node.

    Before init() it is LOCAL_RANK from the environment, or 0.

    Args:
        group: the group's name; all ranks by default.

    Raises:
        TypeError: if `group` is not a string.
        RuntimeError: if there is no such group, or this rank is not in it.

    Examples:
        >>> from dist_ms.communication import init, get_local_rank
        >>> init()
        >>> get_local_rank()
        0
    """
    check_group(group, "get_local_rank")
    if current() is None:
        return int(value_of("LOCAL_RANK"))
    comm = comm_of("get_local_rank", group)
    return local_ranks(comm).index(comm.ranks[comm.rank])


def get_local_rank_size(group: str = WORLD_GROUP) -> int:
    """Return the number of the group's ranks on this node.

    Before init() it is LOCAL_RANK_SIZE from the environment, or 1.

    Args:
        group: the group's name; all ranks by default.

    Raises:
        TypeError: if `group` is not a string.
        RuntimeError: if there is no such group, or this rank is not in it.

    Examples:
        >>> from dist_ms.communication import init, get_local_rank_size
        >>> init()
        >>> get_local_rank_size()
        1
    """
    check_group(group, "get_local_rank_size")
    if current() is None:
        return int(value_of("LOCAL_RANK_SIZE"))
    return len(local_ranks(comm_of("get_local_rank_size", group)))


def get_world_rank_from_group_rank(group: str, group_rank_id: int) -> int:
    """Return the rank in the world of a group's member.

    Args:
        group: the group's name.
        group_rank_id: the member's rank in the group.

    Raises:
        TypeError: if an argument is of the wrong type.
        RuntimeError: before init(), or if there is no such group or rank.

    Examples:
        >>> from dist_ms.communication import init, get_world_rank_from_group_rank
        >>> init()
        >>> get_world_rank_from_group_rank("mccl_world_group", 0)
        0
    """
    verb = "get_world_rank_from_group_rank"
    check_group(group, verb)
    check_inited(verb)
    check_int(group_rank_id, "group_rank_id", verb)
    ranks = members(verb, group)
    if not 0 <= group_rank_id < len(ranks):
        raise RuntimeError(
            f"For '{verb}', 'group_rank_id' must be in [0, {len(ranks) - 1}] for group "
            f"'{group}', but got {group_rank_id}."
        )
    return ranks[group_rank_id]


def get_group_rank_from_world_rank(world_rank_id: int, group: str) -> int:
    """Return the rank in a group of a rank of the world.

    Args:
        world_rank_id: the rank in the world.
        group: the group's name.

    Raises:
        TypeError: if an argument is of the wrong type.
        RuntimeError: before init(), or if there is no such group or the rank is not in it.

    Examples:
        >>> from dist_ms.communication import init, get_group_rank_from_world_rank
        >>> init()
        >>> get_group_rank_from_world_rank(0, "mccl_world_group")
        0
    """
    verb = "get_group_rank_from_world_rank"
    check_group(group, verb)
    check_inited(verb)
    check_int(world_rank_id, "world_rank_id", verb)
    ranks = members(verb, group)
    if world_rank_id not in ranks:
        raise RuntimeError(
            f"For '{verb}', 'world_rank_id' must be one of {ranks}, the ranks of group "
            f"'{group}', but got {world_rank_id}."
        )
    return ranks.index(world_rank_id)
