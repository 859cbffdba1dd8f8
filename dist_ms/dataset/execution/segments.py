"""Rows in memory that processes share; it has no name, so nothing is left of it when they end."""

from __future__ import annotations

import math
import mmap
import os
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

_ALIGNMENT = 64  # bytes: a cache line, and a vector register


@dataclass
class Placed:
    """An array in a segment.

    Attributes:
        offset: where it begins, in bytes.
        shape, dtype: the array's.
    """

    offset: int
    shape: tuple[int, ...]
    dtype: np.dtype

    def array(self, memory: np.ndarray) -> np.ndarray:
        """The array, in memory of uint8."""
        size = self.dtype.itemsize * math.prod(self.shape)
        return memory[self.offset : self.offset + size].view(self.dtype).reshape(self.shape)


def placed(row: tuple) -> tuple[list[Any], int]:
    """Where a row's arrays of numbers shall lie, one behind the other, other values as they are; and the bytes."""
    columns: list[Any] = []
    end = 0
    for value in row:
        if isinstance(value, np.ndarray) and value.dtype.kind not in "OSUM":
            columns.append(Placed(end, value.shape, value.dtype))
            end += -(-value.nbytes // _ALIGNMENT) * _ALIGNMENT
        else:
            columns.append(value)
    return columns, end


def written(row: tuple, columns: list[Any], memory: np.ndarray) -> None:
    """Write a row's arrays where they shall lie."""
    for place, value in zip(columns, row):
        if isinstance(place, Placed):
            place.array(memory)[...] = value


class Segments:
    """The segments that a worker writes rows into; one is written again when the reader has freed it."""

    def __init__(self) -> None:
        self._memory: dict[int, mmap.mmap] = {}
        self._free: deque[int] = deque()

    def freed(self, numbers: list[int]) -> None:
        """Segments that nobody reads any more."""
        self._free.extend(numbers)

    def put(self, row: tuple) -> tuple[int | None, list[Any], list[int]]:
        """Write a row's arrays.

        Returns:
            the segment, None if the row has no arrays; per column a Placed, or the value where it is no array of
            numbers; the descriptors of a segment that is new to the reader.
        """
        columns, end = placed(row)
        if not end:
            return None, list(row), []
        number, descriptors = self._of(end)
        written(row, columns, np.frombuffer(self._memory[number], np.uint8))
        return number, columns, descriptors

    def _of(self, size: int) -> tuple[int, list[int]]:
        """A free segment of at least so many bytes, or a new one with its descriptor."""
        for _ in range(len(self._free)):
            number = self._free.popleft()
            if len(self._memory[number]) >= size:
                return number, []
            self._free.append(number)
        number, size = len(self._memory), -(-size * 5 // 4 // mmap.PAGESIZE) * mmap.PAGESIZE
        descriptor = os.memfd_create("dist_ms rows")
        os.ftruncate(descriptor, size)
        self._memory[number] = mmap.mmap(descriptor, size)
        return number, [descriptor]


class Lease:
    """A segment while arrays in it are alive: when the last one is gone it may be written again."""

    def __init__(self, memory: mmap.mmap, done: Callable[[], None]) -> None:
        whole = np.frombuffer(memory, np.uint8)
        self.__array_interface__ = whole.__array_interface__
        self._memory, self._done = whole, done

    def __del__(self) -> None:
        self._done()


def arrays(columns: list[Any], memory: mmap.mmap, done: Callable[[], None]) -> tuple:
    """A row whose arrays lie in a segment; `done` is called when all of them are gone."""
    whole = np.asarray(Lease(memory, done))
    return tuple(c.array(whole) if isinstance(c, Placed) else c for c in columns)
