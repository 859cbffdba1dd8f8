"""The recorder: what Python tells of calls, kept for operations and cells.

While it is on, the interpreter calls it for every call in this thread; while it is off nothing is
slower. An operation counts from where its forward begins to where it ends, so a cell's time
includes those of its operations.
"""

from __future__ import annotations

import inspect
import sys
import threading
import time
from types import FrameType
from typing import Any, NamedTuple

import numpy as np

from dist_ms._ext import memory
from dist_ms.nn import Cell
from dist_ms.ops import Primitive
from dist_ms.ops.operation_flops import operation_flops

__all__ = ["MemoryUse", "Recorder", "Span"]

_active: list[Recorder] = []


class Span(NamedTuple):
    """One call, or a mark of the user's.

    Attributes:
        kind: "operation", "cell" or "mark".
        start, length: in ns.
        shapes: of an operation's arrays, where they are wanted, as are the numbers below.
        flops: what an operation computed, where it is known.
        bytes: of the arrays that it took and returned.
        narrow: whether the largest of them has numbers of 16 bits.
    """

    kind: str
    name: str
    start: int
    length: int
    shapes: tuple
    thread: int
    flops: int = 0
    bytes: int = 0
    narrow: bool = False


class MemoryUse(NamedTuple):
    """What arrays take at a time by `perf_counter_ns`, and the most they took until then, in bytes."""

    time: int
    operation: str
    allocated: int
    peak: int


class Recorder:
    """Keeps the spans of operations and cells while it is on.

    Args:
        shapes: whether to keep the shapes of the operations' arrays.
        gives_way: whether it ends when another one begins.
        memory: whether to note what arrays take after each operation.
    """

    def __init__(self, shapes: bool = False, gives_way: bool = False, memory: bool = False) -> None:
        self.spans: list[Span] = []
        self.memory: list[MemoryUse] = []
        self._shapes, self._notes_memory, self.gives_way = shapes, memory, gives_way
        self._open: list[tuple[FrameType, str, str, int]] = []
        self.on = False

    def begin(self) -> None:
        """Record the calls of this thread from here on.

        Raises:
            RuntimeError: if another recorder is on.
        """
        if _active and _active[0].gives_way:
            _active[0].end()
        if _active:
            raise RuntimeError("For 'profile', another profiler is recording: stop it first.")
        _active.append(self)
        self.on, self._open = True, []
        sys.setprofile(self._called)

    def end(self) -> None:
        """Stop recording."""
        if self.on:
            sys.setprofile(None)
            _active.remove(self)
            self.on = False

    def _called(self, frame: FrameType, event: str, arg: Any) -> None:
        if event == "call":
            name = frame.f_code.co_name
            if name not in ("forward", "construct"):
                return
            owner = frame.f_locals.get("self")
            if name == "forward" and isinstance(owner, Primitive):
                self._open.append((frame, "operation", owner.name, time.perf_counter_ns()))
            elif name == "construct" and isinstance(owner, Cell):
                self._open.append((frame, "cell", type(owner).__name__, time.perf_counter_ns()))
        elif event == "return" and self._open and self._open[-1][0] is frame:
            _, kind, name, start = self._open.pop()
            length = time.perf_counter_ns() - start
            work: tuple = _work(frame, arg) if kind == "operation" and self._shapes else ((), 0, 0, False)
            self.spans.append(Span(kind, name, start, length, work[0], threading.get_ident(), *work[1:]))
            if self._notes_memory and kind == "operation":
                found = memory.statistics()
                self.memory.append(MemoryUse(start + length, name, found["live"], found["peak_live"]))


def _work(frame: FrameType, result: Any) -> tuple[tuple, int, int, bool]:
    """The shapes that an operation's forward took, what it computed, the bytes, and whether these are of 16 bits."""
    code, found = frame.f_code, frame.f_locals
    values = [found.get(name) for name in code.co_varnames[1 : code.co_argcount]]
    if code.co_flags & inspect.CO_VARARGS:
        values += found.get(code.co_varnames[code.co_argcount + code.co_kwonlyargcount], ())
    given = [value for value in values if isinstance(value, np.ndarray)]
    made = [one for one in (result if isinstance(result, tuple) else (result,)) if isinstance(one, np.ndarray)]
    if made and all(any(_is_view(one, of) for of in given) for one in made):
        return tuple([array.shape for array in given]), 0, 0, False  # nothing moved
    flops = operation_flops(found["self"], values, result) if made else 0
    largest = max([*given, *made], key=lambda array: array.nbytes, default=None)
    narrow = largest is not None and largest.itemsize == 2 and largest.dtype.kind in "fV"
    return tuple([array.shape for array in given]), flops, sum(array.nbytes for array in [*given, *made]), narrow


def _is_view(one: np.ndarray, of: np.ndarray) -> bool:
    """Whether an array is another's memory seen otherwise; what is written in place is seen as it was."""
    same = one.shape == of.shape and one.strides == of.strides
    return not same and np.may_share_memory(one, of)


def mark(name: str, start: int, length: int) -> None:
    """Give a mark to the recorder that is on, if there is one."""
    for recorder in _active:
        recorder.spans.append(Span("mark", name, start, length, (), threading.get_ident()))
