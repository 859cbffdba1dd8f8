"""Rows that one rank's pipeline sends and another's receives: Dataset.send and Dataset.recv."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from dist_ms.common.checks import complaint
from dist_ms.common.tensor import Tensor
from dist_ms.communication import Comm, get_comm, get_process_group_ranks
from dist_ms.communication.groups.lookup import HCCL_WORLD_COMM_GROUP
from dist_ms.dataset.dataset import Dataset


def send(
    self: Dataset, tensor: Tensor | list[Tensor] | None = None, dst: int | list[int] = 0, group: str | None = None
) -> None:
    """Send tensors, or the pipeline's next row, to other ranks, which take them by `recv`.

    Args:
        tensor: what to send; None for the next row, after an epoch's last one the first of the next epoch.
        dst: the rank of the world that gets it, or several; not this one.
        group: the group that all of them belong to; default: all ranks.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if a rank is this one, or not in the group.
        RuntimeError: before `init()`, or if a column is a dict or has strings.
    """
    comm, ranks = _members(group, "send")
    receivers = _ranks(dst, "dst", "send", ranks)
    if ranks[comm.rank] in receivers:
        raise ValueError(complaint("dst", "send", f"other ranks than this one, {ranks[comm.rank]}", dst))
    if tensor is None:
        tensors = _next_row(self)
    else:
        tensors = [tensor] if isinstance(tensor, Tensor) else tensor
        if not isinstance(tensors, (list, tuple)) or not tensors or not all(isinstance(t, Tensor) for t in tensors):
            raise TypeError(complaint("tensor", "send", "a Tensor or a list of Tensors", tensor))
    arrays = []
    for place, column in enumerate(tensors):
        if not isinstance(column, Tensor) or column.asnumpy().dtype.kind in "SUO":
            found = "strings" if isinstance(column, Tensor) else f"a {type(column).__name__}"
            wanted = "a Tensor of numbers in each column (leave others out with 'project')"
            raise RuntimeError(complaint(f"column {place}", "send", wanted, found))
        arrays.append(np.ascontiguousarray(column.asnumpy()))
    head = _bytes(json.dumps([[a.dtype.name, a.shape] for a in arrays]).encode())
    for receiver in map(ranks.index, receivers):
        comm.send(np.array([len(head)]), receiver)
        for part in (head, *map(_bytes, arrays)):
            comm.send(part, receiver)


def recv(self: Dataset, src: int | list[int] = 0, group: str | None = None) -> Tensor | list[Tensor]:
    """Receive what other ranks' pipelines send.

    Args:
        src: the rank of the world that sends, or several; this one's own number takes the next row of this pipeline.
        group: the group that all of them belong to; default: all ranks.

    Returns:
        The Tensors, those of several ranks one after the other; a single one by itself.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if a rank is not in the group.
        RuntimeError: before `init()`, or if another rank has ended.

    Examples:
        >>> import dist_ms as ms
        >>> import dist_ms.dataset as ds
        >>> ms.communication.init()
        >>> rows = ds.NumpySlicesDataset([5, 6], shuffle=False)
        >>> [int(rows.recv(src=ms.communication.get_rank())) for _ in range(3)]
        [5, 6, 5]
    """
    comm, ranks = _members(group, "recv")
    found: list[Tensor] = []
    for rank in _ranks(src, "src", "recv", ranks):
        sender = ranks.index(rank)
        found += _next_row(self) if sender == comm.rank else _received(comm, sender)
    return found[0] if len(found) == 1 else found


def _members(group: Any, owner: str) -> tuple[Comm, list[int]]:
    """A group and the world ranks of its members."""
    if group is not None and not isinstance(group, str):
        raise TypeError(complaint("group", owner, "a string or None", group))
    name = HCCL_WORLD_COMM_GROUP if group is None else group
    return get_comm(name), get_process_group_ranks(name)


def _ranks(value: Any, name: str, owner: str, members: list[int]) -> list[int]:
    ranks = [value] if isinstance(value, int) else value
    if not isinstance(ranks, (list, tuple)) or not ranks or any(type(rank) is not int for rank in ranks):
        raise TypeError(complaint(name, owner, "an int or a list of ints", value))
    if not set(ranks) <= set(members):
        raise ValueError(complaint(name, owner, f"among the ranks of the group, {members}", value))
    return list(ranks)


def _next_row(dataset: Dataset) -> list:
    """The row that follows the last one of `send` and `recv`."""
    row = next(dataset.to_send or iter(()), None)
    if row is None:
        dataset.to_send = iter(dataset.create_tuple_iterator())
        row = next(dataset.to_send, None)
    if row is None:
        raise RuntimeError(f"For 'send', the pipeline must have a row, but {type(dataset).__name__} has none.")
    return row


def _received(comm: Comm, sender: int) -> list[Tensor]:
    length = int(comm.recv(np.zeros(1, np.int64), sender)[0])
    heads = json.loads(comm.recv(np.empty(length, np.uint8), sender).tobytes())
    arrays = [np.empty(shape, np.dtype(name)) for name, shape in heads]
    for array in arrays:
        comm.recv(_bytes(array), sender)
    return [Tensor(array) for array in arrays]


def _bytes(value: Any) -> np.ndarray:
    """The memory of an array, or of bytes."""
    return value.reshape(-1).view(np.uint8) if isinstance(value, np.ndarray) else np.frombuffer(value, np.uint8)
