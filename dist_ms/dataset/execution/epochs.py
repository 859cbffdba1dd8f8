"""Keys of epochs behind each other: rows of the next one are made while the last of this one are used."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dist_ms.dataset.dataset import Dataset, Key


class EpochEnd:
    """Stands between the keys, and the rows, of two epochs."""


def keys_of_epochs(dataset: Dataset, epoch: int, keys: Iterator[Key], count: int) -> Iterator[Any]:
    """The keys of an epoch, and those of the ones after it.

    Args:
        dataset: the last stage.
        epoch: the first epoch.
        keys: those of the first epoch.
        count: how many epochs.
    """
    yield from keys
    for later in range(epoch + 1, epoch + count):
        yield EpochEnd
        yield from dataset.keys(later)
