"""Process groups: starting, making and asking for them."""

from __future__ import annotations

import hashlib
from typing import Any

from dist_ms.collectives.arguments import WORLD, check_group_name
from dist_ms.common.checks import check_string
from dist_ms.communication import (
    GlobalComm,
    create_group,
    current,
    destroy_group,
    init,
    release,
)
from dist_ms.communication import get_group_size as _size
from dist_ms.communication import get_process_group_ranks as _ranks
from dist_ms.communication import get_rank as _rank
from dist_ms.communication.groups.lookup import WORLD_NAMES, check_inited, check_int

__all__ = [
    "destroy_process_group",
    "get_backend",
    "get_global_rank",
    "get_group_rank",
    "get_process_group_ranks",
    "get_rank",
    "get_world_size",
    "init_process_group",
    "is_available",
    "is_initialized",
    "new_group",
]


def init_process_group(
    backend: str = "hccl",
    init_method: str | None = None,
    timeout: Any = None,
    world_size: int = -1,
    rank: int = -1,
    store: Any = None,
    group_name: str = "",
    pg_options: Any = None,
    device_id: int | None = None,
) -> None:
    """Join the ranks that the launcher started, as `communication.init`.

    Args:
        backend: "hccl", MindSpore's default, or "mccl"; either means MPI here.
        init_method: must be None: the launcher has told the ranks how to meet.
        timeout: must be None; the environment variable DIST_MS_TIMEOUT holds the seconds of a wait.
        world_size: -1, or the number of ranks.
        rank: -1, or this process's rank.
        store: must be None, as `init_method`.
        group_name: must be "": the world's group has its name.
        pg_options: reserved, without effect, as in MindSpore.
        device_id: reserved, without effect, as in MindSpore.

    Raises:
        TypeError: if an argument is of the wrong type.
        ValueError: if one has a value that cannot be honoured.

    Examples:
        >>> from dist_ms.mint.distributed import get_world_size, init_process_group
        >>> init_process_group()
        >>> get_world_size()
        1
    """
    check_string(backend, "backend", "init_process_group")
    check_string(backend, "backend", "init_process_group", ("hccl", "mccl"))
    remedy = {
        "init_method": "start the ranks with dist-ms run or mpirun, which tells them how to meet",
        "store": "start the ranks with dist-ms run or mpirun, which tells them how to meet",
        "timeout": "set the environment variable DIST_MS_TIMEOUT to seconds",
    }
    for argument, value in (("init_method", init_method), ("store", store), ("timeout", timeout)):
        if value is not None:
            raise ValueError(
                f"For 'init_process_group', '{argument}' must be None, but got {value!r}: {remedy[argument]}."
            )
    if group_name != "":
        raise ValueError(f"For 'init_process_group', 'group_name' must be '', but got {group_name!r}.")
    init()
    for argument, value, found in (("world_size", world_size, _size()), ("rank", rank, _rank())):
        check_int(value, argument, "init_process_group")
        if value not in (-1, found):
            raise ValueError(f"For 'init_process_group', '{argument}' must be -1 or {found}, but got {value}.")


def destroy_process_group(group: str | None = None) -> None:
    """Give up a group; without one, leave the world with all groups.

    Args:
        group: a group's name; None for everything.

    Raises:
        TypeError: if `group` is not a string.
        KeyError: if there is no such group.
        RuntimeError: before init_process_group().

    Examples:
        >>> from dist_ms.mint.distributed import destroy_process_group, init_process_group, is_initialized
        >>> init_process_group()
        >>> destroy_process_group()
        >>> is_initialized()
        False
    """
    name = check_group_name(group, "destroy_process_group")
    check_inited("destroy_process_group")
    if name in WORLD_NAMES:
        release()
    else:
        destroy_group(name)


def is_available() -> bool:
    """Return True: collectives are there, with one rank or several.

    Examples:
        >>> from dist_ms.mint.distributed import is_available
        >>> is_available()
        True
    """
    return True


def is_initialized() -> bool:
    """Return whether init_process_group() or communication.init() was called.

    Examples:
        >>> from dist_ms.mint.distributed import init_process_group, is_initialized
        >>> init_process_group()
        >>> is_initialized()
        True
    """
    return current() is not None


def get_backend(group: str | None = None) -> str:
    """Return the communication backend's name: "mccl" on CPUs.

    Args:
        group: a group's name; default: all ranks.

    Raises:
        TypeError: if `group` is not a string.
        RuntimeError: before init_process_group(), or if there is no such group.

    Examples:
        >>> from dist_ms.mint.distributed import get_backend, init_process_group
        >>> init_process_group()
        >>> get_backend()
        'mccl'
    """
    name = check_group_name(group, "get_backend")
    _ranks(name)
    return GlobalComm.BACKEND


