"""Reductions between machines: rank r of each machine carries part r of what theirs have reduced.

Which array a machine has reduced first is chance, so arrays may pass each other on the way. That all ranks
have posted the same is found out while the data travels, by a meeting that nobody waits for.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms._ext import board as boards
from dist_ms.communication.rendezvous.pending import Posted
from dist_ms.communication.wire.segments import Carried, Carrier


class Between:
    """The ranks of all machines that carry the same part.

    Args:
        mpi: mpi4py.MPI.
        comm: a communicator of one rank of each machine; None for a rank that carries nothing.
        parts: into how many parts arrays are cut: the ranks of the smallest machine.
    """

    def __init__(self, mpi: Any, comm: Any, parts: int) -> None:
        self.comm, self.parts, self.error = comm, parts, mpi.Exception
        self.carrier = None if comm is None else Carrier(mpi, comm)

    def reduction(self, held: Any, array: np.ndarray, op: str, meeting: Posted | None = None) -> Exchange:
        """Return the exchange that carries an array's part between the machines.

        Args:
            held: reduces the part within this machine and then waits.
            array: the array.
            op: the reduction.
            meeting: of all ranks for this; None when they have met.
        """
        start, stop = held.part if self.comm is not None else (0, 0)
        return Exchange(self, held, array.reshape(-1)[start:stop], op, meeting)

    def free(self) -> None:
        """Give the communicator back."""
        if self.comm is not None:
            self.comm.Free()


class Exchange:
    """An array's way: reduced within the machine, between the machines, and spread."""

    def __init__(self, between: Between, held: Any, part: np.ndarray, op: str, meeting: Posted | None) -> None:
        self._between, self._held, self._part, self._op, self._meeting = between, held, part, op, meeting
        self._number = between.carrier.number() if part.size and between.carrier is not None else 0
        self._carried: Carried | None = None

    def advance(self, seconds: float, moving: bool = False) -> int:
        """Drive the exchange; as the board's exchanges do."""
        met = boards.DONE if self._meeting is None else self._meeting.state()
        if met == boards.DIFFER:
            return met
        state = self._held.advance(seconds, moving)
        if state == boards.DIFFER and met == boards.WAITING:
            return met  # the ranks of other machines have to hear of it, too
        if state == boards.DIFFER and self._meeting is not None:
            raise RuntimeError(
                "For 'all_reduce', 'array' must be the same part of a shared buffer on every rank, but got other "
                "parts on ranks of this machine."
            )
        if state != boards.REDUCED:
            return state
        try:
            arrived = self._arrived()
        except self._between.error:
            if met == boards.DONE:
                raise
            arrived = False  # the ranks' arrays are of other sizes; that will show
        if not arrived or met == boards.WAITING:
            return boards.WAITING
        self._held.release()
        return self._held.advance(seconds)

    def _arrived(self) -> bool:
        """Drive the part and return whether it has been carried."""
        if not self._part.size:
            return True
        if self._carried is None:
            assert self._between.carrier is not None
            self._carried = Carried(self._between.carrier, self._number, self._part, self._op)
        return self._carried.test()
