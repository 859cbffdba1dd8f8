"""How many threads kernels run: what the context asks for, and whether the number follows the cores that are free."""

from __future__ import annotations

import os

from dist_ms._ext import busy_cores, threads
from dist_ms.common.settings import context


def use_threads(count: int) -> None:
    """Set the number of kernel threads.

    Args:
        count: 0: as many as this process may use cores.
    """
    threads.set_num_threads(count or len(os.sched_getaffinity(0)))


def _keep_number(value: str) -> None:
    """Keep the number of threads on busy cores, too, where runs are to be deterministic."""
    busy_cores.keep_number("deterministic", value == "ON")


def start() -> None:
    """Follow the context, and give threads back on busy cores, from now on."""
    context.listen("runtime_num_threads", use_threads)
    context.listen("deterministic", _keep_number)
    busy_cores.watch()
