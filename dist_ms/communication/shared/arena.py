"""Memory that the ranks of one machine share: MPI windows, used again when all have let go.

To free a window is a collective call, which would have to wait for every rank. So windows are
kept to the end of the job, and one whose arrays are gone on every rank serves the next request.
"""

from __future__ import annotations

import os
import weakref
from typing import Any

import numpy as np

_PAGE = 4096
FOLDER = "/dev/shm"  # where MPI libraries keep windows
_SPARE = 16 << 20  # bytes of it that are left to others


class Lease:
    """The right to use a window; arrays made from it keep it."""

    def __init__(self, window: Window) -> None:
        self.window = window
        self.__array_interface__ = {
            "data": (window.address, False),
            "shape": (window.memory.size,),
            "typestr": "|u1",
            "version": 3,
        }


class Window:
    """A piece of shared memory: `stride` bytes for each rank, one after the other."""

    def __init__(self, mpi: Any, comm: Any, stride: int) -> None:
        size = comm.Get_size() * stride
        self._handle = mpi.Win.Allocate_shared(size if comm.Get_rank() == 0 else 0, 1, comm=comm)
        buffer, _ = self._handle.Shared_query(0)
        self.memory = np.frombuffer(buffer, np.uint8, size)
        self.address, self.stride = self.memory.ctypes.data, stride
        self.lease: weakref.ref[Lease] | None = None

    @property
    def free(self) -> bool:
        """Whether no array of this process uses the window."""
        return self.lease is None or self.lease() is None

    def take(self) -> np.ndarray:
        """Return the window's bytes as an array that keeps the window in use."""
        lease = Lease(self)
        self.lease = weakref.ref(lease)
        return np.asarray(lease)


class Arena:
    """The windows of the ranks of one machine.

    Args:
        mpi: mpi4py.MPI.
        comm: a communicator of these ranks that nothing else uses.
    """

    def __init__(self, mpi: Any, comm: Any) -> None:
        self._mpi, self._comm = mpi, comm
        self.rank, self.size = comm.Get_rank(), comm.Get_size()
        self._windows: list[Window] = []

    def take(self, length: int) -> tuple[np.ndarray, int] | None:
        """Return shared memory of at least `length` bytes per rank. All ranks come here together.

        Returns:
            The bytes of all ranks and the distance from one rank's to the next's; None, on all
            ranks, when the machine cannot give so much.
        """
        # A different page offset for each rank, so that streams do not fall into the same cache sets.
        stride = -(-max(length, 1) // _PAGE) * _PAGE + _PAGE // 4
        state = np.array([room(), *(window.free for window in self._windows)], np.int64)
        self._comm.Allreduce(self._mpi.IN_PLACE, state, self._mpi.MIN)
        fitting = [w for w, free in zip(self._windows, state[1:], strict=True) if free and stride <= w.stride]
        if fitting:
            window = min(fitting, key=lambda w: w.stride)
        elif self.size * stride > state[0]:
            return None
        else:
            made = self._allocate(stride)
            if made is None:
                return None
            window = made
        return window.take(), window.stride

    def _allocate(self, stride: int) -> Window | None:
        """Make a window; None, on all ranks, if MPI cannot."""
        window: Window | None = None
        try:
            window = Window(self._mpi, self._comm, stride)
            # The rank that writes a page first has it on its part of the machine.
            window.memory[self.rank * stride : (self.rank + 1) * stride] = 0
        except self._mpi.Exception:
            window = None
        made = np.array([window is not None], np.int64)
        self._comm.Allreduce(self._mpi.IN_PLACE, made, self._mpi.MIN)
        if window is None or not made[0]:
            return None
        self._windows.append(window)
        return window


def room() -> int:
    """Return how many bytes of shared memory the machine has left."""
    try:
        found = os.statvfs(FOLDER)
    except OSError:
        return 1 << 62
    return max(0, found.f_bavail * found.f_frsize - _SPARE)
