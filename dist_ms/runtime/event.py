"""Events: marks in the order of operations, with their time."""

from __future__ import annotations

import time
from typing import Any

from dist_ms.common.checks import check_bool


class Event:
    """A mark between operations. On a CPU everything before it has happened when it is recorded.

    Args:
        enable_timing: whether it remembers when.
        blocking: whether waiting for it blocks; nothing is ever left to wait for.

    Raises:
        TypeError: if an argument is no bool.

    Examples:
        >>> import dist_ms as ms
        >>> start, end = ms.runtime.Event(enable_timing=True), ms.runtime.Event(enable_timing=True)
        >>> start.record()
        >>> y = ms.ops.ones((8, 8)) + 1
        >>> end.record()
        >>> start.elapsed_time(end) > 0
        True
    """

    def __init__(self, enable_timing: bool = False, blocking: bool = False) -> None:
        self.enable_timing = check_bool(enable_timing, "enable_timing", "Event")
        self.blocking = check_bool(blocking, "blocking", "Event")
        self._at: float | None = None

    def record(self, stream: Any = None) -> None:
        """Mark this moment of `stream`, by default of the current one.

        Raises:
            TypeError: if `stream` is no Stream.
        """
        _check_stream(stream, "record")
        self._at = time.perf_counter()

    def wait(self, stream: Any = None) -> None:
        """Let the later operations of `stream` wait for this event, which is over already.

        Raises:
            TypeError: if `stream` is no Stream.
        """
        _check_stream(stream, "wait")

    def synchronize(self) -> None:
        """Wait for what was marked; on a CPU it has happened."""

    def query(self) -> bool:
        """Return whether all that was marked has happened: True on a CPU."""
        return True

    def elapsed_time(self, end_event: Event) -> float:
        """Return the milliseconds from this event to `end_event`.

        Raises:
            TypeError: if `end_event` is no Event.
            RuntimeError: if one of both has no time: made without `enable_timing`, or not recorded.
        """
        if not isinstance(end_event, Event):
            raise TypeError(f"For 'elapsed_time', the argument 'end_event' should be Event, but got {type(end_event)}.")
        for name, event in (("this event", self), ("'end_event'", end_event)):
            if not event.enable_timing or event._at is None:
                raise RuntimeError(
                    f"For 'elapsed_time', {name} must be made with enable_timing=True and be recorded, but got {event}."
                )
        return 1e3 * (end_event._at - self._at)

    def __repr__(self) -> str:
        return (
            f"Event(enable_timing={int(self.enable_timing)}, blocking:{int(self.blocking)}, "
            f"is_created:{int(self._at is not None)})"
        )


def _check_stream(stream: Any, method: str) -> None:
    from dist_ms.runtime.stream import Stream

    if stream is not None and not isinstance(stream, Stream):
        raise TypeError(f"For '{method}', the argument 'stream' should be Stream, but got {type(stream)}.")
