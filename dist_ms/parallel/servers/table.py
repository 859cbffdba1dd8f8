"""A table on the servers as its worker sees it: rows pulled and pushed, never the whole."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dist_ms.common.parameter import Parameter
from dist_ms.common.random import seed as seeds
from dist_ms.common.tensor.sparse_tensor import RowTensor
from dist_ms.parallel.servers.cache import RowCache
from dist_ms.parallel.servers.messages import Kind, pack
from dist_ms.parallel.servers.partition import RowPartition, rows_in_words

WHOLE_BYTES = 256 << 20  # a table that is read as one array may have so many bytes
_UNCHECKED = 8  # updates that a row may be old, where there is no bound, before it is asked for again
_CHUNK = 16 << 20  # bytes of values that travel at once when a table is filled or read


class StateElsewhere:
    """The storage of an optimizer's state of a table on servers: its parameter has a shape and a type, and no values.

    Args:
        parameter: the state.
    """

    saved_by_servers = True

    def __init__(self, parameter: Parameter) -> None:
        self.refusal = (
            f"The parameter '{parameter.name}' of shape {parameter.shape} is the state of a table on parameter "
            "servers, and a worker has no values of it: dist_ms.parallel.save_servers saves them."
        )

    def fetch(self) -> np.ndarray:
        """Refuse: the values are on the servers.

        Raises:
            RuntimeError: always.
        """
        raise RuntimeError(self.refusal)

    def store(self, array: np.ndarray) -> None:
        """Refuse: the values are on the servers.

        Raises:
            RuntimeError: always.
        """
        raise RuntimeError(self.refusal)


class TableLink:
    """A worker's end of one table, and the storage of its parameter, which has a shape and a type, and no array.

    Args:
        client: the line to the servers.
        parameter: the table; this becomes its storage.

    Attributes:
        clock: how often this worker has pushed.
        cache: rows that are kept here, or None.
    """

    def __init__(self, client: Any, parameter: Parameter) -> None:
        self.client, self.parameter = client, parameter
        self.name, self.shape, self.dtype = parameter.name, tuple(parameter.shape), np.dtype(parameter.dtype.np)
        self.staleness, self.wire = parameter.staleness, np.dtype(parameter.wire or self.dtype)
        self.partition = RowPartition(self.shape[0], client.servers, parameter.partition)
        self.clock = 0
        self.cache: RowCache | None = None
        if parameter.cached_rows:
            self.cache = RowCache(min(parameter.cached_rows, self.shape[0]), self.shape[1], self.dtype)
        self._ahead: tuple[np.ndarray, list[int]] | None = None
        self._uses = 0
        self._hold()

    @property
    def nbytes(self) -> int:
        """The bytes of the whole table."""
        return math.prod(self.shape) * self.dtype.itemsize

    @property
    def saved_by_servers(self) -> bool:
        """Whether the table is too large for a worker."""
        return self.nbytes > WHOLE_BYTES

    def _hold(self) -> None:
        """Have the servers make the table, or fill it with worker 0's values."""
        p, client = self.parameter, self.client
        check_held(client, p)
        values, init = p._data, p.init
        spec = {
            "name": self.name,
            "what": "table",
            "generation": client.holdings.generation(self.name),
            "shape": self.shape,
            "dtype": self.dtype.str,
            "staleness": self.staleness,
            "partition": self.partition.how,
        }
        seed = seeds.get_seed()
        extra = {
            "init": None if values is not None else init,
            "seed": seeds.next_key() % 2**32 if seed is None else seed,
        }
        self.units = client.ask_all(
            Kind.HOLD, [0] * client.servers, [(spec, extra)] * client.servers, f"Holding '{self.name}'"
        )
        client.holdings.add(p, {self.name: self.shape}, self.units)
        p._shape, p._dtype = self.shape, self.dtype
        p._data = p.init = p.init_mode = None
        p.storage = self
        if values is not None and client.worker == 0:
            self.store(values)

    def held_by(self, server: int) -> str:
        """Say what a server holds."""
        return rows_in_words(self.name, self.shape, self.dtype, self.partition.count(server))

    # ---- checks: a wrong request ends the worker that made it, not the server
    def _check_rows(self, ids: np.ndarray) -> None:
        """Require ascending row numbers inside the table."""
        if len(ids) and not (ids[0] >= 0 and ids[-1] < self.shape[0]):
            outside = ids[0] if ids[0] < 0 else ids[-1]
            raise IndexError(
                f"[worker {self.client.worker} of {self.client.workers}] For '{self.name}', which is on parameter "
                f"servers, row numbers must be in [0, {self.shape[0] - 1}], but got {outside}."
            )

    def _check_values(self, values: np.ndarray, shape: tuple[int, ...]) -> None:
        """Require the values of a gradient to be floats and of the table's shape."""
        start = f"[worker {self.client.worker} of {self.client.workers}] For '{self.name}', which is on parameter "
        if values.shape != shape:
            raise ValueError(f"{start}servers, a gradient must have shape {shape}, but got {values.shape}.")
        if values.dtype not in (np.float32, np.float64, np.float16):
            raise TypeError(
                f"{start}servers, a gradient must be Float32, Float64 or Float16, but got "
                f"{values.dtype.name}; cast it first."
            )

    # ---- rows
    def ask(self, ids: np.ndarray, versions: np.ndarray | None = None) -> list[int]:
        """Ask for rows; the answers are read by `read`, or `read_changes` where the versions held are given."""
        tags = []
        for server, (places, local) in enumerate(self.partition.split(ids)):
            tag = self.client.tag()
            known = np.empty(0, np.int32) if versions is None else versions[places]
            data, room, body = pack(
                Kind.PULL, self.units[server], self.clock, tag, len(local), len(known), np.int32, self.wire
            )
            room[:], body[:] = local, known
            self.client.post(server, data)
            tags.append(tag)
        return tags

    def read(self, ids: np.ndarray, tags: list[int]) -> tuple[np.ndarray, int]:
        """Wait for rows that were asked for; return them and the version that they all show at least."""
        rows, versions = np.empty((len(ids), self.shape[1]), self.dtype), []
        for server, (places, _) in enumerate(self.partition.split(ids)):
            message = self.client.answer(server, tags[server], f"Pulling rows of '{self.name}'")
            rows[places] = message.values.reshape(-1, self.shape[1])
            versions.append(message.clock)
        return rows, min(versions)

    def _read_changes(self, ids: np.ndarray, rows: np.ndarray, tags: list[int]) -> int:
        """Write rows that changed over those held; return the version."""
        versions = []
        for server, (places, local) in enumerate(self.partition.split(ids)):
            message = self.client.answer(server, tags[server], f"Pulling rows of '{self.name}'")
            at = message.ids if isinstance(places, slice) else places[message.ids]
            if len(local):
                rows[at] = message.values.reshape(-1, self.shape[1])
            versions.append(message.clock)
        return min(versions)

    def pull(self, ids: np.ndarray) -> np.ndarray:
        """Return rows.

        Args:
            ids: sorted int64 row numbers in [0, rows), each once.

        Returns:
            (len(ids), columns).

        Raises:
            IndexError: if a row number is out of range.
        """
        self._check_rows(ids)
        if self.cache is None:
            return self.read(ids, self.ask(ids))[0]
        self._absorb()
        cache = self.cache
        self._uses += 1
        slots = cache.find(ids)
        held = slots >= 0
        cache.hits, cache.misses = cache.hits + int(held.sum()), cache.misses + int((~held).sum())
        versions = np.where(held, cache.version[slots], -1).astype(np.int32)
        rows = np.empty((len(ids), self.shape[1]), self.dtype)
        rows[held] = cache.rows[slots[held]]
        cache.touch(slots[held], self._uses)
        # A row that shows an update recent enough for the bound needs no question.
        asked = np.flatnonzero(~held | (versions < self.clock - min(self.staleness, _UNCHECKED)))
        if self.staleness == 0:
            asked = np.arange(len(ids))
        if len(asked):
            part, wanted = rows[asked], ids[asked]
            version = self._read_changes(wanted, part, self.ask(wanted, versions[asked]))
            rows[asked] = part
            cache.put(wanted, part, version, self._uses)
        return rows

    def prefetch(self, ids: np.ndarray) -> None:
        """Ask for rows of the next batch while this one is computed; what changes in between is sent again.

        Args:
            ids: sorted int64 row numbers in [0, rows), each once.
        """
        self._check_rows(ids)
        if self.cache is None or self.cache.capacity < len(ids):
            self.cache = RowCache(2 * len(ids) + 1, self.shape[1], self.dtype)
        self._absorb()
        missing = ids[self.cache.find(ids) < 0]
        if len(missing):
            self._ahead = (missing, self.ask(missing))

    def _absorb(self) -> None:
        """Take the rows that were asked for ahead into the cache."""
        if self._ahead is not None:
            (ids, tags), self._ahead = self._ahead, None
            rows, version = self.read(ids, tags)
            self._uses += 1
            assert self.cache is not None
            self.cache.put(ids, rows, version, self._uses)

    def push(self, gradient: Any) -> None:
        """Send a gradient: a RowTensor, a dense one, or None for no row.

        Raises:
            IndexError: if it has a row that the table has not.
            TypeError: if it is not of floating-point numbers.
            ValueError: if its shape is not the table's.
        """
        if gradient is None:
            ids, values = np.empty(0, np.int64), np.empty((0, self.shape[1]), self.dtype)
        elif isinstance(gradient, RowTensor):
            once = gradient.summed()
            ids, values = once.indices.array().astype(np.int64, copy=False), once.values.array()
        else:
            values = gradient.array()
            self._check_values(values, self.shape)
            ids = np.flatnonzero(values.any(axis=1))
            values = values[ids]
        self._check_rows(ids)
        self._check_values(values, (len(ids), self.shape[1]))
        for server, (places, local) in enumerate(self.partition.split(ids)):
            data, room, body = pack(
                Kind.PUSH, self.units[server], self.clock, 0, len(local), len(local) * self.shape[1], self.wire
            )
            room[:] = local
            with np.errstate(over="ignore"):
                body.reshape(len(local), self.shape[1])[...] = values[places]
            self.client.post(server, data)
        self.clock += 1

    # ---- the whole
    def _parts(self) -> list[tuple[int, np.ndarray, int, int]]:
        """Servers with the ranges of their rows that travel at once."""
        step = max(1, _CHUNK // (self.shape[1] * self.dtype.itemsize))
        found = []
        for server in range(self.client.servers):
            count = self.partition.count(server)
            rows = np.arange(self.shape[0])[self.partition.slice_of(server)]
            found += [(server, rows[low : low + step], low, min(count, low + step)) for low in range(0, count, step)]
        return found

    def fetch(self) -> np.ndarray:
        """Return the whole table, if it is small enough.

        Raises:
            RuntimeError: if it is more than a worker should hold.
        """
        if self.saved_by_servers:
            raise RuntimeError(
                f"The parameter '{self.name}' of shape {self.shape} is on parameter servers, and its {self.nbytes:,} "
                f"bytes are more than a worker reads at once ({WHOLE_BYTES:,}): look rows up, or save a checkpoint "
                "with dist_ms.parallel.save_servers."
            )
        whole = np.empty(self.shape, self.dtype)
        for server, rows, low, high in self._parts():
            tag = self.client.tag()
            data, room, _ = pack(Kind.PULL, self.units[server], self.clock, tag, high - low, 0, np.int32, self.dtype)
            room[:] = np.arange(low, high)
            self.client.post(server, data)
            message = self.client.answer(server, tag, f"Reading '{self.name}'")
            whole[rows] = message.values.reshape(-1, self.shape[1])
        return whole

    def store(self, array: np.ndarray) -> None:
        """Overwrite the whole table."""
        if array.shape != self.shape:
            raise ValueError(
                f"For '{self.name}', which is on parameter servers, new values must have its shape {self.shape}, but "
                f"got {array.shape}."
            )
        for server, rows, low, high in self._parts():
            self._store(server, np.arange(low, high), array[rows])
        for server in range(self.client.servers):
            self.client.ask(server, Kind.VALUES, self.units[server], None, f"Writing '{self.name}'")
        if self.cache is not None:
            self._absorb()
            self.cache = self.cache.emptied()

    def _store(self, server: int, local: np.ndarray, values: np.ndarray) -> None:
        data, room, body = pack(Kind.VALUES, self.units[server], 0, 0, len(local), values.size, self.dtype)
        room[:] = local
        body[:] = values.reshape(-1)
        self.client.post(server, data)


def check_held(client: Any, parameter: Any) -> None:
    """Raise unless the servers can hold this parameter too."""
    name, staleness = parameter.name, parameter.staleness
    other = client.holdings.shape_of(name)
    client.let_go()
    if other is not None:
        raise ValueError(
            f"For 'set_param_ps', each parameter on the servers must have a name of its own, but '{name}' is the name "
            f"of two, of shapes {other} and {tuple(parameter.shape)}."
        )
    dtype = np.dtype(parameter.dtype.np)
    if dtype not in (np.float32, np.float64, np.float16):
        raise TypeError(
            f"For 'set_param_ps', parameter '{name}' must be Float32, Float64 or Float16, but got {parameter.dtype}."
        )
    if not (staleness == math.inf or staleness >= 0):
        raise ValueError(f"For 'set_param_ps', 'staleness' of '{name}' must be 0 or more, but got {staleness}.")
