"""Collectives of Python objects, which are pickled: only take them from ranks that you trust."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np

from dist_ms.collectives.arguments import comm_for, rank_of_world

__all__ = [
    "all_gather_object",
    "broadcast_object_list",
    "gather_object",
    "recv_object_list",
    "scatter_object_list",
    "send_object_list",
]


def all_gather_object(object_list: list, obj: Any, group: str | None = None) -> None:
    """Write rank r's object into place r of the list, on every rank.

    Args:
        object_list: one place per rank; overwritten.
        obj: this rank's; must pickle.
        group: the ranks that take part; default: all.

    Raises:
        TypeError: if `object_list` is no list of one place per rank, or `group` is not a string.
        RuntimeError: before init_process_group().

    Examples:
        >>> from dist_ms.mint.distributed import all_gather_object, init_process_group
        >>> init_process_group()
        >>> found = [None]
        >>> all_gather_object(found, {"a": 1})
        >>> found
        [{'a': 1}]
    """
    comm = comm_for(group, "all_gather_object")
    _check_list(object_list, "object_list", "all_gather_object", comm.size)
    object_list[:] = comm.gather_objects(obj)


def gather_object(obj: Any, object_gather_list: list | None = None, dst: int = 0, group: str | None = None) -> None:
    """Write rank r's object into place r of rank `dst`'s list.

    Args:
        obj: this rank's; must pickle.
        object_gather_list: on `dst` one place per rank, overwritten; elsewhere not read.
        dst: the rank of the world that gets them.
        group: the ranks that take part; default: all.

    Raises:
        TypeError: if an argument is of the wrong type, or the list has another length.
        ValueError: if there is no such rank.
        RuntimeError: before init_process_group().

    Examples:
        >>> from dist_ms.mint.distributed import gather_object, init_process_group
        >>> init_process_group()
        >>> found = [None]
        >>> gather_object("a", found)
        >>> found
        ['a']
    """
    comm = comm_for(group, "gather_object")
    root = rank_of_world(dst, "dst", "gather_object", comm)
    if comm.rank == root:
        _check_list(object_gather_list, "object_gather_list", "gather_object", comm.size)
    objects = comm.gather_objects(obj)
    if comm.rank == root:
        object_gather_list[:] = objects


def broadcast_object_list(object_list: list, src: int = 0, group: str | None = None, device: Any = None) -> None:
    """Overwrite every rank's list with rank `src`'s.

    Args:
        object_list: of the same length on every rank; `src`'s objects must pickle.
        src: the rank of the world whose list it is.
        group: the ranks that take part; default: all.
        device: reserved, without effect, as in MindSpore.

    Raises:
        TypeError: if an argument is of the wrong type.
        ValueError: if there is no such rank.
        RuntimeError: before init_process_group().

    Examples:
        >>> from dist_ms.mint.distributed import broadcast_object_list, init_process_group
        >>> init_process_group()
        >>> objects = ["a", 12]
        >>> broadcast_object_list(objects)
        >>> objects
        ['a', 12]
    """
    comm = comm_for(group, "broadcast_object_list")
    root = rank_of_world(src, "src", "broadcast_object_list", comm)
    _check_list(object_list, "object_list", "broadcast_object_list", None)
    object_list[:] = comm.gather_objects(object_list if comm.rank == root else None)[root]


def scatter_object_list(
    scatter_object_output_list: list,
    scatter_object_input_list: list | None,
    src: int = 0,
    group: str | None = None,
) -> None:
    """Write object r of rank `src`'s list into the first place of rank r's.

    Args:
        scatter_object_output_list: at least one place; the first is overwritten.
        scatter_object_input_list: on `src` one object per rank, which must pickle; elsewhere not read.
        src: the rank of the world that has the list.
        group: the ranks that take part; default: all.

    Raises:
        TypeError: if an argument is of the wrong type, or a list has another length.
        ValueError: if there is no such rank.
        RuntimeError: before init_process_group().

    Examples:
        >>> from dist_ms.mint.distributed import init_process_group, scatter_object_list
        >>> init_process_group()
        >>> found = [None]
        >>> scatter_object_list(found, ["a"])
        >>> found
        ['a']
    """
    name = "scatter_object_list"
    comm = comm_for(group, name)
    root = rank_of_world(src, "src", name, comm)
    if not isinstance(scatter_object_output_list, list) or not scatter_object_output_list:
        raise TypeError(
            f"For '{name}', 'scatter_object_output_list' must be a list of at least one place, but got "
            f"{scatter_object_output_list!r}."
        )
    if comm.rank == root:
        _check_list(scatter_object_input_list, "scatter_object_input_list", name, comm.size)
    objects = comm.gather_objects(scatter_object_input_list if comm.rank == root else None)[root]
    scatter_object_output_list[0] = objects[comm.rank]


def send_object_list(object_list: list, dst: int, group: str | None = None, device: Any = None) -> int:
    """Send objects to a rank, which receives them with `recv_object_list`.

    Args:
        object_list: must pickle.
        dst: the rank of the world that gets them.
        group: the group; default: all ranks.
        device: reserved, without effect, as in MindSpore.

    Returns:
        0.

    Raises:
        TypeError: if an argument is of the wrong type.
        ValueError: if there is no such rank.
        RuntimeError: before init_process_group(), or if the other rank has ended.

    Examples:
        >>> from dist_ms.mint.distributed import init_process_group, recv_object_list, send_object_list
        >>> init_process_group()
        >>> _ = send_object_list(["a", 12], 0)
        >>> found = [None, None]
        >>> _ = recv_object_list(found)
        >>> found
        ['a', 12]
    """
    comm = comm_for(group, "send_object_list")
    rank = rank_of_world(dst, "dst", "send_object_list", comm)
    _check_list(object_list, "object_list", "send_object_list", None)
    data = np.frombuffer(pickle.dumps(object_list), np.uint8)
    comm.send(np.array([len(data)]), rank)
    comm.send(data, rank)
    return 0


def recv_object_list(object_list: list, src: int = 0, group: str | None = None, device: Any = None) -> int:
    """Overwrite the list with the objects that a rank sends.

    Args:
        object_list: of the length that comes.
        src: the rank of the world that sends.
        group: the group; default: all ranks.
        device: reserved, without effect, as in MindSpore.

    Returns:
        0.

    Raises:
        TypeError: if an argument is of the wrong type.
        ValueError: if there is no such rank, or more or fewer objects come.
        RuntimeError: before init_process_group(), or if the other rank has ended.

    Examples:
        >>> from dist_ms.mint.distributed import init_process_group, recv_object_list, send_object_list
        >>> init_process_group()
        >>> _ = send_object_list(["a"], 0)
        >>> found = [None]
        >>> _ = recv_object_list(found)
        >>> found
        ['a']
    """
    comm = comm_for(group, "recv_object_list")
    rank = rank_of_world(src, "src", "recv_object_list", comm)
    _check_list(object_list, "object_list", "recv_object_list", None)
    length = comm.recv(np.zeros(1, np.int64), rank)[0]
    objects = pickle.loads(comm.recv(np.empty(length, np.uint8), rank).tobytes())
    if len(objects) != len(object_list):
        raise ValueError(
            f"For 'recv_object_list', 'object_list' must have as many places as objects come, {len(objects)}, but "
            f"got {len(object_list)}."
        )
    object_list[:] = objects
    return 0


def _check_list(value: Any, name: str, owner: str, length: int | None) -> None:
    """Raise unless the value is a list of this length; None for any."""
    if not isinstance(value, list) or (length is not None and len(value) != length):
        places = "" if length is None else f" of {length} places, one per rank"
        raise TypeError(f"For '{owner}', '{name}' must be a list{places}, but got {value!r}.")
