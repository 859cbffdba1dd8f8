"""The desync detector: finds weights that have ceased to be the same on all ranks.

Every step hashes a part of the weights' bytes, so that after some steps all have been hashed, and then
the ranks compare one number. Only when it differs is more sent: a hash per parameter, and a report that
names the parameter, the ranks and the step.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from dist_ms._ext.hashing import hash_memory
from dist_ms.common.settings.environment import value_of
from dist_ms.communication import Comm
from dist_ms.parallel.errors import CHANGED, REMEDY, VARIABLE, DesyncError, name_ranks
from dist_ms.parallel.plan import SyncPlan
from dist_ms.parallel.replicas.last_look import Watched

STEPS = int(value_of(VARIABLE, {}))
_REPLICATED = ("all_reduce", "reduce_scatter", "all_gather")
_STARTED = (
    "The ranks started with different values: call set_seed with the same seed on all of them before the model is "
    "built, or give them rank 0's: nn.DistributedGradReducer(parameters).start() does, before gradients are computed."
)
_ALIGNED = 64  # bytes: where a piece may begin


def steps_between(environ: dict[str, str] | None = None) -> int:
    """Return within how many steps a difference is found: DIST_MS_DESYNC_STEPS, 50 by default, 0 for never.

    Args:
        environ: the environment; default: this process's.

    Raises:
        ValueError: if the variable is no whole number of 0 or more.

    Examples:
        >>> from dist_ms.parallel.replicas.desync import steps_between
        >>> steps_between({"DIST_MS_DESYNC_STEPS": "10"}), steps_between({})
        (10, 50)
    """
    text = value_of(VARIABLE, environ)
    if not text.strip().isdecimal():
        raise ValueError(f"The environment variable {VARIABLE} must be a number of steps, 0 or more, but got {text!r}.")
    return int(text)


class DesyncDetector:
    """Compares the weights that the ranks update together.

    Those are the parameters that start equal and whose gradients are reduced, as the plan's rows say:
    what is layerwise, sliced or served stays out, and so does what no gradient changes, such as moving
    statistics.

    Args:
        plan: the same on all ranks.
        parameters: as given to `make_plan`; found by name.
        comm: the ranks.
        steps: a difference is found within so many steps, at most.

    Attributes:
        count: the steps until now.

    Examples:
        >>> import numpy as np
        >>> import dist_ms as ms
        >>> from dist_ms.communication import LocalComm
        >>> from dist_ms.parallel import make_plan
        >>> from dist_ms.parallel.replicas.desync import DesyncDetector
        >>> w = ms.Parameter(np.ones(2, np.float32), name="w")
        >>> DesyncDetector(make_plan([w]), [w], LocalComm(), steps=10).step()
    """

    def __init__(self, plan: SyncPlan, parameters: Iterable[Any], comm: Comm, steps: int = STEPS) -> None:
        by_name = {p.name: p for p in parameters}
        chosen = [row.name for row in plan.rows if row.start == "broadcast" and row.gradient in _REPLICATED]
        self._parameters = [by_name[name] for name in chosen]
        self._comm = comm
        self._watched = Watched(self._parameters, comm)
        # What changes right after it was hashed is hashed in the next round and found at its end.
        sizes = [p.array().nbytes for p in self._parameters]
        self._pieces = pieces(sizes, max(1, steps // 2))
        self._hashes = np.zeros(len(chosen), np.uint64)
        self.count = self._turn = 0
        self._agreed = 0

    def step(self) -> None:
        """Hash this step's part; after the last part compare. All ranks call this at the same point of a step.

        Raises:
            DesyncError: on every rank, if a weight differs.
        """
        self.count += 1
        for index, start, stop in self._pieces[self._turn]:
            data = memory(self._parameters[index].array())
            self._hashes[index] = hash_memory(data[start:stop], int(self._hashes[index]))
        self._turn += 1
        if self._turn == len(self._pieces):
            self._compare()
            self._agreed, self._turn = self.count, 0
            self._hashes[:] = 0

    def compare_all(self) -> None:
        """Compare all of the weights at once. All ranks call this at the same point.

        Raises:
            DesyncError: on every rank, if a weight differs.
        """
        self._hashes[:] = [hash_memory(memory(p.array())) for p in self._parameters]
        self._compare()
        self._agreed, self._turn = self.count, 0
        self._hashes[:] = 0

    def _compare(self) -> None:
        """Compare one number, and where it differs more."""
        mine = np.uint64(hash_memory(self._hashes.view(np.uint8))).view(np.int64)
        ends = self._comm.all_reduce(np.array([mine, ~mine]), "max")
        if ends[0] == ~ends[1]:
            return
        found = self._comm.all_gather(self._hashes)
        for index in np.flatnonzero((found != found[0]).any(0)):
            self._report(self._parameters[index])

    def _report(self, parameter: Any) -> None:
        """Raise if the ranks' values of a parameter differ, and not only its layout in memory."""
        comm = self._comm
        values = np.ascontiguousarray(parameter.array())
        everyone = comm.all_gather(np.array([hash_memory(values.reshape(-1).view(np.uint8))], np.uint64))[:, 0]
        same: dict[int, list[int]] = {}
        for rank, value in enumerate(everyone.tolist()):
            same.setdefault(value, []).append(comm.ranks[rank])
        if len(same) == 1:
            return
        # Rank 0's values are not the right ones, but they tell how far the others are from them.
        first = comm.broadcast(values.copy())
        far = comm.gather_objects(_difference(first, values))
        rows = [
            f"  {name_ranks(ranks)}: {far[comm.ranks.index(ranks[0])]}" if i else f"  {name_ranks(ranks)}"
            for i, ranks in enumerate(same.values())
        ]
        raise DesyncError(
            f"[rank {comm.rank} of {comm.size}] Parameter '{parameter.name}' must be the same on all ranks, but "
            f"{self._when()}. Ranks with the same values:\n"
            + "\n".join(rows)
            + f"\n{CHANGED if self.count else _STARTED} {REMEDY}"
        )

    def _when(self) -> str:
        """Say when the weights were found to differ, and since when they may."""
        if not self.count:
            return "before the first step it is not"
        since = f"after step {self._agreed}" if self._agreed else "since the first step"
        return f"at step {self.count} it is not; it became different {since}, or a little before"


