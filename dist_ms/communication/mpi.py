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
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from dist_ms.communication.comm import (
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
from dist_ms.communication.rendezvous.pending import InTurn, MeetingHandle, Posted
from dist_ms.communication.wire.buffers import (
    TAG_UB,
    as_bytes,
    check_tag,
    mpi_ops,
    mpi_types,
    pieces,
    wide,
    wire_form,
)
from dist_ms.communication.wire.exchange import Exchange
from dist_ms.communication.wire.segments import Carried

SMALL_BYTES = 16 << 10  # up to here MPI reduces between machines itself: a hop less
CHUNK_BYTES = 1 << 30  # MPI-3 counts are C ints, and so are some of the libraries' byte counts
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
        self._types = mpi_types(self._mpi)
        self._ops = mpi_ops(self._mpi)
        self._scratch: np.ndarray | None = None

    @property
    def _moves(self) -> bool:
        """Whether all ranks share memory through which collectives go."""
        return self._shared is not None and self.one_node

    # ---- the verbs
    def barrier(self) -> None:
        """Wait until every rank is here."""
        self.meet("barrier")

    def broadcast(self, array: np.ndarray, root: int = 0, source: np.ndarray | None = None) -> np.ndarray:
        """Overwrite every rank's array with rank `root`'s."""
        check_array("broadcast", array, changed=True)
        check_rank("broadcast", "root", root, self.size)
        sent = array if source is None else check_source("broadcast", source, array)
        if self._moves:
            move = self._shared.movement
            self._share(
                "broadcast", array, f"root {root}", lambda mark: move(sent, array, array.nbytes, mark, False, root)
            )
            return array
        if self.rank == root and source is not None:
            array[...] = source
        self.meet("broadcast", array, f"root {root}")
        for piece in pieces(as_bytes(array), CHUNK_BYTES):
            self._run("broadcast", "Bcast", [piece, len(piece), self._mpi.BYTE], root)
        return array

    def shared_buffer(self, size: int, dtype: Any) -> np.ndarray:
        """Return a flat array that all_reduce reduces without a copy, where memory is shared."""
        check_buffer("shared_buffer", size, dtype)
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
        check_reduced("all_reduce", array, op, scale)
        if source is not None:
            source = check_source("all_reduce", source, array)
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
            return array
        if shared is not None and shared.between is not None and array.nbytes > shared.small:
            self._reduce_between(array.reshape(-1), op, scale)
            return array
        wire, store = wire_form(array, scale)
        for buffer, mpi_op in self._reduction(wire, op):
            self._run("all_reduce", "Allreduce", self._mpi.IN_PLACE, buffer, mpi_op)
        store()
        return array

    def post_all_reduce(
        self, array: np.ndarray, op: str = "sum", scale: float = 1.0, names: Names | None = None
    ) -> Handle:
        """Start an all-reduce. Between machines the ranks meet for it while the data travels."""
        check_reduced("post_all_reduce", array, op, scale)
        number = self._enter("post_all_reduce")
        shared = self._shared
        if self._moves:
            mark = self._mark("all_reduce", array, op)
            return self._post(shared.reduction(array, op, scale, mark), number, array, op, names)
        here = shared is not None and shared.between is not None and shared.shares(array)
        mark = self._mark("post_all_reduce", array, f"{op} {here}")
        meeting = Posted(self._mpi, self._comm, mark)
        if here:
            return self._post(shared.reduction(array, op, scale, mark, meeting), number, array, op, names)
        if self._carrier is not None:
            under_way: Any = Carried(self._carrier, self._carrier.number(), array.reshape(-1), op, scale)
        else:
            wire, store = wire_form(array, scale)
            under_way = InTurn(self._turns, self._posted, self._mpi, list(self._reduction(wire, op)), store)
        handle = MeetingHandle(self, number, meeting, under_way, array, op, names)
        self._handles.append(handle)
        self._drive()
        return handle

    def all_gather(self, array: np.ndarray) -> np.ndarray:
        """Return every rank's array, stacked."""
        check_array("all_gather", array, changed=False)
        mine = np.ascontiguousarray(array).reshape(array.shape)
        out = np.empty((self.size, *array.shape), array.dtype)
        if self._moves:
            move = self._shared.movement
            self._share("all_gather", array, "", lambda mark: move(mine, out, mine.nbytes, mark))
            return out
        if self.size == 1:
            out[0] = mine
        self.meet("all_gather", array)
        if self.size == 1 or not mine.nbytes:
            return out
        data, columns = as_bytes(mine), as_bytes(out).reshape(self.size, -1)
        step = max(1, CHUNK_BYTES // self.size)
        for start in range(0, len(data), step):
            piece = data[start : start + step]
            whole = len(piece) == len(data)
            got = columns if whole else np.empty((self.size, len(piece)), np.uint8)
            self._run(
                "all_gather",
                "Allgather",
                [piece, len(piece), self._mpi.BYTE],
                [got, len(piece), self._mpi.BYTE],
            )
            if not whole:
                columns[:, start : start + len(piece)] = got
        return out

    def reduce_scatter(self, array: np.ndarray, op: str = "sum") -> np.ndarray:
        """Reduce over all ranks and return this rank's part of the first axis."""
        check_array("reduce_scatter", array, changed=False)
        check_reducible("reduce_scatter", array, op)
        check_parts("reduce_scatter", array, self.size)
        out = np.empty((array.shape[0] // self.size, *array.shape[1:]), array.dtype)
        if self._moves:
            mine = np.ascontiguousarray(array)
            scatter = self._shared.scattering
            self._share("reduce_scatter", array, op, lambda mark: scatter(mine, out, op, mark))
            return out
        self.meet("reduce_scatter", array, op)
        if not out.size:
            return out
        parts = wide(np.ascontiguousarray(array)).reshape(self.size, -1)
        result = np.empty(parts.shape[1], parts.dtype)
        mpi_type, mpi_op = self._types[parts.dtype], self._ops[parts.dtype == np.bool_][op]
        step = max(1, CHUNK_BYTES // parts.itemsize // self.size)
        for start in range(0, len(result), step):
            mine = result[start : start + step]
            all_parts = np.ascontiguousarray(parts[:, start : start + step])
            self._run(
                "reduce_scatter",
                "Reduce_scatter_block",
                [all_parts, mine.size, mpi_type],
                [mine, mine.size, mpi_type],
                mpi_op,
            )
        out.reshape(-1)[:] = result.astype(array.dtype, copy=False)
        return out

    def all_to_all(self, array: np.ndarray) -> np.ndarray:
        """Send part r of the first axis to rank r and return what comes, in rank order."""
        if not self._moves:
            return super().all_to_all(array)
        check_array("all_to_all", array, changed=False)
        check_parts("all_to_all", array, self.size)
        mine = np.ascontiguousarray(array)
        out = np.empty(array.shape, array.dtype)
        move, length = self._shared.movement, out.nbytes // self.size
        self._share("all_to_all", array, "", lambda mark: move(mine, out, length, mark, True))
        return out

    def send(self, array: np.ndarray, dest: int, tag: int = 0) -> None:
        """Send an array to rank `dest`."""
        self.check_process("send")
        check_array("send", array, changed=False)
        check_rank("send", "dest", dest, self.size)
        check_tag("send", tag)
        data = as_bytes(np.ascontiguousarray(array))
        requests = [
            self._comm.Isend([piece, len(piece), self._mpi.BYTE], dest, tag) for piece in pieces(data, CHUNK_BYTES)
        ]
        self._pair("send", requests, dest, data)

    def recv(self, array: np.ndarray, source: int, tag: int = 0) -> np.ndarray:
        """Overwrite the array with the one that rank `source` sends."""
        self.check_process("recv")
        check_array("recv", array, changed=True)
        check_rank("recv", "source", source, self.size)
        check_tag("recv", tag)
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

    def free(self) -> None:
        """Give the MPI communicator back."""
        if self._control.owner.forked:
            return
        self._control.counts.pop(self.name, None)
        self._exchange.free()
        self._scratch = None
        self._leave()
        self._comm.Free()

    # ---- within a machine
    def _share(self, verb: str, array: np.ndarray, more: str, begin: Callable[[int], Any]) -> None:
        """Do a collective through the memory that all ranks share; `begin` makes its exchange."""
        number = self._enter(verb)
        self._complete(begin(self._mark(verb, array, more)), verb, number, array, more, None)

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
        exchange = self._shared.reduction(flat, op, scale, self._mark("all_reduce", flat, op))
        return self._post(exchange, None, flat, op)

    def _reduction(self, wire: np.ndarray, op: str) -> Iterator[tuple[list, Any]]:
        """Cut a flat array into buffers MPI can count."""
        mpi_type, mpi_op = self._types[wire.dtype], self._ops[wire.dtype == np.bool_][op]
        for piece in pieces(wire, CHUNK_BYTES // wire.itemsize):
            yield [piece, len(piece), mpi_type], mpi_op


def _fetch(done: tuple[np.ndarray, np.ndarray, Handle]) -> None:
    """Wait for a piece and copy it back."""
    piece, copy, handle = done
    handle.wait()
    piece[:] = copy
