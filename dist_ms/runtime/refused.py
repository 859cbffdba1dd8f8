"""Names of MindSpore's runtime that only an accelerator has; they say so."""

from __future__ import annotations

from typing import Any, NoReturn


def _refuse(name: str, remedy: str) -> NoReturn:
    raise RuntimeError(f"For '{name}', the device must be an Ascend, but got CPU: {remedy}.")


def memory_replay(file_path: str) -> NoReturn:
    """Refuse: a record of a device's blocks (`file_path`) cannot be replayed on a CPU.

    Raises:
        RuntimeError: always.
    """
    _refuse("memory_replay", "use 'memory_stats' and 'max_memory_allocated' to see what a program needs")


class PluggableAllocator:
    """Refused: functions of a library that allocate a device's memory.

    Args:
        path_to_so_file: path of the library.
        alloc_fn_name: its function that allocates.
        free_fn_name: its function that frees.

    Raises:
        RuntimeError: always.
    """

    def __init__(self, path_to_so_file: str, alloc_fn_name: str, free_fn_name: str) -> NoReturn:
        _refuse("PluggableAllocator", "set DIST_MS_ALLOCATOR=numpy to have NumPy's allocator, or one of NEP 49")


class MemPool:
    """Refused: a pool of device memory over a PluggableAllocator.

    Args:
        allocator: a PluggableAllocator.

    Raises:
        RuntimeError: always.
    """

    def __init__(self, allocator: Any) -> NoReturn:
        _refuse("MemPool", "there is one pool, whose size 'set_memory' bounds")


def use_mem_pool(pool: Any) -> NoReturn:
    """Refuse: a region whose memory comes from `pool`.

    Raises:
        RuntimeError: always.
    """
    _refuse("use_mem_pool", "there is one pool, whose size 'set_memory' bounds")