def new_group(
    ranks: list[int] | None = None,
    timeout: Any = None,
    backend: str | None = None,
    pg_options: Any = None,
    use_local_synchronization: bool = False,
    group_desc: str | None = None,
) -> str:
    """Make a group of some ranks and return its name; every rank calls it.

    Args:
        ranks: world ranks, in the group's order; None or [] for all ranks.
        timeout: reserved, without effect, as in MindSpore.
        backend: reserved, without effect, as in MindSpore.
        pg_options: must be None: CPU groups have no options.
        use_local_synchronization: reserved, without effect, as in MindSpore.
        group_desc: reserved, without effect, as in MindSpore.

    Returns:
        The name, made of the backend, the number of ranks and a hash of them.

    Raises:
        TypeError: if `ranks` is not a list of ints, or `pg_options` not None.
        ValueError: if a rank comes twice.
        RuntimeError: before init_process_group(), or if a rank is not in the world.

    Examples:
        >>> from dist_ms.mint.distributed import get_world_size, init_process_group, new_group
        >>> init_process_group()
        >>> get_world_size(new_group([0]))
        1
    """
    check_inited("new_group")
    if pg_options is not None:
        raise TypeError(f"For 'new_group', 'pg_options' must be None on CPUs, but got {type(pg_options).__name__}.")
    if not ranks and ranks in (None, []):
        return WORLD
    text = "_".join(map(str, ranks)) if isinstance(ranks, list) else ""
    name = f"{GlobalComm.BACKEND}_{len(ranks)}_{hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()}"
    if name not in current().groups:
        create_group(name, ranks)
    return name


def get_rank(group: str | None = None) -> int:
    """Return this process's rank in a group, -1 when it is not in it.

    Args:
        group: a group's name; default: all ranks.

    Raises:
        TypeError: if `group` is not a string.
        RuntimeError: if there is no such group.

    Examples:
        >>> from dist_ms.mint.distributed import get_rank, init_process_group
        >>> init_process_group()
        >>> get_rank()
        0
    """
    name = check_group_name(group, "get_rank")
    return _rank(name) if is_member(name) else -1


def get_world_size(group: str | None = None) -> int:
    """Return the number of ranks in a group, -1 when this process is not in it.

    Args:
        group: a group's name; default: all ranks.

    Raises:
        TypeError: if `group` is not a string.
        RuntimeError: if there is no such group.

    Examples:
        >>> from dist_ms.mint.distributed import get_world_size, init_process_group
        >>> init_process_group()
        >>> get_world_size()
        1
    """
    name = check_group_name(group, "get_world_size")
    return _size(name) if is_member(name) else -1


def get_process_group_ranks(group: str | None = None) -> list[int]:
    """Return the world ranks of a group's members.

    Args:
        group: a group's name; default: all ranks.

    Raises:
        TypeError: if `group` is not a string.
        RuntimeError: before init_process_group(), or if there is no such group.

    Examples:
        >>> from dist_ms.mint.distributed import get_process_group_ranks, init_process_group
        >>> init_process_group()
        >>> get_process_group_ranks()
        [0]
    """
    return _ranks(check_group_name(group, "get_process_group_ranks"))


def get_global_rank(group: str | None, group_rank: int) -> int:
    """Return the world's rank of a group's rank.

    Args:
        group: a group's name; None for all ranks.
        group_rank: a rank of the group.

    Raises:
        TypeError: if an argument is of the wrong type.
        ValueError: if the group has no such rank.
        RuntimeError: before init_process_group(), or if there is no such group.

    Examples:
        >>> from dist_ms.mint.distributed import get_global_rank, init_process_group
        >>> init_process_group()
        >>> get_global_rank(None, 0)
        0
    """
    members = get_process_group_ranks(group)
    check_int(group_rank, "group_rank", "get_global_rank")
    if not 0 <= group_rank < len(members):
        raise ValueError(
            f"For 'get_global_rank', 'group_rank' must be in [0, {len(members) - 1}], but got {group_rank}."
        )
    return members[group_rank]


def get_group_rank(group: str | None, global_rank: int) -> int:
    """Return a group's rank of a rank of the world.

    Args:
        group: a group's name; None for all ranks.
        global_rank: a rank of the world.

    Raises:
        TypeError: if an argument is of the wrong type.
        ValueError: if that rank is not in the group.
        RuntimeError: before init_process_group(), or if there is no such group.

    Examples:
        >>> from dist_ms.mint.distributed import get_group_rank, init_process_group
        >>> init_process_group()
        >>> get_group_rank(None, 0)
        0
    """
    members = get_process_group_ranks(group)
    check_int(global_rank, "global_rank", "get_group_rank")
    if global_rank not in members:
        raise ValueError(f"For 'get_group_rank', 'global_rank' must be one of {members}, but got {global_rank}.")
    return members.index(global_rank)


def is_member(group: str) -> bool:
    """Return whether this process is in the group; before init() it is in every one."""
    world = current()
    return world is None or group in WORLD_NAMES or world.comm.rank in _ranks(group)
