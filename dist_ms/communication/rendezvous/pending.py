"""Operations that were started and are not waited for yet: their meeting, their order, their handles."""

from __future__ import annotations

from abc import abstractmethod
from collections import deque
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from dist_ms._ext import board as boards
from dist_ms.communication.comm import Handle, Names
from dist_ms.communication.wire.calls import Calls

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
    """MPI's calls of a collective, begun after those posted before it: MPI matches them by their order.

    Args:
        turns: those that have yet to begin.
        comm: a communicator for these collectives alone.
        calls: what is to be called.
    """

    def __init__(self, turns: deque[InTurn], comm: Any, calls: Calls) -> None:
        self._turns, self._comm, self._calls = turns, comm, calls
        self._requests: list[Any] | None = None
        self._stored = self.agreed = False
        turns.append(self)

    def test(self) -> bool:
        """Drive the collective and return whether it is done."""
        while self._turns and self._turns[0].agreed:
            self._turns.popleft().begin()
        if self._requests is None:
            return False
        while self._requests:
            if not self._requests[0].Test():
                return False
            del self._requests[0]
        if not self._stored:
            self._stored = True
            self._calls.store()
        return True

    def begin(self) -> None:
        """Begin, as it is this one's turn and all ranks have come."""
        self._requests = self._calls.begin(self._comm)


class PostedHandle(Handle):
    """An operation under way.

    Args:
        comm: its group.
        verb: what errors call it.
        number: which of the group's calls it is; None if all ranks have come already.
        array: what this rank gave.
        more: what else must be the same on all ranks.
        names: what lies in the array.
    """

    def __init__(
        self, comm: MeetingComm, verb: str, number: int | None, array: np.ndarray, more: str, names: Names | None
    ) -> None:
        self._comm, self._verb, self._number = comm, verb, number
        self._array, self._more, self._names = array, more, names

    @abstractmethod
    def test(self) -> bool:
        """Drive the operation and return whether it is done."""

    def wait(self) -> None:
        """Wait until the operation is done."""
        self._comm._wait(self.test, self._verb, self._number, self)

    def _part_ways(self) -> None:
        """Raise, as the ranks have entered different operations."""
        self._comm._part_ways(self, self._verb, self._array, self._more, self._names)


class SharedHandle(PostedHandle):
    """An exchange under way.

    Args:
        exchange: it.
        facts: as for PostedHandle.
    """

    def __init__(self, exchange: Any, *facts: Any) -> None:
        super().__init__(*facts)
        self._exchange = exchange

    def test(self) -> bool:
        """Drive the group's exchanges and return whether this one is done."""
        self._comm.check_process(self._verb)
        if self._exchange.advance(0) not in _ENDED:
            self._comm._drive()
        self._check()
        return self._exchange.advance(0) == boards.DONE

    def wait(self) -> None:
        """Wait until the operation is done."""
        comm = self._comm
        comm.check_process(self._verb)
        if comm._queue and comm._queue[0] is self._exchange:
            began = perf_counter()
            self._exchange.advance(SPIN)
            comm._control.spent(comm.name, self._verb, began)
        comm._wait(lambda: comm._over(self._exchange), self._verb, self._number, self)
        self._check()

    def _check(self) -> None:
        """Raise if the ranks have entered different operations."""
        if self._exchange.advance(0) == boards.DIFFER:
            self._part_ways()


class MeetingHandle(PostedHandle):
    """An operation under way between ranks that may yet turn out to have posted other things.

    Args:
        meeting: tells whether all ranks have posted the same.
        under_way: what is driven: a `Carried`, or an `InTurn`.
        facts: as for PostedHandle.
    """

    def __init__(self, meeting: Posted, under_way: Any, *facts: Any) -> None:
        super().__init__(*facts)
        self._meeting, self._under_way = meeting, under_way
        self._done = False

    def test(self) -> bool:
        """Drive the group's operations and return whether this one is done."""
        self._comm.check_process(self._verb)
        if not self._done:
            self._comm._drive()
        if not self._drive():
            self._part_ways()
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
