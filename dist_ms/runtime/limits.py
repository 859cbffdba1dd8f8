"""Limits on the cores that operations use.

MindSpore counts an accelerator's matrix ("cube") and vector cores apart. A CPU's cores do both: here
the larger of the two numbers bounds the threads of each operation, and all streams are one.
"""

from __future__ import annotations

import os
from typing import Any

from dist_ms._ext import threads
from dist_ms.common.checks import check_int, check_non_negative_int
from dist_ms.runtime.streams import Stream

_UNSET = -1
_limit: tuple[int, int] | None = None
_threads_before: int | None = None


def _cores() -> int:
    return len(os.sched_getaffinity(0))


def _limits() -> dict[str, int]:
    cube, vector = _limit or (threads.get_num_threads(),) * 2
    return {"cube_core_num": cube, "vector_core_num": vector}


def _set(owner: str, cube_num: int, vector_num: int) -> None:
    """Bound the threads, or with two -1 have as many as before the first bound."""
    global _limit, _threads_before
    for name, value in (("cube_num", cube_num), ("vector_num", vector_num)):
        check_int(value, name, owner)
        if value < 1 and value != _UNSET:
            raise ValueError(f"For '{owner}', '{name}' must be a positive int or -1, but got {value}.")
    if cube_num == vector_num == _UNSET:
        return
    if _threads_before is None:
        _threads_before = threads.get_num_threads()
    now = _limits()
    cube = now["cube_core_num"] if cube_num == _UNSET else cube_num
    vector = now["vector_core_num"] if vector_num == _UNSET else vector_num
    _limit = cube, vector
    threads.set_num_threads(min(max(_limit), _cores()))


def _reset() -> None:
    """Have as many threads as before the first bound."""
    global _limit, _threads_before
    if _threads_before is not None:
        threads.set_num_threads(_threads_before)
        _limit = _threads_before = None


def _check_stream(stream: Any, owner: str) -> None:
    if not isinstance(stream, Stream):
        raise TypeError(f"For '{owner}', the argument 'stream' should be Stream, but got {type(stream)}.")


def get_device_limit(device: int) -> dict[str, int]:
    """Return how many cores operations may use.

    Args:
        device: its number.

    Returns:
        dict: 'cube_core_num' and 'vector_core_num'.

    Examples:
        >>> import dist_ms as ms
        >>> sorted(ms.runtime.get_device_limit(0))
        ['cube_core_num', 'vector_core_num']
    """
    check_non_negative_int(device, "device", "get_device_limit")
    return _limits()


def set_device_limit(device: int, cube_num: int = -1, vector_num: int = -1) -> None:
    """Bound how many cores operations may use.

    Args:
        device: its number.
        cube_num: cores for matrix products, -1 for no change.
        vector_num: cores for everything else, -1 for no change; the larger number counts.

    Raises:
        TypeError: if an argument is no int.
        ValueError: if a number is neither positive nor -1.

    Examples:
        >>> import dist_ms as ms
        >>> ms.runtime.set_device_limit(0)
    """
    check_non_negative_int(device, "device", "set_device_limit")
    _set("set_device_limit", cube_num, vector_num)


def get_stream_limit(stream: Stream) -> dict[str, int]:
    """Return how many cores the operations of a stream may use, as `get_device_limit` does.

    Raises:
        TypeError: if `stream` is no Stream.

    Examples:
        >>> import dist_ms as ms
        >>> sorted(ms.runtime.get_stream_limit(ms.runtime.default_stream()))
        ['cube_core_num', 'vector_core_num']
    """
    _check_stream(stream, "get_stream_limit")
    return _limits()


def set_stream_limit(stream: Stream, cube_num: int = -1, vector_num: int = -1) -> None:
    """Bound how many cores the operations of a stream may use, as `set_device_limit` does.

    Raises:
        TypeError: if `stream` is no Stream, or a number no int.
        ValueError: if a number is neither positive nor -1.

    Examples:
        >>> import dist_ms as ms
        >>> stream = ms.runtime.Stream()
        >>> ms.runtime.set_stream_limit(stream, 1, 1)
        >>> ms.runtime.reset_stream_limit(stream)
    """
    _check_stream(stream, "set_stream_limit")
    _set("set_stream_limit", cube_num, vector_num)


def reset_stream_limit(stream: Stream) -> None:
    """Take the bounds of `set_stream_limit` and `set_device_limit` away.

    Raises:
        TypeError: if `stream` is no Stream.

    Examples:
        >>> import dist_ms as ms
        >>> ms.runtime.reset_stream_limit(ms.runtime.Stream())
    """
    _check_stream(stream, "reset_stream_limit")
    _reset()


class StreamLimitCtx:
    """A region in which a stream's operations use at most so many cores.

    Args:
        stream: a Stream.
        cube_num: cores for matrix products, -1 for no change.
        vector_num: cores for everything else, -1 for no change; the larger number counts.

    Raises:
        TypeError: if `stream` is no Stream.

    Examples:
        >>> import dist_ms as ms
        >>> with ms.runtime.StreamLimitCtx(ms.runtime.default_stream(), 1, 1):
        ...     print(ms.runtime.get_device_limit(0))
        {'cube_core_num': 1, 'vector_core_num': 1}
    """

    def __init__(self, stream: Stream, cube_num: int = -1, vector_num: int = -1) -> None:
        _check_stream(stream, "StreamLimitCtx")
        self.stream, self.cube_num, self.vector_num = stream, cube_num, vector_num
        self._before: tuple | None = None

    def __enter__(self) -> None:
        self._before = _limit
        set_stream_limit(self.stream, self.cube_num, self.vector_num)

    def __exit__(self, *exc: Any) -> None:
        if self._before is None:
            _reset()
        else:
            _set("StreamLimitCtx", *self._before)
