"""Ranks: what the ranks of one run know of each other's callbacks, and what they agree on.

Ranks may have different callbacks (often only rank 0 prints or saves). So at the start of a run
every rank tells which it has; a callback talks to the other ranks only when all of them have the
same talking ones in the same order, and stopping is agreed on by all.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from dist_ms.communication import Comm, LocalComm, agreeing
from dist_ms.parallel.job import data_parallel_comm
from dist_ms.train.callback.callback import Callback

_STEP_MOMENTS = ("on_train_step_begin", "on_train_step_end", "step_begin", "step_end")


class Ranks:
    """The ranks of a run; made by every rank of a data-parallel job at the same time.

    Args:
        callbacks: this rank's callbacks.
        comm: the ranks; by default those of the data-parallel job, or this one alone.

    Attributes:
        rank: this process's place.
        size: the number of ranks.
        alike: whether all ranks have the same talking callbacks, made alike, in the same order.
        stops_steps: whether a callback of any rank may ask to stop after a step.

    Examples:
        >>> from dist_ms.train.callback.ranks import Ranks
        >>> ranks = Ranks([])
        >>> ranks.size, ranks.any(True)
        (1, True)
    """

    def __init__(self, callbacks: Sequence[Callback] = (), comm: Comm | None = None) -> None:
        self.comm = data_parallel_comm() if comm is None else comm
        self.rank, self.size = (0, 1) if self.comm is None else (self.comm.rank, self.comm.size)
        self._keys = {id(callback): key for callback, key in _keyed(callbacks)}
        mine = {key: callback.introduce() for callback, key in _keyed(callbacks)}
        stops = any(_stops_steps(callback) for callback in callbacks)
        everyone = self.gather((mine, stops))
        self._introduced = [facts for facts, _ in everyone]
        self.alike = all(_order(facts) == _order(mine) for facts in self._introduced)
        self.stops_steps = any(stops for _, stops in everyone)

    def like(self, callback: Callback) -> dict[int, Any]:
        """Return what the same callback told about itself, by rank; only ranks that have it.

        Args:
            callback: one of this rank's callbacks.
        """
        key = self._keys.get(id(callback))
        if key is None:
            return {self.rank: callback.introduce()[1]}
        return {rank: facts[key][1] for rank, facts in enumerate(self._introduced) if key in facts}

    def gather(self, value: Any) -> list[Any]:
        """Return every rank's value, in rank order.

        Args:
            value: something small that can be pickled.
        """
        return [value] if self.comm is None else self.comm.gather_objects(value)

    def add(self, array: np.ndarray) -> np.ndarray:
        """Return the sum of an array over the ranks.

        Args:
            array: its memory may be overwritten.
        """
        return array if self.comm is None else self.comm.all_reduce(np.ascontiguousarray(array))

    def any(self, flag: bool) -> bool:
        """Return whether a flag is set on any rank.

        Args:
            flag: this rank's.
        """
        if self.comm is None:
            return flag
        return bool(self.comm.all_reduce(np.array([flag], np.int32), "max")[0])

    def mean(self, value: float) -> float:
        """Return the mean of a number over the ranks, the same bits on each.

        Args:
            value: this rank's.
        """
        return value if self.comm is None else float(self.add(np.array([value], np.float64))[0]) / self.size

    def agreeing(self) -> AbstractContextManager[None]:
        """Return a context for what alike callbacks of all ranks do: an error of one is raised on all."""
        return nullcontext() if self.comm is None or not self.alike else agreeing(self.comm)


def _keyed(callbacks: Sequence[Callback]) -> list[tuple[Callback, str]]:
    """Return the talking callbacks with a name that the same one has on every rank."""
    counts: dict[str, int] = {}
    keyed = []
    for callback in callbacks:
        if callback.meets_ranks:
            name = type(callback).__qualname__
            counts[name] = counts.get(name, 0) + 1
            keyed.append((callback, f"{name} {counts[name]}"))
    return keyed


def _order(facts: dict[str, tuple]) -> list[tuple[str, Any]]:
    """Return which callbacks talk, in their order, and what must be equal of each."""
    return [(key, equal) for key, (equal, _) in facts.items()]


def _stops_steps(callback: Callback) -> bool:
    """Whether a callback may ask to stop after a step."""
    kind = type(callback)
    if kind.__module__.split(".")[0] == "dist_ms":
        return callback.stops_steps
    return any(getattr(kind, m) is not getattr(Callback, m) for m in _STEP_MOMENTS)


def ranks_of(run: dict) -> Ranks:
    """Return the ranks of a run; a run outside of `Model` is this rank's alone.

    Args:
        run: the run's facts.
    """
    ranks = run.get("ranks")
    return ranks if ranks is not None else Ranks(comm=_alone())


def _alone() -> Comm:
    return LocalComm()
