"""Arrays on their way between machines: each machine reduces a piece, then all get all.

MPI's own nonblocking reductions took twice as long as the wire needs, and stood still while nobody
asked for them. Here every message is so short that MPI hands it to the system at once, without a
handshake, so that the wire is busy while this rank computes. Messages of an array have tags of
their own: arrays may pass each other. Whatever MPI reduces or not travels in its own type; sums
are made in the order of the machines, with 16-bit floats widened and rounded once.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from dist_ms._ext import reduce as kernels
from dist_ms.communication.wire.buffers import as_bytes, pieces

_MESSAGE = 60 << 10  # bytes; MPI libraries send up to 64 KB over TCP without a handshake
_SEGMENT = 4 << 20  # bytes of an array that are handed to the system at a time; two are under way
_NUMBERS = 1 << 13  # arrays that may be under way together; each has tags for two segments' two rounds
_LINE = 64


class Carrier:
    """The way between machines.

    Args:
        mpi: mpi4py.MPI.
        comm: a communicator of one rank of each machine that nothing else uses.
    """

    def __init__(self, mpi: Any, comm: Any) -> None:
        self.mpi, self.comm = mpi, comm
        self.rank, self.size = comm.Get_rank(), comm.Get_size()
        self._number = 0
        self._scratch: list[np.ndarray] = []

    def number(self) -> int:
        """Return the next array's number; ranks number them in the same order."""
        self._number = (self._number + 1) % _NUMBERS
        return self._number

    def take(self, length: int) -> np.ndarray:
        """Return memory of at least so many bytes."""
        for i, found in enumerate(self._scratch):
            if found.nbytes >= length:
                return self._scratch.pop(i)
        return np.empty(length, np.uint8)

    def give_back(self, memory: np.ndarray) -> None:
        """Keep memory for the next array."""
        self._scratch = [*self._scratch[-3:], memory]

    def send(self, data: np.ndarray, rank: int, tag: int) -> Any:
        """Start sending an array; return the request."""
        return self.comm.Isend([as_bytes(data), data.nbytes, self.mpi.BYTE], rank, tag)

    def receive(self, data: np.ndarray, rank: int, tag: int) -> Any:
        """Start receiving an array; return the request."""
        return self.comm.Irecv([as_bytes(data), data.nbytes, self.mpi.BYTE], rank, tag)


class Carried:
    """An array on its way.

    Args:
        carrier: the way.
        number: the array's number.
        array: flat; overwritten with `scale` times the reduction over the machines.
        op: the reduction.
        scale: a factor.
    """

    def __init__(self, carrier: Carrier, number: int, array: np.ndarray, op: str, scale: float = 1.0) -> None:
        self._carrier, self._tag, self._op, self._scale = carrier, 4 * number, op, scale
        self._left = deque(pieces(array, _SEGMENT // array.itemsize)) if carrier.size > 1 else deque()
        self._under_way: deque[Segment] = deque()
        self.test()

    def test(self) -> bool:
        """Drive the array and return whether it has arrived."""
        while True:
            while self._left and len(self._under_way) < 2:
                piece = self._left.popleft()
                self._under_way.append(Segment(self._carrier, self._tag, piece, self._op, self._scale))
                self._tag ^= 2
            if not self._under_way:
                return True
            done = [segment.test() for segment in self._under_way]
            if not done[0]:
                return False
            self._under_way.popleft()


class Segment:
    """As much of an array as is handed to the system at once."""

    def __init__(self, carrier: Carrier, tag: int, array: np.ndarray, op: str, scale: float) -> None:
        self._carrier, self._tag, self._op, self._scale = carrier, tag, op, scale
        rank, size, line = carrier.rank, carrier.size, max(1, _LINE // array.itemsize)
        step = (len(array) + size * line - 1) // (size * line) * line
        self._parts = [array[i * step : (i + 1) * step] for i in range(size)]
        self._mine = self._parts[rank]
        # Everyone begins with its neighbour, so that no machine gets all messages at once.
        self._others = [(rank + i) % size for i in range(1, size)]
        self._cut = _MESSAGE // array.itemsize
        self._memory = carrier.take(self._mine.nbytes * (size - 1))
        rows = self._memory[: self._mine.nbytes * (size - 1)].view(array.dtype).reshape(size - 1, -1)
        self._rows = {other: rows[i] for i, other in enumerate(self._others)}
        self._arriving = deque(
            (
                slice(start, start + self._cut),
                deque(carrier.receive(self._rows[r][start : start + self._cut], r, tag) for r in self._others),
            )
            for start in range(0, len(self._mine), self._cut)
        )
        self._leaving = deque(
            carrier.send(self._parts[r][start : start + self._cut], r, tag)
            for start in range(0, step, self._cut)
            for r in self._others
            if start < len(self._parts[r])
        )
        self._spreading: deque[Any] = deque()
        self._results: deque[Any] | None = None

    def test(self) -> bool:
        """Drive the segment and return whether it has arrived."""
        while self._arriving:
            cut, requests = self._arriving[0]
            if not _all_done(requests):
                return False
            self._arriving.popleft()
            self._reduce(cut)
        if self._results is None:
            # What others have reduced lands where parts of this array may still be read from.
            if not _all_done(self._leaving):
                return False
            self._carrier.give_back(self._memory)
            self._results = deque(
                self._carrier.receive(self._parts[r][start : start + self._cut], r, self._tag + 1)
                for r in self._others
                for start in range(0, len(self._parts[r]), self._cut)
            )
        return _all_done(self._results) and _all_done(self._spreading)

    def _reduce(self, cut: slice) -> None:
        """Reduce a message's worth and send the result to all."""
        mine = self._mine[cut]
        rows = [mine if r == self._carrier.rank else self._rows[r][cut] for r in range(self._carrier.size)]
        kernels.reduce(rows, mine, self._op, self._scale)
        self._spreading.extend(self._carrier.send(mine, r, self._tag + 1) for r in self._others)


def _all_done(requests: deque[Any]) -> bool:
    """Return whether messages have gone or come; forget those that have."""
    while requests:
        if not requests[0].Test():
            return False
        requests.popleft()
    return True
