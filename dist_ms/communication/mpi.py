"""The communicator on MPI. The only file that knows mpi4py, which starts MPI when imported.

Every collective first meets: a tiny polled all-reduce of what each rank is about to do. So a
missing rank is found by the deadline and two ranks in different collectives are found before any
data moves. On one machine the operation itself is then MPI's blocking one, which is up to 2.5
times faster than the nonblocking; between machines it is nonblocking and polled, with a deadline.
"""

from __future__ import annotations

import pickle
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from dist_ms.communication.buffers import (
    TAG_UB,
    as_bytes,
    check_tag,
    mpi_ops,
    mpi_types,
    pieces,
    wide,
    wire_form,
)
from dist_ms.communication.comm import (
    Comm,
    Handle,
    check_array,
    check_parts,
    check_rank,
    check_reducible,
)
from dist_ms.communication.control import Control, caller
from dist_ms.communication.exchange import MpiExchange
from dist_ms.communication.waiting import wait_until

CHUNK_BYTES = 1 << 30  # MPI-3 counts are C ints, and so are some of the libraries' byte counts


def load_mpi() -> Any:
    """Import mpi4py.MPI, which starts MPI, and return the module."""
    import mpi4py

    if "mpi4py.MPI" not in sys.modules:
        mpi4py.rc.finalize = False  # else a forked child would end MPI too, and hang in it
    from mpi4py import MPI

    return MPI


