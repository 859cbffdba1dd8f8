"""Operations that were started and are not waited for yet: their meeting, their order, their handles."""

from __future__ import annotations

from abc import abstractmethod
from collections import deque
from collections.abc import Callable
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from dist_ms._ext import board as boards
from dist_ms.communication.comm import Handle, Names

if TYPE_CHECKING:
    from dist_ms.communication.rendezvous.meeting import MeetingComm

SPIN = 0.0005  # seconds in the kernel before a rank begins to listen
_ENDED = (boards.DONE, boards.DIFFER)


class Posted:
    """A meeting that nobody waits for.

    Args:
        mpi: mpi4py.MPI.
        comm: the communicator on which ranks meet.
        mark: stands for what this rank is about to do.
    """

    def __init__(self, mpi: Any, comm: Any, mark: int) -> None:
        self._mark, self._marks = mark, np.array([mark, ~mark], np.int64)
        self._request = comm.Iallreduce(mpi.IN_PLACE, [self._marks, 2, mpi.INT64_T], mpi.MAX)
        self._met = False

    def state(self) -> int:
        """Return WAITING, DONE or DIFFER, as the board's exchanges do."""
        if not self._met and not self._request.Test():
            return boards.WAITING
        self._met = True
        return boards.DONE if self._marks[0] == ~self._marks[1] else boards.DIFFER


class InTurn:
    """MPI's reductions of an array, begun after those of the arrays before it: MPI matches them by their order.

    Args:
        turns: those that have yet to begin.
        comm: a communicator for these reductions alone.
        mpi: mpi4py.MPI.
        buffers: what `Iallreduce` takes, and the operation, per piece.
        store: called when the result is there.
    """

    def __init__(self, turns: deque[InTurn], comm: Any, mpi: Any, buffers: list, store: Callable[[], None]) -> None:
        self._turns, self._comm, self._mpi, self._buffers, self._store = turns, comm, mpi, buffers, store
        self._requests: list[Any] | None = None
        self.agreed = False
        turns.append(self)

    def test(self) -> bool:
        """Drive the reduction and return whether it is done."""
        while self._turns and self._turns[0].agreed:
            self._turns.popleft().begin()
        if self._requests is None:
            return False
        while self._requests:
            if not self._requests[0].Test():
                return False
            del self._requests[0]
            if not self._requests:
                self._store()
        return True

    def begin(self) -> None:
        """Begin, as it is this one's turn and all ranks have come."""
        self._requests = [self._comm.Iallreduce(self._mpi.IN_PLACE, buffer, op) for buffer, op in self._buffers]


class PostedHandle(Handle):
    """An operation under way.

    Args:
        comm: its group.
        number: which of the group's calls it is; None if all ranks have come already.
        keep: what it reads and writes.
    """

    def __init__(self, comm: MeetingComm, number: int | None, keep: Any) -> None:
        self._comm, self._number, self._keep = comm, number, keep

    @abstractmethod
    def test(self) -> bool:
        """Drive the operation and return whether it is done."""

    def wait(self) -> None:
        """Wait until the operation is done."""
        self._comm._wait(self.test, "all_reduce", self._number, (self, self._keep))


class SharedHandle(PostedHandle):
    """An exchange under way."""

    def __init__(
        self, comm: MeetingComm, number: int | None, exchange: Any, array: np.ndarray, more: str, names: Names | None
    ) -> None:
        super().__init__(comm, number, array)
        self._exchange, self._more, self._names = exchange, more, names

    def test(self) -> bool:
        """Drive the group's exchanges and return whether this one is done."""
        self._comm.check_process("all_reduce")
        if self._exchange.advance(0) not in _ENDED:
            self._comm._drive()
        self._check()
        return self._exchange.advance(0) == boards.DONE

    def wait(self) -> None:
        """Wait until the operation is done."""
        comm = self._comm
        comm.check_process("all_reduce")
        if comm._queue and comm._queue[0] is self._exchange:
            began = perf_counter()
            self._exchange.advance(SPIN)
            comm._control.spent(comm.name, "all_reduce", began)
        comm._wait(lambda: comm._over(self._exchange), "all_reduce", self._number, (self, self._keep))
        self._check()

    def _check(self) -> None:
        """Raise if the ranks have entered different operations."""
        if self._exchange.advance(0) == boards.DIFFER:
            self._comm._part_ways((self, self._keep), "all_reduce", self._keep, self._more, self._names)


class MeetingHandle(PostedHandle):
    """An array under way between ranks that may yet turn out to have posted other things.

    Args:
        comm: the group.
        number: which of the group's calls it is.
        meeting: tells whether all ranks have posted the same.
        under_way: what is driven: a `Carried`, or an `InTurn`.
        array: the array.
        more: what else must be the same.
        names: what lies in the array.
    """

    def __init__(
        self,
        comm: MeetingComm,
        number: int,
        meeting: Posted,
        under_way: Any,
        array: np.ndarray,
        more: str,
        names: Names | None,
    ) -> None:
        super().__init__(comm, number, array)
        self._meeting, self._under_way, self._more, self._names = meeting, under_way, more, names
        self._done = False

    def test(self) -> bool:
        """Drive the group's operations and return whether this one is done."""
        self._comm.check_process("all_reduce")
        if not self._done:
            self._comm._drive()
        if not self._drive():
            self._comm._part_ways((self, self._keep), "all_reduce", self._keep, self._more, self._names)
        return self._done

    def drive(self) -> bool:
        """Drive the operation and return whether it has ended, well or not."""
        return not self._drive() or self._done

    def _drive(self) -> bool:
        """Drive the operation and return False when the ranks have posted other things."""
        if self._done:
            return True
        met = self._meeting.state()
        if met == boards.DIFFER:
            return False
        if isinstance(self._under_way, InTurn):
            self._under_way.agreed = met == boards.DONE
        try:
            arrived = self._under_way.test()
        except self._comm._mpi.Exception:
            if met == boards.DONE:
                raise
            arrived = False  # the ranks' arrays are of other sizes; that will show
        self._done = arrived and met == boards.DONE
        return True
