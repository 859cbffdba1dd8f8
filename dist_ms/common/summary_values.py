"""What a network's summary operations give, kept for the SummaryRecords that are open."""

from __future__ import annotations

from typing import Any

_OPEN: list[dict[tuple[str, str], Any]] = []


def open_keeper() -> dict[tuple[str, str], Any]:
    """Begin to keep values by (plugin, name), in the dict that is returned."""
    kept: dict[tuple[str, str], Any] = {}
    _OPEN.append(kept)
    return kept


def close_keeper(kept: dict[tuple[str, str], Any]) -> None:
    """Stop keeping values in a dict."""
    _OPEN[:] = [other for other in _OPEN if other is not kept]


def give(plugin: str, name: str, value: Any) -> None:
    """Give a value to every record that is open; a second one of the same name replaces the first."""
    for kept in _OPEN:
        kept.pop((plugin, name), None)
        kept[plugin, name] = value
