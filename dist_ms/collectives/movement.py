"""Moves of arrays between the ranks of a group: each starts, and returns its result with a handle.

The result's array is complete after `handle.wait()`. What is even is the communicator's own collective; what is uneven
or has one end is messages, and meets first. Ranks that do different things get a table of what each was about to do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from dist_ms.collectives.arguments import cut
from dist_ms.communication import Comm, Handle
from dist_ms.communication.comm import DONE


class Finishing(Handle):
    """A handle with a last step.

    Args:
        handle: what is under way.
        finish: called once, when it is done.
    """

    def __init__(self, handle: Handle, finish: Callable[[], object]) -> None:
        self._handle, self._finish = handle, finish
        self._finished = False

    def test(self) -> bool:
        """Drive the move and return whether it is done."""
        return self._finished or (self._handle.test() and self._end())

    def wait(self) -> None:
        """Wait until the move is done."""
        if not self._finished:
            self._handle.wait()
            self._end()

    def _end(self) -> bool:
        if not self._finished:
            self._finished = True
            self._finish()
        return True


def all_reduce(owner: str, comm: Comm, array: np.ndarray, op: str, wait: bool = True) -> tuple[np.ndarray, Handle]:
    """Reduce a copy of the array over all ranks; "avg" is the sum divided by their number."""
    check_average(array, owner, op)
    kind = "sum" if op == "avg" else op
    if wait:
        out = np.empty(array.shape, array.dtype)
        comm.all_reduce(out, kind, source=array)
        if op == "avg":
            np.divide(out, comm.size, out=out)
        return out, DONE
    out = np.array(array, order="C")
    return out, averaged(comm, op, out, comm.post_all_reduce(out, kind))


def averaged(comm: Comm, op: str, out: np.ndarray, handle: Handle) -> Handle:
    """Return a handle that also divides a sum, where `op` is "avg"."""
    return Finishing(handle, lambda: np.divide(out, comm.size, out=out)) if op == "avg" else handle


def check_average(array: np.ndarray, owner: str, op: str) -> None:
    """Raise if integers are to be averaged.

    Raises:
        TypeError: if they are.
    """
    if op == "avg" and array.dtype.kind in "biu":
        raise TypeError(f"For '{owner}', 'op' 'avg' needs floating-point numbers, but got {array.dtype}: use 'sum'.")


def all_gather(
    comm: Comm, array: np.ndarray, sizes: Sequence[int] | None = None, wait: bool = False
) -> tuple[np.ndarray, Handle]:
    """Put every rank's array behind another along the first axis.

    Args:
        comm: the group.
        array: this rank's, of at least one dimension.
        sizes: the length of each rank's first axis; None: they are equal.
        wait: whether to return when it is done.
    """
    if sizes is None or len(set(sizes)) == 1:
        rows, handle = comm.post_all_gather(array, wait)
        return rows.reshape(comm.size * len(array), *array.shape[1:]), handle
    out = np.empty((sum(sizes), *array.shape[1:]), array.dtype)
    parts = cut(out, sizes)
    parts[comm.rank][...] = array
    others = [r for r in range(comm.size) if r != comm.rank]
    messages = [(r, array) for r in others], [(r, parts[r]) for r in others]
    return out, comm.exchange("all_gather", *messages, more=f"{array.dtype} {list(sizes)}")


def reduce_scatter(
    owner: str, comm: Comm, array: np.ndarray, op: str, sizes: Sequence[int], wait: bool = False
) -> tuple[np.ndarray, Handle]:
    """Reduce over all ranks, in rank order, and keep this rank's part of the first axis.

    Args:
        owner: who asks.
        comm: the group.
        array: this rank's whole array.
        op: the reduction.
        sizes: the length of each rank's part; where they differ, every rank reduces the whole.
        wait: whether to return when it is done.
    """
    if len(set(sizes)) > 1:
        comm.meet("reduce_scatter", array, f"{op} {list(sizes)}")
        whole, handle = all_reduce(owner, comm, array, op, wait)
        return cut(whole, sizes)[comm.rank], handle
    check_average(array, owner, op)
    out, handle = comm.post_reduce_scatter(array, "sum" if op == "avg" else op, wait)
    return out, averaged(comm, op, out, handle)


def broadcast(comm: Comm, array: np.ndarray, root: int, wait: bool = False) -> tuple[np.ndarray, Handle]:
    """Send rank `root`'s array to every rank."""
    out = np.empty(array.shape, array.dtype)
    return out, comm.post_broadcast(out, root, array, wait)


def gather(comm: Comm, array: np.ndarray, root: int) -> tuple[list[np.ndarray], Handle]:
    """Collect every rank's array on rank `root`; elsewhere the list is empty."""
    if comm.rank != root:
        return [], comm.exchange("gather", [(root, array)], [], array, f"root {root}")
    came = [np.empty(array.shape, array.dtype) for _ in range(comm.size)]
    came[root][...] = array
    others = [(r, came[r]) for r in range(comm.size) if r != root]
    return came, comm.exchange("gather", [], others, array, f"root {root}")


def scatter(comm: Comm, parts: Sequence[np.ndarray], out: np.ndarray, root: int) -> Handle:
    """Send part r of rank `root` to rank r, into `out`.

    Args:
        comm: the group.
        parts: one per rank on rank `root`; not read elsewhere.
        out: this rank's part is written into it.
        root: who has the parts.
    """
    if comm.rank != root:
        return comm.exchange("scatter", [], [(root, out)], out, f"root {root}")
    out[...] = parts[root]
    others = [(r, parts[r]) for r in range(comm.size) if r != root]
    return comm.exchange("scatter", others, [], out, f"root {root}")


def all_to_all(comm: Comm, outgoing: Sequence[np.ndarray], incoming: Sequence[np.ndarray]) -> Handle:
    """Send array r to rank r and receive rank r's into array r; empty arrays are not sent.

    Args:
        comm: the group.
        outgoing: one per rank.
        incoming: one per rank; overwritten.
    """
    mine = incoming[comm.rank]
    mine.reshape(-1)[...] = np.ascontiguousarray(outgoing[comm.rank]).reshape(-1)
    others = [r for r in range(comm.size) if r != comm.rank]
    return comm.exchange(
        "all_to_all",
        [(r, outgoing[r]) for r in others if outgoing[r].size],
        [(r, incoming[r]) for r in others if incoming[r].size],
        more=mine.dtype.name,
    )
