"""What arrays take, what the allocator keeps for the next ones, and the bounds of both.

All figures are bytes of whole blocks. Arrays of at most 1 KiB, and all arrays while
DIST_MS_ALLOCATOR is "numpy", have NumPy's own memory and are not counted.
"""

from __future__ import annotations

import os
import re

from dist_ms._ext import memory as _pool
from dist_ms.common.checks import check_string

_SIZE = re.compile(r"[1-9][0-9]*(\.)?[0-9]*GB|0\.[0-9]*GB")
_RESERVE = re.compile(r"[0-9]+(\.[0-9]*)?GB")
_UNITS = ("B", "KB", "MB", "GB", "TB")
_configured = False


def memory_allocated() -> int:
    """Return the bytes of the blocks that arrays have now.

    Examples:
        >>> import dist_ms as ms
        >>> before = ms.runtime.memory_allocated()
        >>> x = ms.ops.zeros((1024, 1024), ms.float32)
        >>> ms.runtime.memory_allocated() - before
        4194304
    """
    return _pool.statistics()["live"]


def memory_reserved() -> int:
    """Return the bytes of the blocks that arrays have now, and of those kept for the next ones.

    Examples:
        >>> import dist_ms as ms
        >>> ms.runtime.memory_reserved() >= ms.runtime.memory_allocated()
        True
    """
    found = _pool.statistics()
    return found["live"] + found["idle"]


def max_memory_allocated() -> int:
    """Return the most that `memory_allocated` has been since the start or its last reset, in bytes.

    Examples:
        >>> import dist_ms as ms
        >>> ms.runtime.max_memory_allocated() >= ms.runtime.memory_allocated()
        True
    """
    return _pool.statistics()["peak_live"]


def max_memory_reserved() -> int:
    """Return the most that `memory_reserved` has been since the start or its last reset, in bytes.

    Examples:
        >>> import dist_ms as ms
        >>> ms.runtime.max_memory_reserved() >= ms.runtime.max_memory_allocated()
        True
    """
    return _pool.statistics()["peak_reserved"]


def memory_stats() -> dict:
    """Return all figures in a dict, in bytes.

    Returns:
        dict: 'total_reserved_memory', 'total_allocated_memory', 'total_idle_memory',
        'total_eager_free_memory' (0: nothing is freed ahead of its last use),
        'max_reserved_memory', 'max_allocated_memory'; and for MindSpore's two pools the number
        of blocks. Here is one pool, whose blocks have many sizes: its 'block_unit_size' is 0.

    Examples:
        >>> import dist_ms as ms
        >>> stats = ms.runtime.memory_stats()
        >>> idle = stats["total_reserved_memory"] - stats["total_allocated_memory"]
        >>> idle == stats["total_idle_memory"]
        True
    """
    found = _pool.statistics()
    return {
        "total_reserved_memory": found["live"] + found["idle"],
        "total_allocated_memory": found["live"],
        "total_idle_memory": found["idle"],
        "total_eager_free_memory": 0,
        "max_reserved_memory": found["peak_reserved"],
        "max_allocated_memory": found["peak_live"],
        "common_mem_pool_stats": {"block_unit_size": 0, "block_counts": found["blocks"], "blocks_info": {}},
        "persistent_mem_pool_stats": {"block_counts": 0, "block_unit_size": 0, "blocks_info": {}},
    }


def memory_summary() -> str:
    """Return the figures of `memory_stats` as a table.

    Examples:
        >>> import dist_ms as ms
        >>> "Allocated memory" in ms.runtime.memory_summary()
        True
    """
    found = memory_stats()
    rows = [
        ("Reserved memory", found["total_reserved_memory"]),
        ("Allocated memory", found["total_allocated_memory"]),
        ("Idle memory", found["total_idle_memory"]),
        ("Eager free memory", found["total_eager_free_memory"]),
        ("Max reserved memory", found["max_reserved_memory"]),
        ("Max allocated memory", found["max_allocated_memory"]),
    ]
    double, single = "|" + "=" * 45 + "|", "|" + "-" * 45 + "|"
    lines = [double, f"|{'Memory summary':^45}|", double, f"| {'Metric':<20} | {'Data':<21}|"]
    for name, value in rows:
        lines += [single, f"| {name:<20} | {_readable(value):<21}|"]
    return "\n".join([*lines, double, ""])


