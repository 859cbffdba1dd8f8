"""A log of the updates a server applied, and its replay to the same bits.

What an asynchronous run computes depends on the order in which gradients came. The log has that
order and the gradients; applying them again to the same first values gives the same last values.

One file per unit and server: messages as they travel, each after its length; the first one holds
how the unit began.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from dist_ms.parallel.servers.messages import Kind, pack, pack_object, unpack
from dist_ms.parallel.servers.optimizer import unpack_optimizer
from dist_ms.parallel.servers.units import Unit


class UpdateLog:
    """Writes what one unit applies.

    Args:
        path: the file; overwritten.
        unit: the unit, before its first update.
        blob: its optimizer as it came.
    """

    def __init__(self, path: Path, unit: Unit, blob: bytes) -> None:
        self._file = path.open("wb")
        begin = (unit.shard, unit.staleness, len(unit.pushed), blob, unit.indices)
        self._write(pack_object(Kind.HOLD, 0, 0, begin))

    def _write(self, data: np.ndarray) -> None:
        self._file.write(np.int64(len(data)).tobytes())
        self._file.write(data.data)

    def __call__(self, version: int, frames: list[tuple[int, tuple[np.ndarray, np.ndarray]]]) -> None:
        """Write one update.

        Args:
            version: its number.
            frames: per worker its row numbers and values.
        """
        for worker, (ids, values) in frames:
            data, room, body = pack(Kind.PUSH, worker, version, 0, len(ids), len(values), values.dtype)
            room[:], body[:] = ids, values
            self._write(data)
        self._file.flush()

    def rates(self, rates: list[float]) -> None:
        """Write that learning rates were set."""
        self._write(pack_object(Kind.OPTIMIZER, 0, 0, rates))


def log_path(folder: str, server: int, number: int) -> Path:
    """The file of a unit on a server."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    return Path(folder) / f"server{server}_unit{number}.log"


def replay(path: Path | str) -> Unit:
    """Apply a log again, to the values it began with.

    Args:
        path: the file. It holds pickled objects: replay only what your own servers wrote.

    Returns:
        The unit; `unit.shard.parameters` hold the last values, the same bits as the server's.
    """
    unit: Any = None
    waiting: list[Any] = []
    for message in _messages(Path(path)):
        if waiting and (message.kind is not Kind.PUSH or message.clock != waiting[0].clock):
            _apply(unit, waiting)
            waiting = []
        if message.kind is Kind.HOLD:
            shard, staleness, workers, blob, indices = message.object()
            unit = Unit(0, shard, staleness, workers)
            unit.optimizer, unit.indices = unpack_optimizer(blob, shard), indices
        elif message.kind is Kind.OPTIMIZER:
            unit.set_rates(message.object())
        else:
            waiting.append(message)
    if waiting:
        _apply(unit, waiting)
    return unit


def _messages(path: Path) -> Iterator[Any]:
    """Read a log, but for an update whose writing was broken off."""
    with path.open("rb") as file:
        while len(head := file.read(8)) == 8:
            length = int(np.frombuffer(head, np.int64)[0])
            data = np.fromfile(file, np.uint8, length)
            if len(data) == length:
                yield unpack(0, data)


def _apply(unit: Unit, messages: list[Any]) -> None:
    unit.version = messages[0].clock
    unit.apply_frames([(m.ids, m.values) for m in messages], unit.scale_of(len(messages)))
