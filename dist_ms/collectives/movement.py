"""Moves of arrays between the ranks of a group: each starts, and returns its result with a handle.

The result's array is complete after `handle.wait()`. Every move meets first, so ranks that do different
things get a table of what each was about to do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from dist_ms.collectives.arguments import cut
from dist_ms.communication import Comm, Handle
from dist_ms.communication.comm import Done, check_reducible

_PAIRWISE: dict[str, Callable] = {"sum": np.add, "max": np.maximum, "min": np.minimum, "prod": np.multiply}


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
    check_average(owner, array, op)
    kind = "sum" if op == "avg" else op
    if wait:
        out = np.empty(array.shape, array.dtype)
        comm.all_reduce(out, kind, source=array)
        if op == "avg":
            np.divide(out, comm.size, out=out)
        return out, Done()
    out = np.array(array, order="C")
    handle = comm.post_all_reduce(out, kind)
    return out, Finishing(handle, lambda: np.divide(out, comm.size, out=out)) if op == "avg" else handle


def check_average(owner: str, array: np.ndarray, op: str) -> None:
    """Raise if integers are to be averaged.

    Raises:
        TypeError: if they are.
    """
    if op == "avg" and array.dtype.kind in "biu":
        raise TypeError(f"For '{owner}', 'op' 'avg' needs floating-point numbers, but got {array.dtype}: use 'sum'.")


def all_gather(comm: Comm, array: np.ndarray, sizes: Sequence[int] | None = None) -> tuple[np.ndarray, Handle]:
    """Put every rank's array behind another along the first axis.

    Args:
        comm: the group.
        array: this rank's, of at least one dimension.
        sizes: the length of each rank's first axis; None: they are equal.
    """
    lengths = [len(array)] * comm.size if sizes is None else sizes
    out = np.empty((sum(lengths), *array.shape[1:]), array.dtype)
    parts = cut(out, lengths)
    parts[comm.rank][...] = array
    others = [r for r in range(comm.size) if r != comm.rank]
    same = array if sizes is None else None
    return out, comm.exchange(
        "all_gather", [(r, array) for r in others], [(r, parts[r]) for r in others], same, str(list(lengths))
    )


def reduce_scatter(
    owner: str, comm: Comm, array: np.ndarray, op: str, sizes: Sequence[int]
) -> tuple[np.ndarray, Handle]:
    """Reduce over all ranks, in rank order, and keep this rank's part of the first axis.

    Args:
        owner: who asks.
        comm: the group.
        array: this rank's whole array.
        op: the reduction.
        sizes: the length of each rank's part.
    """
    check_average(owner, array, op)
    kind = "sum" if op == "avg" else op
    check_reducible(owner, array, kind)
    parts = cut(array, sizes)
    mine = parts[comm.rank]
    came = [np.empty_like(mine, order="C") for _ in range(comm.size)]
    came[comm.rank] = mine
    others = [r for r in range(comm.size) if r != comm.rank]
    out = np.empty_like(mine, order="C")
    handle = comm.exchange(
        "reduce_scatter", [(r, parts[r]) for r in others], [(r, came[r]) for r in others], array, f"{op} {list(sizes)}"
    )

    def finish() -> None:
        wide = np.float32 if array.dtype.name in ("float16", "bfloat16") else array.dtype
        total = came[0].astype(wide)
        for part in came[1:]:
            _PAIRWISE[kind](total, part.astype(wide, copy=False), out=total)
        out[...] = total / comm.size if op == "avg" else total

    return out, Finishing(handle, finish)


def broadcast(comm: Comm, array: np.ndarray, root: int) -> tuple[np.ndarray, Handle]:
    """Send rank `root`'s array to every rank."""
    out = np.array(array, order="C")
    others = [r for r in range(comm.size) if r != root]
    if comm.rank == root:
        return out, comm.exchange("broadcast", [(r, out) for r in others], [], array, f"root {root}")
    return out, comm.exchange("broadcast", [], [(root, out)], array, f"root {root}")


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
