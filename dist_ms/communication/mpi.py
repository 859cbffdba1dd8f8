"""The communicator on MPI: the verbs. The only file that knows mpi4py, which starts MPI when imported.

On one machine collectives go through the memory that its ranks share (shared/). Messages from rank
to rank, and what goes between machines, are MPI's, polled, with a deadline. DIST_MS_ALL_REDUCE=mpi
has MPI do the collectives, too: on one machine by its blocking calls, which are up to 2.5 times
faster than the nonblocking.
"""

from __future__ import annotations

import pickle
import sys
import zlib
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dist_ms.communication.comm import (
    DONE,
    Comm,
    Handle,
    Names,
    check_array,
    check_buffer,
    check_parts,
    check_rank,
    check_reduced,
    check_reducible,
    check_source,
)
from dist_ms.communication.rendezvous.control import Control
from dist_ms.communication.rendezvous.meeting import MeetingComm
from dist_ms.communication.rendezvous.pending import InTurn, Posted
from dist_ms.communication.wire.buffers import TAG_UB, as_bytes, check_tag, pieces
from dist_ms.communication.wire.calls import CHUNK_BYTES, CallMaker, Calls
from dist_ms.communication.wire.exchange import Exchange
from dist_ms.communication.wire.segments import Carried

if TYPE_CHECKING:
    from dist_ms.communication.shared.all_reduce import SharedMemory

SMALL_BYTES = 16 << 10  # up to here MPI reduces between machines itself: a hop less
SCRATCH_BYTES = 4 << 20  # of an ordinary array, reduced at a time between machines; two are under way


def load_mpi() -> Any:
    """Import mpi4py.MPI, which starts MPI, and return the module."""
    import mpi4py

    if "mpi4py.MPI" not in sys.modules:
        mpi4py.rc.finalize = False  # else a forked child would end MPI too, and hang in it
    from mpi4py import MPI

    return MPI


