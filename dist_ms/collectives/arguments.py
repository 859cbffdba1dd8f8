"""Checks that all collectives share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dist_ms.common.checks import check_bool, check_elements
from dist_ms.common.tensor import Tensor
from dist_ms.communication import Comm, get_comm
from dist_ms.communication.groups.lookup import HCCL_WORLD_COMM_GROUP

WORLD = HCCL_WORLD_COMM_GROUP  # the group that MindSpore's signatures name; every name of the world will do
REDUCTIONS = ("sum", "max", "min", "prod", "avg")


def check_group_name(group: Any, owner: str) -> str:
    """Return the group's name; None stands for all ranks.

    Raises:
        TypeError: if it is no string.
    """
    if group is None:
        return WORLD
    if not isinstance(group, str):
        raise TypeError(f"For '{owner}', the argument 'group' must be type of string, but got {group!r}.")
    return group


def comm_for(group: Any, owner: str) -> Comm:
    """Return the communicator of a group; None stands for all ranks."""
    return get_comm(check_group_name(group, owner))


def check_reduction(op: Any, owner: str) -> str:
    """Return the reduction's name.

    Raises:
        TypeError: if it is no string.
        ValueError: if there is none of this name.
    """
    if not isinstance(op, str):
        raise TypeError(f"For '{owner}', the type of 'op' must be str, but got {type(op).__name__}.")
    if op not in REDUCTIONS:
        raise ValueError(f"For '{owner}', 'op' must be one of {', '.join(REDUCTIONS)}, but got {op!r}.")
    return op


def check_tensor(value: Any, name: str, owner: str) -> Tensor:
    """Return a tensor.

    Raises:
        TypeError: if it is none.
    """
    if not isinstance(value, Tensor):
        raise TypeError(f"For '{owner}', the argument '{name}' must be type of Tensor, but got {value!r}.")
    return value


def check_int(value: Any, name: str, owner: str) -> int:
    """Return an int.

    Raises:
        TypeError: if it is none.
    """
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"For '{owner}', the argument '{name}' must be type of int, but got {value!r}.")
    return value


def check_rank_in(value: Any, name: str, owner: str, comm: Comm) -> int:
    """Return a rank of the group.

    Raises:
        TypeError: if it is no int.
        ValueError: if the group has no such rank.
    """
    check_int(value, name, owner)
    if not 0 <= value < comm.size:
        raise ValueError(f"For '{owner}', '{name}' must be in [0, {comm.size - 1}], but got {value}.")
    return value


def rank_of_world(value: Any, name: str, owner: str, comm: Comm) -> int:
    """Return the place in the group of a rank of the world.

    Raises:
        TypeError: if it is no int.
        ValueError: if the group has no such rank.
    """
    check_int(value, name, owner)
    if value not in comm.ranks:
        raise ValueError(f"For '{owner}', '{name}' must be one of the ranks {list(comm.ranks)}, but got {value}.")
    return comm.ranks.index(value)


def check_sizes(sizes: Any, name: str, owner: str, comm: Comm, total: int | None = None) -> list[int]:
    """Return a list of one length per rank.

    Args:
        sizes: a list, tuple or 1-D Tensor of ints.
        name: the argument's name.
        owner: who asks.
        comm: the group.
        total: what they must add up to; None for anything.

    Raises:
        TypeError: if it is none of these.
        ValueError: for another number of entries, a negative one, or another sum.
    """
    if isinstance(sizes, Tensor):
        sizes = sizes.asnumpy().reshape(-1).tolist()
    sizes = [int(n) for n in check_elements(sizes, name, owner, int)]
    if len(sizes) != comm.size or min(sizes) < 0:
        raise ValueError(
            f"For '{owner}', '{name}' must have one length of at least 0 for each of the {comm.size} ranks, "
            f"but got {sizes}."
        )
    if total is not None and sum(sizes) != total:
        raise ValueError(f"For '{owner}', '{name}' must add up to {total}, but got {sizes}, {sum(sizes)} in all.")
    return sizes


def check_shape(shape: Any, name: str, owner: str) -> tuple[int, ...]:
    """Return a shape as a tuple.

    Raises:
        TypeError: if it is no tuple or list of ints.
    """
    return tuple(int(n) for n in check_elements(shape, name, owner, int))


def even_sizes(length: int, owner: str, comm: Comm) -> list[int]:
    """Return equal lengths that add up to `length`.

    Raises:
        ValueError: if it cannot be cut evenly.
    """
    if length % comm.size:
        raise ValueError(
            f"For '{owner}', the first dimension must be a multiple of the group's size {comm.size}, but got {length}."
        )
    return [length // comm.size] * comm.size


def part_lengths(sizes: Any, name: str, owner: str, length: int, comm: Comm) -> list[int]:
    """Return the lengths of a first dimension's parts by rank; equal ones where none are given."""
    return check_sizes(sizes, name, owner, comm, length) if sizes else even_sizes(length, owner, comm)


def cut(array: np.ndarray, sizes: Sequence[int]) -> list[np.ndarray]:
    """Cut the first axis into pieces of these lengths."""
    stops = np.cumsum(sizes)
    return [array[stop - size : stop] for size, stop in zip(sizes, stops, strict=True)]


def check_async(async_op: Any, owner: str) -> bool:
    """Return whether to return at once.

    Raises:
        TypeError: if it is no bool.
    """
    check_bool(async_op, "async_op", owner)
    return async_op


def check_tensor_list(tensors: Any, name: str, owner: str, count: int) -> list[Tensor]:
    """Return a list of tensors of one type.

    Raises:
        TypeError: if it is none, or the types differ.
        ValueError: if there are more or fewer than `count`.
    """
    if len(check_elements(tensors, name, owner, Tensor)) != count:
        raise ValueError(f"For '{owner}', '{name}' must have {count} Tensors, one per rank, but got {len(tensors)}.")
    types = {str(t.dtype) for t in tensors}
    if len(types) > 1:
        raise TypeError(f"For '{owner}', '{name}' must be Tensors of one type, but got {sorted(types)}.")
    return list(tensors)
