"""Memory of which the ranks of a machine have one copy, and each a view that its own writes change for itself alone."""

from __future__ import annotations

import contextlib
import mmap
import os
import tempfile
from collections.abc import Iterable
from typing import Any

import numpy as np

from dist_ms.communication.shared.arena import FOLDER, room

_PAGE = mmap.PAGESIZE
_PRESENT, _SWAPPED, _OF_A_FILE = np.uint64(1 << 63), np.uint64(1 << 62), np.uint64(1 << 61)


class CommonMemory:
    """The bytes of a file without a name, mapped twice.

    Args:
        descriptor: of the file.
        size: its bytes.

    Attributes:
        shared: the one copy: what any rank writes there, all see.
        own: shows `shared`, but where this process has written to it: such pages are its own until it forgets them.

    Examples:
        >>> import tempfile
        >>> from dist_ms.communication.shared.common_memory import CommonMemory
        >>> with tempfile.TemporaryFile() as file:
        ...     _ = file.truncate(8192)
        ...     memory = CommonMemory(file.fileno(), 8192)
        >>> memory.shared[:2] = 1, 2
        >>> memory.own[0] = 7
        >>> memory.own[:2], memory.shared[:2], memory.own_pages()
        (array([7, 2], dtype=uint8), array([1, 2], dtype=uint8), [(0, 4096)])
        >>> memory.forget(memory.own_pages())
        >>> memory.own[:2]
        array([1, 2], dtype=uint8)
    """

    def __init__(self, descriptor: int, size: int) -> None:
        self.shared = np.frombuffer(mmap.mmap(descriptor, size, mmap.MAP_SHARED), np.uint8)
        self._private = mmap.mmap(descriptor, size, mmap.MAP_PRIVATE)
        self.own = np.frombuffer(self._private, np.uint8)
        self._first = self.own.ctypes.data // _PAGE
        self._pages = -(-size // _PAGE)

    def own_pages(self) -> list[tuple[int, int]]:
        """Return from where to where, this process has written to `own`, in bytes; all where Linux does not tell."""
        pages = _told(self._first, self._pages)
        if len(pages) < self._pages:
            return [(0, len(self.own))]
        mine = ((pages & (_PRESENT | _SWAPPED)) != 0) & ((pages & _OF_A_FILE) == 0)
        if not mine.any():
            return []
        edges = np.flatnonzero(np.diff(np.concatenate(([False], mine, [False])))) * _PAGE
        return [(start, min(stop, len(self.own))) for start, stop in edges.reshape(-1, 2).tolist()]

    def forget(self, pages: Iterable[tuple[int, int]]) -> None:
        """Have `own` show `shared` again.

        Args:
            pages: as `own_pages` returned them.
        """
        for start, stop in pages:
            self._private.madvise(mmap.MADV_DONTNEED, start, stop - start)


def _told(first: int, count: int) -> np.ndarray:
    """What Linux tells about pages of this process, a number each; none where it does not."""
    try:
        with open("/proc/self/pagemap", "rb", buffering=0) as file:
            file.seek(8 * first)
            return np.frombuffer(file.read(8 * count), np.uint64)
    except OSError:
        return np.empty(0, np.uint64)


def make(comm: Any, size: int) -> CommonMemory | None:
    """Return memory of so many bytes, zeros; None, on all ranks, where the machine cannot give so much.

    None also where Linux does not tell which pages a process has written to, as then all would count as written.

    Args:
        comm: ranks of one machine; all come here together.
        size: a multiple of the number of ranks.
    """
    descriptor, name = -1, ""
    try:
        if comm.rank == 0:
            with contextlib.suppress(OSError):
                descriptor, name = tempfile.mkstemp(prefix="dist_ms_", dir=FOLDER)
        name = comm.gather_objects(name)[0]
        if comm.rank:
            with contextlib.suppress(OSError):
                descriptor = os.open(name, os.O_RDWR)
        if not all(comm.gather_objects(descriptor >= 0 and size <= room() and len(_told(0, 1)) == 1)):
            return None
        share, given = size // comm.size, False
        with contextlib.suppress(OSError):
            os.posix_fallocate(descriptor, comm.rank * share, share)  # pages are on the part of the machine that asks
            given = True
        return CommonMemory(descriptor, size) if all(comm.gather_objects(given)) else None
    finally:
        if comm.rank == 0 and name:
            os.unlink(name)  # the memory is gone when the last rank is
        if descriptor >= 0:
            os.close(descriptor)
