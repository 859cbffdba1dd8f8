"""Lanes: which part of a training step this process is in, kept while somebody traces the run.

Whoever does a part says so with `span`; where nobody traces, that is one look at an attribute.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter_ns
from typing import Any

__all__ = ["Lanes", "lanes", "span"]

_MOST = 1_000_000  # spans that are kept, about 100 MB


class Lanes:
    """The spans of this process.

    Attributes:
        on: whether they are kept.
        spans: (lane, name, start, end, number), times by `perf_counter_ns`; a collective has a number, others 0.
        left_out: how many came when there was no room left.
        plan: what happens to each parameter, as a table; "" before the first data-parallel step.
        after_update: called at the end of each update of an optimizer, with the time.
    """

    def __init__(self) -> None:
        self.on = False
        self.spans: list[tuple[str, str, int, int, int]] = []
        self.left_out = 0
        self.plan = ""
        self.after_update: Callable[[int], None] | None = None

    def add(self, lane: str, name: str, start: int, end: int, number: int = 0) -> None:
        """Keep a span."""
        if len(self.spans) < _MOST:
            self.spans.append((lane, name, start, end, number))
        else:
            self.left_out += 1


lanes = Lanes()


class span:
    """A part of a step, as a context.

    Args:
        lane: "forward", "backward", "update", "data", "communication", "checkpoint", "callbacks" or "evaluation".
        name: what is done; default: the lane's name.

    Examples:
        >>> from dist_ms.common.lanes import lanes, span
        >>> with span("forward"):
        ...     pass
        >>> lanes.on, lanes.spans
        (False, [])
    """

    __slots__ = ("_lane", "_name", "_start")

    def __init__(self, lane: str, name: str = "") -> None:
        self._lane, self._name, self._start = lane, name, 0

    def __enter__(self) -> span:
        if lanes.on:
            self._start = perf_counter_ns()
        return self

    def __exit__(self, *error: Any) -> None:
        if self._start and lanes.on:
            end = perf_counter_ns()
            lanes.add(self._lane, self._name or self._lane, self._start, end)
            if self._lane == "update" and lanes.after_update is not None:
                lanes.after_update(end)