class MpiComm(MeetingComm):
    """A group of ranks on an MPI communicator of its own.

    Args:
        comm: an mpi4py communicator that nothing else uses.
        name: the group's name.
        ranks: the world rank of each member.
        one_node: whether all members share a machine's memory.
        control: this process's control channel.
        seconds: how long a wait may last.
    """

    def __init__(
        self,
        comm: Any,
        name: str,
        ranks: tuple[int, ...],
        one_node: bool,
        control: Control,
        seconds: float,
    ) -> None:
        super().__init__(load_mpi(), comm, name, ranks, control, seconds)
        self.one_node = one_node
        self._exchange = Exchange(self, self._mpi, comm)
        self._calls = CallMaker(self._mpi)
        self._scratch: np.ndarray | None = None
        self._here: Comm | None = None

    @property
    def _moves(self) -> bool:
        """Whether all ranks share memory through which collectives go."""
        return self._shared is not None and self.one_node

    # ---- the verbs
    def barrier(self) -> None:
        """Wait until every rank is here."""
        self.meet("barrier")

    def post_broadcast(
        self, array: np.ndarray, root: int = 0, source: np.ndarray | None = None, wait: bool = False
    ) -> Handle:
        """Start to overwrite every rank's array with rank `root`'s."""
        check_array(array, "broadcast", changed=True)
        check_rank(root, "root", "broadcast", self.size)
        sent = array if source is None else check_source(source, "broadcast", array)

        def calls() -> Calls:
            if self.rank == root and source is not None:
                array[...] = source
            return self._calls.broadcast(array, root)

        def exchange(mark: int) -> Any:
            return self._memory.movement(sent, array, array.nbytes, mark, False, root)

        return self._begin("broadcast", array, f"root {root}", exchange, calls, wait)

    def shared_buffer(self, size: int, dtype: Any) -> np.ndarray:
        """Return a flat array that all_reduce reduces without a copy, where memory is shared."""
        check_buffer(size, dtype, "shared_buffer")
        dtype = np.dtype(dtype)
        self.meet("shared_buffer", None, f"{size} {dtype.name}")
        found = self._shared.take(int(size), dtype, self._all_true) if self._shared is not None and size else None
        return np.empty(size, dtype) if found is None else found

    def beside(self, buffer: np.ndarray) -> list[np.ndarray] | None:
        """Return every rank's array of one shared buffer; None where not all ranks share memory."""
        return self._shared.beside(buffer) if self._shared is not None and self.one_node else None

    def all_reduce(
        self,
        array: np.ndarray,
        op: str = "sum",
        scale: float = 1.0,
        names: Names | None = None,
        source: np.ndarray | None = None,
    ) -> np.ndarray:
        """Overwrite the array with the reduction over all ranks."""
        check_reduced(array, "all_reduce", op, scale)
        if source is not None:
            source = check_source(source, "all_reduce", array)
        shared = self._shared
        if shared is not None and self.one_node:
            number = self._enter("all_reduce")
            mark = self._mark("all_reduce", array, op)
            self._complete(
                shared.reduction(array, op, scale, mark, None, source), "all_reduce", number, array, op, names
            )
            return array
        if source is not None:
            array[...] = source
        self.meet("all_reduce", array, op, names)
        if self._carrier is not None and array.nbytes > SMALL_BYTES:
            carried = Carried(self._carrier, self._carrier.number(), array.reshape(-1), op, scale)
            self._wait(carried.test, "all_reduce", None, (carried, array))
        elif shared is not None and shared.between is not None and array.nbytes > shared.small:
            self._reduce_between(array.reshape(-1), op, scale)
        else:
            self._run("all_reduce", self._calls.all_reduce(array, op, scale))
        return array

    def post_all_reduce(
        self, array: np.ndarray, op: str = "sum", scale: float = 1.0, names: Names | None = None
    ) -> Handle:
        """Start an all-reduce. Between machines the ranks meet for it while the data travels."""
        check_reduced(array, "post_all_reduce", op, scale)
        number = self._enter("post_all_reduce")
        shared = self._shared
        facts = "all_reduce", number, array, op, names
        if self._moves:
            return self._post(self._memory.reduction(array, op, scale, self._mark("all_reduce", array, op)), *facts)
        here = shared is not None and shared.between is not None and shared.shares(array)
        mark = self._mark("post_all_reduce", array, f"{op} {here}")
        meeting = Posted(self._mpi, self._comm, mark)
        if here:
            return self._post(self._memory.reduction(array, op, scale, mark, meeting), *facts)
        if self._carrier is not None:
            under_way: Any = Carried(self._carrier, self._carrier.number(), array.reshape(-1), op, scale)
        else:
            under_way = InTurn(self._turns, self._posted, self._calls.all_reduce(array, op, scale))
        return self._post_meeting(under_way, meeting, *facts)

    def post_all_gather(self, array: np.ndarray, wait: bool = False) -> tuple[np.ndarray, Handle]:
        """Start to gather every rank's array, stacked."""
        check_array(array, "all_gather", changed=False)
        mine = np.ascontiguousarray(array).reshape(array.shape)
        out = np.empty((self.size, *array.shape), array.dtype)

        def exchange(mark: int) -> Any:
            return self._memory.movement(mine, out, mine.nbytes, mark)

        return out, self._begin("all_gather", mine, "", exchange, lambda: self._calls.all_gather(mine, out), wait)

    def post_reduce_scatter(self, array: np.ndarray, op: str = "sum", wait: bool = False) -> tuple[np.ndarray, Handle]:
        """Start to reduce over all ranks this rank's part of the first axis."""
        check_array(array, "reduce_scatter", changed=False)
        check_reducible(array, "reduce_scatter", op)
        check_parts(array, "reduce_scatter", self.size)
        mine = np.ascontiguousarray(array)
        out = np.empty((array.shape[0] // self.size, *array.shape[1:]), array.dtype)

        def exchange(mark: int) -> Any:
            return self._memory.scattering(mine, out, op, mark)

        def calls() -> Calls:
            return self._calls.reduce_scatter(mine, out, op, self.size)

        return out, self._begin("reduce_scatter", mine, op, exchange, calls, wait)

    def post_all_to_all(self, array: np.ndarray, wait: bool = False) -> tuple[np.ndarray, Handle]:
        """Start to send part r of the first axis to rank r."""
        check_array(array, "all_to_all", changed=False)
        check_parts(array, "all_to_all", self.size)
        mine = np.ascontiguousarray(array)
        out = np.empty(array.shape, array.dtype)

        def exchange(mark: int) -> Any:
            return self._memory.movement(mine, out, out.nbytes // self.size, mark, True)

        def calls() -> Calls:
            return self._calls.all_to_all(mine, out, self.size)

        return out, self._begin("all_to_all", mine, "", exchange, calls, wait)

    def send(self, array: np.ndarray, dest: int, tag: int = 0) -> None:
        """Send an array to rank `dest`."""
        self.check_process("send")
        check_array(array, "send", changed=False)
        check_rank(dest, "dest", "send", self.size)
        check_tag(tag, "send")
        data = as_bytes(np.ascontiguousarray(array))
        requests = [
            self._comm.Isend([piece, len(piece), self._mpi.BYTE], dest, tag) for piece in pieces(data, CHUNK_BYTES)
        ]
        self._pair("send", requests, dest, data)

    def recv(self, array: np.ndarray, source: int, tag: int = 0) -> np.ndarray:
        """Overwrite the array with the one that rank `source` sends."""
        self.check_process("recv")
        check_array(array, "recv", changed=True)
        check_rank(source, "source", "recv", self.size)
        check_tag(tag, "recv")
        data = as_bytes(array)
        for piece in pieces(data, CHUNK_BYTES):
            # A matched probe shows the length first; a receive that is too short is an MPI error.
            status, message = self._mpi.Status(), list[Any]()

            def arrived(status: Any = status, message: list = message) -> bool:
                found = self._comm.Improbe(source, tag, status)
                if found is not None:
                    message.append(found)
                return found is not None

            self._wait(arrived, "recv", None, data, source)
            length = status.Get_count(self._mpi.BYTE)
            if length != len(piece):
                got = np.empty(length, np.uint8)
                message[0].Recv([got, length, self._mpi.BYTE])
                raise ValueError(
                    f"For 'recv', 'array' must have as many bytes as rank {source} sends, but got "
                    f"{array.dtype}{list(array.shape)}, where a message of {length} bytes came "
                    f"for {len(piece)}."
                )
            request = message[0].Irecv([piece, len(piece), self._mpi.BYTE])
            self._pair("recv", [request], source, data)
        return array

    def post_exchange(
        self,
        outgoing: Sequence[tuple[int, np.ndarray]],
        incoming: Sequence[tuple[int, np.ndarray]],
        tag: int = 0,
        collective: bool = False,
    ) -> Handle:
        """Start to send arrays to ranks and to receive arrays from ranks."""
        return self._exchange.post(outgoing, incoming, tag, collective)

    def gather_objects(self, value: Any) -> list[Any]:
        """Return every rank's value, in rank order."""
        data = np.frombuffer(pickle.dumps(value), np.uint8)
        lengths = self.all_gather(np.array(len(data)))
        padded = np.zeros(lengths.max(), np.uint8)
        padded[: len(data)] = data
        rows = self.all_gather(padded)
        return [pickle.loads(row[:n].tobytes()) for row, n in zip(rows, lengths, strict=True)]

    def subgroup(self, ranks: list[int], name: str) -> Comm:
        """Return the communicator of some ranks. MPI's call blocks, so the members meet first."""
        self.check_process("create_group")
        members = tuple(self.ranks[r] for r in ranks)
        self._control.assemble(name, members, self._seconds)
        tag = zlib.crc32(name.encode()) % TAG_UB
        comm = self._comm.Create_group(self._comm.Get_group().Incl(list(ranks)), tag)
        group = MpiComm(comm, name, members, self.one_node, self._control, self._seconds)
        if self._nodes:
            group.share([self._nodes[rank] for rank in ranks])
        return group

    def of_this_machine(self) -> Comm:
        """Return the communicator of the ranks on this machine; that of this rank alone without shared memory."""
        if self.one_node:
            return self
        if self._here is None:
            nodes = self._nodes or tuple(range(self.size))
            here = [rank for rank in range(self.size) if nodes[rank] == nodes[self.rank]]
            self._here = self.subgroup(here, f"{self.name}, machine {nodes[self.rank]}")
        return self._here

    def renew(self, comm: Any, control: Control) -> None:
        """Become the communicator of fewer ranks, for all who hold this one. What is under way is left behind.

        Args:
            comm: an mpi4py communicator of them that nothing else uses.
            control: this process's control channel among them.
        """
        control.abandoned_before.append(vars(self).copy())
        self.__init__(comm, self.name, tuple(range(comm.Get_size())), False, control, self._seconds)  # type: ignore[misc]

    def free(self) -> None:
        """Give the MPI communicator back."""
        if self._control.owner.forked:
            return
        self._control.counts.pop(self.name, None)
        if self._here is not None:
            self._here.free()
        self._exchange.free()
        self._scratch = self._here = self._shared = None  # the next group takes its windows, not the garbage collector
        self._leave()
        self._comm.Free()

    # ---- how a collective goes
    def _begin(
        self,
        verb: str,
        array: np.ndarray,
        more: str,
        exchange: Callable[[int], Any],
        calls: Callable[[], Calls],
        wait: bool,
    ) -> Handle:
        """Begin a collective, through the memory that all ranks share or by MPI; with `wait` also end it.

        Args:
            verb: what errors call it.
            array: what must have the same type and size on every rank.
            more: what else must be the same.
            exchange: makes the exchange in shared memory, for a mark.
            calls: makes MPI's calls.
            wait: whether to wait here, which costs less than to post and to wait.
        """
        if self._moves:
            number = self._enter(verb)
            begun = exchange(self._mark(verb, array, more))
            if not wait:
                return self._post(begun, verb, number, array, more, None)
            self._complete(begun, verb, number, array, more, None)
        elif wait:
            self.meet(verb, array, more)
            self._run(verb, calls())
        else:
            verb = f"post_{verb}"
            number = self._enter(verb)
            meeting = Posted(self._mpi, self._comm, self._mark(verb, array, more))
            under_way = InTurn(self._turns, self._posted, calls())
            return self._post_meeting(under_way, meeting, verb, number, array, more, None)
        return DONE

    @property
    def _memory(self) -> SharedMemory:
        """The memory that ranks of this machine share, where there is some."""
        assert self._shared is not None
        return self._shared

    # ---- reductions
    def _reduce_between(self, flat: np.ndarray, op: str, scale: float) -> None:
        """Reduce over several machines: in place where the array is shared, else piece by piece."""
        shared = self._shared
        if shared.shares(flat):
            self._reduce_held(flat, op, scale).wait()
            return
        if self._scratch is None:
            self._scratch = self.shared_buffer(2 * SCRATCH_BYTES, np.uint8)
        under_way: deque[tuple[np.ndarray, np.ndarray, Handle]] = deque()
        for turn, piece in enumerate(pieces(flat, SCRATCH_BYTES // flat.itemsize)):
            if len(under_way) == 2:
                _fetch(under_way.popleft())
            start = turn % 2 * SCRATCH_BYTES
            copy = self._scratch[start : start + piece.nbytes].view(flat.dtype)
            copy[:] = piece
            under_way.append((piece, copy, self._reduce_held(copy, op, scale)))
        while under_way:
            _fetch(under_way.popleft())

    def _reduce_held(self, flat: np.ndarray, op: str, scale: float) -> Handle:
        """Start reducing an array that all ranks have come for."""
        exchange = self._memory.reduction(flat, op, scale, self._mark("all_reduce", flat, op))
        return self._post(exchange, "all_reduce", None, flat, op, None)


def _fetch(done: tuple[np.ndarray, np.ndarray, Handle]) -> None:
    """Wait for a piece and copy it back."""
    piece, copy, handle = done
    handle.wait()
    piece[:] = copy
