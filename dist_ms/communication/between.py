"""Reductions between machines: rank r of each machine carries part r of what theirs have reduced."""

from __future__ import annotations

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
        """Give the communicator back."""
        if self.comm is not None:
            self.comm.Free()

    def known(self, dtype: np.dtype) -> bool:
        """Whether MPI can reduce the type: not the 16-bit floats and small ints."""
        return dtype in self._types


class Exchange:
    """An array's way: reduced within the machine, between the machines, and spread."""

    def __init__(self, between: Between, held: Any, part: np.ndarray, op: str) -> None:
        self._between, self._held, self._part, self._op = between, held, part, op
        self._requests: list[Any] | None = None
        self._rounds: Narrow | None = None

    def advance(self, seconds: float, moving: bool = False) -> int:
        """Drive the exchange; as the board's exchanges do."""
        state = self._held.advance(seconds, moving)
        if state != boards.REDUCED:
            return state
        if self._requests is None:
            self._requests = self._begin()
        while self._requests:
            if not self._requests[0].Test():
                return boards.WAITING
            del self._requests[0]
            if not self._requests and self._rounds is not None:
                self._requests = self._rounds.go_on()
        self._held.release()
        return self._held.advance(seconds)

    def _begin(self) -> list[Any]:
        if not self._part.size:
            return []
        if self._between.known(self._part.dtype):
            return self._between.start(self._part, self._op)
        self._rounds = Narrow(self._between, self._part, self._op)
        return self._rounds.go_on()


class Narrow:
    """A part of a type that MPI does not reduce: each machine reduces a piece, then all get all.

    So 16-bit floats travel as such, and are added in float32 and rounded once.
    """

    def __init__(self, between: Between, part: np.ndarray, op: str) -> None:
        self._comm, self._byte, self._part, self._op = between.comm, between._mpi.BYTE, part, op
        size, rank = self._comm.Get_size(), self._comm.Get_rank()
        step = -(-len(part) // size)
        self._starts = [min(len(part), i * step) for i in range(size + 1)]
        self._mine = part[self._starts[rank] : self._starts[rank + 1]]
        self._all = np.empty((size, len(self._mine)), part.dtype)
        self._round = 0

    def go_on(self) -> list[Any]:
        """Do what the last round's data allows and return the next round's requests."""
        self._round += 1
        item = self._part.itemsize
        starts = [item * start for start in self._starts]
        counts = [stop - start for start, stop in pairwise(starts)]
        whole = [as_bytes(self._part), (counts, starts[:-1]), self._byte]
        if self._round == 1:
            length = self._all[0].nbytes
            rows = ([length] * len(self._all), [length * i for i in range(len(self._all))])
            return [self._comm.Ialltoallv(whole, [as_bytes(self._all), rows, self._byte])]
        if self._round == 2:
            reduced = np.empty_like(self._mine)
            kernels.reduce(list(self._all), reduced, self._op)
            self._mine[:] = reduced
            data = as_bytes(reduced)
            return [self._comm.Iallgatherv([data, len(data), self._byte], whole)]
        return []
