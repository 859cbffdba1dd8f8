"""How the ranks of a group come together, wait for each other and notice who is missing.

Every collective first meets: each rank shows what it is about to do, on one machine by a flag in
shared memory, else by a tiny polled all-reduce. So a missing rank is found by the deadline and two
ranks in different collectives are found before any data moves.
"""

from __future__ import annotations

import zlib
from collections import Counter, deque
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from dist_ms.communication.comm import Comm, Handle, Names
from dist_ms.communication.end.missing import late
from dist_ms.communication.rendezvous.control import Control, caller
from dist_ms.communication.rendezvous.pending import SPIN, InTurn, MeetingHandle, Posted, SharedHandle
from dist_ms.communication.rendezvous.waiting import wait_until
from dist_ms.communication.wire.segments import Carrier

if TYPE_CHECKING:
    from dist_ms.communication.shared.all_reduce import SharedMemory
    from dist_ms.communication.wire.calls import Calls
    from dist_ms.communication.wire.segments import Carrier

_DONE, _DIFFER = 1, 3  # states of the board's exchanges
_ENDED = (_DONE, _DIFFER)
_TEXT = 400  # bytes of a rank's row in an error


class MeetingComm(Comm):
    """A group on MPI, without its verbs.

    Args:
        mpi: mpi4py.MPI.
        comm: an mpi4py communicator that nothing else uses.
        name: the group's name.
        ranks: the world rank of each member.
        control: this process's control channel.
        seconds: how long a wait may last.
    """

    def __init__(
        self, mpi: Any, comm: Any, name: str, ranks: tuple[int, ...], control: Control, seconds: float
    ) -> None:
        self._mpi, self._comm, self._control, self._seconds = mpi, control.opened(comm), control, seconds
        self.name, self.ranks = name, ranks
        self.rank, self.size = comm.Get_rank(), comm.Get_size()
        self._broken: str | None = None
        self._marks: dict[tuple, int] = {}
        self._nodes: tuple[int, ...] = ()
        self._shared: SharedMemory | None = None
        self._queue: deque[Any] = deque()
        self._handles: list[MeetingHandle] = []
        self._carrier: Carrier | None = None
        self._turns: deque[InTurn] = deque()
        # For what was posted and for errors, so that they meet nothing else; where there is no shared memory.
        self._posted = self._told = comm
        control.counts.setdefault(name, 0)
        control.drivers.append(self._drive)

    @property
    def waited(self) -> float:  # type: ignore[override]
        """Seconds that this process has spent in collectives of all groups."""
        return self._control.waited

    def share(self, nodes: Sequence[int]) -> None:
        """Open the memory that ranks on a machine share. All ranks come here together.

        Args:
            nodes: each rank's machine.
        """
        self._nodes = tuple(nodes)
        self.one_node = len(set(nodes)) == 1
        parts = min(Counter(nodes).values())
        if self.size == 1:
            return
        from dist_ms.communication.shared.all_reduce import chosen_all_reduce, share
        from dist_ms.communication.shared.arena import Arena
        from dist_ms.communication.wire.machine_reduction import Between

        opened, own = self._control.opened, self._all_true(chosen_all_reduce() == "shared")
        if not own or not self.one_node:
            self._posted, self._told = opened(self._comm.Dup()), opened(self._comm.Dup())
        if not own:
            return
        if max(Counter(nodes).values()) == 1:  # nobody to share with
            self._carrier = Carrier(self._mpi, opened(self._comm.Dup()))
            return
        here = [rank for rank in range(self.size) if nodes[rank] == nodes[self.rank]]
        place, members = here.index(self.rank), tuple(self.ranks[rank] for rank in here)
        local = opened(self._comm.Split(nodes[self.rank], self.rank))
        between = None
        if not self.one_node:
            across = opened(self._comm.Split(place if place < parts else self._mpi.UNDEFINED, self.rank))
            between = Between(self._mpi, None if across == self._mpi.COMM_NULL else across, parts)
        arenas = self._control.arenas
        if members in arenas:
            local.Free()
        else:
            arenas[members] = Arena(self._mpi, local)
        self._shared = share(arenas[members], between, self._all_true)

    def _all_true(self, value: bool) -> bool:
        """Return whether all ranks say True; they have met already."""
        flag = np.array([value], np.int64)
        self._comm.Allreduce(self._mpi.IN_PLACE, [flag, 1, self._mpi.INT64_T], self._mpi.MIN)
        return bool(flag[0])

    def _leave(self) -> None:
        """Give the shared memory back."""
        if self._shared is not None and self._shared.between is not None:
            self._shared.between.free()
        self._shared = None
        if self._carrier is not None:
            self._carrier.comm.Free()
            self._carrier = None
        if self._posted is not self._comm:
            self._posted.Free()
            self._told.Free()
        self._control.drivers.remove(self._drive)

    def check_process(self, verb: str) -> None:
        """Raise in a process that was forked from a rank."""
        self._control.owner.check(verb)

    def _enter(self, verb: str) -> int:
        """Count a collective and return its number."""
        self.check_process(verb)
        if self._broken is not None:
            raise RuntimeError(f"For '{verb}', group '{self.name}' cannot be used: {self._broken}")
        counts = self._control.counts
        counts[self.name] = number = counts[self.name] + 1
        return number

    def meet(self, verb: str, array: np.ndarray | None = None, more: str = "", names: Names | None = None) -> None:
        """Wait until every rank is here for the same thing."""
        number = self._enter(verb)
        mark = self._mark(verb, array, more)
        if self._shared is not None and self.one_node:
            self._complete(self._shared.meeting(mark), verb, number, array, more, names)
            return
        meeting = Posted(self._mpi, self._comm, mark)
        self._wait(lambda: meeting.state() in _ENDED, verb, number, meeting)
        if meeting.state() == _DIFFER:
            self._differ(verb, array, more, names)

    def _mark(self, verb: str, array: np.ndarray | None, more: str) -> int:
        """Return a number that stands for what this rank is about to do."""
        key = (verb, None if array is None else (array.dtype, array.size), more)
        mark = self._marks.get(key)
        if mark is None:
            if len(self._marks) > 1000:
                self._marks.clear()
            shape = () if array is None else (array.dtype.name, array.size)
            self._marks[key] = mark = zlib.crc32(repr((verb, shape, more)).encode())
        return mark

    def _complete(
        self,
        exchange: Any,
        verb: str,
        number: int | None,
        array: np.ndarray | None,
        more: str,
        names: Names | None,
    ) -> None:
        """Drive an exchange to its end, after those begun before it."""
        began = perf_counter()
        state = 0 if self._queue else exchange.advance(SPIN)
        self._control.spent(self.name, verb, began)
        if state == _DONE:
            return
        if not state:
            self._queue.append(exchange)
            self._wait(lambda: self._over(exchange), verb, number, (exchange, array))
            state = exchange.advance(0)
            self._drive()  # what is over leaves the queue, and its memory is free
        if state == _DIFFER:
            self._differ(verb, array, more, names)

    def _post(
        self, exchange: Any, verb: str, number: int | None, array: np.ndarray, more: str, names: Names | None
    ) -> Handle:
        """Begin an exchange and return at once."""
        self._queue.append(exchange)
        self._drive()
        return SharedHandle(exchange, self, verb, number, array, more, names)

    def _post_meeting(
        self, under_way: Any, meeting: Posted, verb: str, number: int, array: np.ndarray, more: str, names: Names | None
    ) -> Handle:
        """Begin what ranks of several machines may yet not have agreed on, and return at once."""
        handle = MeetingHandle(meeting, under_way, self, verb, number, array, more, names)
        self._handles.append(handle)
        self._drive()
        return handle

    def _over(self, exchange: Any) -> bool:
        """Drive what is under way and return whether an exchange has ended, well or not."""
        self._drive()
        return exchange.advance(SPIN, True) in _ENDED

    def _drive(self) -> None:
        """Drive all that is under way in this group, in the order it was begun."""
        queue = self._queue
        for exchange in tuple(queue):
            if exchange.advance(0) in _ENDED and exchange is queue[0]:
                queue.popleft()
        if self._handles:
            self._handles = [handle for handle in self._handles if not handle.drive()]

    def _part_ways(self, keep: Any, verb: str, array: np.ndarray | None, more: str, names: Names | None) -> None:
        """Raise an error that says what each rank has posted."""
        if not self.one_node or self._shared is None:  # what was posted after it cannot be called back
            self._give_up(keep, "the ranks had posted different operations")
        self._differ(verb, array, more, names)

    def _differ(self, verb: str, array: np.ndarray | None, more: str, names: Names | None) -> None:
        """Raise an error that says what each rank was about to do."""
        what = "" if array is None else f"{array.dtype.name}{list(array.shape)}"
        inside = f" of {_shortened(names())}" if names is not None else ""
        mine = f"{verb}({', '.join(filter(None, (what, more)))}){inside} at {caller()}".encode()[:_TEXT]
        text = np.zeros(_TEXT, np.uint8)
        text[: len(mine)] = np.frombuffer(mine, np.uint8)
        texts = np.zeros((self.size, _TEXT), np.uint8)
        byte = self._mpi.BYTE
        request = self._told.Iallgather([text, _TEXT, byte], [texts, _TEXT, byte])
        self._wait(request.Test, verb, None, (request, text, texts))
        rows = [bytes(row).rstrip(b"\0").decode(errors="replace") for row in texts]
        table = "\n".join(f"  rank {self.ranks[i]}: {row}" for i, row in enumerate(rows))
        raise RuntimeError(f"For '{verb}', every rank of group '{self.name}' must do the same, but got:\n{table}")

    def _run(self, verb: str, calls: Calls) -> None:
        """Do an MPI collective that every rank has come to."""
        if self.one_node:
            call = getattr(self._comm, calls.verb)
            for arguments in calls.arguments:
                call(*arguments)
        else:
            for request in calls.begin(self._comm):
                self._wait(request.Test, verb, None, (request, calls))
        calls.store()

    def _pair(self, verb: str, requests: list[Any], peer: int, keep: Any) -> None:
        """Wait for the messages between this rank and another."""
        for request in requests:
            self._wait(request.Test, verb, None, (requests, keep), peer)

    def _wait(
        self,
        done: Callable[[], bool],
        verb: str,
        number: int | None,
        keep: Any,
        peer: int | Sequence[int] | None = None,
    ) -> None:
        """Wait for `done`; raise when the time runs out or a rank that is needed has ended."""
        control = self._control
        try:
            if done():
                return
        except Exception as error:
            self._look_for_the_dead(keep, verb, error)
            raise

        def poll() -> bool:
            for drive in control.drivers:  # others may wait for this rank in another group
                drive()
            return done()

        control.where = (self.name, control.counts[self.name], verb)

        needed = self._needed(peer)

        def listen(waited: float) -> None:
            control.listen()
            try:
                control.check_heartbeats(f"For '{verb}', rank {control.rank} of {control.size} waits at {caller()}")
            except TimeoutError:
                self._give_up(keep, "a rank had fallen silent")
                raise
            for r in needed:
                if r not in control.left or done():
                    continue
                # What it sent before it ended may still be on its way.
                late = waited > 5 if number is None else control.left[r].get(self.name, 0) < number
                if late:
                    self._give_up(keep, f"rank {r} had ended")
                    raise RuntimeError(
                        f"For '{verb}', rank {control.rank} of {control.size} waits for rank {r}, "
                        f"which has ended (call {control.counts[self.name]} of group "
                        f"'{self.name}', at {caller()})."
                    )

        began = perf_counter()
        try:
            came = wait_until(poll, self._seconds, listen)
        except Exception as error:
            self._look_for_the_dead(keep, verb, error)
            raise
        control.spent(self.name, verb, began)
        if not came:
            self._give_up(keep, f"'{verb}' had timed out")
            raise self._missing(verb, number, peer)
        control.where = None

    def _look_for_the_dead(self, keep: Any, verb: str, error: Exception) -> None:
        """Raise RankFailedError where an error of MPI's means that; MPI may still write to what was under way."""
        survivors = self._control.survivors
        if survivors is None:
            return
        self._control.abandoned.append(keep)
        with survivors.noticing(f"For '{verb}', rank {self._control.rank} cannot go on at {caller()}"):
            raise error

    def _needed(self, peer: int | Sequence[int] | None) -> tuple[int, ...]:
        """Return the world ranks that a wait depends on; None stands for the whole group."""
        if peer is None:
            return self.ranks
        return tuple(self.ranks[r] for r in ((peer,) if isinstance(peer, int) else peer))

    def _give_up(self, keep: Any, why: str) -> None:
        """Close the group: MPI still owns the buffers of the operation left behind."""
        self._control.abandoned.append(keep)
        self._broken = why + "."

    def _missing(self, verb: str, number: int | None, peer: int | Sequence[int] | None) -> TimeoutError:
        """Return the error that says who did not come, as far as the others answer."""
        control = self._control
        asked = [r for r in self._needed(peer) if r != control.rank]
        answers = control.roll_call(asked)
        lines = []
        silent = [control.missing(r) for r in asked if r not in answers]
        lines += [f"rank {one.rank} is not answering: it {one.doing} (on {one.host})" for one in silent]
        for r, (counts, where) in answers.items():
            if number is None or counts.get(self.name, 0) < number:
                lines.append(f"rank {r} is {where}")
        text = (
            f"For '{verb}', rank {control.rank} of {control.size} has waited {self._seconds:g} s "
            f"(DIST_MS_TIMEOUT) in call {control.counts[self.name]} of group '{self.name}', "
            f"at {caller()}; {'; '.join(lines) or 'all ranks have come, but the data has not'}."
        )
        return late(text, silent[0] if silent else None)


def _shortened(names: Sequence[str]) -> str:
    """Name the first few."""
    more = len(names) - 3
    return ", ".join(names[:3]) + (f" and {more} more" if more > 0 else "")
