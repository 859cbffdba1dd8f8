"""The threads of kernels."""

from __future__ import annotations

from dist_ms.common.checks import check_int, check_positive_int
from dist_ms.common.settings import context

__all__ = ["threads_num"]

_chosen: list[int] = []


def threads_num(num: int) -> None:
    """Set the number of threads that kernels have, as `set_context(runtime_num_threads=num)` does.

    Args:
        num: at least 1; once in a process.

    Raises:
        TypeError: if `num` is no int.
        ValueError: if it is below 1.
        RuntimeError: if it was set before.

    Examples:
        >>> import dist_ms as ms
        >>> ms.device_context.cpu.op_tuning.threads_num(0)
        Traceback (most recent call last):
        ValueError: For 'threads_num', 'num' must be a positive int, but got 0.
    """
    check_int(num, "num", "threads_num")
    if _chosen:
        raise RuntimeError("The 'threads_num' can not be set repeatedly.")
    check_positive_int(num, "num", "threads_num")
    context.set_context(runtime_num_threads=num)
    _chosen.append(num)
