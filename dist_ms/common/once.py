"""Warnings that are given once in a process."""

from __future__ import annotations

import logging
from typing import Any

_log = logging.getLogger("dist_ms")
_told: set[str] = set()


def warn_once(what: str, text: str, *values: Any) -> None:
    """Log a warning, unless it has been given.

    Args:
        what: tells warnings apart.
        text: with a place, such as %s, for each value.
        values: what stands there.

    Examples:
        >>> from dist_ms.common.once import warn_once
        >>> warn_once("an example", "%d ranks wait", 2)
    """
    if what not in _told:
        _told.add(what)
        _log.warning(text, *values, stacklevel=2)
