"""All-reduce through memory that ranks share, and between machines over MPI.

Within a machine each rank reduces one part of every rank's array, in rank order. Between
machines rank r of each machine carries part r: as many streams as ranks, one hop each.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from dist_ms._ext import board as boards
from dist_ms._ext import reduce as kernels
from dist_ms.communication.environment import value_of
from dist_ms.communication.shared.arena import Arena
from dist_ms.communication.wire.machine_reduction import Between, Posted

SMALL_BYTES = 16 << 10  # up to here every rank reduces the whole array
CHUNK_BYTES = 128 << 10  # staged at a time; the stages stay in a core's cache
_STAGES = 64 << 20  # all ranks' stages together
CHOICES = ("shared", "mpi")


def chosen_all_reduce(environ: dict[str, str] | None = None) -> str:
    """Return what DIST_MS_ALL_REDUCE asks for: "shared" (default) or "mpi".

    Raises:
        ValueError: if the variable has another value.

    Examples:
        >>> from dist_ms.communication.shared.all_reduce import chosen_all_reduce
        >>> chosen_all_reduce({}), chosen_all_reduce({"DIST_MS_ALL_REDUCE": "mpi"})
        ('shared', 'mpi')
    """
    value = value_of("DIST_MS_ALL_REDUCE", environ)
    if value not in CHOICES:
        raise ValueError(
            f"The environment variable DIST_MS_ALL_REDUCE must be one of {', '.join(CHOICES)}, but got {value!r}."
        )
    return value


class SharedMemory:
    """What a group's ranks on one machine share.

    Args:
        arena: their windows.
        memory: the board's memory.
        between: the way to the other machines; None when there is none.
    """

    def __init__(self, arena: Arena, memory: np.ndarray, between: Between | None) -> None:
        self._arena, self.between = arena, between
        small, chunk = _sizes(arena.size)
        crowded = arena.size > len(os.sched_getaffinity(0)) and arena.size > (os.cpu_count() or 1)
        self._board = boards.Board(memory, arena.rank, arena.size, small, chunk, 0 if crowded else 2000)
        self.small = small
        self._kinds: dict[np.dtype, int] = {}
        self._known: dict[int, tuple[np.ndarray, int]] = {}  # windows' memory and strides, by address
        self.meeting, self.movement = self._board.meeting, self._board.movement
        self.reads_others, self.reads_directly = self._board.reads_others, False

    def reduction(
        self,
        array: np.ndarray,
        op: str,
        scale: float,
        mark: int,
        meeting: Posted | None = None,
        source: np.ndarray | None = None,
    ) -> Any:
        """Return the exchange that reduces an array over all ranks of the group.

        Args:
            array: the array.
            op: the reduction.
            scale: a factor.
            mark: must be equal on all ranks of a machine.
            meeting: tells whether it is equal on all machines; None when that is known.
            source: what is reduced in the array's place; on one machine only.
        """
        kind, code = self._kind(array.dtype), kernels.OPS[op]
        if self.between is None:
            return self._board.reduction(array, kind, code, scale, mark, 0, False, source)
        held = self._board.reduction(array, kind, code, scale, mark, self.between.parts, True)
        return self.between.reduction(held, array, op, meeting)

    def scattering(self, array: np.ndarray, out: np.ndarray, op: str, mark: int) -> Any:
        """Return the exchange that reduces part r of every rank's array on rank r.

        Args:
            array: the array.
            out: for this rank's part.
            op: the reduction.
            mark: must be equal on all ranks.
        """
        kind, code = self._kind(array.dtype), kernels.OPS[op]
        return self.movement(array, out, out.nbytes, mark, True, -1, kind, code)

    def _kind(self, dtype: np.dtype) -> int:
        """Return the kernels' number of a type; asking NumPy for its name takes longer than a small array."""
        kind = self._kinds.get(dtype)
        if kind is None:
            kind = self._kinds[dtype] = kernels.KINDS[dtype.name]
        return kind

    def read_directly(self, allowed: bool) -> None:
        """Let ranks read each other's memory where that is fastest; all say the same, while nothing is under way.

        Args:
            allowed: whether they may.
        """
        self.reads_directly = allowed
        self._board.read_directly(allowed)

    def shares(self, array: np.ndarray) -> bool:
        """Whether an array lies in memory that is reduced in place."""
        return self._board.shares(array)

    def beside(self, buffer: np.ndarray) -> list[np.ndarray] | None:
        """Return every rank's array in the place of a buffer; None if it is not in shared memory."""
        start = buffer.ctypes.data
        for address, (memory, stride) in self._known.items():
            at = start - address - self._arena.rank * stride
            if 0 <= at and at + buffer.nbytes <= stride:
                firsts = (at + rank * stride for rank in range(self._arena.size))
                return [memory[first : first + buffer.nbytes].view(buffer.dtype) for first in firsts]
        return None

    def take(self, size: int, dtype: np.dtype, agree: Callable[[bool], bool]) -> np.ndarray | None:
        """Return an array in shared memory, None when there is none for all.

        Args:
            size: its elements.
            dtype: their type.
            agree: tells whether all ranks of the group say True.
        """
        length = size * dtype.itemsize
        found = self._arena.take(length)
        if not agree(found is not None) or found is None:
            return None
        memory, stride = found
        start = self._arena.rank * stride
        address = memory.ctypes.data
        if address not in self._known:
            # The board must not keep the lease: whole windows stay to the end of the job anyway.
            lease: Any = memory.base
            self._board.add_block(lease.window.memory, stride, stride)
            self._known[address] = lease.window.memory, stride
        return memory[start : start + length].view(dtype)


def _sizes(ranks: int) -> tuple[int, int]:
    """Return the bytes of a slot and of a stage."""
    return SMALL_BYTES, max(64 << 10, min(CHUNK_BYTES, _STAGES // (3 * ranks) // 64 * 64))


def share(arena: Arena, between: Between | None, agree: Callable[[bool], bool]) -> SharedMemory | None:
    """Return a group's shared memory; None, on all ranks, where a machine has none to give.

    Args:
        arena: the windows of the group's ranks on this machine.
        between: the way to the other machines.
        agree: tells whether all ranks of the group say True; they also wait there for each other.
    """
    needed = boards.board_bytes(arena.size, *_sizes(arena.size)) + 64
    found = arena.take(-(-needed // arena.size))
    if not agree(found is not None) or found is None:
        return None
    shared = SharedMemory(arena, found[0], between)
    agree(True)  # nobody may write to a board before all have cleared their flags
    shared.read_directly(agree(shared.reads_others()))
    return shared
