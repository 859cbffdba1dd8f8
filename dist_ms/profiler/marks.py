"""mstx: marks of the user's in a trace."""

from __future__ import annotations

import itertools
import time

from dist_ms.common.checks import check_int, check_string
from dist_ms.profiler import recording

__all__ = ["mstx"]


class mstx:
    """Marks that the profiler which is recording keeps.

    Examples:
        >>> from dist_ms.profiler import mstx
        >>> part = mstx.range_start("load")
        >>> mstx.range_end(part)
        >>> mstx.mark("loaded")
    """

    _ids = itertools.count(1)
    _open: dict[int, tuple[str, int]] = {}  # noqa: RUF012 -- shared on purpose: the class is never instantiated

    @staticmethod
    def mark(message: str, stream: None = None, domain: str = "default") -> None:
        """Mark this moment.

        Raises:
            TypeError: if `message` is no str.
        """
        recording.mark(check_string(message, "message", "mstx"), time.perf_counter_ns(), 0)

    @classmethod
    def range_start(cls, message: str, stream: None = None, domain: str = "default") -> int:
        """Begin a part, and return its number for `range_end`.

        Raises:
            TypeError: if `message` is no str.
        """
        number = next(cls._ids)
        cls._open[number] = check_string(message, "message", "mstx"), time.perf_counter_ns()
        return number

    @classmethod
    def range_end(cls, range_id: int, domain: str = "default") -> None:
        """End a part.

        Raises:
            TypeError: if `range_id` is no int.
            ValueError: if no part of that number is open.
        """
        if check_int(range_id, "range_id", "mstx") not in cls._open:
            raise ValueError(f"For 'mstx', 'range_id' must be from range_start, but no part {range_id} is open.")
        message, start = cls._open.pop(range_id)
        recording.mark(message, start, time.perf_counter_ns() - start)
