"""The recorder: what Python tells of calls, kept for operations and cells.

While it is on, the interpreter calls it for every call in this thread; while it is off nothing is
slower. An operation counts from where its forward begins to where it ends, so a cell's time
includes those of its operations.
"""

from __future__ import annotations

import sys
import threading
import time
from types import FrameType
from typing import Any, NamedTuple

import numpy as np

from dist_ms._ext import memory
from dist_ms.nn import Cell
from dist_ms.ops import Primitive

__all__ = ["MemoryUse", "Recorder", "Span"]

_active: list[Recorder] = []


class Span(NamedTuple):
    """One call, or a mark of the user's."""

    kind: str
    name: str
    start: int
    length: int
    shapes: tuple
    thread: int


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
            shapes = ()
            if kind == "operation":
                code = frame.f_code
                values = [frame.f_locals.get(n) for n in code.co_varnames[1 : code.co_argcount]]
                shapes = tuple([v.shape for v in values if isinstance(v, np.ndarray)]) if self._shapes else ()
            self.spans.append(Span(kind, name, start, length, shapes, threading.get_ident()))
            if self._notes_memory and kind == "operation":
                found = memory.statistics()
                self.memory.append(MemoryUse(start + length, name, found["live"], found["peak_live"]))


def mark(name: str, start: int, length: int) -> None:
    """Give a mark to the recorder that is on, if there is one."""
    for recorder in _active:
        recorder.spans.append(Span("mark", name, start, length, (), threading.get_ident()))
