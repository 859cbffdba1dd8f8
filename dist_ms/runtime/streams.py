"""Streams and events: on a CPU there is one order of operations, so all streams are names for it."""

from __future__ import annotations

import time
from typing import Any

from dist_ms.common.checks import check_bool, check_int


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
            f"is_created:{int(self._at is not None)}, event:0)"
        )


def _check_stream(stream: Any, method: str) -> None:
    if stream is not None and not isinstance(stream, Stream):
        raise TypeError(f"For '{method}', the argument 'stream' should be Stream, but got {type(stream)}.")


class Stream:
    """An order of operations. On a CPU operations run at once, whichever stream is current.

    Args:
        priority: lower comes first; without effect on a CPU.
        **kwargs: `stream`, another stream to be; `stream_id`, the number of one: 0.

    Attributes:
        id: 0, the one stream of a CPU.
        device_name: "CPU".
        device_id: 0.

    Raises:
        TypeError: if `priority` or `stream_id` is no int.
        ValueError: if no stream has the `stream_id`.

    Examples:
        >>> import dist_ms as ms
        >>> stream = ms.runtime.Stream()
        >>> with ms.runtime.StreamCtx(stream):
        ...     y = ms.ops.ones(2) + 1
        >>> stream.query()
        True
    """

    id, device_id, device_name = 0, 0, "CPU"

    def __init__(self, priority: int = 0, **kwargs: Any) -> None:
        self.priority = check_int(priority, "priority", "Stream")
        if kwargs.get("stream") is not None:
            _check(kwargs["stream"], "stream", "Stream")
        if check_int(kwargs.get("stream_id", 0), "stream_id", "Stream") != 0:
            raise ValueError(f"For 'Stream', 'stream_id' must be 0 on a CPU, but got {kwargs['stream_id']}.")

    def stream_id(self) -> int:
        """Return the stream's number."""
        return self.id

    def record_event(self, event: Event | None = None) -> Event:
        """Record an event, a new one by default, and return it.

        Raises:
            TypeError: if `event` is no Event.
        """
        if event is None:
            event = Event()
        self._check_event(event, "record_event")
        event.record(self)
        return event

    def wait_event(self, event: Event) -> None:
        """Let later operations of this stream wait for an event, which is over already.

        Raises:
            TypeError: if `event` is no Event.
        """
        self._check_event(event, "wait_event")

    def wait_stream(self, stream: Stream) -> None:
        """Let later operations of this stream wait for those of another, which are over already.

        Raises:
            TypeError: if `stream` is no Stream.
        """
        _check(stream, "stream", "wait_stream")

    def synchronize(self) -> None:
        """Wait for the operations of this stream; on a CPU they are over."""

    def query(self) -> bool:
        """Return whether the operations of this stream are over: True on a CPU."""
        return True

    @staticmethod
    def _check_event(event: Any, method: str) -> None:
        if not isinstance(event, Event):
            raise TypeError(f"For '{method}', the argument 'event' should be Event, but got {type(event)}.")

    def __eq__(self, other: object) -> bool:
        _check(other, "other", "__eq__")
        return self.id == other.id

    def __hash__(self) -> int:
        return hash((self.id, self.device_id))

    def __repr__(self) -> str:
        return f"Stream(device_name={self.device_name}, device_id:{self.device_id}, stream id:{self.id})"


def _check(stream: Any, name: str, owner: str) -> None:
    if not isinstance(stream, Stream):
        raise TypeError(f"For '{owner}', the argument '{name}' should be Stream, but got {type(stream)}.")


_default = Stream()
_current = _default


def default_stream() -> Stream:
    """Return the stream that operations are in unless another is chosen.

    Examples:
        >>> import dist_ms as ms
        >>> ms.runtime.default_stream()
        Stream(device_name=CPU, device_id:0, stream id:0)
    """
    return _default


def current_stream() -> Stream:
    """Return the stream that operations are in now.

    Examples:
        >>> import dist_ms as ms
        >>> ms.runtime.current_stream() == ms.runtime.default_stream()
        True
    """
    return _current


def communication_stream() -> Stream:
    """Return the stream of communication: on a CPU the default one.

    Examples:
        >>> import dist_ms as ms
        >>> ms.runtime.communication_stream()
        Stream(device_name=CPU, device_id:0, stream id:0)
    """
    return _default


def set_cur_stream(stream: Stream | None) -> None:
    """Make a stream the current one; None changes nothing.

    Raises:
        TypeError: if `stream` is neither a Stream nor None.

    Examples:
        >>> import dist_ms as ms
        >>> ms.runtime.set_cur_stream(ms.runtime.default_stream())
    """
    global _current
    if stream is None:
        return
    _check(stream, "stream", "set_cur_stream")
    _current = stream


def synchronize() -> None:
    """Wait for the operations of all streams; on a CPU they are over.

    Examples:
        >>> import dist_ms as ms
        >>> ms.runtime.synchronize()
    """


class StreamCtx:
    """A region with another current stream; None changes nothing.

    Args:
        ctx_stream: a Stream or None.

    Raises:
        TypeError: if `ctx_stream` is neither.

    Examples:
        >>> import dist_ms as ms
        >>> with ms.runtime.StreamCtx(ms.runtime.Stream()):
        ...     y = ms.ops.ones(2) + 1
    """

    def __init__(self, ctx_stream: Stream | None) -> None:
        if ctx_stream is not None:
            _check(ctx_stream, "ctx_stream", "StreamCtx")
        self.stream = ctx_stream
        self.prev_stream: Stream | None = None

    def __enter__(self) -> None:
        if self.stream is not None:
            self.prev_stream = current_stream()
            set_cur_stream(self.stream)

    def __exit__(self, *exc: Any) -> None:
        if self.stream is not None:
            set_cur_stream(self.prev_stream)
