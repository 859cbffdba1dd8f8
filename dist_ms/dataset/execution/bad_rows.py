"""Rows that cannot be made: the error tells which, or they are left out or replaced, as the settings say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dist_ms.dataset import config
from dist_ms.dataset.dataset import Dataset, Key, Row
from dist_ms.dataset.execution.epochs import EpochEnd


class Skipped:
    """Stands for a row that was left out."""


def loading(dataset: Dataset) -> Callable[[Key], Any]:
    """`dataset.load` with the row named in its errors; the end of an epoch stays what it is."""
    load = dataset.load

    def named(key: Key) -> Any:
        if key is EpochEnd:
            return key
        try:
            return load(key)
        except Exception as error:
            if config.get_error_samples_mode() is config.ErrorSamplesMode.SKIP:
                return Skipped
            error.add_note(f"While making {named_row(dataset, key)}.")
            raise

    return named


def named_row(dataset: Dataset, key: Key) -> str:
    """A key in words."""
    epoch, place, number = key
    if isinstance(number, int):
        return f"row {number} of {type(dataset).__name__} (place {place} of epoch {epoch})"
    return f"item {place} of {type(dataset).__name__} in epoch {epoch}"


def good_rows(dataset: Dataset, keys: list[Key]) -> list[Row]:
    """The rows of keys; bad ones raise, are left out, or are replaced by the next good one, or the last.

    Args:
        dataset: the stage that loads them.
        keys: what to load.
    """
    mode = config.get_error_samples_mode()
    rows: list[Row] = []
    missing = 0
    for key in keys:
        try:
            rows.append(dataset.load(key))
        except Exception as error:
            if mode is config.ErrorSamplesMode.RETURN:
                error.add_note(f"While making {named_row(dataset, key)}.")
                raise
            missing += mode is config.ErrorSamplesMode.REPLACE
            continue
        rows += [rows[-1]] * missing
        missing = 0
    return rows + rows[-1:] * missing
