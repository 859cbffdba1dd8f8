"""Messages between two ranks on a communicator of their own: what servers and workers talk through.

A message is one array of bytes. Those of a pair of ranks with one tag arrive in the order they
were sent; nothing here blocks, so a server can serve many.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from dist_ms.communication.mpi import load_mpi
from dist_ms.communication.wire.calls import CHUNK_BYTES

ANY = -1


class Mail:
    """One rank's letter box.

    Args:
        comm: an mpi4py communicator that nothing else uses.
        control: this process's control channel.

    Attributes:
        rank: this process's rank.
        size: the number of ranks.
        control: as given.
        sent: bytes sent so far.
        received: bytes received so far.
    """

    def __init__(self, comm: Any, control: Any) -> None:
        self._mpi, self._comm, self.control = load_mpi(), comm, control
        self._any_source, self._any_tag = self._mpi.ANY_SOURCE, self._mpi.ANY_TAG
        self._status = self._mpi.Status()
        self.rank, self.size = comm.Get_rank(), comm.Get_size()
        self._leaving: deque[tuple[Any, np.ndarray]] = deque()
        self._coming: deque[tuple[int, int, Any, np.ndarray]] = deque()
        self.sent = self.received = 0

    def send(self, data: np.ndarray, dest: int, tag: int) -> None:
        """Send bytes without waiting; the array must not be changed any more.

        Raises:
            ValueError: if they are more than MPI can count.
        """
        self.control.owner.check("set_param_ps")
        if len(data) > CHUNK_BYTES:
            raise ValueError(
                f"A message between a worker and a server must have at most {CHUNK_BYTES} bytes, but got {len(data)}: "
                "use more servers."
            )
        self.sent += len(data)
        request = self._comm.Isend([data, len(data), self._mpi.BYTE], dest, tag)
        if not request.Test():
            self._leaving.append((request, data))

    def progress(self) -> bool:
        """Drive what is being sent; return whether all has gone out."""
        leaving = self._leaving
        while leaving and leaving[0][0].Test():
            leaving.popleft()
        return not leaving

    def take(self, source: int = ANY, tag: int = ANY) -> tuple[int, int, np.ndarray] | None:
        """Return the next message as (source, tag, bytes), or None when none is complete.

        Messages that match are received in the order they came in.
        """
        self.control.owner.check("set_param_ps")
        self.progress()
        coming = self._coming
        while True:
            found = self._comm.Improbe(
                self._any_source if source < 0 else source, self._any_tag if tag < 0 else tag, self._status
            )
            if found is None:
                break
            sender, label = self._status.Get_source(), self._status.Get_tag()
            data = np.empty(self._status.Get_count(self._mpi.BYTE), np.uint8)
            request = found.Irecv([data, len(data), self._mpi.BYTE])
            coming.append((sender, label, request, data))
            if len(coming) > 64:
                break
        blocked: set[tuple[int, int]] = set()
        for place, (sender, label, request, data) in enumerate(coming):
            if source not in (ANY, sender) or tag not in (ANY, label) or (sender, label) in blocked:
                continue
            if not request.Test():
                blocked.add((sender, label))
                continue
            del coming[place]
            self.received += len(data)
            return sender, label, data
        return None
