"""MindSpore's older door to devices: streams, events and memory of `dist_ms.runtime`, and what devices there are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dist_ms.common.checks import complaint
from dist_ms.runtime import (
    Event,
    Stream,
    StreamCtx,
    communication_stream,
    current_stream,
    default_stream,
    empty_cache,
    memory,
    set_cur_stream,
    synchronize,
)

__all__ = [
    "Event",
    "Stream",
    "StreamCtx",
    "communication_stream",
    "current_stream",
    "default_stream",
    "device_count",
    "empty_cache",
    "get_arch_list",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "is_available",
    "is_initialized",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "memory_summary",
    "reset_max_memory_allocated",
    "reset_max_memory_reserved",
    "reset_peak_memory_stats",
    "set_cur_stream",
    "synchronize",
]

_TARGETS = ("CPU", "GPU", "Ascend")


def _target(device_target: str | None, owner: str, only_here: bool = True) -> None:
    if device_target is not None and not isinstance(device_target, str):
        raise TypeError(complaint("device_target", owner, "a str", type(device_target).__name__))
    if device_target is not None and device_target not in _TARGETS:
        raise ValueError(complaint("device_target", owner, f"one of {', '.join(_TARGETS)}", repr(device_target)))
    if only_here and device_target not in (None, "CPU"):
        raise ValueError(complaint("device_target", owner, "'CPU'", repr(device_target), "dist_ms runs on CPUs"))


def _device(device_id: int, device_target: str | None, owner: str) -> None:
    if isinstance(device_id, bool) or not isinstance(device_id, int):
        raise TypeError(complaint("device_id", owner, "an int", type(device_id).__name__))
    _target(device_target, owner)
    if device_id != 0:
        raise ValueError(complaint("device_id", owner, "0, as there is one device", device_id))


def _of_device(function: Callable[[], Any]) -> Callable[..., Any]:
    """A function of `ms.runtime` that is told of which kind of device, which is the CPU."""

    def asked(device_target: str | None = None) -> Any:
        _target(device_target, asked.__name__)
        return function()

    asked.__name__ = asked.__qualname__ = function.__name__
    asked.__doc__ = f"""{(function.__doc__ or "").split(chr(10))[0]}

    Args:
        device_target: None or "CPU".

    Raises:
        TypeError: if `device_target` is no str.
        ValueError: if it is not "CPU".
    """
    return asked


max_memory_allocated = _of_device(memory.max_memory_allocated)
max_memory_reserved = _of_device(memory.max_memory_reserved)
memory_allocated = _of_device(memory.memory_allocated)
memory_reserved = _of_device(memory.memory_reserved)
memory_stats = _of_device(memory.memory_stats)
memory_summary = _of_device(memory.memory_summary)
reset_max_memory_allocated = _of_device(memory.reset_max_memory_allocated)
reset_max_memory_reserved = _of_device(memory.reset_max_memory_reserved)
reset_peak_memory_stats = _of_device(memory.reset_peak_memory_stats)


def is_available(device_target: str) -> bool:
    """Tell whether there are devices of a kind.

    Raises:
        TypeError: if it is no str.
        ValueError: if it is not "CPU", "GPU" or "Ascend".

    Examples:
        >>> import dist_ms as ms
        >>> ms.hal.is_available("CPU"), ms.hal.is_available("GPU")
        (True, False)
    """
    _target(device_target, "is_available", only_here=False)
    return device_target == "CPU"


def is_initialized(device_target: str) -> bool:
    """Tell whether devices of a kind had to be set up first; a CPU has not.

    Raises:
        TypeError: if it is no str.
        ValueError: if it is not "CPU", "GPU" or "Ascend".

    Examples:
        >>> import dist_ms as ms
        >>> ms.hal.is_initialized("CPU")
        False
    """
    _target(device_target, "is_initialized", only_here=False)
    return False


def device_count(device_target: str | None = None) -> int:
    """Count the devices: the CPU is one.

    Raises:
        TypeError: if `device_target` is no str.
        ValueError: if it is not "CPU".

    Examples:
        >>> import dist_ms as ms
        >>> ms.hal.device_count()
        1
    """
    _target(device_target, "device_count")
    return 1


def get_device_name(device_id: int, device_target: str | None = None) -> str:
    """Name a device.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if there is no such device.

    Examples:
        >>> import dist_ms as ms
        >>> ms.hal.get_device_name(0)
        'CPU'
    """
    _device(device_id, device_target, "get_device_name")
    return "CPU"


def get_device_capability(device_id: int, device_target: str | None = None) -> None:
    """Return None: a CPU has no number of capabilities.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if there is no such device.
    """
    _device(device_id, device_target, "get_device_capability")


def get_device_properties(device_id: int, device_target: str | None = None) -> None:
    """Return None: a CPU has no properties of an accelerator.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if there is no such device.
    """
    _device(device_id, device_target, "get_device_properties")


def get_arch_list(device_target: str | None = None) -> None:
    """Return None: nothing is compiled for accelerators.

    Raises:
        TypeError: if `device_target` is no str.
        ValueError: if it is not "CPU".
    """
    _target(device_target, "get_arch_list")