class MpiComm(MpiExchange, Comm):
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
        self._mpi = load_mpi()
        self._comm, self._control, self._seconds = comm, control, seconds
        self.name, self.ranks, self.one_node = name, ranks, one_node
        self.rank, self.size = comm.Get_rank(), comm.Get_size()
        self._broken: str | None = None
        self._types = mpi_types(self._mpi)
        self._ops = mpi_ops(self._mpi)
        control.counts.setdefault(name, 0)

    # ---- the verbs
    def barrier(self) -> None:
        """Wait until every rank is here."""
        self.meet("barrier")

    def broadcast(self, array: np.ndarray, root: int = 0) -> np.ndarray:
        """Overwrite every rank's array with rank `root`'s."""
        check_array("broadcast", array, changed=True)
        check_rank("broadcast", "root", root, self.size)
        data = as_bytes(array)
        self.meet("broadcast", array, f"root {root}")
        for piece in pieces(data, CHUNK_BYTES):
            self._run("broadcast", "Bcast", [piece, len(piece), self._mpi.BYTE], root)
        return array

    def all_reduce(self, array: np.ndarray, op: str = "sum", scale: float = 1.0) -> np.ndarray:
        """Overwrite the array with the reduction over all ranks."""
        check_array("all_reduce", array, changed=True)
        check_reducible("all_reduce", array, op, scale)
        wire, store = wire_form(array, scale)
        self.meet("all_reduce", array, op)
        for buffer, mpi_op in self._reduction(wire, op):
            self._run("all_reduce", "Allreduce", self._mpi.IN_PLACE, buffer, mpi_op)
        store()
        return array

    def post_all_reduce(self, array: np.ndarray, op: str = "sum", scale: float = 1.0) -> Handle:
        """Start an all-reduce; the ranks' arrays must agree, which is not checked."""
        check_array("post_all_reduce", array, changed=True)
        check_reducible("post_all_reduce", array, op, scale)
        number = self._enter("post_all_reduce")
        wire, store = wire_form(array, scale)
        requests = [
            self._comm.Iallreduce(self._mpi.IN_PLACE, buffer, mpi_op) for buffer, mpi_op in self._reduction(wire, op)
        ]
        return MpiHandle(self, number, requests, store, (array, wire))

    def all_gather(self, array: np.ndarray) -> np.ndarray:
        """Return every rank's array, stacked."""
        check_array("all_gather", array, changed=False)
        mine = np.ascontiguousarray(array).reshape(array.shape)
        out = np.empty((self.size, *array.shape), array.dtype)
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
        self.meet("reduce_scatter", array, op)
        out = np.empty((array.shape[0] // self.size, *array.shape[1:]), array.dtype)
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

    def send(self, array: np.ndarray, dest: int, tag: int = 0) -> None:
        """Send an array to rank `dest`."""
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
        check_array("recv", array, changed=True)
        check_rank("recv", "source", source, self.size)
        check_tag("recv", tag)
        data = as_bytes(array)
        for piece in pieces(data, CHUNK_BYTES):
            # A matched probe shows the length first; a receive that is too short is an MPI error.
            status, message = self._mpi.Status(), []

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
        members = tuple(self.ranks[r] for r in ranks)
        self._control.assemble(name, members, self._seconds)
        tag = zlib.crc32(name.encode()) % TAG_UB
        comm = self._comm.Create_group(self._comm.Get_group().Incl(list(ranks)), tag)
        return MpiComm(comm, name, members, self.one_node, self._control, self._seconds)

    def free(self) -> None:
        """Give the MPI communicator back."""
        self._control.counts.pop(self.name, None)
        self.free_exchange()
        self._comm.Free()

    # ---- how they wait
    def _enter(self, verb: str) -> int:
        """Count a collective and return its number."""
        if self._broken is not None:
            raise RuntimeError(f"For '{verb}', group '{self.name}' cannot be used: {self._broken}")
        counts = self._control.counts
        counts[self.name] = number = counts[self.name] + 1
        return number

    def meet(self, verb: str, array: np.ndarray | None = None, more: str = "") -> None:
        """Wait until every rank is here for the same thing."""
        number = self._enter(verb)
        shape = () if array is None else (array.dtype.name, array.size)
        mark = zlib.crc32(repr((verb, shape, more)).encode())
        marks = np.array([mark, -mark])
        request = self._comm.Iallreduce(self._mpi.IN_PLACE, [marks, 2, self._mpi.INT64_T], self._mpi.MAX)
        self._wait(request.Test, verb, number, (request, marks))
        if marks[0] != mark or marks[1] != -mark:
            self._differ(verb, array, more)

    def _differ(self, verb: str, array: np.ndarray | None, more: str) -> None:
        """Raise an error that says what each rank was about to do."""
        what = "" if array is None else f"{array.dtype.name}{list(array.shape)}"
        mine = f"{verb}({', '.join(filter(None, (what, more)))}) at {caller()}".encode()[:200]
        text = np.zeros(200, np.uint8)
        text[: len(mine)] = np.frombuffer(mine, np.uint8)
        texts = np.zeros((self.size, 200), np.uint8)
        byte = self._mpi.BYTE
        request = self._comm.Iallgather([text, 200, byte], [texts, 200, byte])
        self._wait(request.Test, verb, None, (request, text, texts))
        rows = [bytes(row).rstrip(b"\0").decode(errors="replace") for row in texts]
        table = "\n".join(f"  rank {self.ranks[i]}: {row}" for i, row in enumerate(rows))
        raise RuntimeError(f"For '{verb}', every rank of group '{self.name}' must do the same, but got:\n{table}")

    def _run(self, verb: str, call: str, *arguments: Any) -> None:
        """Do an MPI collective that every rank has come to."""
        if self.one_node:
            getattr(self._comm, call)(*arguments)
        else:
            request = getattr(self._comm, "I" + call.lower())(*arguments)
            self._wait(request.Test, verb, None, (request, arguments))

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
        if done():
            return
        control = self._control
        control.where = (self.name, control.counts[self.name], verb)
        needed = self._needed(peer)

        def listen(waited: float) -> None:
            control.listen()
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

        if not wait_until(done, self._seconds, listen):
            self._give_up(keep, f"'{verb}' had timed out")
            raise TimeoutError(self._missing(verb, number, peer))
        control.where = None

    def _needed(self, peer: int | Sequence[int] | None) -> tuple[int, ...]:
        """Return the world ranks that a wait depends on; None stands for the whole group."""
        if peer is None:
            return self.ranks
        return tuple(self.ranks[r] for r in ((peer,) if isinstance(peer, int) else peer))

    def _give_up(self, keep: Any, why: str) -> None:
        """Close the group: MPI still owns the buffers of the operation left behind."""
        self._control.abandoned.append(keep)
        self._broken = why + "."

    def _missing(self, verb: str, number: int | None, peer: int | Sequence[int] | None) -> str:
        """Say who did not come, as far as the others answer."""
        control = self._control
        asked = [r for r in self._needed(peer) if r != control.rank]
        answers = control.roll_call(asked)
        lines = []
        for r in asked:
            counts, where = answers.get(r, ({}, "not answering: it computes, is stopped or lost"))
            if r not in answers or number is None or counts.get(self.name, 0) < number:
                lines.append(f"rank {r} is {where}")
        return (
            f"For '{verb}', rank {control.rank} of {control.size} has waited {self._seconds:g} s "
            f"(DIST_MS_TIMEOUT) in call {control.counts[self.name]} of group '{self.name}', "
            f"at {caller()}; {'; '.join(lines) or 'all ranks have come, but the data has not'}."
        )

    def _reduction(self, wire: np.ndarray, op: str) -> Iterator[tuple[list, Any]]:
        """Cut a flat array into buffers MPI can count."""
        mpi_type, mpi_op = self._types[wire.dtype], self._ops[wire.dtype == np.bool_][op]
        for piece in pieces(wire, CHUNK_BYTES // wire.itemsize):
            yield [piece, len(piece), mpi_type], mpi_op


class MpiHandle(Handle):
    """An all-reduce under way."""

    def __init__(self, comm: MpiComm, number: int, requests: list[Any], store: Callable, keep: Any) -> None:
        self._comm, self._number, self._requests = comm, number, requests
        self._store, self._keep = store, keep

    def test(self) -> bool:
        """Drive the operation and return whether it is done."""
        while self._requests:
            if not self._requests[0].Test():
                return False
            del self._requests[0]
            if not self._requests:
                self._store()
        return True

    def wait(self) -> None:
        """Wait until the operation is done."""
        kept = (self._requests, self._keep)
        self._comm._wait(self.test, "all_reduce", self._number, kept)
