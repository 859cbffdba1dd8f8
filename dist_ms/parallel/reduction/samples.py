"""How many samples each rank trained on: the weights of an exact mean."""

from __future__ import annotations

import numpy as np

from dist_ms.communication import Comm

_EXACT = 1 << 24  # float32 holds every integer up to here


class SampleCount:
    """This rank's samples in a step, and everybody's.

    Args:
        comm: the ranks.
        on: whether gradients are weighted by samples; else every factor is 1.

    Attributes:
        on: the same.
        factor: what the gradients of the sweep under way are multiplied with.
        mine: this rank's samples since the last reduction.

    Examples:
        >>> from dist_ms.communication import LocalComm
        >>> from dist_ms.parallel.reduction.samples import SampleCount
        >>> count = SampleCount(LocalComm(), on=True)
        >>> count.set(4)
        >>> count.begin()
        >>> count.factor, count.mine
        (4.0, 4)
    """

    def __init__(self, comm: Comm, on: bool) -> None:
        self.on = on
        self.factor = 1.0
        self.mine = 0
        self._comm = comm
        self._next: tuple[int, int] | None = None

    def set(self, samples: int, counted: bool = True) -> None:
        """Say how many samples the next sweep is over.

        Args:
            samples: the number; 0 on a rank that has none.
            counted: whether they are new ones; False for a further part of a batch that was counted.

        Raises:
            ValueError: if the number is negative, or too large for the sum to be exact.
        """
        limit = _EXACT // self._comm.size
        if not 0 <= samples <= limit:
            raise ValueError(f"For 'Reducer', 'samples' must be in [0, {limit}], but got {samples}.")
        self._next = (samples, samples if counted else 0)

    def begin(self) -> None:
        """A sweep starts.

        Raises:
            RuntimeError: if the number of its samples was not set.
        """
        if not self.on:
            return
        if self._next is None:
            raise RuntimeError(
                "For 'DistributedGradReducer', with uneven=\"exact\" every call must say how many samples the "
                "gradients are the mean of: reducer(grads, samples=len(batch))."
            )
        samples, new = self._next
        self.factor, self.mine = float(samples), self.mine + new
        self._next = None

    def forget(self) -> None:
        """A new step starts."""
        self.mine = 0

    def scale(self, total: float | None) -> float:
        """Return 1 / the samples of all ranks.

        Args:
            total: the number where it travelled with the gradients; None: it is added up here.

        Raises:
            ValueError: on every rank, if no rank had a sample.
        """
        if not self.on:
            return 1.0
        if total is None:
            total = float(self._comm.all_reduce(np.array([self.mine], np.float64))[0])
        if total <= 0:
            raise ValueError("For 'DistributedGradReducer', a step must have a sample on some rank, but none has one.")
        return 1.0 / total
