"""What workers and servers send each other: a head of numbers, then row numbers, then values or an object.

One message is one array of bytes, laid out so that rows are gathered straight into it:

    8 int64: kind, unit, clock, reply tag, count of ids, bytes of values, type of values, type of the answer
    ids, int64 · values
"""

from __future__ import annotations

import enum
import pickle
from dataclasses import dataclass
from typing import Any

import numpy as np

HEAD = 8
REQUEST_TAG = 0
LAST_TAG = 32000
_TYPES = tuple(np.dtype(t) for t in (np.uint8, np.float32, np.float16, np.float64, np.int64, np.int32))


class Kind(enum.IntEnum):
    """What a message asks for, or how it was answered."""

    HOLD = 1
    VALUES = 2
    OPTIMIZER = 3
    PUSH = 4
    PULL = 5
    REPORT = 6
    SAVE = 7
    LOAD = 8
    BYE = 9
    ANSWER = 10
    ERROR = 11
    AWAITED = 12
    FORGET = 13


@dataclass
class Message:
    """A message that came.

    Attributes:
        kind: what it is.
        sender: the rank that sent it.
        unit: the number of what it is about, on that server.
        clock: how many updates the sender has pushed to it.
        tag: where the answer goes; 0 for none.
        ids: row numbers on the server, int64.
        values: the values, flat.
        wanted: the type of the values asked for.
    """

    kind: Kind
    sender: int
    unit: int
    clock: int
    tag: int
    ids: np.ndarray
    values: np.ndarray
    wanted: np.dtype

    def object(self) -> Any:
        """The Python object that was sent as values."""
        return pickle.loads(self.values.tobytes())


def pack(
    kind: Kind, unit: int, clock: int, tag: int, ids: int, values: int, dtype: Any, wanted: Any = np.uint8
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Make room for a message.

    Args:
        kind, unit, clock, tag: as in `Message`.
        ids: how many row numbers.
        values: how many values.
        dtype: their type.
        wanted: the type of the values asked for.

    Returns:
        The message, and views of it to write the row numbers and the values into.
    """
    dtype = np.dtype(dtype)
    first = (HEAD + ids) * 8
    data = np.empty(first + values * dtype.itemsize, np.uint8)
    data[: HEAD * 8].view(np.int64)[:] = (
        kind, unit, clock, tag, ids, values * dtype.itemsize, _TYPES.index(dtype), _TYPES.index(np.dtype(wanted)),
    )  # fmt: skip
    return data, data[HEAD * 8 : first].view(np.int64), data[first:].view(dtype)


def pack_object(kind: Kind, unit: int, tag: int, value: Any) -> np.ndarray:
    """Return a message that carries a Python object."""
    blob = np.frombuffer(pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL), np.uint8)
    data, _, room = pack(kind, unit, 0, tag, 0, len(blob), np.uint8)
    room[:] = blob
    return data


def unpack(sender: int, data: np.ndarray) -> Message:
    """Read a message; its arrays are views of the bytes."""
    kind, unit, clock, tag, ids, nbytes, code, wanted = data[: HEAD * 8].view(np.int64).tolist()
    first = (HEAD + ids) * 8
    values = data[first : first + nbytes].view(_TYPES[code])
    return Message(Kind(kind), sender, unit, clock, tag, data[HEAD * 8 : first].view(np.int64), values, _TYPES[wanted])
