"""Rows of a served table that a worker keeps: those it used last, each with the version it shows."""

from __future__ import annotations

import numpy as np


class RowCache:
    """The rows a worker used last.

    Args:
        capacity: how many rows at most.
        columns: their length.
        dtype: their type.

    Attributes:
        rows: the values, by slot.
        version: by slot the update of the table that the row shows.
        hits, misses: how many rows were there, and were not, when they were looked up.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.parallel.servers.cache import RowCache
        >>> cache = RowCache(2, 1, np.float32)
        >>> cache.put(np.array([5, 9]), np.ones((2, 1), np.float32), 1, 1)
        >>> cache.find(np.array([4, 9])) >= 0
        array([False,  True])
    """

    def __init__(self, capacity: int, columns: int, dtype: np.dtype) -> None:
        self.capacity = capacity
        self.rows = np.empty((capacity, columns), dtype)
        self.version = np.empty(capacity, np.int32)
        self._used = np.zeros(capacity, np.int64)
        self._keys = np.empty(0, np.int64)  # sorted
        self._slots = np.empty(0, np.int64)  # of the keys
        self._free = np.arange(capacity)
        self.hits = self.misses = 0

    def emptied(self) -> RowCache:
        """Return a cache without rows, of this one's size and with its counts."""
        cache = RowCache(self.capacity, self.rows.shape[1], self.rows.dtype)
        cache.hits, cache.misses = self.hits, self.misses
        return cache

    def find(self, ids: np.ndarray) -> np.ndarray:
        """The slot of each row, -1 for one that is not here."""
        if not len(self._keys):
            return np.full(len(ids), -1)
        places = np.minimum(np.searchsorted(self._keys, ids), len(self._keys) - 1)
        return np.where(self._keys[places] == ids, self._slots[places], -1)

    def touch(self, slots: np.ndarray, now: int) -> None:
        """Note that rows are used."""
        self._used[slots] = now

    def put(self, ids: np.ndarray, rows: np.ndarray, version: int, now: int) -> None:
        """Keep rows, in the place of those used longest ago.

        Args:
            ids: sorted row numbers, each once.
            rows: their values.
            version: what they show.
            now: a count that grows from use to use.
        """
        slots = self.find(ids)
        new = np.flatnonzero(slots < 0)[: self.capacity]
        if len(new) > len(self._free):
            self._evict(len(new) - len(self._free), slots[slots >= 0])
            new = new[: len(self._free)]
        slots[new], self._free = self._free[: len(new)], self._free[len(new) :]
        keys = np.concatenate([self._keys, ids[new]])
        order = np.argsort(keys, kind="stable")
        self._keys, self._slots = keys[order], np.concatenate([self._slots, slots[new]])[order]
        kept = slots >= 0
        self.rows[slots[kept]] = rows[kept]
        self.version[slots[kept]] = version
        self._used[slots[kept]] = now

    def _evict(self, number: int, needed: np.ndarray) -> None:
        """Give up the rows used longest ago, but none that is needed now."""
        age = self._used[self._slots]
        if len(needed):
            age = np.where(np.isin(self._slots, needed), np.iinfo(np.int64).max, age)
        number = min(number, len(self._slots) - len(needed))
        if number <= 0:
            return
        out = np.argpartition(age, number - 1)[:number]
        self._free = np.concatenate([self._free, self._slots[out]])
        stay = np.ones(len(self._keys), bool)
        stay[out] = False
        self._keys, self._slots = self._keys[stay], self._slots[stay]
