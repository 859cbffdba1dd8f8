"""A collective as calls of MPI: what one needs, to be run at once or begun in turn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dist_ms.communication.wire.buffers import as_bytes, mpi_ops, mpi_types, pieces, wide, wire_form

CHUNK_BYTES = 1 << 30  # MPI-3 counts are C ints, and so are some of the libraries' byte counts


@dataclass(frozen=True)
class Calls:
    """The calls of one collective.

    Attributes:
        verb: the blocking call's name.
        arguments: of each call; one moves as much as MPI can count.
        store: to be called when all are over: it writes the result.
    """

    verb: str
    arguments: Sequence[tuple]
    store: Callable[[], object] = lambda: None

    def begin(self, comm: Any) -> list[Any]:
        """Begin all on a communicator and return their requests."""
        call = getattr(comm, "I" + self.verb.lower())
        return [call(*arguments) for arguments in self.arguments]


class CallMaker:
    """Makes the calls of every collective.

    Args:
        mpi: mpi4py.MPI.
    """

    def __init__(self, mpi: Any) -> None:
        self._mpi, self._types, self._ops = mpi, mpi_types(mpi), mpi_ops(mpi)

    def broadcast(self, array: np.ndarray, root: int) -> Calls:
        """The array of rank `root`, into every rank's."""
        parts = pieces(as_bytes(array), CHUNK_BYTES)
        return Calls("Bcast", [(self._bytes(part, part.size), root) for part in parts])

    def all_reduce(self, array: np.ndarray, op: str, scale: float) -> Calls:
        """`scale` times the reduction, into every rank's array."""
        wire, store = wire_form(array, scale)
        mpi_op = self._ops[wire.dtype == np.bool_][op]
        parts = pieces(wire, CHUNK_BYTES // wire.itemsize)
        arguments = [(self._mpi.IN_PLACE, self._numbers(part, part.size), mpi_op) for part in parts]
        return Calls("Allreduce", arguments, store)

    def all_gather(self, mine: np.ndarray, out: np.ndarray) -> Calls:
        """Every rank's `mine`, C-contiguous, into the rows of `out`."""
        return self._by_columns("Allgather", as_bytes(mine)[None], as_bytes(out).reshape(len(out), -1))

    def all_to_all(self, mine: np.ndarray, out: np.ndarray, size: int) -> Calls:
        """Part r of `mine`, C-contiguous, to rank r; what comes into the parts of `out`."""
        return self._by_columns("Alltoall", *(as_bytes(array).reshape(size, -1) for array in (mine, out)))

    def reduce_scatter(self, array: np.ndarray, out: np.ndarray, op: str, size: int) -> Calls:
        """The reduction of part r of every rank's C-contiguous array, into rank r's `out`."""
        parts = wide(array).reshape(size, -1)
        result = np.empty(parts.shape[1], parts.dtype)
        mpi_op = self._ops[parts.dtype == np.bool_][op]
        arguments = []
        step = max(1, CHUNK_BYTES // parts.itemsize // size)
        for start in range(0, len(result), step):
            sent, came = np.ascontiguousarray(parts[:, start : start + step]), result[start : start + step]
            arguments.append((self._numbers(sent, came.size), self._numbers(came, came.size), mpi_op))

        def store() -> None:
            out.reshape(-1)[:] = result.astype(out.dtype, copy=False)

        return Calls("Reduce_scatter_block", arguments, store)

    def _by_columns(self, verb: str, sent: np.ndarray, came: np.ndarray) -> Calls:
        """Move rows of bytes, as many columns at a time as MPI can count."""
        length, step = came.shape[1], max(1, CHUNK_BYTES // len(came))
        if length <= step:
            return Calls(verb, [(self._bytes(sent, length), self._bytes(came, length))] if length else [])
        cuts = [slice(start, min(start + step, length)) for start in range(0, length, step)]
        moved = [np.empty((len(came), cut.stop - cut.start), np.uint8) for cut in cuts]
        arguments = [
            (self._bytes(np.ascontiguousarray(sent[:, cut]), got.shape[1]), self._bytes(got, got.shape[1]))
            for cut, got in zip(cuts, moved, strict=True)
        ]

        def store() -> None:
            for cut, got in zip(cuts, moved, strict=True):
                came[:, cut] = got

        return Calls(verb, arguments, store)

    def _bytes(self, array: np.ndarray, count: int) -> list[Any]:
        """A buffer of bytes; the count is one rank's, where every rank has a part."""
        return [array, count, self._mpi.BYTE]

    def _numbers(self, array: np.ndarray, count: int) -> list[Any]:
        """A buffer of numbers; the count likewise."""
        return [array, count, self._types[array.dtype]]
