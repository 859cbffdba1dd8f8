"""The communicator of a world of one: every verb at once, without MPI."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np

from dist_ms.communication.comm import (
    DONE,
    Comm,
    Handle,
    Names,
    check_array,
    check_parts,
    check_rank,
    check_reduced,
    check_reducible,
    check_source,
)


class LocalComm(Comm):
    """One rank alone.

    Args:
        name: the group's name.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.communication.local import LocalComm
        >>> comm = LocalComm()
        >>> comm.all_reduce(np.array([1.0, 2.0]))
        array([1., 2.])
        >>> comm.all_gather(np.array([1, 2]))
        array([[1, 2]])
    """

    def __init__(self, name: str = "mccl_world_group", world_rank: int = 0) -> None:
        self.name = name
        self.rank, self.size, self.ranks = 0, 1, (world_rank,)
        self.one_node = True
        self._sent: dict[int, deque[np.ndarray]] = {}

    def barrier(self) -> None:
        """Everybody is here."""

    def post_broadcast(
        self, array: np.ndarray, root: int = 0, source: np.ndarray | None = None, wait: bool = False
    ) -> Handle:
        """The array is its own."""
        check_array(array, "broadcast", changed=True)
        check_rank(root, "root", "broadcast", 1)
        if source is not None:
            array[...] = check_source(source, "broadcast", array)
        return DONE

    def all_reduce(
        self,
        array: np.ndarray,
        op: str = "sum",
        scale: float = 1.0,
        names: Names | None = None,
        source: np.ndarray | None = None,
    ) -> np.ndarray:
        """Return the array, scaled."""
        check_reduced(array, "all_reduce", op, scale)
        if source is not None:
            array[...] = check_source(source, "all_reduce", array)
        if scale != 1:
            array *= array.dtype.type(scale)
        return array

    def post_all_reduce(
        self, array: np.ndarray, op: str = "sum", scale: float = 1.0, names: Names | None = None
    ) -> Handle:
        """Return a handle that is done."""
        self.all_reduce(array, op, scale)
        return DONE

    def post_all_gather(self, array: np.ndarray, wait: bool = False) -> tuple[np.ndarray, Handle]:
        """Return a copy with a first axis of length 1."""
        check_array(array, "all_gather", changed=False)
        return np.array(array, order="C")[None], DONE

    def post_reduce_scatter(self, array: np.ndarray, op: str = "sum", wait: bool = False) -> tuple[np.ndarray, Handle]:
        """Return a copy."""
        check_array(array, "reduce_scatter", changed=False)
        check_reducible(array, "reduce_scatter", op)
        check_parts(array, "reduce_scatter", 1)
        return np.array(array, order="C"), DONE

    def post_all_to_all(self, array: np.ndarray, wait: bool = False) -> tuple[np.ndarray, Handle]:
        """Return a copy."""
        check_array(array, "all_to_all", changed=False)
        check_parts(array, "all_to_all", 1)
        return np.array(array, order="C"), DONE

    def send(self, array: np.ndarray, dest: int, tag: int = 0) -> None:
        """Keep a copy for `recv`."""
        check_array(array, "send", changed=False)
        check_rank(dest, "dest", "send", 1)
        self._sent.setdefault(tag, deque()).append(np.array(array, order="C"))

    def recv(self, array: np.ndarray, source: int, tag: int = 0) -> np.ndarray:
        """Take what `send` kept.

        Raises:
            RuntimeError: if nothing was sent; with one rank nothing ever would be.
        """
        check_array(array, "recv", changed=True)
        check_rank(source, "source", "recv", 1)
        if not self._sent.get(tag):
            raise RuntimeError(f"For 'recv', rank 0 of 1 waits for itself: nothing was sent with tag {tag}.")
        sent = self._sent[tag].popleft()
        if sent.nbytes != array.nbytes:
            raise ValueError(
                f"For 'recv', 'array' must have the {sent.nbytes} bytes that were sent, but it has {array.nbytes}."
            )
        array.reshape(-1).view(np.uint8)[:] = sent.reshape(-1).view(np.uint8)
        return array

    def meet(self, verb: str, array: np.ndarray | None = None, more: str = "") -> None:
        """Everybody is here."""

    def post_exchange(
        self,
        outgoing: Sequence[tuple[int, np.ndarray]],
        incoming: Sequence[tuple[int, np.ndarray]],
        tag: int = 0,
        collective: bool = False,
    ) -> Handle:
        """Do all sends, then all receives."""
        for dest, array in outgoing:
            self.send(array, dest, tag)
        for source, array in incoming:
            self.recv(array, source, tag)
        return DONE

    def gather_objects(self, value: Any) -> list[Any]:
        """Return the value in a list."""
        return [value]

    def subgroup(self, ranks: list[int], name: str) -> Comm:
        """Return another world of one."""
        if list(ranks) != [0]:
            raise ValueError(f"For 'subgroup', 'ranks' must be [0] here, but got {ranks}.")
        return LocalComm(name, self.ranks[0])

    def of_this_machine(self) -> Comm:
        """Return this world of one."""
        return self

    def free(self) -> None:
        """Nothing to give back."""
        self._sent.clear()