def _readable(count: int) -> str:
    """A number of bytes with the unit that leaves at most four digits before the point."""
    size, unit = float(count), 0
    while size >= 10240 and unit < len(_UNITS) - 1:
        size, unit = size / 1024, unit + 1
    return f"{size:6.0f} {_UNITS[unit]}"


def reset_peak_memory_stats() -> None:
    """Start both peaks again from what is allocated and reserved now.

    Examples:
        >>> import dist_ms as ms
        >>> ms.runtime.reset_peak_memory_stats()
        >>> ms.runtime.max_memory_reserved() == ms.runtime.memory_reserved()
        True
    """
    _pool.reset_peak_live()
    _pool.reset_peak_reserved()


def reset_max_memory_allocated() -> None:
    """Start the peak of `max_memory_allocated` again from what is allocated now.

    Examples:
        >>> import dist_ms as ms
        >>> ms.runtime.reset_max_memory_allocated()
        >>> ms.runtime.max_memory_allocated() == ms.runtime.memory_allocated()
        True
    """
    _pool.reset_peak_live()


def reset_max_memory_reserved() -> None:
    """Start the peak of `max_memory_reserved` again from what is reserved now.

    Examples:
        >>> import dist_ms as ms
        >>> ms.runtime.reset_max_memory_reserved()
        >>> ms.runtime.max_memory_reserved() == ms.runtime.memory_reserved()
        True
    """
    _pool.reset_peak_reserved()


def empty_cache() -> None:
    """Give the memory of blocks that no array has back to the system.

    Blocks below 32 KiB share pages, which go back when all blocks of their size are free.

    Examples:
        >>> import dist_ms as ms
        >>> ms.runtime.empty_cache()
    """
    _pool.trim()


def set_memory(
    init_size: str = "2GB",
    increase_size: str = "2GB",
    max_size: str = "1024GB",
    optimize_level: str = "O0",
    huge_page_reserve_size: str = "0GB",
) -> None:
    """Bound the memory of arrays; once in a process.

    Args:
        init_size: "xxGB"; without effect, as pages come from the system when they are first written.
        increase_size: "xxGB"; without effect likewise.
        max_size: "xxGB": an array that would take the blocks of all arrays beyond it raises
            MemoryError. At most the machine's memory, which is also the default.
        optimize_level: "O0" or "O1"; without effect, as values are always freed at their last use.
        huge_page_reserve_size: "xxGB"; without effect: large blocks ask for huge pages by themselves.

    Raises:
        TypeError: if an argument is no str.
        ValueError: if a size is not of the form "3.5GB", or `optimize_level` is another.
        RuntimeError: if it was called before, or DIST_MS_ALLOCATOR leaves arrays to NumPy.

    Examples:
        >>> import dist_ms as ms
        >>> ms.runtime.set_memory(max_size="1000GB")
    """
    global _configured
    given = {"init_size": init_size, "increase_size": increase_size, "max_size": max_size}
    for name, value in {
        **given,
        "optimize_level": optimize_level,
        "huge_page_reserve_size": huge_page_reserve_size,
    }.items():
        check_string(value, name, "set_memory")
    if _configured:
        raise RuntimeError("The 'set_memory' can not be set repeatedly.")
    for name, value in given.items():
        if not _SIZE.fullmatch(value) or not float(value[:-2]):
            raise ValueError(f"For 'set_memory', '{name}' must be a size above 0 such as '3.5GB', but got '{value}'.")
    if not _RESERVE.fullmatch(huge_page_reserve_size):
        raise ValueError(
            f"For 'set_memory', 'huge_page_reserve_size' must be a size such as '0GB', but got "
            f"'{huge_page_reserve_size}'."
        )
    check_string(optimize_level, "optimize_level", "set_memory", ("O0", "O1"))
    wanted = int(float(max_size[:-2]) * 2**30)
    physical = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if wanted < physical and not _pool.installed():
        raise RuntimeError(
            "For 'set_memory', 'max_size' needs the caching allocator, but this thread's arrays have NumPy's own: "
            "leave DIST_MS_ALLOCATOR out, or 'max_size'."
        )
    _pool.set_limits(total=wanted if wanted < physical else 0)
    _configured = True
