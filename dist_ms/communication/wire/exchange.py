"""Messages between any ranks, all at once: what all-to-all, gather, scatter and neighbours are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dist_ms.communication.comm import Handle, check_array, check_rank
from dist_ms.communication.wire.buffers import as_bytes, check_tag, pieces
from dist_ms.communication.wire.calls import CHUNK_BYTES


class Exchange:
    """The messages of one group.

    Those of collectives travel on a communicator of their own, made when first needed, so that a user's messages of
    the same tag cannot be taken for them.

    Args:
        owner: the group.
        mpi: mpi4py.MPI.
        comm: the group's communicator.
    """

    def __init__(self, owner: Any, mpi: Any, comm: Any) -> None:
        self._owner, self._mpi, self._comm = owner, mpi, comm
        self._private: Any = None
        # A handle that its owner forgets must not free what MPI still reads.
        self._under_way: tuple[ExchangeHandle, ...] = ()

    def post(
        self,
        outgoing: Sequence[tuple[int, np.ndarray]],
        incoming: Sequence[tuple[int, np.ndarray]],
        tag: int,
        collective: bool,
    ) -> Handle:
        """Start to send arrays to ranks and to receive arrays from ranks; see `Comm.post_exchange`."""
        verb = "exchange" if collective else "irecv" if incoming else "isend"
        owner = self._owner
        owner.check_process(verb)
        check_tag(tag, verb)
        for dest, array in outgoing:
            check_array(array, verb, changed=False)
            check_rank(dest, "dest", verb, owner.size)
        for source, array in incoming:
            check_array(array, verb, changed=True)
            check_rank(source, "source", verb, owner.size)
        comm = self._collective_comm() if collective else self._comm
        byte = self._mpi.BYTE
        # Receives first: a message that finds its place is not copied.
        messages = [
            Message(comm.Irecv([piece, len(piece), byte], source, tag), piece, source, True)
            for source, array in incoming
            for piece in pieces(as_bytes(array), CHUNK_BYTES)
        ]
        messages += [
            Message(comm.Isend([piece, len(piece), byte], dest, tag), piece, dest, False)
            for dest, array in outgoing
            for piece in pieces(as_bytes(np.ascontiguousarray(array)), CHUNK_BYTES)
        ]
        handle = ExchangeHandle(owner, self._mpi, verb, messages)
        self._under_way = (*(h for h in self._under_way if not h.drive()), handle)
        return handle

    def free(self) -> None:
        """Give the private communicator back, if there is one."""
        if self._private is not None:
            self._private.Free()
            self._private = None

    def _collective_comm(self) -> Any:
        """Return the private communicator; the first time every rank makes it, having met."""
        if self._private is None:
            self._private = self._comm.Dup()
        return self._private


class Message:
    """One message under way.

    Args:
        request: MPI's request.
        data: the bytes sent, or to be overwritten.
        peer: the other rank.
        received: whether it comes in.
    """

    __slots__ = ("data", "peer", "received", "request")

    def __init__(self, request: Any, data: np.ndarray, peer: int, received: bool) -> None:
        self.request, self.data, self.peer, self.received = request, data, peer, received


class ExchangeHandle(Handle):
    """Messages under way.

    Args:
        owner: their group.
        mpi: mpi4py.MPI.
        verb: what errors call it.
        messages: all of them.
    """

    def __init__(self, owner: Any, mpi: Any, verb: str, messages: list[Message]) -> None:
        self._owner, self._mpi, self._verb, self._messages = owner, mpi, verb, messages
        self._error: ValueError | None = None

    def test(self) -> bool:
        """Drive the messages and return whether all have arrived."""
        done = self.drive()
        if done and self._error is not None:
            raise self._error
        return done

    def drive(self) -> bool:
        """Drive the messages and return whether none is under way; an error waits for the owner to ask."""
        status = self._mpi.Status()
        while self._messages:
            message = self._messages[0]
            try:
                if not message.request.Test(status):
                    return False
                length = status.Get_count(self._mpi.BYTE)
                wrong = message.received and length != len(message.data)
                came = f"{length} bytes"
            except self._mpi.Exception:  # how MPI says that it had to cut it off
                wrong, came = True, "a longer one"
            if wrong:
                self._error = ValueError(self._wrong_length(message, came))
            del self._messages[0]
        return True

    def wait(self) -> None:
        """Wait until all messages have arrived."""
        peers = sorted({m.peer for m in self._messages})
        self._owner._wait(self.test, self._verb, None, list(self._messages), peers)

    def _wrong_length(self, message: Message, came: str) -> str:
        return (
            f"For '{self._verb}', the message from rank {message.peer} must have the {len(message.data)} bytes of the "
            f"array that receives it, but got {came}: both ranks must name the same shape and type."
        )
