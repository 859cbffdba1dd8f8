"""Reductions between machines: rank r of each machine carries part r of what theirs have reduced.

MPI matches collectives of a communicator by their order, but which array a machine has reduced
first is chance. So every round has a communicator of its own and is begun in the order in which the
arrays came, the same on all ranks.
"""

from __future__ import annotations

from collections import deque
from itertools import pairwise
from typing import Any

import numpy as np

from dist_ms._ext import board as boards
from dist_ms._ext import reduce as kernels
from dist_ms.communication.buffers import as_bytes, mpi_ops, mpi_types, pieces

_PIECE = 1 << 30  # bytes in one call: MPI's counts are C ints


class Between:
    """The ranks of all machines that carry the same part.

    Args:
        mpi: mpi4py.MPI.
        comm: a communicator of one rank of each machine; None for a rank that carries nothing.
        parts: into how many parts arrays are cut: the ranks of the smallest machine.
    """

    def __init__(self, mpi: Any, comm: Any, parts: int) -> None:
        self._mpi, self.comm, self.parts = mpi, comm, parts
        self.gathering = None if comm is None else comm.Dup()
        self.first, self.second = Turns(), Turns()
        self._types, self._ops = mpi_types(mpi), mpi_ops(mpi)

    def reduction(self, held: Any, array: np.ndarray, op: str) -> Exchange:
        """Return the exchange that carries an array's part between the machines.

        Args:
            held: reduces the part within this machine and then waits.
            array: the array.
            op: the reduction.
        """
        start, stop = held.part if self.comm is not None else (0, 0)
        return Exchange(self, held, array.reshape(-1)[start:stop], op)

    def start(self, part: np.ndarray, op: str) -> list[Any]:
        """Start reducing a part of a type that MPI knows; return the requests."""
        mpi_type, mpi_op = self._types[part.dtype], self._ops[part.dtype == np.bool_][op]
        return [
            self.comm.Iallreduce(self._mpi.IN_PLACE, [piece, len(piece), mpi_type], mpi_op)
            for piece in pieces(part, _PIECE // part.itemsize)
        ]

    def free(self) -> None:
        """Give the communicators back."""
        if self.comm is not None:
            self.comm.Free()
            self.gathering.Free()

    def known(self, dtype: np.dtype) -> bool:
        """Whether MPI can reduce the type: not the 16-bit floats and small ints."""
        return dtype in self._types


class Turns:
    """The exchanges that have yet to begin a round, in the order in which they came."""

    def __init__(self) -> None:
        self._waiting: deque[Exchange] = deque()

    def join(self, exchange: Exchange) -> None:
        """Queue an exchange."""
        self._waiting.append(exchange)

    def take(self, exchange: Exchange) -> bool:
        """Return whether it is the exchange's turn, which is then over."""
        if self._waiting[0] is not exchange:
            return False
        self._waiting.popleft()
        return True

    def leave(self, exchange: Exchange) -> None:
        """Forget an exchange that will not come."""
        if exchange in self._waiting:
            self._waiting.remove(exchange)


class Exchange:
    """An array's way: reduced within the machine, between the machines, and spread."""

    def __init__(self, between: Between, held: Any, part: np.ndarray, op: str) -> None:
        self._between, self._held, self._part, self._op = between, held, part, op
        self._requests: list[Any] | None = None
        self._rounds: Narrow | None = None
        if part.size:
            between.first.join(self)
            if not between.known(part.dtype):
                between.second.join(self)

    def advance(self, seconds: float, moving: bool = False) -> int:
        """Drive the exchange; as the board's exchanges do."""
        state = self._held.advance(seconds, moving)
        if state != boards.REDUCED:
            if state == boards.DIFFER:
                self._between.first.leave(self)
                self._between.second.leave(self)
            return state
        if not self._carried():
            return boards.WAITING
        self._held.release()
        return self._held.advance(seconds)

    def _carried(self) -> bool:
        """Do what the machines' data and the order allow; return whether the part has been carried."""
        if not self._part.size:
            return True
        if self._requests is None:
            if not self._between.first.take(self):
                return False
            if self._between.known(self._part.dtype):
                self._requests = self._between.start(self._part, self._op)
            else:
                self._rounds = Narrow(self._between, self._part, self._op)
                self._requests = self._rounds.exchange()
        while self._requests:
            if not self._requests[0].Test():
                return False
            del self._requests[0]
        if self._rounds is not None:
            if not self._between.second.take(self):
                return False
            self._requests, self._rounds = self._rounds.gather(), None
            return self._carried()
        return True


class Narrow:
    """A part of a type that MPI does not reduce: each machine reduces a piece, then all get all.

    So 16-bit floats travel as such, and are added in float32 and rounded once.
    """

    def __init__(self, between: Between, part: np.ndarray, op: str) -> None:
        self._comm, self._gathering, self._byte = between.comm, between.gathering, between._mpi.BYTE
        self._part, self._op = part, op
        size, rank = self._comm.Get_size(), self._comm.Get_rank()
        step = -(-len(part) // size)
        starts = [min(len(part), i * step) for i in range(size + 1)]
        self._mine = part[starts[rank] : starts[rank + 1]]
        self._all = np.empty((size, len(self._mine)), part.dtype)
        offsets = [part.itemsize * start for start in starts]
        counts = [stop - start for start, stop in pairwise(offsets)]
        self._whole = [as_bytes(part), (counts, offsets[:-1]), self._byte]

    def exchange(self) -> list[Any]:
        """Start giving each machine all machines' forms of its piece; return the requests."""
        length = self._all[0].nbytes
        rows = ([length] * len(self._all), [length * i for i in range(len(self._all))])
        return [self._comm.Ialltoallv(self._whole, [as_bytes(self._all), rows, self._byte])]

    def gather(self) -> list[Any]:
        """Reduce this machine's piece and start giving it to all; return the requests."""
        reduced = np.empty_like(self._mine)
        kernels.reduce(list(self._all), reduced, self._op)
        self._mine[:] = reduced
        data = as_bytes(reduced)
        return [self._gathering.Iallgatherv([data, len(data), self._byte], self._whole)]