def memory(array: np.ndarray) -> np.ndarray:
    """Return the bytes of an array, in the order of its memory where they lie without gaps.

    Args:
        array: of any type and layout.

    Examples:
        >>> import numpy as np
        >>> memory(np.zeros((2, 3), np.float32)).shape
        (24,)
    """
    if not array.flags.c_contiguous:
        array = array.transpose(sorted(range(array.ndim), key=lambda axis: -array.strides[axis]))
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def pieces(sizes: Sequence[int], parts: int) -> list[list[tuple[int, int, int]]]:
    """Cut memories, laid end to end, into parts of about the same number of bytes.

    Args:
        sizes: their bytes.
        parts: the number of parts.

    Returns:
        Per part (memory, first byte, one past the last byte) of what lies in it.

    Examples:
        >>> pieces([100, 100], 2)
        [[(0, 0, 100)], [(1, 0, 100)]]
    """
    found: list[list[tuple[int, int, int]]] = [[] for _ in range(parts)]
    share = max(1, -(-sum(sizes) // parts))
    before = 0
    for index, size in enumerate(sizes):
        start = 0
        while start < size:
            part = min((before + start) // share, parts - 1)
            stop = (part + 1) * share - before
            stop = size if part == parts - 1 else min(size, -(-stop // _ALIGNED) * _ALIGNED)
            found[part].append((index, start, stop))
            start = stop
        before += size
    return found


def _difference(first: np.ndarray, values: np.ndarray) -> str:
    """Say in words how far values are from others."""
    raw = first.reshape(-1).view(np.uint8).reshape(-1, first.itemsize)
    different = (raw != values.reshape(-1).view(np.uint8).reshape(-1, first.itemsize)).any(1)
    count = int(different.sum())
    where = np.unravel_index(int(different.argmax()), first.shape)
    place = "[" + ", ".join(map(str, where)) + "]"
    return (
        f"{count} of {first.size} elements differ, the first at {place}: {values[where]!s} instead of {first[where]!s}"
    )
