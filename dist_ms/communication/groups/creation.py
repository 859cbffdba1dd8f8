"""Groups of some ranks."""

from __future__ import annotations

import logging
from typing import Any

from dist_ms.communication.comm import Comm
from dist_ms.communication.groups.lookup import (
    WORLD_NAMES,
    check_group,
    check_inited,
    check_int,
    comm_of,
    members,
)
from dist_ms.communication.world import WORLD_GROUP

_log = logging.getLogger("dist_ms")


def create_group(group: str, rank_ids: list[int], options: Any = None) -> None:
    """Make a group of some ranks.

    Every member calls it; other ranks may, and then know the group's members. The same group
    again does nothing but warn.

    Args:
        group: the group's name.
        rank_ids: world ranks; their order is their order in the group.
        options: must be None, as CPU groups have no options.

    Raises:
        TypeError: if an argument is of the wrong type.
        ValueError: if `rank_ids` is empty or has a rank twice, or the name is taken by other ranks.
        RuntimeError: before init(), or if a rank is not in the world.

    Examples:
        >>> from dist_ms.communication import init, create_group, destroy_group, get_group_size
        >>> init()
        >>> create_group("mine", [0])
        >>> get_group_size("mine")
        1
        >>> destroy_group("mine")
    """
    check_group(group, "create_group")
    world = check_inited("create_group")
    ranks = _check_ranks(group, rank_ids, world.comm.size)
    if options is not None:
        raise TypeError(
            "For 'create_group', the argument 'options' must be None, as CPU groups have no "
            f"options, but got {type(options).__name__}."
        )
    known = list(range(world.comm.size)) if group in WORLD_NAMES else None
    known = world.groups[group][0] if group in world.groups else known
    if known is not None:
        if known != ranks:
            raise ValueError(
                f"For 'create_group', 'rank_ids' of the existing group '{group}' must be {known}, "
                f"but got {ranks}; destroy the group first or take another name."
            )
        _log.warning("The group '%s' exists already.", group)
        return
    mine = world.comm.rank in ranks
    world.groups[group] = (ranks, world.comm.subgroup(ranks, group) if mine else None)


def destroy_group(group: str) -> None:
    """Give up a group that `create_group` made.

    Args:
        group: the group's name.

    Raises:
        TypeError: if `group` is not a string.
        ValueError: if it is the world group.
        KeyError: if there is no such group.
        RuntimeError: before init().

    Examples:
        >>> from dist_ms.communication import init, create_group, destroy_group
        >>> init()
        >>> create_group("mine", [0])
        >>> destroy_group("mine")
    """
    check_group(group, "destroy_group")
    world = check_inited("destroy_group")
    if group in WORLD_NAMES:
        raise ValueError("For 'destroy_group', 'group' must not be the world group: it stays.")
    if group not in world.groups:
        raise KeyError(f"For 'destroy_group', 'group' must be one that create_group made, but got {group!r}.")
    _, comm = world.groups.pop(group)
    if comm is not None:
        comm.free()


def get_process_group_ranks(group: str = WORLD_GROUP) -> list[int]:
    """Return the world ranks of a group's members.

    Args:
        group: the group's name; all ranks by default.

    Raises:
        TypeError: if `group` is not a string.
        RuntimeError: before init(), or if there is no such group.

    Examples:
        >>> from dist_ms.communication import init, get_process_group_ranks
        >>> init()
        >>> get_process_group_ranks()
        [0]
    """
    check_group(group, "get_process_group_ranks")
    check_inited("get_process_group_ranks")
    return list(members("get_process_group_ranks", group))


def get_comm_name(group: str = WORLD_GROUP) -> str:
    """Return the backend's own name for a group: "" on CPUs, which give none.

    Args:
        group: the group's name; all ranks by default.

    Raises:
        TypeError: if `group` is not a string.
        RuntimeError: before init(), or if there is no such group.

    Examples:
        >>> from dist_ms.communication import init, get_comm_name
        >>> init()
        >>> get_comm_name()
        ''
    """
    check_group(group, "get_comm_name")
    check_inited("get_comm_name")
    members("get_comm_name", group)
    return ""


def get_comm(group: str = WORLD_GROUP) -> Comm:
    """Return the communicator of a group, for code inside dist_ms.

    Args:
        group: the group's name; all ranks by default.

    Raises:
        TypeError: if `group` is not a string.
        RuntimeError: before init(), or if there is no such group, or this rank is not in it.

    Examples:
        >>> from dist_ms.communication import get_comm, init
        >>> init()
        >>> get_comm().size
        1
    """
    check_group(group, "get_comm")
    check_inited("get_comm")
    return comm_of("get_comm", group)


def _check_ranks(group: str, rank_ids: list[int], size: int) -> list[int]:
    """Raise unless `rank_ids` can be a group; return it."""
    if not isinstance(rank_ids, list):
        raise TypeError(
            f"For 'create_group', the argument 'rank_ids' must be type of list, but got {type(rank_ids).__name__}."
        )
    if not rank_ids:
        raise ValueError("For 'create_group', the argument 'rank_ids' must have at least one rank, but got [].")
    for rank in rank_ids:
        check_int(rank, "rank_ids", "create_group")
    if len(set(rank_ids)) != len(rank_ids):
        raise ValueError(f"For 'create_group', List rank_ids in Group {group} has duplicate data! Got {rank_ids}.")
    if min(rank_ids) < 0 or max(rank_ids) >= size:
        raise RuntimeError(
            f"For 'create_group', 'rank_ids' must be in [0, {size - 1}], the ranks of the world, but got {rank_ids}."
        )
    return [int(rank) for rank in rank_ids]
