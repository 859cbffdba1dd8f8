"""Ascend devices, of which there are none: dist_ms runs on CPUs."""

from __future__ import annotations

from typing import NoReturn

__all__ = ["device_count", "is_available"]


def is_available() -> bool:
    """Tell whether there are Ascend devices.

    Examples:
        >>> import dist_ms as ms
        >>> ms.device_context.ascend.is_available()
        False
    """
    return False


def device_count() -> NoReturn:
    """Raise an error, as MindSpore does where there are no such devices.

    Raises:
        RuntimeError: always.

    Examples:
        >>> import dist_ms as ms
        >>> ms.device_context.ascend.device_count()
        Traceback (most recent call last):
        RuntimeError: Device Ascend not exist.
    """
    raise RuntimeError("Device Ascend not exist.")
