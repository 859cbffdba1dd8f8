"""GPU devices, of which there are none: dist_ms runs on CPUs."""

from __future__ import annotations

from typing import NoReturn

__all__ = ["device_count", "is_available"]


def is_available() -> bool:
    """Tell whether there are GPU devices.

    Examples:
        >>> import dist_ms as ms
        >>> ms.device_context.gpu.is_available()
        False
    """
    return False


def device_count() -> NoReturn:
    """Raise an error, as MindSpore does where there are no such devices.

    Raises:
        RuntimeError: always.

    Examples:
        >>> import dist_ms as ms
        >>> ms.device_context.gpu.device_count()
        Traceback (most recent call last):
        RuntimeError: Device_target GPU not exist.
    """
    raise RuntimeError("Device_target GPU not exist.")
