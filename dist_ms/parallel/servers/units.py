"""A unit of consistency on a server: a table's rows, or dense pieces that are updated together.

With staleness s a worker that has pushed c updates reads values in which at least c - s updates
of all workers are. Update number n is made of every worker's n-th push, averaged; s = 0 is
synchronous training. Without a bound every push is an update of its own, applied when it comes.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from dist_ms.parallel.servers.shards import DenseShard, TableShard

if TYPE_CHECKING:
    from dist_ms.parallel.servers.log import UpdateLog


class Unit:
    """One shard with its clock.

    Args:
        number: its number on this server.
        shard: the values.
        staleness: s; `math.inf` for no bound.
        workers: how many push.

    Attributes:
        version: the number of updates applied.
        ready: whether the first values are there.
        pushed: how often each worker has pushed.
    """

    def __init__(self, number: int, shard: TableShard | DenseShard, staleness: float, workers: int) -> None:
        self.number, self.shard, self.staleness = number, shard, staleness
        self.version, self.ready = 0, False
        self.pushed = [0] * workers
        self.optimizer: Any = None
        self.indices: list[int] = []
        self.log: UpdateLog | None = None
        self._frames: dict[int, dict[int, tuple[np.ndarray, np.ndarray]]] = {}
        self._order: list[tuple[int, int]] = []  # without a bound: (worker, its push), as they came
        self._arrived: dict[int, dict[int, float]] = {}
        self._read = [0] * workers  # the version each worker read last
        self._based: dict[tuple[int, int], int] = {}  # the version a push was computed from
        self.stale: Counter[int] = Counter()
        self.late = [0.0] * workers
        self.counted = 0

    # ---- reading
    def may_read(self, clock: int) -> bool:
        """Whether a worker that has pushed `clock` times may read now."""
        return self.ready and (self.staleness == math.inf or self.version >= clock - self.staleness)

    def was_read(self, worker: int) -> None:
        """Note which version a worker works with."""
        self._read[worker] = self.version

    # ---- updates
    def attach(self, optimizer: Any, indices: list[int]) -> None:
        """Take the optimizer, and apply what was waiting for it."""
        self.optimizer, self.indices = optimizer, indices
        self._apply_complete()

    def push(self, worker: int, ids: np.ndarray, values: np.ndarray) -> None:
        """Take a worker's gradients and apply the updates they complete."""
        clock = self.pushed[worker]
        self.pushed[worker] += 1
        self._frames.setdefault(clock, {})[worker] = (ids, values)
        self._based[worker, clock] = self._read[worker]
        self._arrived.setdefault(clock, {})[worker] = time.monotonic()
        if len(self._arrived[clock]) == len(self.pushed):
            self._count_lateness(self._arrived.pop(clock))
        if self.staleness == math.inf:
            self._order.append((worker, clock))
        self._apply_complete()

    def _apply_complete(self) -> None:
        if self.optimizer is None:
            return
        while self.staleness == math.inf and self._order:
            worker, clock = self._order.pop(0)
            frame = self._frames[clock].pop(worker)
            self.stale[self.version - self._based.pop((worker, clock))] += 1
            self._apply([(worker, frame)])
        while self.staleness != math.inf and len(self._frames.get(self.version, ())) == len(self.pushed):
            frames = self._frames.pop(self.version)
            for worker in frames:
                self.stale[self.version - self._based.pop((worker, self.version))] += 1
            self._apply(sorted(frames.items()))

    def _apply(self, frames: list[tuple[int, tuple[np.ndarray, np.ndarray]]]) -> None:
        self.version += 1
        if self.log is not None:
            self.log(self.version, frames)
        self.apply_frames([frame for _, frame in frames], self.scale_of(len(frames)))

    def scale_of(self, frames: int) -> float:
        """What the gradients of an update are multiplied by: together they are averaged."""
        return 1.0 if self.staleness == math.inf else 1.0 / frames

    def set_rates(self, rates: list[float]) -> None:
        """Overwrite the learning rates that are fixed numbers."""
        rate = self.optimizer.learning_rate
        found = rate if isinstance(rate, tuple) else [rate]
        for r, number in zip([r for r in found if hasattr(r, "array")], rates, strict=True):
            r.array()[...] = number
        if self.log is not None:
            self.log.rates(rates)

    def apply_frames(self, frames: list[tuple[np.ndarray, np.ndarray]], scale: float) -> None:
        """Run the optimizer on gradients."""
        if not self.shard.nbytes:
            return
        grads = self.shard.gradients(frames, scale, self.version)
        self.optimizer.update_some(dict(zip(self.indices, grads, strict=True)))
        if isinstance(self.shard, TableShard) and moves_all_rows(self.optimizer):
            self.shard.changed[...] = self.version

    # ---- who is late
    def _count_lateness(self, arrived: dict[int, float]) -> None:
        first = min(arrived.values())
        self.counted += 1
        for worker, at in arrived.items():
            self.late[worker] += at - first

    def missing(self, update: int) -> list[int]:
        """The workers that have not pushed for an update, 1 being the first."""
        return [worker for worker, count in enumerate(self.pushed) if count < update]

    def report(self) -> dict[str, Any]:
        """What happened so far."""
        return {
            "name": self.shard.name,
            "staleness": self.staleness,
            "updates": self.version,
            "stale": dict(sorted(self.stale.items())),
            "late": [seconds / max(1, self.counted) for seconds in self.late],
        }


def moves_all_rows(optimizer: Any) -> bool:
    """Whether a step changes rows that have no gradient too, as momentum and weight decay do."""
    quiet = getattr(optimizer, "lazy_rows", False) or optimizer.idle_without_gradient()
    return optimizer.exec_weight_decay or not quiet
