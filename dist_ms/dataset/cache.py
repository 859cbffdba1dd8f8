"""DatasetCache: rows made once and kept in memory that the ranks and workers of a machine share.

The memory has no name in any file system: others open it through the process that made it, so nothing is left of it.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import pickle
import struct
import threading
import time
import weakref
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dist_ms.common.checks import check_bool, check_int_range, check_non_negative_int, complaint
from dist_ms.communication import current
from dist_ms.dataset.draws import without_randomness
from dist_ms.dataset.execution.segments import Placed, placed, written

__all__ = ["CacheStatistics", "DatasetCache"]

_ENTRY = struct.Struct("<QQ")  # of a row: where it lies, and how long it is; 0, 0 where it was not kept yet
_HEAD = 4096  # bytes before the entries: how many there are, and where the rows end
_WAIT = 10.0  # seconds that a rank waits for the first one of its machine to make the memory
_made: Counter = Counter()  # caches of each session, in the order in which all ranks make them


class CacheStatistics(NamedTuple):
    """How full a cache is.

    Attributes:
        avg_cache_sz: bytes of a row, on average.
        num_mem_cached: rows in memory.
        num_disk_cached: 0: no rows are written to disk.
    """

    avg_cache_sz: int
    num_mem_cached: int
    num_disk_cached: int


class DatasetCache:
    """Rows of a source, or of `map`, kept after they were made once, for all epochs, workers and ranks of the machine.

    Give it as `cache` to a source that reads files, or to a `map` whose operations draw no random numbers. Unlike
    MindSpore's it needs no server: the memory belongs to the first rank of the machine.

    Args:
        session_id: a number that tells caches apart.
        size: megabytes at most; 0 for half of the machine's memory. Rows that do not fit are made each time.
        spilling: must be False: rows that do not fit are made each time.
        hostname, port, num_connections, prefetch_size: of MindSpore's server; accepted.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if one is out of range.

    Examples:
        >>> import dist_ms.dataset as ds
        >>> made = []
        >>> data = ds.NumpySlicesDataset([1, 2], shuffle=False)
        >>> data = data.map(lambda x: made.append(int(x)) or x * 10, cache=ds.DatasetCache(1), num_parallel_workers=1)
        >>> for epoch in range(2):
        ...     print([int(x) for (x,) in data.create_tuple_iterator(num_epochs=1, output_numpy=True)], made)
        [10, 20] [1, 2]
        [10, 20] [1, 2]
    """

    def __init__(
        self,
        session_id: int,
        size: int = 0,
        spilling: bool = False,
        hostname: str | None = None,
        port: int | None = None,
        num_connections: int | None = None,
        prefetch_size: int | None = None,
    ) -> None:
        check_int_range(session_id, "session_id", "DatasetCache", 0, 2**32 - 1)
        check_non_negative_int(size, "size", "DatasetCache")
        if check_bool(spilling, "spilling", "DatasetCache"):
            raise ValueError(complaint("spilling", "DatasetCache", "False: no rows are written to disk", True))
        whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
        self.size = min(size << 20, whole) if size else whole
        name = f"dist_ms cache {session_id}.{_made[session_id]}"
        _made[session_id] += 1
        self._place = _found(name)
        if self._place is None:
            descriptor = os.memfd_create(name)
            self._place = os.getpid(), descriptor
            weakref.finalize(self, os.close, descriptor)
        self._memory: mmap.mmap | None = None
        self._lock = threading.Lock()

    def __getstate__(self) -> dict:
        return self.__dict__ | {"_memory": None, "_lock": None}  # another process opens the memory itself

    def __setstate__(self, state: dict) -> None:
        self.__dict__.update(state, _lock=threading.Lock())

    def row(self, number: int, count: int, make: Callable[[], tuple]) -> tuple:
        """A row from the cache, or made, and kept if there is room.

        Args:
            number: of the row.
            count: how many rows there are.
            make: makes it.

        Raises:
            RuntimeError: if `make` draws random numbers.
        """
        memory = self._opened(count)
        start, length = _ENTRY.unpack_from(memory, _HEAD + _ENTRY.size * number)
        if length:
            return _unpacked(memory, start)
        with without_randomness():
            row = make()
        self._keep(memory, number, row)
        return row

    def get_stat(self) -> CacheStatistics:
        """How full the cache is.

        Examples:
            >>> import dist_ms.dataset as ds
            >>> cache = ds.DatasetCache(1)
            >>> data = ds.NumpySlicesDataset([1, 2], shuffle=False).map(lambda x: x * 2, cache=cache)
            >>> _ = list(data)
            >>> cache.get_stat().num_mem_cached
            2
        """
        if self._place is None:
            return CacheStatistics(0, 0, 0)
        with self._lock, open("/proc/{}/fd/{}".format(*self._place), "rb") as file:
            beginning = os.pread(file.fileno(), _ENTRY.size, 0)
            if not beginning:
                return CacheStatistics(0, 0, 0)
            (count, _) = _ENTRY.unpack(beginning)
            entries = os.pread(file.fileno(), _ENTRY.size * count, _HEAD)
        sizes = [length for _, length in _ENTRY.iter_unpack(entries) if length]
        return CacheStatistics(sum(sizes) // max(len(sizes), 1), len(sizes), 0)

    def _opened(self, count: int) -> mmap.mmap:
        """The memory, laid out for so many rows by the first who opens it."""
        with self._lock:
            if self._memory is None:
                pid, descriptor = self._place
                with open(f"/proc/{pid}/fd/{descriptor}", "r+b") as file:
                    fcntl.lockf(file, fcntl.LOCK_EX)
                    begin = _HEAD + _ENTRY.size * count
                    if os.fstat(file.fileno()).st_size == 0:
                        os.ftruncate(file.fileno(), begin + self.size)
                        os.pwrite(file.fileno(), _ENTRY.pack(count, -(-begin // 64) * 64), 0)
                    self._memory = mmap.mmap(file.fileno(), 0)
            found = _ENTRY.unpack_from(self._memory, 0)[0]
            if found != count:
                raise RuntimeError(
                    f"For 'DatasetCache', one cache must serve one stage, but a stage of {found} rows uses it and "
                    f"another of {count}: make a cache for each."
                )
            return self._memory

    def _keep(self, memory: mmap.mmap, number: int, row: tuple) -> None:
        columns, end = placed(row)
        head = pickle.dumps(columns, protocol=5)
        begin = -(-(8 + len(head)) // 64) * 64
        pid, descriptor = self._place
        with self._lock, open(f"/proc/{pid}/fd/{descriptor}", "r+b") as file:
            fcntl.lockf(file, fcntl.LOCK_EX)
            count, start = _ENTRY.unpack_from(memory, 0)
            if start + begin + end > len(memory):
                return
            _ENTRY.pack_into(memory, 0, count, -(-(start + begin + end) // 64) * 64)
        memory[start : start + 8 + len(head)] = struct.pack("<Q", len(head)) + head
        written(row, columns, np.frombuffer(memory, np.uint8)[start + begin :])
        # Last, so that nobody finds a row that is not whole.
        _ENTRY.pack_into(memory, _HEAD + _ENTRY.size * number, start, begin + end)


def _unpacked(memory: mmap.mmap, start: int) -> tuple:
    """The row at a place; its arrays may be read, not written."""
    (length,) = struct.unpack_from("<Q", memory, start)
    columns = pickle.loads(memory[start + 8 : start + 8 + length])
    whole = np.frombuffer(memory, np.uint8)[start + -(-(8 + length) // 64) * 64 :]
    whole.flags.writeable = False
    return tuple(c.array(whole) if isinstance(c, Placed) else c for c in columns)


def _found(name: str) -> tuple[int, int] | None:
    """The process and descriptor of a memory that the first rank of this machine made; None on that rank."""
    world = current()
    if world is None or world.comm.size == 1:
        return None
    rank = world.comm.rank
    first = world.nodes.index(world.nodes[rank])
    if first == rank:
        return None
    pid = world.processes[first]
    deadline = time.monotonic() + _WAIT
    while time.monotonic() < deadline:
        try:
            for descriptor in os.listdir(f"/proc/{pid}/fd"):
                if os.readlink(f"/proc/{pid}/fd/{descriptor}").startswith(f"/memfd:{name} "):
                    return pid, int(descriptor)
        except OSError:
            pass
        time.sleep(0.02)
    raise RuntimeError(
        f"[rank {rank} of {world.comm.size}] For 'DatasetCache', rank {first} must make the same caches in the same "
        f"order, but after {_WAIT:g} s it has no {name!r}. Make caches on all ranks."
    )


def check_cache(value: Any, owner: str) -> DatasetCache | None:
    """A DatasetCache or None.

    Raises:
        TypeError: if it is neither.
    """
    if value is not None and not isinstance(value, DatasetCache):
        raise TypeError(complaint("cache", owner, "a DatasetCache", type(value).__name__))
    return value
