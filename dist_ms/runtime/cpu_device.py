"""The CPU: one device, and the number of its threads."""

from __future__ import annotations

from dist_ms.runtime import thread_count as op_tuning
from dist_ms.runtime.thread_count import threads_num

__all__ = ["device_count", "is_available", "op_tuning", "threads_num"]


def is_available() -> bool:
    """Tell whether there is a CPU.

    Examples:
        >>> import dist_ms as ms
        >>> ms.device_context.cpu.is_available()
        True
    """
    return True


def device_count() -> int:
    """Count the CPUs, which together are one device.

    Examples:
        >>> import dist_ms as ms
        >>> ms.device_context.cpu.device_count()
        1
    """
    return 1
